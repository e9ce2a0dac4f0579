package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// told shows events, pieces of one kind and number joined.
func told(events []wire.Event) string {
	var b strings.Builder
	last := ""
	for _, e := range events {
		head, body := tellOne(&e)
		if head == last && head != "" {
			b.WriteString(body)
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" ")
		}
		b.WriteString(head + body)
		last = head
		if head == "" || e.Seal != nil {
			last = "\x00"
		}
	}
	return b.String()
}

func tellOne(e *wire.Event) (head, body string) {
	seal := ""
	if e.Seal != nil {
		seal = "[" + e.Seal.Data + "]"
	}
	switch e.Kind {
	case wire.EventStart:
		return "", "start(" + e.ID + " " + e.Model + ")"
	case wire.EventThinking:
		return fmt.Sprintf("thinking%d:", e.Part), e.Text
	case wire.EventSeal:
		return "", "seal" + seal
	case wire.EventText:
		return fmt.Sprintf("text%d:", e.Part), e.Text + seal
	case wire.EventRefusal:
		return "refusal:", e.Text
	case wire.EventCall:
		return "", fmt.Sprintf("call%d(%s %s%s)", e.Index, e.Call.ID, e.Call.Name, seal)
	case wire.EventArgs:
		return fmt.Sprintf("args%d:", e.Index), e.Text
	case wire.EventCallEnd:
		return "", fmt.Sprintf("end%d(%s%s)", e.Index, e.Call.Args, e.Call.Input)
	case wire.EventCite:
		return "", fmt.Sprintf("cite(%s %s %q %d-%d)", e.Cite.URL, e.Cite.Title, e.Cite.Text, e.Cite.Start, e.Cite.End)
	case wire.EventMedia:
		return "", "media(" + e.Media.MIME + " " + e.Media.Data + ")"
	case wire.EventUsage:
		return "", fmt.Sprintf("usage%v", e.Usage)
	case wire.EventFinish:
		return "", "finish(" + string(e.Finish.Why) + " " + e.Finish.Detail + ")"
	case wire.EventFail:
		return "", fmt.Sprintf("fail(%d %s %s)", e.Fail.Status, e.Fail.Code, e.Fail.Words)
	}
	return "", "?"
}

// stream reads a stream in pieces of n bytes; 0 = at once.
func stream(asked *wire.Ask, in string, n int) []wire.Event {
	r := Codec{}.NewReader(asked)
	var s sse.Splitter
	var out []wire.Event
	if n == 0 {
		n = len(in) + 1
	}
	for len(in) > 0 {
		k := min(n, len(in))
		if s.Feed([]byte(in[:k])) != nil {
			break
		}
		in = in[k:]
		for e := s.Next(); e != nil; e = s.Next() {
			out = append(out, r.Read(e)...)
		}
	}
	if rest := s.Rest(); len(rest) > 0 {
		out = append(out, r.Read(rest)...)
	}
	return append(out, r.End()...)
}

func lines(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func chunkOf(parts, more string) string {
	return `{"candidates":[{"index":0,"content":{"role":"model","parts":[` + parts + `]}` + more + `}],"modelVersion":"gemini-3","responseId":"r"}`
}

const stopped = `,"finishReason":"STOP"`

func TestStreamsAreRead(t *testing.T) {
	id := func(n, name string) string { return wire.MakeID("call_", "r", n, name) }
	for _, c := range []struct{ what, in, want string }{
		{"pieces of text", lines(chunkOf(`{"text":"He"}`, ""), chunkOf(`{"text":"y"}`, ""), chunkOf(`{"text":""}`, stopped)), "start(r gemini-3) text1:Hey finish(stop STOP)"},
		{
			"usage is what was told last", lines(
				`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1},"responseId":"r"}`,
				`{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"toolUsePromptTokenCount":2,"candidatesTokenCount":5,"thoughtsTokenCount":3}}`),
			"start(r ) text1:a usage{10 1 0 0 0} usage{12 8 3 4 0} finish(stop STOP)",
		},
		{
			"thoughts are reasoning, a signature seals them", lines(chunkOf(`{"text":"Th","thought":true}`, ""), chunkOf(`{"text":"ink","thought":true,"thoughtSignature":"AA=="},{"text":"Hi"}`, stopped)),
			"start(r gemini-3) thinking1:Think seal[AA==] text2:Hi finish(stop STOP)",
		},
		{
			"calls decide the end, and two of one name have two ids", lines(chunkOf(`{"functionCall":{"name":"f","args":{"n":1.50}},"thoughtSignature":"AA=="},{"functionCall":{"name":"f"}}`, ""), chunkOf(`{"text":""}`, stopped)),
			"start(r gemini-3) call0(" + id("0", "f") + " f[AA==]) args0:{\"n\":1.50} end0({\"n\":1.50}) call1(" + id("1", "f") + " f) args1:{} end1({}) finish(calls STOP)",
		},
		{"an id that is told stays", lines(chunkOf(`{"functionCall":{"id":"x","name":"f","args":{}}}`, stopped)), "start(r gemini-3) call0(x f) args0:{} end0({}) finish(calls STOP)"},
		{"a call without a name is none", lines(chunkOf(`{"text":"a"},{"functionCall":{"name":"","args":{}}}`, stopped)), "start(r gemini-3) text1:a finish(stop STOP)"},
		{"a signature at the end is told with no text", lines(chunkOf(`{"text":"a"}`, ""), chunkOf(`{"text":"","thoughtSignature":"AA=="}`, stopped)), "start(r gemini-3) text1:a[AA==] finish(stop STOP)"},
		{"images that the model made", lines(chunkOf(`{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"AA"}},{"text":"b"}`, stopped)), "start(r gemini-3) text1:a media(image/png AA) text2:b finish(stop STOP)"},
		{"length wins over calls", lines(chunkOf(`{"functionCall":{"id":"x","name":"f","args":{}}}`, `,"finishReason":"MAX_TOKENS"`)), "start(r gemini-3) call0(x f) args0:{} end0({}) finish(length MAX_TOKENS)"},
		{"more to come is cut", lines(chunkOf(`{"text":"a"}`, `,"finishReason":"CONTINUATION"`)), "start(r gemini-3) text1:a finish(length CONTINUATION)"},
		{"a part that was withheld", lines(chunkOf(`{"text":"a"}`, ""), chunkOf(``, `,"finishReason":"RECITATION"`)), "start(r gemini-3) text1:a finish(withheld RECITATION)"},
		{"a blocked prompt is a refusal, no error", lines(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":3}}`), "start( ) usage{3 0 0 0 0} finish(withheld PROHIBITED_CONTENT)"},
		{"so is one blocked for other reasons", lines(`{"promptFeedback":{"blockReason":"OTHER"}}`), "start( ) finish(withheld OTHER)"},
		{"other reasons are ends", lines(chunkOf(`{"text":"a"}`, `,"finishReason":"OTHER"`)), "start(r gemini-3) text1:a finish(stop OTHER)"},
		{"a broken call fails while nothing is said", lines(chunkOf(``, `,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"bad args."`)), "start(r gemini-3) fail(502 MALFORMED_FUNCTION_CALL The model broke its reply off: MALFORMED_FUNCTION_CALL: bad args.)"},
		{"and ends what was said", lines(chunkOf(`{"text":"a"}`, `,"finishReason":"MALFORMED_FUNCTION_CALL"`)), "start(r gemini-3) text1:a finish(broken-call MALFORMED_FUNCTION_CALL)"},
		{"a reply of nothing fails", lines(chunkOf(`{"text":""}`, stopped)), "start(r gemini-3) fail(502 empty_reply The model's reply is empty.)"},
		{"so does one of reasoning alone", lines(chunkOf(`{"text":"t","thought":true}`, stopped)), "start(r gemini-3) thinking1:t fail(502 empty_reply The model's reply is empty.)"},
		{"but not where its length cut it", lines(chunkOf(`{"text":"t","thought":true}`, `,"finishReason":"MAX_TOKENS"`)), "start(r gemini-3) thinking1:t finish(length MAX_TOKENS)"},
		{"nor where it was withheld", lines(chunkOf(``, `,"finishReason":"SAFETY"`)), "start(r gemini-3) finish(withheld SAFETY)"},
		{"a stream without an end fails", lines(chunkOf(`{"text":"a"}`, "")), "start(r gemini-3) text1:a fail(502  The vendor's reply ended before it was whole.)"},
		{"an error fails", lines(chunkOf(`{"text":"a"}`, ""), `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`, chunkOf(`{"text":"b"}`, stopped)), "start(r gemini-3) text1:a fail(503  overloaded)"},
		{"so does what can't be read", lines(`{"candidates":[`), "fail(502  The vendor's reply can't be read: expected a value at byte 15)"},
		{"candidates besides the first are left out", lines(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"b"}]}}]}`, `{"candidates":[{"index":1,"content":{"parts":[{"text":"c"}]}}]}`), "start( ) text1:a finish(stop STOP)"},
		{"comments, blanks and [DONE] say nothing", ": hi\n\n" + lines(chunkOf(`{"text":"a"}`, stopped)) + "data: [DONE]\n\n", "start(r gemini-3) text1:a finish(stop STOP)"},
		{"lines may end in CRLF, and nothing stand before the data", "data:" + chunkOf(`{"text":"a"}`, stopped) + "\r\n\r\n", "start(r gemini-3) text1:a finish(stop STOP)"},
		{"code that Google ran is text", lines(chunkOf(`{"executableCode":{"language":"PYTHON","code":"1"}}`, stopped)), "start(r gemini-3) text1:```python\n1\n```\n finish(stop STOP)"},
	} {
		if got := told(stream(&wire.Ask{}, c.in, 0)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
		for n := 1; n < 40; n += 3 {
			if got := told(stream(&wire.Ask{}, c.in, n)); got != c.want {
				t.Errorf("%s, in pieces of %d bytes: %s", c.what, n, got)
			}
		}
	}
}

func TestSourcesAreCitedByCharacters(t *testing.T) {
	asked := &wire.Ask{Tools: []wire.Tool{{Kind: wire.ToolHosted, Hosted: "web_search"}}}
	ground := `,"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a","title":"A"}},{"web":{"uri":"https://b","title":"B"}}],` +
		`"groundingSupports":[{"segment":{"startIndex":4,"endIndex":7,"text":"two"},"groundingChunkIndices":[0]},{"segment":{"text":"gone"},"groundingChunkIndices":[0,9]}]}`
	got := told(stream(asked, lines(chunkOf(`{"text":"né "}`, ""), chunkOf(`{"text":"two"}`, ground)), 0))
	want := `start(r gemini-3) text1:né two cite(https://a A "two" 3-6) cite(https://a A "gone" 0-0) cite(https://b B "" 0-0) finish(stop STOP)`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestNamesAndFreeformToolsAreRestored(t *testing.T) {
	asked := &wire.Ask{Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "apply patch"}}}
	got := told(stream(asked, lines(chunkOf(`{"functionCall":{"id":"x","name":"`+names.Name("apply patch")+`","args":{"input":"a\nb"}}}`, stopped)), 0))
	if want := "start(r gemini-3) call0(x apply patch) args0:a\nb end0(a\nb) finish(calls STOP)"; got != want {
		t.Errorf("got %s", got)
	}
}

func TestWholeRepliesAreRead(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"an object", chunkOf(`{"text":"a"}`, stopped), "start(r gemini-3) text1:a finish(stop STOP)"},
		{"an array", "[" + chunkOf(`{"text":"a"}`, "") + ",\r\n" + chunkOf(`{"text":"b"}`, stopped) + "]", "start(r gemini-3) text1:ab finish(stop STOP)"},
		{"an error in an array", `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]`, "fail(429  slow)"},
		{"one that doesn't say why it ended", chunkOf(`{"text":"a"}`, ""), "start(r gemini-3) text1:a finish(stop )"},
		{"one of nothing", `{}`, "start( ) fail(502  The vendor's reply is empty.)"},
		{"one that is cut", `{"candidates":[{"content"`, "fail(502  The vendor's reply can't be read: expected a colon at byte 25)"},
	} {
		r := Codec{}.NewReader(nil)
		if got := told(r.Whole([]byte(c.in))); got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
		if more := r.End(); len(more) > 0 {
			t.Errorf("%s: after the end: %s", c.what, told(more))
		}
	}
}

func TestAStreamThatIsCutNeverReadsFinished(t *testing.T) {
	in := lines(chunkOf(`{"text":"Think","thought":true,"thoughtSignature":"AA=="}`, ""), chunkOf(`{"text":"Hey"}`, ""), chunkOf(`{"functionCall":{"name":"f","args":{"a":"b"}}}`, ""), chunkOf(`{"text":""}`, stopped))
	end := strings.Index(in, stopped)
	for i := range in {
		got := told(stream(&wire.Ask{}, in[:i], 0))
		if strings.Contains(got, "finish(") && i < end {
			t.Fatalf("cut at byte %d it reads finished: %s", i, got)
		}
		if n := strings.Count(got, "finish(") + strings.Count(got, "fail("); n != 1 {
			t.Fatalf("cut at byte %d it has %d ends: %s", i, n, got)
		}
	}
}

func TestIDsOfACallDifferFromTurnToTurnWithoutAnIDOfTheReply(t *testing.T) {
	in := strings.ReplaceAll(chunkOf(`{"functionCall":{"name":"f"}}`, stopped), `"responseId":"r"`, `"x":1`)
	one := &wire.Ask{Turns: []wire.Turn{say(text("u"))}}
	two := &wire.Ask{Turns: append(one.Turns[:1:1], answer(calls("c", "f", "{}")), say(gave("c")))}
	id := func(a *wire.Ask) string {
		for _, e := range stream(a, lines(in), 0) {
			if e.Kind == wire.EventCall {
				return e.Call.ID
			}
		}
		return ""
	}
	first, again, second := id(one), id(one), id(two)
	if first == second || first != again || first == "" {
		t.Errorf("the ids are %q, %q and %q", first, again, second)
	}
}

func TestWhatWasReadDoesNotChangeWithTheBuffer(t *testing.T) {
	r := Codec{}.NewReader(nil)
	ev := []byte("data: " + chunkOf(`{"functionCall":{"name":"f","args":{"a":"b"}}}`, stopped) + "\n\n")
	events := append([]wire.Event(nil), r.Read(ev)...)
	for i := range ev {
		ev[i] = 'x'
	}
	if got := told(events); !strings.Contains(got, `end0({"a":"b"})`) {
		t.Error(got)
	}
}

func TestALineOfFiveMegabytesIsRead(t *testing.T) {
	data := strings.Repeat("A", 5<<20)
	events := stream(nil, lines(chunkOf(`{"inlineData":{"mimeType":"image/png","data":"`+data+`"}}`, stopped)), 64<<10)
	if len(events) != 3 || events[1].Media == nil || events[1].Media.Data != data {
		t.Errorf("there are %d events", len(events))
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(lines(chunkOf(`{"text":"a"},{"functionCall":{"name":"f","args":{"a":1}}}`, stopped))), uint8(7))
	f.Add([]byte(lines(`{"error":{"code":500}}`, `[{"promptFeedback":{"blockReason":"X"}}]`)), uint8(0))
	f.Add([]byte(lines(`{"candidates":[{"finishReason":"STOP","groundingMetadata":{"groundingChunks":[{"web":{"uri":"u"}}],"groundingSupports":[{"segment":{"startIndex":-1,"endIndex":9},"groundingChunkIndices":[0]}]}}]}`)), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		events := stream(nil, string(in), int(n))
		checkEvents(t, events)
		r := Codec{}.NewReader(nil)
		checkEvents(t, append([]wire.Event(nil), r.Whole(in)...))
	})
}

// checkEvents holds events to their order: one end, which is the last, and calls that are whole.
func checkEvents(t *testing.T, events []wire.Event) {
	t.Helper()
	for i, e := range events {
		if end := e.Kind == wire.EventFinish || e.Kind == wire.EventFail; end != (i == len(events)-1) {
			t.Fatalf("event %d of %d is %s", i, len(events), told(events))
		}
		if e.Kind == wire.EventCallEnd && !e.Call.Free && !json.Valid(e.Call.Args) {
			t.Fatalf("arguments are no JSON: %s", e.Call.Args)
		}
	}
}

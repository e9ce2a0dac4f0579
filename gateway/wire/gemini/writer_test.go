package gemini

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
)

var shown = &wire.Ask{API: wire.Gemini, Model: "m", Show: wire.ShowSummary}

// reply writes events, and what each of them wrote.
func reply(asked *wire.Ask, o wire.WriterOptions, events ...wire.Event) (all string, each []string) {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, asked, o)
	for _, e := range events {
		at := b.Len()
		if err := w.Event(e); err != nil {
			panic(err)
		}
		if err := w.Ping(); err != nil {
			panic(err)
		}
		each = append(each, b.String()[at:])
	}
	return b.String(), each
}

// parts are those of all chunks of a stream, and what stands behind them in the last.
func parts(t *testing.T, out string) (list, rest string) {
	t.Helper()
	var all []string
	for _, ev := range strings.SplitAfter(out, "\n\n") {
		if ev == "" {
			continue
		}
		data, ok := strings.CutPrefix(ev, "data: ")
		data, end := strings.CutSuffix(data, "\n\n")
		if !ok || !end || strings.ContainsAny(data, "\r\n") || !json.Valid([]byte(data)) {
			t.Fatalf("this is no line of data with a blank one behind it: %q", ev)
		}
		v := wire.Value(data)
		if !v.Get("error").None() {
			all = append(all, data)
			continue
		}
		v.Get("candidates").Elements(func(c wire.Value) {
			if c.Get("content").Get("role").Text() != "model" || string(c.Get("index")) != "0" {
				t.Errorf("a candidate is not the model's first: %s", c)
			}
			c.Get("content").Get("parts").Elements(func(p wire.Value) { all = append(all, string(p)) })
			rest = string(c.Get("finishReason"))
			if words := c.Get("finishMessage"); !words.None() {
				rest += " " + string(words)
			}
			if g := c.Get("groundingMetadata"); !g.None() {
				rest += " " + string(g)
			}
		})
		if u := v.Get("usageMetadata"); !u.None() {
			rest += " " + string(u)
		}
	}
	return strings.Join(all, " "), rest
}

func textEvent(s string) wire.Event { return wire.Event{Kind: wire.EventText, Text: s, Part: 1} }

func finished(why wire.FinishWhy) wire.Event {
	return wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why}}
}

func begin(i int, id, name string) wire.Event {
	return wire.Event{Kind: wire.EventCall, Index: i, Call: &wire.Call{ID: id, Name: name}}
}

func argsOf(i int, s string) wire.Event { return wire.Event{Kind: wire.EventArgs, Index: i, Text: s} }

func ended(i int, id, name, args string) wire.Event {
	return wire.Event{Kind: wire.EventCallEnd, Index: i, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

const noTokens = ` {"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0}`

func TestStreamsAreWritten(t *testing.T) {
	own := &wire.Seal{API: wire.Gemini, Data: "AA=="}
	claude := &wire.Seal{API: wire.Messages, Data: "EqQB"}
	mark := claude.MarkBase64("anthropic")
	stop := finished(wire.FinishStop)
	for _, c := range []struct {
		what   string
		asked  *wire.Ask
		events []wire.Event
		want   string
		rest   string
	}{
		{"text comes in pieces, the end last", shown, []wire.Event{{Kind: wire.EventStart, ID: "x"}, textEvent("He"), textEvent("y"), stop}, `{"text":"He"} {"text":"y"} {"text":""}`, `"STOP"` + noTokens},
		{"thoughts are told to who asked for them", shown, []wire.Event{{Kind: wire.EventThinking, Text: "Th"}, textEvent("a"), stop}, `{"text":"Th","thought":true} {"text":"a"} {"text":""}`, `"STOP"` + noTokens},
		{"and to nobody else", &wire.Ask{API: wire.Gemini}, []wire.Event{{Kind: wire.EventThinking, Text: "Th"}, textEvent("a"), stop}, `{"text":"a"} {"text":""}`, `"STOP"` + noTokens},
		{"a call is one part, when it is whole", shown, []wire.Event{begin(0, "i", "f"), argsOf(0, `{"p`), argsOf(0, `":3}`), ended(0, "i", "f", `{"p":3}`), finished(wire.FinishCalls)}, `{"functionCall":{"id":"i","name":"f","args":{"p":3}}} {"text":""}`, `"STOP"` + noTokens},
		{"a call that nobody ended is whole at the end", shown, []wire.Event{begin(0, "i", "f"), argsOf(0, `{"p":3}`), finished(wire.FinishCalls)}, `{"functionCall":{"id":"i","name":"f","args":{"p":3}}} {"text":""}`, `"STOP"` + noTokens},
		{"one without arguments has none", shown, []wire.Event{begin(0, "i", "f"), finished(wire.FinishCalls)}, `{"functionCall":{"id":"i","name":"f","args":{}}} {"text":""}`, `"STOP"` + noTokens},
		{"arguments that are no object are an input", shown, []wire.Event{begin(0, "i", "f"), argsOf(0, `[1`), finished(wire.FinishCalls)}, `{"functionCall":{"id":"i","name":"f","args":{"input":"[1"}}} {"text":""}`, `"STOP"` + noTokens},
		{"a call that was cut is none", shown, []wire.Event{textEvent("a"), begin(0, "i", "f"), argsOf(0, `{"p`), finished(wire.FinishLength)}, `{"text":"a"} {"text":""}`, `"MAX_TOKENS"` + noTokens},
		{"also when its vendor ended it", shown, []wire.Event{textEvent("a"), begin(0, "i", "f"), argsOf(0, `{"p`), ended(0, "i", "f", `{"p`), finished(wire.FinishLength)}, `{"text":"a"} {"text":""}`, `"MAX_TOKENS"` + noTokens},
		{"arguments of several lines are put on one", shown, []wire.Event{ended(0, "i", "f", "{\n \"p\": 3\r\n}"), finished(wire.FinishCalls)}, `{"functionCall":{"id":"i","name":"f","args":{"p":3}}} {"text":""}`, `"STOP"` + noTokens},
		{
			"calls come in the order of their beginnings, and what is behind them behind them", shown,
			[]wire.Event{begin(0, "i", "f"), begin(1, "j", "g"), argsOf(1, `{"b":1}`), ended(1, "j", "g", `{"b":1}`), textEvent("a"), argsOf(0, `{}`), ended(0, "i", "f", `{}`), finished(wire.FinishCalls)},
			`{"functionCall":{"id":"i","name":"f","args":{}}} {"functionCall":{"id":"j","name":"g","args":{"b":1}}} {"text":"a"} {"text":""}`, `"STOP"` + noTokens,
		},
		{
			"a seal goes with the part behind it", shown,
			[]wire.Event{{Kind: wire.EventThinking, Text: "t"}, {Kind: wire.EventSeal, Seal: claude}, ended(0, "i", "f", `{}`), finished(wire.FinishCalls)},
			`{"text":"t","thought":true} {"functionCall":{"id":"i","name":"f","args":{}},"thoughtSignature":"` + mark + `"} {"text":""}`, `"STOP"` + noTokens,
		},
		{"with the end where nothing is behind it", shown, []wire.Event{textEvent("a"), {Kind: wire.EventSeal, Seal: claude}, stop}, `{"text":"a"} {"text":"","thoughtSignature":"` + mark + `"}`, `"STOP"` + noTokens},
		{
			"by itself where another follows", shown,
			[]wire.Event{{Kind: wire.EventSeal, Seal: own}, {Kind: wire.EventSeal, Seal: claude}, textEvent("a"), stop},
			`{"text":"","thoughtSignature":"AA=="} {"text":"a","thoughtSignature":"` + mark + `"} {"text":""}`, `"STOP"` + noTokens,
		},
		{
			"Gemini's own go as they are", shown,
			[]wire.Event{{Kind: wire.EventText, Text: "a", Seal: own}, {Kind: wire.EventCall, Call: &wire.Call{ID: "i", Name: "f"}, Seal: own}, stop},
			`{"text":"a","thoughtSignature":"AA=="} {"functionCall":{"id":"i","name":"f","args":{}},"thoughtSignature":"AA=="} {"text":""}`, `"STOP"` + noTokens,
		},
		{"images", shown, []wire.Event{{Kind: wire.EventMedia, Media: &wire.Media{MIME: "image/png", Data: "AA"}}, stop}, `{"inlineData":{"mimeType":"image/png","data":"AA"}} {"text":""}`, `"STOP"` + noTokens},
		{
			"usage is told at the end, reasoning apart", shown,
			[]wire.Event{textEvent("a"), {Kind: wire.EventUsage, Usage: wire.Usage{Input: 1}}, {Kind: wire.EventUsage, Usage: wire.Usage{Input: 10, Output: 12, Reasoning: 5, CacheRead: 6}}, stop},
			`{"text":"a"} {"text":""}`,
			`"STOP" {"promptTokenCount":10,"cachedContentTokenCount":6,"candidatesTokenCount":7,"thoughtsTokenCount":5,"totalTokenCount":22}`,
		},
		{
			"sources", shown,
			[]wire.Event{textEvent("a"), {Kind: wire.EventCite, Cite: &wire.Cite{URL: "u", Title: "T", Text: "a"}}, {Kind: wire.EventCite, Cite: &wire.Cite{URL: "u"}}, stop},
			`{"text":"a"} {"text":""}`,
			`"STOP" {"groundingChunks":[{"web":{"uri":"u","title":"T"}}],"groundingSupports":[{"segment":{"text":"a"},"groundingChunkIndices":[0]}]}` + noTokens,
		},
		{"a refusal in words is a reply", shown, []wire.Event{{Kind: wire.EventRefusal, Text: "no"}, finished(wire.FinishWithheld)}, `{"text":"no"} {"text":""}`, `"STOP"` + noTokens},
		{"one without is SAFETY, with what was explained", shown, []wire.Event{{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "the why"}}}, `{"text":""}`, `"SAFETY" "the why"` + noTokens},
		{"Gemini's own reasons stay", shown, []wire.Event{{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "RECITATION"}}}, `{"text":""}`, `"RECITATION"` + noTokens},
		{"a full window is a length", shown, []wire.Event{textEvent("a"), finished(wire.FinishWindow)}, `{"text":"a"} {"text":""}`, `"MAX_TOKENS"` + noTokens},
		{"a pause is an end", shown, []wire.Event{textEvent("a"), finished(wire.FinishPause)}, `{"text":"a"} {"text":""}`, `"STOP"` + noTokens},
		{"a failure is an error, and no end", shown, []wire.Event{textEvent("a"), {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 529, Words: "busy"}}, textEvent("b"), stop}, `{"text":"a"} {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`, ``},
		{"nothing comes behind the end", shown, []wire.Event{textEvent("a"), stop, textEvent("b"), stop}, `{"text":"a"} {"text":""}`, `"STOP"` + noTokens},
	} {
		out, _ := reply(c.asked, wire.WriterOptions{Stream: true, Vendor: "anthropic"}, c.events...)
		got, rest := parts(t, out)
		if got != c.want || rest != c.rest {
			t.Errorf("%s:\n got %s %s\nwant %s %s", c.what, got, rest, c.want, c.rest)
		}
	}
}

func TestEachPieceIsWrittenAtOnce(t *testing.T) {
	_, each := reply(shown, wire.WriterOptions{Stream: true, ID: "seed", Model: "mine"}, wire.Event{Kind: wire.EventStart, ID: "x"}, textEvent("He"), textEvent("y"), finished(wire.FinishStop))
	want := `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"He"}]},"index":0}],"modelVersion":"mine","responseId":"` + wire.MakeID("", "seed") + "\"}\n\n"
	if each[0] != "" || each[1] != want || each[2] == "" || each[3] == "" {
		t.Errorf("got %q", each)
	}
}

func TestAnArrayIsWritten(t *testing.T) {
	o := wire.WriterOptions{Stream: true, Array: true, Model: "m"}
	out, each := reply(shown, o, textEvent("a"), textEvent("b"), finished(wire.FinishStop))
	var chunks []json.RawMessage
	if err := json.Unmarshal([]byte(out), &chunks); err != nil || len(chunks) != 3 || !strings.HasPrefix(each[0], `[{"candidates"`) || !strings.HasPrefix(each[1], ",\r\n{") || !strings.HasSuffix(out, "}]") {
		t.Errorf("%v: %s", err, out)
	}
	out, _ = reply(shown, o, textEvent("a"), wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 500, Words: "x"}})
	if err := json.Unmarshal([]byte(out), &chunks); err != nil || len(chunks) != 2 || !bytes.Contains(chunks[1], []byte(`"error"`)) {
		t.Errorf("%v: %s", err, out)
	}
	out, _ = reply(shown, o, wire.Event{Kind: wire.EventFail})
	if err := json.Unmarshal([]byte(out), &chunks); err != nil || len(chunks) != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWholeRepliesAreWritten(t *testing.T) {
	for _, c := range []struct {
		what   string
		events []wire.Event
		want   string
	}{
		{
			"text is one part",
			[]wire.Event{{Kind: wire.EventStart, ID: "x"}, {Kind: wire.EventThinking, Text: "t1"}, {Kind: wire.EventThinking, Text: "t2"}, textEvent("He"), textEvent("y"), ended(0, "i", "f", `{}`), finished(wire.FinishCalls)},
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"t1t2","thought":true},{"text":"Hey"},{"functionCall":{"id":"i","name":"f","args":{}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0},"modelVersion":"m","responseId":"x"}`,
		},
		{
			"with nothing said there is one empty text",
			[]wire.Event{{Kind: wire.EventStart, ID: "x"}, finished(wire.FinishStop)},
			`{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0},"modelVersion":"m","responseId":"x"}`,
		},
		{"a failure is an error", []wire.Event{textEvent("a"), {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 504, Words: "late"}}}, `{"error":{"code":504,"message":"late","status":"DEADLINE_EXCEEDED"}}`},
	} {
		out, each := reply(shown, wire.WriterOptions{}, c.events...)
		if out != c.want || out != each[len(each)-1] {
			t.Errorf("%s:\n got %s\nwant %s", c.what, out, c.want)
		}
	}
}

// merged are a stream's parts with texts of one kind joined, as a client joins them.
func merged(t *testing.T, out string) string {
	t.Helper()
	list, rest := parts(t, out)
	_ = list
	var b, text strings.Builder
	last := ""
	flush := func() {
		if text.Len() > 0 {
			b.WriteString(last + wireQuote(text.String()) + " ")
		}
		text.Reset()
	}
	each(out, func(p wire.Value) {
		kind := "text"
		if p.Get("thought").True() {
			kind = "thought"
		}
		if s := p.Get("thoughtSignature"); !p.Get("text").None() && s.None() {
			if kind != last {
				flush()
			}
			last = kind
			text.WriteString(p.Get("text").Text())
			return
		}
		flush()
		last = ""
		b.WriteString(string(p) + " ")
	})
	flush()
	return b.String() + rest
}

func wireQuote(s string) string { return string(wire.Quote(s)) }

func each(out string, part func(p wire.Value)) {
	for _, line := range strings.Split(out, "\n") {
		data := strings.TrimPrefix(line, "data: ")
		wire.Value(data).Get("candidates").Elements(func(c wire.Value) {
			c.Get("content").Get("parts").Elements(part)
		})
	}
}

// drawEvents makes a reply, its events in any order that a vendor might think of.
func drawEvents(t *rapid.T) []wire.Event {
	events := []wire.Event{{Kind: wire.EventStart, ID: "x"}}
	n := 0
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		some := rapid.SampledFrom([]string{"a", "é\n", `"`, "<&>", ""}).Draw(t, "text")
		i := rapid.IntRange(0, 2).Draw(t, "index")
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			events = append(events, textEvent(some))
		case 1:
			events = append(events, wire.Event{Kind: wire.EventThinking, Text: some, Part: 2})
		case 2:
			events = append(events, begin(n, "c", "f"))
			n++
		case 3:
			events = append(events, argsOf(i, some))
		case 4:
			events = append(events, ended(i, "c", "f", `{"a":1}`))
			n = max(n, i+1)
		case 5:
			events = append(events, wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: int64(i), Output: 3}})
		case 6:
			events = append(events, wire.Event{Kind: wire.EventMedia, Media: &wire.Media{MIME: "image/png", Data: "AA"}})
		case 7:
			events = append(events, wire.Event{Kind: wire.EventRefusal, Text: some, Part: 1})
		}
	}
	if rapid.Bool().Draw(t, "fails") {
		return append(events, wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 500, Words: "x"}})
	}
	why := rapid.SampledFrom([]wire.FinishWhy{wire.FinishStop, wire.FinishCalls, wire.FinishLength, wire.FinishWithheld}).Draw(t, "why")
	return append(events, finished(why), textEvent("late"))
}

func TestStreamedAndWholeRepliesAreTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := drawEvents(rt)
		streamed, _ := reply(shown, wire.WriterOptions{Stream: true}, events...)
		whole, _ := reply(shown, wire.WriterOptions{}, events...)
		if strings.HasPrefix(whole, `{"error"`) {
			if !strings.HasSuffix(streamed, "data: "+whole+"\n\n") {
				rt.Fatalf("streamed %s\nwhole %s", streamed, whole)
			}
			return
		}
		if got, want := merged(t, streamed), merged(t, "data: "+whole+"\n\n"); got != want {
			rt.Fatalf("streamed %s\nwhole %s", got, want)
		}
	})
}

func TestAMegabyteOfArgumentsInSmallPiecesIsNoMoreThanItsLength(t *testing.T) {
	events := []wire.Event{begin(0, "i", "f"), argsOf(0, `{"a":"`)}
	for range 1 << 18 {
		events = append(events, argsOf(0, "abcd"))
	}
	events = append(events, argsOf(0, `"}`), finished(wire.FinishCalls))
	out, _ := reply(shown, wire.WriterOptions{Stream: true}, events...)
	if len(out) < 1<<20 || !strings.Contains(out, `abcd"}}`) {
		t.Errorf("there are %d bytes", len(out))
	}
}

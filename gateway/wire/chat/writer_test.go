package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// written writes events for a client.
func writtenBy(t *testing.T, asked *wire.Ask, o wire.WriterOptions, all []wire.Event) string {
	t.Helper()
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, asked, o)
	for _, e := range all {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// chunksOf are the chunks of a stream without what is the same in all of them.
func chunksOf(t *testing.T, s string) []string {
	t.Helper()
	head := `{"id":"` + wire.MakeID("chatcmpl-", "r") + `","object":"chat.completion.chunk","created":7,"model":"m","choices":[`
	var out []string
	for _, ev := range strings.Split(strings.TrimSuffix(s, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(ev, "data: ")
		if !ok {
			t.Fatalf("not a data line: %q", ev)
		}
		if data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("not JSON: %s", data)
		}
		out = append(out, strings.TrimPrefix(data, head))
	}
	return out
}

var streamed = wire.WriterOptions{Stream: true, ID: "r", Now: 7, Model: "m"}

func ch(delta string) string {
	return `{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":null}]}`
}

func chEnd(why string) string {
	return `{"index":0,"delta":{},"logprobs":null,"finish_reason":"` + why + `"}]}`
}

const role = `{"role":"assistant","content":""}`

func TestWritingStreams(t *testing.T) {
	ev := func(k wire.EventKind, text string) wire.Event { return wire.Event{Kind: k, Text: text} }
	start := wire.Event{Kind: wire.EventStart, ID: "up", Model: "v"}
	begin := func(i int, id, name string, free bool) wire.Event {
		return wire.Event{Kind: wire.EventCall, Index: i, Call: &wire.Call{ID: id, Name: name, Free: free}}
	}
	args := func(i int, text string) wire.Event {
		return wire.Event{Kind: wire.EventArgs, Index: i, Text: text}
	}
	end := func(why wire.FinishWhy) wire.Event {
		return wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why}}
	}
	usage := wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 10, Output: 4, Reasoning: 3, CacheRead: 6, CacheWrite: 2}}
	for name, c := range map[string]struct {
		asked wire.Ask
		in    []wire.Event
		want  []string
	}{
		"role first, one finish, [DONE]; no usage unless asked": {
			in:   []wire.Event{start, ev(wire.EventThinking, "hm"), ev(wire.EventText, "a"), usage, end(wire.FinishStop)},
			want: []string{ch(role), ch(`{"reasoning_content":"hm"}`), ch(`{"content":"a"}`), chEnd("stop"), "[DONE]"},
		},
		"a writer that sees no start writes one": {
			in:   []wire.Event{ev(wire.EventText, "a"), end(wire.FinishLength), ev(wire.EventText, "late")},
			want: []string{ch(role), ch(`{"content":"a"}`), chEnd("length"), "[DONE]"},
		},
		"calls count from 0, whatever their events' index, and may interleave": {
			in: []wire.Event{start, begin(1, "A", "f", false), begin(4, "B", "p", true), args(1, "{"), args(4, "x"), args(1, "}"), end(wire.FinishStop)},
			want: []string{
				ch(role), ch(`{"tool_calls":[{"index":0,"id":"A","type":"function","function":{"name":"f","arguments":""}}]}`),
				ch(`{"tool_calls":[{"index":1,"id":"B","type":"custom","custom":{"name":"p","input":""}}]}`),
				ch(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`), ch(`{"tool_calls":[{"index":1,"custom":{"input":"x"}}]}`),
				ch(`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`), chEnd("tool_calls"), "[DONE]",
			},
		},
		"a call told whole, and one without arguments": {
			in: []wire.Event{
				start,
				{Kind: wire.EventCallEnd, Call: &wire.Call{ID: "A", Name: "f", Args: json.RawMessage(`{"a":1}`)}},
				begin(1, "B", "g", false), end(wire.FinishCalls),
			},
			want: []string{
				ch(role), ch(`{"tool_calls":[{"index":0,"id":"A","type":"function","function":{"name":"f","arguments":""}}]}`), ch(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]}`),
				ch(`{"tool_calls":[{"index":1,"id":"B","type":"function","function":{"name":"g","arguments":""}}]}`), ch(`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`),
				chEnd("tool_calls"), "[DONE]",
			},
		},
		"calls without a call are a stop": {
			in:   []wire.Event{start, end(wire.FinishCalls)},
			want: []string{ch(role), chEnd("stop"), "[DONE]"},
		},
		"a length limit goes before calls": {
			in:   []wire.Event{start, begin(0, "A", "f", true), end(wire.FinishLength)},
			want: []string{ch(role), ch(`{"tool_calls":[{"index":0,"id":"A","type":"custom","custom":{"name":"f","input":""}}]}`), chEnd("length"), "[DONE]"},
		},
		"the API's first calls, for who knows those": {
			asked: wire.Ask{Legacy: true},
			in:    []wire.Event{start, begin(0, "A", "f", false), args(0, "{}"), begin(1, "B", "g", false), args(1, "{}"), end(wire.FinishCalls)},
			want:  []string{ch(role), ch(`{"function_call":{"name":"f","arguments":""}}`), ch(`{"function_call":{"arguments":"{}"}}`), chEnd("function_call"), "[DONE]"},
		},
		"Gemini's signature stands where its Chat door has it": {
			in: []wire.Event{start, {Kind: wire.EventCall, Call: &wire.Call{ID: "A", Name: "f"}, Seal: &wire.Seal{API: wire.Gemini, Data: "c2ln"}}, args(0, "{}"), end(wire.FinishCalls)},
			want: []string{
				ch(role), ch(`{"tool_calls":[{"index":0,"id":"A","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}`),
				ch(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`), chEnd("tool_calls"), "[DONE]",
			},
		},
		"withheld, with what the vendor says of it": {
			in:   []wire.Event{start, {Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "It looks bad."}}},
			want: []string{ch(role), ch(`{"refusal":"It looks bad."}`), chEnd("content_filter"), "[DONE]"},
		},
		"an error, and nothing after it": {
			in:   []wire.Event{start, ev(wire.EventText, "a"), {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 502, Code: "server_error", Words: "boom"}}, end(wire.FinishStop)},
			want: []string{ch(role), ch(`{"content":"a"}`), `{"error":{"message":"boom","type":"api_error","param":null,"code":"server_error"}}`},
		},
		"an error first": {
			in:   []wire.Event{{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 429, Words: "slow"}}},
			want: []string{`{"error":{"message":"slow","type":"rate_limit_error","param":null,"code":null}}`},
		},
		"no reasoning for a client that wants none": {
			asked: wire.Ask{Show: wire.ShowNone},
			in:    []wire.Event{start, ev(wire.EventThinking, "hm"), ev(wire.EventText, "a"), end(wire.FinishStop)},
			want:  []string{ch(role), ch(`{"content":"a"}`), chEnd("stop"), "[DONE]"},
		},
		"sources where their place is known": {
			in:   []wire.Event{start, ev(wire.EventText, "é"), {Kind: wire.EventText, Text: "b", Part: 1}, {Kind: wire.EventCite, Cite: &wire.Cite{URL: "u", Title: "t", End: 1}}, {Kind: wire.EventCite, Cite: &wire.Cite{URL: "v"}}, end(wire.FinishStop)},
			want: []string{ch(role), ch(`{"content":"é"}`), ch(`{"content":"b"}`), ch(`{"annotations":[{"type":"url_citation","url_citation":{"start_index":1,"end_index":2,"url":"u","title":"t"}}]}`), chEnd("stop"), "[DONE]"},
		},
		"an image that the model made": {
			in:   []wire.Event{start, {Kind: wire.EventMedia, Media: &wire.Media{MIME: "image/png", Data: "AAAA"}}, end(wire.FinishStop)},
			want: []string{ch(role), ch(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`), chEnd("stop"), "[DONE]"},
		},
	} {
		same(t, name, chunksOf(t, writtenBy(t, &c.asked, streamed, c.in)), c.want)
	}
}

func TestUsageIsWrittenWhenAskedFor(t *testing.T) {
	got := chunksOf(t, writtenBy(t, &wire.Ask{Usage: true}, streamed, []wire.Event{
		{Kind: wire.EventUsage, Usage: wire.Usage{Input: 1}},
		{Kind: wire.EventText, Text: "a"},
		{Kind: wire.EventUsage, Usage: wire.Usage{Input: 10, Output: 4, Reasoning: 3, CacheRead: 6, CacheWrite: 2}},
		{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishStop}},
	}))
	null := func(s string) string { return strings.TrimSuffix(s, "}") + `,"usage":null}` }
	same(t, "chunks", got, []string{
		null(ch(role)), null(ch(`{"content":"a"}`)), null(chEnd("stop")),
		`],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]",
	})
}

func TestAWholeReplyHasEveryField(t *testing.T) {
	whole := wire.WriterOptions{ID: "r", Now: 7, Model: "m"}
	head := `{"id":"` + wire.MakeID("chatcmpl-", "r") + `","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,"message":`
	tail := func(why string) string {
		return `,"logprobs":null,"finish_reason":"` + why + `"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`
	}
	for name, c := range map[string]struct {
		asked wire.Ask
		in    string
		want  string
	}{
		"text": {
			in:   stream(deltaOf(`{"reasoning_content":"hm"}`), deltaOf(`{"content":"a"}`), finish("stop")),
			want: head + `{"role":"assistant","content":"a","refusal":null,"reasoning_content":"hm"}` + tail("stop"),
		},
		"nothing": {
			in:   stream(finish("stop")),
			want: head + `{"role":"assistant","content":"","refusal":null}` + tail("stop"),
		},
		"calls": {
			in:   stream(deltaOf(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"2","type":"custom","custom":{"name":"p","input":"x"}}]}`), finish("stop")),
			want: head + `{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"custom","custom":{"name":"p","input":"x"}}]}` + tail("tool_calls"),
		},
		"the API's first call": {
			asked: wire.Ask{Legacy: true},
			in:    stream(deltaOf(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]}`), finish("stop")),
			want:  head + `{"role":"assistant","content":null,"refusal":null,"function_call":{"name":"f","arguments":"{}"}}` + tail("function_call"),
		},
		"a refusal": {
			in:   stream(deltaOf(`{"refusal":"no"}`), finish("stop")),
			want: head + `{"role":"assistant","content":null,"refusal":"no"}` + tail("stop"),
		},
		"a failure": {
			in:   stream(`{"error":{"message":"boom","code":"c"}}`),
			want: `{"error":{"message":"boom","type":"api_error","param":null,"code":"c"}}`,
		},
	} {
		same(t, name, writtenBy(t, &c.asked, whole, events(nil, c.in)), c.want)
	}
}

func TestSealsTravelWithMessagesThatAreGivenBackWhole(t *testing.T) {
	a, b := &wire.Seal{API: wire.Messages, Data: "S1"}, &wire.Seal{API: wire.Messages, Data: "R", Redacted: true}
	all := []wire.Event{
		{Kind: wire.EventThinking, Text: "déep"},
		{Kind: wire.EventSeal, Seal: a},
		{Kind: wire.EventSeal, Seal: b},
		{Kind: wire.EventText, Text: "ok"},
		{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishStop}},
	}
	body := writtenBy(t, nil, wire.WriterOptions{Vendor: "anthropic"}, all)
	var message string
	wire.Value(body).Get("choices").Elements(func(v wire.Value) { message = string(v.Get("message")) })
	got := say(t, `[{"role":"user","content":"x"},`+message+`]`)
	for _, s := range []*wire.Seal{a, b} {
		s.Vendor = "anthropic"
	}
	same(t, "turn", got.Turns[1], assistant(
		wire.Part{Kind: wire.KindThinking, Text: "déep", Seal: a}, wire.Part{Kind: wire.KindThinking, Seal: b}, text("ok"),
	))
}

func TestPingsAreComments(t *testing.T) {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, streamed)
	if err := w.Ping(); err != nil || b.String() != ": keep-alive\n\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := w.Event(wire.Event{Kind: wire.EventFinish}); err != nil || !w.Done() {
		t.Fatal(err, w.Done())
	}
	n := b.Len()
	if err := w.Ping(); err != nil || b.Len() != n {
		t.Error("a comment after the end")
	}
}

func TestAStreamThatIsReadAndWrittenReadsTheSame(t *testing.T) {
	first := events(nil, full)
	second := events(nil, writtenBy(t, &wire.Ask{Usage: true}, streamed, first))
	for _, all := range [][]wire.Event{first, second} {
		all[0].ID, all[0].Model = "", ""
	}
	same(t, "events", told(second), told(first))
}

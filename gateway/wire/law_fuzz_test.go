package wire_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

func apiOf(n uint8) wire.Protocol { return wire.Protocols[int(n)%len(wire.Protocols)] }

// requests are seeds: what each API's clients send.
var requests = []string{
	`{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1.0}"}}]},{"role":"tool","tool_call_id":"c","content":"r"},{"role":"user","content":"b"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"required","response_format":{"type":"json_object"},"reasoning_effort":"high"}`,
	`{"model":"m","instructions":"i","input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[],"encrypted_content":"gAAAAA=="},{"type":"custom_tool_call","call_id":"c","name":"p","input":"x"},{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,iVBO"}]},{"type":"function_call","call_id":"d","name":"f","namespace":"n","arguments":"{}"}],"tools":[{"type":"custom","name":"p"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f","parameters":{}}]},{"type":"web_search"}],"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"object"}}}}`,
	`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"Eq"},{"type":"tool_use","id":"x","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"y","is_error":true,"content":[{"type":"image","source":{"type":"url","url":"https://e.org"}}]}]},{"role":"system","content":"late"}],"tools":[{"name":"f","input_schema":{"oneOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}}]}`,
	`{"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]},{"role":"model","parts":[{"text":"h","thought":true,"thoughtSignature":"AA=="},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":-1},"stopSequences":["E"]}}`,
}

// FuzzAnyRequestGoesToEveryAPI reads a request and writes it for each API: JSON that this
// API reads, and the same bytes each time, or a refusal.
func FuzzAnyRequestGoesToEveryAPI(f *testing.F) {
	for i := range wire.Protocols {
		f.Add(uint8(i), []byte(requests[i]))
	}
	f.Fuzz(func(t *testing.T, n uint8, body []byte) {
		a, err := codecs[apiOf(n)].ReadAsk(body)
		if err != nil {
			return
		}
		before, _ := json.Marshal(a)
		for _, to := range wire.Protocols {
			out, _, err := codecs[to].WriteAsk(a, targets[to])
			if err != nil {
				continue
			}
			if !json.Valid(out) {
				t.Fatalf("%s: no JSON: %s", to, out)
			}
			if _, err := codecs[to].ReadAsk(out); err != nil {
				t.Fatalf("%s can't read what was written: %v\n%s", to, err, out)
			}
			if again, _, _ := codecs[to].WriteAsk(a, targets[to]); !bytes.Equal(again, out) {
				t.Fatalf("%s: the same request was written differently:\n%s\n%s", to, out, again)
			}
		}
		if after, _ := json.Marshal(a); !bytes.Equal(before, after) {
			t.Fatalf("writing changed what was read:\n%s\n%s", before, after)
		}
	})
}

// ends are the marks of which the stream of a finished reply has one.
var ends = map[wire.Protocol][]string{
	wire.Chat: {"finish_reason", "[DONE]"}, wire.Responses: {"response.completed", "response.incomplete"},
	wire.Messages: {"message_stop", "message_delta"}, wire.Gemini: {"finishReason", "promptFeedback"},
}

// sample is a stream with all that a reply may hold.
func sample(f *testing.F, api wire.Protocol) string {
	f.Helper()
	var b bytes.Buffer
	w := codecs[api].NewWriter(&b, asker(api), wire.WriterOptions{Stream: true, ID: "1", Model: "m"})
	for _, e := range []wire.Event{
		{Kind: wire.EventStart, ID: "r", Model: "m"},
		{Kind: wire.EventThinking, Text: "hm", Part: 1},
		{Kind: wire.EventSeal, Seal: &wire.Seal{API: wire.Messages, Data: "EqQBAA=="}},
		{Kind: wire.EventText, Text: "héllo ", Part: 2},
		{Kind: wire.EventText, Text: "you", Part: 2},
		{Kind: wire.EventCall, Call: &wire.Call{ID: "c1", Name: "read"}},
		{Kind: wire.EventArgs, Text: `{"p":`},
		{Kind: wire.EventArgs, Text: `"a"}`},
		{Kind: wire.EventCallEnd, Call: &wire.Call{ID: "c1", Name: "read", Args: json.RawMessage(`{"p":"a"}`)}},
		{Kind: wire.EventCall, Index: 1, Call: &wire.Call{ID: "c2", Name: "patch", Free: true}},
		{Kind: wire.EventArgs, Index: 1, Text: "raw\ntext"},
		{Kind: wire.EventCallEnd, Index: 1, Call: &wire.Call{ID: "c2", Name: "patch", Free: true, Input: "raw\ntext"}},
		{Kind: wire.EventUsage, Usage: wire.Usage{Input: 5, Output: 4}},
		{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishCalls}},
	} {
		if err := w.Event(e); err != nil {
			f.Fatal(err)
		}
	}
	return b.String()
}

// FuzzAnyStreamGoesToEveryAPI takes a stream's events in any order, some of them twice or
// never, cuts it anywhere, and puts something else in a place of it. order names an event a
// byte; none = as it is.
func FuzzAnyStreamGoesToEveryAPI(f *testing.F) {
	samples := make([]string, len(wire.Protocols))
	for i, api := range wire.Protocols {
		samples[i] = sample(f, api)
		f.Add(uint8(i), []byte{}, uint16(len(samples[i])), uint16(0), "")
		f.Add(uint8(i), []byte{}, uint16(len(samples[i])/2), uint16(30), "null")
		f.Add(uint8(i), []byte{0, 1, 3, 2, 4, 4, 6, 5, 9, 8, 7, 12, 11, 10, 200, 13, 14, 15}, uint16(60000), uint16(700), "\n\n")
		f.Add(uint8(i), []byte{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, uint16(60000), uint16(99), `{"error":"x"}`)
	}
	f.Fuzz(func(t *testing.T, n uint8, order []byte, cut, at uint16, with string) {
		api := apiOf(n)
		text := samples[int(n)%len(samples)]
		if len(order) > 0 {
			pieces := strings.SplitAfter(text, "\n\n")
			var b strings.Builder
			for _, k := range order[:min(len(order), 64)] {
				b.WriteString(pieces[int(k)%len(pieces)])
			}
			text = b.String()
		}
		if int(at) < len(text) {
			text = text[:at] + with + text[min(len(text), int(at)+len(with)):]
		}
		text = text[:min(len(text), int(cut))]
		events := readStream(api, text, 37)
		over(t, events)
		finished := events[len(events)-1].Kind == wire.EventFinish
		if finished && !strings.Contains(text, `\u`) && !holds(text, ends[api]) {
			t.Fatalf("%s: it reads as finished, and nothing said so: %s", api, text)
		}
		for _, to := range wire.Protocols {
			for _, streamed := range []bool{true, false} {
				rewritten(t, to, events, streamed, finished)
			}
		}
	})
}

func holds(text string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(text, m) {
			return true
		}
	}
	return false
}

// over checks that a reply ends once, and that nothing comes behind its end.
func over(t *testing.T, events []wire.Event) {
	t.Helper()
	if len(events) == 0 {
		t.Fatal("the reply neither ended nor failed")
	}
	for i, e := range events {
		if end := e.Kind == wire.EventFinish || e.Kind == wire.EventFail; end != (i == len(events)-1) {
			t.Fatalf("event %d of %d is of kind %d", i, len(events), e.Kind)
		}
	}
}

// rewritten writes events in another API and reads them again: finished is finished there too.
func rewritten(t *testing.T, to wire.Protocol, events []wire.Event, streamed, finished bool) {
	t.Helper()
	var b bytes.Buffer
	w := codecs[to].NewWriter(&b, asker(to), wire.WriterOptions{Stream: streamed, ID: "1", Model: "m"})
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if !w.Done() {
		t.Fatalf("%s: no end was written: %s", to, b.String())
	}
	size := b.Len()
	_ = w.Event(wire.Event{Kind: wire.EventText, Text: "late"})
	_ = w.Event(wire.Event{Kind: wire.EventFinish})
	if b.Len() != size {
		t.Fatalf("%s: something was written behind the end: %s", to, b.Bytes()[size:])
	}
	var again []wire.Event
	if streamed {
		again = readStream(to, b.String(), 64)
	} else {
		if !json.Valid(b.Bytes()) {
			t.Fatalf("%s: no JSON: %s", to, b.String())
		}
		again = codecs[to].NewReader(asker(to)).Whole(b.Bytes())
	}
	over(t, again)
	if to == wire.Gemini && finished && !says(events) { // a reply of hers that says nothing counts as none
		return
	}
	if (again[len(again)-1].Kind == wire.EventFinish) != finished {
		t.Fatalf("%s: finished is %v, and it reads as %s", to, finished, b.String())
	}
}

// says says whether a reply has anything but reasoning.
func says(events []wire.Event) bool {
	return slices.ContainsFunc(events, func(e wire.Event) bool {
		switch e.Kind {
		case wire.EventText, wire.EventRefusal:
			return e.Text != ""
		case wire.EventCall, wire.EventCallEnd, wire.EventMedia:
			return true
		default:
			return false
		}
	})
}

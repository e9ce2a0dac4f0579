package messages

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// frames are events of a stream: each is its data, its type is its event line.
func frames(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("event: " + wire.Value(d).Get("type").Text() + "\ndata: " + d + "\n\n")
	}
	return b.String()
}

// The pieces that most streams have.
const (
	fStart  = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens":1}}}`
	fPing   = `{"type":"ping"}`
	fStop   = `{"type":"message_stop"}`
	fText   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	fHello  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`
	fEnd0   = `{"type":"content_block_stop","index":0}`
	fEnded  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":33}}`
	fCalled = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":33,"output_tokens_details":{"thinking_tokens":11}}}`
	fCut    = `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":33}}`
)

// heard reads a stream, and its end.
func heard(asked *wire.Ask, stream string) []wire.Event {
	r := Codec{}.NewReader(asked)
	var s sse.Splitter
	var out []wire.Event
	if s.Feed([]byte(stream)) != nil {
		return nil
	}
	s.Events(func(ev []byte) { out = append(out, r.Read(ev)...) })
	return append(out, r.End()...)
}

func fold(events []wire.Event) wire.Answer {
	var f wire.Fold
	for _, e := range events {
		f.Add(e)
	}
	return f.Answer()
}

// told draws events as one line.
func told(events []wire.Event) string {
	var out []string
	for _, e := range events {
		switch e.Kind {
		case wire.EventStart:
			out = append(out, "start:"+e.ID+","+e.Model)
		case wire.EventThinking:
			out = append(out, fmt.Sprintf("think%d:%s", e.Part, e.Text))
		case wire.EventSeal:
			word := "seal:"
			if e.Seal.Redacted {
				word = "redacted:"
			}
			out = append(out, word+e.Seal.Data)
		case wire.EventText:
			out = append(out, fmt.Sprintf("text%d:%s", e.Part, e.Text))
		case wire.EventRefusal:
			out = append(out, "refusal:"+e.Text)
		case wire.EventCall:
			out = append(out, fmt.Sprintf("call%d:%s,%s", e.Index, e.Call.ID, e.Call.Name))
		case wire.EventArgs:
			out = append(out, fmt.Sprintf("args%d:%s", e.Index, e.Text))
		case wire.EventCallEnd:
			out = append(out, fmt.Sprintf("end%d:%s%s", e.Index, e.Call.Args, e.Call.Input))
		case wire.EventCite:
			out = append(out, "cite:"+e.Cite.URL)
		case wire.EventMedia:
			out = append(out, "media")
		case wire.EventUsage:
			out = append(out, fmt.Sprintf("usage:%d/%d", e.Usage.Input, e.Usage.Output))
		case wire.EventFinish:
			out = append(out, "finish:"+string(e.Finish.Why)+e.Finish.String+e.Finish.Detail)
		case wire.EventFail:
			out = append(out, fmt.Sprintf("fail%d:%s", e.Fail.Status, e.Fail.Words))
		}
	}
	return strings.Join(out, " | ")
}

func TestAVendorsStreamIsRead(t *testing.T) {
	const begin = "start:msg_1,claude-x | usage:100/1 | "
	for name, c := range map[string]struct{ stream, want string }{
		"text": {
			frames(fStart, fPing, fText, fHello, fEnd0, fEnded, fStop),
			begin + "text0:Hello | usage:100/33 | finish:stop",
		},
		"thinking, text and a call": {
			frames(fStart,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Pla"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"n."}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}`, fEnd0,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hey"}}`,
				`{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"exec","input":{}}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":":1}"}}`,
				`{"type":"content_block_stop","index":2}`, fCalled, fStop),
			begin + `think0:Pla | think0:n. | seal:EqQ | text1:Hey | call0:toolu_1,exec | args0:{"a" | args0::1} | end0:{"a":1} | usage:100/33 | finish:calls`,
		},
		"thinking of which only the seal is shown, and redacted": {
			frames(fStart,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}`, fEnd0,
				`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Emw"}}`,
				`{"type":"content_block_stop","index":1}`, fEnded, fStop),
			begin + "seal:EqQ | redacted:Emw | usage:100/33 | finish:stop",
		},
		"calls that interleave, one without arguments": {
			frames(fStart,
				`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`,
				`{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"2}"}}`, fEnd0, fCalled, fStop),
			begin + `call0:a,f | call1:b,g | args0:{"x": | end1:{} | args0:2} | end0:{"x":2} | usage:100/33 | finish:calls`,
		},
		"arguments that come with the block's beginning": {
			frames(fStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}`, fEnd0, fCalled, fStop),
			begin + `call0:a,f | args0:{"x":1} | end0:{"x":1} | usage:100/33 | finish:calls`,
		},
		"arguments that come with the beginning and again": {
			frames(fStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x":1}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":2}"}}`, fEnd0, fCalled, fStop),
			begin + `call0:a,f | args0:{"x":2} | end0:{"x":2} | usage:100/33 | finish:calls`,
		},
		"what the vendor runs itself is passed over": {
			frames(fStart, `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, fEnd0,
				`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","content":[]}}`, `{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"So"}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://x","title":"T"}}}`,
				`{"type":"content_block_stop","index":2}`, fEnded, fStop),
			begin + "text2:So | cite:https://x | usage:100/33 | finish:stop",
		},
		"types that nobody knows are passed over":    {frames(fStart, `{"type":"new_thing","x":1}`, fText, `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}`, fHello, fEnd0, fEnded, fStop), begin + "text0:Hello | usage:100/33 | finish:stop"},
		"the last reason counts":                     {frames(fStart, fEnded, fCut, fStop), begin + "usage:100/33 | finish:length"},
		"without message_stop, but with a reason":    {frames(fStart, fText, fHello, fEnd0, fEnded), begin + "text0:Hello | usage:100/33 | finish:stop"},
		"cut before a reason":                        {frames(fStart, fText, fHello), begin + "text0:Hello | fail502:the vendor's stream broke off before its end"},
		"nothing at all":                             {"", "fail502:the vendor's stream broke off before its end"},
		"an error":                                   {frames(fStart, fText, fHello, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, fEnded, fStop), begin + "text0:Hello | fail529:Overloaded"},
		"an error without event line and type":       {"data: {\"error\":{\"type\":\"rate_limit_error\",\"message\":\"Slow\"}}\n\n", "fail429:Slow"},
		"data without a type":                        {"event: message_stop\ndata: {}\n\n", "start:, | finish:stop"},
		"an event that is no JSON":                   {frames(fStart) + "data: {\"type\":\n\n" + frames(fEnded, fStop), begin + "fail502:the vendor sent an event that can't be read"},
		"a [DONE] that doesn't belong there":         {frames(fStart, fEnded, fStop) + "data: [DONE]\n\n", begin + "usage:100/33 | finish:stop"},
		"comments":                                   {": hi\n\n" + frames(fStart, fEnded, fStop), begin + "usage:100/33 | finish:stop"},
		"deltas of a block that never began":         {frames(fStart, fHello, fEnded, fStop), begin + "text0:Hello | usage:100/33 | finish:stop"},
		"a beginning twice":                          {frames(fStart, fStart, fEnded, fStop), begin + "usage:100/33 | finish:stop"},
		"anything behind the end":                    {frames(fStart, fEnded, fStop, fText, fHello, fStop), begin + "usage:100/33 | finish:stop"},
		"a refusal says why":                         {frames(fStart, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"No."}}}`, fStop), begin + "usage:100/1 | finish:withheldNo."},
		"a stop string":                              {frames(fStart, `{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"}}`, fStop), begin + "usage:100/1 | finish:stop-stringEND"},
		"a full window":                              {frames(fStart, `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, fStop), begin + "usage:100/1 | finish:window"},
		"a pause":                                    {frames(fStart, `{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`, fStop), begin + "usage:100/1 | finish:pause"},
		"blocks that are open at the end are closed": {frames(fStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, fCalled, fStop), begin + "call0:a,f | end0:{} | usage:100/33 | finish:calls"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(heard(nil, c.stream)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestATooLongPromptIsKnownForOne(t *testing.T) {
	a := fold(heard(nil, frames(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`)))
	if a.Fail == nil || a.Fail.Code != "context_length_exceeded" || a.Fail.Status != 400 {
		t.Errorf("got %+v", a.Fail)
	}
}

func TestUsageCountsWhatWasCached(t *testing.T) {
	got := fold(heard(nil, frames(fStart, fCalled, fStop))).Usage
	want := wire.Usage{Input: 100, Output: 33, Reasoning: 11, CacheRead: 90, CacheWrite: 5}
	if got != want {
		t.Errorf("got %+v", got)
	}
	split := `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":1,"output_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4}}}`
	if got := fold(heard(nil, frames(split, fStop))).Usage; got.CacheWrite != 7 || got.Input != 8 {
		t.Errorf("what was written, by its life: got %+v", got)
	}
}

func TestNamesAndFreeformInputComeBackAsTheClientKnowsThem(t *testing.T) {
	asked := &wire.Ask{Tools: []wire.Tool{{Name: "a.b"}, {Kind: wire.ToolFree, Name: "apply_patch"}}}
	sent := wire.MessagesNames.Name("a.b")
	stream := frames(fStart,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"`+sent+`","input":{}}}`, fEnd0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"2","name":"apply_patch","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"input\": \"a\\"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"nb\"}"}}`,
		`{"type":"content_block_stop","index":1}`, fCalled, fStop)
	events := heard(asked, stream)
	const want = "start:msg_1,claude-x | usage:100/1 | call0:1,a.b | end0:{} | call1:2,apply_patch | args1:a | args1:\nb | end1:a\nb | usage:100/33 | finish:calls"
	if got := told(events); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	call := fold(events).Parts[1].Call
	if !call.Free || call.Input != "a\nb" {
		t.Errorf("got %+v", call)
	}
}

func TestACallWithoutANameIsNoneAndMakesNoReplyOfCalls(t *testing.T) {
	stream := frames(fStart, fText, fHello, fEnd0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`{"type":"content_block_stop","index":1}`, fCalled, fStop)
	const want = "start:msg_1,claude-x | usage:100/1 | text0:Hello | usage:100/33 | finish:stop"
	if got := told(heard(nil, stream)); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestAWholeReplySaysWhatItsStreamSays(t *testing.T) {
	whole := `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
		{"type":"thinking","thinking":"hm","signature":"EqQ"},{"type":"redacted_thinking","data":"Emw"},{"type":"text","text":"Hello","citations":[{"url":"https://x","title":"T","cited_text":"c"}]},
		{"type":"tool_use","id":"a","name":"f","input":{"n":1.0}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":33,"cache_read_input_tokens":90,"cache_creation_input_tokens":5,"output_tokens_details":{"thinking_tokens":11}}}`
	stream := frames(fStart,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}`, fEnd0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Emw"}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Hello"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"url":"https://x","title":"T","cited_text":"c"}}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1.0}"}}`,
		`{"type":"content_block_stop","index":3}`, fCalled, fStop)
	if diff := cmp.Diff(fold(heard(nil, stream)), fold(Codec{}.NewReader(nil).Whole([]byte(whole)))); diff != "" {
		t.Error(diff)
	}
}

func TestAWholeReplyThatIsNone(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"an error":              {`{"type":"error","error":{"type":"api_error","message":"x"}}`, "fail500:x"},
		"an error that's text":  {`{"error":"bad"}`, "fail502:bad"},
		"no JSON":               {`<html>`, "fail502:the vendor sent a reply that can't be read"},
		"no message":            {`{"ok":true}`, "fail502:the vendor sent a reply without content"},
		"a reply without words": {`{"id":"msg_1","model":"m","content":[],"stop_reason":"end_turn"}`, "start:msg_1,m | finish:stop"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(Codec{}.NewReader(nil).Whole([]byte(c.body))); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// full is a stream with all that streams have.
var full = frames(fStart, fPing,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}`, fEnd0,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße 🐦"}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1.0}"}}`,
	`{"type":"content_block_stop","index":2}`, fCalled, fStop)

func TestAStreamCutAnywhereNeverReadsAsFinished(t *testing.T) {
	reason := strings.Index(full, "event: message_delta")
	settled := reason + strings.Index(full[reason:], "\n\n") + 2
	for cut := range len(full) {
		a := fold(heard(nil, full[:cut]))
		if finished := a.Fail == nil; finished != (cut >= settled) {
			t.Fatalf("cut at byte %d: fail %v, finish %q", cut, a.Fail, a.Finish.Why)
		}
	}
}

func TestAStreamFedInAnyPiecesSaysTheSame(t *testing.T) {
	want := told(heard(nil, full))
	for size := 1; size < 40; size++ {
		r := Codec{}.NewReader(nil)
		var s sse.Splitter
		var out []wire.Event
		for rest := full; rest != ""; {
			n := min(size, len(rest))
			if err := s.Feed([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			s.Events(func(ev []byte) { out = append(out, r.Read(ev)...) })
		}
		if got := told(append(out, r.End()...)); got != want {
			t.Fatalf("pieces of %d: %s", size, got)
		}
	}
}

func FuzzAnyStreamIsReadWithoutHarm(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(frames(fStart, fEnd0, fCalled, fHello, fText, fStop)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		events := heard(nil, string(stream))
		ends := 0
		for i, e := range events {
			if e.Kind == wire.EventFinish || e.Kind == wire.EventFail {
				ends++
				if i != len(events)-1 {
					t.Fatal("an event behind the end")
				}
			}
		}
		if ends != 1 {
			t.Fatalf("%d ends", ends)
		}
		for _, e := range Codec.NewReader(Codec{}, nil).Whole(stream) {
			if e.Kind == wire.EventFinish && !json.Valid(stream) {
				t.Fatal("what is no JSON reads as finished")
			}
		}
	})
}

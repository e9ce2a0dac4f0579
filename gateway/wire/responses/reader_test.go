package responses

import (
	"reflect"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

const completed = `{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":4,"input_tokens_details":{"cached_tokens":3,"cache_write_tokens":2},"output_tokens_details":{"reasoning_tokens":1}}}}`

func added(index, item string) string {
	return `{"type":"response.output_item.added","output_index":` + index + `,"item":` + item + `}`
}

func done(index, item string) string {
	return `{"type":"response.output_item.done","output_index":` + index + `,"item":` + item + `}`
}

func delta(kind, index, text string) string {
	return `{"type":"response.` + kind + `.delta","output_index":` + index + `,"content_index":0,"delta":"` + text + `"}`
}

func TestStreamsAreRead(t *testing.T) {
	fc := func(id, call, name, args string) string {
		return `{"type":"function_call","id":"` + id + `","call_id":"` + call + `","name":"` + name + `","arguments":"` + args + `"}`
	}
	for name, c := range map[string]struct {
		events []string
		want   string
		why    wire.FinishWhy
	}{
		"a text, told in pieces and whole, is told once": {
			[]string{
				added("0", `{"type":"message","id":"i"}`), delta("output_text", "0", "ye"), delta("output_text", "0", "s"),
				`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"yes"}`,
				done("0", `{"type":"message","id":"i","content":[{"type":"output_text","text":"yes"}]}`), completed,
			},
			"text \"yes\"\n", wire.FinishStop,
		},
		"a text without a beginning": {[]string{delta("output_text", "0", "a"), completed}, "text \"a\"\n", wire.FinishStop},
		"a text that only its end tells": {
			[]string{done("0", `{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`), completed},
			"text \"a\"\ntext \"b\"\n", wire.FinishStop,
		},
		"an end that tells more than the stream": {
			[]string{delta("output_text", "0", "a"), `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"abc"}]},` + fc("f", "c", "g", "{}") + `]}}`},
			"text \"abc\"\ncall c g {}\n", wire.FinishCalls,
		},
		"an end whose ids are others than the stream's": {
			[]string{
				added("0", `{"type":"message","id":"x1"}`), delta("output_text", "0", "yes"), done("0", `{"type":"message","id":"x2","content":[{"type":"output_text","text":"yes"}]}`),
				`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","id":"x3","content":[{"type":"output_text","text":"yes"}]}]}}`,
			},
			"text \"yes\"\n", wire.FinishStop,
		},
		"summaries of several parts are one thought, and the seal at its end counts": {
			[]string{
				added("0", `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"early"}`),
				`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Plan"}`,
				`{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"Plan it."}`,
				`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"Do it."}`,
				done("0", `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Plan it."},{"type":"summary_text","text":"Do it."}],"encrypted_content":"late"}`), completed,
			},
			"thinking \"Plan it.\\n\\nDo it.\" sealed responses late\n", wire.FinishStop,
		},
		"reasoning itself, where no summary is told": {
			[]string{
				`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"raw"}`,
				done("0", `{"type":"reasoning","summary":[{"type":"summary_text","text":"sum"}],"content":[{"type":"reasoning_text","text":"raw!"}]}`), completed,
			},
			"thinking \"raw!\"\n", wire.FinishStop,
		},
		"only a summary at the end":  {[]string{done("0", `{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}]}`), completed}, "thinking \"s\"\n", wire.FinishStop},
		"reasoning that is nothing":  {[]string{added("0", `{"type":"reasoning","id":"a"}`), done("0", `{"type":"reasoning","id":"a","summary":[]}`), completed}, "", wire.FinishStop},
		"reasoning that is all seal": {[]string{done("0", `{"type":"reasoning","id":"a","summary":[],"encrypted_content":"e"}`), completed}, "thinking \"\" sealed responses e\n", wire.FinishStop},
		"arguments that only the end tells": {
			[]string{added("0", fc("f", "c", "g", "")), `{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}`, done("0", fc("f", "c", "g", `{\"a\":1}`)), completed},
			"call c g {\"a\":1}\n", wire.FinishCalls,
		},
		"arguments that only the item tells": {[]string{done("0", fc("f", "c", "g", `{\"a\":1}`)), completed}, "call c g {\"a\":1}\n", wire.FinishCalls},
		"no arguments":                       {[]string{done("0", fc("f", "c", "g", "")), completed}, "call c g {}\n", wire.FinishCalls},
		"a name that comes late": {
			[]string{added("0", `{"type":"function_call","id":"f","call_id":"c"}`), delta("function_call_arguments", "0", `{}`), done("0", fc("f", "c", "g", "{}")), completed},
			"call c g {}\n", wire.FinishCalls,
		},
		"a call without a name is none": {[]string{added("0", `{"type":"function_call","id":"f","call_id":"c"}`), delta("function_call_arguments", "0", `{}`), completed}, "", wire.FinishStop},
		"interleaved items are put in order": {
			[]string{
				added("0", fc("f1", "c1", "g", "")), added("1", fc("f2", "c2", "h", "")), delta("function_call_arguments", "1", `{\"b\":`), delta("function_call_arguments", "0", `{\"a\"`),
				delta("function_call_arguments", "1", `2}`), delta("function_call_arguments", "0", `:1}`), done("1", fc("f2", "c2", "h", `{\"b\":2}`)), done("0", fc("f1", "c1", "g", `{\"a\":1}`)), completed,
			},
			"call c1 g {\"a\":1}\ncall c2 h {\"b\":2}\n", wire.FinishCalls,
		},
		"a freeform call": {
			[]string{added("0", `{"type":"custom_tool_call","id":"x","call_id":"c","name":"p","input":""}`), delta("custom_tool_call_input", "0", `a\n`), `{"type":"response.custom_tool_call_input.done","output_index":0,"input":"a\nb"}`, completed},
			"call c p free \"a\\nb\"\n", wire.FinishCalls,
		},
		"a call in a namespace": {[]string{done("0", `{"type":"function_call","call_id":"c","name":"log","namespace":"mcp__git__","arguments":"{}"}`), completed}, "call c mcp__git__log {}\n", wire.FinishCalls},
		"a client-run tool":     {[]string{done("0", `{"type":"local_shell_call","id":"l","call_id":"c","action":{"type":"exec","command":["ls"]}}`), completed}, "call c local_shell {\"command\":[\"ls\"]}\n", wire.FinishCalls},
		"tools that the vendor ran say nothing": {
			[]string{added("0", `{"type":"web_search_call","id":"w"}`), `{"type":"response.web_search_call.searching","output_index":0,"item_id":"w"}`, done("0", `{"type":"web_search_call","id":"w"}`), delta("output_text", "1", "a"), completed},
			"text \"a\"\n", wire.FinishStop,
		},
		"an image that was made": {[]string{done("0", `{"type":"image_generation_call","result":"iVBORw0KGgo="}`), completed}, "media 1 image/png iVBORw0KGgo= \n", wire.FinishStop},
		"a refusal":              {[]string{delta("refusal", "0", "no"), `{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"no."}`, completed}, "refusal \"no.\"\n", wire.FinishWithheld},
		"a reply that is cut": {
			[]string{delta("output_text", "0", "a"), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`},
			"text \"a\"\n", wire.FinishLength,
		},
		"a reply that is withheld": {
			[]string{delta("output_text", "0", "a"), `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`},
			"text \"a\"\n", wire.FinishWithheld,
		},
		"a reply that is cut for another reason": {[]string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_tool_calls"}}}`}, "", wire.FinishLength},
		"what isn't known is passed over": {
			[]string{`{"type":"keepalive"}`, `{"type":"codex.rate_limits","x":1}`, `[DONE]`, `{"type":"response.audio.delta","delta":"x"}`, delta("output_text", "0", "a"), completed, delta("output_text", "0", "behind the end")},
			"text \"a\"\n", wire.FinishStop,
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := read(&wire.Ask{}, c.events...)
			a := answer(all)
			if got := show(a.Parts); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if a.Finish.Why != c.why || a.Fail != nil {
				t.Errorf("ended %q, fail %v; want %q", a.Finish.Why, a.Fail, c.why)
			}
			if all[0].Kind != wire.EventStart {
				t.Error("a reply begins with its start")
			}
		})
	}
}

func TestPiecesComeAtOnce(t *testing.T) {
	r := Codec{}.NewReader(nil)
	r.Read([]byte("data: " + added("0", `{"type":"message","id":"i"}`) + "\n\n"))
	if got := r.Read([]byte("data: " + delta("output_text", "0", "x") + "\n\n")); len(got) != 1 || got[0].Text != "x" {
		t.Errorf("got %+v", got)
	}
	if got := r.Read([]byte("data: " + added("1", `{"type":"function_call","id":"f","call_id":"c","name":"g"}`) + "\n\n")); len(got) != 0 {
		t.Errorf("a call waits for the text before it: %+v", got)
	}
	if got := r.Read([]byte("data: " + done("0", `{"type":"message","id":"i"}`) + "\n\n")); len(got) != 1 || got[0].Kind != wire.EventCall {
		t.Errorf("got %+v", got)
	}
}

func TestAnEndedTextGivesWayThoughItsItemIsOpen(t *testing.T) {
	r := Codec{}.NewReader(nil)
	r.Read([]byte("data: " + delta("output_text", "0", "x") + "\n\n"))
	r.Read([]byte(`data: {"type":"response.output_text.done","output_index":0,"content_index":0,"text":"x"}` + "\n\n"))
	if got := r.Read([]byte("data: " + added("1", `{"type":"function_call","id":"f","call_id":"c","name":"g"}`) + "\n\n")); len(got) != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestUsageAndIDsAreRead(t *testing.T) {
	a := answer(read(nil, `{"type":"response.created","response":{"id":"resp_1","model":"gpt-6"}}`, completed))
	if a.ID != "resp_1" || a.Model != "gpt-6" || (a.Usage != wire.Usage{Input: 9, Output: 4, Reasoning: 1, CacheRead: 3, CacheWrite: 2}) {
		t.Errorf("%+v", a)
	}
}

func TestSourcesAreRead(t *testing.T) {
	cite := `{"type":"url_citation","url":"https://x","title":"X","start_index":0,"end_index":1}`
	for name, events := range map[string][]string{
		"in the stream": {
			delta("output_text", "0", "a"), `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation":` + cite + `}`,
			done("0", `{"type":"message","content":[{"type":"output_text","text":"a","annotations":[`+cite+`]}]}`), completed,
		},
		"at the end": {done("0", `{"type":"message","content":[{"type":"output_text","text":"a","annotations":[`+cite+`]}]}`), completed},
	} {
		if p := answer(read(nil, events...)).Parts; len(p) != 1 || len(p[0].Cites) != 1 || p[0].Cites[0] != (wire.Cite{URL: "https://x", Title: "X", End: 1}) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestAFreeformToolThatWentOutAsAFunctionComesBack(t *testing.T) {
	asked := &wire.Ask{Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "p"}}}
	a := answer(read(asked, added("0", `{"type":"function_call","id":"f","call_id":"c","name":"p"}`), delta("function_call_arguments", "0", `{\"input\":\"a`),
		delta("function_call_arguments", "0", `\\nb\"}`), done("0", `{"type":"function_call","id":"f","call_id":"c","name":"p","arguments":"{\"input\":\"a\\nb\"}"}`), completed))
	if got := show(a.Parts); got != "call c p free \"a\\nb\"\n" {
		t.Errorf("got %s", got)
	}
	a = answer(read(asked, done("0", `{"type":"function_call","id":"f","call_id":"c","name":"p","arguments":"raw patch"}`), completed))
	if got := show(a.Parts); got != "call c p free \"raw patch\"\n" {
		t.Errorf("got %s", got)
	}
}

func TestFailuresAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   wire.Refusal
	}{
		"a failed reply": {
			[]string{delta("output_text", "0", "a"), `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"try again in 3s"}}}`},
			wire.Refusal{Status: 429, Code: "rate_limit_exceeded", Words: "try again in 3s"},
		},
		"an error event": {[]string{`{"type":"error","code":"context_length_exceeded","message":"too long","param":"input"}`}, wire.Refusal{Status: 400, Code: "context_length_exceeded", Words: "too long", Param: "input"}},
		"an error in an event": {
			[]string{`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`},
			wire.Refusal{Status: 503, Words: "busy"},
		},
		"an error without a type":     {[]string{`{"error":{"message":"boom","code":"server_error"}}`}, wire.Refusal{Status: 500, Code: "server_error", Words: "boom"}},
		"a stream without its end":    {[]string{delta("output_text", "0", "a")}, wire.Refusal{Status: 502, Code: "server_error", Words: "the connection to the vendor was lost in the middle of its reply"}},
		"a stream of nothing":         {nil, wire.Refusal{Status: 502, Code: "server_error", Words: "the connection to the vendor was lost in the middle of its reply"}},
		"only done events, no end":    {[]string{done("0", `{"type":"message","content":"a"}`)}, wire.Refusal{Status: 502, Code: "server_error", Words: "the connection to the vendor was lost in the middle of its reply"}},
		"a failure that tells no why": {[]string{`{"type":"response.failed","response":{}}`}, wire.Refusal{Status: 502, Words: "the vendor's reply failed, and it didn't say why"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := read(nil, c.events...)
			a := answer(all)
			if a.Fail == nil || *a.Fail != c.want || a.Finish.Why != "" {
				t.Errorf("got %+v, %+v", a.Fail, a.Finish)
			}
			if last := all[len(all)-1]; last.Kind != wire.EventFail {
				t.Errorf("ends with %+v", last)
			}
		})
	}
}

func TestWholeRepliesAreRead(t *testing.T) {
	whole := func(body string) wire.Answer { return answer(Codec{}.NewReader(nil).Whole([]byte(body))) }
	a := whole(`{"id":"resp_1","model":"gpt-6","status":"completed","error":null,"output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"e"},
		{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"g","arguments":"{\"x\":1}"}],"usage":{"input_tokens":1,"output_tokens":2}}`)
	if got := show(a.Parts); got != "thinking \"s\" sealed responses e\ntext \"a\"\ncall c g {\"x\":1}\n" || a.Finish.Why != wire.FinishCalls || a.Usage.Output != 2 || a.ID != "resp_1" {
		t.Errorf("%+v %s", a, got)
	}
	if a = whole(`{"output":[{"type":"message","content":"plain"}]}`); show(a.Parts) != "text \"plain\"\n" || a.Finish.Why != wire.FinishStop {
		t.Errorf("%+v", a)
	}
	if a = whole(`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`); a.Finish.Why != wire.FinishWithheld {
		t.Errorf("%+v", a)
	}
	for _, bad := range []string{`{"status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`, `{"status":"in_progress","output":[]}`, `<html>`, `[]`, `{}`, `{"status":"cancelled","output":[]}`} {
		if a = whole(bad); a.Fail == nil || a.Finish.Why != "" {
			t.Errorf("%s: %+v", bad, a)
		}
	}
}

// longStream is a reply with all that this API has.
var longStream = func() string {
	var b strings.Builder
	for _, data := range []string{
		`{"type":"response.created","response":{"id":"r","model":"m"}}`,
		added("0", `{"type":"reasoning","id":"rs"}`), `{"type":"response.reasoning_summary_text.delta","item_id":"rs","output_index":0,"summary_index":0,"delta":"plän"}`,
		done("0", `{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"plän"}],"encrypted_content":"e"}`),
		added("1", `{"type":"message","id":"m"}`), delta("output_text", "1", `h\u00e9`), delta("output_text", "1", "llo"), done("1", `{"type":"message","id":"m","content":[{"type":"output_text","text":"héllo"}]}`),
		added("2", `{"type":"function_call","id":"f","call_id":"c","name":"g"}`), added("3", `{"type":"custom_tool_call","id":"x","call_id":"d","name":"p"}`),
		delta("custom_tool_call_input", "3", "in"), delta("function_call_arguments", "2", `{}`),
		done("3", `{"type":"custom_tool_call","id":"x","call_id":"d","name":"p","input":"input"}`), done("2", `{"type":"function_call","id":"f","call_id":"c","name":"g","arguments":"{}"}`),
		completed,
	} {
		b.WriteString("event: x\ndata: " + data + "\n\n")
	}
	return b.String()
}()

func TestAStreamCutAnywhereNeverReadsFinished(t *testing.T) {
	feed := func(stream string) (a wire.Answer) {
		var s sse.Splitter
		r := Codec{}.NewReader(nil)
		var f wire.Fold
		if err := s.Feed([]byte(stream)); err != nil {
			t.Fatal(err)
		}
		for ev := s.Next(); ev != nil; ev = s.Next() {
			for _, e := range r.Read(ev) {
				f.Add(e)
			}
		}
		for _, e := range r.End() {
			f.Add(e)
		}
		return f.Answer()
	}
	want := feed(longStream)
	if want.Fail != nil || show(want.Parts) != "thinking \"plän\" sealed responses e\ntext \"héllo\"\ncall c g {}\ncall d p free \"input\"\n" {
		t.Fatalf("%+v %s", want.Fail, show(want.Parts))
	}
	for i := range len(longStream) {
		if a := feed(longStream[:i]); a.Fail == nil || a.Finish.Why != "" {
			t.Fatalf("cut at %d: %+v", i, a)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(longStream), false)
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`), true)
	f.Fuzz(func(t *testing.T, body []byte, whole bool) {
		r := Codec{}.NewReader(&wire.Ask{Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "p"}}})
		var all []wire.Event
		if whole {
			all = r.Whole(body)
		} else {
			var s sse.Splitter
			if s.Feed(body) != nil {
				return
			}
			for ev := s.Next(); ev != nil; ev = s.Next() {
				all = append(all, r.Read(ev)...)
			}
			all = append(all, r.End()...)
		}
		ends := 0
		for i, e := range all {
			if e.Kind == wire.EventFinish || e.Kind == wire.EventFail {
				ends++
				if i != len(all)-1 {
					t.Error("an event behind the end")
				}
			}
		}
		if ends != 1 {
			t.Errorf("%d ends", ends)
		}
		// What any vendor says is told in the API's grammar.
		check(t, write(t, nil, true, all...))
		if again := read(nil); len(again) == 0 || !reflect.DeepEqual(again[len(again)-1].Kind, wire.EventFail) {
			t.Error("a reader without a stream fails")
		}
	})
}

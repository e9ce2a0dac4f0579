package responses

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
)

var (
	evStart = wire.Event{Kind: wire.EventStart, ID: "x", Model: "y"}
	evUsage = wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 100, Output: 33, Reasoning: 11, CacheRead: 90, CacheWrite: 5}}
)

func evText(s string, part int) wire.Event {
	return wire.Event{Kind: wire.EventText, Text: s, Part: part}
}

func evThink(s string, part int) wire.Event {
	return wire.Event{Kind: wire.EventThinking, Text: s, Part: part}
}

func evCall(i int, id, name string) wire.Event {
	return wire.Event{Kind: wire.EventCall, Index: i, Call: &wire.Call{ID: id, Name: name}}
}

func evArgs(i int, s string) wire.Event {
	return wire.Event{Kind: wire.EventArgs, Index: i, Text: s}
}

func evEnd(i int, id, name, args string) wire.Event {
	return wire.Event{Kind: wire.EventCallEnd, Index: i, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func evSeal(api wire.Protocol, data string) wire.Event {
	return wire.Event{Kind: wire.EventSeal, Seal: &wire.Seal{API: api, Data: data}}
}

func evFinish(why wire.FinishWhy) wire.Event {
	return wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why}}
}

// items tells an output in one line each.
func items(output []any) string {
	var b strings.Builder
	for _, o := range output {
		it := o.(map[string]any)
		b.WriteString(it["type"].(string))
		for _, key := range []string{"status", "call_id", "namespace", "name", "arguments", "input", "encrypted_content", "action", "operation", "result"} {
			if v, ok := it[key]; ok {
				s, _ := json.Marshal(v)
				b.WriteString(" " + key + "=" + string(s))
			}
		}
		for _, key := range []string{"content", "summary"} {
			list, _ := it[key].([]any)
			for _, p := range list {
				part := p.(map[string]any)
				s, _ := part["text"].(string)
				if s == "" {
					s, _ = part["refusal"].(string)
				}
				b.WriteString(" " + part["type"].(string) + ":" + s)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRepliesAreWrittenInTheGrammar(t *testing.T) {
	asked := ask(t, `{"input":"x","tools":[{"type":"custom","name":"p"},{"type":"namespace","name":"mcp__git__","tools":[{"type":"function","name":"log"},{"type":"custom","name":"raw"}]},
		{"type":"local_shell"},{"type":"shell"},{"type":"apply_patch"},{"type":"tool_search","execution":"client"}]}`)
	long := strings.Repeat("i", 65)
	free := func(i int, id, name string) wire.Event {
		e := evCall(i, id, name)
		e.Call.Free = true
		return e
	}
	signed := func(e wire.Event) wire.Event {
		e.Seal = &wire.Seal{API: wire.Gemini, Data: "U0lH"}
		return e
	}
	gem := (&wire.Seal{API: wire.Gemini, Data: "U0lH"}).Mark("v")
	for name, c := range map[string]struct {
		events []wire.Event
		want   string
		end    string
	}{
		"reasoning, text, calls": {
			[]wire.Event{evStart, evThink("Pla", 1), evThink("n", 1), evSeal(wire.Responses, "e"), evText("He", 2), evText("y", 2), evCall(0, "c0", "f"), evArgs(0, `{"a"`), evArgs(0, `:1}`), evEnd(0, "c0", "f", `{"a":1}`), evUsage, evFinish(wire.FinishCalls)},
			"reasoning encrypted_content=\"e\" summary_text:Plan\nmessage status=\"completed\" output_text:Hey\nfunction_call status=\"completed\" call_id=\"c0\" name=\"f\" arguments=\"{\\\"a\\\":1}\"\n", "completed",
		},
		"interleaved calls come one after another": {
			[]wire.Event{evCall(0, "c0", "f"), evCall(1, "c1", "g"), evArgs(1, `{"b":`), evArgs(0, `{"a":1`), evArgs(1, `2}`), evArgs(0, `}`), evFinish(wire.FinishCalls)},
			"function_call status=\"completed\" call_id=\"c0\" name=\"f\" arguments=\"{\\\"a\\\":1}\"\nfunction_call status=\"completed\" call_id=\"c1\" name=\"g\" arguments=\"{\\\"b\\\":2}\"\n", "completed",
		},
		"text behind a call is a message of its own": {
			[]wire.Event{evText("a", 1), evCall(0, "c0", "f"), evText("b", 2), evArgs(0, `{}`), evEnd(0, "c0", "f", "{}"), evText("c", 2), evFinish(wire.FinishCalls)},
			"message status=\"completed\" output_text:a\nfunction_call status=\"completed\" call_id=\"c0\" name=\"f\" arguments=\"{}\"\nmessage status=\"completed\" output_text:bc\n", "completed",
		},
		"separate texts are parts of one message": {[]wire.Event{evText("a", 1), evText("b", 2), evFinish(wire.FinishStop)}, "message status=\"completed\" output_text:a output_text:b\n", "completed"},
		"separate thoughts are items":             {[]wire.Event{evThink("a", 1), evThink("b", 2), evFinish(wire.FinishStop)}, "reasoning summary_text:a\nreasoning summary_text:b\n", "completed"},
		"a seal without reasoning":                {[]wire.Event{evSeal(wire.Responses, "e"), evText("a", 1), evFinish(wire.FinishStop)}, "reasoning encrypted_content=\"e\"\nmessage status=\"completed\" output_text:a\n", "completed"},
		"a call told as a whole":                  {[]wire.Event{evEnd(0, "c", "f", `{"a":1}`), evFinish(wire.FinishCalls)}, "function_call status=\"completed\" call_id=\"c\" name=\"f\" arguments=\"{\\\"a\\\":1}\"\n", "completed"},
		"a call without arguments":                {[]wire.Event{evCall(0, "c", "f"), evFinish(wire.FinishCalls)}, "function_call status=\"completed\" call_id=\"c\" name=\"f\" arguments=\"{}\"\n", "completed"},
		"a call without an id gets one": {
			[]wire.Event{evCall(0, "", "f"), evFinish(wire.FinishCalls)},
			"function_call status=\"completed\" call_id=\"" + wire.MakeID("call_", "seed", "0", "f") + "\" name=\"f\" arguments=\"{}\"\n", "completed",
		},
		"a call with a long id gets a short one": {[]wire.Event{evCall(0, long, "f"), evFinish(wire.FinishCalls)}, "function_call status=\"completed\" call_id=\"" + callID(long) + "\" name=\"f\" arguments=\"{}\"\n", "completed"},
		"a call without a name is none":          {[]wire.Event{evCall(0, "c", ""), evArgs(0, "{}"), evText("a", 1), evFinish(wire.FinishStop)}, "message status=\"completed\" output_text:a\n", "completed"},
		"a freeform tool that was called as a function": {
			[]wire.Event{evCall(0, "c", "p"), evArgs(0, `{"input":"a\n`), evArgs(0, `b"}`), evFinish(wire.FinishCalls)},
			"custom_tool_call status=\"completed\" call_id=\"c\" name=\"p\" input=\"a\\nb\"\n", "completed",
		},
		"a freeform tool that was called as a function, told whole": {
			[]wire.Event{evEnd(0, "c", "p", `{"input":"a"}`), evFinish(wire.FinishCalls)},
			"custom_tool_call status=\"completed\" call_id=\"c\" name=\"p\" input=\"a\"\n", "completed",
		},
		"a freeform call":          {[]wire.Event{free(0, "c", "p"), evArgs(0, "a"), evFinish(wire.FinishCalls)}, "custom_tool_call status=\"completed\" call_id=\"c\" name=\"p\" input=\"a\"\n", "completed"},
		"a tool in a namespace":    {[]wire.Event{evCall(0, "c", "mcp__git__log"), evFinish(wire.FinishCalls)}, "function_call status=\"completed\" call_id=\"c\" namespace=\"mcp__git__\" name=\"log\" arguments=\"{}\"\n", "completed"},
		"a freeform tool in one":   {[]wire.Event{free(0, "c", "mcp__git__raw"), evArgs(0, "x"), evFinish(wire.FinishCalls)}, "custom_tool_call status=\"completed\" call_id=\"c\" namespace=\"mcp__git__\" name=\"raw\" input=\"x\"\n", "completed"},
		"a local shell":            {[]wire.Event{evCall(0, "c", "local_shell"), evArgs(0, "{\"command\":\n[\"ls\"],\"workdir\":\"/w\"}"), evFinish(wire.FinishCalls)}, "local_shell_call status=\"completed\" call_id=\"c\" action={\"command\":[\"ls\"],\"env\":{},\"type\":\"exec\",\"working_directory\":\"/w\"}\n", "completed"},
		"a local shell's one text": {[]wire.Event{evEnd(0, "c", "local_shell", `{"command":"ls -l"}`), evFinish(wire.FinishCalls)}, "local_shell_call status=\"completed\" call_id=\"c\" action={\"command\":[\"bash\",\"-lc\",\"ls -l\"],\"env\":{},\"type\":\"exec\"}\n", "completed"},
		"a shell":                  {[]wire.Event{evEnd(0, "c", "shell", `{"commands":["a"]}`), evFinish(wire.FinishCalls)}, "shell_call status=\"completed\" call_id=\"c\" action={\"commands\":[\"a\"]}\n", "completed"},
		"a patch":                  {[]wire.Event{evEnd(0, "c", "apply_patch", `{"operation":{"type":"delete_file","path":"p"}}`), evFinish(wire.FinishCalls)}, "apply_patch_call status=\"completed\" call_id=\"c\" operation={\"path\":\"p\",\"type\":\"delete_file\"}\n", "completed"},
		"a search for tools":       {[]wire.Event{evEnd(0, "c", "tool_search", "{\"q\":\n1}"), evFinish(wire.FinishCalls)}, "tool_search_call status=\"completed\" call_id=\"c\" arguments={\"q\":1}\n", "completed"},
		"a shell's broken call":    {[]wire.Event{evEnd(0, "c", "local_shell", `{"comm`), evFinish(wire.FinishCalls)}, "local_shell_call status=\"completed\" call_id=\"c\" action={\"command\":[],\"env\":{},\"type\":\"exec\"}\n", "completed"},
		"Gemini's signature of a call is no item of its own": {
			[]wire.Event{signed(evCall(0, "c", "f")), evFinish(wire.FinishCalls)},
			"function_call status=\"completed\" call_id=\"c\" name=\"f\" arguments=\"{}\"\n", "completed",
		},
		"Gemini's signature seals the reasoning before": {
			[]wire.Event{evThink("t", 1), signed(evCall(0, "c", "f")), evFinish(wire.FinishCalls)},
			"reasoning encrypted_content=\"" + gem + "\" summary_text:t\nfunction_call status=\"completed\" call_id=\"c\" name=\"f\" arguments=\"{}\"\n", "completed",
		},
		"a text is not cut for a signature": {[]wire.Event{evText("a", 1), signed(evText("b", 1)), evFinish(wire.FinishStop)}, "message status=\"completed\" output_text:ab\n", "completed"},
		"a foreign seal is under our mark": {
			[]wire.Event{evThink("t", 1), evSeal(wire.Messages, "EqQB"), evFinish(wire.FinishStop)},
			"reasoning encrypted_content=\"" + (&wire.Seal{API: wire.Messages, Data: "EqQB"}).Mark("v") + "\" summary_text:t\n", "completed",
		},
		"a refusal":              {[]wire.Event{{Kind: wire.EventRefusal, Text: "no"}, evFinish(wire.FinishWithheld)}, "message status=\"completed\" refusal:no\n", "completed"},
		"a withheld reply":       {[]wire.Event{evText("a", 1), evFinish(wire.FinishWithheld)}, "message status=\"incomplete\" output_text:a\n", "incomplete"},
		"one with a word alone":  {[]wire.Event{evText("a", 1), {Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "SAFETY"}}}, "message status=\"incomplete\" output_text:a\n", "incomplete"},
		"an explained one":       {[]wire.Event{evText("a", 1), {Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "It is bad."}}}, "message status=\"incomplete\" output_text:a\nmessage status=\"incomplete\" refusal:It is bad.\n", "incomplete"},
		"a cut reply":            {[]wire.Event{evText("a", 1), evFinish(wire.FinishLength)}, "message status=\"incomplete\" output_text:a\n", "incomplete"},
		"a full window":          {[]wire.Event{evText("a", 1), evFinish(wire.FinishWindow)}, "message status=\"incomplete\" output_text:a\n", "incomplete"},
		"a cut call":             {[]wire.Event{evCall(0, "c", "f"), evArgs(0, `{"a`), evFinish(wire.FinishLength)}, "function_call status=\"incomplete\" call_id=\"c\" name=\"f\" arguments=\"{\\\"a\"\n", "incomplete"},
		"a pause":                {[]wire.Event{evText("a", 1), evFinish(wire.FinishPause)}, "message status=\"completed\" output_text:a\n", "completed"},
		"an image":               {[]wire.Event{{Kind: wire.EventMedia, Media: &wire.Media{MIME: "image/png", Data: "AAAA"}}, evFinish(wire.FinishStop)}, "image_generation_call status=\"completed\" result=\"AAAA\"\n", "completed"},
		"nothing":                {[]wire.Event{evFinish(wire.FinishStop)}, "", "completed"},
		"nothing behind the end": {[]wire.Event{evText("a", 1), evFinish(wire.FinishStop), evText("b", 1), evFinish(wire.FinishStop), {Kind: wire.EventFail, Fail: &wire.Refusal{}}}, "message status=\"completed\" output_text:a\n", "completed"},
		"a failure":              {[]wire.Event{evText("a", 1), evCall(0, "c", "f"), {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 502, Words: "boom"}}, evText("b", 1)}, "message status=\"completed\" output_text:a\n", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			end, output := check(t, write(t, asked, true, c.events...))
			if got := items(output); got != c.want || end != "response."+c.end {
				t.Errorf("%s, got\n%swant %s\n%s", end, got, c.end, c.want)
			}
			if c.end == "failed" {
				return
			}
			var whole struct {
				Status string
				Output []any
			}
			if err := json.Unmarshal([]byte(write(t, asked, false, c.events...)), &whole); err != nil {
				t.Fatal(err)
			}
			if whole.Status != c.end || len(output)+len(whole.Output) > 0 && !reflect.DeepEqual(whole.Output, output) {
				t.Errorf("in one piece: %s %v", whole.Status, whole.Output)
			}
		})
	}
}

func TestTheEventsOfAReplyInTheirOrder(t *testing.T) {
	var got []string
	for _, e := range events(t, write(t, nil, true, evStart, evThink("t", 1), evText("a", 2), wire.Event{Kind: wire.EventCite, Cite: &wire.Cite{URL: "u", Title: "t", End: 1}},
		wire.Event{Kind: wire.EventCite, Cite: &wire.Cite{URL: "nowhere"}}, evCall(0, "c", "f"), evArgs(0, "{}"), evFinish(wire.FinishCalls))) {
		got = append(got, strings.TrimPrefix(e.Type, "response."))
	}
	want := "created in_progress output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
		"output_item.added content_part.added output_text.delta output_text.annotation.added output_text.done content_part.done output_item.done " +
		"output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestTheFirstPieceLeavesAtOnce(t *testing.T) {
	if s := write(t, nil, true, evStart); !strings.Contains(s, "response.in_progress") {
		t.Errorf("got %s", s)
	}
	if s := write(t, nil, true, evText("now", 1)); !strings.Contains(s, `"delta":"now"`) {
		t.Errorf("got %s", s)
	}
	if s := write(t, nil, true, evCall(0, "c", "f"), evArgs(0, "{")); !strings.Contains(s, `"delta":"{"`) {
		t.Errorf("got %s", s)
	}
	if s := write(t, nil, false, evStart, evText("later", 1)); s != "" {
		t.Errorf("a whole reply waits: %s", s)
	}
}

func TestUsageHasAllItsDetails(t *testing.T) {
	s := write(t, nil, true, evText("a", 1), evUsage, evFinish(wire.FinishStop))
	want := `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":90,"cache_write_tokens":5},"output_tokens":33,"output_tokens_details":{"reasoning_tokens":11},"total_tokens":133}`
	if !strings.Contains(s, want) {
		t.Errorf("got %s", s)
	}
}

func TestAFailureIsToldInsideOfTheResponse(t *testing.T) {
	for _, c := range []struct {
		fail wire.Refusal
		want string
	}{
		{wire.Refusal{Status: 429, Words: "try again in 3s"}, `"error":{"code":"rate_limit_exceeded","message":"try again in 3s"}`},
		{wire.Refusal{Status: 400, Code: "context_length_exceeded", Words: "w"}, `"error":{"code":"context_length_exceeded","message":"w"}`},
		{wire.Refusal{Status: 400, Words: "w"}, `"error":{"code":"invalid_prompt","message":"w"}`},
		{wire.Refusal{Status: 401, Words: "w"}, `"error":{"code":"server_error","message":"w"}`},
		{wire.Refusal{Status: 529, Words: "w"}, `"error":{"code":"server_error","message":"w"}`},
	} {
		s := write(t, nil, true, wire.Event{Kind: wire.EventFail, Fail: &c.fail})
		if end, _ := check(t, s); end != "response.failed" || !strings.Contains(s, c.want) {
			t.Errorf("got %s", s)
		}
	}
	if s := write(t, nil, false, evText("a", 1), wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 502, Words: "w"}}); !strings.HasPrefix(s, `{"error":{"message":"w"`) {
		t.Errorf("in one piece: %s", s)
	}
}

func TestAWholeReplyHasEveryRequiredField(t *testing.T) {
	asked := ask(t, `{"model":"m","instructions":"I","temperature":0.5,"metadata":{"a":"b"},"max_output_tokens":9,"parallel_tool_calls":false,"tool_choice":{"type":"function","name":"f"},
		"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":true},{"type":"web_search"}],"text":{"format":{"type":"json_schema","name":"o","schema":{"type":"object"}}},"input":"x"}`)
	var got map[string]any
	if err := json.Unmarshal([]byte(write(t, asked, false, evText("a", 1), evUsage, evFinish(wire.FinishStop))), &got); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"object":"response","created_at":1764400000,"status":"completed","background":false,"error":null,"incomplete_details":null,"instructions":"I","max_output_tokens":9,
		"metadata":{"a":"b"},"model":"m","parallel_tool_calls":false,"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"store":false,"temperature":0.5,
		"text":{"format":{"type":"json_schema","name":"o","schema":{"type":"object"}}},"tool_choice":{"type":"function","name":"f"},
		"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":true},{"type":"web_search"}],"top_p":null,"truncation":"disabled"}`), &want); err != nil {
		t.Fatal(err)
	}
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s is %v, want %v", key, got[key], want[key])
		}
	}
	if id, _ := got["id"].(string); !strings.HasPrefix(id, "resp_magpie") || got["usage"] == nil {
		t.Errorf("id %v, usage %v", got["id"], got["usage"])
	}
	if _, ok := got["output_text"]; ok {
		t.Error("output_text is made by the agent's own library")
	}
}

func TestACompactionIsFourEventsAndOneItem(t *testing.T) {
	asked := ask(t, `{"input":[{"role":"user","content":"x"},{"type":"compaction_trigger"}]}`)
	s := write(t, asked, true, evStart, evThink("hm", 1), evText("in ", 2), evText("short ", 2), evUsage, evFinish(wire.FinishStop))
	var got []string
	for _, e := range events(t, s) {
		got = append(got, e.Type)
	}
	if strings.Join(got, " ") != "response.created response.output_item.added response.output_item.done response.completed" {
		t.Errorf("got %v", got)
	}
	_, output := check(t, s)
	sealed := output[0].(map[string]any)["encrypted_content"].(string)
	if sealed != summaryMark+base64.StdEncoding.EncodeToString([]byte("in short")) {
		t.Errorf("got %s", sealed)
	}
	next := ask(t, `{"input":[{"type":"compaction","encrypted_content":"`+sealed+`"},{"role":"user","content":"go"}]}`)
	if !strings.Contains(turns(next), "in short") {
		t.Errorf("it comes back as its text: %s", turns(next))
	}
	if end, _ := check(t, write(t, asked, true, evFinish(wire.FinishStop))); end != "response.failed" {
		t.Errorf("without a summary: %s", end)
	}
}

func TestAPingIsAnEventThatSaysNothing(t *testing.T) {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, wire.WriterOptions{Stream: true})
	if err := errors.Join(w.Ping(), w.Ping(), w.Event(evText("a", 1)), w.Ping(), w.Event(evFinish(wire.FinishStop)), w.Ping()); err != nil || !w.Done() {
		t.Fatal(err)
	}
	check(t, b.String())
	if n := strings.Count(b.String(), "event: response.in_progress"); n != 3 {
		t.Errorf("%d in all", n)
	}
	b.Reset()
	if err := (Codec{}).NewWriter(&b, nil, wire.WriterOptions{}).Ping(); err != nil || b.Len() > 0 {
		t.Errorf("a whole reply has none: %s", b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAnAgentThatLeftIsTold(t *testing.T) {
	if err := (Codec{}).NewWriter(broken{}, nil, wire.WriterOptions{Stream: true}).Event(evStart); err == nil {
		t.Error("want the error")
	}
}

// TestAnyOrderOfEventsKeepsTheGrammar writes events in any order, reads the stream again,
// and compares what it says with the whole reply.
func TestAnyOrderOfEventsKeepsTheGrammar(t *testing.T) {
	asked := ask(t, `{"input":"x","tools":[{"type":"custom","name":"p"},{"type":"local_shell"}]}`)
	names := []string{"f", "p", "local_shell", ""}
	rapid.Check(t, func(r *rapid.T) {
		var all []wire.Event
		n := rapid.IntRange(0, 30).Draw(r, "n")
		for range n {
			i := rapid.IntRange(0, 3).Draw(r, "call")
			s := rapid.StringN(0, 6, -1).Draw(r, "text")
			part := rapid.IntRange(0, 2).Draw(r, "part")
			switch rapid.IntRange(0, 8).Draw(r, "kind") {
			case 0:
				all = append(all, evText(s, part))
			case 1:
				all = append(all, evThink(s, part))
			case 2:
				all = append(all, evCall(i, "c", names[i]))
			case 3, 4:
				all = append(all, evArgs(i, s))
			case 5:
				all = append(all, evEnd(i, "c", names[i], `{"command":["x"]}`))
			case 6:
				all = append(all, evSeal(wire.Messages, s))
			case 7:
				all = append(all, wire.Event{Kind: wire.EventRefusal, Text: s, Part: part})
			case 8:
				all = append(all, evStart)
			}
		}
		why := rapid.SampledFrom([]wire.FinishWhy{wire.FinishStop, wire.FinishCalls, wire.FinishLength}).Draw(r, "why")
		all = append(all, evUsage, evFinish(why))
		stream := write(t, asked, true, all...)
		_, output := check(t, stream)
		var whole struct{ Output []any }
		if err := json.Unmarshal([]byte(write(t, asked, false, all...)), &whole); err != nil {
			r.Fatal(err)
		}
		if len(output)+len(whole.Output) > 0 && !reflect.DeepEqual(whole.Output, output) {
			r.Fatalf("streamed and whole differ:\n%v\n%v", output, whole.Output)
		}
		if t.Failed() {
			r.Fatalf("%+v", all)
		}
	})
}

func TestManySmallPiecesAreNotJoinedOverAndOver(t *testing.T) {
	const size = 1 << 20
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, wire.WriterOptions{Stream: true})
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Event(evCall(0, "a", "f")))
	must(w.Event(evCall(1, "b", "g")))
	allocs := testing.AllocsPerRun(1, func() {
		for range size / 8 {
			must(w.Event(evArgs(0, "abcd")))
			must(w.Event(evArgs(1, "abcd")))
		}
	})
	if allocs > size {
		t.Errorf("%.0f allocations", allocs)
	}
	must(w.Event(evFinish(wire.FinishCalls)))
}

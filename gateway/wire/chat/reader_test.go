package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// stream joins chunks as a vendor sends them; [DONE] stands as it is.
func stream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// delta is a chunk with a delta.
func deltaOf(d string) string {
	return `{"id":"c1","object":"chat.completion.chunk","model":"v","choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
}

func finish(why string) string {
	return `{"id":"c1","model":"v","choices":[{"index":0,"delta":{},"finish_reason":"` + why + `"}]}`
}

const usageChunk = `{"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":3}}}`

// events reads a stream to its end.
func events(asked *wire.Ask, text string) []wire.Event {
	r := Codec{}.NewReader(asked)
	var all []wire.Event
	var s sse.Splitter
	if s.Feed([]byte(text)) != nil {
		return nil
	}
	for ev := s.Next(); ev != nil; ev = s.Next() {
		all = append(all, r.Read(ev)...)
	}
	return append(all, r.End()...)
}

// told is what events say, in short.
func told(all []wire.Event) []string {
	var out []string
	for _, e := range all {
		switch e.Kind {
		case wire.EventStart:
			out = append(out, "start "+e.ID)
		case wire.EventThinking:
			out = append(out, "think "+e.Text)
		case wire.EventSeal:
			out = append(out, "seal "+e.Seal.Data)
		case wire.EventText:
			out = append(out, "text "+e.Text)
		case wire.EventRefusal:
			out = append(out, "refuse "+e.Text)
		case wire.EventCall:
			out = append(out, strings.TrimSpace("call "+string(rune('0'+e.Index))+" "+e.Call.ID+" "+e.Call.Name+free(e.Call)))
		case wire.EventArgs:
			out = append(out, "args "+string(rune('0'+e.Index))+" "+e.Text)
		case wire.EventCallEnd:
			out = append(out, "end "+string(rune('0'+e.Index))+" "+argsOf(e.Call))
		case wire.EventCite:
			out = append(out, "cite "+e.Cite.URL)
		case wire.EventMedia:
			out = append(out, "media "+e.Media.AsURL())
		case wire.EventUsage:
			b, _ := json.Marshal(e.Usage)
			out = append(out, "usage "+string(b))
		case wire.EventFinish:
			out = append(out, "finish "+string(e.Finish.Why))
		case wire.EventFail:
			out = append(out, "fail "+e.Fail.Code+" "+e.Fail.Words)
		}
	}
	return out
}

func free(c *wire.Call) string {
	if c.Free {
		return " free"
	}
	return ""
}

const usageTold = `usage {"Input":10,"Output":4,"Reasoning":3,"CacheRead":6,"CacheWrite":0}`

func TestReadingStreams(t *testing.T) {
	calls := func(list string) string { return deltaOf(`{"tool_calls":` + list + `}`) }
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"text, then the finish, then usage": {
			in:   stream(deltaOf(`{"role":"assistant","content":""}`), deltaOf(`{"content":"a"}`), deltaOf(`{"content":"b"}`), finish("stop"), usageChunk, "[DONE]"),
			want: []string{"start c1", "text a", "text b", usageTold, "finish stop"},
		},
		"no [DONE] after a finish is fine": {
			in:   stream(deltaOf(`{"content":"a"}`), finish("length")),
			want: []string{"start c1", "text a", "finish length"},
		},
		"a stream that ends before its finish was cut": {
			in:   stream(deltaOf(`{"content":"a"}`)),
			want: []string{"start c1", "text a", "fail  the vendor's stream ended before the reply was complete"},
		},
		"an empty finish_reason is none": {
			in:   stream(`{"id":"c1","choices":[{"delta":{"content":"a"},"finish_reason":""}]}`),
			want: []string{"start c1", "text a", "fail  the vendor's stream ended before the reply was complete"},
		},
		"[DONE] without a finish_reason is an end": {
			in:   stream(deltaOf(`{"content":"a"}`), "[DONE]", deltaOf(`{"content":"b"}`)),
			want: []string{"start c1", "text a", "finish stop"},
		},
		"an error breaks it": {
			in:   stream(deltaOf(`{"content":"a"}`), `{"error":{"message":"boom","code":"server_error"}}`, finish("stop"), "[DONE]"),
			want: []string{"start c1", "text a", "fail server_error boom"},
		},
		"an error may be all there is": {
			in:   stream(`{"error":"boom"}`),
			want: []string{"fail  boom"},
		},
		"usage on the finish, again behind it, and before it: the last counts": {
			in: stream(`{"id":"c1","choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
				`{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":2}}`,
				`{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_cache_hit_tokens":6,"completion_tokens_details":{"reasoning_tokens":3}}}`,
				`{"choices":[],"usage":null}`, "[DONE]"),
			want: []string{"start c1", "text a", usageTold, "finish stop"},
		},
		"usage inside of the choice": {
			in:   stream(deltaOf(`{"content":"a"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":4,"cached_tokens":6,"completion_tokens_details":{"reasoning_tokens":3}}}]}`, "[DONE]"),
			want: []string{"start c1", "text a", usageTold, "finish stop"},
		},
		"reasoning that is counted beside the output is added to it": {
			in:   stream(deltaOf(`{"content":"a"}`), finish("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]"),
			want: []string{"start c1", "text a", usageTold, "finish stop"},
		},
		"what a filter says of the prompt is no start": {
			in:   stream(`{"id":"","choices":[],"prompt_filter_results":[]}`, deltaOf(`{"content":"a"}`), finish("stop")),
			want: []string{"start c1", "text a", "finish stop"},
		},
		"reasoning under each of its names, never twice": {
			in:   stream(deltaOf(`{"reasoning_content":"a","reasoning":"a"}`), deltaOf(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]}`), deltaOf(`{"content":null,"reasoning_content":""}`), deltaOf(`{"reasoning_content":"c","content":"d"}`), finish("stop"), "[DONE]"),
			want: []string{"start c1", "think a", "think b", "think c", "text d", "finish stop"},
		},
		"content that Gemini marks as thought": {
			in:   stream(deltaOf(`{"content":"<thought>a","extra_content":{"google":{"thought":true}}}`), deltaOf(`{"content":"b</thought>","extra_content":{"google":{"thought":true}}}`), deltaOf(`{"content":"c"}`), finish("stop"), "[DONE]"),
			want: []string{"start c1", "think a", "think b", "text c", "finish stop"},
		},
		"sealed details are told once reasoning is over": {
			in: stream(deltaOf(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"f"}]}`),
				deltaOf(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"format":"f"}]}`),
				deltaOf(`{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0,"format":"f"}]}`), deltaOf(`{"content":"c"}`), finish("stop"), "[DONE]"),
			want: []string{"start c1", "think a", "think b", `seal [{"type":"reasoning.text","index":0,"text":"ab","signature":"s","format":"f"}]`, "text c", "finish stop"},
		},
		"content as parts": {
			in:   stream(deltaOf(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}`), finish("stop")),
			want: []string{"start c1", "think a", "text b", "finish stop"},
		},
		"a refusal": {
			in:   stream(deltaOf(`{"refusal":"no"}`), finish("stop")),
			want: []string{"start c1", "refuse no", "finish stop"},
		},
		"withheld": {
			in:   stream(deltaOf(`{"content":"a"}`), finish("content_filter")),
			want: []string{"start c1", "text a", "finish withheld"},
		},
		"parallel calls whose pieces interleave": {
			in: stream(calls(`[{"index":0,"id":"A","type":"function","function":{"name":"read","arguments":""}},{"index":1,"id":"B","type":"function","function":{"name":"read","arguments":""}}]`),
				calls(`[{"index":0,"function":{"arguments":"{\"p\":"}}]`), calls(`[{"index":1,"function":{"arguments":"{\"p\":\"b\""}}]`),
				calls(`[{"index":0,"function":{"arguments":"\"a\"}"}},{"index":1,"function":{"arguments":"}"}}]`), finish("tool_calls"), "[DONE]"),
			want: []string{"start c1", "call 0 A read", "call 1 B read", `args 0 {"p":`, `args 1 {"p":"b"`, `args 0 "a"}`, `args 1 }`, `end 0 {"p":"a"}`, `end 1 {"p":"b"}`, "finish calls"},
		},
		"text between calls": {
			in:   stream(calls(`[{"index":0,"id":"1","function":{"name":"ls","arguments":"{}"}}]`), deltaOf(`{"content":"\n"}`), calls(`[{"index":1,"id":"2","function":{"name":"pwd","arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 ls", "args 0 {}", "end 0 {}", "text \n", "call 1 2 pwd", "args 1 {}", "end 1 {}", "finish calls"},
		},
		"a whole call in one delta, without index; a stop with calls is calls": {
			in:   stream(`{"id":"c1","choices":[{"delta":{"tool_calls":[{"id":"f1","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}}]},"finish_reason":"stop"}]}`, "[DONE]"),
			want: []string{"start c1", "call 0 f1 read", `args 0 {"p":1}`, `end 0 {"p":1}`, "finish calls"},
		},
		"without index a new id is a new call, no id goes on": {
			in:   stream(calls(`[{"id":"1","function":{"name":"a","arguments":"{"}}]`), calls(`[{"function":{"arguments":"}"}}]`), calls(`[{"id":"2","function":{"name":"a","arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 a", "args 0 {", "args 0 }", "end 0 {}", "call 1 2 a", "args 1 {}", "end 1 {}", "finish calls"},
		},
		"one index for all calls: a new id with a name is a new call": {
			in:   stream(calls(`[{"index":0,"id":"1","function":{"name":"a","arguments":"{}"}}]`), calls(`[{"index":0,"id":"2","function":{"name":"b","arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 a", "args 0 {}", "end 0 {}", "call 1 2 b", "args 1 {}", "end 1 {}", "finish calls"},
		},
		"a name and an id that come late, and null or empty ones after": {
			in: stream(calls(`[{"index":3,"id":null,"function":{"name":null,"arguments":"{"}}]`), calls(`[{"index":3,"function":{"name":"f"}}]`), calls(`[{"index":3,"id":"x","function":{"name":"","arguments":"}"}}]`),
				calls(`[{"index":3,"id":"","function":{"name":"f","arguments":null}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 x f", "args 0 {}", "end 0 {}", "finish calls"},
		},
		"a call that never gets an id gets one": {
			in:   stream(calls(`[{"index":0,"function":{"name":"f","arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 " + wire.MakeID("call_", "c1", "0", "f") + " f", "args 0 {}", "end 0 {}", "finish calls"},
		},
		"a call that never gets a name is none, and tool_calls without any is a stop": {
			in:   stream(deltaOf(`{"content":"a"}`), calls(`[{"index":0,"id":"1","function":{"arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{"start c1", "text a", "finish stop"},
		},
		"an id for two calls is the first one's": {
			in: stream(calls(`[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"1","function":{"name":"f","arguments":"{}"}}]`), finish("tool_calls")),
			want: []string{
				"start c1", "call 0 1 f", "args 0 {}", "end 0 {}", "call 1 " + wire.MakeID("call_", "c1", "1", "f", "1") + " f", "args 1 {}", "end 1 {}", "finish calls",
			},
		},
		"no arguments are an empty object": {
			in:   stream(calls(`[{"index":0,"id":"1","function":{"name":"f"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 f", "end 0 {}", "finish calls"},
		},
		"arguments that are an object": {
			in:   stream(calls(`[{"index":0,"id":"1","function":{"name":"f","arguments":{"a":1}}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 f", `args 0 {"a":1}`, `end 0 {"a":1}`, "finish calls"},
		},
		"a call cut off by the length limit": {
			in:   stream(calls(`[{"index":0,"id":"1","function":{"name":"f","arguments":"{\"a"}}]`), finish("length")),
			want: []string{"start c1", "call 0 1 f", `args 0 {"a`, `end 0 {"a`, "finish length"},
		},
		"the API's first calls": {
			in:   stream(deltaOf(`{"function_call":{"name":"f","arguments":""}}`), deltaOf(`{"function_call":{"arguments":"{}"}}`), finish("function_call")),
			want: []string{"start c1", "call 0 " + wire.MakeID("call_", "c1", "0", "f") + " f", "args 0 {}", "end 0 {}", "finish calls"},
		},
		"custom calls": {
			in:   stream(calls(`[{"index":0,"id":"1","type":"custom","custom":{"name":"p","input":""}}]`), calls(`[{"index":0,"custom":{"input":"{}"}}]`), calls(`[{"index":0,"custom":{"input":"x"}}]`), finish("tool_calls")),
			want: []string{"start c1", "call 0 1 p free", "args 0 {}", "args 0 x", "end 0 {}x", "finish calls"},
		},
		"only the first of several choices": {
			in:   stream(`{"id":"c1","choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"},{"index":0,"delta":{"content":"a"}}]}`, finish("stop")),
			want: []string{"start c1", "text a", "finish stop"},
		},
		"sources and images": {
			in:   stream(deltaOf(`{"content":"a","annotations":[{"type":"url_citation","url_citation":{"url":"https://x","start_index":0,"end_index":1}}],"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`), finish("stop")),
			want: []string{"start c1", "text a", "cite https://x", "media data:image/png;base64,AAAA", "finish stop"},
		},
		"a vendor that ran dry broke off": {
			in:   stream(deltaOf(`{"content":"a"}`), finish("insufficient_system_resource"), "[DONE]"),
			want: []string{"start c1", "text a", "fail insufficient_system_resource the vendor ran out of capacity in the middle of the reply"},
		},
		"comments, CRLF, no blank behind data:": {
			in:   ": OPENROUTER PROCESSING\r\n\r\n:keep\n\ndata:" + deltaOf(`{"content":"a"}`) + "\r\n\r\nevent: x\ndata:" + finish("stop") + "\n\ndata:[DONE]\n\n",
			want: []string{"start c1", "text a", "finish stop"},
		},
		"what is no JSON breaks it": {
			in:   stream(deltaOf(`{"content":"a"}`), "{"),
			want: []string{"start c1", "text a", "fail  the vendor's stream holds something that is not JSON"},
		},
	} {
		same(t, name, told(events(nil, c.in)), c.want)
	}
}

func TestFreeformToolsComeBackAsSuch(t *testing.T) {
	asked := &wire.Ask{Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "patch"}}}
	in := stream(
		deltaOf(`{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"patch","arguments":"{\"in"}}]}`),
		deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"put\":\"a\\n"}}]}`),
		deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"b\"}"}}]}`),
		deltaOf(`{"tool_calls":[{"index":1,"id":"2","type":"function","function":{"name":"patch","arguments":"\"bare\""}}]}`),
		finish("tool_calls"),
	)
	same(t, "events", told(events(asked, in)), []string{
		"start c1", "call 0 1 patch free", "args 0 a\n", "args 0 b", "end 0 a\nb",
		"call 1 2 patch free", "args 1 bare", "end 1 bare", "finish calls",
	})
}

func TestLongNamesComeBackWhole(t *testing.T) {
	long := strings.Repeat("n", 70)
	asked := &wire.Ask{Tools: []wire.Tool{{Name: long}}}
	in := stream(deltaOf(`{"tool_calls":[{"index":0,"id":"1","function":{"name":"`+wire.ChatNames.Name(long)+`","arguments":"{}"}}]}`), finish("tool_calls"))
	same(t, "events", told(events(asked, in)), []string{"start c1", "call 0 1 " + long, "args 0 {}", "end 0 {}", "finish calls"})
}

func TestAWholeReplySaysWhatItsStreamSays(t *testing.T) {
	whole := `{"id":"c1","object":"chat.completion","model":"v","choices":[{"index":0,"message":{"role":"assistant","content":"b","refusal":null,"reasoning_content":"a",` +
		`"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"2","type":"custom","custom":{"name":"p","input":"raw"}}]},"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":3}}}`
	streamed := stream(deltaOf(`{"role":"assistant"}`), deltaOf(`{"reasoning_content":"a"}`), deltaOf(`{"content":"b"}`),
		deltaOf(`{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":"{\"x\""}}]}`), deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`),
		deltaOf(`{"tool_calls":[{"index":1,"id":"2","type":"custom","custom":{"name":"p","input":"raw"}}]}`), finish("tool_calls"), usageChunk, "[DONE]")
	var one, two wire.Fold
	for _, e := range (Codec{}).NewReader(nil).Whole([]byte(whole)) {
		one.Add(e)
	}
	for _, e := range events(nil, streamed) {
		two.Add(e)
	}
	same(t, "answers", one.Answer(), two.Answer())
}

func TestEachCallOfAWholeReplyIsItsOwn(t *testing.T) {
	call := func(id, name, args string) string {
		return `{"id":` + id + `,"index":0,"type":"function","function":{"name":"` + name + `","arguments":` + args + `}}`
	}
	for name, c := range map[string]struct {
		calls []string
		want  []string
	}{
		"one id and one index for all": {
			[]string{call(`"1"`, "f", `"{}"`), call(`"1"`, "f", `"{\"a\":1}"`)},
			[]string{"call 0 1 f", "args 0 {}", "end 0 {}", "call 1 " + wire.MakeID("call_", "c1", "1", "f", "1") + " f", `args 1 {"a":1}`, `end 1 {"a":1}`},
		},
		"no ids, no arguments, arguments that are none": {
			[]string{call("null", "f", "null"), call(`""`, "f", `"oops"`), call("null", "f", `""`)},
			[]string{
				"call 0 " + wire.MakeID("call_", "c1", "0", "f") + " f", "end 0 {}",
				"call 1 " + wire.MakeID("call_", "c1", "1", "f") + " f", "args 1 oops", "end 1 oops",
				"call 2 " + wire.MakeID("call_", "c1", "2", "f") + " f", "end 2 {}",
			},
		},
	} {
		body := `{"id":"c1","choices":[{"index":0,"message":{"tool_calls":[` + strings.Join(c.calls, ",") + `]},"finish_reason":"tool_calls"}]}`
		got := told((Codec{}).NewReader(nil).Whole([]byte(body)))
		same(t, name, got, append(append([]string{"start c1"}, c.want...), "finish calls"))
	}
}

func TestAWholeReplyThatIsNone(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":"c1","choices":[]}`: "fail  the vendor's reply has no choices",
		`{"id"`:                    "fail  the vendor's reply is not JSON",
		`{"error":{"message":"m","type":"rate_limit_error"}}`:        "fail rate_limit_error m",
		`{"object":"error","message":"m","code":400}`:                "fail  m",
		`{"error":{"message":"m","code":429,"type":"x"}}`:            "fail x m",
		`{"error":{"message":"m","code":"context_length_exceeded"}}`: "fail context_length_exceeded m",
	} {
		got := (Codec{}).NewReader(nil).Whole([]byte(in))
		if len(got) != 1 || told(got)[0] != want {
			t.Errorf("%s: got %q, want %q", in, told(got), want)
		}
	}
}

func TestErrorsKeepTheirStatus(t *testing.T) {
	for in, want := range map[string]int{
		`{"message":"m","code":429}`:                       429,
		`{"message":"m","code":"429"}`:                     429,
		`{"message":"m","status":503}`:                     503,
		`{"message":"m","type":"rate_limit_error"}`:        429,
		`{"message":"m","code":"insufficient_quota"}`:      429,
		`{"message":"m","code":"context_length_exceeded"}`: 400,
		`{"message":"m","type":"overloaded_error"}`:        503,
		`{"message":"m","type":"authentication_error"}`:    401,
		`{"message":"m","code":"model_not_found"}`:         404,
		`{"message":"m"}`:                                  502,
	} {
		if got := readFault([]byte(in)).Status; got != want {
			t.Errorf("%s: got %d, want %d", in, got, want)
		}
	}
}

// full is a stream with all that a stream has.
var full = stream(deltaOf(`{"role":"assistant","content":""}`), deltaOf(`{"reasoning_content":"hm\n"}`), deltaOf(`{"content":"a – b"}`),
	deltaOf(`{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":""}}]}`), deltaOf(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`),
	finish("tool_calls"), usageChunk, "[DONE]")

func TestAStreamCutAnywhereNeverReadsAsFinished(t *testing.T) {
	ended := strings.Index(full, `"finish_reason":"tool_calls"}]}`) + len(`"finish_reason":"tool_calls"}]}`+"\n\n")
	for n := range len(full) + 1 {
		all := events(nil, full[:n])
		terminal := 0
		for i, e := range all {
			if e.Kind != wire.EventFinish && e.Kind != wire.EventFail {
				continue
			}
			terminal++
			if i != len(all)-1 {
				t.Fatalf("cut at %d: something after the end", n)
			}
			if (e.Kind == wire.EventFinish) != (n >= ended) {
				t.Fatalf("cut at %d: %v", n, told(all))
			}
		}
		if terminal != 1 {
			t.Fatalf("cut at %d: %d ends", n, terminal)
		}
	}
}

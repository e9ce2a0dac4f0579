package chat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/wire"
)

func read(t *testing.T, body string) *wire.Ask {
	t.Helper()
	a, err := Codec{}.ReadAsk([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return a
}

// say reads messages alone.
func say(t *testing.T, messages string) *wire.Ask {
	t.Helper()
	return read(t, `{"model":"m","messages":`+messages+`}`)
}

func text(s string) wire.Part { return wire.Part{Text: s} }

func callOf(id, name, args string) wire.Part {
	return wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func result(id string, parts ...wire.Part) wire.Part {
	return wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: id, Parts: parts}}
}

func user(parts ...wire.Part) wire.Turn { return wire.Turn{Role: wire.RoleUser, Parts: parts} }

func assistant(parts ...wire.Part) wire.Turn {
	return wire.Turn{Role: wire.RoleAssistant, Parts: parts}
}

func same(t *testing.T, name string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func TestReadingMessages(t *testing.T) {
	image := wire.Part{Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: "AAAA", Detail: "high"}}
	for name, c := range map[string]struct {
		in     string
		system []wire.Part
		turns  []wire.Turn
	}{
		"system and developer before the first turn are the system's": {
			in:     `[{"role":"system","content":"a"},{"role":"developer","content":[{"type":"text","text":"b"}]},{"role":"user","content":"c"}]`,
			system: []wire.Part{text("a"), {Text: "b", Dev: true}},
			turns:  []wire.Turn{user(text("c"))},
		},
		"a system message in the middle stays there": {
			in:    `[{"role":"user","content":"c"},{"role":"system","content":"a"}]`,
			turns: []wire.Turn{user(text("c")), {Role: wire.RoleSystem, Parts: []wire.Part{text("a")}}},
		},
		"results and what the user says behind them are one turn": {
			in: `[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"g","arguments":""}}]},
			{"role":"tool","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"y"}]},{"role":"user","content":"b"}]`,
			turns: []wire.Turn{user(text("a")), assistant(callOf("1", "f", "{}"), callOf("2", "g", "{}")), user(result("1", text("x")), result("2", text("y")), text("b"))},
		},
		"two messages of the user stay two": {
			in:    `[{"role":"user","content":"a"},{"role":"user","content":"b"}]`,
			turns: []wire.Turn{user(text("a")), user(text("b"))},
		},
		"the API's first calls get ids of their place": {
			in: `[{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}]`,
			turns: []wire.Turn{
				assistant(callOf(madeID(0), "f", "{}")),
				user(wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: madeID(0), Name: "f", Parts: []wire.Part{text("x")}}}),
			},
		},
		"a custom call has an input": {
			in: `[{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"p","input":"raw"}}]}]`,
			turns: []wire.Turn{assistant(wire.Part{
				Kind: wire.KindCall,
				Call: &wire.Call{ID: "1", Name: "p", Input: "raw", Free: true},
			})},
		},
		"parts of all kinds": {
			in: `[{"role":"user","content":[{"type":"text","text":""},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"high"}},
			{"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"input_audio","input_audio":{"data":"BBBB","format":"mp3"}},
			{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},
			{"type":"file","file":{"filename":"a.txt","file_data":"data:text/plain;base64,aGk="}},{"type":"file","file":{"file_id":"file-1"}},{"type":"odd","x":1}]}]`,
			turns: []wire.Turn{user(
				image,
				wire.Part{Kind: wire.KindImage, Media: &wire.Media{URL: "https://x/y.png"}},
				wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/mpeg", Data: "BBBB"}},
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{MIME: "application/pdf", Data: "JVBE", Name: "a.pdf"}},
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{MIME: "text/plain", Text: "hi", Name: "a.txt"}},
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{ID: "file-1"}},
				wire.Part{Kind: wire.KindOpaque, Raw: json.RawMessage(`{"type":"odd","x":1}`)},
			)},
		},
		"a result that is the JSON of an image is that image": {
			in: `[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"[{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,AAAA\",\"detail\":\"high\"}]"}]`,
			turns: []wire.Turn{
				assistant(callOf("1", "f", "{}")),
				user(result("1", image)),
			},
		},
		"cache marks of parts go before that of the message, which goes to its last part": {
			in: `[{"role":"user","cache_control":{"type":"ephemeral","ttl":"1h"},"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
			{"role":"user","cache_control":{"type":"ephemeral","ttl":"1h"},"content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]`,
			turns: []wire.Turn{
				user(text("a"), wire.Part{Text: "b", Cache: &wire.Cache{TTL: "1h"}}),
				user(wire.Part{Text: "c", Cache: &wire.Cache{}}),
			},
		},
		"reasoning, a refusal and text of the model": {
			in: `[{"role":"assistant","content":"b","reasoning_content":"a","refusal":"c"}]`,
			turns: []wire.Turn{assistant(
				wire.Part{Kind: wire.KindThinking, Text: "a"}, text("b"), wire.Part{Kind: wire.KindRefusal, Text: "c"},
			)},
		},
		"a vendor's sealed details are kept for it": {
			in: `[{"role":"assistant","content":"b","reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s"}]}]`,
			turns: []wire.Turn{assistant(
				wire.Part{Kind: wire.KindThinking, Text: "a", Seal: &wire.Seal{API: wire.Chat, Data: `[{"type":"reasoning.text","text":"a","signature":"s"}]`}}, text("b"),
			)},
		},
		"Gemini's signature of a call": {
			in: `[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}]`,
			turns: []wire.Turn{assistant(wire.Part{
				Kind: wire.KindCall, Call: &wire.Call{ID: "1", Name: "f", Args: json.RawMessage("{}")},
				Seal: &wire.Seal{API: wire.Gemini, Data: "c2ln"},
			})},
		},
	} {
		a := say(t, c.in)
		same(t, name, a.System, c.system)
		same(t, name, a.Turns, c.turns)
	}
}

func TestReadingFields(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	yes, no := true, false
	for in, want := range map[string]wire.Ask{
		`"max_tokens":5`: {Max: n(5)},
		`"max_tokens":5,"max_completion_tokens":7`: {Max: n(7)},
		`"max_completion_tokens":7,"max_tokens":5`: {Max: n(7)},
		`"max_tokens":0`:                             {},
		`"max_tokens":null`:                          {},
		`"temperature":0.70,"top_p":1`:               {Temperature: "0.70", TopP: "1"},
		`"stop":"x"`:                                 {Stop: []string{"x"}},
		`"stop":["x","y"]`:                           {Stop: []string{"x", "y"}},
		`"n":2,"seed":7`:                             {N: 2, Seed: "7"},
		`"presence_penalty":1,"frequency_penalty":2`: {Presence: "1", Frequency: "2"},
		`"logprobs":true`:                            {Logprobs: n(0)},
		`"logprobs":true,"top_logprobs":3`:           {Logprobs: n(3)},
		`"logprobs":false,"top_logprobs":3`:          {},
		`"user":"u","safety_identifier":"s"`:         {User: "s"},
		`"stream":true,"stream_options":{"include_usage":true,"x":1}`: {Stream: true, Usage: true},
		`"parallel_tool_calls":false`:                                 {OneCall: true},
		`"parallel_tool_calls":true`:                                  {},
		`"service_tier":"flex","verbosity":"low"`:                     {Tier: "flex", Verbosity: "low"},
		`"prompt_cache_key":"k","store":true,"metadata":{"a":"b"}`:    {CacheKey: "k", Store: &yes, Metadata: json.RawMessage(`{"a":"b"}`)},
		`"store":false`: {Store: &no},
		`"logit_bias":{"1":2},"unknown": [1, 2]`: {Extra: []wire.Field{
			{Name: "logit_bias", Value: json.RawMessage(`{"1":2}`)},
			{Name: "unknown", Value: json.RawMessage(`[1, 2]`)},
		}},
		`"response_format":{"type":"text"}`:        {},
		`"response_format":{"type":"json_object"}`: {Format: &wire.Format{}},
		`"response_format":{"type":"json_schema","json_schema":{"name":"o","strict":true,"schema":{"b":1,"a":2}}}`: {
			Format: &wire.Format{Name: "o", Strict: &yes, Schema: json.RawMessage(`{"b":1,"a":2}`)},
		},
		`"reasoning_effort":"high"`:                                                                 {Effort: "high", Show: wire.ShowSummary},
		`"reasoning_effort":"none"`:                                                                 {Effort: "none"},
		`"thinking":{"type":"enabled"}`:                                                             {Budget: n(-1), Show: wire.ShowSummary},
		`"thinking":{"type":"enabled"},"reasoning_effort":"low"`:                                    {Effort: "low", Show: wire.ShowSummary},
		`"thinking":{"type":"enabled","budget_tokens":2000}`:                                        {Budget: n(2000), Show: wire.ShowSummary},
		`"thinking":{"type":"disabled"},"reasoning_effort":"high"`:                                  {Effort: "none"},
		`"enable_thinking":true,"thinking_budget":9`:                                                {Budget: n(9), Show: wire.ShowSummary},
		`"enable_thinking":false`:                                                                   {Effort: "none"},
		`"chat_template_kwargs":{"enable_thinking":false}`:                                          {Effort: "none"},
		`"reasoning":{"effort":"low","exclude":true}`:                                               {Effort: "low", Show: wire.ShowNone},
		`"reasoning":{"max_tokens":100}`:                                                            {Budget: n(100), Show: wire.ShowSummary},
		`"reasoning":{"enabled":true}`:                                                              {Budget: n(-1), Show: wire.ShowSummary},
		`"extra_body":{"google":{"thinking_config":{"thinking_budget":5,"include_thoughts":true}}}`: {Budget: n(5), Show: wire.ShowSummary},
		`"extra_body":{"google":{"thinking_config":{"thinking_level":"LOW"}}}`:                      {Effort: "low", Show: wire.ShowSummary},
	} {
		a := read(t, `{"messages":[{"role":"user","content":"x"}],`+in+`}`)
		want.API, want.Turns = wire.Chat, []wire.Turn{user(text("x"))}
		same(t, in, *a, want)
	}
}

func TestReadingTools(t *testing.T) {
	yes := true
	f := wire.Tool{Name: "f", Description: "d", Schema: json.RawMessage(`{"type":"object"}`), Strict: &yes, Cache: &wire.Cache{}}
	for in, want := range map[string]wire.Ask{
		`"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true},"cache_control":{"type":"ephemeral"}}]`: {Tools: []wire.Tool{f}},
		`"tools":[{"type":"custom","custom":{"name":"p","description":"d","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}}}]`: {
			Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "p", Description: "d", Grammar: &wire.Grammar{Syntax: "lark", Definition: "x"}}},
		},
		`"tools":[{"type":"custom","custom":{"name":"p","format":{"type":"text"}}}]`: {Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "p"}}},
		`"functions":[{"name":"f","parameters":null}],"function_call":{"name":"f"}`:  {Tools: []wire.Tool{{Name: "f"}}, Legacy: true, Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "f"}},
		`"tools":[]`:               {},
		`"tool_choice":"auto"`:     {Choice: wire.Choice{Mode: wire.ChoiceAuto}},
		`"tool_choice":"none"`:     {Choice: wire.Choice{Mode: wire.ChoiceNone}},
		`"tool_choice":"required"`: {Choice: wire.Choice{Mode: wire.ChoiceRequired}},
		`"tool_choice":{"type":"function","function":{"name":"f"}}`: {Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "f"}},
		`"tool_choice":{"type":"custom","custom":{"name":"p"}}`:     {Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "p"}},
		`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`: {
			Choice: wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"f"}},
		},
		`"web_search_options":{"user_location":{"type":"approximate","approximate":{"city":"Bonn"}}}`: {Tools: []wire.Tool{{
			Kind: wire.ToolHosted, Hosted: "web_search", Raw: json.RawMessage(`{"user_location":{"type":"approximate","approximate":{"city":"Bonn"}}}`),
			Search: &wire.Search{Location: json.RawMessage(`{"type":"approximate","city":"Bonn"}`)},
		}}},
		`"tools":[{"type":"web_search","x":1}]`: {Tools: []wire.Tool{{Kind: wire.ToolHosted, Hosted: "web_search", Raw: json.RawMessage(`{"type":"web_search","x":1}`)}}},
	} {
		a := read(t, `{"messages":[{"role":"user","content":"x"}],`+in+`}`)
		want.API, want.Turns = wire.Chat, []wire.Turn{user(text("x"))}
		same(t, in, *a, want)
	}
}

func TestABodyThatBreaksTheRulesNamesTheField(t *testing.T) {
	for in, field := range map[string]string{
		`[]`:                              "",
		`{"messages":`:                    "",
		`{}`:                              "messages",
		`{"messages":[]}`:                 "messages",
		`{"messages":"x"}`:                "messages",
		`{"messages":[1]}`:                "messages[0]",
		`{"messages":[{"role":"model"}]}`: "messages[0].role",
		`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}}`: "response_format.type",
		`{"messages":[` + strings.Repeat("[", 2000):                                     "",
	} {
		_, err := Codec{}.ReadAsk([]byte(in))
		var r *wire.FieldRefusal
		if !errors.As(err, &r) || r.Field != field || r.Words == "" {
			t.Errorf("%.60s: got %v, want a refusal of %q", in, err, field)
		}
	}
}

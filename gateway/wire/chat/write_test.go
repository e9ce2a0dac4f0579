package chat

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// write writes an ask and gives the body and what was lost.
func write(t *testing.T, a *wire.Ask, to wire.Target) (string, []string) {
	t.Helper()
	body, lost, err := Codec{}.WriteAsk(a, to)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(body) {
		t.Fatalf("not JSON: %s", body)
	}
	var what []string
	for _, l := range lost {
		what = append(what, l.What)
	}
	return string(body), what
}

func messagesOf(t *testing.T, body string) string {
	t.Helper()
	return string(wire.Value(body).Get("messages"))
}

// openAI is a vendor that takes all that the API has.
var openAI = wire.Dialect{
	Vendor: "openai", TokenField: "max_completion_tokens", DeveloperRole: true, CacheKeys: true,
	CustomTools: true, AllowedTools: true, Searches: []wire.Protocol{wire.Chat}, Tiers: true, CacheBreaks: []string{"gpt-5.6", "gpt-6"},
}

var deepSeek = wire.Dialect{Vendor: "deepseek", Switch: wire.SwitchType, SwitchLevel: true, GiveBack: wire.GiveCalls, NoSchema: true}

func TestWritingMessages(t *testing.T) {
	marked := wire.Part{Text: "b", Cache: &wire.Cache{TTL: "1h"}}
	free := wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: "1", Name: "p", Input: "a\nb", Free: true}}
	shot := wire.Part{Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: "AAAA"}}
	thought := wire.Part{Kind: wire.KindThinking, Text: "hm"}
	for name, c := range map[string]struct {
		a    wire.Ask
		to   wire.Target
		want string
		lost []string
	}{
		"the system's texts are one message, joined by a blank line; the line that changes is left out": {
			a:    wire.Ask{System: []wire.Part{text("x-anthropic-billing-header: cc_version=1"), text("a"), text("b")}, Turns: []wire.Turn{user(text("c"))}},
			want: `[{"role":"system","content":"a\n\nb"},{"role":"user","content":"c"}]`,
		},
		"a vendor that knows developer gets it": {
			a:    wire.Ask{System: []wire.Part{text("a"), {Text: "b", Dev: true}}, Turns: []wire.Turn{user(text("c"))}},
			to:   wire.Target{Dialect: openAI},
			want: `[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c"}]`,
		},
		"another gets system": {
			a:    wire.Ask{System: []wire.Part{text("a"), {Text: "b", Dev: true}}, Turns: []wire.Turn{user(text("c"))}},
			want: `[{"role":"system","content":"a\n\nb"},{"role":"user","content":"c"}]`,
		},
		"cache marks go to those who read them": {
			a:    wire.Ask{System: []wire.Part{text("a"), marked}, Turns: []wire.Turn{user(text("c"))}},
			to:   wire.Target{Dialect: wire.Dialect{CacheMarks: true}},
			want: `[{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"user","content":"c"}]`,
		},
		"as breakpoints to models that know those": {
			a:    wire.Ask{System: []wire.Part{marked}, Turns: []wire.Turn{user(text("c"))}},
			to:   wire.Target{Model: "gpt-5.6", Dialect: openAI},
			want: `[{"role":"system","content":[{"type":"text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"c"}]`,
		},
		"and are lost at others": {
			a:    wire.Ask{System: []wire.Part{marked}, Turns: []wire.Turn{user(text("c"))}},
			to:   wire.Target{Model: "gpt-4.1", Dialect: openAI},
			want: `[{"role":"system","content":"b"},{"role":"user","content":"c"}]`,
			lost: []string{"cache_control"},
		},
		"texts of a user become one string, images make it an array": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("a"), text("b")), assistant(text("c")), user(text("d"), shot)}},
			want: `[{"role":"user","content":"a\nb"},{"role":"assistant","content":"c"},{"role":"user","content":[{"type":"text","text":"d"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]`,
		},
		"two turns of the user stay two messages": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("a")), user(text("b"))}},
			want: `[{"role":"user","content":"a"},{"role":"user","content":"b"}]`,
		},
		"results are text, their images stand with what the user says behind them": {
			a: wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(text("ok"), callOf("1", "f", `{"a":1.0}`), callOf("2", "g", "")), user(
				result("1", text("here"), shot), result("2", shot), text("and?"),
			)}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":"ok","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1.0}"}},{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":"here"},{"role":"tool","tool_call_id":"2","content":"see image below"},` +
				`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"and?"}]}]`,
		},
		"a model that reads no images gets a note": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(callOf("1", "f", "{}")), user(result("1", shot))}},
			to:   wire.Target{Inputs: []string{"text"}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"[image left out: the model reads no images]"}]`,
			lost: []string{"messages.image"},
		},
		"a failed result says so, an empty one is empty": {
			a: wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(callOf("1", "f", "{}"), callOf("2", "f", "{}")), user(
				wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: "1", Error: true, Parts: []wire.Part{text("no")}}}, result("2"),
			)}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"Error: no"},{"role":"tool","tool_call_id":"2","content":""}]`,
		},
		"a freeform call is a function with an input": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(free), user(result("1", text("ok")))}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"p","arguments":"{\"input\":\"a\\nb\"}"}}]},{"role":"tool","tool_call_id":"1","content":"ok"}]`,
		},
		"and custom where that is known": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(free), user(result("1", text("ok")))}},
			to:   wire.Target{Dialect: openAI},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"custom","custom":{"name":"p","input":"a\nb"}}]},{"role":"tool","tool_call_id":"1","content":"ok"}]`,
		},
		"DeepSeek sees the reasoning of turns with calls again, and nothing where it was lost": {
			a: wire.Ask{Turns: []wire.Turn{
				user(text("go")), assistant(thought, text("plain")), user(text("on")),
				assistant(thought, callOf("1", "f", "{}")), user(result("1")), assistant(callOf("2", "f", "{}")), user(result("2")),
			}},
			to: wire.Target{Dialect: deepSeek},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":"plain"},{"role":"user","content":"on"},` +
				`{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":""},` +
				`{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"2","content":""}]`,
			lost: []string{"reasoning"},
		},
		"others see all of it, under their own name": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(thought, text("x")), user(text("on"))}},
			to:   wire.Target{Dialect: wire.Dialect{GiveBack: wire.GiveAll, ReasoningField: "reasoning"}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":"x","reasoning":"hm"},{"role":"user","content":"on"}]`,
		},
		"OpenAI sees none": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(thought, text("x")), user(text("on"))}},
			to:   wire.Target{Dialect: openAI},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":"x"},{"role":"user","content":"on"}]`,
			lost: []string{"reasoning"},
		},
		"what the model began is followed by a word of the user's": {
			a:    wire.Ask{API: wire.Messages, Turns: []wire.Turn{user(text("go")), assistant(text("Once"))}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":"Once"},{"role":"user","content":"Continue."}]`,
		},
		"a call without a result gets one": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("go")), assistant(callOf("1", "f", "{}")), user(text("on"))}},
			want: `[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"Error: [no result: interrupted]"},{"role":"user","content":"on"}]`,
		},
		"the system in the middle stays there": {
			a:    wire.Ask{Turns: []wire.Turn{user(text("a")), {Role: wire.RoleSystem, Parts: []wire.Part{text("s")}}, user(text("b"))}},
			want: `[{"role":"user","content":"a"},{"role":"system","content":"s"},{"role":"user","content":"b"}]`,
		},
		"audio of an old turn that is neither wav nor mp3 is a note": {
			a:    wire.Ask{Turns: []wire.Turn{user(wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/ogg", Data: "AAAA"}}), assistant(text("x")), user(text("b"))}},
			want: `[{"role":"user","content":"[audio left out: the model hears none]"},{"role":"assistant","content":"x"},{"role":"user","content":"b"}]`,
			lost: []string{"messages.audio"},
		},
		"documents and audio": {
			a: wire.Ask{Turns: []wire.Turn{user(
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{MIME: "application/pdf", Data: "JVBE", Name: "a.pdf"}},
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{Text: "hi", Name: "a.txt"}},
				wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/x-wav", Data: "AAAA"}},
			)}},
			want: `[{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},{"type":"text","text":"a.txt\nhi"},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}]`,
		},
		"a detail that only Responses has is the nearest": {
			a:    wire.Ask{Turns: []wire.Turn{user(wire.Part{Kind: wire.KindImage, Media: &wire.Media{URL: "https://x", Detail: "original"}})}},
			want: `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x","detail":"high"}}]}]`,
		},
		"Gemini's Chat door gets the signatures of the current turn, or the word that stands for one": {
			a: wire.Ask{Turns: []wire.Turn{
				user(text("a")), assistant(callOf("0", "f", "{}")), user(result("0")), assistant(text("x")), user(text("go")),
				assistant(wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: "1", Name: "f"}, Seal: &wire.Seal{API: wire.Gemini, Data: "c2ln"}}, callOf("2", "f", "{}")),
				user(result("1"), result("2")), assistant(callOf("3", "f", "{}")), user(result("3")),
			}},
			to: wire.Target{Model: "gemini-3-pro", Dialect: wire.Dialect{CallSeals: []string{"gemini-3"}}},
			want: `[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"0","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"0","content":""},{"role":"assistant","content":"x"},{"role":"user","content":"go"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":""},{"role":"tool","tool_call_id":"2","content":""},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"3","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}}]},{"role":"tool","tool_call_id":"3","content":""}]`,
		},
	} {
		body, lost := write(t, &c.a, c.to)
		same(t, name, messagesOf(t, body), c.want)
		same(t, name+": lost", lost, c.lost)
	}
}

// rest is a body without its model, messages and what each has.
func rest(body string) string {
	v := wire.Value(body)
	var o out
	o.open('{')
	v.Members(func(key string, v wire.Value) {
		switch key {
		case "model", "messages", "stream":
		case "stream_options":
		default:
			o.raw(key, v)
		}
	})
	o.close('}')
	return string(o.b)
}

func TestWritingFields(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	yes, no := true, false
	schema := &wire.Format{Schema: json.RawMessage(`{"type":"object"}`), Strict: &yes}
	for name, c := range map[string]struct {
		a    wire.Ask
		to   wire.Target
		want string
		lost []string
	}{
		"max_tokens for most":                       {a: wire.Ask{Max: n(9)}, want: `{"max_tokens":9}`},
		"max_completion_tokens for OpenAI":          {a: wire.Ask{Max: n(9)}, to: wire.Target{Dialect: openAI}, want: `{"max_completion_tokens":9}`},
		"no more tokens than the model has":         {a: wire.Ask{Max: n(9)}, to: wire.Target{Output: 5}, want: `{"max_tokens":5}`, lost: []string{"max_tokens"}},
		"sampling as it was spelled":                {a: wire.Ask{Temperature: "0.70", TopP: "1.0"}, want: `{"temperature":0.70,"top_p":1.0}`},
		"no sampling for models that reason":        {a: wire.Ask{Temperature: "0.7", TopP: "1", Effort: "low"}, to: wire.Target{Model: "gpt-5.6"}, want: `{"reasoning_effort":"low"}`, lost: []string{"temperature", "top_p"}},
		"sampling for them while they don't":        {a: wire.Ask{Temperature: "0.7", Effort: "none"}, to: wire.Target{Model: "gpt-5.6"}, want: `{"reasoning_effort":"none","temperature":0.7}`},
		"top_k has no place":                        {a: wire.Ask{TopK: n(4)}, want: `{}`, lost: []string{"top_k"}},
		"at most four stop strings":                 {a: wire.Ask{Stop: []string{"1", "2", "3", "4", "5"}}, want: `{"stop":["1","2","3","4"]}`, lost: []string{"stop"}},
		"a long user is hashed":                     {a: wire.Ask{User: strings.Repeat("u", 65)}, want: `{"user":"` + bounded(strings.Repeat("u", 65)) + `"}`},
		"the client's cache key":                    {a: wire.Ask{CacheKey: "k"}, to: wire.Target{Session: "s"}, want: `{"prompt_cache_key":"k"}`},
		"one of the session where it helps":         {to: wire.Target{Session: "s", Dialect: openAI}, want: `{"prompt_cache_key":"` + wire.MakeID("magpie-", "s") + `"}`},
		"no key of the session elsewhere":           {to: wire.Target{Session: "s"}, want: `{}`},
		"a refused field is lost":                   {a: wire.Ask{CacheKey: "k", Verbosity: "low"}, to: wire.Target{Dialect: wire.Dialect{Unsupported: []string{"prompt_cache_key", "verbosity"}}}, want: `{}`, lost: []string{"verbosity", "prompt_cache_key"}},
		"tiers where there are some":                {a: wire.Ask{Tier: "flex"}, to: wire.Target{Dialect: openAI}, want: `{"service_tier":"flex"}`},
		"tiers lost elsewhere":                      {a: wire.Ask{Tier: "flex"}, want: `{}`, lost: []string{"service_tier"}},
		"the usual tier is no loss":                 {a: wire.Ask{Tier: "auto"}, want: `{}`},
		"another API's own fields are lost":         {a: wire.Ask{API: wire.Messages, Extra: []wire.Field{{Name: "container", Value: json.RawMessage(`1`)}}, Metadata: json.RawMessage(`{}`), Store: &yes}, want: `{}`, lost: []string{"metadata", "store", "container"}},
		"store false is no loss":                    {a: wire.Ask{API: wire.Responses, Store: &no}, want: `{}`},
		"this API's own go on":                      {a: wire.Ask{API: wire.Chat, Extra: []wire.Field{{Name: "logit_bias", Value: json.RawMessage(`{"1":2}`)}}}, want: `{"logit_bias":{"1":2}}`},
		"spoken replies and probabilities are lost": {a: wire.Ask{API: wire.Chat, Logprobs: n(2), Extra: []wire.Field{{Name: "audio", Value: json.RawMessage(`{}`)}}}, want: `{}`, lost: []string{"logprobs", "audio"}},
		"a schema gets a name":                      {a: wire.Ask{Format: schema}, want: `{"response_format":{"type":"json_schema","json_schema":{"name":"response","schema":{"type":"object"},"strict":true}}}`},
		"a vendor without schemas gets any object":  {a: wire.Ask{Format: schema}, to: wire.Target{Dialect: deepSeek}, want: `{"response_format":{"type":"json_object"}}`, lost: []string{"response_format.json_schema"}},
		"effort as a level":                         {a: wire.Ask{Effort: "max"}, to: wire.Target{Efforts: []string{"low", "high"}}, want: `{"reasoning_effort":"high"}`},
		"a budget as a level":                       {a: wire.Ask{Budget: n(8000)}, want: `{"reasoning_effort":"medium"}`},
		"reasoning of no measure is left to it":     {a: wire.Ask{Budget: n(-1)}, want: `{}`},
		"a model that does not reason is not told":  {a: wire.Ask{Effort: "high"}, to: wire.Target{Efforts: []string{}}, want: `{}`, lost: []string{"reasoning_effort"}},
		"DeepSeek is switched on":                   {a: wire.Ask{Effort: "high"}, to: wire.Target{Dialect: deepSeek}, want: `{"thinking":{"type":"enabled"},"reasoning_effort":"high"}`},
		"and off":                                   {a: wire.Ask{Effort: "none"}, to: wire.Target{Dialect: deepSeek}, want: `{"thinking":{"type":"disabled"}}`},
		"Qwen is switched on, with a budget":        {a: wire.Ask{Budget: n(4000)}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchEnable}}, want: `{"enable_thinking":true,"thinking_budget":4000}`},
		"Qwen is switched off":                      {a: wire.Ask{Effort: "none"}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchEnable}}, want: `{"enable_thinking":false}`},
		"OpenRouter by level":                       {a: wire.Ask{Effort: "low", Show: wire.ShowNone}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchObject}}, want: `{"reasoning":{"effort":"low","exclude":true}}`},
		"OpenRouter by number":                      {a: wire.Ask{Budget: n(4000)}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchObject}}, want: `{"reasoning":{"max_tokens":4000}}`},
		"OpenRouter on":                             {a: wire.Ask{Budget: n(-1)}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchObject}}, want: `{"reasoning":{"enabled":true}}`},
		"OpenRouter off":                            {a: wire.Ask{Effort: "none"}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchObject}}, want: `{"reasoning":{"enabled":false}}`},
		"Gemini 3 by level":                         {a: wire.Ask{Effort: "max"}, to: wire.Target{Model: "gemini-3-pro", Dialect: wire.Dialect{Switch: wire.SwitchGoogle}}, want: `{"extra_body":{"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"high"}}}}`},
		"Gemini 2.5 by number":                      {a: wire.Ask{Budget: n(5)}, to: wire.Target{Model: "gemini-2.5-flash", Dialect: wire.Dialect{Switch: wire.SwitchGoogle}}, want: `{"extra_body":{"google":{"thinking_config":{"include_thoughts":true,"thinking_budget":5}}}}`},
		"no way to say it is a loss":                {a: wire.Ask{Effort: "low"}, to: wire.Target{Dialect: wire.Dialect{Switch: wire.SwitchNone}}, want: `{}`, lost: []string{"reasoning_effort"}},
		"penalties and a seed":                      {a: wire.Ask{Presence: "1", Frequency: "2", Seed: "3"}, want: `{"presence_penalty":1,"frequency_penalty":2,"seed":3}`},
	} {
		c.a.Turns = []wire.Turn{user(text("x"))}
		body, lost := write(t, &c.a, c.to)
		same(t, name, rest(body), c.want)
		same(t, name+": lost", lost, c.lost)
	}
}

func TestWritingTools(t *testing.T) {
	yes, no := true, false
	f := wire.Tool{Name: "f", Description: "d", Schema: json.RawMessage(`{"type":"object","properties":{"b":{},"a":{}}}`), Strict: &no}
	g := wire.Tool{Name: "g"}
	p := wire.Tool{Kind: wire.ToolFree, Name: "p", Description: "d", Grammar: &wire.Grammar{Syntax: "lark", Definition: "x"}}
	const (
		fOut = `{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"b":{},"a":{}}}}}`
		gOut = `{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}`
		pOut = `{"type":"function","function":{"name":"p","description":"d\n\nInput is raw text following this lark grammar:\nx","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}}`
	)
	long := strings.Repeat("n", 70)
	search := wire.Tool{Kind: wire.ToolHosted, Hosted: "web_search", Raw: json.RawMessage(`{"type":"web_search"}`), Search: &wire.Search{Location: json.RawMessage(`{"type":"approximate","city":"Bonn"}`)}}
	for name, c := range map[string]struct {
		a    wire.Ask
		to   wire.Target
		want string
		lost []string
	}{
		"functions, each once":           {a: wire.Ask{Tools: []wire.Tool{f, g, f}}, want: `{"tools":[` + fOut + `,` + gOut + `]}`},
		"an object names its properties": {a: wire.Ask{Tools: []wire.Tool{{Name: "g", Schema: json.RawMessage(`{"type":"object"}`)}}}, want: `{"tools":[` + gOut + `]}`},
		"a cache mark on a tool": {
			a: wire.Ask{Tools: []wire.Tool{{Name: "g", Cache: &wire.Cache{}}}}, to: wire.Target{Dialect: wire.Dialect{CacheMarks: true}},
			want: `{"tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}},"cache_control":{"type":"ephemeral"}}]}`,
		},
		"breakpoints stand on parts alone": {
			a: wire.Ask{Tools: []wire.Tool{{Name: "g", Cache: &wire.Cache{}}}}, to: wire.Target{Model: "gpt-5.6", Dialect: openAI},
			want: `{"tools":[` + gOut + `]}`, lost: []string{"cache_control"},
		},
		"strict is told when it is on":    {a: wire.Ask{Tools: []wire.Tool{{Name: "g", Strict: &yes}}}, want: `{"tools":[{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}},"strict":true}}]}`},
		"freeform tools become functions": {a: wire.Ask{Tools: []wire.Tool{p}}, want: `{"tools":[` + pOut + `]}`},
		"freeform tools stay where they are known": {
			a: wire.Ask{Tools: []wire.Tool{p}}, to: wire.Target{Dialect: openAI},
			want: `{"tools":[{"type":"custom","custom":{"name":"p","description":"d","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}}}]}`,
		},
		"a long name is shortened, also where it is chosen": {
			a:    wire.Ask{Tools: []wire.Tool{{Name: long}}, Choice: wire.Choice{Mode: wire.ChoiceTool, Name: long}},
			want: `{"tools":[{"type":"function","function":{"name":"` + wire.ChatNames.Name(long) + `","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"` + wire.ChatNames.Name(long) + `"}}}`,
		},
		"a hosted tool is lost, and a choice of it is auto": {
			a:    wire.Ask{API: wire.Responses, Tools: []wire.Tool{g, search}, Choice: wire.Choice{Mode: wire.ChoiceTool, Hosted: "web_search"}},
			want: `{"tools":[` + gOut + `],"tool_choice":"auto"}`, lost: []string{"tools.web_search", "tool_choice"},
		},
		"without a tool left there is no choice": {
			a:    wire.Ask{API: wire.Responses, OneCall: true, Tools: []wire.Tool{search}, Choice: wire.Choice{Mode: wire.ChoiceRequired}},
			want: `{}`, lost: []string{"tools.web_search"},
		},
		"a vendor that searches is told where from": {
			a: wire.Ask{API: wire.Responses, Tools: []wire.Tool{search}}, to: wire.Target{Dialect: openAI},
			want: `{"web_search_options":{"user_location":{"type":"approximate","approximate":{"city":"Bonn"}}}}`,
		},
		"required":                      {a: wire.Ask{Tools: []wire.Tool{g}, Choice: wire.Choice{Mode: wire.ChoiceRequired}}, want: `{"tools":[` + gOut + `],"tool_choice":"required"}`},
		"required where it isn't known": {a: wire.Ask{Tools: []wire.Tool{g}, Choice: wire.Choice{Mode: wire.ChoiceRequired}}, to: wire.Target{Dialect: wire.Dialect{NoRequired: true}}, want: `{"tools":[` + gOut + `],"tool_choice":"auto"}`, lost: []string{"tool_choice"}},
		"a name where none is known":    {a: wire.Ask{Tools: []wire.Tool{f, g}, Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "g"}}, to: wire.Target{Dialect: wire.Dialect{NoNamed: true}}, want: `{"tools":[` + gOut + `],"tool_choice":"auto"}`, lost: []string{"tool_choice"}},
		"none keeps the tools":          {a: wire.Ask{Tools: []wire.Tool{g}, Choice: wire.Choice{Mode: wire.ChoiceNone}}, want: `{"tools":[` + gOut + `],"tool_choice":"none"}`},
		"allowed tools narrow the list": {a: wire.Ask{Tools: []wire.Tool{f, g}, Choice: wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"g"}}}, want: `{"tools":[` + gOut + `],"tool_choice":"required"}`},
		"allowed tools where they are known": {
			a: wire.Ask{Tools: []wire.Tool{g}, Choice: wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{"g"}}}, to: wire.Target{Dialect: openAI},
			want: `{"tools":[` + gOut + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}}`,
		},
		"allowed tools that are not on offer": {
			a: wire.Ask{Tools: []wire.Tool{f, g}, Choice: wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{"web_search", "g"}}}, to: wire.Target{Dialect: openAI},
			want: `{"tools":[` + fOut + `,` + gOut + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}}`,
		},
		"none of the allowed is on offer": {
			a: wire.Ask{Tools: []wire.Tool{f, g}, Choice: wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{"web_search"}}}, to: wire.Target{Dialect: openAI}, want: `{}`,
		},
		"one call at a time": {a: wire.Ask{Tools: []wire.Tool{g}, OneCall: true}, want: `{"tools":[` + gOut + `],"parallel_tool_calls":false}`},
	} {
		c.a.Turns = []wire.Turn{user(text("x"))}
		body, lost := write(t, &c.a, c.to)
		same(t, name, rest(body), c.want)
		same(t, name+": lost", lost, c.lost)
	}
}

func TestARequestIsAlwaysStreamedAndWithUsage(t *testing.T) {
	a := &wire.Ask{Turns: []wire.Turn{user(text("x"))}}
	body, _ := write(t, a, wire.Target{Model: "m"})
	same(t, "most", body, `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`)
	body, _ = write(t, a, wire.Target{Model: "m", Dialect: wire.Dialect{NoUsageOption: true}})
	same(t, "refused", body, `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}`)
}

func TestTheWordJSONIsSaidWhereItIsNeeded(t *testing.T) {
	a := &wire.Ask{Format: &wire.Format{}, Turns: []wire.Turn{user(text("x"))}}
	body, _ := write(t, a, wire.Target{})
	same(t, "missing", messagesOf(t, body), `[{"role":"system","content":"Answer in JSON."},{"role":"user","content":"x"}]`)
	a.Turns[0].Parts[0].Text = "as json"
	body, _ = write(t, a, wire.Target{})
	same(t, "there", messagesOf(t, body), `[{"role":"user","content":"as json"}]`)
}

func TestWhatCannotBeCarriedIsRefused(t *testing.T) {
	for name, a := range map[string]*wire.Ask{
		"two replies":                     {N: 2, Turns: []wire.Turn{user(text("x"))}},
		"nothing said":                    {Turns: []wire.Turn{user(text(""))}},
		"an image by another's id":        {API: wire.Messages, Turns: []wire.Turn{user(wire.Part{Kind: wire.KindImage, Media: &wire.Media{ID: "file_1"}}), assistant(text("x")), user(text("y"))}},
		"a film":                          {API: wire.Gemini, Turns: []wire.Turn{user(wire.Part{Kind: wire.KindVideo, Media: &wire.Media{MIME: "video/mp4", Data: "AAAA"}})}},
		"a document by its URL":           {API: wire.Messages, Turns: []wire.Turn{user(wire.Part{Kind: wire.KindFile, Media: &wire.Media{URL: "https://x"}})}},
		"audio in a form that isn't read": {API: wire.Gemini, Turns: []wire.Turn{user(wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/ogg", Data: "AAAA"}})}},
	} {
		for _, to := range []wire.Target{{}, {Inputs: []string{"text", "image"}}} { // what a model takes is known, or not
			_, _, err := Codec{}.WriteAsk(a, to)
			var r *wire.FieldRefusal
			if !errors.As(err, &r) || r.Field == "" || r.Words == "" {
				t.Errorf("%s, of %v: got %v", name, to.Inputs, err)
			}
		}
	}
}

func TestTheSameAskIsTheSameBytes(t *testing.T) {
	a := read(t, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f"}}],"a":1,"b":2}`)
	first, lost := write(t, a, wire.Target{})
	for range 20 {
		again, l := write(t, a, wire.Target{})
		if again != first || !slices.Equal(l, lost) {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

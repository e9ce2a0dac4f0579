package responses

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// written is a request that was written.
type written struct {
	t    testing.TB
	raw  string
	all  map[string]any
	lost []wire.Loss
}

func writeAsk(t testing.TB, a *wire.Ask, to wire.Target) written {
	t.Helper()
	if to.Model == "" {
		to.Model = "gpt-6"
	}
	b, lost, err := Codec{}.WriteAsk(a, to)
	if err != nil {
		t.Fatal(err)
	}
	w := written{t: t, raw: string(b), lost: lost}
	if err := json.Unmarshal(b, &w.all); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, b)
	}
	return w
}

// has checks that a member is what the JSON says; "" = it is absent.
func (w written) has(key, want string) {
	w.t.Helper()
	got, ok := w.all[key]
	if want == "" {
		if ok {
			w.t.Errorf("%s is %v, want it absent", key, got)
		}
		return
	}
	var v any
	if err := json.Unmarshal([]byte(want), &v); err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, v) {
		b, _ := json.Marshal(got)
		w.t.Errorf("%s:\n got %s\nwant %s", key, b, want)
	}
}

func (w written) loses(what ...string) {
	w.t.Helper()
	var got []string
	for _, l := range w.lost {
		got = append(got, l.What)
	}
	if strings.Join(got, " ") != strings.Join(what, " ") {
		w.t.Errorf("lost %q, want %q", got, what)
	}
}

func text(s string) wire.Part { return wire.Part{Text: s} }

func said(role wire.Role, parts ...wire.Part) wire.Turn { return wire.Turn{Role: role, Parts: parts} }

func called(id, name, args string) wire.Part {
	return wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func gave(id string, parts ...wire.Part) wire.Part {
	return wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: id, Parts: parts}}
}

func image(m wire.Media) wire.Part { return wire.Part{Kind: wire.KindImage, Media: &m} }

func TestTurnsAreWrittenAsItems(t *testing.T) {
	long := strings.Repeat("x", 65)
	for name, c := range map[string]struct {
		turns []wire.Turn
		want  string
	}{
		"texts": {
			[]wire.Turn{said("user", text("a"), text("b")), said("assistant", text("c")), said("user", text("d"))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"d"}]}]`,
		},
		"a system message in the middle is the developer's": {
			[]wire.Turn{said("user", text("a")), said("system", text("s")), said("user", text("b"))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"s"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`,
		},
		"calls and outputs without ids of their own, call ids of at most 64": {
			[]wire.Turn{said("user", text("a")), said("assistant", called(long, "f", `{"n":1.0}`)), said("user", gave(long, text("r")))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},
			{"type":"function_call","call_id":"` + callID(long) + `","name":"f","arguments":"{\"n\":1.0}"},
			{"type":"function_call_output","call_id":"` + callID(long) + `","output":"r"}]`,
		},
		"a lost result, an empty one and a failed one": {
			[]wire.Turn{said("assistant", called("a", "f", ""), called("b", "f", "{}"), called("c", "f", "{}")), said("user", gave("a"), wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: "b", Parts: []wire.Part{text("no")}, Error: true}})},
			`[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call","call_id":"b","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":""},{"type":"function_call_output","call_id":"b","output":"Error: no"},{"type":"function_call_output","call_id":"c","output":"Error: [no result: interrupted]"}]`,
		},
		"an image in a result": {
			[]wire.Turn{said("assistant", called("a", "f", "{}")), said("user", gave("a", text("see"), image(wire.Media{MIME: "image/jpeg", Data: "/9j/"})))},
			`[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/jpeg;base64,/9j/","detail":"auto"}]}]`,
		},
		"a freeform call": {
			[]wire.Turn{said("assistant", wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: "p", Name: "apply_patch", Input: "*** <x>", Free: true}}), said("user", gave("p", text("ok")))},
			`[{"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** <x>"},{"type":"custom_tool_call_output","call_id":"p","output":"ok"}]`,
		},
		"media": {
			[]wire.Turn{said("user", image(wire.Media{URL: "https://x/i.png", Detail: "low"}), wire.Part{Kind: wire.KindFile, Media: &wire.Media{MIME: "application/pdf", Data: "JVBE", Name: "a.pdf"}},
				wire.Part{Kind: wire.KindFile, Media: &wire.Media{URL: "https://x/a.pdf"}}, wire.Part{Kind: wire.KindFile, Media: &wire.Media{Text: "words", Name: "t"}},
				wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/mpeg", Data: "SUQz"}})},
			`[{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://x/i.png","detail":"low"},
			{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"},{"type":"input_file","file_url":"https://x/a.pdf"},
			{"type":"input_text","text":"t\nwords"},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}]}]`,
		},
		"only reasoning that this API sealed goes back, without an id": {
			[]wire.Turn{said("assistant", wire.Part{Kind: wire.KindThinking, Text: "t", Seal: &wire.Seal{API: wire.Responses, Data: "gAAA", ID: "rs_1"}},
				wire.Part{Kind: wire.KindThinking, Text: "foreign", Seal: &wire.Seal{API: wire.Messages, Data: "EqQB"}}, wire.Part{Kind: wire.KindThinking, Text: "bare"}, text("a")), said("user", text("b"))},
			`[{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"gAAA"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`,
		},
		"a reply that is begun is asked to go on": {
			[]wire.Turn{said("user", text("a")), said("assistant", text("b"))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"Continue."}]}]`,
		},
		"a refusal, and what others may read of what is opaque": {
			[]wire.Turn{said("assistant", wire.Part{Kind: wire.KindRefusal, Text: "no"}, wire.Part{Kind: wire.KindOpaque, Text: "note", Raw: []byte(`{"x":1}`)}, wire.Part{Kind: wire.KindOpaque, Raw: []byte(`{"x":1}`)}), said("user", text("b"))},
			`[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"},{"type":"output_text","text":"note"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`,
		},
		"a film of an older turn is a note": {
			[]wire.Turn{said("user", wire.Part{Kind: wire.KindVideo, Media: &wire.Media{MIME: "video/mp4", Data: "AA"}}), said("assistant", text("ok")), said("user", text("b"))},
			`[{"type":"message","role":"user","content":[{"type":"input_text","text":"` + wire.Note(wire.KindVideo) + `"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			writeAsk(t, &wire.Ask{API: wire.Messages, Turns: c.turns}, wire.Target{}).has("input", c.want)
		})
	}
}

func TestTheSystemIsInstructions(t *testing.T) {
	a := &wire.Ask{API: wire.Messages, System: []wire.Part{text("a"), text("b")}, Turns: []wire.Turn{said("user", text("x"))}}
	writeAsk(t, a, wire.Target{}).has("instructions", `"a\n\nb"`)
	a.Turns = nil
	w := writeAsk(t, a, wire.Target{})
	w.has("instructions", `"a"`)
	w.has("input", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`)
	a = &wire.Ask{API: wire.Chat, Turns: []wire.Turn{said("user", text("x"))}, Format: &wire.Format{}}
	writeAsk(t, a, wire.Target{}).has("instructions", `"Answer in JSON."`)
	a.Turns = []wire.Turn{said("user", text("as json"))}
	writeAsk(t, a, wire.Target{}).has("instructions", "")
}

func TestWhatIsAlwaysSaid(t *testing.T) {
	w := writeAsk(t, &wire.Ask{API: wire.Chat, Turns: []wire.Turn{said("user", text("x"))}}, wire.Target{})
	w.has("store", "false")
	w.has("stream", "true")
	w.has("include", `["reasoning.encrypted_content"]`)
	for _, none := range []string{"tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "instructions", "prompt_cache_key", "max_output_tokens"} {
		w.has(none, "")
	}
	writeAsk(t, &wire.Ask{API: wire.Chat, Turns: []wire.Turn{said("user", text("x"))}}, wire.Target{Model: "gpt-4.1"}).has("include", "")
}

func TestToolsAreWritten(t *testing.T) {
	yes := true
	a := &wire.Ask{API: wire.Chat, Turns: []wire.Turn{said("user", text("x"))}, OneCall: true, Tools: []wire.Tool{
		{Name: "loose", Description: "d", Schema: []byte(`{"type":"object","z":1,"a":2}`)},
		{Name: "strict", Strict: &yes},
		{Kind: wire.ToolFree, Name: "p", Grammar: &wire.Grammar{Syntax: "lark", Definition: "start: x"}},
		{Kind: wire.ToolHosted, Hosted: "code", Raw: []byte(`{"type":"code_execution"}`)},
		{Kind: wire.ToolHosted, Hosted: "web_search", Search: &wire.Search{Allowed: []string{"go.dev"}, Location: []byte(`{"type":"approximate"}`)}},
	}, Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "p"}}
	w := writeAsk(t, a, wire.Target{Dialect: wire.Dialect{Searches: []wire.Protocol{wire.Responses}}})
	w.has("tools", `[{"type":"function","name":"loose","description":"d","parameters":{"type":"object","z":1,"a":2,"properties":{}},"strict":false},
		{"type":"function","name":"strict","parameters":{"type":"object","properties":{}},"strict":true},
		{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
		{"type":"web_search","filters":{"allowed_domains":["go.dev"]},"user_location":{"type":"approximate"}}]`)
	w.has("tool_choice", `{"type":"custom","name":"p"}`)
	w.has("parallel_tool_calls", "false")
	w.loses("tools.code")
	if !strings.Contains(w.raw, `{"type":"object","z":1,"a":2,"properties":{}}`) {
		t.Error("a schema keeps the order of its keys")
	}

	w = writeAsk(t, a, wire.Target{Dialect: wire.Dialect{FunctionsOnly: true}})
	w.has("tool_choice", `{"type":"function","name":"p"}`)
	if !strings.Contains(w.raw, `"name":"p","description":"Input is raw text following this lark grammar:\nstart: x"`) && !strings.Contains(w.raw, `following this lark grammar`) {
		t.Errorf("a grammar is told in words: %s", w.raw)
	}
	w.loses("tools.code", "tools.web_search")

	a.Choice = wire.Choice{Mode: wire.ChoiceTool, Hosted: "web_search"}
	writeAsk(t, a, wire.Target{Dialect: wire.Dialect{Searches: []wire.Protocol{wire.Responses}}}).has("tool_choice", `{"type":"web_search"}`)
	writeAsk(t, a, wire.Target{}).has("tool_choice", `"auto"`)
	a.Choice = wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"strict", "p"}}
	writeAsk(t, a, wire.Target{}).has("tool_choice", `{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"strict"},{"type":"custom","name":"p"}]}`)
	w = writeAsk(t, a, wire.Target{Dialect: wire.Dialect{FunctionsOnly: true}})
	w.has("tool_choice", `"required"`)
	if strings.Contains(w.raw, "loose") {
		t.Error("a vendor that can't be told is offered only what is allowed")
	}
	a.Tools = a.Tools[3:4]
	w = writeAsk(t, a, wire.Target{})
	for _, none := range []string{"tools", "tool_choice", "parallel_tool_calls"} {
		w.has(none, "")
	}
}

func TestNamesThatAreTooLongAreShortenedAndRestored(t *testing.T) {
	name := strings.Repeat("n", 140)
	a := &wire.Ask{API: wire.Gemini, Turns: []wire.Turn{said("assistant", called("c", name, "{}"))}, Tools: []wire.Tool{{Name: name}}, Choice: wire.Choice{Mode: wire.ChoiceTool, Name: name}}
	w := writeAsk(t, a, wire.Target{})
	short := w.all["tools"].([]any)[0].(map[string]any)["name"].(string)
	if len(short) > 64 || w.all["tool_choice"].(map[string]any)["name"] != short || w.all["input"].([]any)[0].(map[string]any)["name"] != short {
		t.Errorf("%s", w.raw)
	}
	all := read(a, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"`+short+`"}}`)
	if all[1].Call.Name != name {
		t.Errorf("restored as %s", all[1].Call.Name)
	}
}

func TestSamplingIsLeftOutForModelsThatReason(t *testing.T) {
	k := int64(5)
	a := &wire.Ask{API: wire.Messages, Temperature: "0.5", TopP: "0.9", TopK: &k, Stop: []string{"END"}, Turns: []wire.Turn{said("user", text("x"))}}
	w := writeAsk(t, a, wire.Target{})
	w.has("temperature", "")
	w.has("top_p", "")
	w.loses("temperature", "top_p", "stop_sequences", "top_k")
	w = writeAsk(t, a, wire.Target{Model: "gpt-4.1"})
	w.has("temperature", "0.5")
	w.has("top_p", "0.9")
	a.Temperature, a.TopP = "1", ""
	writeAsk(t, a, wire.Target{}).loses("stop_sequences", "top_k")
}

func TestReasoningIsAskedFor(t *testing.T) {
	n, most := int64(8000), int64(-1)
	for name, c := range map[string]struct {
		ask  wire.Ask
		to   wire.Target
		want string
	}{
		"a level":                           {wire.Ask{API: wire.Responses, Effort: "high"}, wire.Target{}, `{"effort":"high"}`},
		"a level and a summary":             {wire.Ask{API: wire.Responses, Effort: "high", Show: wire.ShowSummary}, wire.Target{}, `{"effort":"high","summary":"auto"}`},
		"a budget":                          {wire.Ask{API: wire.Messages, Budget: &n}, wire.Target{}, `{"effort":"medium","summary":"auto"}`},
		"as much as the model likes":        {wire.Ask{API: wire.Messages, Budget: &most}, wire.Target{}, `{"summary":"auto"}`},
		"that, shown to nobody":             {wire.Ask{API: wire.Messages, Budget: &most, Show: wire.ShowNone}, wire.Target{}, ""},
		"Gemini's agents that ask for none": {wire.Ask{API: wire.Gemini, Effort: "high"}, wire.Target{}, `{"effort":"high"}`},
		"Claude Code that shows none":       {wire.Ask{API: wire.Messages, Effort: "high", Show: wire.ShowNone}, wire.Target{}, `{"effort":"high"}`},
		"a level that the model has not":    {wire.Ask{API: wire.Chat, Effort: "max", Show: wire.ShowNone}, wire.Target{Efforts: []string{"low", "high"}}, `{"effort":"high"}`},
		"none":                              {wire.Ask{API: wire.Gemini, Effort: "none", Show: wire.ShowSummary}, wire.Target{}, `{"effort":"none"}`},
		"a model that doesn't reason":       {wire.Ask{API: wire.Chat, Effort: "high"}, wire.Target{Efforts: []string{}}, ""},
		"nothing said":                      {wire.Ask{API: wire.Chat}, wire.Target{}, ""},
		"what only this API can say of it":  {wire.Ask{API: wire.Responses, Extra: []wire.Field{{Name: "reasoning.mode", Value: []byte(`"pro"`)}}}, wire.Target{}, `{"mode":"pro"}`},
		"what another API says is not said": {wire.Ask{API: wire.Chat, Extra: []wire.Field{{Name: "reasoning.mode", Value: []byte(`"pro"`)}}}, wire.Target{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.ask.Turns = []wire.Turn{said("user", text("x"))}
			writeAsk(t, &c.ask, c.to).has("reasoning", c.want)
		})
	}
}

func TestSettingsAreWritten(t *testing.T) {
	n, yes := int64(3), true
	a := &wire.Ask{
		API: wire.Chat, Turns: []wire.Turn{said("user", text("x"))}, Max: &n, Verbosity: "low", CacheKey: "k", Tier: "flex", User: strings.Repeat("u", 65), Metadata: []byte(`{"a":"b"}`), Store: &yes,
		Format: &wire.Format{Schema: []byte(`{"type":"object"}`), Strict: &yes}, Presence: "1", Frequency: "2", Seed: "3", Logprobs: &n, Extra: []wire.Field{{Name: "logit_bias", Value: []byte("{}")}},
	}
	w := writeAsk(t, a, wire.Target{Session: "s"})
	w.has("max_output_tokens", "16")
	w.has("text", `{"format":{"type":"json_schema","name":"response","schema":{"type":"object"},"strict":true},"verbosity":"low"}`)
	w.has("prompt_cache_key", `"k"`)
	w.has("service_tier", `"flex"`)
	w.has("metadata", `{"a":"b"}`)
	if got := w.all["safety_identifier"].(string); len(got) != 64 || strings.Contains(got, "u") {
		t.Errorf("a long user is hashed: %s", got)
	}
	w.loses("presence_penalty", "frequency_penalty", "seed", "logprobs", "store", "logit_bias")

	a.CacheKey = ""
	if got := writeAsk(t, a, wire.Target{Session: "s"}).all["prompt_cache_key"].(string); !strings.HasPrefix(got, "magpie-") {
		t.Errorf("a session makes a key: %s", got)
	}
	n = 90000
	w = writeAsk(t, a, wire.Target{Output: 32000, Dialect: wire.Dialect{Unsupported: []string{"store", "service_tier", "metadata", "verbosity", "safety_identifier", "include"}}})
	w.has("max_output_tokens", "32000")
	for _, none := range []string{"store", "service_tier", "metadata", "safety_identifier", "include"} {
		w.has(none, "")
	}
	n = 2
	a.N = 2
	if _, _, err := (Codec{}).WriteAsk(a, wire.Target{}); err == nil {
		t.Error("several replies at once can't be had")
	}
}

func TestAStoreOfItsOwnAPIIsKept(t *testing.T) {
	a := ask(t, `{"input":"x","store":true,"truncation":"auto","reasoning":{"context":"all_turns"}}`)
	w := writeAsk(t, a, wire.Target{})
	w.has("store", "true")
	w.has("truncation", `"auto"`)
	w.has("reasoning", `{"context":"all_turns"}`)
	w.loses()
}

func TestCacheBreakpointsGoWhereTheyAreRead(t *testing.T) {
	mark := func(s string) wire.Part { return wire.Part{Text: s, Cache: &wire.Cache{TTL: "1h"}} }
	a := &wire.Ask{API: wire.Messages, Turns: []wire.Turn{said("user", mark("1"), mark("2"), mark("3"), mark("4"), mark("5"))}}
	w := writeAsk(t, a, wire.Target{Dialect: wire.Dialect{CacheBreaks: []string{"gpt-6"}}})
	if n := strings.Count(w.raw, `"prompt_cache_breakpoint":{"mode":"explicit"}`); n != 4 || strings.Contains(w.raw, `"text":"1","prompt`) {
		t.Errorf("the last four count: %s", w.raw)
	}
	w = writeAsk(t, a, wire.Target{})
	w.loses("cache_control")
	if strings.Contains(w.raw, "breakpoint") {
		t.Error("others are not told")
	}
}

func TestWhatCannotBeCarriedIsRefused(t *testing.T) {
	for name, p := range map[string]wire.Part{
		"a film":                        {Kind: wire.KindVideo, Media: &wire.Media{MIME: "video/mp4", Data: "AA"}},
		"a sound of another kind":       {Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/flac", Data: "AA"}},
		"a file at another vendor":      {Kind: wire.KindFile, Media: &wire.Media{ID: "file_1"}},
		"an image stored by another":    image(wire.Media{ID: "file_1"}),
		"an image stored, and its type": image(wire.Media{ID: "file_1", MIME: "image/png"}),
	} {
		for _, inputs := range [][]string{nil, {"text", "image"}} { // what the model takes is known, or not
			_, _, err := Codec{}.WriteAsk(&wire.Ask{API: wire.Gemini, Turns: []wire.Turn{said("user", p)}}, wire.Target{Model: "gpt-6", Inputs: inputs})
			var f *wire.FieldRefusal
			want := "inlineData"
			if p.Media.ID != "" {
				want = "fileData"
			}
			if !errors.As(err, &f) || f.Field != want {
				t.Errorf("%s, of %v: %v", name, inputs, err)
			}
		}
	}
	w := writeAsk(t, &wire.Ask{API: wire.Messages, Turns: []wire.Turn{said("user", image(wire.Media{Data: "AA"}))}}, wire.Target{Inputs: []string{"text"}})
	w.loses("messages.image")
	if !strings.Contains(w.raw, wire.Note(wire.KindImage)) {
		t.Error("a model that reads no images gets a note")
	}
}

func TestBareReasoningGoesToThoseWhoWantIt(t *testing.T) {
	a := &wire.Ask{API: wire.Chat, Turns: []wire.Turn{said("assistant", wire.Part{Kind: wire.KindThinking, Text: "thought"}, text("b")), said("user", text("c"))}}
	w := writeAsk(t, a, wire.Target{Dialect: wire.Dialect{BareReasoning: true}})
	if !strings.Contains(w.raw, `{"type":"reasoning","summary":[{"type":"summary_text","text":"thought"}]}`) {
		t.Errorf("%s", w.raw)
	}
	w = writeAsk(t, a, wire.Target{})
	w.loses("reasoning of earlier turns")
	if strings.Contains(w.raw, "thought") {
		t.Error("OpenAI refuses what it didn't seal")
	}
	a.Turns[0].Parts[0].Seal = &wire.Seal{API: wire.Responses, Vendor: "xai", Data: "s"}
	if w = writeAsk(t, a, wire.Target{Dialect: wire.Dialect{Vendor: "openai"}}); strings.Contains(w.raw, "encrypted_content\":\"") {
		t.Error("another vendor's seal is not OpenAI's")
	}
}

func TestWritingIsDeterministicAndLeavesTheAskAlone(t *testing.T) {
	a := ask(t, codexAsk)
	before := turns(a)
	x, _, _ := Codec{}.WriteAsk(a, wire.Target{Model: "gpt-6"})
	y, _, _ := Codec{}.WriteAsk(a, wire.Target{Model: "gpt-6"})
	if string(x) != string(y) || turns(a) != before {
		t.Error("the same request gives the same bytes")
	}
}

// codexAsk is what Codex sends, in little.
const codexAsk = `{"model":"gpt-6-sol","stream":true,"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","parallel_tool_calls":false,"tool_choice":"auto",
"reasoning":{"effort":"medium","summary":"auto","context":"all_turns"},"text":{"verbosity":"low"},"client_metadata":{"a":"b"},
"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec","description":"Run.","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"function","name":"wait","parameters":{"type":"object"},"strict":false}]}]},
{"type":"message","role":"developer","id":"msg_1","content":[{"type":"input_text","text":"You are Codex."}]},
{"type":"message","role":"user","id":"msg_2","content":[{"type":"input_text","text":"env"}]},
{"type":"message","role":"user","id":"msg_3","content":[{"type":"input_text","text":"fix"}]},
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"content":null,"encrypted_content":"gAAAA"},
{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"exec","namespace":"functions","input":"ls()","status":"completed"},
{"type":"function_call","id":"fc_1","call_id":"c2","name":"wait","namespace":"functions","arguments":"{\"s\":1}"},
{"type":"local_shell_call","id":"lsh_1","call_id":"c3","action":{"type":"exec","command":["ls"],"env":{}},"status":"completed"},
{"type":"custom_tool_call_output","id":"ctco_1","call_id":"c1","output":[{"type":"input_text","text":"out"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"high"}]},
{"type":"function_call_output","id":"fco_1","call_id":"c2","output":"ok"},
{"type":"local_shell_call_output","id":"lsh_1","output":"{}"},
{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]},
{"type":"compaction","id":"cmp_1","encrypted_content":"sealed"},
{"type":"message","role":"user","content":[{"type":"input_text","text":"more"},{"type":"made_up","x":1}]}],
"tools":[{"type":"local_shell"},{"type":"mcp","server_label":"s","server_url":"https://x"}]}`

func TestItsOwnRequestsComeBackAsTheyWere(t *testing.T) {
	a := ask(t, codexAsk)
	b, lost, err := Codec{}.WriteAsk(a, wire.Target{Model: a.Model, Dialect: wire.Dialect{Vendor: "openai"}})
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	again := ask(t, string(b))
	if got, want := turns(again), turns(a); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if !reflect.DeepEqual(again.Extra, a.Extra) || again.Effort != a.Effort || again.Show != a.Show || again.CacheKey != a.CacheKey || !again.OneCall {
		t.Errorf("got %+v\nwant %+v", again, a)
	}
	if len(again.Tools) != len(a.Tools) {
		t.Fatalf("tools %+v", again.Tools)
	}
	names := map[string]bool{}
	for _, x := range again.Tools {
		names[x.Name+"/"+x.Namespace+"/"+x.Built+"/"+x.Hosted] = true
	}
	for _, x := range a.Tools {
		if !names[x.Name+"/"+x.Namespace+"/"+x.Built+"/"+x.Hosted] {
			t.Errorf("tool %+v is lost", x)
		}
	}
	for _, want := range []string{`{"type":"local_shell_call","id":"lsh_1"`, `{"type":"compaction","id":"cmp_1","encrypted_content":"sealed"}`, `{"type":"made_up","x":1}`, `"name":"exec","namespace":"functions"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
	twice, _, _ := Codec{}.WriteAsk(again, wire.Target{Model: a.Model})
	if string(twice) != string(b) {
		t.Errorf("written, read and written again:\n%s\n%s", b, twice)
	}
}

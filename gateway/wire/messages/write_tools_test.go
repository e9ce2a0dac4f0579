package messages

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

func function(name string) wire.Tool {
	return wire.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}
}

func TestToolsAreWritten(t *testing.T) {
	search := &wire.Search{Allowed: []string{"go.dev"}, Blocked: []string{"x"}, Location: json.RawMessage(`{"type":"approximate","country":"DE"}`)}
	for name, c := range map[string]struct {
		tool    wire.Tool
		dialect wire.Dialect
		want    string
	}{
		"a function": {
			wire.Tool{Name: "f", Description: "D.", Schema: json.RawMessage(`{"type":"object","properties":{"b":{},"a":{}}}`)},
			wire.Dialect{},
			`{"name":"f","description":"D.","input_schema":{"type":"object","properties":{"b":{},"a":{}}}}`,
		},
		"a strict one": {
			wire.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object"}`), Strict: ptr(true)},
			wire.Dialect{},
			`{"name":"f","input_schema":{"type":"object"},"strict":true}`,
		},
		"one that takes nothing": {wire.Tool{Name: "f"}, wire.Dialect{}, `{"name":"f","input_schema":{"type":"object","properties":{}}}`},
		"a freeform one is a function with one text": {
			wire.Tool{Kind: wire.ToolFree, Name: "patch", Description: "P.", Grammar: &wire.Grammar{Syntax: "lark", Definition: "start: x"}},
			wire.Dialect{},
			`{"name":"patch","description":"P.\n\nInput is raw text following this lark grammar:\nstart: x","input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}`,
		},
		"a web search, where the vendor has one": {
			wire.Tool{Kind: wire.ToolHosted, Hosted: "web_search", Search: search},
			wire.Dialect{Searches: []wire.Protocol{wire.Messages}},
			`{"type":"web_search_20250305","name":"web_search","allowed_domains":["go.dev"],"user_location":{"type":"approximate","country":"DE"}}`,
		},
		"a web search, where it has none": {wire.Tool{Kind: wire.ToolHosted, Hosted: "web_search", Search: search}, wire.Dialect{}, ""},
		"what another vendor runs":        {wire.Tool{Kind: wire.ToolHosted, Hosted: "image"}, wire.Dialect{Searches: []wire.Protocol{wire.Messages}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Responses)
			a.Tools = []wire.Tool{c.tool}
			a.System = []wire.Part{{Text: "s", Cache: &wire.Cache{}}} // else we set breakpoints
			body, lost := writeLost(t, a, wire.Target{Model: "claude-opus-5-5", Dialect: c.dialect})
			check(t, body, map[string]string{"tools.0": c.want})
			if (c.want == "") != slices.Contains(lost, "tools."+c.tool.Hosted) {
				t.Errorf("lost %q", lost)
			}
		})
	}
}

func TestOfTwoToolsOfOneNameTheFirstCounts(t *testing.T) {
	a := from(wire.Responses)
	a.Tools = []wire.Tool{{Name: "f", Description: "first"}, {Name: "f", Description: "second"}, function("g")}
	body := write(t, a, wire.Target{Model: "claude-opus-5-5"})
	check(t, body, map[string]string{"tools.0.description": `"first"`, "tools.1.name": `"g"`, "tools.2": ""})
}

func TestItsOwnToolsGoBackAsTheyCame(t *testing.T) {
	const raw = `{"type":"bash_20250124","name":"bash","x":[1]}`
	a := mustRead(t, `{"messages":[{"role":"user","content":"a"}],"tools":[`+raw+`]}`)
	check(t, write(t, a, wire.Target{Model: "claude-opus-5-5"}), map[string]string{"tools.0": raw})
}

func TestTheChoiceOfTools(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		choice wire.Choice
		one    bool
		effort string
		want   string
		lost   bool
	}{
		"auto":                                {"claude-opus-5-5", wire.Choice{Mode: wire.ChoiceAuto}, false, "", `{"type":"auto"}`, false},
		"not said":                            {"claude-opus-5-5", wire.Choice{}, false, "", "", false},
		"one at a time":                       {"claude-opus-5-5", wire.Choice{}, true, "", `{"type":"auto","disable_parallel_tool_use":true}`, false},
		"none, and the tools stay":            {"claude-opus-5-5", wire.Choice{Mode: wire.ChoiceNone}, true, "", `{"type":"none"}`, false},
		"required":                            {"claude-opus-5", wire.Choice{Mode: wire.ChoiceRequired}, false, "", `{"type":"any"}`, false},
		"the one that is named, one a time":   {"claude-opus-5", wire.Choice{Mode: wire.ChoiceTool, Name: "f"}, true, "", `{"type":"tool","name":"f","disable_parallel_tool_use":true}`, false},
		"Opus 5.5 can't be forced":            {"claude-opus-5-5", wire.Choice{Mode: wire.ChoiceRequired}, false, "", `{"type":"auto"}`, true},
		"Sonnet 5.5 can't be forced":          {"claude-sonnet-5-5", wire.Choice{Mode: wire.ChoiceTool, Name: "f"}, false, "", `{"type":"auto"}`, true},
		"Fable 5.1 can't be forced":           {"claude-fable-5-1", wire.Choice{Mode: wire.ChoiceRequired}, false, "", `{"type":"auto"}`, true},
		"Fable 5 can":                         {"claude-fable-5", wire.Choice{Mode: wire.ChoiceRequired}, false, "", `{"type":"any"}`, false},
		"not while it thinks":                 {"claude-opus-4-5", wire.Choice{Mode: wire.ChoiceRequired}, false, "high", `{"type":"auto"}`, true},
		"another maker's model can":           {"glm-5.3", wire.Choice{Mode: wire.ChoiceRequired}, false, "high", `{"type":"any"}`, false},
		"a tool that is left out":             {"claude-opus-5", wire.Choice{Mode: wire.ChoiceTool, Hosted: "image"}, false, "", `{"type":"auto"}`, true},
		"a list of those that may be called":  {"claude-opus-5", wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"g"}}, false, "", `{"type":"any"}`, false},
		"none of those that may be is a tool": {"claude-opus-5", wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{}}, true, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Chat)
			a.Tools = []wire.Tool{function("f"), function("g")}
			a.Choice, a.OneCall, a.Effort = c.choice, c.one, c.effort
			body, lost := writeLost(t, a, wire.Target{Model: c.model})
			check(t, body, map[string]string{"tool_choice": c.want})
			if slices.Contains(lost, "tool_choice") != c.lost {
				t.Errorf("lost %q", lost)
			}
			if n := len(c.choice.Allowed); c.choice.Allowed != nil && (at(t, body, "tools.0.name") == `"f"` || (n == 0) != (at(t, body, "tools") == "")) {
				t.Errorf("tools: %s", at(t, body, "tools"))
			}
		})
	}
}

func TestAToolsSchemaIsAnObjectAtItsRoot(t *testing.T) {
	for in, want := range map[string]string{
		``:                  `{"type":"object","properties":{}}`,
		`null`:              `{"type":"object","properties":{}}`,
		`{ }`:               `{"type":"object","properties":{}}`,
		`{"type":"object"}`: `{"type":"object"}`,
		`{"$schema":"x","type":"object","properties":{"n":{"type":"number","minimum":0.10}}}`: `{"$schema":"x","type":"object","properties":{"n":{"type":"number","minimum":0.10}}}`,
		`{"properties":{"a":{}}}`:                                    `{"type":"object","properties":{"a":{}}}`,
		`{"type":["object","null"],"properties":{"a":{}}}`:           `{"type":"object","properties":{"a":{}}}`,
		`{"type":"object","properties":{"oneOf":{"type":"string"}}}`: `{"type":"object","properties":{"oneOf":{"type":"string"}}}`,
		`{"oneOf":[{"properties":{"a":{},"b":{}},"required":["a","b"]},{"properties":{"b":{},"c":{}},"required":["b","c"]}],"description":"D"}`://
		`{"type":"object","properties":{"a":{},"b":{},"c":{}},"required":["b"],"description":"D"}`,
		`{"type":"object","properties":{"x":{}},"required":["x"],"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}}}]}`://
		`{"type":"object","properties":{"x":{},"a":{},"b":{}},"required":["x","a"]}`,
	} {
		if got := string(toolSchema(json.RawMessage(in))); got != want {
			t.Errorf("%s:\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestStructuredOutput(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"description":"N."},"l":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"object","properties":{"minimum":{"type":"string"}}}},"u":{"oneOf":[{"type":"string","maxLength":5},{"$ref":"#/$defs/d"}]}},"required":["n"],"$defs":{"d":{"type":"object","properties":{}}}}`)
	const closed = `{"type":"object","properties":{"n":{"type":"integer","description":"N.\nminimum: 1"},"l":{"type":"array","minItems":1,"items":{"type":"object","properties":{"minimum":{"type":"string"}},"additionalProperties":false},"description":"maxItems: 3"},"u":{"anyOf":[{"type":"string","description":"maxLength: 5"},{"$ref":"#/$defs/d"}]}},"required":["n"],"$defs":{"d":{"type":"object","properties":{},"additionalProperties":false}},"additionalProperties":false}`
	loop := json.RawMessage(`{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`)
	for name, c := range map[string]struct {
		model   string
		dialect wire.Dialect
		format  wire.Format
		field   string
		words   string
	}{
		"by the API's own field":                      {"claude-opus-4-5", wire.Dialect{}, wire.Format{Schema: schema}, `{"type":"json_schema","schema":` + closed + `}`, ""},
		"in words to older models":                    {"claude-opus-4-1", wire.Dialect{}, wire.Format{Schema: schema}, "", "JSON Schema"},
		"in words to a vendor without the field":      {"claude-opus-4-5", wire.Dialect{Unsupported: []string{"output_config"}}, wire.Format{Schema: schema}, "", "JSON Schema"},
		"in words to another maker's model":           {"MiniMax-M3", wire.Dialect{}, wire.Format{Schema: schema}, "", "JSON Schema"},
		"in words for a schema that refers to itself": {"claude-opus-4-5", wire.Dialect{}, wire.Format{Schema: loop}, "", "JSON Schema"},
		"any JSON object is asked for in words":       {"claude-opus-4-5", wire.Dialect{}, wire.Format{}, "", "JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Chat, user(said("hi")), spoke(said("{")))
			a.System = []wire.Part{said("Be kind.")}
			a.Format = &c.format
			body := write(t, a, wire.Target{Model: c.model, Dialect: c.dialect})
			check(t, body, map[string]string{"output_config.format": c.field})
			if words := at(t, body, "system.1.text"); (c.words != "") != (words != "") || !strings.Contains(words, c.words) {
				t.Errorf("system: %s", at(t, body, "system"))
			}
			if last := at(t, body, "messages.2.content.0.text"); c.field != "" && last != `"Continue."` {
				t.Errorf("it can't stand beside an answer that is begun: got %s", last)
			}
		})
	}
	own := from(wire.Messages)
	own.Format = &wire.Format{Schema: schema}
	check(t, write(t, own, wire.Target{Model: "claude-opus-4-5"}), map[string]string{"output_config.format.schema": string(schema)})
}

// breaks lists where breakpoints stand in a body.
func breaks(t *testing.T, body []byte) string {
	t.Helper()
	var out []string
	v := wire.Value(body)
	note := func(where string, v wire.Value) {
		if c := v.Get("cache_control"); !c.None() {
			out = append(out, where+c.Get("ttl").Text())
		}
	}
	v.Get("tools").Elements(func(e wire.Value) { note("tool:"+e.Get("name").Text(), e) })
	v.Get("system").Elements(func(e wire.Value) { note("system:"+e.Get("text").Text(), e) })
	v.Get("messages").Elements(func(m wire.Value) {
		m.Get("content").Elements(func(e wire.Value) {
			note(e.Get("type").Text()+":"+e.Get("text").Text()+e.Get("tool_use_id").Text(), e)
		})
	})
	return strings.Join(out, " ")
}

func TestBreakpointsOfTheCache(t *testing.T) {
	mark := &wire.Cache{}
	marked := func(text string) wire.Part { return wire.Part{Text: text, Cache: mark} }
	talk := []wire.Turn{
		user(said("a")), spoke(said("b")), user(said("c")), spoke(called("1", "f", "")), user(gave("1", said("x"))),
	}
	for name, c := range map[string]struct {
		api    wire.Protocol
		auto   bool
		system []wire.Part
		tool   *wire.Cache
		turns  []wire.Turn
		want   string
	}{
		"are set for a client that knows none": {wire.Responses, false, []wire.Part{said("s1"), said("s2")}, nil, talk, "tool:f system:s2 text:c tool_result:1"},
		"are not set for one that does":        {wire.Messages, false, []wire.Part{said("s")}, nil, talk, ""},
		"stay where the client set them": {
			wire.Chat, false, []wire.Part{{Text: "s", Cache: &wire.Cache{TTL: "1h"}}}, mark, []wire.Turn{user(marked("a"), said("b"))}, "tool:f system:s1h text:a",
		},
		"are four, those of the conversation's beginning go": {
			wire.Chat, false,
			[]wire.Part{marked("s")},
			mark,
			[]wire.Turn{user(marked("a")), spoke(marked("b")), user(marked("c"))},
			"tool:f system:s text:b text:c",
		},
		"are three beside the automatic one": {
			wire.Messages, true, []wire.Part{marked("s")}, mark, []wire.Turn{user(marked("a")), spoke(marked("b")), user(marked("c"))}, "tool:f system:s text:c",
		},
		"go from what is inside of a result to it": {
			wire.Chat, false, nil, nil, []wire.Turn{user(said("a")), spoke(called("1", "f", "")), user(gave("1", marked("x")))}, "tool_result:1",
		},
		"go from what is left out to what stands before it": {
			wire.Chat, false, nil, nil, []wire.Turn{user(said("a"), wire.Part{Text: " ", Cache: mark})}, "text:a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(c.api, c.turns...)
			a.System, a.AutoCache = c.system, c.auto
			tool := function("f")
			tool.Cache = c.tool
			a.Tools = []wire.Tool{tool}
			body := write(t, a, wire.Target{Model: "claude-opus-5-5"})
			if got := breaks(t, body); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if (at(t, body, "cache_control") != "") != c.auto {
				t.Error("the automatic one is kept")
			}
			none := write(t, a, wire.Target{Model: "x", Dialect: wire.Dialect{Unsupported: []string{"cache_control"}}})
			if got := breaks(t, none); got != "" {
				t.Errorf("a vendor that takes none gets none: %s", got)
			}
		})
	}
}

func TestWhatTheAPICanNotSayIsTold(t *testing.T) {
	a := from(wire.Chat)
	a.Presence, a.Frequency, a.Seed, a.Logprobs = "1", "1", "7", ptr(int64(0))
	a.Metadata, a.Store, a.Verbosity, a.CacheKey, a.Tier = json.RawMessage(`{}`), ptr(true), "low", "k", "priority"
	a.Stop = []string{"END", " \n"}
	a.Extra = []wire.Field{{Name: "logit_bias", Value: json.RawMessage(`{}`)}}
	a.User = "u-9"
	body, lost := writeLost(t, a, wire.Target{Model: "claude-opus-5-5"})
	want := []string{"presence_penalty", "frequency_penalty", "seed", "logprobs", "metadata", "store", "verbosity", "prompt_cache_key", "service_tier", "stop", "logit_bias"}
	if !slices.Equal(lost, want) {
		t.Errorf("\n got %q\nwant %q", lost, want)
	}
	check(t, body, map[string]string{"stop_sequences": `["END"]`, "metadata": `{"user_id":"u-9"}`, "service_tier": "", "speed": "", "seed": "", "logit_bias": ""})
}

func TestTiers(t *testing.T) {
	for tier, want := range map[string]string{"auto": `"auto"`, "default": `"standard_only"`, "flex": "", "priority": "", "": ""} {
		a := from(wire.Chat)
		a.Tier = tier
		check(t, write(t, a, wire.Target{Model: "claude-opus-5-5"}), map[string]string{"service_tier": want})
	}
}

func TestSeveralRepliesAtOnceAreRefused(t *testing.T) {
	a := from(wire.Chat)
	a.N = 2
	if _, _, err := (Codec{}).WriteAsk(a, wire.Target{Model: "claude-opus-5-5"}); err == nil {
		t.Error("n: 2 can't be had")
	}
}

func TestFieldsThatAVendorRefusesStayOut(t *testing.T) {
	a := from(wire.Chat)
	a.Tools, a.Choice = []wire.Tool{function("f")}, wire.Choice{Mode: wire.ChoiceAuto}
	a.Temperature, a.TopK, a.User, a.Tier, a.Effort = "0.5", ptr(int64(3)), "u", "auto", "high"
	d := wire.Dialect{Unsupported: []string{"tool_choice", "temperature", "top_k", "metadata", "service_tier", "thinking"}}
	body := write(t, a, wire.Target{Model: "glm-5.3", Dialect: d})
	plain := wire.Dialect{Unsupported: []string{"output_config", "thinking.display"}}
	check(t, write(t, a, wire.Target{Model: "claude-opus-5-5", Dialect: plain}), map[string]string{"thinking": `{"type":"adaptive"}`, "output_config": ""})
	check(t, body, map[string]string{"tool_choice": "", "temperature": "", "top_k": "", "metadata": "", "service_tier": "", "thinking": "", "tools.0.name": `"f"`})
}

func TestTheSameRequestIsTheSameBytes(t *testing.T) {
	a := mustRead(t, longBody(20))
	first := string(write(t, a, wire.Target{Model: "claude-opus-4-5"}))
	for range 5 {
		if string(write(t, a, wire.Target{Model: "claude-opus-4-5"})) != first {
			t.Fatal("other bytes for the same request")
		}
	}
}

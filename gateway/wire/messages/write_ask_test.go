package messages

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// at is what stands at a path of a body: "messages.0.content"; "" when there is nothing.
func at(t *testing.T, body []byte, path string) string {
	t.Helper()
	v, err := wire.ReadValue(body)
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, body)
	}
	for step := range strings.SplitSeq(path, ".") {
		n, err := strconv.Atoi(step)
		if err != nil {
			v = v.Get(step)
			continue
		}
		var found wire.Value
		i := 0
		v.Elements(func(e wire.Value) {
			if i == n {
				found = e
			}
			i++
		})
		v = found
	}
	return string(v)
}

func write(t *testing.T, a *wire.Ask, target wire.Target) []byte {
	t.Helper()
	body, _ := writeLost(t, a, target)
	return body
}

func writeLost(t *testing.T, a *wire.Ask, target wire.Target) ([]byte, []string) {
	t.Helper()
	body, lost, err := Codec{}.WriteAsk(a, target)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(body) {
		t.Fatalf("no JSON: %s", body)
	}
	words := make([]string, 0, len(lost))
	for _, l := range lost {
		words = append(words, l.What)
	}
	return body, words
}

// check compares what stands at some paths; "" = nothing does.
func check(t *testing.T, body []byte, want map[string]string) {
	t.Helper()
	for path, w := range want {
		if got := at(t, body, path); got != w {
			t.Errorf("%s:\n got %s\nwant %s", path, got, w)
		}
	}
}

func user(parts ...wire.Part) wire.Turn { return wire.Turn{Role: wire.RoleUser, Parts: parts} }
func spoke(parts ...wire.Part) wire.Turn {
	return wire.Turn{Role: wire.RoleAssistant, Parts: parts}
}
func said(text string) wire.Part { return wire.Part{Text: text} }
func called(id, name, args string) wire.Part {
	return wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func gave(id string, parts ...wire.Part) wire.Part {
	return wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: id, Parts: parts}}
}

// from is a request of a Chat client, unless an API is given.
func from(api wire.Protocol, turns ...wire.Turn) *wire.Ask {
	if len(turns) == 0 {
		turns = []wire.Turn{user(said("hi"))}
	}
	return &wire.Ask{API: api, Turns: turns}
}

func TestMaxTokensIsAlwaysSaid(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		output int
		max    *int64
		want   string
	}{
		"what was asked for":                    {"claude-opus-5-5", 0, ptr(int64(77)), "77"},
		"the model's own most, where known":     {"claude-opus-5-5", 9000, nil, "9000"},
		"128k of 5.x":                           {"claude-opus-5-5", 0, nil, "128000"},
		"128k of 4.6":                           {"claude-sonnet-4-6", 0, nil, "128000"},
		"64k of 4.5":                            {"claude-haiku-4-5-20251001", 0, nil, "64000"},
		"8192 of all others":                    {"glm-5.3", 0, nil, "8192"},
		"0 counts as not said":                  {"claude-haiku-4-5", 0, ptr(int64(0)), "64000"},
		"more than the model has is its most":   {"claude-haiku-4-5", 5000, ptr(int64(9000)), "5000"},
		"an id with dots and a maker before it": {"anthropic/claude-opus-4.5", 0, nil, "64000"},
		"an id of Bedrock":                      {"us.anthropic.claude-sonnet-4-5-20250929-v1:0", 0, nil, "64000"},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Chat)
			a.Max = c.max
			check(t, write(t, a, wire.Target{Model: c.model, Output: c.output}), map[string]string{"max_tokens": c.want, "stream": "true"})
		})
	}
}

func TestSamplingGoesOnlyToModelsThatTakeIt(t *testing.T) {
	for name, c := range map[string]struct {
		model                 string
		effort                string
		temp, topP            json.Number
		wantTemp, wantTopP, k string
		lost                  []string
	}{
		"none to Claude 5":                       {"claude-opus-5-5", "", "0.3", "0.9", "", "", "", []string{"temperature", "top_p", "top_k"}},
		"none to 4.7":                            {"claude-opus-4-7", "", "0.3", "", "", "", "", []string{"temperature", "top_k"}},
		"none to a Claude that nobody knows":     {"claude-next", "", "0.3", "", "", "", "", []string{"temperature", "top_k"}},
		"temperature, not top_p beside it":       {"claude-opus-4-5", "", "0.30", "0.9", "0.30", "", "5", []string{"top_p"}},
		"top_p alone":                            {"claude-opus-4-5", "", "", "0.9", "", "0.9", "5", nil},
		"temperature up to 1":                    {"claude-opus-4-5", "", "1.5", "", "1", "", "5", []string{"temperature"}},
		"none while it thinks":                   {"claude-opus-4-5", "high", "0.3", "", "", "", "", []string{"temperature", "top_k"}},
		"another maker's model takes it as well": {"glm-5.3", "", "0.3", "", "0.3", "", "5", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Chat)
			a.Temperature, a.TopP, a.TopK, a.Effort = c.temp, c.topP, ptr(int64(5)), c.effort
			body, lost := writeLost(t, a, wire.Target{Model: c.model})
			check(t, body, map[string]string{"temperature": c.wantTemp, "top_p": c.wantTopP, "top_k": c.k})
			if !slices.Equal(lost, c.lost) {
				t.Errorf("lost %q, want %q", lost, c.lost)
			}
		})
	}
}

func TestEffortIsAskedForAsTheModelTakesIt(t *testing.T) {
	const omitted = "-"
	for name, c := range map[string]struct {
		model, effort    string
		efforts          []string
		thinking, config string
		max              string
	}{
		"a level of 5.5":                        {"claude-opus-5-5", "medium", nil, `{"type":"adaptive","display":"summarized"}`, `{"effort":"medium"}`, omitted},
		"minimal is low":                        {"claude-opus-5-5", "minimal", nil, `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`, omitted},
		"xhigh of 4.7":                          {"claude-opus-4-7", "xhigh", nil, `{"type":"adaptive","display":"summarized"}`, `{"effort":"xhigh"}`, omitted},
		"xhigh is high on 4.6":                  {"claude-opus-4-6", "xhigh", nil, `{"type":"adaptive","display":"summarized"}`, `{"effort":"high"}`, omitted},
		"max":                                   {"claude-opus-4-6", "max", nil, `{"type":"adaptive","display":"summarized"}`, `{"effort":"max"}`, omitted},
		"the nearest lower that the model has":  {"claude-opus-5-5", "max", []string{"low", "high"}, `{"type":"adaptive","display":"summarized"}`, `{"effort":"high"}`, omitted},
		"a budget of 4.5":                       {"claude-opus-4-5", "medium", nil, `{"type":"enabled","budget_tokens":8192}`, "", omitted},
		"low is the least budget":               {"claude-sonnet-4-5", "low", nil, `{"type":"enabled","budget_tokens":1024}`, "", omitted},
		"xhigh as a budget":                     {"claude-sonnet-4-5", "xhigh", nil, `{"type":"enabled","budget_tokens":32768}`, "", omitted},
		"max as a budget, below all output":     {"claude-sonnet-4-5", "max", nil, `{"type":"enabled","budget_tokens":63999}`, "", "64000"},
		"none where it can be switched off":     {"claude-opus-4-7", "none", nil, `{"type":"disabled"}`, "", omitted},
		"none of Sonnet 5.5 is between tools":   {"claude-sonnet-5-5", "none", nil, `{"type":"between_tools"}`, "", omitted},
		"none of what always thinks is the low": {"claude-opus-5-5", "none", nil, "", `{"effort":"low"}`, omitted},
		"none of 4.5 is nothing":                {"claude-opus-4-5", "none", nil, "", "", omitted},
		"none of Fable":                         {"claude-fable-5-1", "none", nil, "", `{"effort":"low"}`, omitted},
		"of what doesn't reason":                {"claude-3-5-sonnet-20241022", "high", nil, "", "", omitted},
		"of another maker's model":              {"kimi-k3", "high", nil, `{"type":"enabled","budget_tokens":24576}`, "", omitted},
		"nothing asked, nothing said":           {"claude-opus-5-5", "", nil, "", "", omitted},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Chat)
			a.Effort = c.effort
			body := write(t, a, wire.Target{Model: c.model, Efforts: c.efforts})
			check(t, body, map[string]string{"thinking": c.thinking, "output_config": c.config})
			if c.max != omitted {
				check(t, body, map[string]string{"max_tokens": c.max})
			}
		})
	}
}

func TestABudgetLeavesRoomForTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		budget, max    int64
		model          string
		output         int
		want, wantMost string
	}{
		"one that fits":                 {4096, 8000, "claude-opus-4-5", 0, "4096", "8000"},
		"one that is too small":         {10, 8000, "claude-opus-4-5", 0, "1024", "8000"},
		"one as large as all output":    {8000, 8000, "claude-opus-4-5", 0, "8000", "16000"},
		"one that the model has not":    {90000, 8000, "claude-opus-4-5", 0, "32000", "64000"},
		"one beyond the catalogue's":    {9000, 2000, "glm-5.3", 8000, "4000", "8000"},
		"one of a most that none knows": {9000, 2000, "glm-5.3", 0, "9000", "11000"},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Gemini)
			a.Budget, a.Max = &c.budget, &c.max
			check(t, write(t, a, wire.Target{Model: c.model, Output: c.output}), map[string]string{
				"thinking.budget_tokens": c.want, "max_tokens": c.wantMost,
			})
		})
	}
}

func TestThinkingIsShownToClientsThatShowIt(t *testing.T) {
	for name, c := range map[string]struct {
		api  wire.Protocol
		show wire.Show
		want string
	}{
		"a summary that Responses asks for":   {wire.Responses, wire.ShowSummary, `{"type":"adaptive","display":"summarized"}`},
		"Responses without one":               {wire.Responses, wire.ShowUnsaid, `{"type":"adaptive"}`},
		"Chat shows what comes":               {wire.Chat, wire.ShowUnsaid, `{"type":"adaptive","display":"summarized"}`},
		"Gemini that wants no thoughts":       {wire.Gemini, wire.ShowNone, `{"type":"adaptive"}`},
		"Messages says it itself":             {wire.Messages, wire.ShowNone, `{"type":"adaptive","display":"omitted"}`},
		"Messages that wants updates":         {wire.Messages, wire.ShowUpdates, `{"type":"adaptive","display":"updates"}`},
		"Messages that says nothing about it": {wire.Messages, wire.ShowUnsaid, `{"type":"adaptive"}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(c.api)
			a.Effort, a.Show = "high", c.show
			if c.api == wire.Messages {
				a.Budget = ptr(int64(-1))
			}
			check(t, write(t, a, wire.Target{Model: "claude-opus-5-5"}), map[string]string{"thinking": c.want})
		})
	}
}

func TestThinkingIsOffWhereItsBeginningIsLost(t *testing.T) {
	loop := []wire.Turn{user(said("go")), spoke(called("1", "ls", "{}")), user(gave("1", said("a")))}
	a := from(wire.Chat, loop...)
	a.Effort = "high"
	body, lost := writeLost(t, a, wire.Target{Model: "claude-opus-4-5"})
	check(t, body, map[string]string{"thinking": ""})
	if len(lost) == 0 {
		t.Error("it is told")
	}
	check(t, write(t, a, wire.Target{Model: "claude-opus-5-5"}), map[string]string{"thinking.type": `"adaptive"`})
	sealed := wire.Part{Kind: wire.KindThinking, Text: "hm", Seal: &wire.Seal{API: wire.Messages, Data: "EqQ"}}
	a = from(wire.Chat, user(said("go")), spoke(sealed, called("1", "ls", "{}")), user(gave("1", said("a"))))
	a.Effort = "high"
	check(t, write(t, a, wire.Target{Model: "claude-opus-4-5"}), map[string]string{"thinking.type": `"enabled"`})
}

func TestTurnsComeOutAsTheAPIDemands(t *testing.T) {
	for name, c := range map[string]struct {
		model  string
		system []wire.Part
		turns  []wire.Turn
		want   string
	}{
		"results first, then what the user says": {
			"claude-opus-5-5", nil,
			[]wire.Turn{user(said("go")), spoke(called("1", "ls", ""), called("2", "pwd", "")), user(said("and?"), gave("2", said("b")), gave("1", said("a")))},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"ls","input":{}},{"type":"tool_use","id":"2","name":"pwd","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"b"},{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"text","text":"and?"}]}]`,
		},
		"nothing that is empty or blank": {
			"claude-opus-5-5",
			[]wire.Part{said(" ")},
			[]wire.Turn{user(said("go"), said("")), spoke(said("\n"), called("1", "ls", "")), user(gave("1")), spoke(said(" ")), user(said("x"))},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"ls","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"text","text":"x"}]}]`,
		},
		"an error that says nothing says so": {
			"claude-opus-5-5", nil,
			[]wire.Turn{user(said("go")), spoke(called("1", "ls", "")), user(wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: "1", Error: true}})},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"ls","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"Error","is_error":true}]}]`,
		},
		"a user speaks first": {
			"claude-opus-5-5", nil,
			[]wire.Turn{spoke(said("hello")), user(said("hi"))},
			`[{"role":"user","content":[{"type":"text","text":"…"}]},{"role":"assistant","content":[{"type":"text","text":"hello"}]},{"role":"user","content":[{"type":"text","text":"hi"}]}]`,
		},
		"of a system prompt alone the last is what the user says": {
			"claude-opus-5-5",
			[]wire.Part{said("a"), said("b")},
			[]wire.Turn{},
			`[{"role":"user","content":[{"type":"text","text":"b"}]}]`,
		},
		"an answer that is begun is gone on with by older models": {
			"claude-opus-4-5", nil,
			[]wire.Turn{user(said("go")), spoke(said("{ "))},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"{"}]}]`,
		},
		"newer models are told to go on": {
			"claude-opus-4-6", nil,
			[]wire.Turn{user(said("go")), spoke(said("{"))},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"{"}]},{"role":"user","content":[{"type":"text","text":"Continue."}]}]`,
		},
		"a refusal is text": {
			"claude-opus-5-5", nil,
			[]wire.Turn{user(said("go")), spoke(wire.Part{Kind: wire.KindRefusal, Text: "No."}), user(said("why"))},
			`[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"No."}]},{"role":"user","content":[{"type":"text","text":"why"}]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Messages, c.turns...)
			a.Turns, a.System = c.turns, c.system
			check(t, write(t, a, wire.Target{Model: c.model}), map[string]string{"messages": c.want})
		})
	}
}

func TestArgumentsAreAnObject(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, `""`: `{}`, `null`: `{}`, `{}`: `{}`, `{"a":1.50}`: `{"a":1.50}`,
		`[1]`: `{"input":"[1]"}`, `"x"`: `{"input":"\"x\""}`, `{"a":`: `{"input":"{\"a\":"}`, `ls -l`: `{"input":"ls -l"}`,
	} {
		if got := string(objectArgs(json.RawMessage(in))); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	free := wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: "1", Name: "patch", Input: "a\"b", Free: true}}
	body := write(t, from(wire.Responses, user(said("go")), spoke(free)), wire.Target{Model: "claude-opus-5-5"})
	check(t, body, map[string]string{"messages.1.content.0.input": `{"input":"a\"b"}`})
}

func TestIDsAndNamesAreMadeToFit(t *testing.T) {
	name := "a.b"
	sent := wire.MessagesNames.Name(name)
	a := from(wire.Gemini, user(said("go")), spoke(called("functions.ls:0", name, "{}")), user(gave("functions.ls:0", said("x"))))
	a.Tools = []wire.Tool{{Name: name}}
	a.Choice = wire.Choice{Mode: wire.ChoiceTool, Name: name}
	body := write(t, a, wire.Target{Model: "claude-opus-4-5"})
	id := at(t, body, "messages.1.content.0.id")
	check(t, body, map[string]string{
		"messages.2.content.0.tool_use_id": id, "messages.1.content.0.name": `"` + sent + `"`,
		"tools.0.name": `"` + sent + `"`, "tool_choice.name": `"` + sent + `"`,
	})
	if !strings.HasPrefix(id, `"toolu_`) {
		t.Errorf("got id %s", id)
	}
}

func TestTheSystemBetweenTurns(t *testing.T) {
	sys := func(text string) wire.Turn { return wire.Turn{Role: wire.RoleSystem, Parts: []wire.Part{said(text)}} }
	const wrapped = `{"type":"text","text":"<system-reminder>\nnote\n</system-reminder>"}`
	for name, c := range map[string]struct {
		model string
		turns []wire.Turn
		want  map[string]string
	}{
		"stays behind the user where the model knows it": {
			"claude-opus-4-8",
			[]wire.Turn{user(said("a")), sys("note"), spoke(said("b")), user(said("c"))},
			map[string]string{"messages.1": `{"role":"system","content":[{"type":"text","text":"note"}]}`},
		},
		"stays at the very end": {
			"claude-sonnet-5-5",
			[]wire.Turn{user(said("a")), sys("note")},
			map[string]string{"messages.1.role": `"system"`},
		},
		"is a reminder where the model doesn't know it": {
			"claude-opus-4-7",
			[]wire.Turn{user(said("a")), sys("note"), spoke(said("b")), user(said("c"))},
			map[string]string{"messages.0.content.1": wrapped},
		},
		"is a reminder behind the model": {
			"claude-opus-5-5",
			[]wire.Turn{user(said("a")), spoke(said("b")), sys("note"), user(said("c"))},
			map[string]string{"messages.2.content.0": wrapped, "messages.2.content.1.text": `"c"`},
		},
		"is a reminder before more of the user": {
			"claude-opus-5-5",
			[]wire.Turn{user(said("a")), sys("note"), user(said("c"))},
			map[string]string{"messages.0.content.1": wrapped, "messages.0.content.2.text": `"c"`},
		},
		"is a reminder at the beginning": {
			"claude-opus-5-5",
			[]wire.Turn{sys("note"), user(said("c"))},
			map[string]string{"messages.0.content.0": wrapped, "system": ""},
		},
		"is a reminder with an image in it": {
			"claude-opus-5-5",
			[]wire.Turn{user(said("a")), {Role: wire.RoleSystem, Parts: []wire.Part{said("note"), {Kind: wire.KindImage, Media: &wire.Media{Data: "iVBORw0KGgo="}}}}},
			map[string]string{"messages.0.content.1": wrapped, "messages.0.content.2.type": `"image"`},
		},
		"stands behind the results of its turn": {
			"claude-opus-4-7",
			[]wire.Turn{user(said("a")), spoke(called("1", "ls", "")), sys("note"), user(gave("1", said("x")))},
			map[string]string{"messages.2.content.0.type": `"tool_result"`, "messages.2.content.1": wrapped},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := from(wire.Messages, c.turns...)
			check(t, write(t, a, wire.Target{Model: c.model}), c.want)
		})
	}
}

func TestReasoningGoesBackToItsMakerAlone(t *testing.T) {
	think := func(s *wire.Seal) []wire.Turn {
		return []wire.Turn{user(said("a")), spoke(wire.Part{Kind: wire.KindThinking, Text: "hm", Seal: s}, said("b")), user(said("c"))}
	}
	const gone, text = "", `"text"`
	for name, c := range map[string]struct {
		seal    *wire.Seal
		dialect wire.Dialect
		first   string
		lost    bool
	}{
		"Claude's own":                      {&wire.Seal{API: wire.Messages, Data: "EqQ"}, wire.Dialect{Vendor: "anthropic"}, `"thinking"`, false},
		"Claude's own under our mark":       {&wire.Seal{API: wire.Messages, Vendor: "anthropic", Data: "EqQ"}, wire.Dialect{Vendor: "anthropic"}, `"thinking"`, false},
		"another vendor's":                  {&wire.Seal{API: wire.Messages, Vendor: "minimax", Data: "x"}, wire.Dialect{Vendor: "anthropic"}, text, true},
		"another API's":                     {&wire.Seal{API: wire.Responses, Data: "gAAAA"}, wire.Dialect{}, text, true},
		"nobody's":                          {nil, wire.Dialect{}, text, true},
		"nobody's, for those who want that": {nil, wire.Dialect{BareReasoning: true}, `"thinking"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			body, lost := writeLost(t, from(wire.Messages, think(c.seal)...), wire.Target{Model: "claude-opus-5-5", Dialect: c.dialect})
			check(t, body, map[string]string{"messages.1.content.0.type": c.first})
			if (len(lost) > 0) != c.lost {
				t.Errorf("lost %q", lost)
			}
		})
	}
	redacted := spoke(wire.Part{Kind: wire.KindThinking, Seal: &wire.Seal{API: wire.Messages, Data: "Emw", Redacted: true}}, said("b"))
	body := write(t, from(wire.Messages, user(said("a")), redacted, user(said("c"))), wire.Target{Model: "claude-opus-5-5"})
	check(t, body, map[string]string{"messages.1.content.0": `{"type":"redacted_thinking","data":"Emw"}`})
}

func TestMediaAreWrittenOrRefused(t *testing.T) {
	const png, pdf = "iVBORw0KGgo=", "JVBERi0x"
	image := func(m wire.Media) wire.Part { return wire.Part{Kind: wire.KindImage, Media: &m} }
	file := func(m wire.Media) wire.Part { return wire.Part{Kind: wire.KindFile, Media: &m} }
	for name, c := range map[string]struct {
		part    wire.Part
		want    string
		refused string
	}{
		"an image":                      {image(wire.Media{MIME: "image/png", Data: png}), `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`, ""},
		"an image of a wrong type":      {image(wire.Media{MIME: "image/jpeg", Data: png}), `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`, ""},
		"an image at a URL":             {image(wire.Media{URL: "https://x/y"}), `{"type":"image","source":{"type":"url","url":"https://x/y"}}`, ""},
		"a PDF":                         {file(wire.Media{Data: pdf, Name: "T"}), `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"},"title":"T"}`, ""},
		"a PDF at a URL":                {file(wire.Media{URL: "https://x/y.pdf"}), `{"type":"document","source":{"type":"url","url":"https://x/y.pdf"}}`, ""},
		"a text":                        {file(wire.Media{Text: "w"}), `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"w"}}`, ""},
		"a text by its bytes":           {file(wire.Media{MIME: "text/markdown", Data: "aGk="}), `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}`, ""},
		"an image that Claude can't":    {image(wire.Media{MIME: "image/svg+xml", Data: "PHN2"}), "", "image_url"},
		"an id of another vendor":       {image(wire.Media{ID: "file-1"}), "", "image_url"},
		"a file at Google":              {image(wire.Media{URL: "gs://b/x"}), "", "image_url"},
		"sound":                         {wire.Part{Kind: wire.KindAudio, Media: &wire.Media{MIME: "audio/wav", Data: "x"}}, "", "input_audio"},
		"a film":                        {wire.Part{Kind: wire.KindVideo, Media: &wire.Media{MIME: "video/mp4", Data: "x"}}, "", "video_url"},
		"a file that is neither":        {file(wire.Media{MIME: "application/zip", Data: "UEsD"}), "", "file"},
		"text that says it is a binary": {file(wire.Media{MIME: "text/plain", Data: "!"}), "", "file"},
	} {
		t.Run(name, func(t *testing.T) {
			target := wire.Target{Model: "claude-opus-5-5", Dialect: wire.Dialect{Unsupported: []string{"cache_control"}}}
			now := from(wire.Chat, user(c.part))
			body, _, err := Codec{}.WriteAsk(now, target)
			if c.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				check(t, body, map[string]string{"messages.0.content.0": c.want})
				return
			}
			var f *wire.FieldRefusal
			if !errors.As(err, &f) || f.Field != c.refused {
				t.Fatalf("got %v", err)
			}
			if c.part.Media.ID != "" {
				return
			}
			before := from(wire.Chat, user(c.part, said("a")), spoke(said("b")), user(said("c")))
			body, lost := writeLost(t, before, target)
			if note := at(t, body, "messages.0.content.0.text"); !strings.Contains(note, "left out") || len(lost) == 0 {
				t.Errorf("of an older turn a note is left, and it is told: got %s, %q", note, lost)
			}
		})
	}
}

func TestImagesAreLeftOutForModelsThatReadNone(t *testing.T) {
	a := from(wire.Responses, user(said("go")), spoke(called("1", "view", "")), user(gave("1", wire.Part{Kind: wire.KindImage, Media: &wire.Media{Data: "iVBORw0KGgo="}})))
	body := write(t, a, wire.Target{Model: "glm-5.3", Inputs: []string{"text"}})
	if got := at(t, body, "messages.2.content.0.content"); !strings.Contains(got, "image left out") {
		t.Errorf("got %s", got)
	}
}

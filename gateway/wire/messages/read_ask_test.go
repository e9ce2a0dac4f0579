package messages

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/wire"
)

func mustRead(t *testing.T, body string) *wire.Ask {
	t.Helper()
	a, err := Codec{}.ReadAsk([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ptr[T any](v T) *T { return &v }

func TestARequestIsReadWhole(t *testing.T) {
	got := mustRead(t, `{"model":" claude-x ","stream":true,"max_tokens":100,"temperature":0.70,"top_p":0.9,"top_k":5,
		"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=1; cch=ab"},{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
		"stop_sequences":["END"],"metadata":{"user_id":"u"},"service_tier":"standard_only","cache_control":{"type":"ephemeral"},
		"tool_choice":{"type":"tool","name":"ls","disable_parallel_tool_use":true},
		"tools":[{"name":"ls","description":"Lists.","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"}}],
		"output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object"}}},
		"thinking":{"type":"adaptive","display":"summarized"},
		"context_management":{"edits":[1]},"container":null,"mcp_servers":[],
		"messages":[{"role":"user","content":"hi"}]}`)
	want := &wire.Ask{
		API: wire.Messages, Model: "claude-x", Stream: true, Max: ptr(int64(100)), Temperature: "0.70", TopP: "0.9", TopK: ptr(int64(5)),
		System: []wire.Part{{Text: "Be kind.", Cache: &wire.Cache{TTL: "1h"}}},
		Stop:   []string{"END"}, User: "u", Tier: "default", AutoCache: true,
		Choice: wire.Choice{Mode: wire.ChoiceTool, Name: "ls"}, OneCall: true,
		Tools:  []wire.Tool{{Name: "ls", Description: "Lists.", Schema: json.RawMessage(`{"type":"object"}`), Strict: ptr(true), Cache: &wire.Cache{}}},
		Effort: "high", Budget: ptr(int64(-1)), Show: wire.ShowSummary, Format: &wire.Format{Schema: json.RawMessage(`{"type":"object"}`)},
		Extra: []wire.Field{{Name: "context_management", Value: json.RawMessage(`{"edits":[1]}`)}},
		Turns: []wire.Turn{{Role: wire.RoleUser, Parts: []wire.Part{{Text: "hi"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheLineThatSaysWhomToBillGoesAlone(t *testing.T) {
	for text, want := range map[string]string{
		"x-anthropic-billing-header: cch=1;\nYou are an agent.":   "You are an agent.",
		"x-anthropic-billing-header: cch=1;\n\nYou are an agent.": "You are an agent.",
		"See x-anthropic-billing-header: it bills.":               "See x-anthropic-billing-header: it bills.",
	} {
		body, _ := json.Marshal(map[string]any{"model": "m", "max_tokens": 1, "system": text, "messages": []any{map[string]any{"role": "user", "content": "hi"}}})
		if got := mustRead(t, string(body)).System; len(got) != 1 || got[0].Text != want {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func TestBlocksAreReadForWhatTheySay(t *testing.T) {
	mark := (&wire.Seal{API: wire.Responses, Vendor: "openai", Data: "gAAAAx", ID: "rs_1"}).Mark("")
	gemini := (&wire.Seal{API: wire.Gemini, Vendor: "google", Data: "c2ln"}).Mark("")
	for name, c := range map[string]struct {
		role, blocks string
		want         []wire.Part
	}{
		"text, and an empty one that says nothing": {
			"user", `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":""}]`,
			[]wire.Part{{Text: "a", Cache: &wire.Cache{}}},
		},
		"an image by its bytes": {
			"user", `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]`,
			[]wire.Part{{Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: "iVBO"}}},
		},
		"an image by its URL, and one by its id": {
			"user", `[{"type":"image","source":{"type":"url","url":"https://x/y.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}}]`,
			[]wire.Part{{Kind: wire.KindImage, Media: &wire.Media{URL: "https://x/y.png"}}, {Kind: wire.KindImage, Media: &wire.Media{ID: "file_1"}}},
		},
		"a PDF with its title": {
			"user", `[{"type":"document","title":"T","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"}}]`,
			[]wire.Part{{Kind: wire.KindFile, Media: &wire.Media{MIME: "application/pdf", Data: "JVBE", Name: "T"}}},
		},
		"a document of text, behind what is said of it": {
			"user", `[{"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"words"}}]`,
			[]wire.Part{{Text: "C"}, {Kind: wire.KindFile, Media: &wire.Media{MIME: "text/plain", Text: "words", Name: "T"}}},
		},
		"a document of blocks is text": {
			"user", `[{"type":"document","title":"T","source":{"type":"content","content":[{"type":"text","text":"a"}]},"cache_control":{"type":"ephemeral"}}]`,
			[]wire.Part{{Text: "T"}, {Text: "a", Cache: &wire.Cache{}}},
		},
		"a search result is text": {
			"user", `[{"type":"search_result","source":"https://x","title":"T","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`,
			[]wire.Part{{Text: "T\nhttps://x\na\nb"}},
		},
		"a result as a string, an error": {
			"user", `[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"down"}]`,
			[]wire.Part{{Kind: wire.KindResult, Reply: &wire.Result{ID: "t", Error: true, Parts: []wire.Part{{Text: "down"}}}}},
		},
		"a result of blocks, with an image": {
			"user", `[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]}]`,
			[]wire.Part{{Kind: wire.KindResult, Reply: &wire.Result{ID: "t", Parts: []wire.Part{
				{Text: "x"}, {Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: "iVBO"}},
			}}}},
		},
		"a result without content": {
			"user", `[{"type":"tool_result","tool_use_id":"t"}]`,
			[]wire.Part{{Kind: wire.KindResult, Reply: &wire.Result{ID: "t"}}},
		},
		"a call keeps the spelling of its numbers": {
			"assistant", `[{"type":"tool_use","id":"t","name":"ls","input":{"n":1.50,"b":1,"a":2}}]`,
			[]wire.Part{{Kind: wire.KindCall, Call: &wire.Call{ID: "t", Name: "ls", Args: json.RawMessage(`{"n":1.50,"b":1,"a":2}`)}}},
		},
		"thinking with Claude's seal, and redacted": {
			"assistant", `[{"type":"thinking","thinking":"hm","signature":"EqQ"},{"type":"redacted_thinking","data":"Emw"}]`,
			[]wire.Part{
				{Kind: wire.KindThinking, Text: "hm", Seal: &wire.Seal{API: wire.Messages, Data: "EqQ"}},
				{Kind: wire.KindThinking, Seal: &wire.Seal{API: wire.Messages, Data: "Emw", Redacted: true}},
			},
		},
		"thinking without a seal": {
			"assistant", `[{"type":"thinking","thinking":"hm","signature":""}]`,
			[]wire.Part{{Kind: wire.KindThinking, Text: "hm"}},
		},
		"thinking with another's seal under our mark": {
			"assistant", `[{"type":"thinking","thinking":"hm","signature":"` + mark + `"}]`,
			[]wire.Part{{Kind: wire.KindThinking, Text: "hm", Seal: &wire.Seal{API: wire.Responses, Vendor: "openai", Data: "gAAAAx", ID: "rs_1"}}},
		},
		"a seal of Gemini's goes to the call behind it": {
			"assistant", `[{"type":"thinking","thinking":"","signature":"` + gemini + `"},{"type":"tool_use","id":"t","name":"ls","input":{}}]`,
			[]wire.Part{{
				Kind: wire.KindCall, Call: &wire.Call{ID: "t", Name: "ls", Args: json.RawMessage(`{}`)},
				Seal: &wire.Seal{API: wire.Gemini, Vendor: "google", Data: "c2ln"},
			}},
		},
		"what a vendor ran itself is opaque": {
			"assistant", `[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]`,
			[]wire.Part{{Kind: wire.KindOpaque, Raw: json.RawMessage(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)}},
		},
		"that another model took over is nothing": {"assistant", `[{"type":"fallback"},{"type":"text","text":"a"}]`, []wire.Part{{Text: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustRead(t, `{"messages":[{"role":"`+c.role+`","content":`+c.blocks+`}]}`)
			if diff := cmp.Diff([]wire.Turn{{Role: wire.Role(c.role), Parts: c.want}}, a.Turns); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatWasCompactedIsSaidByTheUser(t *testing.T) {
	a := mustRead(t, `{"messages":[{"role":"assistant","content":[{"type":"compaction","content":"before"},{"type":"text","text":"on"}]}]}`)
	want := []wire.Turn{
		{Role: wire.RoleUser, Parts: []wire.Part{{Text: "before"}}},
		{Role: wire.RoleAssistant, Parts: []wire.Part{{Text: "on"}}},
	}
	if diff := cmp.Diff(want, a.Turns); diff != "" {
		t.Error(diff)
	}
}

func TestTheSystemMayStandBetweenTurns(t *testing.T) {
	a := mustRead(t, `{"output_config":{"effort":"low"},"messages":[{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"s"}],"output_config":{"effort":"high"}},{"role":"user","content":"b"}]}`)
	if len(a.Turns) != 3 || a.Turns[1].Role != wire.RoleSystem || a.Turns[1].Parts[0].Text != "s" {
		t.Errorf("got %+v", a.Turns)
	}
	if a.Effort != "high" {
		t.Errorf("the effort that it asks for counts from there on: got %q", a.Effort)
	}
}

func TestThinkingIsReadAsLevelOrBudget(t *testing.T) {
	for name, c := range map[string]struct {
		body, level string
		budget      *int64
		show        wire.Show
	}{
		"a number":                         {`"thinking":{"type":"enabled","budget_tokens":4000}`, "medium", ptr(int64(4000)), ""},
		"a number that is none":            {`"thinking":{"type":"enabled","budget_tokens":-1}`, "", ptr(int64(-1)), ""},
		"as it likes":                      {`"thinking":{"type":"adaptive"}`, "", ptr(int64(-1)), ""},
		"as it likes, with a level":        {`"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"max"}`, "max", ptr(int64(-1)), wire.ShowNone},
		"not at all":                       {`"thinking":{"type":"disabled"}`, "none", ptr(int64(0)), ""},
		"not at all, whatever the effort":  {`"output_config":{"effort":"high"},"thinking":{"type":"disabled"}`, "none", ptr(int64(0)), ""},
		"between tools is the least":       {`"thinking":{"type":"between_tools"}`, "none", ptr(int64(0)), ""},
		"a level alone":                    {`"output_config":{"effort":"low"}`, "low", nil, ""},
		"nothing said":                     {`"max_tokens":1`, "", nil, ""},
		"shown now and then, as on screen": {`"thinking":{"type":"adaptive","display":"updates"}`, "", ptr(int64(-1)), wire.ShowUpdates},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustRead(t, `{`+c.body+`,"messages":[]}`)
			if a.Level() != c.level || !cmp.Equal(a.Budget, c.budget) || a.Show != c.show {
				t.Errorf("got level %q, budget %v, show %q", a.Level(), a.Budget, a.Show)
			}
		})
	}
}

func TestToolsAreReadByTheirTypes(t *testing.T) {
	a := mustRead(t, `{"messages":[],"tools":[
		{"type":"custom","name":"f","input_schema":{"type":"object"},"defer_loading":true},
		{"type":"bash_20250124","name":"bash"},
		{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"},
		{"type":"memory_20250818","name":"memory"},
		{"type":"web_search_20250305","name":"web_search","allowed_domains":["go.dev"],"user_location":{"type":"approximate","country":"DE"}},
		{"type":"code_execution_20250825","name":"code_execution"},
		{"type":"advisor_20260301","name":"advisor"}]}`)
	want := []struct {
		kind          wire.ToolKind
		name          string
		built, hosted string
	}{
		{wire.ToolFunction, "f", "", ""},
		{wire.ToolFunction, "bash", "bash", ""},
		{wire.ToolFunction, "str_replace_based_edit_tool", "text_editor", ""},
		{wire.ToolFunction, "memory", "memory", ""},
		{wire.ToolHosted, "web_search", "", "web_search"},
		{wire.ToolHosted, "code_execution", "", "code"},
		{wire.ToolHosted, "advisor", "", "advisor_20260301"},
	}
	for i, w := range want {
		g := a.Tools[i]
		if g.Kind != w.kind || g.Name != w.name || g.Built != w.built || g.Hosted != w.hosted {
			t.Errorf("tool %d: got %+v", i, g)
		}
		if g.Kind == wire.ToolFunction && !json.Valid(g.Schema) {
			t.Errorf("%s: what the client runs has a schema", g.Name)
		}
	}
	if s := a.Tools[4].Search; s == nil || len(s.Allowed) != 1 || string(s.Location) != `{"type":"approximate","country":"DE"}` {
		t.Errorf("the search: got %+v", s)
	}
}

func TestAChoiceNamesAHostedToolByItsWord(t *testing.T) {
	const tools = `"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"}]`
	for choice, want := range map[string]wire.Choice{
		`{"type":"tool","name":"web_search"}`: {Mode: wire.ChoiceTool, Hosted: "web_search"},
		`{"type":"tool","name":"f"}`:          {Mode: wire.ChoiceTool, Name: "f"},
		`{"type":"tool","name":"gone"}`:       {Mode: wire.ChoiceTool, Name: "gone"},
	} {
		for _, body := range []string{`{"tool_choice":` + choice + `,` + tools + `}`, `{` + tools + `,"tool_choice":` + choice + `}`} {
			if diff := cmp.Diff(want, mustRead(t, body).Choice); diff != "" {
				t.Errorf("%s: %s", body, diff)
			}
		}
	}
}

func TestWhatCanNotBeReadIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ body, field string }{
		"messages that are no list":     {`{"messages":"hi"}`, "messages"},
		"a message that is no object":   {`{"messages":["hi"]}`, "messages"},
		"a role that nobody has":        {`{"messages":[{"role":"tool","content":"x"}]}`, "messages.role"},
		"a message without content":     {`{"messages":[{"role":"user"}]}`, "messages.content"},
		"a thread that goes on":         {`{"thread":{"type":"continue","previous_message_id":"m"},"messages":[]}`, "thread"},
		"an empty object":               {`{}`, "messages"},
		"what is no object, but a list": {`[]`, "messages"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Codec{}.ReadAsk([]byte(c.body))
			var f *wire.FieldRefusal
			if !errors.As(err, &f) || f.Field != c.field {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := (Codec{}).ReadAsk([]byte(`{"messages":[}`)); err == nil {
		t.Error("what is no JSON is refused")
	}
	var f *wire.FieldRefusal
	_, err := Codec{}.ReadAsk([]byte(`{"thread":{"type":"continue"},"messages":[]}`))
	if !errors.As(err, &f) || f.Code != "thread_unsupported_request" {
		t.Errorf("clients of threads act on the code: got %+v", f)
	}
	if _, err := (Codec{}).ReadAsk([]byte(`{"thread":{"type":"create"},"messages":[]}`)); err != nil {
		t.Errorf("a thread that begins has all that was said: %v", err)
	}
}

func TestAnEmptyAnswerIsAllThatAWarmUpWants(t *testing.T) {
	if !mustRead(t, `{"max_tokens":0,"messages":[]}`).WarmsUp() || mustRead(t, `{"max_tokens":1,"messages":[]}`).WarmsUp() {
		t.Error("max_tokens 0 asks for nothing, 1 for something")
	}
}

package responses

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

func TestAConversationIsReadAsTurns(t *testing.T) {
	mark := (&wire.Seal{API: wire.Messages, Data: "EqQB"}).Mark("anthropic")
	gem := (&wire.Seal{API: wire.Gemini, Data: "U0lH"}).Mark("google")
	sum := summaryMark + base64.StdEncoding.EncodeToString([]byte("so far"))
	for name, c := range map[string]struct{ input, want string }{
		"a text is the user's": {`"hi"`, "user:\ntext \"hi\"\n"},
		"messages of one side are one turn": {
			`[{"role":"user","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`,
			"user:\ntext \"a\"\ntext \"b\"\n",
		},
		"reasoning, text and calls are one turn, their outputs another": {
			`[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s1"},{"type":"summary_text","text":"s2"}],"content":null,"encrypted_content":"gAAAA"},
			{"type":"message","role":"assistant","id":"msg_uuid","content":[{"type":"output_text","text":"ok"}],"phase":"commentary"},
			{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","namespace":"mcp__fs__","arguments":"{\"n\":1.0}","status":"completed"},
			{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** x"},
			{"type":"function_call_output","id":"fco_1","call_id":"c1","output":"A"},
			{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"done"}]},
			{"role":"user","content":"go on"}]`,
			"assistant:\nthinking \"s1\\n\\ns2\" sealed responses gAAAA\ntext \"ok\"\ncall c1 mcp__fs__ls {\"n\":1.0}\ncall c2 apply_patch free \"*** x\"\n" +
				"user:\nresult c1 [text \"A\"]\nresult c2 [text \"done\"]\ntext \"go on\"\n",
		},
		"raw reasoning where there is no summary": {
			`[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"raw"}]}]`,
			"assistant:\nthinking \"raw\"\n",
		},
		"reasoning that says nothing is nothing": {`[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_x","summary":[],"encrypted_content":null}]`, "user:\ntext \"x\"\n"},
		"a seal under our mark is its maker's": {
			`[{"type":"reasoning","summary":[{"type":"summary_text","text":"t"}],"encrypted_content":"` + mark + `"}]`,
			"assistant:\nthinking \"t\" sealed messages EqQB\n",
		},
		"Gemini's signature goes back to its call": {
			`[{"type":"reasoning","summary":[],"encrypted_content":"` + gem + `"},{"type":"function_call","call_id":"c","name":"f","arguments":""}]`,
			"assistant:\ncall c f {} sealed gemini U0lH\n",
		},
		"an output with an image": {
			`[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"img:"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]`,
			"user:\nresult c [text \"img:\"\nmedia 1 image/png AAAA ]\n",
		},
		"an output that is the JSON of parts with an image": {
			`[{"type":"function_call_output","call_id":"c","output":"[{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,AAAA\"}]"}]`,
			"user:\nresult c [media 1 image/png AAAA ]\n",
		},
		"an output that is the JSON of something else stays a text": {
			`[{"type":"function_call_output","call_id":"c","output":"[{\"type\":\"input_text\",\"text\":\"a\"}]"}]`,
			"user:\nresult c [text \"[{\\\"type\\\":\\\"input_text\\\",\\\"text\\\":\\\"a\\\"}]\"]\n",
		},
		"an empty output": {`[{"type":"function_call_output","call_id":"c","output":""}]`, "user:\nresult c []\n"},
		"a system message in the middle stays there": {
			`[{"role":"user","content":"a"},{"role":"developer","content":"mind"},{"role":"user","content":"b"}]`,
			"user:\ntext \"a\"\nsystem:\ntext \"mind\"\nuser:\ntext \"b\"\n",
		},
		"files": {
			`[{"role":"user","content":[{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"},
			{"type":"input_file","filename":"a.txt","file_data":"data:text/plain;base64,aGk="},{"type":"input_file","file_url":"https://x/y.pdf"},
			{"type":"input_image","file_id":"file_1"},{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}}]}]`,
			"user:\nmedia 2 application/pdf JVBE \nmedia 2 text/plain  hi\nmedia 2  https://x/y.pdf \nmedia 1  file_1 \nmedia 3 audio/wav UklG \n",
		},
		"a local shell is its function": {
			`[{"type":"local_shell_call","id":"lsh_1","call_id":"c","action":{"type":"exec","command":["ls"],"timeout_ms":5,"working_directory":"/w","env":{}},"status":"completed"},
			{"type":"local_shell_call_output","id":"lsh_1","output":"{\"out\":1}"}]`,
			"assistant:\ncall c local_shell {\"command\":[\"ls\"],\"timeout_ms\":5,\"workdir\":\"/w\"}\nuser:\nresult c [text \"{\\\"out\\\":1}\"]\n",
		},
		"a shell's output tells how it ended": {
			`[{"type":"shell_call","call_id":"c","action":{"commands":["a","b"]}},{"type":"shell_call_output","call_id":"c","output":[
			{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":2}},{"stdout":"","stderr":"e\n","outcome":{"type":"timeout"}}]}]`,
			"assistant:\ncall c shell {\"commands\":[\"a\",\"b\"]}\nuser:\nresult c [text \"x\\nexit code 2\\ne\\ntimed out\\n\"]\n",
		},
		"a patch that failed": {
			`[{"type":"apply_patch_call","call_id":"c","operation":{"type":"delete_file","path":"p"}},{"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no"}]`,
			"assistant:\ncall c apply_patch {\"operation\":{\"type\":\"delete_file\",\"path\":\"p\"}}\nuser:\nresult c [text \"no\"] error\n",
		},
		"what a vendor's own tools did is told only when it holds something": {
			`[{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
			{"type":"mcp_call","name":"n","server_label":"s","output":"found"},{"type":"image_generation_call","result":"AAAA"},
			{"type":"code_interpreter_call","outputs":[{"type":"logs","logs":"42"}]},{"type":"file_search_call","results":[{"filename":"f","text":"t"}]}]`,
			"assistant:\nopaque \"\"\nopaque \"[The tool n of s was called here and gave:\\nfound]\"\nopaque \"[An image was made here.]\"\n" +
				"opaque \"[Code was run here and printed:\\n42]\"\nopaque \"[Files were searched here and gave:\\nf: t\\n]\"\n",
		},
		"a compaction of ours is its text": {
			`[{"type":"compaction","encrypted_content":"` + sum + `"},{"role":"user","content":"next"}]`,
			"user:\ntext \"" + `[What was said before, in short]\nso far` + "\"\ntext \"next\"\n",
		},
		"a compaction of another is a note": {`[{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"}]`, "user:\nopaque \"" + compactedNote + "\"\n"},
		"arguments that are no object stay": {`[{"type":"function_call","call_id":"c","name":"f","arguments":"not json"}]`, "assistant:\ncall c f not json\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := turns(ask(t, `{"model":"m","input":`+c.input+`}`)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestWhatStandsBeforeTheConversationIsTheSystems(t *testing.T) {
	a := ask(t, `{"input":[{"role":"developer","content":[{"type":"input_text","text":"d1"},{"type":"input_text","text":"d2"}]},{"role":"system","content":"s"},{"role":"user","content":"u"}],"instructions":"I"}`)
	if got := show(a.System); got != "text \"I\"\ntext \"d1\"\ntext \"d2\"\ntext \"s\"\n" {
		t.Errorf("got %s", got)
	}
	if !a.System[1].Dev || a.System[3].Dev || len(a.Turns) != 1 {
		t.Errorf("roles or turns are wrong: %+v", a)
	}
	if a = ask(t, `{"instructions":"only this"}`); len(a.System) != 1 {
		t.Error("a request of instructions alone is one")
	}
}

func TestSettingsAreRead(t *testing.T) {
	a := ask(t, `{"model":"m","stream":true,"input":"x","max_output_tokens":700,"temperature":0.20,"top_p":1.0,"parallel_tool_calls":false,
		"reasoning":{"effort":"high","summary":"auto","context":"all_turns"},"text":{"verbosity":"low","format":{"type":"json_schema","name":"o","strict":true,"schema":{"type":"object"}}},
		"prompt_cache_key":"k","service_tier":"flex","user":"u","safety_identifier":"s","metadata":{"a":"b"},"store":false,
		"include":["reasoning.encrypted_content"],"truncation":"auto","client_metadata":{"x":1},"stream_options":{"include_obfuscation":false},"max_tool_calls":3,"previous_response_id":null}`)
	if *a.Max != 700 || a.Temperature != "0.20" || a.TopP != "1.0" || !a.OneCall || a.Effort != "high" || a.Show != wire.ShowSummary || !a.Stream {
		t.Errorf("%+v", a)
	}
	if a.Format.Name != "o" || !*a.Format.Strict || a.Verbosity != "low" || a.CacheKey != "k" || a.Tier != "flex" || a.User != "s" || string(a.Metadata) != `{"a":"b"}` || *a.Store {
		t.Errorf("%+v", a)
	}
	var names []string
	for _, f := range a.Extra {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "reasoning.context truncation max_tool_calls" {
		t.Errorf("only this API can say: %s", got)
	}
	if a = ask(t, `{"input":"x","max_output_tokens":0,"text":{"format":{"type":"text"}}}`); a.Max != nil || a.Format != nil {
		t.Error("0 and plain text say nothing")
	}
	if a = ask(t, `{"input":"x","text":{"format":{"type":"json_object"}}}`); a.Format == nil || a.Format.Schema != nil {
		t.Error("any object")
	}
}

func TestWhatNeedsAMemoryIsRefusedByItsField(t *testing.T) {
	for body, field := range map[string]string{
		`{"input":"x","previous_response_id":"resp_0"}`:      "previous_response_id",
		`{"input":"x","conversation":"conv_1"}`:              "conversation",
		`{"input":"x","prompt":{"id":"p"}}`:                  "prompt",
		`{"input":"x","background":true}`:                    "background",
		`{"input":[{"type":"item_reference","id":"msg_1"}]}`: "item_reference",
		`{}`:          "input",
		`{"input":7}`: "input",
		`{"input":"x","max_output_tokens":"many"}`:              "max_output_tokens",
		`{"input":"x","temperature":"hot"}`:                     "temperature",
		`{"input":[{"role":"narrator","content":"meanwhile"}]}`: "input",
	} {
		_, err := Codec{}.ReadAsk([]byte(body))
		var f *wire.FieldRefusal
		if !errors.As(err, &f) || f.Field != field || !strings.HasPrefix(f.Words, field) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := (Codec{}).ReadAsk([]byte(`{"input":`)); err == nil {
		t.Error("half a body is none")
	}
	if _, err := (Codec{}).ReadAsk([]byte(`[]`)); err == nil {
		t.Error("a list is no request")
	}
}

func TestToolsAreReadFromWhereverTheyStand(t *testing.T) {
	a := ask(t, `{"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","description":"d","tools":[
			{"type":"custom","name":"exec","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"function","name":"wait","parameters":null}]},
			{"type":"function","name":"direct","description":"second"}]},
		{"type":"tool_search_call","execution":"client","call_id":"ts","arguments":{"q":1}},
		{"type":"tool_search_output","execution":"client","call_id":"ts","tools":[{"type":"namespace","name":"mcp__a__","tools":[{"type":"function","name":"b"}]},{"type":"function","name":"functions__wait"}]},
		{"role":"user","content":"x"}],
		"tools":[{"type":"function","name":"direct","description":"first","parameters":{"type":"object"},"strict":true},{"type":"web_search_preview","filters":{"allowed_domains":["go.dev"]},"user_location":{"type":"approximate","country":"DE"}},
		{"type":"tool_search","execution":"client","parameters":{"type":"object"}},{"type":"local_shell"},{"type":"shell","environment":{"type":"container_auto"}},{"type":"apply_patch"},{"type":"tool_search"},{"type":"image_generation"}]}`)
	var got []string
	for _, x := range a.Tools {
		s := x.Name
		if x.Kind == wire.ToolHosted {
			s = "hosted:" + x.Hosted
		}
		if x.Kind == wire.ToolFree {
			s += ":" + x.Grammar.Syntax
		}
		if x.Built != "" {
			s += ":built"
		}
		got = append(got, s)
	}
	want := "direct hosted:web_search tool_search:built local_shell:built hosted:code apply_patch:built hosted:tool_search hosted:image functions__exec:lark mcp__a__b functions__wait"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	if a.Tools[0].Description != "first" || a.Tools[1].Search.Allowed[0] != "go.dev" || a.Tools[1].Search.Location == nil {
		t.Error("the first of equal names counts, and a search keeps its bounds")
	}
	if x := a.Tools[8]; x.Namespace != "functions" || x.Local != "exec" {
		t.Errorf("%+v", x)
	}
	if !strings.Contains(turns(a), "result ts [text \"These tools can be called now:\\nmcp__a__b\\nfunctions__wait\\n\"]") {
		t.Errorf("what was found is told: %s", turns(a))
	}
}

func TestChoicesAreRead(t *testing.T) {
	for choice, want := range map[string]wire.Choice{
		`"auto"`:     {Mode: wire.ChoiceAuto},
		`"none"`:     {Mode: wire.ChoiceNone},
		`"required"`: {Mode: wire.ChoiceRequired},
		`null`:       {},
		`{"type":"function","name":"log","namespace":"mcp__git__"}`: {Mode: wire.ChoiceTool, Name: "mcp__git__log"},
		`{"type":"custom","name":"p"}`:                              {Mode: wire.ChoiceTool, Name: "p"},
		`{"type":"web_search_preview"}`:                             {Mode: wire.ChoiceTool, Hosted: "web_search"},
		`{"type":"apply_patch"}`:                                    {Mode: wire.ChoiceTool, Name: "apply_patch"},
	} {
		got := ask(t, `{"input":"x","tool_choice":`+choice+`}`).Choice
		if got.Mode != want.Mode || got.Name != want.Name || got.Hosted != want.Hosted {
			t.Errorf("%s: %+v", choice, got)
		}
	}
	got := ask(t, `{"input":"x","tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"a"},{"type":"web_search"}]}}`).Choice
	if got.Mode != wire.ChoiceRequired || strings.Join(got.Allowed, " ") != "a web_search" {
		t.Errorf("%+v", got)
	}
}

func TestACompactionIsAskedForInWords(t *testing.T) {
	a := ask(t, `{"tools":[{"type":"function","name":"f"}],"tool_choice":"required","parallel_tool_calls":false,"input":[{"role":"user","content":"x"},{"type":"compaction_trigger"}]}`)
	if !a.Compact || a.Tools != nil || a.Choice.Mode != "" || a.OneCall || !strings.HasSuffix(turns(a), "text \"x\"\ntext \""+summaryPrompt+"\"\n") {
		t.Errorf("%+v", a)
	}
}

func TestTheOrderOfTheBodysMembersDoesNotMatter(t *testing.T) {
	a := ask(t, `{"input":[{"content":[{"text":"x","type":"input_text"}],"role":"user"}],"tools":[{"name":"f","type":"function"}],"instructions":"I","model":"m"}`)
	if turns(a) != "user:\ntext \"x\"\n" || a.System[0].Text != "I" || a.Tools[0].Name != "f" {
		t.Errorf("%+v", a)
	}
}

func FuzzReadAsk(f *testing.F) {
	f.Add([]byte(`{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,A"}]}],"tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"}]}],"tool_choice":{"type":"allowed_tools","tools":[{"name":"f"}]}}`))
	f.Add([]byte(`{"input":[{"type":"reasoning","summary":[{"text":"a"}],"encrypted_content":"magpie1.e30="},{"type":"shell_call_output","output":[{"outcome":{}}]},{"type":"compaction_trigger"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			return
		}
		out, _, err := Codec{}.WriteAsk(a, wire.Target{Model: "m"})
		if err != nil {
			return
		}
		if _, err := (Codec{}).ReadAsk(out); err != nil {
			var f *wire.FieldRefusal
			if !errors.As(err, &f) {
				t.Errorf("what is written can't be read: %v\n%s", err, out)
			}
		}
	})
}

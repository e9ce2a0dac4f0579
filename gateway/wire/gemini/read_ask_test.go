package gemini

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// text is what is asked by default in the tests below.
const someText = `"contents":[{"parts":[{"text":"x"}]}]`

func read(t *testing.T, body string) *wire.Ask {
	t.Helper()
	a, err := Codec{}.ReadAsk([]byte(body))
	if err != nil {
		t.Fatalf("%s\nis refused: %v", body, err)
	}
	return a
}

// contents reads a request of these contents and shows its turns, one line a part.
func contents(t *testing.T, list string) string {
	t.Helper()
	return show(read(t, `{"contents":[`+list+`]}`).Turns)
}

func show(turns []wire.Turn) string {
	var b strings.Builder
	for _, turn := range turns {
		b.WriteString(string(turn.Role) + ":")
		for _, p := range turn.Parts {
			b.WriteString(" " + showPart(&p))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func showPart(p *wire.Part) string {
	s := ""
	switch p.Kind {
	case wire.KindText:
		s = "text(" + p.Text + ")"
	case wire.KindThinking:
		s = "thinking(" + p.Text + ")"
	case wire.KindOpaque:
		s = "opaque(" + p.Text + ")"
	case wire.KindRefusal:
		s = "refusal(" + p.Text + ")"
	case wire.KindCall:
		s = "call(" + p.Call.ID + " " + p.Call.Name + " " + string(p.Call.Args) + ")"
	case wire.KindResult:
		s = "result(" + p.Reply.ID + " " + p.Reply.Name
		if p.Reply.Error {
			s += " error"
		}
		for i := range p.Reply.Parts {
			s += " " + showPart(&p.Reply.Parts[i])
		}
		s += ")"
	case wire.KindImage, wire.KindFile, wire.KindAudio, wire.KindVideo:
		kinds := map[wire.Kind]string{wire.KindImage: "image", wire.KindFile: "file", wire.KindAudio: "audio", wire.KindVideo: "video"}
		m := p.Media
		s = kinds[p.Kind] + "(" + strings.TrimSpace(m.MIME+" "+m.Data+m.URL+m.ID+" "+m.Text) + ")"
	}
	if p.Seal != nil {
		s += "[" + string(p.Seal.API) + " " + p.Seal.Data + "]"
	}
	return s
}

func TestContentsAreRead(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{
			"a missing role is the user's, role model the assistant's", `{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"role":"function","parts":[{"text":"c"}]}`,
			"user: text(a)\nassistant: text(b)\nuser: text(c)\n",
		},
		{"a role may stand behind the parts", `{"parts":[{"text":"b"}],"role":"model"}`, "assistant: text(b)\n"},
		{"contents that say nothing go", `{"parts":[{"text":""}]},{"parts":[]},{"parts":[{"text":"a"}]}`, "user: text(a)\n"},
		{
			"the pieces of a thought are one, up to its seal", `{"role":"model","parts":[{"text":"a","thought":true},{"text":"b","thought":true},{"text":"c","thought":true,"thoughtSignature":"AA=="},{"text":"d","thought":true},{"text":"e"}]}`,
			"assistant: thinking(abc)[gemini AA==] thinking(d) text(e)\n",
		},
		{"thoughts are thinking and never text", `{"role":"model","parts":[{"text":"secret","thought":true},{"text":"b"}]}`, "assistant: thinking(secret) text(b)\n"},
		{
			"a signature stays at its part", `{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"AA=="},{"text":"b","thoughtSignature":"Ag=="},{"functionCall":{"id":"i","name":"f"},"thoughtSignature":"Aw=="},{"text":"","thoughtSignature":"BA=="}]}`,
			"assistant: thinking(t)[gemini AA==] text(b)[gemini Ag==] call(i f {})[gemini Aw==] text()[gemini BA==]\n",
		},
		{
			"data is told apart by its type", `{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}},{"inlineData":{"mimeType":"audio/wav","data":"AB"}},{"inlineData":{"mimeType":"video/mp4","data":"AC"}},{"inlineData":{"mimeType":"application/pdf","data":"AD"}},{"inline_data":{"mime_type":"text/csv","data":"YSxi"}}]}`,
			"user: image(image/png AA) audio(audio/wav AB) video(video/mp4 AC) file(application/pdf AD) file(text/csv YSxi a,b)\n",
		},
		{
			"Google's files are ids, others are URLs", `{"parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"}},{"fileData":{"mimeType":"image/png","fileUri":"https://e.org/i.png"}}]}`,
			"user: image(image/png https://generativelanguage.googleapis.com/v1beta/files/x) video(video/mp4 gs://b/v) image(image/png https://e.org/i.png)\n",
		},
		{
			"code that Google ran can be read by others", `{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1+1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}},{"newThing":{"a":1}}]}`,
			"assistant: opaque(```python\n1+1\n```) opaque(```\n2\n```) opaque()\n",
		},
	} {
		if got := contents(t, c.in); got != c.want {
			t.Errorf("%s:\n got %swant %s", c.what, got, c.want)
		}
	}
}

func TestResultsAreRead(t *testing.T) {
	call := `{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"n":1.50}}}]},{"parts":[{"functionResponse":{"id":"a","name":"f",`
	for _, c := range []struct{ what, in, want string }{
		{"output is its text", `"response":{"output":"x"}`, "(a f text(x))"},
		{"so is result", `"response":{"result":"x"}`, "(a f text(x))"},
		{"output that is no text is compact JSON", `"response":{"output":{"a": 1.0 , "b":[ ]}}`, `(a f text({"a":1.0,"b":[]}))`},
		{"other objects are compact JSON as a whole", `"response":{"output":"x", "exit": 0}`, `(a f text({"output":"x","exit":0}))`},
		{"error says that it failed", `"response":{"error":"no"}`, "(a f error text(no))"},
		{"an empty one is empty", `"response":{"output":""}`, "(a f)"},
		{"so is one of nothing", `"response":{}`, "(a f)"},
		{"images stand behind the text, wherever they were told", `"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}],"response":{"output":"x"}`, "(a f text(x) image(image/png AA))"},
	} {
		got := contents(t, call+c.in+`}}]}`)
		want := "assistant: call(a f {\"n\":1.50})\nuser: result" + c.want + "\n"
		if got != want {
			t.Errorf("%s:\n got %swant %s", c.what, got, want)
		}
	}
}

func TestCallsAndResultsFindEachOther(t *testing.T) {
	id := func(s ...string) string { return wire.MakeID("call_", s...) }
	call := func(name, id string) string {
		return `{"functionCall":{"name":"` + name + `"` + idOf(id) + `}}`
	}
	result := func(name, id, text string) string {
		return `{"functionResponse":{"name":"` + name + `"` + idOf(id) + `,"response":{"output":"` + text + `"}}}`
	}
	model := func(parts ...string) string { return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}` }
	user := func(parts ...string) string { return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}` }
	f0, f1 := id("0", "0", "f"), id("0", "1", "f")
	for _, c := range []struct {
		what, in, want string
	}{
		{
			"without ids the first result of a name is the first call's",
			model(call("f", ""), call("f", "")) + "," + user(result("f", "", "one"), result("f", "", "two")),
			"assistant: call(" + f0 + " f {}) call(" + f1 + " f {})\nuser: result(" + f0 + " f text(one)) result(" + f1 + " f text(two))\n",
		},
		{
			"the order between names doesn't matter",
			model(call("g", ""), call("f", "")) + "," + user(result("f", "", "F"), result("g", "", "G")),
			"assistant: call(" + id("0", "0", "g") + " g {}) call(" + f1 + " f {})\nuser: result(" + f1 + " f text(F)) result(" + id("0", "0", "g") + " g text(G))\n",
		},
		{
			"an id that is told wins over the order",
			model(call("f", "x1"), call("f", "x2")) + "," + user(result("f", "x2", "two"), result("f", "x1", "one")),
			"assistant: call(x1 f {}) call(x2 f {})\nuser: result(x2 f text(two)) result(x1 f text(one))\n",
		},
		{
			"one result with an id leaves the other call to the one without",
			model(call("f", "x1"), call("f", "x2")) + "," + user(result("f", "", "two"), result("f", "x1", "one")),
			"assistant: call(x1 f {}) call(x2 f {})\nuser: result(x2 f text(two)) result(x1 f text(one))\n",
		},
		{
			"an id that no call has counts as none, while a call of that name waits",
			model(call("f", "")) + "," + user(result("f", "lost", "one")),
			"assistant: call(" + f0 + " f {})\nuser: result(" + f0 + " f text(one))\n",
		},
		{
			"a result never takes a call of an earlier round",
			model(call("f", "")) + "," + user(`{"text":"stop"}`) + "," + model(call("f", "")) + "," + user(result("f", "", "two")),
			"assistant: call(" + f0 + " f {})\nuser: text(stop)\nassistant: call(" + id("2", "0", "f") + " f {})\nuser: result(" + id("2", "0", "f") + " f text(two))\n",
		},
		{
			"results of one round may come in several contents",
			model(call("f", ""), call("f", "")) + "," + user(result("f", "", "one")) + "," + user(result("f", "", "two")),
			"assistant: call(" + f0 + " f {}) call(" + f1 + " f {})\nuser: result(" + f0 + " f text(one))\nuser: result(" + f1 + " f text(two))\n",
		},
		{
			"one too many has an id of its own",
			model(call("f", "")) + "," + user(result("f", "", "one"), result("f", "", "two")),
			"assistant: call(" + f0 + " f {})\nuser: result(" + f0 + " f text(one)) result(" + id("none", "1", "1", "f") + " f text(two))\n",
		},
	} {
		got := contents(t, c.in)
		if got != c.want {
			t.Errorf("%s:\n got %swant %s", c.what, got, c.want)
		}
		if longer := contents(t, c.in+`,{"role":"model","parts":[{"text":"more"}]}`); !strings.HasPrefix(longer, got) {
			t.Errorf("%s: ids change when the conversation goes on:\n%s", c.what, longer)
		}
	}
}

func idOf(id string) string {
	if id == "" {
		return ""
	}
	return `,"id":"` + id + `"`
}

func TestASealOfAnotherVendorIsThinkingAgain(t *testing.T) {
	mark := (&wire.Seal{API: wire.Messages, Data: "EqQB"}).MarkBase64("anthropic")
	for _, c := range []struct{ what, in, want string }{
		{"without the thought", `{"functionCall":{"id":"i","name":"f"},"thoughtSignature":"` + mark + `"}`, "thinking()[messages EqQB] call(i f {})"},
		{"with the thought that it seals", `{"text":"t","thought":true},{"text":"b","thoughtSignature":"` + mark + `"}`, "thinking(t)[messages EqQB] text(b)"},
		{"with the thought in pieces", `{"text":"s","thought":true},{"text":"t","thought":true},{"text":"b","thoughtSignature":"` + mark + `"}`, "thinking(st)[messages EqQB] text(b)"},
		{"at an empty text", `{"text":"b"},{"text":"","thoughtSignature":"` + mark + `"}`, "text(b) thinking()[messages EqQB]"},
	} {
		if got := contents(t, `{"role":"model","parts":[`+c.in+`]}`); got != "assistant: "+c.want+"\n" {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestConfigIsRead(t *testing.T) {
	a := read(t, `{`+someText+`,"systemInstruction":{"role":"system","parts":[{"text":"S1"},{"text":""},{"text":"S2"}]},
		"generationConfig":{"temperature":1.50,"topP":0.8,"topK":40.0,"maxOutputTokens":2000,"stopSequences":["E",""],"candidateCount":2,"seed":3,
		"presencePenalty":0.5,"frequencyPenalty":0.25,"responseLogprobs":true,"logprobs":5,"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true,"thinkingBudget":-1},
		"mediaResolution":"MEDIA_RESOLUTION_LOW"},"safetySettings":[{"category":"C","threshold":"BLOCK_NONE"}],"serviceTier":"priority","labels":{},"model":"models/m","stream":true}`)
	got, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"System":[{"Kind":0,"Text":"S1"`, `"Text":"S2"`, `"Temperature":1.50`, `"TopP":0.8`, `"TopK":40`, `"Max":2000`, `"Stop":["E"]`, `"N":2`, `"Seed":3`,
		`"Presence":0.5`, `"Frequency":0.25`, `"Logprobs":5`, `"Effort":"high"`, `"Budget":-1`, `"Show":"summary"`, `"Tier":"priority"`, `"Model":"m"`, `"Stream":true`,
		`"Extra":[{"Name":"generationConfig.mediaResolution","Value":"MEDIA_RESOLUTION_LOW"},{"Name":"safetySettings","Value":[{"category":"C","threshold":"BLOCK_NONE"}]}]`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("there is no %s in %s", want, got)
		}
	}
	if a := read(t, `{`+someText+`,"system_instruction":{"parts":{"text":"S"}},"generation_config":{"max_output_tokens":5,"thinking_config":{"thinking_budget":0,"include_thoughts":false}}}`); len(a.System) != 1 || *a.Max != 5 || a.Level() != "none" || a.Show != wire.ShowNone {
		t.Errorf("names with underscores are not read: %+v", a)
	}
	if a := read(t, `{`+someText+`,"generationConfig":{"thinkingConfig":{"thinkingLevel":"THINKING_LEVEL_UNSPECIFIED"}}}`); a.Level() != "" || a.Show != wire.ShowUnsaid {
		t.Errorf("an unspecified level says %q", a.Level())
	}
}

func TestFormatsAreRead(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"JSON alone is any object", `"responseMimeType":"application/json"`, `{}`},
		{
			"an OpenAPI schema becomes one of JSON", `"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		},
		{"a JSON schema stays to the byte", `"responseJsonSchema":{"type": "object"},"responseMimeType":"application/json"`, `{"type": "object"}`},
		{"text is none", `"responseMimeType":"text/plain"`, `none`},
	} {
		a := read(t, `{`+someText+`,"generationConfig":{`+c.in+`}}`)
		got := "none"
		if a.Format != nil {
			got = string(a.Format.Schema)
			if a.Format.Schema == nil {
				got = "{}"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestToolsAreRead(t *testing.T) {
	a := read(t, `{`+someText+`,"tools":[{"functionDeclarations":[{"name":"f","description":"F","parameters":{"type":"OBJECT","properties":{"n":{"type":"INTEGER"}}}},
		{"name":"g","parametersJsonSchema":{"type": "object"}},{"name":"h"}],"googleSearch":{"excludeDomains":["x.org"]}},{"urlContext":{}},{"googleMaps":{}}]}`)
	want := []string{`f 0 {"type":"object","properties":{"n":{"type":"integer"}}}`, `g 0 {"type": "object"}`, `h 0 `, ` 2 web_search`, ` 2 web_fetch`, ` 2 googleMaps`}
	if len(a.Tools) != len(want) {
		t.Fatalf("there are %d tools", len(a.Tools))
	}
	for i, tool := range a.Tools {
		if got := tool.Name + " " + string('0'+rune(tool.Kind)) + " " + string(tool.Schema) + tool.Hosted; got != want[i] {
			t.Errorf("tool %d is %s, not %s", i, got, want[i])
		}
	}
	if s := a.Tools[3]; s.Search == nil || s.Search.Blocked[0] != "x.org" || string(s.Raw) != `{"googleSearch":{"excludeDomains":["x.org"]}}` {
		t.Errorf("the search is %+v", s)
	}
}

func TestChoicesAreRead(t *testing.T) {
	for _, c := range []struct {
		in   string
		want wire.Choice
	}{
		{`{"mode":"AUTO"}`, wire.Choice{Mode: wire.ChoiceAuto}},
		{`{"mode":"NONE"}`, wire.Choice{Mode: wire.ChoiceNone}},
		{`{"mode":"ANY"}`, wire.Choice{Mode: wire.ChoiceRequired}},
		{`{"mode":"any","allowedFunctionNames":["f"]}`, wire.Choice{Mode: wire.ChoiceTool, Name: "f"}},
		{`{"mode":"ANY","allowedFunctionNames":["f","g"]}`, wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"f", "g"}}},
		{`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`, wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{"f"}}},
		{`{"mode":"MODE_UNSPECIFIED"}`, wire.Choice{}},
	} {
		got := read(t, `{`+someText+`,"toolConfig":{"functionCallingConfig":`+c.in+`}}`).Choice
		if got.Mode != c.want.Mode || got.Name != c.want.Name || strings.Join(got.Allowed, ",") != strings.Join(c.want.Allowed, ",") {
			t.Errorf("%s is %+v", c.in, got)
		}
	}
}

func TestWhatBreaksTheRulesIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ in, field string }{
		{`[]`, ""},
		{`{"contents":[}`, ""},
		{`{"contents":[]}`, "contents"},
		{`{}`, "contents"},
		{`{` + someText + `,"cachedContent":"cachedContents/x"}`, "cachedContent"},
		{`{` + someText + `,"tools":[{"functionDeclarations":[{"description":"x"}]}]}`, "tools"},
	} {
		_, err := Codec{}.ReadAsk([]byte(c.in))
		var r *wire.FieldRefusal
		if !errors.As(err, &r) || r.Field != c.field || r.Words == "" {
			t.Errorf("%s: %v", c.in, err)
		}
	}
	if a := read(t, `{"generateContentRequest":{"model":"models/m",`+someText+`}}`); a.Model != "m" || len(a.Turns) != 1 {
		t.Error("what countTokens wraps is not read")
	}
}

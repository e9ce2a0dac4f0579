package gemini

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

var (
	three = wire.Target{Model: "gemini-3.1-pro", Dialect: wire.Dialect{Vendor: "google", Grounds: true}}
	flash = wire.Target{Model: "google/gemini-3.5-flash", Dialect: wire.Dialect{Vendor: "google"}}
	old   = wire.Target{Model: "gemini-2.5-flash", Dialect: wire.Dialect{Vendor: "google", Grounds: true}}
	pro25 = wire.Target{Model: "gemini-2.5-pro", Dialect: wire.Dialect{Vendor: "google"}}
	plain = wire.Target{Model: "gemini-3.1-pro", Dialect: wire.Dialect{OpenAPI: true, NoCallIDs: true}}
)

func say(parts ...wire.Part) wire.Turn    { return wire.Turn{Role: wire.RoleUser, Parts: parts} }
func answer(parts ...wire.Part) wire.Turn { return wire.Turn{Role: wire.RoleAssistant, Parts: parts} }
func text(s string) wire.Part             { return wire.Part{Text: s} }

func calls(id, name, args string) wire.Part {
	return wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func gave(id string, parts ...wire.Part) wire.Part {
	return wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: id, Parts: parts}}
}

func thought(s string, seal *wire.Seal) wire.Part {
	return wire.Part{Kind: wire.KindThinking, Text: s, Seal: seal}
}

func signed(p wire.Part, data string) wire.Part {
	p.Seal = &wire.Seal{API: wire.Gemini, Data: data}
	return p
}

// member writes an ask and shows one member of the request.
func written(t *testing.T, a *wire.Ask, to wire.Target, key string) string {
	t.Helper()
	if a.API == "" {
		a.API = wire.Chat
	}
	body, _, err := Codec{}.WriteAsk(a, to)
	if err != nil {
		t.Fatalf("it is refused: %v", err)
	}
	if !json.Valid(body) {
		t.Fatalf("it is no JSON: %s", body)
	}
	again, _, _ := Codec{}.WriteAsk(a, to)
	if string(again) != string(body) {
		t.Errorf("the same ask was written differently:\n%s\n%s", body, again)
	}
	v := wire.Value(body)
	for _, step := range strings.Split(key, ".") {
		v = v.Get(step)
	}
	return string(v)
}

func TestConversationsAreWritten(t *testing.T) {
	for _, c := range []struct {
		what  string
		to    wire.Target
		turns []wire.Turn
		want  string
	}{
		{
			"turns keep their order", three,
			[]wire.Turn{say(text("u1")), answer(text("a1")), say(text("u2"))},
			`[{"role":"user","parts":[{"text":"u1"}]},{"role":"model","parts":[{"text":"a1"}]},{"role":"user","parts":[{"text":"u2"}]}]`,
		},
		{
			"two contents of the user stay two", three,
			[]wire.Turn{say(text("u1")), say(text("u2"))},
			`[{"role":"user","parts":[{"text":"u1"}]},{"role":"user","parts":[{"text":"u2"}]}]`,
		},
		{
			"but one where results are among them", three,
			[]wire.Turn{say(text("u")), answer(calls("i", "f", `{}`)), say(gave("i", text("r"))), say(text("u2"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"id":"i","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
				`{"role":"user","parts":[{"functionResponse":{"id":"i","name":"f","response":{"output":"r"}}},{"text":"u2"}]}]`,
		},
		{
			"what the system says later is a reminder at its place", three,
			[]wire.Turn{say(text("u")), {Role: wire.RoleSystem, Parts: []wire.Part{text("now")}}, answer(text("a")), say(text("v"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"user","parts":[{"text":"<system-reminder>\nnow\n</system-reminder>"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"v"}]}]`,
		},
		{
			"a beginning of the reply is followed by the user", three,
			[]wire.Turn{say(text("u")), answer(text("a"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"Continue."}]}]`,
		},
		{
			"the user speaks first", three,
			[]wire.Turn{answer(text("a")), say(text("u"))},
			`[{"role":"user","parts":[{"text":"…"}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"u"}]}]`,
		},
		{
			"reasoning of others and empty texts go, and a content of them alone with it", three,
			[]wire.Turn{say(text("u")), answer(thought("t", &wire.Seal{API: wire.Messages, Data: "x"}), text("")), say(text("v"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"user","parts":[{"text":"v"}]}]`,
		},
		{
			"a refusal is text", three,
			[]wire.Turn{say(text("u")), answer(wire.Part{Kind: wire.KindRefusal, Text: "no"}), say(text("v"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"no"}]},{"role":"user","parts":[{"text":"v"}]}]`,
		},
		{
			"a call nobody answered has an answer", plain,
			[]wire.Turn{say(text("u")), answer(calls("i", "f", `{}`), calls("j", "g", `{}`)), say(gave("i", text("r")), text("go on"))},
			`[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}},{"functionResponse":{"name":"g","response":{"error":"[no result: interrupted]"}}},{"text":"go on"}]}]`,
		},
	} {
		if got := written(t, &wire.Ask{Turns: c.turns}, c.to, "contents"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestResultsGoInTheOrderOfTheirCallsWhereNoIdsTellThem(t *testing.T) {
	got := written(t, &wire.Ask{Turns: []wire.Turn{
		say(text("u")), answer(calls("1", "f", `{}`), calls("2", "f", `{}`)), say(gave("2", text("two")), gave("1", text("one"))),
	}}, plain, "contents")
	if one, two := strings.Index(got, `"one"`), strings.Index(got, `"two"`); one > two {
		t.Errorf("the second result is told first: %s", got)
	}
}

func TestTheSystemIsWrittenOnePartAText(t *testing.T) {
	a := &wire.Ask{System: []wire.Part{text("x-anthropic-billing-header: cc_version=1"), text("S1"), text(""), text("S2")}, Turns: []wire.Turn{say(text("u"))}}
	if got := written(t, a, three, "systemInstruction"); got != `{"parts":[{"text":"S1"},{"text":"S2"}]}` {
		t.Error(got)
	}
	if got := written(t, &wire.Ask{Turns: a.Turns}, three, "systemInstruction"); got != "" {
		t.Error(got)
	}
}

func TestASystemAloneIsSaidByTheUser(t *testing.T) {
	a := &wire.Ask{System: []wire.Part{text("S1"), text("S2")}}
	if got := written(t, a, three, "contents"); got != `[{"role":"user","parts":[{"text":"S2"}]}]` {
		t.Error(got)
	}
	if got := written(t, a, three, "systemInstruction"); got != `{"parts":[{"text":"S1"}]}` {
		t.Error(got)
	}
}

// step is a conversation of one exchange with two steps of calls, and one before it.
func step(first, second wire.Part) []wire.Turn {
	return []wire.Turn{
		say(text("u0")), answer(calls("0", "f", `{}`)), say(gave("0", text("r"))), answer(text("a0")),
		say(text("u1")), answer(first, calls("2", "f", `{}`)), say(gave("1", text("r")), gave("2", text("r"))),
		answer(second), say(gave("3", text("r")), text("<system-reminder>x</system-reminder>")),
	}
}

// signatures are those of the calls, in order; - is none.
func signatures(contents string) string {
	var out []string
	wire.Value(contents).Elements(func(c wire.Value) {
		c.Get("parts").Elements(func(p wire.Value) {
			if p.Get("functionCall").None() {
				return
			}
			s := p.Get("thoughtSignature").Text()
			if s == "" {
				s = "-"
			}
			out = append(out, s)
		})
	})
	return strings.Join(out, " ")
}

func TestSignatures(t *testing.T) {
	one, three3 := calls("1", "f", `{}`), calls("3", "f", `{}`)
	foreign := one
	foreign.Seal = &wire.Seal{API: wire.Gemini, Vendor: "other", Data: "AA=="}
	for _, c := range []struct {
		what  string
		to    wire.Target
		turns []wire.Turn
		want  string
	}{
		{"the first call of each step of the exchange has one, lost or not", three, step(one, three3), "- skip_thought_signature_validator - skip_thought_signature_validator"},
		{"its own goes back", three, step(signed(one, "AA=="), signed(three3, "Ag==")), "- AA== - Ag=="},
		{"another vendor's doesn't", three, step(foreign, signed(three3, "Ag==")), "- skip_thought_signature_validator - Ag=="},
		{"what is no base64 isn't one", three, step(signed(one, "no base64!"), three3), "- skip_thought_signature_validator - skip_thought_signature_validator"},
		{"Gemini 2.5 asks for none", old, step(one, three3), "- - - -"},
		{"but gets those that there are", old, step(signed(one, "AA=="), three3), "- AA== - -"},
		{"a model that is no Gemini never gets the escape", wire.Target{Model: "claude-opus-4-5"}, step(one, three3), "- - - -"},
		{"an alias without a number is the newest", wire.Target{Model: "gemini-flash-latest"}, step(one, three3), "- skip_thought_signature_validator - skip_thought_signature_validator"},
	} {
		if got := signatures(written(t, &wire.Ask{Turns: c.turns}, c.to, "contents")); got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestASignatureThatCameWithReasoningGoesToTheCall(t *testing.T) {
	seal := &wire.Seal{API: wire.Gemini, Data: "AA=="}
	a := &wire.Ask{Turns: []wire.Turn{say(text("u")), answer(thought("t", seal), text("ok"), calls("1", "f", `{}`)), say(gave("1"))}}
	if got := written(t, a, three, "contents"); signatures(got) != "AA==" || strings.Contains(got, `"t"`) {
		t.Error(got)
	}
	a = &wire.Ask{Turns: []wire.Turn{say(text("u")), answer(thought("", seal), text("ok")), say(text("v"))}}
	if got := written(t, a, three, "contents"); !strings.Contains(got, `{"text":"ok","thoughtSignature":"AA=="}`) {
		t.Error(got)
	}
}

func TestCallsAndResultsAreWritten(t *testing.T) {
	png := wire.Part{Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: "iVBO"}}
	free := wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: "i", Name: "f", Free: true, Input: "a\n\"b\""}}
	failed := gave("i", text("down"))
	failed.Reply.Error = true
	for _, c := range []struct {
		what         string
		to           wire.Target
		call, result wire.Part
		wantCall     string
		wantResult   string
	}{
		{
			"numbers keep their spelling", plain, calls("i", "f", `{"n":1.50,"big":12345678901234567890}`), gave("i", text("x")),
			`{"functionCall":{"name":"f","args":{"n":1.50,"big":12345678901234567890}}}`, `[{"functionResponse":{"name":"f","response":{"output":"x"}}}]`,
		},
		{
			"no arguments are an empty object, no result an empty text", plain, calls("i", "f", ``), gave("i"),
			`{"functionCall":{"name":"f","args":{}}}`, `[{"functionResponse":{"name":"f","response":{"output":""}}}]`,
		},
		{
			"arguments that are no object are an input, a failure an error", plain, calls("i", "f", `[1]`), failed,
			`{"functionCall":{"name":"f","args":{"input":"[1]"}}}`, `[{"functionResponse":{"name":"f","response":{"error":"down"}}}]`,
		},
		{
			"a freeform call has its input", plain, free, gave("i", text("a"), text("b")),
			`{"functionCall":{"name":"f","args":{"input":"a\n\"b\""}}}`, `[{"functionResponse":{"name":"f","response":{"output":"a\nb"}}}]`,
		},
		{
			"JSON of a result stays text", plain, calls("i", "f", `{}`), gave("i", text(`{"a":1}`)),
			`{"functionCall":{"name":"f","args":{}}}`, `[{"functionResponse":{"name":"f","response":{"output":"{\"a\":1}"}}}]`,
		},
		{
			"a name that may not stand is changed alike", plain, calls("i", "1 f", `{}`), gave("i", text("x")),
			`{"functionCall":{"name":"` + names.Name("1 f") + `","args":{}}}`, `[{"functionResponse":{"name":"` + names.Name("1 f") + `","response":{"output":"x"}}}]`,
		},
		{
			"Gemini 3 has an image in its result", plain, calls("i", "f", `{}`), gave("i", text("x"), png),
			`{"functionCall":{"name":"f","args":{}}}`, `[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]}}]`,
		},
		{
			"Gemini 2.5 has it behind", old, calls("i", "f", `{}`), gave("i", text("x"), png),
			`{"functionCall":{"id":"i","name":"f","args":{}}}`, `[{"functionResponse":{"id":"i","name":"f","response":{"output":"x"}}},{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]`,
		},
		{
			"an image that was sent as text is one", plain, calls("i", "f", `{}`), gave("i", text(`[{"type":"input_image","image_url":"data:image/png;base64,iVBO"}]`)),
			`{"functionCall":{"name":"f","args":{}}}`, `[{"functionResponse":{"name":"f","response":{"output":""},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]}}]`,
		},
	} {
		got := written(t, &wire.Ask{Turns: []wire.Turn{say(text("u")), answer(c.call), say(c.result)}}, c.to, "contents")
		got = strings.ReplaceAll(got, `,"thoughtSignature":"skip_thought_signature_validator"`, "")
		want := `[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[` + c.wantCall + `]},{"role":"user","parts":` + c.wantResult + `}]`
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, want)
		}
	}
}

func TestMediaAreWritten(t *testing.T) {
	for _, c := range []struct {
		what string
		kind wire.Kind
		m    wire.Media
		want string
	}{
		{"an image", wire.KindImage, wire.Media{MIME: "image/png", Data: "AA", Detail: "high"}, `{"inlineData":{"mimeType":"image/png","data":"AA"}}`},
		{"one without a type", wire.KindImage, wire.Media{Data: "/9j/AA"}, `{"inlineData":{"mimeType":"image/jpeg","data":"/9j/AA"}}`},
		{"a PDF", wire.KindFile, wire.Media{MIME: "application/pdf", Data: "AA", Name: "a.pdf"}, `{"inlineData":{"mimeType":"application/pdf","data":"AA"}}`},
		{"a document of text", wire.KindFile, wire.Media{MIME: "text/plain", Text: "body", Name: "Title"}, `{"text":"Title\nbody"}`},
		{"sound", wire.KindAudio, wire.Media{MIME: "audio/wav", Data: "AA"}, `{"inlineData":{"mimeType":"audio/wav","data":"AA"}}`},
		{"a film", wire.KindVideo, wire.Media{MIME: "video/mp4", Data: "AA"}, `{"inlineData":{"mimeType":"video/mp4","data":"AA"}}`},
		{"what lies at Google", wire.KindVideo, wire.Media{MIME: "video/mp4", URL: "gs://b/v"}, `{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"}}`},
	} {
		got := written(t, &wire.Ask{Turns: []wire.Turn{say(wire.Part{Kind: c.kind, Media: &c.m})}}, three, "contents")
		if want := `[{"role":"user","parts":[` + c.want + `]}]`; got != want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestWhatCannotBeFetchedIsRefusedNowAndNotedBefore(t *testing.T) {
	at := wire.Part{Kind: wire.KindImage, Media: &wire.Media{URL: "https://e.org/i.png"}}
	id := wire.Part{Kind: wire.KindFile, Media: &wire.Media{ID: "file-1"}}
	for what, c := range map[string]struct {
		a     *wire.Ask
		field string
	}{
		"an image at a URL":            {&wire.Ask{API: wire.Chat, Turns: []wire.Turn{say(at)}}, "image_url"},
		"a file of another vendor":     {&wire.Ask{API: wire.Messages, Turns: []wire.Turn{say(id)}}, "document"},
		"an image in the last results": {&wire.Ask{API: wire.Responses, Turns: []wire.Turn{say(text("u")), answer(calls("1", "f", "{}")), say(gave("1", at))}}, "input_image"},
		"more than one reply":          {&wire.Ask{API: wire.Chat, N: 2, Turns: []wire.Turn{say(text("u"))}}, "n"},
	} {
		_, _, err := Codec{}.WriteAsk(c.a, three)
		var r *wire.FieldRefusal
		if !errors.As(err, &r) || r.Field != c.field {
			t.Errorf("%s: %v", what, err)
		}
	}
	a := &wire.Ask{API: wire.Chat, Turns: []wire.Turn{say(at), answer(text("a")), say(text("u"))}}
	body, lost, err := Codec{}.WriteAsk(a, three)
	if err != nil || len(lost) != 1 || lost[0].What != "image_url" || !strings.Contains(string(body), "image left out") {
		t.Errorf("of an earlier turn: %s %v %v", body, lost, err)
	}
}

func TestThinkingIsAskedFor(t *testing.T) {
	budget := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		what string
		to   wire.Target
		a    wire.Ask
		want string
	}{
		{"nothing said, nothing asked", three, wire.Ask{}, ``},
		{"Gemini 3 takes levels", three, wire.Ask{Effort: "low"}, `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		{"those above its highest are that", three, wire.Ask{Effort: "max", API: wire.Responses}, `{"thinkingLevel":"HIGH"}`},
		{"none is the lowest of Pro", three, wire.Ask{Effort: "none"}, `{"thinkingLevel":"LOW"}`},
		{"and of Flash", flash, wire.Ask{Effort: "none"}, `{"thinkingLevel":"MINIMAL"}`},
		{"of which nothing is shown", wire.Target{Model: "gemini-3.5-flash", Efforts: []string{"minimal", "low", "high"}}, wire.Ask{Budget: budget(0), API: wire.Messages}, `{"thinkingLevel":"MINIMAL"}`},
		{"a level that it hasn't is the next below", wire.Target{Model: "gemini-3-pro", Efforts: []string{"low", "high"}}, wire.Ask{Effort: "medium", API: wire.Responses}, `{"thinkingLevel":"LOW"}`},
		{"a budget is a level there", three, wire.Ask{Budget: budget(2000), API: wire.Messages}, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"as much as it likes is no level", three, wire.Ask{Budget: budget(-1), API: wire.Messages}, `{"includeThoughts":true}`},
		{"Gemini 2.5 takes budgets", old, wire.Ask{Effort: "high", API: wire.Responses}, `{"thinkingBudget":24576}`},
		{"its own number", old, wire.Ask{Budget: budget(2000), API: wire.Messages}, `{"includeThoughts":true,"thinkingBudget":2000}`},
		{"up to its most", old, wire.Ask{Budget: budget(60000), API: wire.Messages, Show: wire.ShowNone}, `{"thinkingBudget":24576}`},
		{"none is 0", old, wire.Ask{Effort: "none", Show: wire.ShowSummary}, `{"thinkingBudget":0}`},
		{"but not of Pro", pro25, wire.Ask{Budget: budget(0)}, `{"thinkingBudget":128}`},
		{"dynamic is -1", pro25, wire.Ask{Budget: budget(-1), API: wire.Responses}, `{"thinkingBudget":-1}`},
		{"who shows reasoning gets it", three, wire.Ask{Show: wire.ShowSummary, API: wire.Responses}, `{"includeThoughts":true}`},
		{"who doesn't say doesn't, at Responses", three, wire.Ask{Effort: "low", API: wire.Responses}, `{"thinkingLevel":"LOW"}`},
		{"a model that doesn't think is not told", wire.Target{Model: "gemini-2.0-flash"}, wire.Ask{Effort: "high", Show: wire.ShowSummary}, ``},
		{"nor one that is no Gemini", wire.Target{Model: "gemma-3"}, wire.Ask{Effort: "high"}, ``},
		{"nor where the vendor refuses it", wire.Target{Model: "gemini-3-pro", Dialect: wire.Dialect{Unsupported: []string{"thinkingConfig"}}}, wire.Ask{Effort: "high"}, ``},
	} {
		c.a.Turns = []wire.Turn{say(text("u"))}
		if got := written(t, &c.a, c.to, "generationConfig.thinkingConfig"); got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestConfigIsWritten(t *testing.T) {
	most := int64(99999)
	a := &wire.Ask{
		Turns: []wire.Turn{say(text("u"))}, Temperature: "1.50", TopP: "0.8", TopK: new(int64), Max: &most, Seed: "3", Presence: "0.5", Frequency: "0.25",
		Stop: []string{"1", "2", "3", "4", "5", "6"}, Tier: "flex",
	}
	to := three
	to.Output = 65536
	want := `{"temperature":1.50,"topP":0.8,"topK":0,"maxOutputTokens":65536,"stopSequences":["1","2","3","4","5"],"seed":3,"presencePenalty":0.5,"frequencyPenalty":0.25}`
	if got := written(t, a, to, "generationConfig"); got != want {
		t.Errorf("got %s", got)
	}
	if got := written(t, a, to, "serviceTier"); got != `"flex"` {
		t.Errorf("the tier is %s", got)
	}
	if got := written(t, &wire.Ask{Turns: a.Turns, Tier: "default"}, to, "serviceTier"); got != "" {
		t.Errorf("the usual tier is said: %s", got)
	}
	to.Dialect.Unsupported = []string{"presencePenalty", "frequencyPenalty", "seed"}
	if got := written(t, a, to, "generationConfig"); strings.Contains(got, "Penalty") || strings.Contains(got, "seed") {
		t.Errorf("what the vendor refuses is sent: %s", got)
	}
}

func TestLossesAreTold(t *testing.T) {
	yes, n := true, int64(2)
	a := &wire.Ask{
		API: wire.Chat, Turns: []wire.Turn{say(wire.Part{Text: "u", Cache: &wire.Cache{}})}, Verbosity: "low", CacheKey: "k", User: "u", Metadata: json.RawMessage(`{"a":"b"}`),
		Store: &yes, OneCall: true, Logprobs: &n, Seed: "99999999999", Stop: []string{"1", "2", "3", "4", "5", "6"}, Extra: []wire.Field{{Name: "logit_bias"}},
		Tools: []wire.Tool{
			{Name: "f", Strict: &yes, Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`)},
			{Kind: wire.ToolHosted, Hosted: "code"},
			{Kind: wire.ToolHosted, Hosted: "web_search", Search: &wire.Search{Allowed: []string{"x"}}},
		},
	}
	_, lost, err := Codec{}.WriteAsk(a, three)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lost {
		got = append(got, l.What)
	}
	want := "tools.strict, tools.f schema: minLength, tools.code, tools.web_search.allowed_domains, stop, seed, logprobs, verbosity, prompt_cache_key, user, metadata, store, parallel_tool_calls, cache_control, logit_bias"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
	if _, lost, _ := (Codec{}).WriteAsk(&wire.Ask{API: wire.Chat, Turns: []wire.Turn{say(text("u"))}, Effort: "low", Temperature: "1"}, three); lost != nil {
		t.Errorf("what can be said is told as lost: %v", lost)
	}
}

func TestToolsAreWritten(t *testing.T) {
	object := json.RawMessage(`{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`)
	free := wire.Tool{Kind: wire.ToolFree, Name: "patch", Description: "P", Grammar: &wire.Grammar{Syntax: "lark", Definition: "start: x"}}
	search := wire.Tool{Kind: wire.ToolHosted, Hosted: "web_search", Search: &wire.Search{Blocked: []string{"x.org"}}}
	fetch := wire.Tool{Kind: wire.ToolHosted, Hosted: "web_fetch"}
	f := wire.Tool{Name: "f", Description: "F", Schema: object}
	for _, c := range []struct {
		what  string
		to    wire.Target
		tools []wire.Tool
		want  string
	}{
		{"none are none", three, nil, ``},
		{"a schema of JSON", three, []wire.Tool{f}, `[{"functionDeclarations":[{"name":"f","description":"F","parametersJsonSchema":` + string(object) + `}]}]`},
		{"one of OpenAPI", plain, []wire.Tool{f}, `[{"functionDeclarations":[{"name":"f","description":"F","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}]}]`},
		{"what takes nothing has none", three, []wire.Tool{{Name: "g"}, {Name: "h", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}, `[{"functionDeclarations":[{"name":"g"},{"name":"h"}]}]`},
		{"a freeform tool takes one text", three, []wire.Tool{free}, `[{"functionDeclarations":[{"name":"patch","description":"P\n\nInput is raw text following this lark grammar:\nstart: x","parametersJsonSchema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}]}]`},
		{"a second of one name goes", three, []wire.Tool{{Name: "g"}, {Name: "g", Description: "other"}}, `[{"functionDeclarations":[{"name":"g"}]}]`},
		{
			"a union at the root is one object", three,
			[]wire.Tool{{Name: "g", Schema: json.RawMessage(`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"type":"object","properties":{"b":{"type":"string"}}}]}`)}},
			`[{"functionDeclarations":[{"name":"g","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}]}]`,
		},
		{"Gemini 3 searches beside functions", three, []wire.Tool{search, f, fetch}, `[{"functionDeclarations":[{"name":"f","description":"F","parametersJsonSchema":` + string(object) + `}]},{"googleSearch":{"excludeDomains":["x.org"]}},{"urlContext":{}}]`},
		{"Gemini 2.5 does not", old, []wire.Tool{search, {Name: "g"}}, `[{"functionDeclarations":[{"name":"g"}]}]`},
		{"but without functions", old, []wire.Tool{search}, `[{"googleSearch":{"excludeDomains":["x.org"]}}]`},
		{"who can't search is not asked to", plain, []wire.Tool{search, {Name: "g"}}, `[{"functionDeclarations":[{"name":"g"}]}]`},
	} {
		if got := written(t, &wire.Ask{Turns: []wire.Turn{say(text("u"))}, Tools: c.tools}, c.to, "tools"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestChoicesAreWritten(t *testing.T) {
	tools := []wire.Tool{{Name: "f"}, {Name: "a b"}, {Kind: wire.ToolHosted, Hosted: "web_search"}}
	for _, c := range []struct {
		choice wire.Choice
		tools  []wire.Tool
		want   string
	}{
		{wire.Choice{}, tools, ``},
		{wire.Choice{Mode: wire.ChoiceAuto}, tools, `{"mode":"AUTO"}`},
		{wire.Choice{Mode: wire.ChoiceNone}, tools, `{"mode":"NONE"}`},
		{wire.Choice{Mode: wire.ChoiceRequired}, tools, `{"mode":"ANY"}`},
		{wire.Choice{Mode: wire.ChoiceTool, Name: "a b"}, tools, `{"mode":"ANY","allowedFunctionNames":["` + names.Name("a b") + `"]}`},
		{wire.Choice{Mode: wire.ChoiceTool, Name: "gone"}, tools, `{"mode":"AUTO"}`},
		{wire.Choice{Mode: wire.ChoiceTool, Hosted: "web_search"}, tools, `{"mode":"AUTO"}`},
		{wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{"f"}}, tools, `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`},
		{wire.Choice{Mode: wire.ChoiceRequired, Allowed: []string{"f", "a b", "gone"}}, tools, `{"mode":"ANY","allowedFunctionNames":["f","` + names.Name("a b") + `"]}`},
		{wire.Choice{Mode: wire.ChoiceRequired}, tools[2:], ``},
		{wire.Choice{Mode: wire.ChoiceNone}, nil, ``},
	} {
		got := written(t, &wire.Ask{Turns: []wire.Turn{say(text("u"))}, Tools: c.tools, Choice: c.choice}, three, "toolConfig.functionCallingConfig")
		if got != c.want {
			t.Errorf("%+v: %s, not %s", c.choice, got, c.want)
		}
	}
}

func TestFormatsAreWritten(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	for _, c := range []struct {
		what   string
		to     wire.Target
		format wire.Format
		tools  []wire.Tool
		want   string
	}{
		{"any object", three, wire.Format{}, nil, `{"responseMimeType":"application/json"}`},
		{"a schema", three, wire.Format{Name: "o", Schema: schema}, []wire.Tool{{Name: "f"}}, `{"responseMimeType":"application/json","responseJsonSchema":` + string(schema) + `}`},
		{"one of OpenAPI", plain, wire.Format{Schema: schema}, nil, `{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}}`},
		{"before Gemini 3 not beside functions", old, wire.Format{Schema: schema}, []wire.Tool{{Name: "f"}}, ``},
	} {
		a := &wire.Ask{Turns: []wire.Turn{say(text("u"))}, Tools: c.tools, Format: &c.format}
		if got := written(t, a, c.to, "generationConfig"); got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
		if system := written(t, a, c.to, "systemInstruction"); (c.want == "") != strings.Contains(system, "JSON Schema") {
			t.Errorf("%s: the system says %q", c.what, system)
		}
	}
}

func TestAnImageModelIsAskedForImages(t *testing.T) {
	a := &wire.Ask{Turns: []wire.Turn{say(text("u"))}, Tools: []wire.Tool{{Kind: wire.ToolHosted, Hosted: "image"}}}
	if got := written(t, a, wire.Target{Model: "gemini-3-pro-image"}, "generationConfig"); got != `{"responseModalities":["TEXT","IMAGE"]}` {
		t.Error(got)
	}
	if got := written(t, a, three, "generationConfig"); got != "" {
		t.Error(got)
	}
}

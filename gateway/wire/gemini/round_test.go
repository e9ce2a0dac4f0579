package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
)

// own is a request with all that the API can say.
const own = `{"systemInstruction":{"parts":[{"text":"S1"},{"text":"S2"}]},"contents":[
{"role":"user","parts":[{"text":"u"},{"inlineData":{"mimeType":"image/png","data":"iVBO"}},{"inlineData":{"mimeType":"text/plain","data":"YQ=="}},{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"},"videoMetadata":{"fps":1}},{"fileData":{"mimeType":"image/png","fileUri":"https://e.org/i.png"}}]},
{"role":"user","parts":[{"text":"u2"}]},
{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"AA=="},{"text":"a","thoughtSignature":"Ag=="},{"executableCode":{"language":"PYTHON","code":"1"}},{"functionCall":{"name":"f","args":{"n":1.50}},"thoughtSignature":"Aw=="},{"functionCall":{"id":"x","name":"f","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]}},{"functionResponse":{"id":"x","name":"f","response":{"a":[1]}}}]},
{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"BA=="}]},
{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"error":"no"}}}]}],
"tools":[{"functionDeclarations":[{"name":"f","description":"F","parametersJsonSchema":{"type":"object","properties":{"n":{"type":"number"}}}}]},{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}],
"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]},"retrievalConfig":{"languageCode":"en"}},
"generationConfig":{"temperature":1.50,"topP":0.8,"topK":40,"maxOutputTokens":2000,"stopSequences":["E"],"seed":3,"presencePenalty":0.5,"frequencyPenalty":0.25,"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}},"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"},"mediaResolution":"MEDIA_RESOLUTION_LOW"},
"safetySettings":[{"category":"C","threshold":"BLOCK_NONE"}],"serviceTier":"flex"}`

func TestAnAskComesRound(t *testing.T) {
	first := read(t, own)
	body, lost, err := Codec{}.WriteAsk(first, three)
	if err != nil || lost != nil {
		t.Fatalf("%v, lost %v", err, lost)
	}
	second := read(t, string(body))
	if got, want := askText(t, second), askText(t, first); got != want {
		t.Errorf("it came round as\n%s\nnot\n%s", got, want)
	}
	if again, _, _ := (Codec{}).WriteAsk(second, three); string(again) != string(body) {
		t.Errorf("written again it is\n%s\nnot\n%s", again, body)
	}
}

// askText shows an ask; raw JSON is compacted, and what Begins says is left out.
func askText(t testing.TB, a *wire.Ask) string {
	t.Helper()
	b := *a
	b.Turns = nil
	for _, turn := range a.Turns {
		if n := len(b.Turns) - 1; n >= 0 && b.Turns[n].Role == turn.Role && hasResult(b.Turns[n].Parts) {
			b.Turns[n].Parts = append(b.Turns[n].Parts, turn.Parts...)
			continue
		}
		b.Turns = append(b.Turns, wire.Turn{Role: turn.Role, Parts: append([]wire.Part(nil), turn.Parts...)})
	}
	out, err := json.Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// drawAsk makes a request of this API.
func drawAsk(t *rapid.T) string {
	var contents []string
	texts := rapid.SampledFrom([]string{`"a"`, `"é\n\"<&>"`, `"{\"a\":1}"`, `"x y"`})
	for i := range rapid.IntRange(1, 5).Draw(t, "rounds") {
		contents = append(contents, `{"role":"user","parts":[{"text":`+texts.Draw(t, "text")+`}]}`)
		n := rapid.IntRange(0, 3).Draw(t, "calls")
		if n == 0 {
			contents = append(contents, `{"role":"model","parts":[{"text":`+texts.Draw(t, "said")+`}]}`)
			continue
		}
		var made, gave []string
		for j := range n {
			name := rapid.SampledFrom([]string{"f", "g"}).Draw(t, "name")
			id := ""
			if rapid.Bool().Draw(t, "with an id") {
				id = fmt.Sprintf(`,"id":"i%d_%d"`, i, j)
			}
			sign := ""
			if j == 0 {
				sign = `,"thoughtSignature":"AA=="`
			}
			made = append(made, `{"functionCall":{"name":"`+name+`","args":{"n":`+rapid.SampledFrom([]string{"1", "1.50", `"x"`}).Draw(t, "arg")+`}`+id+`}`+sign+`}`)
			gave = append(gave, `{"functionResponse":{"name":"`+name+`","response":{"`+rapid.SampledFrom([]string{"output", "error"}).Draw(t, "key")+`":`+texts.Draw(t, "result")+`}`+id+`}}`)
		}
		contents = append(contents, `{"role":"model","parts":[`+strings.Join(made, ",")+`]}`, `{"role":"user","parts":[`+strings.Join(gave, ",")+`]}`)
	}
	if strings.HasPrefix(contents[len(contents)-1], `{"role":"model"`) {
		contents = append(contents, `{"role":"user","parts":[{"text":"go on"}]}`)
	}
	return `{"contents":[` + strings.Join(contents, ",") + `]}`
}

func TestAnyConversationComesRound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawAsk(rt)
		first, err := Codec{}.ReadAsk([]byte(in))
		if err != nil {
			rt.Fatal(err)
		}
		body, lost, err := Codec{}.WriteAsk(first, three)
		if err != nil || lost != nil {
			rt.Fatalf("%v, lost %v", err, lost)
		}
		second, err := Codec{}.ReadAsk(body)
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := askText(t, second), askText(t, first); got != want {
			rt.Fatalf("%s\ncame round as\n%s\nnot\n%s", in, got, want)
		}
	})
}

func TestAReplyComesRound(t *testing.T) {
	seal := &wire.Seal{API: wire.Gemini, Data: "AA=="}
	events := []wire.Event{
		{Kind: wire.EventStart, ID: "r", Model: "m"},
		{Kind: wire.EventThinking, Text: "th", Part: 1},
		{Kind: wire.EventText, Text: "He", Part: 2, Seal: seal},
		{Kind: wire.EventText, Text: "y", Part: 2},
		{Kind: wire.EventCall, Call: &wire.Call{ID: "i", Name: "f"}, Seal: seal},
		argsOf(0, `{"a":1.50}`),
		ended(0, "i", "f", `{"a":1.50}`),
		{Kind: wire.EventMedia, Media: &wire.Media{MIME: "image/png", Data: "AA"}},
		{Kind: wire.EventUsage, Usage: wire.Usage{Input: 10, Output: 8, Reasoning: 3, CacheRead: 4}},
		{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishCalls, Detail: "STOP"}},
	}
	out, _ := reply(shown, wire.WriterOptions{Stream: true, Model: "m"}, events...)
	if got, want := told(stream(&wire.Ask{}, out, 5)), told(events); got != want {
		t.Errorf("it came round as\n%s\nnot\n%s", got, want)
	}
	whole, _ := reply(shown, wire.WriterOptions{Model: "m"}, events...)
	var f, g wire.Fold
	for _, e := range events {
		f.Add(e)
	}
	for _, e := range (Codec{}).NewReader(nil).Whole([]byte(whole)) {
		g.Add(e)
	}
	got, _ := json.Marshal(g.Answer())
	want, _ := json.Marshal(f.Answer())
	if string(got) != string(want) {
		t.Errorf("whole it came round as\n%s\nnot\n%s", got, want)
	}
}

func FuzzReadAsk(f *testing.F) {
	f.Add([]byte(own))
	f.Add([]byte(`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":[1]}},{"thoughtSignature":"bWFncGllMS5lMzA9","text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"x","parameters":{"type":"OBJECT"}}]}]}`))
	f.Add([]byte(`{"contents":{"parts":{"text":"x"}},"generation_config":{"stop_sequences":[1,null,"a"],"logprobs":3}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := Codec{}.ReadAsk(in)
		if err != nil {
			return
		}
		for _, to := range []wire.Target{three, old, plain, {Model: "x"}} {
			for _, api := range []wire.Protocol{wire.Gemini, wire.Messages} {
				b := *a
				b.API = api
				body, _, err := Codec{}.WriteAsk(&b, to)
				if err != nil {
					continue
				}
				if !json.Valid(body) {
					t.Fatalf("this is no JSON: %s", body)
				}
				if _, err := (Codec{}).ReadAsk(body); err != nil {
					t.Fatalf("what was written can't be read: %v\n%s", err, body)
				}
				if again, _, _ := (Codec{}).WriteAsk(&b, to); string(again) != string(body) {
					t.Fatal("the same ask was written differently")
				}
			}
		}
	})
}

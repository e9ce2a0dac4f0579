package sdk_test

import (
	"context"
	"encoding/base64"
	"testing"

	"dev.magpie/gateway/wire"
)

// asker is one SDK asking any vendor's model through its own API, with what all four APIs can say.
type asker interface {
	put(ctx context.Context, q question) (heard, error)
	told(err error) (status int, words string)
}

// question is a request before it has an API's shape.
type question struct {
	model    string
	said     string
	streamed bool
	picture  bool // a picture beside the words
	schema   bool // the answer is to be JSON of answerSchema
	thinks   bool // it shows its thinking
	tool     bool // the weather tool is on offer
}

// heard is what an SDK made of an answer.
type heard struct {
	reply          // in counts what was read from a cache, too
	cached  int64  // of it
	thought string // the thinking that was shown
	call    string // the arguments of a call of the weather tool
	again   func(ctx context.Context, result string) (heard, error)
}

// askers is the table of clients.
var askers = []struct {
	name string
	api  wire.Protocol
	open func(base, key string) asker
}{
	{"openai-go chat", wire.Chat, func(base, key string) asker { return chatSpeaker{openAIClient(base, key)} }},
	{"openai-go responses", wire.Responses, func(base, key string) asker { return responsesSpeaker{openAIClient(base, key)} }},
	{"anthropic-sdk-go", wire.Messages, func(base, key string) asker { return openMessages(base, key).(messagesSpeaker) }},
	{"anthropic-sdk-go v2", wire.Messages, func(base, key string) asker { return openMessages2(base, key).(messages2Speaker) }},
	{"genai", wire.Gemini, func(base, key string) asker { return openGenAI("v1beta")(base, key).(genaiSpeaker) }},
}

// answerer is one vendor with one API.
type answerer struct {
	name      string
	api       wire.Protocol
	house     house
	standin   string // its name among the stand-ins
	shows     bool   // its API shows thinking
	blind     bool   // it takes no pictures
	loose     bool   // it knows JSON, but no schemas
	thinkBack bool   // it wants the thinking of calling turns back
}

func (a answerer) model() string { return a.house.name + "/" + a.house.models[0] }

// onlyBase are the config's lines of a provider that speaks one API; what a preset knows besides is taken away.
func onlyBase(api wire.Protocol, base string) string {
	lines := ""
	for _, p := range wire.Protocols {
		if p == api {
			lines += string(p) + " = \"" + base + "\"\n"
		} else {
			lines += string(p) + " = \"\"\n"
		}
	}
	return lines
}

// answerers is the table of vendors.
var answerers = []answerer{
	{name: "OpenAI's Chat", api: wire.Chat, standin: "openai", house: house{"openai", onlyBase(wire.Chat, "{at}/v1"), []string{"gpt-5.4"}}},
	{name: "Kimi's Chat", api: wire.Chat, standin: "kimi", house: house{"moonshot", onlyBase(wire.Chat, "{at}/v1"), []string{"kimi-k3"}}, shows: true, thinkBack: true},
	{name: "DeepSeek's Chat", api: wire.Chat, standin: "deepseek", house: house{"deepseek", onlyBase(wire.Chat, "{at}/v1"), []string{"deepseek-v4-flash"}}, shows: true, blind: true, loose: true, thinkBack: true},
	{name: "a relay's Chat", api: wire.Chat, house: house{"relay", "chat = \"{at}/v1\"\n", []string{"glm-5.3"}}, shows: true, blind: true, thinkBack: true},
	{name: "OpenAI's Responses", api: wire.Responses, standin: "openai", house: house{"openai", onlyBase(wire.Responses, "{at}/v1"), []string{"gpt-5.4"}}, shows: true},
	{name: "a relay's Responses", api: wire.Responses, house: house{"relay", "responses = \"{at}/v1\"\n", []string{"gpt-6-sol"}}, shows: true},
	{name: "Anthropic's Messages", api: wire.Messages, standin: "anthropic", house: house{"anthropic", onlyBase(wire.Messages, "{at}"), []string{"claude-sonnet-5-5"}}, shows: true},
	{name: "Anthropic's Messages, an older model", api: wire.Messages, standin: "anthropic", house: house{"anthropic", onlyBase(wire.Messages, "{at}"), []string{"claude-sonnet-4-5"}}, shows: true},
	{name: "Google's Gemini", api: wire.Gemini, standin: "gemini", house: house{"gemini", onlyBase(wire.Gemini, "{at}/v1beta"), []string{"gemini-3.8-flash"}}, shows: true},
	{name: "Google's Gemini, an older model", api: wire.Gemini, standin: "gemini", house: house{"gemini", onlyBase(wire.Gemini, "{at}/v1beta"), []string{"gemini-2.5-flash"}}, shows: true},
}

// cell is one client at one vendor, asking in one of the ways.
type cell struct {
	from     wire.Protocol
	at       answerer
	streamed bool
	r        *rig
	asker
}

// ask is a question of the cell's.
func (c cell) ask() question {
	return question{model: c.at.model(), said: "What is the answer?", streamed: c.streamed}
}

// everyCell runs a test for each client at each vendor, streamed and not, on a rig of its own.
func everyCell(t *testing.T, test func(t *testing.T, c cell)) {
	t.Helper()
	for _, a := range askers {
		t.Run(a.name, func(t *testing.T) {
			for _, v := range answerers {
				for _, w := range ways {
					t.Run(v.name+" "+w.name, func(t *testing.T) {
						t.Parallel()
						r := newRigOn(t, v.house, v.standin, v.api)
						test(t, cell{from: a.api, at: v, streamed: w.streamed, r: r, asker: a.open(r.base, "magpie-sdk-cell")})
					})
				}
			}
		})
	}
}

// once asks and expects a whole answer.
func (c cell) once(t *testing.T, q question) heard {
	t.Helper()
	got, err := c.put(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	if !got.done {
		t.Errorf("the reply does not read as finished: %+v", got)
	}
	return got
}

// picture is a PNG of one pixel.
var picture, _ = base64.StdEncoding.DecodeString(pictureText)

const pictureText = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const pictureURL = "data:image/png;base64," + pictureText

// answerSchema is what a structured answer looks like.
var answerSchema = map[string]any{
	"type": "object", "additionalProperties": false, "required": []string{"answer", "sure", "parts"},
	"properties": map[string]any{
		"answer": map[string]any{"type": "string"},
		"sure":   map[string]any{"type": "boolean"},
		"parts":  map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"six", "seven"}}},
	},
}

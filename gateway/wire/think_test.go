package wire

import (
	"encoding/json"
	"testing"
)

func TestABodySaysHowHardToThink(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     Protocol
		body  string
		level string
		on    bool
	}{
		{"chat, nothing", Chat, `{"messages":[]}`, "", false},
		{"chat, a level", Chat, `{"reasoning_effort":"LOW"}`, "low", true},
		{"chat, none", Chat, `{"reasoning_effort":"none"}`, "none", false},
		{"chat, a router's object", Chat, `{"reasoning":{"effort":"high"}}`, "high", true},
		{"chat, a switch", Chat, `{"thinking":{"type":"enabled"}}`, "", true},
		{"chat, a switch that is off", Chat, `{"enable_thinking":false}`, "none", false},
		{"responses", Responses, `{"reasoning":{"effort":"medium","summary":"auto"}}`, "medium", true},
		{"responses, only a summary", Responses, `{"reasoning":{"summary":"auto"}}`, "", false},
		{"messages, adaptive", Messages, `{"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}}`, "max", true},
		{"messages, adaptive without a level", Messages, `{"thinking":{"type":"adaptive"}}`, "", true},
		{"messages, a budget", Messages, `{"thinking":{"type":"enabled","budget_tokens":8000}}`, "medium", true},
		{"messages, off", Messages, `{"thinking":{"type":"disabled"},"output_config":{"effort":"max"}}`, "none", false},
		{"messages, nothing", Messages, `{"max_tokens":9}`, "", false},
		{"gemini, a level", Gemini, `{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}`, "high", true},
		{"gemini, a budget", Gemini, `{"generation_config":{"thinking_config":{"thinking_budget":0}}}`, "none", false},
		{"gemini, as it likes", Gemini, `{"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}}`, "", true},
	} {
		e, err := Read([]byte(c.body), c.p)
		if err != nil {
			t.Fatal(err)
		}
		if level, on := e.Thinks([]byte(c.body), c.p); level != c.level || on != c.on {
			t.Errorf("%s: got %q %v, want %q %v", c.name, level, on, c.level, c.on)
		}
	}
}

func TestAnEffortIsWrittenIntoTheBytes(t *testing.T) {
	for _, c := range []struct {
		name, model, level string
		p                  Protocol
		body, want         string // want "" = to be written anew
	}{
		{"chat, in place", "m", "high", Chat, `{ "model":"x", "reasoning_effort" : "low","n":1}`, `{ "model":"m", "reasoning_effort" : "high","n":1}`},
		{"chat, where nothing was said", "m", "high", Chat, `{ "model":"x"}`, `{"reasoning_effort":"high", "model":"m"}`},
		{"chat, a vendor's own words", "m", "high", Chat, `{"model":"x","thinking":{"type":"enabled"}}`, ""},
		{"responses keeps the rest", "m", "low", Responses, `{"model":"x","reasoning":{"summary":"auto","effort":"high", "context":1}}`, `{"model":"m","reasoning":{"summary":"auto","effort":"low", "context":1}}`},
		{"responses, only a summary", "m", "low", Responses, `{"model":"x","reasoning":{"summary":"auto"}}`, `{"model":"m","reasoning":{"effort":"low","summary":"auto"}}`},
		{"responses, null", "m", "low", Responses, `{"model":"x","reasoning":null}`, `{"model":"m","reasoning":{"effort":"low"}}`},
		{"messages, adaptive", "m", "low", Messages, `{"model":"x","thinking":{"type":"adaptive"},"output_config":{"effort":"high","format":{}}}`, `{"model":"m","thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":{}}}`},
		{"messages, adaptive without a level", "m", "low", Messages, `{"model":"x","thinking":{"type":"adaptive"}}`, `{"output_config":{"effort":"low"},"model":"m","thinking":{"type":"adaptive"}}`},
		{"messages, a budget", "m", "high", Messages, `{"model":"x","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":1024}}`, `{"model":"m","max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":24576}}`},
		{"messages, a budget below max_tokens", "m", "high", Messages, `{"model":"x","max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":1024}}`, `{"model":"m","max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":3999}}`},
		{"messages, no room for a budget", "m", "high", Messages, `{"model":"x","max_tokens":1000,"thinking":{"type":"enabled","budget_tokens":1024}}`, `{"model":"m","max_tokens":1000,"thinking":{"type":"enabled","budget_tokens":1024}}`},
		{"messages, nothing said", "m", "high", Messages, `{"model":"x","max_tokens":1000}`, ""},
		{"messages, off", "m", "none", Messages, `{"model":"x","thinking":{"type":"adaptive"}}`, ""},
		{"gemini, a level", "gemini-3-pro", "low", Gemini, `{"generationConfig":{"topK":1,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}}`, `{"generationConfig":{"topK":1,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}}`},
		{"gemini, a budget", "gemini-2.5-pro", "low", Gemini, `{"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}}`, `{"generationConfig":{"thinkingConfig":{"thinkingBudget":1024}}}`},
		{"gemini, nothing said", "gemini-2.5-pro", "low", Gemini, `{"contents":[]}`, ""},
		{"an empty body", "m", "low", Chat, `{}`, `{"reasoning_effort":"low"}`},
	} {
		e, err := Read([]byte(c.body), c.p)
		if err != nil {
			t.Fatal(err)
		}
		edits, ok := e.EditEffort([]byte(c.body), c.p, c.model, c.level)
		if ok != (c.want != "") {
			t.Errorf("%s: ok %v", c.name, ok)
			continue
		}
		if !ok {
			continue
		}
		b := SwapModel([]byte(c.body), &e, c.model, edits...)
		got := string(b.Bytes())
		if got != c.want || !json.Valid([]byte(got)) || b.Len() != int64(len(got)) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

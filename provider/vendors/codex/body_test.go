package codex_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"dev.magpie/provider/vendors/codex"
)

var uuid = regexp.MustCompile(`"prompt_cache_key":"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)

func TestWhatTheBackendTakes(t *testing.T) {
	long := strings.Repeat("c", 65)
	sum := sha256.Sum256([]byte(long))
	short := hex.EncodeToString(sum[:])
	const tail = `,"stream":true,"store":false,"tool_choice":"auto","parallel_tool_calls":true,"text":{"verbosity":"medium"},"reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],KEY}`
	for _, tt := range []struct{ name, body, own, want string }{
		{
			"a text", `{"model":"gpt-5.4","input":"hi"}`, "",
			`{"model":"gpt-5.4","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]` + tail,
		},
		{
			"what it refuses is left out", `{"model":"m","max_output_tokens":1,"temperature":0,"top_p":1,"previous_response_id":"r","user":"u","safety_identifier":"s","max_completion_tokens":2,"service_tier":"flex","metadata":{"a":"b"},"input":[]}`, "",
			`{"model":"m","metadata":{"a":"b"},"input":[]` + tail,
		},
		{
			"what it was told otherwise", `{"model":"m","input":[],"stream":false,"store":true,"tool_choice":"required","parallel_tool_calls":false,"text":{"format":{"type":"text"}},"service_tier":"priority","prompt_cache_key":"k","reasoning":{"effort":"ultra","summary":"detailed"},"include":["x"]}`, "",
			`{"model":"m","input":[],"stream":true,"store":false,"tool_choice":"auto","parallel_tool_calls":false,"text":{"format":{"type":"text"}},"service_tier":"priority","prompt_cache_key":"k","reasoning":{"effort":"max","summary":"detailed"},"include":["x","reasoning.encrypted_content"]}`,
		},
		{
			"no thinking", `{"model":"m","input":[],"text":{},"parallel_tool_calls":true,"reasoning":{"effort":"none"},"include":["reasoning.encrypted_content"]}`, "",
			`{"model":"m","input":[],"text":{},"parallel_tool_calls":true,"reasoning":{"effort":"none"},"stream":true,"store":false,"tool_choice":"auto",KEY}`,
		},
		{
			"the program's own instructions", `{"model":"m","instructions":"be brief","input":"hi"}`, "you are Codex",
			`{"model":"m","instructions":"you are Codex","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]` + tail,
		},
		{
			"they are its own already", `{"model":"m","instructions":"you are Codex","input":[]}`, "you are Codex",
			`{"model":"m","instructions":"you are Codex","input":[]` + tail,
		},
		{
			"items", `{"model":"m","input":[{"type":"item_reference","id":"x"},{"id":"msg_1","type":"message","role":"system","content":"s"},` +
				`{"type":"function_call","id":"fc_1","call_id":"` + long + `","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"` + long + `","output":"one"},` +
				`{"type":"function_call_output","call_id":"gone","output":[{"type":"input_text","text":"two"}]}]}`, "",
			`{"model":"m","input":[{"type":"message","role":"developer","content":"s"},` +
				`{"type":"function_call","call_id":"` + short + `","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"` + short + `","output":"one"},` +
				`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Result of an earlier tool call (gone):\n[{\"type\":\"input_text\",\"text\":\"two\"}]"}]}]` + tail,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := codex.Shape([]byte(tt.body), tt.own)
			if err != nil || !json.Valid(b) {
				t.Fatalf("%v: %s", err, b)
			}
			if got := uuid.ReplaceAllString(string(b), "KEY"); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			again, err := codex.Shape(b, tt.own)
			if err != nil || string(again) != string(b) {
				t.Errorf("shaped twice it is another:\n%s\n%s", b, again)
			}
		})
	}
	for _, bad := range []string{"", "[]", `{"input":5}`, `{"input":["x"]}`, `{"input":[],"reasoning":1}`} {
		if _, err := codex.Shape([]byte(bad), ""); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestAConversationKeepsItsKey(t *testing.T) {
	key := func(body string) string {
		b, err := codex.Shape([]byte(body), "own")
		if err != nil {
			t.Fatal(err)
		}
		return uuid.FindString(string(b))
	}
	first := key(`{"input":[{"role":"user","content":"a"}]}`)
	if later := key(`{"input":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`); later != first || first == "" {
		t.Errorf("%s then %s", first, later)
	}
	if other := key(`{"input":[{"role":"user","content":"x"}]}`); other == first {
		t.Error("two conversations have one key")
	}
}

func TestAHugeResultWithoutItsCallIsCut(t *testing.T) {
	b, err := codex.Shape([]byte(`{"input":[{"type":"function_call_output","call_id":"c","output":"`+strings.Repeat("é", 20000)+`"}]}`), "")
	if n := strings.Count(string(b), "é"); err != nil || n != 16000 {
		t.Errorf("%d of it: %v", n, err)
	}
}

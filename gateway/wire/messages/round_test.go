package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dev.magpie/gateway/wire"
)

// longBody is a request of some turns, as an agent makes it.
func longBody(turns int) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-4-5","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}],"tools":[`)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"%s","input_schema":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"]}}`, i, strings.Repeat("Does a thing. ", 20))
	}
	b.WriteString(`],"messages":[{"role":"user","content":[{"type":"text","text":"Do \u003cit\u003e."}]}`)
	for i := range turns {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EqQB%d"},{"type":"text","text":"Reading."},{"type":"tool_use","id":"toolu_%d","name":"tool_1","input":{"path":"a/b.go","n":1.0}}]}`, i, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat(`line of a file\n\tfunc main() {}`, 200))
	}
	b.WriteString(`]}`)
	return b.String()
}

// TestARequestSurvivesTheWayThrough reads, writes and reads again: nothing is lost that
// wasn't told.
func TestARequestSurvivesTheWayThrough(t *testing.T) {
	for name, body := range map[string]string{
		"a long conversation": longBody(5),
		"images, documents and errors": `{"max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"d"}},{"type":"image","source":{"type":"file","file_id":"f"}}]},` +
			`{"role":"assistant","content":[{"type":"redacted_thinking","data":"Em"},{"type":"tool_use","id":"a","name":"f","input":{"x":"<&>"}},{"type":"tool_use","id":"b","name":"f","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"no"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"url","url":"https://x/y"}}]},{"type":"text","text":"on"}]}]}`,
		"what only this API says": `{"max_tokens":9,"stop_sequences":["E"],"cache_control":{"type":"ephemeral"},"metadata":{"user_id":"{\"session_id\":\"s\"}"},"service_tier":"auto","output_config":{"effort":"high","task_budget":{"n":1}},"context_management":{"edits":[]},"inference_geo":"eu","thinking":{"type":"adaptive","display":"updates"},` +
			`"tools":[{"type":"bash_20250124","name":"bash"},{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"auto"},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"text","text":"so"}]},{"role":"user","content":"on"},{"role":"system","content":"note"}]}`,
		"thinking disabled, with an effort": `{"max_tokens":9,"output_config":{"effort":"low"},"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"hi"}]}`,
		"an effort without thinking":        `{"max_tokens":9,"output_config":{"effort":"low"},"messages":[{"role":"user","content":"hi"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			model := "claude-opus-4-8"
			first := mustRead(t, body)
			if first.Budget != nil && *first.Budget > 0 {
				model = "claude-opus-4-6"
			}
			out, lost := writeLost(t, first, wire.Target{Model: model})
			if len(lost) > 0 {
				t.Errorf("lost %q", lost)
			}
			second := mustRead(t, string(out))
			diff := cmp.Diff(first, second, cmpopts.IgnoreFields(wire.Ask{}, "Model", "Stream"), cmpopts.EquateEmpty())
			if diff != "" {
				t.Error(diff)
			}
		})
	}
}

func BenchmarkALargeRequestReadAndWritten(b *testing.B) {
	body := []byte(longBody(29))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := (Codec{}).WriteAsk(a, wire.Target{Model: "claude-opus-4-5"}); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzAnyRequestIsReadAndWrittenOrRefused(f *testing.F) {
	f.Add([]byte(`{"max_tokens":9,"system":"s","tools":[{"name":"f","input_schema":{"oneOf":[{"properties":{"a":{}}}]}}],"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"E"},{"type":"text","text":"x"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]},{"role":"assistant","content":[{"type":"tool_use","id":"","name":"","input":3}]}]}`))
	f.Add([]byte(`{"system":[{}],"tools":[{},null,3],"tool_choice":3,"thinking":{"type":"enabled"},"messages":[{"role":"system","content":""}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			return
		}
		for _, model := range []string{"claude-opus-5-5", "claude-opus-4-5", "glm"} {
			out, _, err := Codec{}.WriteAsk(a, wire.Target{Model: model})
			if err != nil {
				continue
			}
			again, err := Codec{}.ReadAsk(out)
			if err != nil {
				t.Fatalf("what was written can't be read: %v\n%s", err, out)
			}
			if len(again.Turns) == 0 || again.Turns[0].Role == wire.RoleAssistant || again.Max == nil {
				t.Fatalf("the API demands a user's turn first, and max_tokens:\n%s", out)
			}
		}
	})
}

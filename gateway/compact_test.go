package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
)

// A vendor of another API compacts nothing: its model writes a summary, which the agent is given
// as Responses' vendors give theirs, and which comes back as the text that it is.
func TestACompactionByItsOwnPathIsASummaryOfTheModels(t *testing.T) {
	const spoken = `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"first words"}]}]`
	for name, c := range map[string]struct {
		api, ask string
		streams  bool
	}{
		"messages":                  {api: "messages", ask: spoken, streams: true},
		"messages, in one piece":    {api: "messages", ask: spoken},
		"chat":                      {api: "chat", ask: spoken, streams: true},
		"gemini":                    {api: "gemini", ask: spoken},
		"a text":                    {api: "messages", ask: `"input":"first words"`},
		"with tools and a stream":   {api: "chat", ask: spoken + `,"stream":true,"tools":[{"type":"function","name":"f","parameters":{}}],"tool_choice":"required"`, streams: true},
		"with a trigger of its own": {api: "messages", ask: strings.TrimSuffix(spoken, "]") + `,{"type":"compaction_trigger"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			v := good(c.api, c.streams)
			r := newRig(t, "[providers.a]\n"+c.api+" = \"{a}\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"a": v})
			got := r.ask("/v1/responses/compact", `{"model":"a/m","instructions":"I",`+c.ask+`}`)
			var made struct {
				Object string
				Output []json.RawMessage
				Usage  *struct {
					Output int `json:"output_tokens"`
				}
			}
			if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != 200 || made.Object != "response.compaction" ||
				len(made.Output) != 1 || !strings.Contains(string(made.Output[0]), `"type":"compaction","encrypted_content":"magpie-summary1.`) || made.Usage == nil {
				t.Fatalf("%d %s", got.status, got.body)
			}
			sent := v.calls[0].body
			if strings.Count(sent, "Write a summary") != 1 || !strings.Contains(sent, "first words") || strings.Contains(sent, `"tools"`) || strings.Contains(sent, `"tool_choice"`) {
				t.Errorf("sent %s", sent)
			}
			got = r.ask("/v1/responses", `{"model":"a/m","input":[`+string(made.Output[0])+`,{"role":"user","content":"go on"}]}`)
			if sent := v.calls[1].body; got.status != 200 || !strings.Contains(sent, "hello") || !strings.Contains(sent, "go on") {
				t.Errorf("%d, sent %s", got.status, sent)
			}
		})
	}
}

func TestACompactionWithoutASummaryIsAnError(t *testing.T) {
	for name, reply := range map[string]string{
		"cut off by its length": msgStart + msgText + strings.Replace(msgStop, "end_turn", "max_tokens", 1),
		"nothing said":          msgStart + msgStop,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "[providers.a]\nmessages = \"{a}\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"a": cannedOf(200, reply)})
				got := r.ask("/v1/responses/compact", responsesBody("a/m"))
				if got.status != 502 || !strings.Contains(got.body, "no summary") {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		})
	}
}

package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"dev.magpie/gateway/redact"
)

// sent gives all events that go out for those that come in.
func sent(s *redact.Stream, events ...string) (out []string) {
	for _, e := range events {
		before, with := s.Event("", []byte(e))
		for _, b := range before {
			out = append(out, string(b.Data))
		}
		out = append(out, string(with))
	}
	for _, b := range s.End() {
		out = append(out, string(b.Data))
	}
	return out
}

// What is sent of a held end has a number of its own, and those behind it go on from there.
func TestNumbersOfEventsGoOnByOne(t *testing.T) {
	v, p := vaultOf(t, "swordfish99")
	text := func(n, out, piece string) string {
		return `{"type":"response.output_text.delta","sequence_number":` + n + `,"item_id":"i` + out + `","output_index":` + out + `,"content_index":0,"delta":"` + piece + `"}`
	}
	for name, c := range map[string]struct {
		events []string
		want   string // numbers
		said   string
	}{
		"the end of a text":     {[]string{text("4", "0", "on M"), `{"type":"response.output_text.done","sequence_number":5,"output_index":0,"text":"on M"}`, `{"type":"response.completed","sequence_number":6,"response":{}}`}, "4 5 6 7", "on M"},
		"of two":                {[]string{text("4", "0", "M"), `{"type":"response.output_item.done","output_index":0,"sequence_number":5}`, text("6", "1", p[:9]), `{"type":"response.output_item.done","output_index":1,"sequence_number":7}`}, "4 5 6 7 8 9", "M" + p[:9]},
		"the end of the stream": {[]string{text("4", "0", "M"), `{"type":"response.in_progress","sequence_number":5,"output_index":3}`}, "4 5 6", "M"},
		"two at once":           {[]string{text("1", "0", "M"), text("2", "1", "MA"), `{"type":"error","sequence_number":3}`}, "1 2 3 4 5", "MMA"},
		"behind events without": {[]string{text("4", "0", "M"), `{"type":"response.output_text.done","output_index":0}`, text("9", "1", "x")}, "4 5 - 10", "Mx"},
		"nothing held":          {[]string{text("4", "0", p[:5]), text("5", "0", p[5:]), text("6", "0", ".")}, "4 5 6", "swordfish99."},
	} {
		t.Run(name, func(t *testing.T) {
			var numbers []string
			said := ""
			for _, data := range sent(v.Stream("responses"), c.events...) {
				var e struct {
					N     json.RawMessage `json:"sequence_number"`
					Delta string          `json:"delta"`
				}
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatalf("%v in %s", err, data)
				}
				if e.N == nil {
					e.N = json.RawMessage("-")
				}
				numbers, said = append(numbers, string(e.N)), said+e.Delta
			}
			if got := strings.Join(numbers, " "); got != c.want || said != c.said {
				t.Errorf("numbers %s, said %q", got, said)
			}
		})
	}
}

// A call's id and name, and what a chunk tells of tokens, are told once.
func TestWhatIsHeldOfAChunkIsSaidAlone(t *testing.T) {
	v, _ := vaultOf(t, "swordfish99")
	const head = `{"id":"c","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":2,`
	const tail = `],"usage":{"prompt_tokens":3},"obfuscation":"x"}`
	for name, c := range map[string]struct{ event, want string }{
		"a call":            {`"delta":{"tool_calls":[{"index":1,"id":"t","type":"function","function":{"name":"f","arguments":"M"}}]}}`, `"delta":{"tool_calls":[{"index":1,"function":{"arguments":"M"}}]},"finish_reason":null}]}`},
		"one of plain text": {`"delta":{"tool_calls":[{"index":1,"id":"t","type":"custom","custom":{"name":"f","input":"M"}}]}}`, `"delta":{"tool_calls":[{"index":1,"custom":{"input":"M"}}]},"finish_reason":null}]}`},
		"an old call":       {`"delta":{"function_call":{"name":"f","arguments":"M"}}}`, `"delta":{"function_call":{"arguments":"M"}},"finish_reason":null}]}`},
		"a text":            {`"delta":{"role":"assistant","content":"M"},"logprobs":{"content":[]}}`, `"delta":{"content":"M"},"finish_reason":null}]}`},
		"a plain one":       {`"text":"M"}`, `"text":"M","finish_reason":null}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			out := sent(v.Stream("chat"), head+c.event+tail, "[DONE]")
			if len(out) != 3 || out[1] != head+c.want {
				t.Errorf("%s", strings.Join(out, "\n"))
			}
		})
	}
}

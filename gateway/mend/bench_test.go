package mend_test

import (
	"fmt"
	"strings"
	"testing"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
)

// BenchmarkRepair is what a relay costs in which there is nothing to repair: 200 KB of 60 items.
func BenchmarkRepair(b *testing.B) {
	text := strings.Repeat("a line of a file, read by a tool\\n", 100)
	var input, msgs []string
	for i := range 30 {
		input = append(input, fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{}"}`, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s%s"}`, i, text, text))
		msgs = append(msgs, fmt.Sprintf(`{"role":"user","content":"%s%s"}`, text, text))
	}
	for api, body := range map[wire.Protocol]string{
		wire.Responses: `{"model":"m","tools":[],"input":[` + strings.Join(input, ",") + `]}`,
		wire.Chat:      `{"model":"m","max_tokens":9,"messages":[` + strings.Join(msgs, ",") + `]}`,
		wire.Messages:  `{"model":"m","max_tokens":9,"messages":[` + strings.Join(msgs, ",") + `]}`,
	} {
		b.Run(string(api), func(b *testing.B) {
			raw := []byte(body)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if out, _ := mend.Repair(api, "m", &wire.Dialect{}, raw); &out[0] != &raw[0] {
					b.Fatal("something was repaired")
				}
			}
		})
	}
}

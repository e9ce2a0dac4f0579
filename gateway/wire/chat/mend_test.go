package chat

import "testing"

func TestMissingIndexesAreFilledIn(t *testing.T) {
	calls := func(list string) string { return deltaOf(`{"tool_calls":` + list + `}`) }
	for name, c := range map[string]struct{ in, want []string }{
		"what has an index passes as it came": {
			in:   []string{"data:  " + calls(`[ {"id":"a", "index":0}]`) + "\r\n\r\n"},
			want: []string{"data:  " + calls(`[ {"id":"a", "index":0}]`) + "\r\n\r\n"},
		},
		"a new id is the next call, no id goes on": {
			in: []string{
				stream(calls(`[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f"}}]`)),
				stream(calls(`[{"index":null,"function":{"arguments":"x"}},{"id":"a"},{}]`)), stream(calls(`[{"function":{"name":"g"}}]`)),
			},
			want: []string{
				stream(calls(`[{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"f"}}]`)),
				stream(calls(`[{"index":1,"function":{"arguments":"x"}},{"index":0,"id":"a"},{"index":1}]`)), stream(calls(`[{"index":2,"function":{"name":"g"}}]`)),
			},
		},
		"what is no call passes": {
			in:   []string{stream(deltaOf(`{"content":"\"tool_calls\""}`)), ": x\n\n", stream("[DONE]"), stream(`{"tool_calls"`)},
			want: []string{stream(deltaOf(`{"content":"\"tool_calls\""}`)), ": x\n\n", stream("[DONE]"), stream(`{"tool_calls"`)},
		},
	} {
		var m Mender
		var got []string
		for _, ev := range c.in {
			got = append(got, string(m.Mend([]byte(ev))))
		}
		same(t, name, got, c.want)
	}
}

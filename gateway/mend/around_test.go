package mend_test

import (
	"bytes"
	"testing"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
)

// What may only stand outside of a conversation is not looked for in it, and is found on both sides.
func TestARepairLooksAroundTheConversation(t *testing.T) {
	const inside = `{"role":"user","content":"\"temperature\" \"web_search_2\" and \"top_p\""}`
	for _, body := range []string{
		`{"temperature":1,"messages":[` + inside + `],"max_tokens":5}`,
		`{"messages":[` + inside + `],"max_tokens":5,"temperature":1}`,
		`{"top_p":1,"messages":[` + inside + `],"temperature":1,"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
		`{"max_tokens":5,"messages":[` + inside + `]}`,
	} {
		e, err := wire.Read([]byte(body), wire.Messages)
		if err != nil {
			t.Fatal(err)
		}
		from, to := e.Talk()
		want, did := mend.Repair(wire.Messages, "claude-opus-5-5", &wire.Dialect{}, []byte(body))
		got, done := mend.RepairAround(wire.Messages, "claude-opus-5-5", &wire.Dialect{}, []byte(body), [2]int{from, to})
		if !bytes.Equal(got, want) || len(done) != len(did) {
			t.Errorf("%s\n got %s %q\nwant %s %q", body, got, done, want, did)
		}
	}
}

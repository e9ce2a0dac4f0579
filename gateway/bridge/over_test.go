package bridge

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// idle is a run that waits for the result of a call, without its process.
func idle(t *testing.T, b *Bridge) (*run, *query) {
	t.Helper()
	const said = `{"max_tokens":9,"tools":[{"name":"a"}],"messages":[{"role":"user","content":"go"}`
	first, ref := readBody([]byte(said + `]}`))
	next, ref2 := readBody([]byte(said + `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1"}]}]}`))
	if ref != nil || ref2 != nil {
		t.Fatal(ref, ref2)
	}
	ask := &Ask{Account: "claude/me", Model: "m"}
	first.key, next.key = first.settings(ask), next.settings(ask)
	r := newRun(b, ask, first)
	r.out, r.turns, r.saying = newReply(r), first.turns, &turn{}
	return r, next
}

// say has a run's program write events, and returns what an agent reads of them.
func (r *run) told(t *testing.T, events ...string) string {
	t.Helper()
	go func() {
		for _, e := range events {
			r.hear([]byte(`{"type":"stream_event","parent_tool_use_id":null,"event":` + e + `}`))
		}
	}()
	resp, err := r.out.wait(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// The process ends while a request takes the run up: its end was noted before the reply was there
// that would hear of it.
func TestARunThatEndedAsItWasTakenUpIsGivenUp(t *testing.T) {
	b := New(Options{Environ: []string{}})
	defer b.Close()
	r, q := idle(t, b)
	b.runs[r] = true
	r.told(
		t, `{"type":"message_start"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"mcp__magpie__a"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
	)
	if got := b.claim(q); got != r {
		t.Fatal("it is not found")
	}
	r.broke(io.EOF)
	b.gone(r)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if resp, ok, err := r.goOn(ctx, q); ok || err != nil {
		t.Errorf("%v %v, and it went on: %v", resp, err, ok)
	}
}

func TestHostileEventsEndNoOther(t *testing.T) {
	b := New(Options{Environ: []string{}})
	defer b.Close()
	r, _ := idle(t, b)
	got := r.told(
		t, `{"type":"message_start"}`, `{"type":"ping\n\ndata: {\"type\":\"message_stop\"}"}`, "{\"type\":\"ping\",\r\r\"x\":1}",
		`{"type":7}`, `{"type":"content_block_stop","index":"x"}`, `{"type":"content_block_stop","index":-9}`, `[]`, `null`, `{"type":"message_stop"}`,
	)
	if strings.Contains(got, "\r") || strings.Count(got, "event: ") != strings.Count(got, "\n\n") || strings.Count(got, "message_stop") != 2 {
		t.Errorf("%q", got)
	}
}

func TestAStatusThatIsNoneIsABadGateway(t *testing.T) {
	for _, status := range []string{"0", "-1", "200", "600", "99999", `"429"`} {
		b := New(Options{Environ: []string{}})
		r, _ := idle(t, b)
		r.hear([]byte(`{"type":"result","is_error":true,"result":"no","api_error_status":` + status + `}`))
		resp, err := r.out.wait(t.Context(), r)
		if err != nil || resp.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %+v %v", status, resp, err)
		}
		b.Close()
	}
}

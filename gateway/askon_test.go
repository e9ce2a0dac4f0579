package gateway_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// lingers ends its streams with the event that completes them, and then keeps them open until
// the client leaves.
func lingers(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, kind := range []string{"created", "completed"} {
		_, _ = fmt.Fprintf(w, "event: response.%s\ndata: {\"type\":\"response.%s\",\"sequence_number\":%d,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"model\":\"m\",\"output\":[]}}\n\n", kind, kind, i)
	}
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestAnAgentMayAskOnBeforeTheStreamIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoKeys, vendors{"a": http.HandlerFunc(lingers)})
		first, err := r.send(t.Context(), http.MethodPost, "/v1/responses", responsesStream("a/m"))
		if err != nil {
			t.Fatal(err)
		}
		defer first.Body.Close()
		lines := bufio.NewScanner(first.Body)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "event: response.completed") {
		}
		on, err := r.send(t.Context(), http.MethodPost, "/v1/responses", strings.Replace(responsesStream("a/m"), "{", `{"previous_response_id":"resp_1",`, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer on.Body.Close()
		if on.StatusCode != http.StatusOK {
			t.Errorf("status %d", on.StatusCode)
		}
	})
}

package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

func TestAWholeReplyThatIsHalfThereComesFromTheNextKey(t *testing.T) {
	// The vendor ends the reply in good order, in the middle of its JSON.
	for name, c := range doors("a/m") {
		if strings.Contains(name, "stream") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := relay("from the second")
			v.Script(keyOne, standin.Must("cut")...)
			r := newRig(t, twoKeys, vendors{"a": v})
			got := r.ask(c.path, c.body)
			if got.status != http.StatusOK || !strings.Contains(got.body, "from the second") {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if route := r.last(); tried(route) != "a/k1 a/k2" || route.Tries[0].Fail != trace.Network {
				t.Errorf("tried %s: %+v", tried(route), route.Tries[0])
			}
		})
	}
}

func TestHalfAnEmbeddingComesFromTheNextKey(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}})
	v.Script(keyOne, standin.Must("cut op=embed")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask("/v1/embeddings", `{"model":"a/m","input":"one"}`)
	if route := r.last(); got.status != http.StatusOK || !json.Valid([]byte(got.body)) || tried(route) != "a/k1 a/k2" {
		t.Errorf("tried %s: %d %s", tried(route), got.status, got.body)
	}
}

func TestAHalfReplyOfTheOnlyKeyIsAskedForAgainAndIsAtLastAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("whole at last", "cut")
		r := newRig(t, lone, vendors{"a": v})
		if got := r.ask("/v1/chat/completions", chatBody("a/m")); got.status != http.StatusOK || !strings.Contains(got.body, "whole at last") {
			t.Errorf("%d %s", got.status, got.body)
		}
		v.Script(standin.AnyKey, standin.Must("cut x9")...)
		if got := r.ask("/v1/chat/completions", chatBody("a/m")); got.status < 500 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

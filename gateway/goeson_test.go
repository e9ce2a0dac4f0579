package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// idOf reads a reply's id.
func idOf(t *testing.T, body string) string {
	t.Helper()
	_, rest, ok := strings.Cut(body, `"id":"`)
	id, _, end := strings.Cut(rest, `"`)
	if !ok || !end {
		t.Fatalf("no id in %s", body)
	}
	return id
}

func TestAPreviousResponseGoesToWhoMadeIt(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok", Keys: []string{keyOne, keyTwo}})
		r := newRig(t, twoKeys, vendors{"a": v})
		// The second key makes the first reply; the first key goes before it in every other plan.
		r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Minute)
		path, body := asking("responses", "a/m", streamed)
		first := r.ask(path, strings.Replace(body, "{", `{"store":true,`, 1))
		r.do(http.MethodPost, "/v1/magpie/do", `{"verb":"wake","who":"all"}`, "Authorization: Bearer control-token")
		on := strings.Replace(body, "{", `{"store":true,"previous_response_id":"`+idOf(t, first.body)+`",`, 1)
		got := r.ask(path, on)
		route := r.told()
		if got.status != 200 || tried(route) != "a/k2" || ordered(route.Order) != "a/k2" || route.Order[0].Why.Code != trace.WhyMade || ordered(route.Left) != "a/k1" || route.Left[0].Out != "not-made" {
			t.Errorf("streamed %v: %d %.300s; tried %s, order %+v, left %+v", streamed, got.status, got.body, tried(route), route.Order, route.Left)
		}
		if fresh := r.ask(path, body); fresh.status != 200 || tried(r.told()) != "a/k1" {
			t.Errorf("a fresh conversation went to %s", tried(r.told()))
		}
	}
}

func TestAPreviousResponseThatNobodyMadeIsNotFound(t *testing.T) {
	for name, c := range map[string]struct {
		id   string
		make func(r *rig)
	}{
		"one of another gateway":     {"resp_of_another", func(*rig) {}},
		"of a key that is paused":    {"resp_ok", func(r *rig) { r.command(`{"verb":"pause","who":"a/k1"}`) }},
		"an id that is no id at all": {strings.Repeat("x", 4000), func(*rig) {}},
	} {
		t.Run(name, func(t *testing.T) {
			v := good("responses", false)
			r := newRig(t, twoKeys, vendors{"a": v})
			path, body := asking("responses", "a/m", false)
			r.ask(path, body)
			c.make(r)
			got := r.ask(path, strings.Replace(body, "{", `{"previous_response_id":"`+c.id+`",`, 1))
			e := errorOf(t, "responses", got.body)
			if got.status != 400 || e.Code != "previous_response_not_found" || e.Param == nil || *e.Param != "previous_response_id" || e.Type != "invalid_request_error" || v.asked() != 1 {
				t.Errorf("%d %.300s, asked %d times", got.status, got.body, v.asked())
			}
			if len(got.body) > 1000 {
				t.Errorf("%d bytes of error", len(got.body))
			}
			if route := r.told(); route.Status != 400 || len(route.Tries) != 0 {
				t.Errorf("%+v", route)
			}
		})
	}
}

func TestAVendorsOwnNotFoundOfAResponseIsPassedOn(t *testing.T) {
	// The vendor has forgotten it: the agent sends everything again, nobody rests, no other key is asked.
	v := good("responses", false)
	r := newRig(t, twoKeys, vendors{"a": v})
	path, body := asking("responses", "a/m", false)
	first := r.ask(path, body)
	v.status, v.body = 404, `{"error":{"message":"Previous response with id 'resp_ok' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}`
	got := r.ask(path, strings.Replace(body, "{", `{"previous_response_id":"`+idOf(t, first.body)+`",`, 1))
	if got.status != 404 || got.body != v.body || v.asked() != 2 || len(r.rests()) != 0 {
		t.Errorf("%d %s, asked %d times, rests %v", got.status, got.body, v.asked(), r.rests())
	}
}

// command carries out a command over HTTP.
func (r *rig) command(body string) answer {
	r.t.Helper()
	got := r.ask("/v1/magpie/do", body, "Authorization: Bearer control-token")
	if got.status != 200 {
		r.t.Fatalf("%s: %d %s", body, got.status, got.body)
	}
	return got
}

func TestAMessageThreadGoesOnWhereItBegan(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		v := standin.New(standin.Options{Models: []string{"m"}, Text: "ok", Keys: []string{keyOne, keyTwo}})
		r := newRig(t, twoKeys, vendors{"a": v})
		r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Minute)
		path, body := asking("messages", "a/m", streamed)
		const beta = "anthropic-beta: message-threads-2026-08-12"
		first := r.ask(path, strings.Replace(body, "{", `{"thread":{"type":"create"},`, 1), beta)
		if first.status != 200 {
			t.Fatalf("%d %s", first.status, first.body)
		}
		r.command(`{"verb":"wake","who":"all"}`)
		id := idOf(t, first.body)
		got := r.ask(path, strings.Replace(body, "{", `{"thread":{"type":"continue","previous_message_id":"`+id+`"},`, 1), beta)
		route := r.told()
		if got.status != 200 || tried(route) != "a/k2" || ordered(route.Order) != "a/k2" {
			t.Errorf("streamed %v: %d %.300s; tried %s", streamed, got.status, got.body, tried(route))
		}
	}
}

func TestAThreadThatNobodyBeganIsNotFound(t *testing.T) {
	for _, id := range []string{"msg_of_another", ""} {
		v := good("messages", false)
		r := newRig(t, twoKeys, vendors{"a": v})
		path, body := asking("messages", "a/m", false)
		got := r.ask(path, strings.Replace(body, "{", `{"thread":{"type":"continue","previous_message_id":"`+id+`"},`, 1))
		e := errorOf(t, "messages", got.body)
		if got.status != 404 || e.Type != "not_found_error" || e.Details.ErrorCode != "thread_not_found" || v.asked() != 0 {
			t.Errorf("%d %s, asked %d times", got.status, got.body, v.asked())
		}
	}
}

func TestWhoeverMadeAReplyIsAskedEvenWhileItRests(t *testing.T) {
	// Nobody else can go on from it; a resting one may have recovered.
	v := good("responses", false)
	r := newRig(t, twoKeys, vendors{"a": v})
	path, body := asking("responses", "a/m", false)
	first := r.ask(path, body)
	r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Minute)
	got := r.ask(path, strings.Replace(body, "{", `{"previous_response_id":"`+idOf(t, first.body)+`",`, 1))
	if got.status != 200 || tried(r.told()) != "a/k1" {
		t.Errorf("%d %s, tried %s", got.status, got.body, tried(r.told()))
	}
}

package gateway_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// onlyOne is a provider whose first key's own list lacks a model.
const onlyOne = `
[providers.a]
chat = "{a}/v1"
responses = "{a}/v1"
messages = "{a}"
gemini = "{a}/v1beta"
keys = [{ name = "k1", value = "` + keyOne + `", models = ["m"] }, { name = "k2", value = "` + keyTwo + `" }]
models = ["m", "other"]
`

// everyDoor is every way in which a request may come.
func everyDoor(model string) map[string][2]string {
	doors := map[string][2]string{}
	for _, api := range apis {
		for _, streamed := range []bool{false, true} {
			path, body := asking(api, model, streamed)
			doors[api+map[bool]string{true: " streamed"}[streamed]] = [2]string{path, body}
		}
	}
	doors["responses compact"] = [2]string{"/v1/responses/compact", responsesBody(model)}
	doors["messages count"] = [2]string{"/v1/messages/count_tokens", messagesBody(model)}
	doors["embeddings"] = [2]string{"/v1/embeddings", `{"model":"` + model + `","input":"hi"}`}
	return doors
}

func TestARequestHeldToOneIsRefusedForItsReasonOnEveryPath(t *testing.T) {
	for _, c := range []struct {
		name, model string
		set         func(r *rig)
		status      int
		words       []string
	}{
		{"its list lacks the model", "a/other", func(*rig) {}, 400, []string{"a/k1 does not have other"}},
		{"it rests", "a/m", func(r *rig) { r.restNow("a/k1", trace.Rate, trace.ByRetryAfter, time.Hour) }, 429, []string{"a/k1 rests until 20", "(rate)"}},
		{"it is paused", "a/m", func(r *rig) { r.command(`{"verb":"pause","who":"a/k1"}`) }, 503, []string{"a/k1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := good("chat", false)
			r := newRig(t, onlyOne, vendors{"a": v})
			c.set(r)
			for door, ask := range everyDoor(c.model) {
				for _, how := range []string{"header", "pin"} {
					var headers []string
					if how == "header" {
						headers = []string{"X-Magpie-Account: A/K1"}
					} else {
						r.command(`{"verb":"pin","who":"a/k1","args":{"only":true}}`)
					}
					got := r.ask(ask[0], ask[1], headers...)
					told := r.told()
					if how == "pin" {
						r.command(`{"verb":"undo"}`)
					}
					bad := got.status != c.status || v.asked() > 0 || len(told.Tries) > 0
					for _, w := range c.words {
						bad = bad || !strings.Contains(got.body, w)
					}
					if bad {
						t.Errorf("%s by %s: %d %s, want %d", door, how, got.status, got.body, c.status)
					}
				}
			}
		})
	}
}

func TestAnAccountThatNobodyHasIsToldWithThoseThereAreOnEveryPath(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, onlyOne, vendors{"a": v})
	for door, ask := range everyDoor("a/m") {
		if got := r.ask(ask[0], ask[1], "X-Magpie-Account: nobody"); got.status != 404 || !strings.Contains(got.body, "a/k1, a/k2") || v.asked() > 0 {
			t.Errorf("%s: %d %s", door, got.status, got.body)
		}
	}
	if got := r.ask("/v1/magpie/do", `{"verb":"pin","who":"nobody","args":{"only":true}}`, token); got.status != 404 || !strings.Contains(got.body, "a/k1, a/k2") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestARequestHeldToOneAtItsCapIsRefusedOnEveryPath(t *testing.T) {
	v := relay("ok")
	r := accountsRig(t, "", "true", v)
	r.reads("sub/me", 60, time.Hour)
	r.reads("sub/spare", 10, time.Hour)
	for door, ask := range everyDoor("sub/m") {
		if strings.HasPrefix(door, "embeddings") || strings.Contains(door, "compact") {
			continue // the vendor here has no such API
		}
		for _, how := range []string{"header", "pin"} {
			var headers []string
			if how == "header" {
				headers = []string{"X-Magpie-Account: me"}
			} else {
				r.command(`{"verb":"pin","who":"me","args":{"only":true}}`)
			}
			r.command(`{"verb":"cap","who":"sub/me","args":{"percent":50}}`)
			got := r.ask(ask[0], ask[1], headers...)
			if got.status != 429 || !strings.Contains(got.body, "sub/me is at its cap of 50%") || len(v.Calls()) != 0 {
				t.Errorf("%s by %s: %d %s, %d calls", door, how, got.status, got.body, len(v.Calls()))
			}
			r.command(`{"verb":"undo"}`)
			if how == "pin" {
				r.command(`{"verb":"undo"}`)
			}
		}
	}
	r.command(`{"verb":"cap","who":"me","args":{"percent":50}}`)
	if got := r.asksFor("sub/m"); got != "sub/spare" || ordered(r.told().Left) != "sub/me" {
		t.Errorf("%s", got)
	}
	for _, a := range r.g.Status().Accounts {
		if want := map[string]trace.State{"sub/me": trace.Held}[a.ID]; want != "" && (a.State != want || a.Cap != 50) {
			t.Errorf("%+v", a)
		}
	}
}

func TestChoicesDecideTheNextRequest(t *testing.T) {
	toml := strings.Replace(onlyOne, "[providers.a]", "[providers.a]\nrouting = \"order\"", 1) + `
[groups.hand]
routing = "manual"
members = ["a@k1/m", "a@k2/m"]
[groups.g]
routing = "order"
members = ["a@k1/m", "a@k2/m"]
`
	r := newRig(t, toml, vendors{"a": good("chat", false)})
	r.store.Read("a/k1", []provider.Window{{Name: "5 hours", Used: 60, Resets: time.Now().Add(time.Hour), Span: 5 * time.Hour, Read: time.Now()}}, time.Now())
	r.store.Read("a/k2", []provider.Window{{Name: "5 hours", Used: 10, Resets: time.Now().Add(time.Hour), Span: 5 * time.Hour, Read: time.Now()}}, time.Now())
	for _, c := range []struct{ command, model, before, after string }{
		{`{"verb":"order","who":"a","args":{"order":["k2"]}}`, "a/m", "a/k1 a/k2", "a/k2 a/k1"},
		{`{"verb":"routing","who":"g","args":{"value":"usage"}}`, "group/g", "a/k1 a/k2", "a/k2 a/k1"},
		{`{"verb":"pick","who":"hand","args":{"member":"a@k2/m"}}`, "group/hand", "a/k1", "a/k2"},
	} {
		for _, step := range []struct{ command, want string }{{"", c.before}, {c.command, c.after}, {`{"verb":"undo"}`, c.before}} {
			if step.command != "" {
				r.command(step.command)
			}
			r.asksFor(c.model)
			if got := ordered(r.told().Order); got != step.want {
				t.Errorf("%s after %q: %s, want %s", c.model, step.command, got, step.want)
			}
		}
	}
}

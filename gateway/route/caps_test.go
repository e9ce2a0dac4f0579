package route_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// subs draws accounts me and spare, in the file's order. me has a week of which all is used
// and five hours, of which 75 percent are.
func subs(t *testing.T, me, spare string) board {
	t.Helper()
	cat := catalog(t, `
[providers.own]
chat = "http://own.example/v1"
messages = "http://own.example"
routing = "order"
accounts = [{ name = "me"`+me+` }, { name = "spare"`+spare+` }]
`)
	signIn(cat)
	b := board{cat: cat, snap: route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{}}}
	stand(t, &b, "own", "m", "me 7d=100@2d 5h=75@1h, spare 7d=20@3d")
	return b
}

func TestCodexNoCredits(t *testing.T) {
	b := subs(t, "", "")
	if got := line(route.Plan(&b.snap, b.call())); got != "me spare" {
		t.Errorf("credits are spent: %s", got)
	}
	for name, b := range map[string]board{"in the config": subs(t, ", credits = false", ""), "at run time": subs(t, "", "")} {
		if name == "at run time" {
			no := false
			b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Credits: &no}}
		}
		p := route.Plan(&b.snap, b.call())
		me := p.Left[0]
		if line(p) != "spare | me:no-credits" || !me.NoCredits || me.Capped != 100 || me.CapBack == nil || !me.CapBack.Equal(now.Add(2*day)) {
			t.Errorf("%s: %s, %+v", name, line(p), me)
		}
		if want := (trace.Reason{Code: trace.WhyNoCredits, N: 1, Of: 2, Share: 100, Limit: 100, Until: now.Add(2 * day)}); me.Why != want {
			t.Errorf("%s: %+v", name, me.Why)
		}
	}
	b = subs(t, ", credits = false", "")
	yes := true
	b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Credits: &yes}}
	if got := line(route.Plan(&b.snap, b.call())); got != "me spare" {
		t.Errorf("let spend them at run time: %s", got)
	}
}

func TestUsageCaps(t *testing.T) {
	cap70 := map[provider.AccountID]route.Cap{"own/me": {Percent: 70}}
	for _, tt := range []struct {
		name, me string
		chosen   map[provider.AccountID]route.Cap
		want     string
		capped   int
		back     time.Duration // 0 = it is not held
	}{
		{"none", "", nil, "me spare", 0, 0},
		{"of 70: both windows are past it, and it is back with the later", ", cap = 70", nil, "spare | me:capped", 70, 2 * day},
		{"of 70 at run time", "", cap70, "spare | me:capped", 70, 2 * day},
		{"of 80 but for the week, on which there is none", `, cap = 80, window_caps = { "7 Days" = 100 }`, nil, "me spare", 0, 0},
		{"of 70 but for the week: the five hours hold it", `, cap = 70, window_caps = { "7 days" = 100 }`, nil, "spare | me:capped", 70, time.Hour},
		{"of one window alone", `, window_caps = { "5 hours" = 60 }`, nil, "spare | me:capped", 60, time.Hour},
		{"of one window, not reached", `, window_caps = { "5 hours" = 76 }`, nil, "me spare", 0, 0},
		{"lifted at run time", `, cap = 70, window_caps = { "5 hours" = 60 }`, map[provider.AccountID]route.Cap{"own/me": {Percent: -1}}, "me spare", 0, 0},
		{"of a window lifted at run time", `, window_caps = { "5 hours" = 60 }`, map[provider.AccountID]route.Cap{"own/me": {Windows: map[string]int{"5 hours": 100}}}, "me spare", 0, 0},
		{"a cap goes before credits", `, credits = false, window_caps = { "5 hours" = 60 }`, nil, "spare | me:capped", 60, 2 * day},
		{"a window without a cap still holds where credits are not spent", `, credits = false, cap = 80, window_caps = { "7 days" = 100 }`, nil, "spare | me:no-credits", 100, 2 * day},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := subs(t, tt.me, "")
			b.snap.Choices.Caps = tt.chosen
			p := route.Plan(&b.snap, b.call())
			if got := line(p); got != tt.want {
				t.Fatalf("got %s, want %s", got, tt.want)
			}
			if tt.back == 0 {
				return
			}
			if me := p.Left[0]; me.Capped != tt.capped || me.CapBack == nil || !me.CapBack.Equal(now.Add(tt.back)) || me.NoCredits != (me.Out == "no-credits") {
				t.Errorf("capped %d, back %v, no credits %v", me.Capped, me.CapBack, me.NoCredits)
			}
		})
	}
}

func TestWhatACapDoesNotHold(t *testing.T) {
	for _, tt := range []struct{ name, board, want string }{
		{"a window that renewed", "me account 7d=100@-1h", "me"},
		{"a window of another model", "me account 7d/opus=100@1h", "me"},
		{"a key", "me 7d=100@1h", "me"},
		{"one that is just there", "me account 7d=70@1h", " | me:capped"},
	} {
		b := draw(t, tt.board)
		b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Percent: 70}}
		if got := line(route.Plan(&b.snap, b.call())); got != strings.TrimSpace(tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	b := draw(t, "me account 5h=75@1h 7d=90@2d")
	b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Percent: 70}}
	if me := route.Plan(&b.snap, b.call()).Left[0]; me.CapBack == nil || !me.CapBack.Equal(now.Add(2*day)) {
		t.Errorf("it is back with the last of them, in whichever order they are told: %v", me.CapBack)
	}
	b = draw(t, "me account")
	b.snap.Standing["own/me"] = route.Standing{Read: now, Windows: []provider.Window{{Name: "Weekly Opus", Used: 60}}}
	b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Windows: map[string]int{"weekly opus": 50}}}
	if got := line(route.Plan(&b.snap, b.call())); got != "| me:capped" {
		t.Errorf("a window is known by its name, however its vendor writes that: %s", got)
	}
	b = draw(t, "me account")
	b.snap.Standing["own/me"] = route.Standing{Read: now, Windows: []provider.Window{{Name: "on demand", Used: 100, Aside: true}, {Name: "7 days", Used: 80}}}
	b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/me": {Percent: 90}}
	if got := line(route.Plan(&b.snap, b.call())); got != "me" {
		t.Errorf("a window that stops nothing: %s", got)
	}
	b.snap.Choices.Caps["own/me"] = route.Cap{Percent: 70}
	if me := route.Plan(&b.snap, b.call()).Left[0]; me.CapBack != nil || !me.Why.Until.IsZero() {
		t.Errorf("nobody knows when it is back: %v", me.CapBack)
	}
}

func TestEveryAccountHeld(t *testing.T) {
	b := subs(t, ", credits = false", ", credits = false")
	stand(t, &b, "own", "m", "spare 5h=100@3h")
	r := route.Refuse(route.Plan(&b.snap, b.call()), b.call())
	if r == nil || r.Status != 429 || r.Code != route.CodeHeld || !r.RetryAt.Equal(now.Add(3*time.Hour+time.Second)) {
		t.Fatalf("%+v", r)
	}
	if strings.Contains(r.Words, " cap") || !strings.Contains(r.Words, "credits") || !strings.Contains(r.Words, "own/me") || !strings.Contains(r.Words, "own/spare") {
		t.Errorf("%s", r.Words)
	}

	b = subs(t, ", cap = 70", ", credits = false")
	stand(t, &b, "own", "m", "spare 5h=100@3h")
	r = route.Refuse(route.Plan(&b.snap, b.call()), b.call())
	if r == nil || r.Status != 429 || !strings.Contains(r.Words, "own/me is at its cap of 70%") || !strings.Contains(r.Words, "own/spare has used its allowance up") {
		t.Fatalf("%+v", r)
	}

	b.snap.Standing["own/spare"] = route.Standing{Unready: "signed out"}
	r = route.Refuse(route.Plan(&b.snap, b.call()), b.call())
	if r == nil || r.Code == route.CodeHeld || !strings.Contains(r.Words, "signed out") || !strings.Contains(r.Words, "own/me is at its cap of 70%") {
		t.Errorf("with one that is not ready it is another error: %+v", r)
	}

	b = subs(t, ", cap = 70", "")
	b.snap.Standing["own/spare"] = route.Standing{Paused: &trace.Paused{Since: now, Until: now.Add(time.Minute)}}
	r = route.Refuse(route.Plan(&b.snap, b.call()), b.call())
	if r == nil || r.Code != route.CodeHeld || !strings.Contains(r.Words, "own/me is at its cap of 70%") || !strings.Contains(r.Words, "paused: own/spare") || !r.RetryAt.Equal(now.Add(time.Minute)) {
		t.Errorf("with one that is paused: %+v", r)
	}

	b = subs(t, ", cap = 70", `, models = ["other"]`)
	if r = route.Refuse(route.Plan(&b.snap, b.call()), b.call()); r == nil || r.Code != route.CodeHeld {
		t.Errorf("one that never has the model counts for nothing: %+v", r)
	}
	b = subs(t, `, models = ["other"]`, `, models = ["other"]`)
	if r = route.Refuse(route.Plan(&b.snap, b.call()), b.call()); r == nil || r.Status != 403 {
		t.Errorf("all barred: %+v", r)
	}
	b = subs(t, ", cap = 70", "")
	c := b.call()
	c.Only = "own/me"
	if r = route.Refuse(route.Plan(&b.snap, c), c); r == nil || r.Status != 429 || r.Code != route.CodeHeld {
		t.Errorf("named by the request: %+v", r)
	}

	b = subs(t, ", cap = 70", "")
	pin := b.snap.Standing["own/me"]
	pin.Pinned = &trace.Pinned{Since: now, Only: true}
	b.snap.Standing["own/me"] = pin
	if r = route.Refuse(route.Plan(&b.snap, b.call()), b.call()); r == nil || r.Code != route.CodeHeld || !strings.Contains(r.Words, "magpie unpin own/me") {
		t.Errorf("pinned as the only one: %+v", r)
	}
}

package route_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestSmartSpendsWhatRenewsSoonest(t *testing.T) {
	for _, tt := range []struct{ name, board, model, want string }{
		{"used alike or not, without resets: as listed", "a ?=10, b ?=50, c ?=20", "m", "a b c"},
		{"spent behind low, of the low the emptier first", "a ?=99, b ?=93, c ?=20", "m", "c b a"},
		{"of two low the emptier first, of two spent too", "a ?=97, b ?=90, c ?=99, d ?=98", "m", "b a d c"},
		{
			"by renewal, then unknown, then low; a reset that has passed leaves nothing used",
			"a ?=5@6d, b ?=70@20h, c ?=10, d ?=40@3d, e ?=95@1h, f ?=99@-1h", "m", "b d a c f e",
		},
		{"two in the same hour of the clock: as listed", "a 7d=50@1h2m, b 7d=50@1h1m", "m", "a b"},
		{"two minutes apart, but in two hours of the clock", "a 7d=50@2h1m, b 7d=50@1h59m", "m", "b a"},
		{
			"the longest window decides, then the next",
			"a 5h=0@10m 7d=0@5d, b 5h=0@4h 7d=0@2d, c 5h=0@3h 7d=0@2d1m", "m", "c b a",
		},
		{"a window of another model is not counted", "a 7d=20@3d 7d/opus=100@3d, b 7d=60@3d", "claude-sonnet-5", "a b"},
		{"a window of this model is", "a 7d=20@3d 7d/opus=100@3d, b 7d=60@3d", "claude-Opus-5", "b a"},
		{"five hours alone, not begun, before a week in two days", "b 7d=0@2d, a 5h=0", "m", "a b"},
		{"five hours alone, begun, before a week in two days", "b 7d=0@2d, a 5h=40@3h", "m", "a b"},
		{"a week that renews within the hour before five hours alone", "a 5h=40@3h, b 7d=0@59m", "m", "b a"},
		{"a shorter list goes behind the same with more", "a 7d=0@2d, b 7d=0@2d 5h=0@1h", "m", "b a"},
		{"nobody knows anything: as listed", "a fine, b fine, c fine", "m", "a b c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			c := b.call()
			c.Target.Model = tt.model
			if got := line(route.Plan(&b.snap, c)); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
		})
	}
}

func TestAClaudeAccountOfWhichNothingIsKnownGoesFirst(t *testing.T) {
	cat := catalog(t, `
[providers.codex]
preset = ""
responses = "http://codex.example"
accounts = [{ name = "c" }]
[providers.grok]
preset = ""
chat = "http://grok.example/v1"
accounts = [{ name = "g" }]
[providers.claude]
preset = "anthropic"
accounts = [{ name = "me" }]
[groups.all]
members = ["codex/m", "grok/m", "claude/m"]
`)
	signIn(cat)
	s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{}}
	s.Standing["codex/c"] = route.Standing{Windows: []provider.Window{{Name: "7 days", Used: 10, Resets: now.Add(24 * time.Hour), Span: 7 * 24 * time.Hour}}, Read: now}
	c := route.Call{Target: provider.Target{Group: cat.Group("all")}}
	for _, routing := range []string{"smart", "pace"} {
		cat.Group("all").Routing = routing
		p := route.Plan(&s, c)
		if got := line(p); got != "me c g" {
			t.Errorf("%s: got %s", routing, got)
		}
		if first := p.Order[0]; !first.Learns || first.Known || first.Why.Code != trace.WhyLearns || p.Order[2].Learns {
			t.Errorf("%s: %+v", routing, p.Order)
		}
	}
}

// One account has two models with windows of their own: how much is left is looked up for each.
func TestRoutingKeepsModelAllowancesSeparate(t *testing.T) {
	for _, routing := range []string{"smart", "usage"} {
		for _, members := range []string{`"own/grok", "own/claude"`, `"own/claude", "own/grok"`} {
			cat := catalog(t, "[providers.own]\nchat = \"http://own.example/v1\"\naccounts = [{ name = \"me\" }]\n[groups.g]\nrouting = \""+routing+"\"\nmembers = ["+members+"]\n")
			signIn(cat)
			s := route.Snapshot{Now: now, Catalog: cat, Standing: map[provider.AccountID]route.Standing{"own/me": {Read: now, Windows: []provider.Window{
				{Name: "grok", Model: "grok", Used: 25}, {Name: "claude", Model: "claude", Used: 100},
			}}}}
			p := route.Plan(&s, route.Call{Target: provider.Target{Group: cat.Group("g")}})
			if p.Order[0].Model != "grok" || p.Order[0].Used != 25 || p.Order[1].Used != 100 {
				t.Errorf("%s of %s: %s, used %v and %v", routing, members, full(p), p.Order[0].Used, p.Order[1].Used)
			}
		}
	}
}

func TestTheAllowanceOfALoneAccountIsTold(t *testing.T) {
	for _, routing := range []string{"smart", "order", "rotate", "usage", "pace", "weight"} {
		b := drawAs(t, `routing = "`+routing+`"`, "a 7d=40@2d")
		p, fx := route.Decide(&b.snap, b.call())
		if c := p.Order[0]; !c.Known || c.Used != 40 || len(c.Renews) != 1 || c.Why.Code != trace.WhyOnly {
			t.Errorf("%s: %+v", routing, c)
		}
		if len(fx.Rounds) != 0 {
			t.Errorf("%s: a lone one took a turn: %v", routing, fx.Rounds)
		}
	}
}

func TestSmartSaysWhy(t *testing.T) {
	b := draw(t, "low ?=93, later 7d=40@3d, spent ?=99, soon 7d=10@2d, dim ?=5, alike 7d=20@2d")
	for who, want := range map[string]trace.Reason{
		"soon":  {Code: trace.WhySooner, N: 4, Of: 6, Share: 10, At: now.Add(48 * time.Hour)},
		"alike": {Code: trace.WhySooner, N: 6, Of: 6, Share: 20, At: now.Add(48 * time.Hour)},
		"later": {Code: trace.WhyLater, N: 2, Of: 6, Share: 40, At: now.Add(72 * time.Hour)},
		"dim":   {Code: trace.WhyUnknown, N: 5, Of: 6, Share: 5},
		"low":   {Code: trace.WhyLow, N: 1, Of: 6, Share: 93},
		"spent": {Code: trace.WhySpent, N: 3, Of: 6, Share: 99},
	} {
		if got := why(route.Plan(&b.snap, b.call()))[who]; got != want {
			t.Errorf("%s\n got %+v\nwant %+v", who, got, want)
		}
	}
	if got := line(route.Plan(&b.snap, b.call())); got != strings.Join([]string{"soon", "alike", "later", "dim", "low", "spent"}, " ") {
		t.Error(got)
	}
}

// A reset that runs out before the week renews, and that the account spends by itself, is a renewal.
func TestAResetAboutToBeSpentIsARenewal(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name    string
		resets  *trace.Resets
		config  bool
		chosen  *bool
		routing string
		want    string
	}{
		{"sooner than a's week and b's", &trace.Resets{Count: 1, Until: now.Add(day)}, true, nil, "smart", "a b"},
		{"under pace too", &trace.Resets{Count: 1, Until: now.Add(day)}, true, nil, "pace", "a b"},
		{"later than a's week: it changes nothing", &trace.Resets{Count: 1, Until: now.Add(6 * day)}, true, nil, "smart", "b a"},
		{"not spent by itself", &trace.Resets{Count: 1, Until: now.Add(day)}, false, nil, "smart", "b a"},
		{"not spent by itself, by the person's choice", &trace.Resets{Count: 1, Until: now.Add(day)}, true, &no, "smart", "b a"},
		{"spent by itself, by the person's choice", &trace.Resets{Count: 1, Until: now.Add(day)}, false, &yes, "smart", "a b"},
		{"none in hand", &trace.Resets{Until: now.Add(day)}, true, nil, "smart", "b a"},
		{"it ran out", &trace.Resets{Count: 1, Until: now}, true, nil, "smart", "b a"},
	} {
		b := drawAs(t, `routing = "`+tt.routing+`"`, "a account 7d=40@5d, b account 7d=40@2d")
		b.cat.Account("own/a").Resets = tt.config
		if tt.chosen != nil {
			b.snap.Choices.Caps = map[provider.AccountID]route.Cap{"own/a": {Reset: tt.chosen}}
		}
		st := b.snap.Standing["own/a"]
		st.Resets = tt.resets
		b.snap.Standing["own/a"] = st
		if got := line(route.Plan(&b.snap, b.call())); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

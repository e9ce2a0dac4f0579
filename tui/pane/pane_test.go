package pane

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/canvas"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/state"
)

var now = time.Date(2026, 11, 23, 14, 2, 20, 0, time.UTC)

func viewOf(v trace.View, kind layout.Kind) *View {
	return &View{State: state.New(v, now, false), Clock: state.At(now), Kind: kind, Listen: "127.0.0.1:3425"}
}

func TestSumsOfTheDayRead(t *testing.T) {
	for _, tc := range []struct {
		usd      float64
		unpriced int64
		want     string
	}{{11.42, 0, "$11.42"}, {11.42, 3, "$11.42+"}, {0, 0, ""}, {0, 2, ""}, {0.001, 0, "<$0.01"}, {0.004, 1, "<$0.01+"}} {
		if got := cents(tc.usd, tc.unpriced); got != tc.want {
			t.Errorf("%v with %d unpriced reads %q, want %q", tc.usd, tc.unpriced, got, tc.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 20410: "20,410", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("%d reads %q, want %q", n, got, want)
		}
	}
}

func TestALengthOfTimeIsNeverHalfANumber(t *testing.T) {
	for _, tc := range []struct {
		span string
		w    int
		want string
	}{{"2h14m", 5, "2h14m"}, {"23d04h", 5, "23d"}, {"120d04h", 4, "120d"}, {"120d04h", 3, ""}, {"41m", 2, ""}, {"", 5, ""}} {
		if got := short(tc.span, tc.w); got != tc.want {
			t.Errorf("%q in %d cells reads %q, want %q", tc.span, tc.w, got, tc.want)
		}
	}
}

func TestPartsOfALineNeverBeginWithASeparator(t *testing.T) {
	set := canvas.Unicode()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[a-z]{0,12}( [a-z]{1,6})?`), 0, 6).Draw(t, "parts")
		w := rapid.IntRange(1, 40).Draw(t, "width")
		for _, line := range fill(&set, " ∙ ", w, parts...) {
			if set.Width(line) > w || strings.HasPrefix(line, "∙") || strings.HasPrefix(line, " ∙") {
				t.Fatalf("%q in %d cells", line, w)
			}
		}
	})
}

func TestPiecesLeaveWholeAndByRank(t *testing.T) {
	pieces := []piece{{text: "magpie"}, {text: "address", gap: 1, rank: 8}, {text: "live", gap: 1, rank: 1}, {text: "rate", gap: 1, rank: 4}}
	for w, want := range map[int]string{
		40: "magpie address live rate", 24: "magpie address live rate", 23: "magpie live rate", 16: "magpie live rate", 15: "magpie live", 10: "magpie", 4: "mag⋯",
	} {
		c := canvas.New(w, 1, canvas.Unicode())
		fit(c, 0, 0, pieces)
		if got := strings.TrimSpace(c.Plain()); got != want {
			t.Errorf("%d cells show %q, want %q", w, got, want)
		}
	}
}

func accounts(n int) []trace.Account {
	var out []trace.Account
	for i := range n {
		name := string(rune('a' + i))
		out = append(out, trace.Account{ID: "p/" + name, Provider: "p", Name: name, Kind: "key", State: trace.Fine, Place: i})
	}
	return out
}

var counted = regexp.MustCompile(`\+(\d+)`)

func TestEveryAccountIsOnTheScreenOrCounted(t *testing.T) {
	for _, kind := range []layout.Kind{layout.Wide, layout.Stacked, layout.Tiny} {
		for n := 1; n <= 26; n++ {
			for h := 2; h <= 30; h++ {
				v := viewOf(trace.View{Status: trace.Status{Accounts: accounts(n)}}, kind)
				c := canvas.New(46, h, canvas.Unicode())
				(&Accounts{}).Draw(c, v, Shown{})
				shown := 0
				for line := range strings.SplitSeq(c.Plain(), "\n") {
					shown += strings.Count(line, "✓ ")
					if m := counted.FindStringSubmatch(line); m != nil {
						more, err := strconv.Atoi(m[1])
						if err != nil {
							t.Fatal(err)
						}
						shown += more
					}
				}
				if shown != n {
					t.Fatalf("%v, %d accounts in %d lines: %d are accounted for\n%s", kind, n, h, shown, c.Plain())
				}
			}
		}
	}
}

func routeOf(order, left []trace.Candidate, tries []trace.Try) *trace.Route {
	return &trace.Route{ID: 4180, Time: now, Agent: "codex", Asked: "m", Order: order, Left: left, Tries: tries, Done: true, Status: 200, MS: 1000}
}

func TestEveryCandidateIsExplained(t *testing.T) {
	set := canvas.Unicode()
	outs := []string{"barred", "held", "capped", "paused", "key-not-allowed", "unready", "unlisted"}
	rapid.Check(t, func(t *rapid.T) {
		var order, left []trace.Candidate
		var tries []trace.Try
		names := 0
		name := func() string { names++; return "acct" + string(rune('a'+names)) }
		for range rapid.IntRange(0, 6).Draw(t, "in order") {
			c := trace.Candidate{ID: "p/" + name(), Model: "m", Why: trace.Reason{Code: trace.WhyListed, N: names}}
			if rapid.Bool().Draw(t, "tried") {
				tries = append(tries, trace.Try{ID: c.ID, Model: "m", Done: true, Fail: trace.Rate, Status: 429})
			}
			order = append(order, c)
		}
		for range rapid.IntRange(0, 6).Draw(t, "left out") {
			left = append(left, trace.Candidate{ID: "p/" + name(), Model: "m", Out: rapid.SampledFrom(outs).Draw(t, "out"), Why: trace.Reason{Code: trace.WhyPaused}})
		}
		w := rapid.IntRange(30, 120).Draw(t, "width")
		p := RequestPage(&set, viewOf(trace.View{}, layout.Stacked), routeOf(order, left, tries), w, "")
		text := p.Text(&set)
		for _, c := range append(order, left...) {
			if strings.Count(text, c.ID[2:]) < 1 {
				t.Fatalf("%s is missing:\n%s", c.ID, text)
			}
		}
		if got, want := strings.Count(text, "not tried"), len(order)-len(tries); got != want {
			t.Fatalf("%d are said not to be tried, want %d:\n%s", got, want, text)
		}
		for _, l := range p.Lines {
			used := l.From
			for _, s := range l.Spans {
				used += set.Width(s.Text)
			}
			if used > w {
				t.Fatalf("a line takes %d of %d cells", used, w)
			}
		}
	})
}

func TestWhatCameOfARequestIsSaid(t *testing.T) {
	set := canvas.Unicode()
	page := func(r *trace.Route) string {
		p := RequestPage(&set, viewOf(trace.View{}, layout.Stacked), r, 100, "")
		return p.Text(&set)
	}
	rest := &trace.Rest{Why: trace.Rate, Since: now, Until: now.Add(time.Minute)}
	for _, tc := range []struct {
		why  string
		edit func(*trace.Route)
		want []string
	}{
		{"answered", func(r *trace.Route) {
			r.Tries, r.TTFTMS, r.API = []trace.Try{{ID: "p/a", Done: true, Status: 200, TTFTMS: 900}}, 900, "messages"
			r.Order = []trace.Candidate{{ID: "p/a", Why: trace.Reason{Code: trace.WhyOnly}}}
		}, []string{"✓ a answered ∙ 1.0s in all ∙ first byte 0.9s ∙ 200", "the only one there is", "Messages as it came ∙ 200 ∙ first byte 0.9s"}},
		{"nobody could", func(r *trace.Route) {
			r.Status, r.Error = 429, "all candidates are rate limited"
			r.Tries = []trace.Try{{ID: "p/a", Done: true, Fail: trace.Rate, Status: 429, MS: 400, Rest: rest}}
			r.Order = []trace.Candidate{{ID: "p/a"}}
		}, []string{"✗ nobody could answer ∙ 1 try", "429 rate limit in 0.4s, nothing sent; rests 60s, goes last", "agent was told 429", "all candidates are rate limited", "the first to come back is a, at 14:03 (1:00)"}},
		{"a reply that broke off", func(r *trace.Route) {
			r.Status, r.Error, r.TTFTMS = 502, "the reply ended before it was complete", 200
			r.Tries = []trace.Try{{ID: "p/a", Done: true, Fail: trace.Network, Status: 502, TTFTMS: 200, MS: 300, Rest: rest}}
			r.Order = []trace.Candidate{{ID: "p/a"}, {ID: "p/b"}}
		}, []string{"✗ the reply of a broke off ∙ 1 try", "502 connection failed in 0.3s; rests 60s, goes last"}},
		{"nobody was asked", func(r *trace.Route) { r.Status, r.Error = 404, "no model is called m" }, []string{"⊘ nobody was asked ∙ 404", "no model is called m"}},
		{"the agent left", func(r *trace.Route) {
			r.Status, r.MS = trace.Gone, 7000
			r.Tries = []trace.Try{{ID: "p/a", Fail: trace.Cancelled, MS: 7000}}
			r.Order = []trace.Candidate{{ID: "p/a"}}
		}, []string{"∙ the agent left after 7.0s"}},
		{"live", func(r *trace.Route) {
			r.Done, r.Status, r.Time = false, 0, now.Add(-3*time.Second)
			r.Tries = []trace.Try{{ID: "p/b", Done: true, Fail: trace.Overloaded, Status: 529}, {ID: "p/a", Start: now.Add(-2 * time.Second)}}
			r.Order = []trace.Candidate{{ID: "p/b"}, {ID: "p/a"}, {ID: "p/c"}}
		}, []string{"▸ asking a ∙ try 2 ∙ 3s so far", "asked 2s ago, no answer yet", "not yet"}},
		{"a rule, and how hard it thought", func(r *trace.Route) {
			r.Effort, r.Tries = "low", []trace.Try{{ID: "p/a", Done: true, Status: 200, Effort: "high", Fixed: true}}
			r.Order = []trace.Candidate{{ID: "p/a", Why: trace.Reason{Code: trace.WhyRule, Count: 2, By: "g"}}}
			r.Rule = &trace.Rule{N: 2, Group: "g", Use: "p/m", When: []string{"images"}}
		}, []string{"rule 2 of group g sends the turn here", "rule     rule 2 of group g sends the turn to p/m: shows an image", "effort   high, as the member has it; the agent asked for low"}},
		{"what was masked, without what it was", func(r *trace.Route) {
			r.Tries, r.Masked = []trace.Try{{ID: "p/a", Done: true, Status: 200}}, &trace.Masked{Secrets: 2, Words: 1}
		}, []string{"masked   2 secrets and 1 word of yours"}},
		{"a vendor that was guessed", func(r *trace.Route) {
			r.Asked, r.Resolved = "claude-x", trace.Resolved{Provider: "p", Model: "claude-x", Guessed: "claude-"}
			r.Tries = []trace.Try{{ID: "p/a", Done: true, Status: 200}}
		}, []string{"guessed  p, for the name claude-x begins with claude-"}},
		{"waiting for a slot", func(r *trace.Route) {
			r.Done, r.Status, r.Time = false, 0, now.Add(-3*time.Second)
			r.Tries = []trace.Try{{ID: "p/a", Start: now.Add(-2 * time.Second), Queued: true}}
			r.Order = []trace.Candidate{{ID: "p/a"}}
		}, []string{"waits for a slot since 2s"}},
		{"after it waited", func(r *trace.Route) {
			r.Tries = []trace.Try{{ID: "p/a", Done: true, Status: 200, QueuedMS: 4000}}
			r.Order = []trace.Candidate{{ID: "p/a"}}
		}, []string{"queued 4.0s"}},
		{"one that was full gave way", func(r *trace.Route) {
			r.Tries = []trace.Try{{ID: "p/a", Done: true, Status: 200, InsteadOf: "p/b"}}
			r.Order = []trace.Candidate{{ID: "p/b"}, {ID: "p/a"}}
		}, []string{"instead of b, which was full"}},
		{"a price that nobody knows", func(r *trace.Route) {
			r.Tries, r.Tokens = []trace.Try{{ID: "p/a", Done: true, Status: 200}}, trace.Tokens{Input: 100, Output: 5}
		}, []string{"unknown: no price for m"}},
	} {
		r := routeOf(nil, nil, nil)
		tc.edit(r)
		got := page(r)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: it does not say %q:\n%s", tc.why, want, got)
			}
		}
	}
}

func TestHowAnAccountStandsIsSaid(t *testing.T) {
	set := canvas.Unicode()
	resets := now.Add(41 * time.Minute)
	past := now.Add(-time.Minute)
	for _, tc := range []struct {
		why  string
		edit func(*trace.Account)
		want []string
	}{
		{"fine", func(a *trace.Account) {
			a.Windows = []trace.Window{{Name: "5 hours", Used: 52, SpanS: 18000, Resets: &resets, Read: now}}
		}, []string{"fine: 52% of its 5 hours is used", "renews in 41m, 14:43"}},
		{"low and ahead", func(a *trace.Account) {
			a.State = trace.Low
			a.Windows = []trace.Window{{Name: "5 hours", Used: 93, SpanS: 18000, Resets: &resets, Read: now}}
		}, []string{"low: 93% of its 5 hours is used, so new conversations go elsewhere first", "7 points ahead of the clock"}},
		{"a window that was renewed since", func(a *trace.Account) {
			a.Windows = []trace.Window{{Name: "5 hours", Used: 93, SpanS: 18000, Resets: &past, Read: past}}
		}, []string{"renewed since it was read"}},
		{"a lane", func(a *trace.Account) { a.InFlight, a.Limit, a.Waiting = 2, 4, 3 }, []string{"2 of 4 requests, 3 waiting"}},
		{"no limit", func(a *trace.Account) { a.InFlight = 2 }, []string{"2 requests"}},
		{"no window", func(*trace.Account) {}, []string{"No allowance is known: this key's replies name no window."}},
		{"pinned", func(a *trace.Account) {
			a.Pinned = &trace.Pinned{Since: now.Add(-time.Hour), Until: now.Add(time.Hour), Agent: "claude"}
		}, []string{"pinned 1h00m ago: asked first for claude, for another 1h00m"}},
		{"pinned alone", func(a *trace.Account) { a.Pinned = &trace.Pinned{Since: now, Only: true} }, []string{"pinned just now: nobody else is asked until unpinned"}},
		{"paused for a while", func(a *trace.Account) {
			a.State, a.Paused = trace.Paused_, &trace.Paused{Since: now, Until: now.Add(2 * time.Hour)}
		}, []string{"paused by you, back in 2h00m: never asked until it is resumed"}},
		{"not ready", func(a *trace.Account) { a.State, a.Error = trace.Unready, "ANTHROPIC_API_KEY is not set" }, []string{"not ready: ANTHROPIC_API_KEY is not set"}},
		{"only shown", func(a *trace.Account) {
			a.ReadOnly, a.Windows = "its vendor answers its own program alone", []trace.Window{{Name: "Chat requests", Aside: true, Endless: true}}
		}, []string{"fine: nothing is known to be used up", "no limit", "only shown", "its vendor answers its own program alone"}},
		{"resting for a key that is not taken", func(a *trace.Account) {
			a.State, a.Rest = trace.Resting, &trace.Rest{Why: trace.Auth, Until: now.Add(5 * time.Minute)}
			a.Error = "key refused (401), put a working one in the config: Invalid key"
		}, []string{"rests 5:00, asked last meanwhile: key refused (401), put a working one in the config"}},
		{"spent", func(a *trace.Account) {
			a.State, a.Rest = trace.Spent, &trace.Rest{Why: trace.Credit, Until: now.Add(time.Hour)}
		}, []string{"spent: out of credit, back at 15:02", "out of credit, until 15:02"}},
		{"out of credit and asked all the same", func(a *trace.Account) {
			a.State, a.Denied, a.Error = trace.Spent, &trace.Denied{Why: trace.Credit, Status: 402}, "out of credit (402), top it up at its vendor"
		}, []string{"spent: out of credit (402), top it up at its vendor"}},
		{"a model of it rests", func(a *trace.Account) {
			a.Rests = []trace.Rest{{Key: "p/a opus", Until: now.Add(time.Hour)}}
		}, []string{"none now ∙ p/a opus until 15:02"}},
		{"money in hand", func(a *trace.Account) {
			a.Balance, a.Resets = "$12.50", &trace.Resets{Count: 2, Until: now.Add(time.Hour)}
		}, []string{"$12.50", "2 left until 15:02"}},
	} {
		a := accounts(1)[0]
		tc.edit(&a)
		v := viewOf(trace.View{Status: trace.Status{Accounts: []trace.Account{a}}}, layout.Stacked)
		p := AccountPage(&set, v, &a, 100, "1 of 1")
		got := p.Text(&set)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: it does not say %q:\n%s", tc.why, want, got)
			}
		}
	}
}

func TestARowSaysThatAKeyIsRefusedWhileItRests(t *testing.T) {
	all := accounts(1)
	all[0].State, all[0].Denied, all[0].Rest = trace.Resting, &trace.Denied{Why: trace.Auth, Status: 401}, &trace.Rest{Why: trace.Auth, Failures: 2, Until: now.Add(10 * time.Minute)}
	c := canvas.New(80, 2, canvas.Unicode())
	(&Accounts{}).Draw(c, viewOf(trace.View{Status: trace.Status{Accounts: all}}, layout.Stacked), Shown{})
	if got := c.Plain(); !strings.Contains(got, "rests 10:00 ∙ key refused x2") {
		t.Errorf("it reads %q", got)
	}
}

func TestWhereNoConfigIsYetThePersonIsToldHowToFindItsPlace(t *testing.T) {
	for _, w := range []int{46, 80} {
		c := canvas.New(w, Welcome, canvas.Unicode())
		(&Accounts{}).Draw(c, viewOf(trace.View{}, layout.Stacked), Shown{})
		got := strings.Join(strings.Fields(c.Plain()), " ")
		for _, want := range []string{"the file that magpie config path names", "[providers.anthropic]", "ANTHROPIC_API_KEY", "magpie presets lists the vendors"} {
			if !strings.Contains(got, want) {
				t.Errorf("%d wide, it does not say %q:\n%s", w, want, c.Plain())
			}
		}
	}
}

func TestTheTitleCarriesTheWorst(t *testing.T) {
	set := canvas.Unicode()
	low := accounts(2)
	low[1].State, low[1].Used = trace.Low, 93
	denied := accounts(2)
	denied[1].State, denied[1].Denied = trace.Unready, &trace.Denied{Status: 401}
	resting := accounts(2)
	resting[1].State, resting[1].Denied, resting[1].Rest = trace.Resting, &trace.Denied{Why: trace.Auth, Status: 401}, &trace.Rest{Why: trace.Auth, Until: now.Add(5 * time.Minute)}
	out := accounts(1)
	out[0].State = trace.Resting
	for _, tc := range []struct {
		why  string
		v    trace.View
		want string
	}{
		{"all is well", trace.View{Status: trace.Status{Accounts: accounts(2)}, Routes: []trace.Route{{ID: 1}}}, "magpie ✓ 1 live"},
		{"one is low", trace.View{Status: trace.Status{Accounts: low}}, "magpie ! b 93%"},
		{"a key is refused", trace.View{Status: trace.Status{Accounts: denied}}, "magpie ✗ b key refused"},
		{"a refused key rests", trace.View{Status: trace.Status{Accounts: resting}}, "magpie ✗ b key refused"},
		{"a group is out", trace.View{Status: trace.Status{Accounts: accounts(1), Groups: []trace.Group{{ID: "always-on", Members: []string{"q/x"}}}}}, "magpie ✗ always-on out"},
		{"everybody is out", trace.View{Status: trace.Status{Accounts: out}}, "magpie ✗ see the banner"},
		{"the config is bad", trace.View{Status: trace.Status{Config: trace.ConfigStatus{Error: "x"}}}, "magpie ✗ config"},
	} {
		if got := Title(&set, viewOf(tc.v, layout.Stacked)); got != tc.want {
			t.Errorf("%s: the title is %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestRequestNumbersAreShort(t *testing.T) {
	for id, want := range map[int64]string{4180: "#4180", 1795442540007: "#0007", 3: "#0003"} {
		if got := Number(id); got != want {
			t.Errorf("%d is called %q, want %q", id, got, want)
		}
	}
}

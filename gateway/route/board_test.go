package route_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// catalog builds what a config's text says, and fails the test when that has a problem.
func catalog(t testing.TB, text string) *provider.Catalog {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(text))
	if err != nil {
		t.Fatalf("config: %v", err)
	}
	cat, problems := provider.Build(cfg)
	for _, p := range problems {
		t.Fatalf("config: %v", p)
	}
	return cat
}

// board is a drawn situation: keys of the providers own and spare, each with the words
// that say how it stands.
type board struct {
	cat  *provider.Catalog
	snap route.Snapshot
}

// draw reads "a fine, b rests, c paused; x fine": before the semicolon are own's keys,
// asked for model m, after it those of spare, which falls back to model s.
func draw(t testing.TB, text string) board { return drawAs(t, "", text) }

// drawAs draws with settings of the provider own.
func drawAs(t testing.TB, settings, text string) board {
	t.Helper()
	own, spare, _ := strings.Cut(text, ";")
	var toml strings.Builder
	fmt.Fprintf(&toml, "[providers.own]\nchat = \"http://own.example/v1\"\nmessages = \"http://own.example\"\n%s\n%s", settings, keys(own))
	if spare != "" {
		fmt.Fprintf(&toml, "fallback = [\"spare/s\"]\n[providers.spare]\nchat = \"http://spare.example/v1\"\n%s", keys(spare))
	}
	b := board{cat: catalog(t, toml.String())}
	b.snap = route.Snapshot{Now: now, Catalog: b.cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{}}
	signIn(b.cat)
	stand(t, &b, "own", "m", own)
	stand(t, &b, "spare", "s", spare)
	return b
}

// signIn makes the accounts of a catalogue ready.
func signIn(cat *provider.Catalog) {
	for _, a := range cat.AllAccounts() {
		if a.Kind == provider.KindAccount {
			a.Unready = ""
		}
	}
}

// keys writes the keys, and the accounts, that words tell of.
func keys(words string) string {
	var list, accounts []string
	for each := range strings.SplitSeq(words, ",") {
		name, how, _ := strings.Cut(strings.TrimSpace(each), " ")
		key, account := `name = "`+name+`", value = "sk-`+name+`"`, false
		for word := range strings.FieldsSeq(how) {
			switch word {
			case "off":
				key += ", off = true"
			case "barred":
				key += `, models = ["another"]`
			case "for-chat", "for-messages", "for-gemini":
				key += `, protocol = "` + strings.TrimPrefix(word, "for-") + `"`
			case "weighs-2", "weighs-3":
				key += `, weight = ` + strings.TrimPrefix(word, "weighs-")
			case "account":
				account = true
			}
		}
		if account {
			accounts = append(accounts, `{ name = "`+name+`" }`)
			continue
		}
		list = append(list, "{ "+key+" }")
	}
	return "keys = [" + strings.Join(list, ", ") + "]\naccounts = [" + strings.Join(accounts, ", ") + "]\n"
}

func stand(t testing.TB, b *board, id, model, words string) {
	t.Helper()
	if words == "" {
		return
	}
	for each := range strings.SplitSeq(words, ",") {
		name, how, _ := strings.Cut(strings.TrimSpace(each), " ")
		a := b.cat.Account(provider.AccountID(id + "/" + name))
		if a == nil {
			t.Fatalf("board has no account %s/%s", id, name)
		}
		st := b.snap.Standing[a.ID]
		for word := range strings.FieldsSeq(how) {
			if !put(b, a, &st, model, word) {
				t.Fatalf("board has no word %q", word)
			}
		}
		b.snap.Standing[a.ID] = st
	}
}

func put(b *board, a *provider.Account, st *route.Standing, model, word string) bool {
	rest := trace.Rest{Key: route.RestKey(a), Why: trace.Rate, By: trace.ByBackoff, Since: now.Add(-time.Minute), Until: now.Add(time.Minute)}
	switch word {
	case "fine", "off", "barred", "for-chat", "for-messages", "for-gemini", "weighs-2", "weighs-3", "account":
	case "low":
		st.Windows = []provider.Window{{Name: "7 days", Used: 93, Resets: now.Add(time.Hour), Read: now}}
	case "at-97", "at-98":
		used := 97.0
		if word == "at-98" {
			used = 98
		}
		st.Windows = []provider.Window{{Name: "7 days", Used: used, Resets: now.Add(time.Hour), Read: now}}
	case "spent":
		st.Windows = []provider.Window{{Name: "7 days", Used: 100, Resets: now.Add(time.Hour), Read: now}}
	case "shut":
		st.Shut = true
	case "rests":
		b.snap.Rests[rest.Key] = rest
	case "rests-ended":
		rest.Until = now
		b.snap.Rests[rest.Key] = rest
	case "rests-model":
		rest.Key = route.ModelRestID(a, model)
		b.snap.Rests[rest.Key] = rest
	case "rests-other-model":
		rest.Key = route.ModelRestID(a, "another")
		b.snap.Rests[rest.Key] = rest
	case "rests-old-secret":
		rest.Print, st.Print = "old", "new"
		b.snap.Rests[rest.Key] = rest
	case "rests-same-secret":
		rest.Print, st.Print = "new", "new"
		b.snap.Rests[rest.Key] = rest
	case "paused":
		st.Paused = &trace.Paused{Since: now.Add(-time.Hour)}
	case "paused-an-hour":
		st.Paused = &trace.Paused{Since: now.Add(-time.Hour), Until: now.Add(time.Hour)}
	case "pause-over":
		st.Paused = &trace.Paused{Since: now.Add(-time.Hour), Until: now}
	case "unready":
		st.Unready = "OWN_KEY is not set"
	default:
		return tokens(b, a, word) || count(st, word) || pin(st, word)
	}
	return true
}

// tokens reads how many were served lately, such as tokens=310.
func tokens(b *board, a *provider.Account, word string) bool {
	value, found := strings.CutPrefix(word, "tokens=")
	n, err := strconv.ParseFloat(value, 64)
	if !found || err != nil {
		return false
	}
	b.snap.Served[a.ID] = route.Lately{Tokens: n, At: now}
	return true
}

// count reads how much was used: sunk=3, or a window by its span, such as
// 7d=40@20h, 40 percent used and renewed in 20 hours; ?=10 has neither span nor reset,
// 7d/opus=100 counts opus alone, and a window with a minus renewed some time ago.
func count(st *route.Standing, word string) bool {
	name, value, found := strings.Cut(word, "=")
	if !found {
		return false
	}
	value, at, timed := strings.Cut(value, "@")
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return false
	}
	switch name {
	case "sunk":
		st.Sunk = route.Sunk{Seq: uint64(n), At: now.Add(-time.Hour)}
		return true
	}
	span, model, _ := strings.Cut(name, "/")
	w := provider.Window{Name: name, Used: n, Model: model, Read: now}
	if span != "?" {
		w.Span = long(span)
		w.Name = provider.SpanName(w.Span)
	}
	if timed {
		w.Resets = now.Add(long(at))
	}
	st.Windows, st.Read = append(st.Windows, w), now
	return true
}

// long reads 7d, 20h, 10m, -1h, 2d1m.
func long(s string) time.Duration {
	days := 0
	if d, rest, ok := strings.Cut(s, "d"); ok {
		days, _ = strconv.Atoi(d)
		s = rest
	}
	d, err := time.ParseDuration(s + "0s")
	if err != nil {
		panic(err)
	}
	return d + time.Duration(days)*24*time.Hour
}

func pin(st *route.Standing, word string) bool {
	p := &trace.Pinned{Since: now.Add(-time.Hour)}
	switch word {
	case "pinned":
	case "pinned-later":
		p.Since = now.Add(-time.Minute)
	case "pin-over":
		p.Until = now
	case "pinned-only":
		p.Only = true
	case "pinned-only-later":
		p.Since, p.Only = now.Add(-time.Minute), true
	case "pinned-for-a-name":
		p.Model = "a-name"
	case "pinned-for-claude":
		p.Agent = "claude"
	case "pinned-for-m":
		p.Model = "m"
	case "pinned-for-own/m":
		p.Model = "own/m"
	case "pinned-for-other":
		p.Model = "another"
	default:
		return false
	}
	st.Pinned = p
	return true
}

// call asks for own/m over Chat.
func (b board) call() route.Call {
	return route.Call{
		Target:   provider.Target{Asked: "own/m", Provider: b.cat.Provider("own"), Model: "m"},
		Agent:    "codex",
		Protocol: wire.Chat,
	}
}

// line writes a plan as a board's outcome: "a b* | c:paused", where * rests.
func line(p trace.Plan) string {
	var words []string
	for _, c := range p.Order {
		word := c.Who
		if c.Rest != nil {
			word += "*"
		}
		words = append(words, word)
	}
	if len(p.Left) > 0 {
		words = append(words, "|")
	}
	for _, c := range p.Left {
		words = append(words, c.Who+":"+c.Out)
	}
	return strings.Join(words, " ")
}

func TestWhatAPinIsFor(t *testing.T) {
	for _, tt := range []struct {
		name, board string
		call        func(*route.Call)
		want        string
		held        string // to whom the plan is held
	}{
		{"of two alone the newest is told", "a pinned-only-later, b pinned-only, c fine", nil, "a b | c:other-pin", "own/a"},
		{"whichever is listed first", "a pinned-only, b pinned-only-later, c fine", nil, "b a | c:other-pin", "own/b"},
		{"a key in the model's name goes before it", "a fine, b pinned-only", func(c *route.Call) { c.Target.Who = "a" }, "a | b:not-named", ""},
		{"so does one that the request names", "a fine, b pinned-only", func(c *route.Call) { c.Only = "own/a" }, "a | b:not-named", "own/a"},
		{"it may be for a name that is asked for", "a fine, b pinned-for-a-name", func(c *route.Call) { c.Target.Asked = "A-Name" }, "b a", ""},
		{"which another request does not ask for", "a fine, b pinned-for-a-name", nil, "a b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			c := b.call()
			if tt.call != nil {
				tt.call(&c)
			}
			if p := route.Plan(&b.snap, c); line(p) != tt.want || p.Pinned != tt.held {
				t.Errorf("%s: got %s, held to %q; want %s, %q", tt.board, line(p), p.Pinned, tt.want, tt.held)
			}
		})
	}
}

// What a request names goes before a pin, also for which of its models is asked.
func TestAPinMovesNoModelOfWhomTheRequestNames(t *testing.T) {
	b := drawAs(t, `fallback = ["own/n"]`, "a fine")
	b.snap.Standing["own/a"] = route.Standing{Pinned: &trace.Pinned{Since: now, Model: "n"}}
	for only, want := range map[provider.AccountID]string{"own/a": "m n", "": "n m"} {
		c := b.call()
		c.Only = only
		p := route.Plan(&b.snap, c)
		if got := p.Order[0].Model + " " + p.Order[1].Model; got != want {
			t.Errorf("named %q: %s, want %s", only, got, want)
		}
	}
}

func TestWhoIsAskedInWhichOrder(t *testing.T) {
	for _, tt := range []struct{ name, board, want string }{
		{"keys go in the file's order", "a fine, b fine, c fine", "a b c"},
		{"one that rests goes behind, one that is paused is left out", "a fine, b rests, c paused", "a b* | c:paused"},
		{"of several that rest the order stays", "a rests, b fine, c rests, d fine", "b d a* c*"},
		{"a lone one is asked even while it rests", "a rests", "a*"},
		{"all rest: all are asked, as listed", "a rests, b rests", "a* b*"},
		{"a rest that ended is none", "a rests-ended, b fine", "a b"},
		{"a rest with this model counts", "a rests-model, b fine", "b a*"},
		{"a rest with another model does not", "a rests-other-model, b fine", "a b"},
		{"a rest of another secret is none", "a rests-old-secret, b fine", "a b"},
		{"a rest of the same secret holds", "a rests-same-secret, b fine", "b a*"},
		{"those with room go first, then those with little, then the spent", "a spent, b low, c fine", "c b a"},
		{"a pause that ended is none", "a pause-over, b paused-an-hour", "a | b:paused"},
		{"off, without secret, or barred from the model is left out", "a off, b unready, c barred, d fine", "d | a:off b:unready c:barred"},
		{"what the config says is told before what the person says", "a off paused, b barred paused, c unready paused", " | a:off b:barred c:unready"},
		{"a key made for another API than the agent's is asked on that one, behind those that suit better", "a for-messages, b fine", "b a"},
		{"a key made for an API that the provider has not is left out", "a for-gemini, b fine", "b | a:protocol"},
		{"a fallback goes behind all own ones", "a fine, b fine; x fine", "a b x"},
		{"resting ones go behind the fallback, own before its", "a rests, b fine; x rests, y fine", "b y a* x*"},
		{"a paused fallback is left out like any other", "a fine; x paused", "a | x:paused"},
		{"a pinned one goes first", "a fine, b fine, c pinned", "c a b"},
		{"the newest pin goes first", "a fine, b pinned, c pinned-later", "c b a"},
		{"a pin that ended is none", "a fine, b pin-over", "a b"},
		{"a pinned fallback goes first", "a fine; x pinned", "x a"},
		{"a pinned one that rests goes first of those that rest", "a rests, b fine, c pinned rests", "b c* a*"},
		{"a pin wakes nobody", "a fine, b pinned paused", "a | b:paused"},
		{"a pin for another agent is none", "a fine, b pinned-for-claude", "a b"},
		{"a pin for this model", "a fine, b pinned-for-m", "b a"},
		{"a pin for this model of this provider", "a fine, b pinned-for-own/m", "b a"},
		{"a pin for another model is none", "a fine, b pinned-for-other", "a b"},
		{"a pin as the only one leaves the others out", "a fine, b pinned-only, c off; x fine", "b | a:other-pin c:off x:other-pin"},
		{"an only pin on a fallback holds the request to it", "a fine; x pinned-only", "x | a:other-pin"},
		{"an only pin goes before another pin", "a pinned, b pinned-only", "b | a:other-pin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			if got := line(route.Plan(&b.snap, b.call())); got != strings.TrimSpace(tt.want) {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
		})
	}
}

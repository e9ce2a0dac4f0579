package gateway_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// talkKeys is a vendor with the keys k1 k2 k3, routed and kept as it says.
func talkKeys(routing, affinity string, keys int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[providers.a]\nchat = \"{a}/v1\"\nresponses = \"{a}/v1\"\nmessages = \"{a}\"\ngemini = \"{a}/v1beta\"\nrouting = %q\naffinity = %q\nkeys = [", routing, affinity)
	for i := 1; i <= keys; i++ {
		fmt.Fprintf(&b, "{ name = \"k%d\", value = %q }, ", i, keyOf(i))
	}
	return b.String() + "]\n"
}

func keyOf(i int) string { return fmt.Sprintf("sk-test-k%d-00000000000%d", i, i) }

// caching is a vendor whose replies read 2,500 tokens from a cache.
func caching(steps ...string) *standin.Vendor {
	v := standin.New(standin.Options{Models: []string{"m", "title"}, Text: "done"})
	v.Script(standin.AnyKey, standin.Must(append(steps, "ok usage=3000/2500/20 x*")...)...)
	return v
}

// dialog is one conversation of an agent that speaks Chat and has a session header.
type dialog struct {
	r       *rig
	session string
	model   string
	items   []string
}

func (r *rig) dialog(session, model string) *dialog {
	return &dialog{r: r, session: session, model: model}
}

// says begins a turn; gets goes on with a tool's result. Both return the route.
func (d *dialog) says(words string) trace.Route {
	d.items = append(d.items, `{"role":"user","content":"`+words+`"}`)
	return d.send()
}

func (d *dialog) gets() trace.Route {
	n := len(d.items)
	d.items = append(d.items,
		fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}`, n),
		fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"found"}`, n))
	return d.send()
}

func (d *dialog) send() trace.Route {
	d.r.t.Helper()
	head := "X-Session-Id: " + d.session
	if d.session == "" {
		head = "X-Session-Id: "
	}
	got := d.r.ask("/v1/chat/completions", `{"model":"`+d.model+`","messages":[`+strings.Join(d.items, ",")+`]}`, head)
	if got.status != 200 {
		d.r.t.Fatalf("%d %s", got.status, got.body)
	}
	d.items = append(d.items, `{"role":"assistant","content":"done"}`)
	return d.r.told()
}

// by writes who answered and why, as "k1 cache".
func by(r trace.Route) string {
	who := strings.TrimPrefix(r.Answerer(), "a/")
	if r.Affinity == nil {
		return who + " -"
	}
	return who + " " + string(r.Affinity.Why)
}

// want fails the test when who answered, or why, is another.
func want(t *testing.T, r trace.Route, want string) {
	t.Helper()
	if got := by(r); got != want {
		t.Errorf("got %s, want %s; %+v", got, want, r.Affinity)
	}
}

func TestWhereTheSecondRequestOfASessionGoes(t *testing.T) {
	for _, c := range []struct{ routing, affinity, second, want string }{
		{"smart", "auto", "new user turn", "k1 cache"},
		{"rotate", "auto", "new user turn", "k2 new-turn"},
		{"rotate", "auto", "tool result", "k1 turn"},
		{"rotate", "turn", "new user turn", "k2 new-turn"},
		{"rotate", "turn", "tool result", "k1 turn"},
		{"rotate", "session", "new user turn", "k1 session"},
		{"rotate", "off", "new user turn", "k2 off"},
	} {
		t.Run(strings.Join([]string{c.routing, c.affinity, c.second}, ", "), func(t *testing.T) {
			r := newRig(t, talkKeys(c.routing, c.affinity, 2), vendors{"a": caching()})
			d := r.dialog("s1", "a/m")
			first := d.says("one")
			if c.affinity != "off" {
				want(t, first, "k1 first")
			}
			second := trace.Route{}
			if c.second == "tool result" {
				second = d.gets()
			} else {
				second = d.says("two")
			}
			want(t, second, c.want)
			a := second.Affinity
			if a.Mode != c.affinity || a.Scope != "a/m" || a.Last != "a/k1" || a.CacheRead != 2500 || a.Within != (c.second == "tool result") {
				t.Errorf("%+v", a)
			}
			if a.Kept != (second.Answerer() == "a/k1") || a.Kept != strings.HasPrefix(second.Order[0].ID, "a/k1") {
				t.Errorf("kept %v, asked %s first", a.Kept, second.Order[0].ID)
			}
		})
	}
}

func TestEachTurnGoesOneFurtherAndItsToolResultsStay(t *testing.T) {
	r := newRig(t, talkKeys("rotate", "auto", 3), vendors{"a": caching()})
	main := r.dialog("s1", "a/m")
	for i, key := range []string{"k1", "k2", "k3", "k1"} {
		turn := main.says("turn")
		if got := turn.Answerer(); got != "a/"+key {
			t.Errorf("turn %d: %s answered, want %s", i+1, got, key)
		}
		if turn.Affinity.Turn != i+1 {
			t.Errorf("turn %d is told as %d", i+1, turn.Affinity.Turn)
		}
		r.dialog("s1", "a/title").says("a title, please") // takes a turn of the vendor's, and moves nothing
		want(t, main.gets(), key+" turn")
	}
}

func TestASessionMovesOnlyFromWhoRests(t *testing.T) {
	r := newRig(t, talkKeys("order", "session", 2), vendors{"a": caching()})
	d := r.dialog("s1", "a/m")
	want(t, d.says("one"), "k1 first")
	r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Minute)
	want(t, d.says("two"), "k2 resting")
	want(t, r.dialog("s2", "a/m").says("one"), "k2 first")
	r.command(`{"verb":"wake","who":"a/k1"}`)
	want(t, d.says("three"), "k2 session")
	want(t, r.dialog("s3", "a/m").says("one"), "k1 first")
}

func TestGeminiWithoutASessionHeaderStaysOnItsKey(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		r := newRig(t, talkKeys("rotate", "session", 2), vendors{"a": caching()})
		path, _ := asking("gemini", "a/m", streamed)
		turn := func(contents, more string) trace.Route {
			if got := r.ask(path, `{"contents":[`+contents+`]`+more+`}`); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			return r.told()
		}
		first := `{"role":"user","parts":[{"text":"one"}]}`
		want(t, turn(first, ""), "k1 first")
		want(t, turn(`{"role":"user","parts":[{"text":"another"}]}`, ""), "k2 first")
		want(t, turn(first+`,{"role":"model","parts":[{"text":"ok"}]},{"role":"user","parts":[{"text":"two"}]}`, `,"systemInstruction":{"parts":[{"text":"be kind"}]}`), "k1 session")
	}
}

func TestAConversationSurvivesARestart(t *testing.T) {
	o := state.Options{Affinity: filepath.Join(t.TempDir(), "magpie", "affinity.json")}
	run := func(step string, talk func(r *rig)) {
		store, err := state.Open(o, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		v := caching()
		if step != "" {
			v.Script(keyOf(1), standin.Must(step)...)
		}
		talk(newRig(t, talkKeys("order", "auto", 2), vendors{"a": v}, func(d *gateway.Deps) { d.State = store }))
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	turns := []string{"one", "two"}
	run("429 rate x*", func(r *rig) {
		want(t, r.dialog("s1", "a/m").says(turns[0]), "k2 first")
	})
	info, err := os.Stat(o.Affinity)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	run("", func(r *rig) {
		d := r.dialog("s1", "a/m")
		d.items = []string{`{"role":"user","content":"one"}`, `{"role":"assistant","content":"done"}`}
		want(t, d.says(turns[1]), "k2 cache")
		want(t, r.dialog("s2", "a/m").says("one"), "k1 first")
	})
}

func TestAColdOrUncachedConversationFollowsTheRouting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := caching()
		r := newRig(t, talkKeys("order", "auto", 2), vendors{"a": v})
		r.restNow("a/k1", trace.Rate, trace.ByCooldown, 10*time.Second)
		d := r.dialog("s1", "a/m")
		v.Script(standin.AnyKey, standin.Must("ok usage=3000/1023/20", "ok usage=3000/1024/20 x*")...)
		want(t, d.says("one"), "k2 first")
		pass(11 * time.Second)
		want(t, d.gets(), "k2 turn")
		want(t, d.says("two"), "k2 cache")
		pass(5 * time.Minute)
		want(t, d.says("three"), "k2 cache")
		pass(5*time.Minute + time.Second)
		want(t, d.says("four"), "k1 cold")
		pass(24 * time.Hour)
		want(t, d.says("five"), "k1 first")
	})
}

func TestNewConversationsOfARotatingProviderAreSpread(t *testing.T) {
	for name, toml := range map[string]string{
		"a provider": talkKeys("rotate", "auto", 2),
		"a group":    talkKeys("order", "auto", 2) + "[groups.g]\nmembers = [\"a/m\"]\nrouting = \"rotate\"\n",
	} {
		for _, apart := range []int{0, 1} { // with the turn in between the counter is even for both
			t.Run(fmt.Sprint(name, ", ", apart, " turns between"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, toml, vendors{"a": caching()})
					model := "a/m"
					if name == "a group" {
						model = "group/g"
					}
					one, two := r.dialog("s1", model), r.dialog("s2", model)
					want(t, one.says("one"), "k1 first")
					for range apart {
						want(t, one.gets(), "k1 turn")
					}
					second := two.says("one")
					want(t, second, "k2 first")
					if why := second.Order[0].Why; apart > 0 && why.Code != trace.WhyFewest {
						t.Errorf("because %+v", why)
					}
					want(t, r.dialog("s3", model).says("one"), [...]string{"k1", "k2"}[apart]+" first") // a tie: by the counter
					pass(29 * time.Minute)
					want(t, one.gets(), "k1 turn")
					pass(2 * time.Minute) // the others count no more
					want(t, r.dialog("s4", model).says("one"), "k2 first")
				})
			})
		}
	}
}

func TestAKeyAddedInAConversationDoesNotTakeItOver(t *testing.T) {
	var r *rig
	r = newRig(t, talkKeys("order", "auto", 1), vendors{"a": caching()}, func(d *gateway.Deps) {
		d.Load = func() (*config.Config, *provider.Catalog, error) {
			toml := strings.Replace(talkKeys("order", "auto", 1), "keys = [", "keys = [{ name = \"k0\", value = \"sk-test-k0-000000000000\" }, ", 1)
			cfg, cat := r.parse(strings.ReplaceAll(toml, "{a}", r.cat.Provider("a").Bases[wire.Messages]))
			return cfg, cat, nil
		}
	})
	d := r.dialog("s1", "a/m")
	want(t, d.says("one"), "k1 -")
	r.command(`{"verb":"reload"}`)
	want(t, d.says("two"), "k1 cache")
	want(t, r.dialog("s2", "a/m").says("one"), "k0 first")
}

func TestAReplyThatBreaksOffForgetsItsAnswererAlone(t *testing.T) {
	v := caching()
	r := newRig(t, talkKeys("order", "session", 2), vendors{"a": v})
	d := r.dialog("s1", "a/m")
	r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Minute)
	want(t, d.says("one"), "k2 first")
	r.command(`{"verb":"wake","who":"a/k1"}`)
	v.Script(keyOf(2), standin.Must("error server after=2", "ok usage=3000/2500/20 x*")...)
	body := `{"model":"a/m","stream":true,"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"done"},{"role":"user","content":"two"}]}`
	r.ask("/v1/chat/completions", body, "X-Session-Id: s1")
	broken := r.told()
	if by(broken) != "k2 session" && broken.Order[0].ID != "a/k2" || broken.Status == 200 {
		t.Fatalf("%s, %d", by(broken), broken.Status)
	}
	r.command(`{"verb":"wake","who":"all"}`)
	want(t, d.says("two"), "k1 first")
}

func TestAnAgentThatLeavesChangesNothingOfItsConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := caching()
		r := newRig(t, talkKeys("order", "session", 2), vendors{"a": v})
		d := r.dialog("s1", "a/m")
		r.restNow("a/k1", trace.Rate, trace.ByCooldown, time.Second)
		want(t, d.says("one"), "k2 first")
		pass(2 * time.Second)
		v.Script(keyOf(2), standin.Must("silence 1h after=2", "ok x*")...)
		ctx, leave := withLeave(t)
		time.AfterFunc(10*time.Second, leave)
		resp, err := r.send(ctx, "POST", "/v1/chat/completions", `{"model":"a/m","stream":true,"messages":[{"role":"user","content":"one"},{"role":"user","content":"two"}]}`, "X-Session-Id: s1")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		synctest.Wait()
		if left := r.told(); left.Status != trace.Gone || left.Answerer() != "a/k2" {
			t.Errorf("%d, %s", left.Status, by(left))
		}
		want(t, d.says("three"), "k2 session")
	})
}

func TestACountOfTokensIsNoPartOfAConversation(t *testing.T) {
	r := newRig(t, strings.Replace(talkKeys("rotate", "auto", 2), "keys =", "models = [\"m\"]\nkeys =", 1), vendors{"a": caching()})
	for range 3 {
		if got := r.ask("/v1/messages/count_tokens", `{"model":"a/m","messages":[{"role":"user","content":"one"}]}`, "X-Claude-Code-Session-Id: s1"); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if a := r.told().Affinity; a != nil && a.Why != trace.KeepFirst {
			t.Errorf("%+v", a)
		}
	}
	want(t, r.dialog("s1", "a/m").says("one"), "k1 first")
}

func TestWhichConversationARequestBelongsTo(t *testing.T) {
	const one, other = `{"role":"user","content":"hi"}`, `{"role":"user","content":"ho"}`
	chat := func(items, more string) string { return `{"model":"a/m","messages":[` + items + `]` + more + `}` }
	later := one + `,{"role":"assistant","content":"ok"},{"role":"user","content":"more"}`
	for _, c := range []struct {
		name          string
		path          string
		first, second string
		heads, more   []string // of the first, and of the second
		same          bool
	}{
		{"the first user item names it", "/v1/chat/completions", chat(one, ""), chat(later, ""), nil, nil, true},
		{"and another is another", "/v1/chat/completions", chat(one, ""), chat(other, ""), nil, nil, false},
		{"a session header goes before what is said", "/v1/chat/completions", chat(one, ""), chat(other, ""), []string{"X-Session-Affinity: s"}, []string{"X-Session-Affinity: s"}, true},
		{"another session says the same", "/v1/chat/completions", chat(one, ""), chat(one, ""), []string{"Session_id: s"}, []string{"Session_id: t"}, false},
		{"opencode's goes before the others", "/v1/chat/completions", chat(one, ""), chat(one, ""), []string{"X-Opencode-Session: s", "X-Session-Id: t"}, []string{"X-Opencode-Session: s", "X-Session-Id: u"}, true},
		{"the name that people gave it is not the agent's", "/v1/chat/completions", chat(one, ""), chat(one, ""), []string{"X-Magpie-Session: p", "Session-Id: s"}, []string{"X-Magpie-Session: p", "Session-Id: t"}, false},
		{"and does not part it", "/v1/chat/completions", chat(one, ""), chat(one, ""), []string{"X-Magpie-Session: p", "Session-Id: s"}, []string{"X-Magpie-Session: q", "Session-Id: s"}, true},
		{"a subagent shares a session and is another", "/v1/messages", strings.Replace(chat(one, ""), "{", `{"max_tokens":9,`, 1), strings.Replace(chat(one, ""), "{", `{"max_tokens":9,`, 1), []string{"X-Claude-Code-Session-Id: s"}, []string{"X-Claude-Code-Session-Id: s", "X-Claude-Code-Agent-Id: sub"}, false},
		{"the session in metadata", "/v1/messages", strings.Replace(chat(one, `,"metadata":{"user_id":"user_x_session_A"}`), "{", `{"max_tokens":9,`, 1), strings.Replace(chat(other, `,"metadata":{"user_id":"user_x_session_A"}`), "{", `{"max_tokens":9,`, 1), nil, nil, true},
		{"another session in metadata", "/v1/messages", strings.Replace(chat(one, `,"metadata":{"user_id":"user_x_session_A"}`), "{", `{"max_tokens":9,`, 1), strings.Replace(chat(one, `,"metadata":{"user_id":"user_x_session_B"}`), "{", `{"max_tokens":9,`, 1), nil, nil, false},
		{"a cache key", "/v1/responses", `{"model":"a/m","input":"hi","prompt_cache_key":"k"}`, `{"model":"a/m","input":"ho","prompt_cache_key":"k"}`, nil, nil, true},
		{"an input that is a string", "/v1/responses", `{"model":"a/m","input":"hi"}`, `{"input":"hi","model":"a/m","store":false}`, nil, nil, true},
		{"a line of billing in the system prompt", "/v1/messages", strings.Replace(chat(one, `,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch=71fea;"}]`), "{", `{"max_tokens":9,`, 1), strings.Replace(chat(one, `,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch=0aaa9;"}]`), "{", `{"max_tokens":9,`, 1), nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, talkKeys("order", "session", 2), vendors{"a": caching()})
			for i, body := range []string{c.first, c.second} {
				heads := c.heads
				if i > 0 {
					heads = c.more
				}
				if got := r.ask(c.path, body, heads...); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
			}
			if a := r.told().Affinity; (a.Why == trace.KeepSession) != c.same {
				t.Errorf("the second is told as %q", a.Why)
			}
		})
	}
}

func TestRulesTellTheConversationsOfASessionApart(t *testing.T) {
	toml := talkKeys("order", "session", 2) + "[groups.g]\nmembers = [\"a/m\", \"a/title\"]\nrules = [{ use = \"a/title\", tokens = 100000 }]\naffinity = \"session\"\nrouting = \"order\"\n" +
		"[groups.plain]\nmembers = [\"a/m\"]\naffinity = \"session\"\n"
	for group, why := range map[string]string{"group/g": "first", "group/plain": "session"} {
		r := newRig(t, toml, vendors{"a": caching()})
		main, sub := r.dialog("s1", group), r.dialog("s1", group)
		main.says("build it")
		if got := string(sub.says("look it up").Affinity.Why); got != why {
			t.Errorf("%s: of a subagent's first request it is told %s, want %s", group, got, why)
		}
		if got := string(main.says("go on").Affinity.Why); got != "session" {
			t.Errorf("%s: %s", group, got)
		}
	}
}

// Claude Code's first line of its system prompt may be another with each request: nothing behind it
// could be read from a cache.
func TestTheLineThatSaysWhomToBillReachesItsMakerAlone(t *testing.T) {
	const said = "what is x-anthropic-billing-header: cch=71fea; for?"
	body := func(model, cch string) string {
		return `{"model":"` + model + `","max_tokens":1024,"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.117.48f; cc_entrypoint=cli; cch=` + cch + `;"},` +
			`{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"` + said + `"}]}`
	}
	for name, c := range map[string]struct {
		toml, model, api string
		stays            bool
	}{
		"translated":               {"[providers.a]\nchat = \"{a}/v1\"\n", "a/m-chat", "chat", false},
		"a relay's other model":    {"[providers.a]\nmessages = \"{a}\"\n", "a/glm-5.3", "messages", false},
		"a relay's Claude":         {"[providers.a]\nmessages = \"{a}\"\n", "a/claude-sonnet-5-5", "messages", true},
		"another vendor's preset":  {"[providers.a]\npreset = \"zai\"\nmessages = \"{a}\"\n", "a/glm-5.3", "messages", false},
		"Anthropic's other models": {"[providers.a]\npreset = \"anthropic\"\nmessages = \"{a}\"\n", "a/next-1", "messages", true},
	} {
		t.Run(name, func(t *testing.T) {
			v := good(c.api, false)
			r := newRig(t, c.toml+"keys = [{ name = \"k1\", value = \""+keyOne+"\" }]\n", vendors{"a": v})
			for _, cch := range []string{"71fea", "0aaa9"} {
				if got := r.ask("/v1/messages", body(c.model, cch)); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
			}
			seen := v.seen()
			one, two := seen[0].body, seen[1].body
			if !strings.Contains(one, said) || strings.Contains(one, "cc_version") != c.stays || (one == two) == c.stays {
				t.Errorf("%s\n%s", one, two)
			}
		})
	}
}

// One conversation's turns cost its whole context anew wherever they go: they stay together, and
// two conversations apart.
func TestInterleavedConversationsStayOnAKeyEach(t *testing.T) {
	v := caching()
	r := newRig(t, talkKeys("rotate", "session", 3), vendors{"a": v})
	turn := func(name string, n int) trace.Route {
		items := make([]string, 0, 2*n)
		for i := range n {
			if i > 0 {
				items = append(items, `{"role":"assistant","content":"ok"}`)
			}
			items = append(items, fmt.Sprintf(`{"role":"user","content":"%s%d"}`, name, i+1))
		}
		body := `{"model":"a/m","max_tokens":9,"metadata":{"user_id":"user_x_session_` + name + `"},"messages":[` + strings.Join(items, ",") + `]}`
		if got := r.ask("/v1/messages", body); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return r.told()
	}
	want(t, turn("A", 1), "k1 first")
	want(t, turn("B", 1), "k2 first")
	for n := 2; n <= 4; n++ {
		want(t, turn("A", n), "k1 session")
		want(t, turn("B", n), "k2 session")
	}
	v.Script(keyOf(1), standin.Must("429 rate retry-after=60s", "ok usage=3000/2500/20 x*")...)
	limited := turn("A", 5)
	if tried(limited) != "a/k1 a/k3" && tried(limited) != "a/k1 a/k2" {
		t.Errorf("tried %s", tried(limited))
	}
	r.command(`{"verb":"wake","who":"all"}`)
	next := turn("A", 6)
	if next.Answerer() != limited.Answerer() || next.Affinity.Why != trace.KeepSession {
		t.Errorf("it went on to %s", by(next))
	}

	strict := newRig(t, talkKeys("rotate", "off", 3), vendors{"a": caching()})
	d := strict.dialog("s1", "a/m")
	var all []string
	for range 4 {
		all = append(all, by(d.says("x")))
	}
	if got := strings.Join(all, ", "); got != "k1 off, k2 off, k3 off, k1 off" {
		t.Errorf("without affinity: %s", got)
	}
}

func TestAPersonMovesAndForgetsAConversation(t *testing.T) {
	r := newRig(t, talkKeys("order", "auto", 3)+"[groups.g]\nmembers = [\"a/title\"]\n", vendors{"a": caching()})
	d, side := r.dialog("s1", "a/m"), r.dialog("s1", "group/g")
	want(t, d.says("one"), "k1 first")
	want(t, side.says("one"), "k1 first")
	r.command(`{"verb":"move","args":{"session":"s1","to":"k3"}}`)
	moved := d.says("two")
	want(t, moved, "k3 moved")
	if !moved.Affinity.Kept || moved.Order[0].Why.Code != trace.WhyMoved || moved.Order[0].Reason != "you moved the conversation here" {
		t.Errorf("%+v, %+v", moved.Affinity, moved.Order[0].Why)
	}
	want(t, side.says("two"), "k3 moved")
	want(t, d.says("three"), "k3 cache")
	r.command(`{"verb":"forget","args":{"session":"s1"}}`)
	want(t, d.says("four"), "k1 first")
	r.command(`{"verb":"move","args":{"session":"s1","to":"a/k2"}}`)
	r.command(`{"verb":"undo"}`)
	want(t, d.says("five"), "k1 cache")
	for name, c := range map[string]struct{ command, code string }{
		"nobody of that name":     {`{"verb":"move","args":{"session":"s1","to":"nobody"}}`, "no_such_account"},
		"a conversation unknown":  {`{"verb":"move","args":{"session":"s9","to":"k2"}}`, "no_such_conversation"},
		"forgetting one unknown":  {`{"verb":"forget","args":{"session":"s9"}}`, "no_such_conversation"},
		"forgetting without name": {`{"verb":"forget"}`, "no_such_conversation"},
	} {
		if got := r.ask("/v1/magpie/do", c.command, token); got.status != 404 || !strings.Contains(got.body, c.code) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

func TestWhatIsToldOfAKeptConversationIsPlain(t *testing.T) {
	r := newRig(t, talkKeys("order", "auto", 2), vendors{"a": caching()})
	d := r.dialog("s1", "a/m")
	d.says("one")
	second := d.says("two")
	if got := second.Order[0].Reason; got != "keeps the conversation where its cache is warm" {
		t.Errorf("%q", got)
	}
	if got := second.Order[1].Reason; got != "second in your order" {
		t.Errorf("%q", got)
	}
}

func TestAKeyInASessionHeaderIsNeitherToldNorWrittenDown(t *testing.T) {
	o := state.Options{Affinity: filepath.Join(t.TempDir(), "affinity.json")}
	store, err := state.Open(o, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, talkKeys("order", "auto", 2), vendors{"a": caching()}, func(d *gateway.Deps) { d.State = store })
	d := r.dialog(keyOf(1), "a/m")
	d.says("one")
	want(t, d.says("two"), "k1 cache")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(o.Affinity)
	if err != nil || strings.Contains(string(data), keyOf(1)) || !strings.Contains(string(data), "a/m|magpie-") {
		t.Errorf("%v, %s", err, data)
	}
}

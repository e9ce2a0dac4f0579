package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// aAndB are two vendors that have one model, each in its own spelling.
const aAndB = `
[providers.a]
chat = "{a}/v1"
keys = [{ name = "k", value = "` + keyOne + `" }]
models = ["m", "only-a"]
[providers.b]
chat = "{b}/v1"
keys = [{ name = "k", value = "` + keyTwo + `" }]
models = ["vendor/m"]
`

// lists is what can be asked for, as agents are told.
func (r *rig) lists() string {
	r.t.Helper()
	return strings.Join(strings.Fields(r.do(http.MethodGet, "/v1/models?format=text", "").body), ", ")
}

// asksFor is whom a model goes to, or the status and words of why not.
func (r *rig) asksFor(model string) string {
	r.t.Helper()
	got := r.ask("/v1/chat/completions", chatBody(model))
	if got.status != 200 {
		return errorWords(r.t, "chat", got.body)
	}
	return tried(r.told())
}

func TestAModelOfTwoProvidersIsListedAsAGroupFirst(t *testing.T) {
	r := newRig(t, aAndB, vendors{"a": good("chat", false), "b": good("chat", false)})
	if got, want := r.lists(), "group/auto-m, a/m, a/only-a, b/vendor/m"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s := r.g.Status()
	if len(s.Groups) != 1 {
		t.Fatalf("%+v", s.Groups)
	}
	g := s.Groups[0]
	if g.ID != "auto-m" || !g.Auto || g.Off || g.Ready != 2 || g.Of != 2 || g.Next != "a/k" || strings.Join(g.Members, " ") != "a/m b/vendor/m" {
		t.Errorf("%+v", g)
	}
	for _, model := range []string{"group/auto-m", "auto-m", "m", "M"} {
		if got := r.asksFor(model); got != "a/k" {
			t.Errorf("%s goes to %s", model, got)
		}
		if told := r.told(); told.Resolved.Group != "auto-m" || len(told.Order) != 2 || told.Asked != model {
			t.Errorf("%s: %+v", model, told.Resolved)
		}
	}
	if got := r.do(http.MethodGet, "/v1/models/group/auto-m", ""); got.status != 200 || !strings.Contains(got.body, `"id":"group/auto-m"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestAGroupsNextMemberAnswersWhenTheFirstIsLimited(t *testing.T) {
	b := &canned{status: 429, kind: "application/json", body: `{"error":{"message":"too many requests","type":"rate_limit_error"}}`, headers: []string{"Retry-After: 60"}}
	r := newRig(t, aAndB+"[groups.mine]\nname = \"Mine\"\nrouting = \"order\"\nmembers = [\"b/vendor/m\", \"a/only-a\"]\n", vendors{"a": good("chat", false), "b": b})
	got := r.ask("/v1/chat/completions", chatBody("group/mine"))
	told := r.told()
	if got.status != 200 || told.Resolved.Group != "mine" || told.Order[0].Provider != "b" || told.Order[1].Model != "only-a" || tried(told) != "b/k a/k" {
		t.Errorf("%d %s: %+v, tried %s", got.status, got.body, told.Resolved, tried(told))
	}
}

func TestAFoundGroupIsTakenAwayAndBroughtBack(t *testing.T) {
	r := newRig(t, aAndB, vendors{"a": good("chat", false), "b": good("chat", false)})
	r.command(`{"verb":"hide","who":"auto-m"}`)
	if got := r.asksFor("group/auto-m"); !strings.Contains(got, "taken away") {
		t.Errorf("group/auto-m: %s", got)
	}
	if got := r.asksFor("m"); got != "a/k" {
		t.Errorf("m: %s", got)
	}
	if got := r.lists(); got != "a/m, a/only-a, b/vendor/m" {
		t.Errorf("%s", got)
	}
	if g := r.g.Status().Groups; len(g) != 1 || !g[0].Off || !g[0].Auto {
		t.Errorf("%+v", g)
	}
	r.command(`{"verb":"show","who":"group/auto-m"}`)
	if got := r.asksFor("group/auto-m"); got != "a/k" {
		t.Errorf("brought back: %s", got)
	}
	r.command(`{"verb":"undo"}`)
	r.command(`{"verb":"undo"}`)
	if got := r.lists(); !strings.HasPrefix(got, "group/auto-m, ") {
		t.Errorf("%s", got)
	}
}

func TestAGroupCountsItsKeysAndThoseOfItThatAreReady(t *testing.T) {
	toml := strings.Replace(aAndB, `keys = [{ name = "k"`, `keys = [{ name = "k2", value = "sk-a-2" }, { name = "k3", value = "sk-a-3" }, { name = "k"`, 1)
	r := newRig(t, "routing = \"order\"\n"+toml+"[groups.g]\nrouting = \"order\"\nmembers = [\"a/m\", \"b/vendor/m\"]\n", vendors{"a": good("chat", false), "b": good("chat", false)})
	count := func() string {
		for _, g := range r.g.Status().Groups {
			if g.ID == "g" {
				return fmt.Sprintf("%d of %d in %d members", g.Ready, g.Of, len(g.Members))
			}
		}
		return "no group"
	}
	if got := count(); got != "4 of 4 in 2 members" {
		t.Error(got)
	}
	plan, err := r.g.Plan(t.Context(), "group/g")
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, c := range plan.Order {
		why = append(why, c.ID+" "+c.Reason)
	}
	want := "a/k2 first in group g, first of its provider; a/k3 first in group g, second of its provider; a/k first in group g, third of its provider; b/k second in group g"
	if got := strings.Join(why, "; "); got != want {
		t.Errorf("%s", got)
	}
	r.command(`{"verb":"pause","who":"a/k2"}`)
	if got := count(); got != "3 of 4 in 2 members" {
		t.Errorf("with one paused: %s", got)
	}
}

// Two models of one account are two candidates, and pausing it takes both.
func TestAGroupTellsTheAccountThatIsReadyAlone(t *testing.T) {
	r := newRig(t, aAndB+"[groups.g]\nrouting = \"order\"\nmembers = [\"a/m\", \"b/vendor/m\", \"a/only-a\"]\n", vendors{"a": good("chat", false), "b": good("chat", false)})
	last := func() string {
		for _, g := range r.g.Status().Groups {
			if g.ID == "g" {
				return fmt.Sprintf("%d ready, %q alone", g.Ready, g.Last)
			}
		}
		return "no group"
	}
	for _, step := range []struct{ command, want string }{
		{"", `3 ready, "" alone`},
		{`{"verb":"pause","who":"b/k"}`, `2 ready, "a/k" alone`},
		{`{"verb":"pause","who":"a/k"}`, `0 ready, "" alone`},
		{`{"verb":"resume","who":"b/k"}`, `1 ready, "b/k" alone`},
	} {
		if step.command != "" {
			r.command(step.command)
		}
		if got := last(); got != step.want {
			t.Errorf("after %s: %s, want %s", step.command, got, step.want)
		}
	}
}

func TestAnUnlistedProviderIsServedByIDAndInGroups(t *testing.T) {
	toml := strings.Replace(aAndB, "[providers.b]", "[providers.b]\nunlisted = true", 1)
	r := newRig(t, toml+"[groups.g]\nmembers = [\"b/vendor/m\"]\n", vendors{"a": good("chat", false), "b": good("chat", false)})
	if got := r.lists(); got != "group/g, group/auto-m, a/m, a/only-a" {
		t.Errorf("%s", got)
	}
	for _, model := range []string{"b/vendor/m", "group/g"} {
		if got := r.asksFor(model); got != "b/k" {
			t.Errorf("%s: %s", model, got)
		}
	}
}

func TestAFoundGroupStandsInAGroup(t *testing.T) {
	r := newRig(t, aAndB+"[groups.g]\nrouting = \"order\"\nmembers = [\"a/only-a\", \"group/auto-m\"]\n", vendors{"a": good("chat", false), "b": good("chat", false)})
	r.asksFor("group/g")
	if got := ordered(r.told().Order); got != "a/k a/k b/k" {
		t.Errorf("%s", got)
	}
	if got := r.ask("/v1/magpie/do", `{"verb":"hide","who":"auto-m"}`, token); got.status != 409 || !strings.Contains(got.body, "group g uses") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestGroupsAreFoundAgainWhenListsOrKeysChange(t *testing.T) {
	toml := `
[providers.a]
chat = "{a}/v1"
keys = [{ name = "k", value = "` + keyOne + `" }]
[providers.b]
chat = "{b}/v1"
keys = [{ name = "k", env = "LACKS" }]
models = ["vendor/m"]
`
	list := &canned{status: 200, kind: "application/json", body: `{"object":"list","data":[{"id":"m"},{"id":"m-20260801"}]}`}
	var key atomic.Value // of the variable LACKS
	key.Store("")
	at := time.Now() // an hour passes with each look at a secret: none is kept from being looked at again
	r := newRig(t, toml, vendors{"a": list, "b": good("chat", false)}, func(d *gateway.Deps) {
		d.Secrets = provider.NewSecrets(provider.SecretsOptions{Getenv: func(string) string { return key.Load().(string) }, Now: func() time.Time { at = at.Add(time.Hour); return at }})
		d.Load = func() (*config.Config, *provider.Catalog, error) { return d.Config, d.Catalog, nil }
	})
	if got := r.lists(); got != "b/vendor/m" {
		t.Errorf("at first: %s", got)
	}
	if got := r.do(http.MethodPost, "/v1/magpie/provider/models?provider=a", "", token); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := r.lists(); got != "a/m, a/m-20260801, b/vendor/m" {
		t.Errorf("b has no key: %s", got)
	}
	key.Store(keyTwo)
	r.command(`{"verb":"reload"}`)
	if got := r.lists(); got != "group/auto-m, a/m, a/m-20260801, b/vendor/m" {
		t.Errorf("it has one now: %s", got)
	}
	if g := r.g.Status().Groups; len(g) != 1 || g[0].ID != "auto-m" {
		t.Errorf("%+v", g)
	}
}

func TestATierGoesToThePersonsModel(t *testing.T) {
	toml := aAndB + "[providers.c]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k\", value = \"" + keyOne + "\" }]\nmodels = [\"claude-opus-5-5\"]\n[agents.claude]\ntiers = { opus = \"b/vendor/m\" }\n"
	r := newRig(t, toml, vendors{"a": good("chat", false), "b": good("chat", false)})
	for agent, want := range map[string]string{"claude": "b/k", "codex": "c/k"} {
		r.ask("/v1/chat/completions", chatBody("claude-opus-5-5"), "Authorization: Bearer magpie-"+agent)
		if got := r.told(); tried(got) != want || got.Asked != "claude-opus-5-5" {
			t.Errorf("%s: %s %+v", agent, tried(got), got.Resolved)
		}
	}
}

func TestARefusedNameIsRecordedWithItsReason(t *testing.T) {
	toml := aAndB + "[groups.shut]\noff = true\nmembers = [\"a/m\"]\n[groups.empty]\nmembers = []\n[providers.away]\nchat = \"{a}/v1\"\noff = true\n"
	r := newRig(t, toml, vendors{"a": good("chat", false), "b": good("chat", false)})
	for model, words := range map[string]string{
		"away/m": "provider away is switched off", "shut": "group shut is switched off", "group/empty": "group empty has no members",
		"nothing": "there are", "group/auto-x": "there is no group",
	} {
		for _, api := range apis {
			got := r.ask(asking(api, model, false))
			told := r.told()
			if got.status != 404 || !strings.Contains(errorWords(t, api, got.body), words) || told.Status != 404 || told.Asked != model || len(told.Tries) != 0 {
				t.Errorf("%s over %s: %d %s; told %d %s", model, api, got.status, got.body, told.Status, told.Error)
			}
		}
	}
}

// chosen is what the state keeps of the person's choices.
func chosen(s *state.Store) string {
	c := s.Chosen()
	b, err := json.Marshal(map[string]any{
		"routing": c.Routing, "affinity": c.Affinity, "sink": c.Sink, "order": c.Order, "pick": c.Pick, "caps": c.Caps, "hidden": c.Hidden, "members": c.Members,
	})
	if err != nil {
		return err.Error()
	}
	all := map[string]any{}
	if err := json.Unmarshal(b, &all); err != nil {
		return err.Error()
	}
	for k, v := range all {
		if m, ok := v.(map[string]any); !ok || len(m) == 0 {
			delete(all, k)
		}
	}
	b, _ = json.Marshal(all)
	return string(b)
}

const choosing = twoKeys + `
[providers.sub]
chat = "{a}/v1"
accounts = [{ name = "me" }]
[groups.g]
routing = "order"
members = ["a@k1/m", "a@k2/m"]
[groups.hand]
routing = "manual"
members = ["a@k1/m", "a@k2/m"]
`

func TestEachChoiceIsKeptTakenBackAndToldInWords(t *testing.T) {
	for _, c := range []struct{ name, command, words, kept string }{
		{"a provider's order", `"verb":"order","who":"a","args":{"order":["k2"]}`, "a goes in the order k2", `{"order":{"a":["a/k2"]}}`},
		{"by whole ids, of several", `"verb":"order","who":"A","args":{"order":["a/k2","K1"]}`, "a goes in the order k2, k1", `{"order":{"a":["a/k2","a/k1"]}}`},
		{"a group's order", `"verb":"order","who":"group/g","args":{"order":["a@k2/m"]}`, "group/g goes in the order a@k2/m", `{"members":{"g":["a@k2/m"]}}`},
		{"a pick", `"verb":"pick","who":"hand","args":{"member":"a@k2/m"}`, "group/hand uses a@k2/m", `{"pick":{"hand":"a@k2/m"}}`},
		{"a pick that has no effect", `"verb":"pick","who":"g","args":{"member":"a@k2/m"}`, "group/g uses a@k2/m (it counts once its routing is manual, not order)", `{"pick":{"g":"a@k2/m"}}`},
		{"routing", `"verb":"routing","who":"g","args":{"value":"usage"}`, "group/g is routed by usage", `{"routing":{"group/g":"usage"}}`},
		{"a provider's routing", `"verb":"routing","who":"a","args":{"value":"Rotate"}`, "a is routed by rotate", `{"routing":{"a":"rotate"}}`},
		{"affinity", `"verb":"affinity","who":"group/g","args":{"value":"off"}`, "affinity of group/g is off", `{"affinity":{"group/g":"off"}}`},
		{"affinity of all", `"verb":"affinity","args":{"value":"turn"}`, "affinity of all providers and groups is turn", `{"affinity":{"a":"turn","group/g":"turn","group/hand":"turn","sub":"turn"}}`},
		{"sink", `"verb":"sink","who":"a","args":{"on":true}`, "sink of a is on", `{"sink":{"a":true}}`},
		{"a cap", `"verb":"cap","who":"me","args":{"percent":80}`, "cap of sub/me is 80%", `{"caps":{"sub/me":{"Credits":null,"Percent":80,"Reset":null,"Windows":null}}}`},
		{"no cap", `"verb":"cap","who":"me","args":{"percent":0}`, "cap of sub/me is off", `{"caps":{"sub/me":{"Credits":null,"Percent":-1,"Reset":null,"Windows":null}}}`},
		{"a window's cap", `"verb":"cap","who":"me","args":{"percent":0,"window":"5 Hours"}`, `cap of sub/me on its window "5 hours" is off (it has no such window as far as is known)`, `{"caps":{"sub/me":{"Credits":null,"Percent":0,"Reset":null,"Windows":{"5 hours":100}}}}`},
		{"credits", `"verb":"credits","who":"me","args":{"on":false}`, "spending credits of sub/me is off", `{"caps":{"sub/me":{"Credits":false,"Percent":0,"Reset":null,"Windows":null}}}`},
		{"resets", `"verb":"auto-reset","who":"sub/me","args":{"on":true}`, "spending resets by itself of sub/me is on", `{"caps":{"sub/me":{"Credits":null,"Percent":0,"Reset":true,"Windows":null}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, choosing, vendors{"a": good("chat", false)})
			preview := r.ask("/v1/magpie/preview", "{"+c.command+"}", token)
			var effect struct{ Class, Words string }
			strict(t, preview.body, &effect)
			if !strings.HasPrefix(effect.Words, c.words) || effect.Class != "reversible" || chosen(r.store) != "{}" {
				t.Errorf("preview: %+v, want %q; kept %s", effect, c.words, chosen(r.store))
			}
			got := r.command("{" + c.command + "}")
			var done struct {
				Done string
				Undo bool
			}
			if err := json.Unmarshal([]byte(got.body), &done); err != nil || done.Done != effect.Words || !done.Undo {
				t.Errorf("%s, want %q", got.body, effect.Words)
			}
			if kept := chosen(r.store); kept != c.kept {
				t.Errorf("kept %s, want %s", kept, c.kept)
			}
			if again := r.command("{" + c.command + "}"); !strings.Contains(again.body, "already") || strings.Contains(again.body, `"undo":true`) {
				t.Errorf("again: %s", again.body)
			}
			if back := r.command(`{"verb":"undo"}`); !strings.Contains(back.body, "took back the ") || chosen(r.store) != "{}" {
				t.Errorf("undone: %s, kept %s", back.body, chosen(r.store))
			}
		})
	}
}

func TestAChoiceThatMakesNoSenseIsRefused(t *testing.T) {
	r := newRig(t, choosing, vendors{"a": good("chat", false)})
	for command, want := range map[string]string{
		`"verb":"order","who":"nobody","args":{"order":["k1"]}`:     "404 no provider or group",
		`"verb":"order","who":"a","args":{"order":["k9"]}`:          "400 it has k1, k2",
		`"verb":"order","who":"a","args":{"order":["k1","a/k1"]}`:   "400 named twice",
		`"verb":"order","who":"group/g","args":{"order":["a/m"]}`:   "400 it has a@k1/m",
		`"verb":"pick","who":"a","args":{"member":"a@k1/m"}`:        "400 is a provider",
		`"verb":"pick","who":"hand","args":{"member":"b/m"}`:        "400 no member",
		`"verb":"routing","who":"a","args":{"value":"manual"}`:      "400 there are smart",
		`"verb":"routing","who":"a","args":{"value":"best of all"}`: "400 no order",
		`"verb":"routing","args":{"value":"smart"}`:                 "404 no provider or group",
		`"verb":"affinity","who":"a","args":{"value":"always"}`:     "400 no affinity",
		`"verb":"cap","who":"me","args":{"percent":100}`:            "400 from 1 to 99",
		`"verb":"cap","who":"all","args":{"percent":50}`:            "404 nobody is called",
		`"verb":"cap","who":"a/k1","args":{"percent":50}`:           "400 no subscription",
		`"verb":"hide","who":"g"`:                                   "400 the config's own",
		`"verb":"show","who":"auto-m"`:                              "404 no provider or group",
		`"verb":"credits","who":"","args":{"on":true}`:              "404 nobody is called",
	} {
		status, words, _ := strings.Cut(want, " ")
		for _, path := range []string{"/v1/magpie/preview", "/v1/magpie/do"} {
			got := r.ask(path, "{"+command+"}", token)
			if http.StatusText(got.status) == "" || !strings.HasPrefix(want, status) || !strings.Contains(got.body, words) || got.status != map[string]int{"400": 400, "404": 404}[status] {
				t.Errorf("%s of %s: %d %s, want %s", path, command, got.status, got.body, want)
			}
		}
	}
	if kept := chosen(r.store); kept != "{}" {
		t.Errorf("kept %s", kept)
	}
}

func TestAGroupsMembersGoInThePersonsOrder(t *testing.T) {
	r := newRig(t, choosing, vendors{"a": good("chat", false)})
	for _, step := range []struct{ command, order string }{
		{"", "a/k1 a/k2"}, {`{"verb":"order","who":"g","args":{"order":["a@k2/m"]}}`, "a/k2 a/k1"}, {`{"verb":"undo"}`, "a/k1 a/k2"},
	} {
		if step.command != "" {
			r.command(step.command)
		}
		r.asksFor("group/g")
		if got := ordered(r.told().Order); got != step.order {
			t.Errorf("after %s: %s, want %s", step.command, got, step.order)
		}
	}
}

func TestAReloadDropsChoicesOfWhatIsGone(t *testing.T) {
	r := newRig(t, choosing, vendors{"a": good("chat", false)})
	for _, c := range []string{
		`{"verb":"order","who":"a","args":{"order":["k2","k1"]}}`, `{"verb":"routing","who":"hand","args":{"value":"order"}}`,
		`{"verb":"pick","who":"hand","args":{"member":"a@k2/m"}}`, `{"verb":"cap","who":"me","args":{"percent":50}}`, `{"verb":"sink","who":"a","args":{"on":true}}`,
		`{"verb":"order","who":"g","args":{"order":["a@k2/m"]}}`,
	} {
		r.command(c)
	}
	_, cat := r.parse("[providers.a]\nchat = \"http://127.0.0.1:1/v1\"\nkeys = [{ name = \"k1\", value = \"" + keyOne + "\" }]\n[groups.g]\nmembers = [\"a/m\"]\n")
	dropped := r.store.Prune(cat)
	want := []string{"routing of group/hand", "cap of sub/me", "places in the order of a", "pick a@k2/m of group/hand", "order of group/g"}
	if !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	if kept := chosen(r.store); kept != `{"order":{"a":["a/k1"]},"sink":{"a":true}}` {
		t.Errorf("kept %s", kept)
	}
	if again := r.store.Prune(cat); len(again) != 0 {
		t.Errorf("again %q", again)
	}
}

func TestTheTraceTellsAGroupsRoutingAndPick(t *testing.T) {
	r := newRig(t, choosing, vendors{"a": good("chat", false)})
	told := func(id string) trace.Group {
		for _, g := range r.g.Status().Groups {
			if g.ID == id {
				return g
			}
		}
		t.Fatalf("no group %s", id)
		return trace.Group{}
	}
	if g := told("hand"); g.Pick != "a@k1/m" || g.Routing != "manual" {
		t.Errorf("%+v", g)
	}
	r.command(`{"verb":"pick","who":"hand","args":{"member":"a@k2/m"}}`)
	r.command(`{"verb":"routing","who":"g","args":{"value":"usage"}}`)
	if g := told("hand"); g.Pick != "a@k2/m" {
		t.Errorf("%+v", g)
	}
	if g := told("g"); g.Routing != "usage" || g.Pick != "" {
		t.Errorf("%+v", g)
	}
}

func TestAGuessedVendorIsToldInTheTraceAndByExplain(t *testing.T) {
	const toml = "[providers.work]\npreset = \"anthropic\"\nmessages = \"{a}\"\nkeys = [{ name = \"k\", value = \"" + keyOne + "\" }]\n"
	vs := vendors{"a": good("messages", false)}
	ask := func(r *rig) answer { return r.ask("/v1/messages", messagesBody("claude-of-tomorrow")) }
	r := newRig(t, toml, vs)
	if got := ask(r); got.status != 404 || !strings.Contains(got.body, "guess_vendor = true would ask work") {
		t.Errorf("without guesses: %d %s", got.status, got.body)
	}
	r = newRig(t, "guess_vendor = true\n"+toml, vs)
	got := ask(r)
	want := trace.Resolved{Provider: "work", Model: "claude-of-tomorrow", Guessed: "claude-"}
	if told := r.told(); got.status != 200 || told.Resolved != want || told.Order[0].Reason != "" && !strings.Contains(told.Order[0].Reason, "guessed") {
		t.Errorf("%d %s: %+v %+v", got.status, got.body, told.Resolved, told.Order)
	}
	plan, err := r.g.Plan(t.Context(), "claude-of-tomorrow")
	if err != nil || plan.Resolved != want || !strings.HasSuffix(plan.Order[0].Reason, "guessed, for the name begins with claude-") {
		t.Errorf("%v %+v %+v", err, plan.Resolved, plan.Order)
	}
	if got := r.ask("/v1/messages", messagesBody("grok-9")); got.status != 404 || !strings.Contains(got.body, "is one of xai, and no such provider is in the config") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

const cursor = "Authorization: Bearer magpie-cursor-local"

// thinker is a provider of one API whose model has levels, and two more models.
func thinker(api, levels string) string {
	base := map[string]string{"chat": "{v}/v1", "responses": "{v}/v1", "messages": "{v}", "gemini": "{v}/v1beta"}[api]
	efforts := ""
	if levels != "" {
		efforts = ", efforts = [" + levels + "]"
	}
	return "[providers.v]\n" + api + " = \"" + base + "\"\nkeys = [{ name = \"k\", value = \"sk-1\" }]\n" +
		"models = [{ id = \"m\"" + efforts + " }, \"plain\", \"claude-opus-5-5\", \"claude-sonnet-4-5\", \"gemini-3-pro\", \"gpt-5-turbo\"]\n"
}

const fromLow = `"low", "medium", "high", "xhigh"`

// sentBy is what a vendor was last sent, and the try as it was told.
func (r *rig) sentBy(v *canned, path, body string, headers ...string) (string, trace.Try) {
	r.t.Helper()
	if got := r.ask(path, body, headers...); got.status != 200 {
		r.t.Fatalf("%d %s", got.status, got.body)
	}
	seen := v.seen()
	tries := r.last().Tries
	return seen[len(seen)-1].body, tries[len(tries)-1]
}

func TestAgentEffortOnCursorLocal(t *testing.T) {
	chat := func(effort string) string {
		return `{"model":"v/m","reasoning_effort":"` + effort + `","messages":[{"role":"user","content":"hi"}]}`
	}
	responses := func(effort string) string {
		return `{"model":"v/m","input":"hi","reasoning":{"effort":"` + effort + `","summary":"auto"}}`
	}
	const picked = "[agents.cursor-local]\neffort = \"HIGH\"\n"
	for _, c := range []struct {
		name, api, levels, more string
		path, body              string
		agent                   string
		want, without           string
		effort                  string
	}{
		{name: "chat, none asked", api: "chat", levels: fromLow, more: picked, path: "/v1/chat/completions", body: chatBody("v/m"), agent: cursor, want: `"reasoning_effort":"high"`, effort: "high"},
		{name: "chat, low asked", api: "chat", levels: fromLow, more: picked, path: "/v1/chat/completions", body: chat("low"), agent: cursor, want: `"reasoning_effort":"high"`, effort: "high"},
		{name: "responses, none asked", api: "responses", levels: fromLow, more: picked, path: "/v1/responses", body: responsesBody("v/m"), agent: cursor, want: `"reasoning":{"effort":"high"}`, effort: "high"},
		{name: "responses, low asked", api: "responses", levels: fromLow, more: picked, path: "/v1/responses", body: responses("low"), agent: cursor, want: `"reasoning":{"effort":"high","summary":"auto"}`, effort: "high"},
		{name: "Claude via Messages", api: "messages", more: picked, path: "/v1/messages", body: messagesBody("v/claude-opus-5-5"), agent: cursor, want: `"thinking":{"type":"adaptive"`, effort: "high"},
		{name: "Claude of before, with room for a budget", api: "messages", more: picked, path: "/v1/messages", body: strings.Replace(messagesBody("v/claude-sonnet-4-5"), "1024", "30000", 1), agent: cursor, want: `"budget_tokens":24576`, effort: "high"},
		{name: "translated to Messages", api: "messages", more: picked, path: "/v1/chat/completions", body: chatBody("v/claude-opus-5-5"), agent: cursor, want: `"effort":"high"`, effort: "high"},
		{name: "translated to Chat", api: "chat", levels: fromLow, more: picked, path: "/v1/messages", body: messagesBody("v/m"), agent: cursor, want: `"reasoning_effort":"high"`, effort: "high"},
		{name: "another agent asking low", api: "chat", levels: fromLow, more: picked, path: "/v1/chat/completions", body: chat("low"), want: `"reasoning_effort":"low"`, effort: "low"},
		{name: "a model that doesn't reason", api: "chat", more: picked, path: "/v1/chat/completions", body: chatBody("v/plain"), agent: cursor, without: "effort"},
		{name: "no pick, low stays low", api: "chat", levels: fromLow, path: "/v1/chat/completions", body: chat("low"), agent: cursor, want: `"reasoning_effort":"low"`, effort: "low"},
		{name: "no pick, none stays none", api: "chat", levels: fromLow, path: "/v1/chat/completions", body: chat("none"), agent: cursor, want: `"reasoning_effort":"none"`, effort: "none"},
		{name: "no pick, nothing stays nothing", api: "chat", levels: fromLow, path: "/v1/chat/completions", body: chatBody("v/m"), agent: cursor, without: "effort"},
		{name: "a pick beyond what the model has", api: "chat", levels: `"low", "medium"`, more: picked, path: "/v1/chat/completions", body: chatBody("v/m"), agent: cursor, want: `"reasoning_effort":"medium"`, effort: "medium"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := good(c.api, false)
				if c.path == "/v1/messages" && c.api == "chat" || c.path == "/v1/chat/completions" && c.api == "messages" {
					v = good(c.api, true)
				}
				r := newRig(t, thinker(c.api, c.levels)+c.more, vendors{"v": v})
				var headers []string
				if c.agent != "" {
					headers = []string{c.agent}
				}
				sent, try := r.sentBy(v, c.path, c.body, headers...)
				if !strings.Contains(sent, c.want) || c.without != "" && strings.Contains(sent, c.without) {
					t.Errorf("sent %s, want %s", sent, c.want)
				}
				if try.Effort != c.effort || try.Fixed || try.Picked {
					t.Errorf("told %+v", try)
				}
			})
		})
	}
	t.Run("a word that is no level is refused", func(t *testing.T) {
		if _, err := config.Parse("config.toml", []byte("[agents.cursor-local]\neffort = \"hard\"\n")); err == nil || !strings.Contains(err.Error(), "hard") {
			t.Error(err)
		}
	})
	t.Run("HIGH is kept as high", func(t *testing.T) {
		cfg, err := config.Parse("config.toml", []byte(picked))
		if err != nil || cfg.Agents["cursor-local"].Effort != "high" {
			t.Errorf("%v %v", cfg, err)
		}
	})
}

func TestAMembersFixedEffortGoesBeforeAll(t *testing.T) {
	const agent = "[agents.cursor-local]\neffort = \"high\"\n"
	group := func(member string) string {
		return "[groups.g]\nefforts = [\"high\"]\nmembers = [\"" + member + "\"]\n"
	}
	asks := func(effort string) string {
		return `{"model":"g","reasoning_effort":"` + effort + `","messages":[{"role":"user","content":"hi"}]}`
	}
	for _, c := range []struct{ name, levels, member, body, want string }{
		{"though the agent picks high", fromLow, "v/m:low", asks("xhigh"), `"reasoning_effort":"low"`},
		{"though the request asks for none", fromLow, "v/m:low", asks("none"), `"reasoning_effort":"low"`},
		{"though it asks for nothing", fromLow, "v/m:low", chatBody("g"), `"reasoning_effort":"low"`},
		{"though the name asks for that very level, which the group does not offer", fromLow, "v/m:xhigh", strings.Replace(asks("high"), `"g"`, `"g:xhigh"`, 1), `"reasoning_effort":"xhigh"`},
		{"none turns reasoning off", fromLow, "v/m:none", asks("high"), `"reasoning_effort":"none"`},
		{"fitted to the model", `"low", "high"`, "v/m:max", asks("low"), `"reasoning_effort":"high"`},
		{"of a model whose levels nobody knows, no more than high", "", "v/m:xhigh", asks("low"), `"reasoning_effort":"high"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := good("chat", false)
				r := newRig(t, thinker("chat", c.levels)+agent+group(c.member), vendors{"v": v})
				sent, try := r.sentBy(v, "/v1/chat/completions", c.body, cursor)
				if !strings.Contains(sent, c.want) || !try.Fixed || !strings.Contains(c.want, `"`+try.Effort+`"`) {
					t.Errorf("sent %s, told %+v", sent, try)
				}
			})
		})
	}
}

func TestEffortsAreBoundedByWhatAGroupOffers(t *testing.T) {
	asks := func(effort string) string {
		return `{"model":"g","reasoning_effort":"` + effort + `","messages":[{"role":"user","content":"hi"}]}`
	}
	for _, c := range []struct{ name, group, levels, body, agent, want string }{
		{"the request's own", `efforts = ["low", "medium"]`, fromLow, asks("xhigh"), "", "medium"},
		{"one that it offers stays", `efforts = ["low", "xhigh"]`, fromLow, asks("xhigh"), "", "xhigh"},
		{"of unknown levels stays as asked", ``, "", asks("xhigh"), "", "xhigh"},
		{"the agent's", `efforts = ["low", "medium"]`, fromLow, asks("low"), cursor, "medium"},
		{"what its members share", ``, `"low", "high"`, asks("max"), "", "high"},
		{"the name's", `efforts = ["low", "medium"]`, fromLow, strings.Replace(chatBody("g"), `"g"`, `"g:xhigh"`, 1), "", "medium"},
		{"the name's, before the request's own", `efforts = ["low", "medium"]`, fromLow, strings.Replace(asks("medium"), `"g"`, `"group/g:low"`, 1), "", "low"},
		{"none asked is no level", `efforts = ["high"]`, fromLow, asks("none"), "", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := good("chat", false)
				r := newRig(t, thinker("chat", c.levels)+"[agents.cursor-local]\neffort = \"high\"\n[groups.g]\nmembers = [\"v/m\"]\n"+c.group+"\n", vendors{"v": v})
				var headers []string
				if c.agent != "" {
					headers = []string{c.agent}
				}
				if sent, try := r.sentBy(v, "/v1/chat/completions", c.body, headers...); !strings.Contains(sent, `"reasoning_effort":"`+c.want+`"`) || try.Effort != c.want {
					t.Errorf("sent %s, told %+v", sent, try)
				}
			})
		})
	}
}

func TestANamesLevelGoesForTheFallbackToo(t *testing.T) {
	for fallback, want := range map[string]string{"w/n": "high", "w/n:low": "low"} {
		synctest.Test(t, func(t *testing.T) {
			v, w := &canned{status: 429, kind: "application/json", body: `{"error":{"message":"slow down"}}`}, good("chat", false)
			toml := strings.Replace(thinker("chat", fromLow), "keys =", "fallback = [\""+fallback+"\"]\nkeys =", 1) +
				"[providers.w]\nchat = \"{w}/v1\"\nkeys = [{ value = \"sk-2\" }]\nmodels = [{ id = \"n\", efforts = [" + fromLow + "] }]\n"
			r := newRig(t, toml, vendors{"v": v, "w": w})
			if sent, try := r.sentBy(w, "/v1/chat/completions", chatBody("v/m:high")); !strings.Contains(sent, `"reasoning_effort":"`+want+`"`) || try.Fixed != (want == "low") {
				t.Errorf("%s: sent %s, told %+v", fallback, sent, try)
			}
		})
	}
}

func TestATurnsPickChangesOnlyRequestsThatReason(t *testing.T) {
	asks := func(effort string) string {
		return `{"model":"g","reasoning_effort":"` + effort + `","messages":[{"role":"user","content":"hi"}]}`
	}
	for _, c := range []struct {
		name, body, want string
		picked           bool
	}{
		{"one that asks for less", asks("low"), "high", true},
		{"one that asks for none", asks("none"), "none", false},
		{"one that asks for nothing", chatBody("g"), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := good("chat", false)
				r := newRig(t, thinker("chat", fromLow)+"[groups.g]\nmembers = [\"v/m\"]\neffort = \"high\"\n", vendors{"v": v})
				sent, try := r.sentBy(v, "/v1/chat/completions", c.body)
				if try.Effort != c.want || try.Picked != c.picked || c.want != "" && !strings.Contains(sent, `"reasoning_effort":"`+c.want+`"`) {
					t.Errorf("sent %s, told %+v", sent, try)
				}
			})
		})
	}
}

func TestASwitchKnowsNothingAboveHigh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("chat", false)
		toml := "[providers.v]\npreset = \"moonshot\"\nchat = \"{v}/v1\"\nresponses = \"\"\nmessages = \"\"\nkeys = [{ name = \"k\", value = \"sk-1\" }]\nmodels = [\"kimi-k2.6\"]\n[groups.g]\nmembers = [\"v/kimi-k2.6:max\"]\n"
		r := newRig(t, toml, vendors{"v": v})
		sent, try := r.sentBy(v, "/v1/chat/completions", chatBody("g"))
		if !strings.Contains(sent, `"type":"enabled"`) || try.Effort != "high" {
			t.Errorf("sent %s, told %+v", sent, try)
		}
	})
}

func TestTheOtherBytesStayWhereAnEffortIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("messages", false)
		r := newRig(t, thinker("messages", "")+"[agents.claude]\neffort = \"low\"\n", vendors{"v": v})
		body := `{ "model" : "v/claude-opus-5-5",  "max_tokens":32000, "thinking":{"type":"adaptive"}, "output_config" : { "effort" : "max" } ,"x_new":[1.0e5], "messages":[{"role":"user","content":"h\u0069"}]}`
		sent, _ := r.sentBy(v, "/v1/messages", body, "Authorization: Bearer magpie-claude")
		want := strings.Replace(strings.Replace(body, "v/claude-opus-5-5", "claude-opus-5-5", 1), `"max" }`, `"low" }`, 1)
		if sent != want {
			t.Errorf("got  %s\nwant %s", sent, want)
		}
	})
}

func TestABudgetOfTheRequestsOwnStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("messages", false)
		r := newRig(t, thinker("messages", `"low", "medium"`)+"[groups.g]\nmembers = [\"v/m\"]\n[groups.low]\nmembers = [\"v/m\"]\nefforts = [\"low\"]\n", vendors{"v": v})
		body := `{"model":"v/m","max_tokens":40000,"thinking":{"type":"enabled","budget_tokens":31999},"messages":[{"role":"user","content":"hi"}]}`
		for _, model := range []string{"v/m", "g"} {
			if sent, try := r.sentBy(v, "/v1/messages", strings.Replace(body, "v/m", model, 1)); !strings.Contains(sent, `"budget_tokens":31999`) || try.Effort != "xhigh" {
				t.Errorf("%s: sent %s, told %+v", model, sent, try)
			}
		}
		if sent, try := r.sentBy(v, "/v1/messages", strings.Replace(body, "v/m", "low", 1)); !strings.Contains(sent, `"budget_tokens":1024`) || try.Effort != "low" {
			t.Errorf("a group that offers less: sent %s, told %+v", sent, try)
		}
	})
}

// signedIn makes the keys of a provider accounts, whose plans may lack a level.
func signedIn(d *gateway.Deps) {
	for _, a := range d.Catalog.AllAccounts() {
		a.Kind = provider.KindAccount
	}
}

const noXHigh = `{"error":{"message":"Unsupported value: 'xhigh' is not supported with this model on your plan. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_value"}}`

func TestALevelThatAPlanLacksIsTriedOnOtherAccounts(t *testing.T) {
	ask := `{"model":"v/m","input":"hi","reasoning":{"effort":"xhigh"}}`
	toml := "[providers.v]\nresponses = \"{v}/v1\"\nkeys = [{ name = \"k1\", value = \"sk-1\" }, { name = \"k2\", value = \"sk-2\" }]\n" +
		"models = [{ id = \"m\", efforts = [\"low\", \"medium\", \"high\", \"xhigh\"] }]\nrouting = \"order\"\naffinity = \"off\"\n"
	t.Run("another account of the member first, and it rests nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := eachKey{"sk-1": {status: 400, kind: "application/json", body: noXHigh}, "sk-2": good("responses", false)}
			r := newRig(t, toml, vendors{"v": v}, signedIn)
			if got := r.ask("/v1/responses", ask); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			route := r.last()
			if tried(route) != "v/k1 v/k2" || route.Tries[0].Fail != trace.Effort || route.Tries[0].Rest != nil {
				t.Errorf("%s %+v", tried(route), route.Tries)
			}
			if got := r.ask("/v1/responses", ask); got.status != 200 || tried(r.last()) != "v/k2" || v["sk-1"].asked() != 1 {
				t.Errorf("the next request: %d, tried %s", got.status, tried(r.last()))
			}
			if got := r.ask("/v1/responses", strings.Replace(ask, "xhigh", "high", 1)); got.status != 200 || tried(r.last()) != "v/k1 v/k2" {
				t.Errorf("another level: %d, tried %s", got.status, tried(r.last()))
			}
		})
	})
	t.Run("no reasoning, where it can't be turned off, is the least of it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
				if strings.Contains(body, `"none"`) {
					return 400, strings.ReplaceAll(noXHigh, "xhigh", "none")
				}
				return 0, ""
			}}
			r := newRig(t, toml, vendors{"v": v}, signedIn)
			for n := range 2 {
				got := r.ask("/v1/responses", strings.Replace(ask, "xhigh", "none", 1))
				if got.status != 200 || len(v.asked) != n+2 || !strings.Contains(v.asked[n+1].body, `"effort":"low"`) || tried(r.last())[:4] != "v/k1" {
					t.Errorf("%d %s, asked %d times, tried %s", got.status, got.body, len(v.asked), tried(r.last()))
				}
			}
		})
	})
	t.Run("none is left: the levels are told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := eachKey{"sk-1": {status: 400, kind: "application/json", body: noXHigh}, "sk-2": {status: 400, kind: "application/json", body: noXHigh}}
			r := newRig(t, toml, vendors{"v": v}, signedIn)
			for range 2 {
				got := r.ask("/v1/responses", ask)
				if got.status != 400 || !strings.Contains(got.body, "only low, medium, high") || !strings.Contains(got.body, "takes no effort xhigh") {
					t.Errorf("%d %s", got.status, got.body)
				}
			}
			if v["sk-1"].asked() != 1 || v["sk-2"].asked() != 1 {
				t.Errorf("asked %d and %d times", v["sk-1"].asked(), v["sk-2"].asked())
			}
			r.store.Wake([]provider.AccountID{"v/k1"}, r.last().Time)
			if r.ask("/v1/responses", ask); v["sk-1"].asked() != 2 {
				t.Errorf("after waking, asked %d times", v["sk-1"].asked())
			}
		})
	})
}

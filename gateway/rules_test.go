package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sorted is two Chat providers at {a} and {b}, a classifier's at {k}, and a group of the two.
const sorted = `[providers.a]
chat = "{a}/v1"
keys = [{ name = "k", value = "sk-a" }]
models = [{ id = "m", context = 100000, efforts = ["low", "medium", "high"] }]
[providers.b]
chat = "{b}/v1"
keys = [{ name = "k", value = "sk-b" }]
models = [{ id = "m", context = 400000, efforts = ["low", "medium", "high"] }]
[providers.c]
chat = "{k}/v1"
keys = [{ name = "k", value = "sk-c" }]
models = ["sorter"]
[groups.g]
routing = "order"
members = ["a/m", "b/m"]
`

// sorter is a classifier that says what it is told to, and keeps what it was asked.
type sorter struct {
	mu    sync.Mutex
	says  string
	wait  time.Duration
	asked []string
}

func (s *sorter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, string(b))
	says, wait := s.says, s.wait
	s.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	text, _ := json.Marshal(says)
	_, _ = fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"sorter","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, text)
}

func (s *sorter) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// talk is a Chat request: "u" says a word, "a" answers, "t" is a tool's result behind a call.
func talk(more string, said ...string) string {
	var all []string
	for i, s := range said {
		who, text, _ := strings.Cut(s, ":")
		switch who {
		case "u":
			all = append(all, `{"role":"user","content":`+fmt.Sprintf("%q", text)+`}`)
		case "a":
			all = append(all, `{"role":"assistant","content":`+fmt.Sprintf("%q", text)+`}`)
		case "t":
			id := fmt.Sprintf("c%d", i)
			all = append(all, `{"role":"assistant","content":null,"tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"ls","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"`+id+`","content":`+fmt.Sprintf("%q", text)+`}`)
		}
	}
	return `{"model":"g",` + more + `"messages":[` + strings.Join(all, ",") + `]}`
}

const inSession = "X-Session-Id: s1"

func TestRulesRouteATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := good("chat", false), good("chat", false)
		r := newRig(t, sorted+`rules = [{ use = "b/m", tokens = 500 }]`, vendors{"a": a, "b": b, "k": good("chat", false)})
		long := "u:" + strings.Repeat("word ", 500)
		r.ask("/v1/chat/completions", talk("", "u:hi"), inSession)
		if route := r.last(); tried(route) != "a/k" || route.Rule != nil {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
		r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", long), inSession)
		route := r.last()
		if tried(route) != "b/k" || route.Rule == nil || route.Rule.N != 1 || route.Rule.Use != "b/m" || route.Rule.Turn != 2 || route.Rule.Tokens < 500 || strings.Join(route.Rule.When, "") != "tokens >= 500" {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
		// Its results keep to it.
		r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", long, "t:out"), inSession)
		if route := r.last(); tried(route) != "b/k" || !route.Rule.Held {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
		// A turn that is met in its middle waits.
		r.ask("/v1/chat/completions", talk("", "u:another", long, "t:out"), "X-Session-Id: s2")
		if route := r.last(); tried(route) != "a/k" || !route.Rule.Waits {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
		// Agents of one session are told apart by their first words.
		r.ask("/v1/chat/completions", talk("", "u:you are a helper", "a:yes", "u:go", "t:out"), inSession)
		if route := r.last(); tried(route) != "a/k" || !route.Rule.Waits {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
		// It is forgotten after a day.
		pass(24 * time.Hour)
		r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", long, "t:out", "t:more"), inSession)
		if route := r.last(); !route.Rule.Waits {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
	})
}

func TestTokensAreThoseThatTheVendorCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := &canned{status: 200, kind: "application/json", body: strings.Replace(ok("chat", "hi"), `"prompt_tokens":10`, `"prompt_tokens":60000`, 1)}
		r := newRig(t, sorted+`rules = [{ use = "b/m", tokens = 50000 }]`, vendors{"a": many, "b": good("chat", false), "k": good("chat", false)})
		r.ask("/v1/chat/completions", talk("", "u:hi"), inSession)
		r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", "u:more"), inSession)
		if route := r.last(); tried(route) != "b/k" || route.Rule.Tokens != 60000 {
			t.Errorf("%s %+v", tried(route), route.Rule)
		}
	})
}

func TestACompactionMayHaveARuleOfItsOwn(t *testing.T) {
	for name, said := range map[string]string{
		"Claude Code": "Your task is to create a detailed summary of the conversation so far, paying close attention to what was asked.",
		"Codex":       "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, sorted+`rules = [{ use = "b/m", compact = true }]`, vendors{"a": good("chat", false), "b": good("chat", false), "k": good("chat", false)})
				r.ask("/v1/chat/completions", talk("", "u:hi"), inSession)
				r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", "u:"+said), inSession)
				if route := r.last(); tried(route) != "b/k" {
					t.Errorf("%s %+v", tried(route), route.Rule)
				}
				r.ask("/v1/chat/completions", talk("", "u:hi", "a:yes", "u:go on"), inSession)
				// The conversation is where it was: the compaction was no turn of it.
				if route := r.last(); tried(route) != "a/k" || route.Affinity.Last != "a/k" {
					t.Errorf("%s %+v %+v", tried(route), route.Rule, route.Affinity)
				}
			})
		})
	}
}

func TestAClassifierTellsWhatATurnIsAbout(t *testing.T) {
	rules := `classifier = "c/sorter"
rules = [{ use = "b/m", intent = "plans a change" }, { use = "a/m", intent = "asks a question" }]`
	const plans = `Sure: {"intent": 1, "sure": 0.9}`
	for _, c := range []struct {
		name, says, by, why string
	}{
		{"by the intent's number", plans, "b/k", ""},
		{"by its words", `{"intent":"Plans a change","sure":1}`, "b/k", ""},
		{"in a fence", "```json\n{\"intent\": \"1\"}\n```", "b/k", ""},
		{"none of them", `{"intent": 0}`, "a/k", ""},
		{"no such number", `{"intent": 7}`, "a/k", "names no kind"},
		{"no JSON", `I think it is a plan`, "a/k", "no JSON"},
		{"nothing", ``, "a/k", "said nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &sorter{says: c.says}
				r := newRig(t, sorted+rules, vendors{"a": good("chat", false), "b": good("chat", false), "k": k})
				if got := r.ask("/v1/chat/completions", talk("", "u:plan it"), inSession); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				route := r.last()
				said := route.Rule.Classified
				if tried(route) != c.by || said == nil || said.By != "c/sorter" || len(said.Intents) != 2 || (said.Error != "") != (c.why != "") || !strings.Contains(said.Error, c.why) {
					t.Errorf("%s %+v %+v", tried(route), route.Rule, said)
				}
			})
		})
	}
	t.Run("once for each turn, and it is told the one before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &sorter{says: plans}
			r := newRig(t, sorted+rules, vendors{"a": good("chat", false), "b": good("chat", false), "k": k})
			r.ask("/v1/chat/completions", talk("", "u:plan it"), inSession)
			if all := r.kept.all(); len(all) != 2 || all[0].Inner != "classifier" || all[0].Of != all[1].ID {
				t.Errorf("%+v", all)
			}
			r.ask("/v1/chat/completions", talk("", "u:plan it"), inSession) // the agent asks again
			if c := r.last().Rule.Classified; k.times() != 1 || !c.Cached || c.Intent != "plans a change" {
				t.Errorf("asked %d times, %+v", k.times(), c)
			}
			r.ask("/v1/chat/completions", talk("", "u:plan it", "t:out"), inSession)
			if route := r.last(); k.times() != 1 || tried(route) != "b/k" || !route.Rule.Held {
				t.Errorf("asked %d times, %s %+v", k.times(), tried(route), route.Rule)
			}
			r.ask("/v1/chat/completions", talk("", "u:plan it", "a:done", "u:and now the rest"), inSession)
			if k.times() != 2 || !strings.Contains(k.asked[1], "was: plans a change") || !strings.Contains(k.asked[1], "and now the rest") || strings.Contains(k.asked[1], "plan it") {
				t.Errorf("asked %d times: %s", k.times(), k.asked)
			}
			r.ask("/v1/chat/completions", talk("", "u:plan it", "a:done", "u:another text"), inSession) // the turn is another, said anew
			if k.times() != 3 {
				t.Errorf("asked %d times", k.times())
			}
		})
	})
	t.Run("one that doesn't answer delays the turn, and no more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &sorter{says: plans, wait: time.Hour}
			r := newRig(t, sorted+rules, vendors{"a": good("chat", false), "b": good("chat", false), "k": k})
			begun := time.Now()
			if got := r.ask("/v1/chat/completions", talk("", "u:plan it"), inSession); got.status != 200 || time.Since(begun) != 20*time.Second {
				t.Errorf("%d after %s", got.status, time.Since(begun))
			}
			if c := r.last().Rule.Classified; !strings.Contains(c.Error, "no answer") || c.MS != 20_000 {
				t.Errorf("%+v", c)
			}
		})
	})
	t.Run("its own call asks no classifier", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			k := &sorter{says: plans}
			r := newRig(t, sorted+strings.Replace(rules, "c/sorter", "group/h", 1)+"\n[groups.h]\nmembers = [\"c/sorter\"]\nclassifier = \"group/h\"\nrules = [{ use = \"c/sorter\", intent = \"x\" }]\n", vendors{"a": good("chat", false), "b": good("chat", false), "k": k})
			if got := r.ask("/v1/chat/completions", talk("", "u:plan it"), inSession); got.status != 200 || k.times() != 1 || tried(r.last()) != "b/k" {
				t.Errorf("%d, asked %d times", got.status, k.times())
			}
		})
	})
}

func TestAGroupsEffortAutoIsAsTheClassifierSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &sorter{says: `{"effort":"high","score":0.8}`}
		a := good("chat", false)
		r := newRig(t, sorted+"classifier = \"c/sorter\"\neffort = \"auto\"\n", vendors{"a": a, "b": good("chat", false), "k": k})
		sent, try := r.sentBy(a, "/v1/chat/completions", talk(`"reasoning_effort":"low",`, "u:think"), inSession)
		if !strings.Contains(sent, `"reasoning_effort":"high"`) || !try.Picked || try.Effort != "high" || r.last().Rule.Pick != "high" || r.last().Rule.Classified.Score != 0.8 {
			t.Errorf("sent %s, told %+v", sent, try)
		}
		sent, _ = r.sentBy(a, "/v1/chat/completions", talk(`"reasoning_effort":"low",`, "u:think", "t:out"), inSession)
		if !strings.Contains(sent, `"reasoning_effort":"high"`) || k.times() != 1 {
			t.Errorf("sent %s, asked %d times", sent, k.times())
		}
		sent, _ = r.sentBy(a, "/v1/chat/completions", talk("", "u:think", "a:so", "u:don't think"), inSession)
		if strings.Contains(sent, "reasoning_effort") || k.times() != 1 {
			t.Errorf("sent %s, asked %d times", sent, k.times())
		}
	})
}

func TestExplainAsksNoClassifier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &sorter{says: `{"intent":1}`}
		r := newRig(t, sorted+"classifier = \"c/sorter\"\nrules = [{ use = \"b/m\", intent = \"plans\" }]\n", vendors{"a": good("chat", false), "b": good("chat", false), "k": k})
		body, _ := json.Marshal(map[string]any{"model": "g", "api": "chat", "body": json.RawMessage(talk("", "u:plan"))})
		got := r.do(http.MethodPost, "/v1/magpie/explain", string(body))
		if got.status != 200 || k.times() != 0 || !strings.Contains(got.body, `"not asked"`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// house is a stand-in backend with accounts whose homes are folders of the test.
type house struct {
	*standin.ChatGPT
	t     *testing.T
	homes map[string]string
	toml  string
}

// newHouse begins a backend; more is what stands in the provider's table.
func newHouse(t *testing.T, more string) *house {
	if time.Now().Year() == 2000 { // a bubble begins where no vendor's time is believed
		pass(3 * 365 * 24 * time.Hour)
	}
	h := &house{ChatGPT: standin.NewChatGPT(standin.Options{Text: "from chatgpt"}), t: t, homes: map[string]string{}}
	h.toml = "[providers.codex]\npreset = \"codex\"\nresponses = \"{gpt}/backend-api/codex\"\n" + more + "\naccounts = [\n"
	return h
}

// account adds one; set is what the config says of it.
func (h *house) account(name, set string, a standin.ChatAccount) *house {
	h.t.Helper()
	home := filepath.Join(h.t.TempDir(), name)
	if err := os.MkdirAll(home, 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.homes[name] = home
	a.Email = name + "@x.example"
	h.write(name, string(h.Add("acct-"+name, a)))
	h.toml += fmt.Sprintf("  { name = %q, home = %q%s },\n", name, home, set)
	return h
}

func (h *house) write(name, auth string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.homes[name], "auth.json"), []byte(auth), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) rig(t *testing.T, opts ...func(*gateway.Deps)) *rig {
	t.Helper()
	return newRig(t, h.toml+"]\n", vendors{"gpt": h.ChatGPT}, opts...)
}

// win is a window of five hours or a week.
func win(name string, used float64, resets time.Duration) standin.Window {
	return standin.Window{Name: name, Used: used, Resets: resets}
}

func TestAnyAgentIsServedThroughACodexAccount(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"chat":               {"/v1/chat/completions", chatBody("codex/gpt-5.4")},
		"chat, streamed":     {"/v1/chat/completions", chatStream("codex/gpt-5.4")},
		"responses":          {"/v1/responses", responsesBody("codex/gpt-5.4")},
		"responses, strm":    {"/v1/responses", responsesStream("codex/gpt-5.4")},
		"messages":           {"/v1/messages", messagesBody("codex/gpt-5.4")},
		"messages, streamed": {"/v1/messages", messagesStream("codex/gpt-5.4")},
		"gemini":             {"/v1beta/models/codex%2Fgpt-5.4:generateContent", geminiBody},
		"what it refuses":    {"/v1/responses", `{"model":"codex/gpt-5.4","temperature":0.2,"max_output_tokens":900,"user":"u","input":[{"role":"system","content":"be short"},{"role":"user","content":"hi"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("5h", 10, time.Hour)}})
			r := h.rig(t)
			got := r.ask(c.path, c.body, "User-Agent: claude-cli/2.0", "X-Stainless-Lang: js")
			if got.status != 200 || !strings.Contains(got.body, "from chatgpt") {
				t.Fatalf("%d %s", got.status, got.body)
			}
			calls := h.Vendor.Calls()
			if len(calls) != 1 {
				t.Fatalf("%d calls", len(calls))
			}
			head := calls[0].Header
			for name, want := range map[string]string{
				"Originator": "magpie", "User-Agent": "magpie/test", "Chatgpt-Account-Id": "acct-me", "Openai-Beta": "responses=experimental", "Accept": "text/event-stream",
			} {
				if got := head.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			var sent struct {
				Key    string `json:"prompt_cache_key"`
				Stream bool   `json:"stream"`
				Store  *bool  `json:"store"`
			}
			if err := json.Unmarshal(calls[0].Body, &sent); err != nil || !sent.Stream || sent.Store == nil || *sent.Store {
				t.Errorf("%v %s", err, calls[0].Body)
			}
			if s := head.Get("Session_id"); s == "" || s != sent.Key || head.Get("Conversation_id") != s {
				t.Errorf("session %q of %q", s, sent.Key)
			}
			if head.Get("X-Stainless-Lang") != "" {
				t.Error("the agent's own marks went on")
			}
		})
	}
}

// The backend only streams, and its last event lists no output: an agent that wants one piece is
// given what came before.
func TestAPieceOfABackendThatOnlyStreamsIsWhole(t *testing.T) {
	reply := eventsOf("responses", `response.created {"response":{"id":"r","status":"in_progress","output":[]}}`,
		`response.output_item.added {"output_index":0,"item":{"type":"message","id":"i1","role":"assistant","content":[]}}`,
		`response.output_text.delta {"output_index":0,"content_index":0,"item_id":"i1","delta":"yes"}`,
		`response.output_item.done {"output_index":0,"item":{"type":"message","id":"i1","role":"assistant","content":[{"type":"output_text","text":"yes"}]}}`,
		`response.completed {"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":1}}}`)
	for name, c := range map[string]struct{ path, body string }{
		"chat":      {"/v1/chat/completions", chatBody("codex/gpt-5.4")},
		"responses": {"/v1/responses", responsesBody("codex/gpt-5.4")},
		"messages":  {"/v1/messages", messagesBody("codex/gpt-5.4")},
		"gemini":    {"/v1beta/models/codex%2Fgpt-5.4:generateContent", geminiBody},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "").account("me", "", standin.ChatAccount{})
			r := newRig(t, h.toml+"]\n", vendors{"gpt": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/responses") {
					h.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write([]byte(reply))
			})})
			got := r.ask(c.path, c.body)
			if got.status != 200 || strings.Count(got.body, "yes") != 1 || !json.Valid([]byte(got.body)) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if u := r.last().Tokens; u.Input != 7 || u.Output != 1 {
				t.Errorf("%+v", u)
			}
		})
	}
}

func TestCodexItselfGoesOnAsItIs(t *testing.T) {
	h := newHouse(t, "").account("me", "", standin.ChatAccount{})
	r := h.rig(t)
	body := `{"model":"codex/gpt-5.4","instructions":"mine","stream":true,"store":false,"prompt_cache_key":"k","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`
	got := r.ask("/v1/responses", body, "User-Agent: codex_cli_rs/0.200.0", "Originator: codex_cli_rs", "Version: 0.200.0", "Session_id: s1", "Chatgpt-Account-Id: another")
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	call := h.Vendor.Calls()[0]
	if want := strings.Replace(body, "codex/gpt-5.4", "gpt-5.4", 1); string(call.Body) != want {
		t.Errorf("sent %s", call.Body)
	}
	for name, want := range map[string]string{
		"Originator": "codex_cli_rs", "User-Agent": "codex_cli_rs/0.200.0", "Version": "0.200.0", "Session_id": "s1", "Chatgpt-Account-Id": "acct-me",
	} {
		if got := call.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestATokenThatIsTurnedAwayIsRenewedOnce(t *testing.T) {
	h := newHouse(t, "").account("me", "", standin.ChatAccount{})
	r := h.rig(t)
	h.SignOut("acct-me")
	if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if n := h.Asked("token"); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	data, err := os.ReadFile(filepath.Join(h.homes["me"], "auth.json"))
	if err != nil || !strings.Contains(string(data), `"kept_by_others": "as it was"`) {
		t.Errorf("%v %s", err, data)
	}
	if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 || h.Asked("token") != 1 {
		t.Errorf("%d, renewed %d times", got.status, h.Asked("token"))
	}
}

func TestSignInsThatCanNotBeUsedAreAStateOfTheirAccount(t *testing.T) {
	for name, c := range map[string]struct{ auth, says string }{
		"nobody":    {"", "nobody is signed in there"},
		"a key":     {`{"auth_mode":"apikey","OPENAI_API_KEY":"sk-test-0123456789"}`, "signed in with an API key"},
		"broken":    {`{"tokens":`, "can't be read as what Codex writes"},
		"no tokens": {`{"tokens":null}`, "nobody is signed in there"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", "", standin.ChatAccount{}).account("spare", "", standin.ChatAccount{})
				good, err := os.ReadFile(filepath.Join(h.homes["me"], "auth.json"))
				if err != nil {
					t.Fatal(err)
				}
				if h.write("me", c.auth); c.auth == "" {
					_ = os.Remove(filepath.Join(h.homes["me"], "auth.json"))
				}
				r := h.rig(t)
				a := r.account("codex/me")
				if a.State != trace.Unready || !strings.Contains(a.Error, c.says) {
					t.Errorf("%s %q", a.State, a.Error)
				}
				if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 || tried(r.last()) != "codex/spare" {
					t.Errorf("%d, tried %s", got.status, tried(r.last()))
				}
				h.write("me", string(good))
				pass(time.Minute)
				if a := r.account("codex/me"); a.State != trace.Fine {
					t.Errorf("signed in anew: %s %q", a.State, a.Error)
				}
			})
		})
	}
}

func TestALapsedSignInIsToldAndTheOthersAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", "", standin.ChatAccount{}).account("spare", "", standin.ChatAccount{})
		r := h.rig(t)
		h.Lapse("acct-me")
		got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4"), "X-Magpie-Account: codex/me")
		if got.status != 401 || !strings.Contains(got.body, "codex login") && !strings.Contains(got.body, "expired") {
			t.Errorf("%d %s", got.status, got.body)
		}
		if a := r.account("codex/me"); a.State != trace.Unready || !strings.Contains(a.Error, "lapsed") {
			t.Errorf("%s %q", a.State, a.Error)
		}
		if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 || tried(r.last()) != "codex/spare" {
			t.Errorf("%d, tried %s", got.status, tried(r.last()))
		}
		pass(10 * time.Minute) // its token has days to go as far as that says
		if a := r.account("codex/me"); a.State != trace.Unready || strings.Contains(r.logs.text(), "signed in again") {
			t.Errorf("%s %q, and nobody signed in", a.State, a.Error)
		}
		if strings.Contains(r.logs.text(), "rt-standin") {
			t.Error("a token is in the log")
		}
	})
}

func TestATokenThatCanNotBeRenewedForNowRestsTheAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"order\"").account("me", "", standin.ChatAccount{Life: time.Hour}).account("spare", "", standin.ChatAccount{})
		r := h.rig(t)
		pass(61 * time.Minute) // its token is over
		h.Fail("token", 503, 503, 503, 503, 503, 503)
		if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 || tried(r.last()) != "codex/me codex/spare" {
			t.Fatalf("%d %s, tried %s", got.status, got.body, tried(r.last()))
		}
		if a := r.account("codex/me"); a.State != trace.Resting || !strings.Contains(a.Rest.Text, "503") {
			t.Errorf("%s %+v", a.State, a.Rest)
		}
		h.Fail("token")
		pass(10 * time.Minute)
		if got := r.ask("/v1/responses", responsesBody("codex/gpt-5.4")); got.status != 200 || tried(r.last()) != "codex/me" {
			t.Errorf("%d, tried %s", got.status, tried(r.last()))
		}
	})
}

func TestAnAccountIsAskedForWhatItsPlanHas(t *testing.T) {
	h := newHouse(t, "routing = \"order\"").account("free", "", standin.ChatAccount{Plan: "free", Models: []string{"gpt-5.4"}}).account("pro", "", standin.ChatAccount{Plan: "pro"})
	r := h.rig(t)
	got := r.do(http.MethodPost, "/v1/magpie/provider/models?provider=codex", "", "Authorization: Bearer control-token")
	if got.status != 200 || !strings.Contains(got.body, "gpt-6.1-terra") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	r.ask("/v1/chat/completions", chatBody("codex/gpt-6.1-terra"))
	if route := r.last(); tried(route) != "codex/pro" || ordered(route.Left) != "codex/free" || route.Left[0].Why.Code != trace.WhyUnlisted {
		t.Errorf("tried %s, left %s", tried(route), ordered(route.Left))
	}
	r.ask("/v1/chat/completions", chatBody("codex/gpt-5.4"))
	if route := r.last(); tried(route) != "codex/free" {
		t.Errorf("tried %s", tried(route))
	}
	var sent struct {
		Instructions string `json:"instructions"`
	}
	calls := h.Vendor.Calls()
	if err := json.Unmarshal(calls[len(calls)-1].Body, &sent); err != nil || sent.Instructions != standin.Instructions("gpt-5.4") {
		t.Errorf("%v %q", err, sent.Instructions)
	}
}

func TestWhatIsLeftIsReadBehindTheRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", "", standin.ChatAccount{Plan: "pro", Windows: []standin.Window{win("5h", 42, time.Hour), win("7d", 87, 25*time.Hour)}, Resets: []standin.ChatReset{{ID: "c1", Expires: time.Now().Add(72 * time.Hour)}}})
		r := h.rig(t)
		for range 5 {
			r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
		}
		synctest.Wait()
		if n := h.Asked("usage"); n != 1 {
			t.Errorf("asked %d times in one minute", n)
		}
		a := r.account("codex/me")
		if a.Plan != "pro" || a.Used != 87 || len(a.Windows) != 2 || a.Resets == nil || a.Resets.Count != 1 || !a.Resets.Until.After(time.Now().Add(71*time.Hour)) {
			t.Errorf("%+v %+v", a, a.Resets)
		}
		h.Fail("usage", 500, 500, 500)
		pass(time.Minute)
		r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
		synctest.Wait()
		if a := r.account("codex/me"); a.ReadError == "" || a.Used != 87 || a.State != trace.Fine {
			t.Errorf("%q %v %s", a.ReadError, a.Used, a.State)
		}
	})
}

func TestTheFirstRequestWaitsForAReadingNoLongerThanThreeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "routing = \"smart\"").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 99, 80*time.Hour)}}).
			account("spare", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 10, 90*time.Hour)}})
		slow := &slowUsage{next: h.ChatGPT, by: 2 * time.Second}
		r := newRig(t, h.toml+"]\n", vendors{"gpt": slow})
		began := time.Now()
		r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
		if tried(r.last()) != "codex/spare" || time.Since(began) != 2*time.Second {
			t.Errorf("tried %s after %s", tried(r.last()), time.Since(began))
		}
		slow = &slowUsage{next: h.ChatGPT, by: 20 * time.Second}
		r = newRig(t, h.toml+"]\n", vendors{"gpt": slow})
		began = time.Now()
		r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
		first := time.Since(began)
		r.ask("/v1/responses", responsesBody("codex/gpt-5.4"))
		if both := time.Since(began); first != 3*time.Second || both != first {
			t.Errorf("waited %s, then %s", first, both-first)
		}
	})
}

// slowUsage takes its time to tell what is left.
type slowUsage struct {
	next http.Handler
	by   time.Duration
}

func (s *slowUsage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/wham/usage") {
		select {
		case <-time.After(s.by):
		case <-r.Context().Done():
			return
		}
	}
	s.next.ServeHTTP(w, r)
}

// The windows come in the headers of a reply, or in an event ahead of it, in either slot; each
// alone is enough, whoever asks.
func TestTheHeadersAndTheEventAheadEachTellTheWindows(t *testing.T) {
	const event = `codex.rate_limits {"rate_limits":{"primary":{"used_percent":96,"window_minutes":10080,"reset_after_seconds":7200},"secondary":null}}`
	for name, c := range map[string]struct {
		header bool
		lead   string
		path   string
		body   string
		agent  string
	}{
		"headers":            {true, "", "/v1/chat/completions", chatStream("codex/gpt-5.4"), "x"},
		"event":              {false, event, "/v1/chat/completions", chatStream("codex/gpt-5.4"), "x"},
		"event, one piece":   {false, event, "/v1/messages", messagesBody("codex/gpt-5.4"), "x"},
		"event, to Codex":    {false, event, "/v1/responses", responsesStream("codex/gpt-5.4"), "codex_cli_rs/0.200.0"},
		"headers, to Codex":  {true, "", "/v1/responses", responsesStream("codex/gpt-5.4"), "codex_cli_rs/0.200.0"},
		"an event of others": {false, `codex.other {"rate_limits":{"primary":{"used_percent":100,"window_minutes":10080}}}`, "/v1/chat/completions", chatStream("codex/gpt-5.4"), "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, "").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 40, 2*time.Hour)}})
				lines := []string{
					`response.created {"response":{"id":"r","status":"in_progress","output":[]}}`, `response.output_text.delta {"output_index":0,"content_index":0,"item_id":"i1","delta":"yes"}`,
					`response.completed {"response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":1}}}`,
				}
				if c.lead != "" {
					lines = append([]string{c.lead}, lines...)
				}
				r := newRig(t, h.toml+"]\n", vendors{"gpt": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !strings.HasSuffix(r.URL.Path, "/responses") {
						h.ServeHTTP(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					if c.header {
						for k, v := range map[string]string{"Used-Percent": "96", "Window-Minutes": "10080", "Reset-After-Seconds": "7200"} {
							w.Header().Set("X-Codex-Primary-"+k, v)
						}
					}
					_, _ = w.Write([]byte(eventsOf("responses", lines...)))
				})}).ready()
				if a := r.account("codex/me"); a.Used != 40 || a.Windows[0].Name != "7 days" {
					t.Fatalf("%+v", a.Windows)
				}
				pass(time.Second)
				if got := r.ask(c.path, c.body, "User-Agent: "+c.agent); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				want := 96.0
				if strings.HasPrefix(c.lead, "codex.other") {
					want = 40
				}
				if a := r.account("codex/me"); a.Used != want || len(a.Windows) != 1 || a.Windows[0].Name != "7 days" {
					t.Errorf("%+v", a.Windows)
				}
			})
		})
	}
}

// A reading that fails is left alone for longer each time, says so on the account, and is as it was
// once it can be had.
func TestAReadingThatKeepsFailingIsLeftAloneForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", "", standin.ChatAccount{Windows: []standin.Window{win("7d", 40, 3*day)}})
		r := h.rig(t).ready()
		failing := make([]int, 500)
		for i := range failing {
			failing[i] = 503
		}
		h.Fail("usage", failing...)
		began, before := time.Now(), h.Asked("usage")
		for time.Since(began) < time.Hour {
			pass(20 * time.Second)
			if got := r.askCodex(); got.status != 200 {
				t.Fatalf("%d", got.status)
			}
			synctest.Wait()
		}
		if n := h.Asked("usage") - before; n < 4 || n > 8 {
			t.Errorf("asked %d times in an hour", n)
		}
		if a := r.account("codex/me"); !strings.Contains(a.ReadError, "503") || a.Used != 40 || a.State != trace.Fine {
			t.Errorf("%q %v %s", a.ReadError, a.Used, a.State)
		}
		if n := strings.Count(r.logs.text(), "what is left of codex/me can't be read"); n != 1 {
			t.Errorf("told %d times", n)
		}
		h.Fail("usage")
		pass(16 * time.Minute)
		r.askCodex()
		synctest.Wait()
		before = h.Asked("usage")
		pass(61 * time.Second)
		r.askCodex()
		synctest.Wait()
		if a := r.account("codex/me"); a.ReadError != "" || h.Asked("usage") != before+1 {
			t.Errorf("%q, asked %d times in a minute", a.ReadError, h.Asked("usage")-before)
		}
	})
}

func TestAReplyTellsTheWindowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, "").account("me", "", standin.ChatAccount{Windows: []standin.Window{{Name: "5h", Used: 90, Resets: time.Hour, Grow: 4}}})
		r := h.rig(t)
		for _, want := range []float64{94, 98} {
			r.ask("/v1/chat/completions", chatStream("codex/gpt-5.4"))
			if a := r.account("codex/me"); a.Used != want {
				t.Errorf("used %v, want %v", a.Used, want)
			}
		}
	})
}

package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// hub is a stand-in GitHub with sign-ins in folders of the test.
type hub struct {
	*standin.GitHub
	t     *testing.T
	homes map[string]string
	toml  string
}

func newHub(t *testing.T) *hub {
	if time.Now().Year() == 2000 { // a bubble begins where no vendor's time is believed
		pass(3 * 365 * 24 * time.Hour)
	}
	return &hub{GitHub: standin.NewGitHub(), t: t, homes: map[string]string{}, toml: "[providers.copilot]\nbalance_url = \"{gh}/copilot_internal/user\"\naccounts = [\n"}
}

// account adds one to the config; file is what is written into its home.
func (h *hub) account(name, file string, data []byte) *hub {
	h.t.Helper()
	h.homes[name] = filepath.Join(h.t.TempDir(), name)
	h.toml += fmt.Sprintf("  { name = %q, home = %q },\n", name, h.homes[name])
	h.write(name, file, data)
	return h
}

func (h *hub) write(name, file string, data []byte) {
	h.t.Helper()
	err := os.MkdirAll(h.homes[name], 0o700)
	if err == nil && file != "" {
		err = os.WriteFile(filepath.Join(h.homes[name], file), data, 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *hub) rig(t *testing.T, more string, opts ...func(*gateway.Deps)) *rig {
	t.Helper()
	return newRig(t, h.toml+"]\n"+more, vendors{"gh": h.GitHub, "relay": relay("ok")}, opts...)
}

// premium is a plan with so many premium requests left of 1500.
func premium(left float64) standin.CopilotPlan {
	return standin.CopilotPlan{Plan: "individual", Quotas: map[string]standin.CopilotQuota{"premium_interactions": {Entitled: 1500, Left: left}, "completions": {Entitled: 4000, Left: 0}}, Resets: time.Now().Add(10 * 24 * time.Hour)}
}

// soon lets the first readings of a start come in.
func soon() {
	pass(time.Minute)
	synctest.Wait()
}

func TestCopilotAccountsAreShownWithTheirWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		h.account("me", "apps.json", h.Add("octo", premium(1200))).account("team", "config.json", h.AddCLI("cat", premium(0)))
		r := h.rig(t, "")
		soon()
		me, team := r.account("copilot/me"), r.account("copilot/team")
		if me.State != trace.Fine || me.Used != 20 || me.Plan != "individual" || len(me.Windows) != 3 || me.Windows[1].Limit != 1500 || me.Windows[1].Amount != 300 || me.ReadOnly == "" || me.Kind != "account" {
			t.Errorf("%+v", me)
		}
		if w := me.Windows[2]; w.Name != "Chat requests" || !w.Aside || !w.Endless || me.Windows[0].Used != 100 || !me.Windows[0].Aside {
			t.Errorf("%+v", me.Windows)
		}
		if team.State != trace.Spent || team.Used != 100 {
			t.Errorf("%s %v", team.State, team.Used)
		}
		if h.Asked("octo") != 1 || h.Asked("cat") != 1 {
			t.Errorf("asked %d and %d times", h.Asked("octo"), h.Asked("cat"))
		}
		pass(time.Hour)
		if n := h.Asked("octo"); n < 10 || n > 14 {
			t.Errorf("asked %d times in an hour", n)
		}
		if bad := h.Impostors(); len(bad) != 0 {
			t.Errorf("asked as somebody else would: %q", bad)
		}
		for _, out := range []string{r.logs.text(), r.do(http.MethodGet, "/v1/magpie/status", "").body, r.do(http.MethodGet, "/v1/magpie/providers", "").body} {
			if strings.Contains(out, "gho_standin") {
				t.Error("a token is shown")
			}
		}
	})
}

func TestAnAccountThatIsOnlyShownIsNeverAsked(t *testing.T) {
	const more = "[providers.relay]\nchat = \"{relay}/v1\"\nkeys = [{ value = \"sk-relay-0123456789\" }]\n[groups.g]\nrouting = \"order\"\nmembers = [\"copilot/gpt-5.4\", \"relay/m\"]\n"
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.account("me", "apps.json", h.Add("octo", premium(1200))).rig(t, more)
		soon()
		got := r.ask("/v1/chat/completions", chatBody("copilot/gpt-5.4"))
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "account_read_only") || !strings.Contains(got.body, "does not pretend") {
			t.Errorf("%d %s", got.status, got.body)
		}
		got = r.ask("/v1/chat/completions", chatBody("copilot/gpt-5.4"), "X-Magpie-Account: copilot/me")
		if got.status != http.StatusForbidden {
			t.Errorf("named: %d %s", got.status, got.body)
		}
		got = r.ask("/v1/chat/completions", chatBody("group/g"))
		route := r.told()
		if got.status != http.StatusOK || tried(route) != "relay/key1" || ordered(route.Left) != "copilot/me" || route.Left[0].Why.Code != trace.WhyReadOnly || route.Left[0].Why.Text == "" {
			t.Errorf("%d, tried %s, left %+v", got.status, tried(route), route.Left)
		}
		why := r.do(http.MethodPost, "/v1/magpie/explain", `{"model":"group/g","api":"chat"}`)
		if why.status != http.StatusOK || !strings.Contains(why.body, `"read-only"`) || !strings.Contains(why.body, "Premium requests") {
			t.Errorf("%d %s", why.status, why.body)
		}
		if bad := h.Impostors(); len(bad) != 0 || h.Asked("octo") != 1 {
			t.Errorf("%q, asked %d times", bad, h.Asked("octo"))
		}
	})
}

func TestSignInsOfCopilotThatCanNotBeReadAreAStateOfTheirAccount(t *testing.T) {
	for name, c := range map[string]struct{ file, data, says string }{
		"nobody":           {"", "", "nobody is signed in there"},
		"an empty file":    {"apps.json", "", "apps.json can't be read as what Copilot writes"},
		"a cut file":       {"apps.json", `{"github.com:x":{"oauth_tok`, "apps.json can't be read as what Copilot writes"},
		"no object":        {"hosts.json", `[1,2]`, "hosts.json can't be read as what Copilot writes"},
		"another host":     {"apps.json", `{"evil.example":{"user":"u","oauth_token":"gho_1"},"github.com.evil.example":{"oauth_token":"gho_1"},"github.com@x.ghe.com":{"oauth_token":"gho_1"}}`, "nobody is signed in there"},
		"no token":         {"apps.json", `{"github.com":{"user":"u"},"github.com:1":7,"github.com:2":{"oauth_token":"a\nb"}}`, "nobody is signed in there"},
		"in the keychain":  {"config.json", `{"lastLoggedInUser":{"host":"https://github.com","login":"u"},}`, "keychain"},
		"a config of none": {"config.json", `{ /* nobody */ "theme":"dark" }`, "nobody is signed in there"},
		"too long":         {"apps.json", strings.Repeat(" ", 2<<20), "apps.json can't be read: it is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHub(t).account("me", c.file, []byte(c.data))
				r := h.rig(t, "")
				a := r.account("copilot/me")
				if a.State != trace.Unready || !strings.Contains(a.Error, c.says) || strings.Contains(a.Error, h.homes["me"]) {
					t.Errorf("%s %q", a.State, a.Error)
				}
				soon()
				if h.Asked("") != 0 {
					t.Error("asked with what is no sign-in")
				}
				h.write("me", "apps.json", h.Add("octo", premium(300)))
				soon()
				if a := r.account("copilot/me"); a.State != trace.Fine || a.Used != 80 {
					t.Errorf("signed in: %s %q %v", a.State, a.Error, a.Used)
				}
			})
		})
	}
}

func TestALapsedSignInOfCopilotIsSentNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.account("me", "apps.json", h.Add("octo", premium(750))).rig(t, "")
		soon()
		h.SignOut("octo")
		pass(time.Hour)
		a := r.account("copilot/me")
		if a.State != trace.Unready || !strings.Contains(a.Error, "sign in to Copilot again") || a.Used != 50 || h.Asked("") != 1 {
			t.Errorf("%s %q %v, sent %d times", a.State, a.Error, a.Used, h.Asked(""))
		}
		control := "Authorization: Bearer control-token"
		if got := r.do(http.MethodPost, "/v1/magpie/do", `{"verb":"refresh","who":"copilot/me"}`, control); got.status != http.StatusOK || !strings.Contains(got.body, "can't be read") || h.Asked("") != 1 {
			t.Errorf("%d %s", got.status, got.body)
		}
		h.write("me", "apps.json", h.Add("octo", premium(1500)))
		soon()
		if a := r.account("copilot/me"); a.State != trace.Fine || a.Used != 0 || a.ReadError != "" {
			t.Errorf("signed in anew: %s %q %q", a.State, a.Error, a.ReadError)
		}
	})
}

func TestAReaderThatFailsIsAskedLessOftenAndTellsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.account("me", "apps.json", h.Add("octo", premium(1200))).rig(t, "")
		soon()
		before := h.Asked("octo")
		var many [1000]int
		for i := range many {
			many[i] = http.StatusInternalServerError
		}
		h.Fail(many[:]...)
		pass(2 * time.Hour)
		a := r.account("copilot/me")
		if n := h.Asked("octo") - before; n < 6 || n > 14 {
			t.Errorf("asked %d times in two hours of failing", n)
		}
		if a.State != trace.Fine || a.Used != 20 || !strings.Contains(a.ReadError, "500") {
			t.Errorf("%s %v %q", a.State, a.Used, a.ReadError)
		}
		h.Fail()
		pass(20 * time.Minute)
		if a := r.account("copilot/me"); a.ReadError != "" {
			t.Errorf("%q", a.ReadError)
		}
	})
}

func TestWhatAHostileGitHubTellsHarmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t)
		r := h.account("me", "apps.json", h.Add("octo", premium(1200))).rig(t, "")
		soon()
		for _, c := range []struct {
			body, plan, unread string
			used               float64
		}{
			{`{"quota_snapshots":{"premium_interactions":`, "individual", "no JSON object", 20},
			{`[]`, "individual", "no JSON object", 20},
			{`{"quota_snapshots":{"premium_interactions":{"entitlement":"100","quota_remaining":"-900"}},"quota_reset_date":"2002-01-01"}`, "individual", "", 0},
			{`{"copilot_plan":"\u001b[2Jpro","quota_snapshots":{"premium_interactions":{"entitlement":1e308,"quota_remaining":-1e308}},"quota_reset_date":900000000000}`, "[2Jpro", "", 100},
			{`{"copilot_plan":"` + strings.Repeat("x", 300<<10) + `","quota_snapshots":{"premium_interactions":{"entitlement":10,"quota_remaining":4}}}`, strings.Repeat("x", 59) + "…", "", 60},
			{strings.Repeat(" ", 2<<20), strings.Repeat("x", 59) + "…", "no JSON object", 60},
		} {
			h.Say(c.body)
			pass(20 * time.Minute)
			var all struct{ Accounts []trace.Account }
			if err := json.Unmarshal([]byte(r.do(http.MethodGet, "/v1/magpie/status", "").body), &all); err != nil {
				t.Fatalf("%.80s: %v", c.body, err)
			}
			if a := all.Accounts[0]; a.State == trace.Unready || a.Used != c.used || a.Plan != c.plan || !strings.Contains(a.ReadError, c.unread) || c.unread == "" && a.ReadError != "" {
				t.Errorf("%.80s: %s %v %q %q", c.body, a.State, a.Used, a.Plan, a.ReadError)
			}
		}
	})
}

func TestAnAccountThatIsOnlyShownCanBeTested(t *testing.T) {
	h := newHub(t)
	r := h.account("me", "apps.json", h.Add("octo", premium(1200))).account("gone", "", nil).rig(t, "")
	control := "Authorization: Bearer control-token"
	got := r.do(http.MethodPost, "/v1/magpie/provider/test?provider=copilot", "", control)
	var told struct{ Tests []trace.KeyTest }
	if err := json.Unmarshal([]byte(got.body), &told); err != nil || len(told.Tests) != 2 || !told.Tests[0].OK || told.Tests[1].OK || told.Tests[1].Fail != trace.Auth {
		t.Errorf("%v %s", err, got.body)
	}
	got = r.do(http.MethodPost, "/v1/magpie/provider/models?provider=copilot", "", control)
	if got.status == http.StatusOK || !strings.Contains(got.body, "only shown") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Google's terms allow the sign-in to Gemini CLI alone: whatever state it is in and whatever a
// person asks for, not one connection is made.
func TestNothingIsSentWithGeminiCLIsSignIn(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"signed in":      {`{"access_token":"ya29.standin-0123456789","refresh_token":"1//standin-0123456789","expiry_date":4102444800000}`, "nothing is sent with it"},
		"to be renewed":  {`{"access_token":"ya29.standin-0123456789","refresh_token":"1//standin-0123456789","expiry_date":1000000000001}`, "nothing is sent with it"},
		"lapsed":         {`{"access_token":"ya29.standin-0123456789","expiry_date":"1000000000001"}`, "has lapsed"},
		"another's":      {`{"access_token":"ya29.standin-0123456789","id_token":"e30.eyJhenAiOiJvdGhlciJ9.x"}`, "another program's"},
		"a cut file":     {`{"access_token":"ya29.standin-01234`, "can't be read as what Gemini CLI writes"},
		"without tokens": {`{}`, "nobody is signed in there"},
		"nobody":         {"", "nobody is signed in there"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass(3 * 365 * 24 * time.Hour)
				home := t.TempDir()
				if c.data != "" {
					if err := os.WriteFile(filepath.Join(home, "oauth_creds.json"), []byte(c.data), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				var mu sync.Mutex
				dialed := []string{}
				r := newRig(t, fmt.Sprintf("[providers.gemini-cli]\naccounts = [{ name = \"me\", home = %q }]\n", home), nil, func(d *gateway.Deps) {
					d.NoFetch = false
					d.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
						mu.Lock()
						defer mu.Unlock()
						dialed = append(dialed, address)
						return nil, errors.New("nobody is there")
					}
				})
				pass(time.Hour)
				control := "Authorization: Bearer control-token"
				for _, path := range []string{"/v1/magpie/provider/test?provider=gemini-cli", "/v1/magpie/provider/models?provider=gemini-cli"} {
					r.do(http.MethodPost, path, "", control)
				}
				if got := r.do(http.MethodPost, "/v1/magpie/do", `{"verb":"refresh","who":"gemini-cli/me"}`, control); got.status != http.StatusConflict || !strings.Contains(got.body, "Gemini CLI alone") {
					t.Errorf("%d %s", got.status, got.body)
				}
				if got := r.ask("/v1/chat/completions", chatBody("gemini-cli/gemini-3-pro")); got.status != http.StatusForbidden || !strings.Contains(got.body, "provider google an API key") {
					t.Errorf("%d %s", got.status, got.body)
				}
				r.do(http.MethodGet, "/v1/magpie/quotas?wait=1", "")
				a := r.account("gemini-cli/me")
				if a.State != trace.Unready || !strings.Contains(a.Error, c.says) || len(a.Windows) != 0 || a.ReadOnly == "" {
					t.Errorf("%s %q", a.State, a.Error)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(dialed) != 0 {
					t.Errorf("dialed %q", dialed)
				}
				if out := r.logs.text() + r.do(http.MethodGet, "/v1/magpie/status", "").body; strings.Contains(out, "standin-0123456789") {
					t.Error("a token is shown")
				}
			})
		})
	}
}

// Over a real socket, with homes where Copilot's programs have them and no home in the config.
func TestCopilotIsReadOverASocketFromItsOwnHome(t *testing.T) {
	github := standin.NewGitHub()
	srv := httptest.NewServer(github)
	defer srv.Close()
	moved := t.TempDir()
	dir := filepath.Join(moved, "github-copilot")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "apps.json"), github.Add("octo", premium(600)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "[providers.copilot]\nbalance_url = \""+srv.URL+standin.CopilotUserPath+"\"\naccounts = [{ name = \"me\" }]\n", nil, func(d *gateway.Deps) {
		d.NoFetch, d.Dial = false, (&net.Dialer{}).DialContext
		d.Getenv = func(name string) string {
			if name == "XDG_CONFIG_HOME" {
				return moved
			}
			return ""
		}
	})
	r.do(http.MethodGet, "/v1/magpie/quotas?wait=20", "")
	if a := r.account("copilot/me"); a.Used != 60 || a.State != trace.Fine {
		t.Errorf("%+v", a)
	}
	if bad := github.Impostors(); len(bad) != 0 {
		t.Errorf("%q", bad)
	}
}

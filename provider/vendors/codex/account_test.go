package codex_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
)

func TestTheEventAheadOfAReply(t *testing.T) {
	const told = `{"type":"codex.rate_limits","plan_type":"pro","rate_limits":{"allowed":true,"primary":{"used_percent":97,"window_minutes":300,"reset_at":1772622000},"secondary":{"used_percent":"88","window_minutes":10080,"reset_after_seconds":60}},"credits":{"has_credits":true,"unlimited":false,"balance":"3.5"}}`
	r := codex.ReadEvent([]byte(told), now)
	if got, want := draw(r, nil), "pro: 5 hours 97% 11:00, 7 days 88% 10:01; 0 resets; 3.5 credits"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, w := range r.Windows {
		if !w.Partial {
			t.Errorf("%s counts as all there is", w.Name)
		}
	}
	if r := codex.ReadEvent([]byte(strings.Replace(told, `"plan_type"`, `"metered_limit_name":"codex","plan_type"`, 1)), now); len(r.Windows) != 2 {
		t.Errorf("of the limit of all models: %+v", r)
	}
	for _, of := range []string{`"metered_limit_name":"codex_bengalfox"`, `"limit_name":"GPT-5.3-Codex-Spark"`, `"limit_id":"codex_other"`} {
		if r := codex.ReadEvent([]byte(strings.Replace(told, `"plan_type"`, of+`,"plan_type"`, 1)), now); len(r.Windows) != 0 {
			t.Errorf("%s counts for all models: %+v", of, r)
		}
	}
	for _, other := range []string{"", "{}", told[:100], strings.Replace(told, "codex.rate_limits", "codex.other", 1), `{"type":"codex.rate_limits","rate_limits":null}`, `{"type":"codex.rate_limits","rate_limits":{"primary":{"used_percent":"much"}}}`} {
		if r := codex.ReadEvent([]byte(other), now); len(r.Windows) != 0 {
			t.Errorf("%q tells %+v", other, r)
		}
	}
}

// backend answers for one account whose token is good for long.
func backend(t *testing.T, answer func(r *http.Request) (int, string)) (*codex.Account, string) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "auth.json"), []byte(`{"tokens":{"access_token":"at-1","refresh_token":"rt-1","account_id":"acct-1"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return codex.Open(codex.Options{Home: home, Base: srv.URL + "/backend-api/codex", Token: srv.URL + "/oauth/token", Agent: "magpie/test", Do: srv.Client().Do}), home
}

func TestModelsOfAnAccount(t *testing.T) {
	asked := ""
	a, home := backend(t, func(r *http.Request) (int, string) {
		asked = r.URL.RequestURI()
		return 200, `{"models":[{"slug":"late","priority":9,"base_instructions":"L"},{"slug":"hidden","visibility":"hide","priority":0,"base_instructions":"H"},7,{"slug":""},
			{"slug":"first","display_name":"First","priority":"1","input_modalities":["text","image"],"context_window":272000,"supported_reasoning_levels":[{"effort":"low"},{"effort":"xhigh"}],
			 "model_messages":{"instructions_template":"F"},"base_instructions":"B"}]}`
	})
	list, raw, err := a.Models(t.Context(), now)
	if err != nil || len(raw) == 0 {
		t.Fatal(err)
	}
	if got := fmt.Sprint(list[0].ID, list[0].Context, list[0].Efforts, list[0].Inputs, list[1].ID, len(list)); got != "first272000 [low xhigh] [text image]late2" {
		t.Errorf("%s", got)
	}
	if asked != "/backend-api/codex/models?client_version=0.159.0" {
		t.Errorf("asked %s", asked)
	}
	for model, want := range map[string]string{"first": `"instructions":"F"`, "hidden": `"instructions":"H"`, "unknown": ""} {
		body, session, err := a.Shape([]byte(`{"input":"hi","instructions":"mine"}`), model, false)
		if err != nil || !strings.Contains(string(body), want) || session == "" {
			t.Errorf("%s: %v %s", model, err, body)
		}
		if developer := strings.Contains(string(body), `"developer"`); developer != (want != "") {
			t.Errorf("%s: the asker's own instructions: %s", model, body)
		}
	}
	for version, want := range map[string]string{"0.200.1": "0.200.1", "0.9.9": "0.159.0", "newest": "0.159.0", "1.0": "0.159.0"} {
		if err := os.WriteFile(filepath.Join(home, "models_cache.json"), []byte(`{"client_version":"`+version+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.Models(t.Context(), now); err != nil || !strings.HasSuffix(asked, "="+want) {
			t.Errorf("%s: %v, asked %s", version, err, asked)
		}
	}
}

func TestWhatABackendThatIsNoneSays(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a page": {200, "<html>"}, "an error": {500, ""}, "nothing": {200, ""}, "a number": {200, "7"}, "a redirect": {302, ""}, "cut": {200, plus[:200]}, "null": {200, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := backend(t, func(*http.Request) (int, string) { return c.status, c.body })
			if r, err := a.Read(t.Context(), now); err == nil {
				t.Errorf("read %+v", r)
			}
			if _, _, err := a.Models(t.Context(), now); err == nil {
				t.Error("it has models")
			}
			if o, _, err := a.Spend(t.Context(), "c1", "r1", now); err == nil {
				t.Errorf("spending came to %q", o)
			}
		})
	}
}

func TestATokenThatTheBackendTurnsAwayIsRenewedForItsQuestionsToo(t *testing.T) {
	renewed := 0
	a, _ := backend(t, func(r *http.Request) (int, string) {
		switch {
		case r.URL.Path == "/oauth/token":
			renewed++
			return 200, `{"access_token":"at-2","refresh_token":"rt-2"}`
		case r.Header.Get("Authorization") != "Bearer at-2" || r.Header.Get("Chatgpt-Account-Id") != "acct-1" || r.Header.Get("Originator") != "magpie":
			return 401, ""
		case strings.HasSuffix(r.URL.Path, "/rate-limit-reset-credits"):
			return 200, `{"credits":[{"id":"c1","status":"available","expires_at":"2026-03-20T00:00:00Z"}]}`
		}
		return 200, plus
	})
	r, err := a.Read(t.Context(), now)
	if err != nil || renewed != 1 || r.Resets.Count != 2 || !r.Resets.Until.Equal(time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v, renewed %d times, %+v", err, renewed, r.Resets)
	}
}

func TestALapsedSignInIsAStateOfTheAccount(t *testing.T) {
	a, _ := backend(t, func(*http.Request) (int, string) { return 401, "" })
	_, err := a.Read(t.Context(), now)
	var state provider.SignInError
	if !errors.As(err, &state) || state != codex.ErrLapsed {
		t.Errorf("%v", err)
	}
}

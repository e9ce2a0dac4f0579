package codex_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
)

func access(n int, ends time.Time) string {
	return token(fmt.Sprintf(`{"n":%d,"exp":%d}`, n, ends.Unix()))
}

func id() string {
	return token(`{"email":"a@b.c","https://api.openai.com/auth":{"chatgpt_plan_type":"pro","chatgpt_account_id":"acct-1"}}`)
}

// signIn writes what Codex writes, and what it might write one day.
func signIn(t *testing.T, ends time.Time) (home string) {
	t.Helper()
	home = t.TempDir()
	write(t, home, fmt.Sprintf(`{
  "auth_mode": "chatgpt",
  "OPENAI_API_KEY": null,
  "tokens": {
    "id_token": %q,
    "access_token": %q,
    "refresh_token": "refresh-0",
    "account_id": "acct-1",
    "later": {"a": [1, 2]}
  },
  "last_refresh": "2026-03-01T00:00:00Z",
  "agent_identity": {"x": 1e3, "y": "é<>"}
}
`, id(), access(0, ends)))
	return home
}

func write(t *testing.T, home, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "auth.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, home string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, "auth.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// issuer is the vendor's token endpoint: each refresh token is good once.
type issuer struct {
	mu     sync.Mutex
	good   string // the refresh token that it takes
	n      int
	status int // answered instead, 0 = none
	err    error
	bodies []string
	slow   time.Duration
	ends   time.Time // of the tokens that it gives, zero = an hour from now
}

func (i *issuer) do(req *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(req.Body)
	<-time.After(i.slow)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.bodies = append(i.bodies, string(body))
	if i.err != nil {
		return nil, i.err
	}
	var asked struct {
		Refresh string `json:"refresh_token"`
	}
	_ = json.Unmarshal(body, &asked)
	reply := func(status int, text string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
	switch {
	case i.status != 0:
		return reply(i.status, `{"error":"x"}`)
	case asked.Refresh != i.good:
		return reply(http.StatusUnauthorized, `{"error":"refresh_token_reused"}`)
	}
	i.n++
	if i.ends.IsZero() {
		i.ends = now.Add(time.Hour)
	}
	i.good = fmt.Sprintf("refresh-%d", i.n)
	return reply(http.StatusOK, fmt.Sprintf(`{"access_token":%q,"refresh_token":%q,"expires_in":3600}`, access(i.n, i.ends), i.good))
}

func (i *issuer) asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.bodies)
}

func holder(home string, i *issuer) *codex.Holder {
	return &codex.Holder{Home: home, URL: "http://vendor.example/oauth/token", Do: i.do}
}

func TestATokenThatIsGoodIsNotRenewed(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now.Add(6*time.Minute))
	tok, err := holder(home, i).Tokens(t.Context(), now)
	if err != nil || tok.Account != "acct-1" || tok.User() != "a@b.c" || tok.Plan() != "pro" || i.asked() != 0 {
		t.Errorf("%+v %v, asked %d times", tok, err, i.asked())
	}
}

func TestARenewalKeepsAllElseOfTheFile(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now.Add(4*time.Minute))
	before := read(t, home)
	tok, err := holder(home, i).Tokens(t.Context(), now)
	if err != nil || tok.Access != access(1, now.Add(time.Hour)) {
		t.Fatalf("%+v %v", tok, err)
	}
	want := strings.NewReplacer(access(0, now.Add(4*time.Minute)), access(1, now.Add(time.Hour)), "refresh-0", "refresh-1", "2026-03-01T00:00:00Z", "2026-03-04T10:00:00Z").Replace(before)
	compact := func(s string) string {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(s)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := read(t, home); compact(got) != compact(want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	info, err := os.Stat(filepath.Join(home, "auth.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if !strings.Contains(i.bodies[0], `"grant_type":"refresh_token"`) || !strings.Contains(i.bodies[0], "offline_access") && !strings.Contains(i.bodies[0], `"scope":"openid profile email"`) {
		t.Errorf("asked %s", i.bodies[0])
	}
}

func TestTokensThatDoNotLastAreUsedToTheirEnd(t *testing.T) {
	i := &issuer{good: "refresh-0", ends: now.Add(2 * time.Minute)}
	h := holder(signIn(t, now), i)
	for at := now; at.Before(i.ends); at = at.Add(10 * time.Second) {
		if _, err := h.Tokens(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if i.asked() != 1 {
		t.Errorf("asked %d times in two minutes", i.asked())
	}
	if _, err := h.Tokens(t.Context(), i.ends); err != nil || i.asked() != 2 {
		t.Errorf("at their end: asked %d times: %v", i.asked(), err)
	}
	i.ends = now.Add(time.Hour)
	if _, err := h.Tokens(t.Context(), now.Add(10*time.Minute)); err != nil || i.asked() != 3 {
		t.Errorf("asked %d times: %v", i.asked(), err)
	}
	if _, err := h.Tokens(t.Context(), now.Add(56*time.Minute)); err != nil || i.asked() != 4 {
		t.Errorf("one that lasts is renewed five minutes early: asked %d times: %v", i.asked(), err)
	}
}

func TestManyAtOnceSpendOneRefreshToken(t *testing.T) {
	i := &issuer{good: "refresh-0", slow: 20 * time.Millisecond}
	home := signIn(t, now)
	// Two holders of one home are two processes: only the lock on the folder is between them.
	hs := []*codex.Holder{holder(home, i), holder(home, i)}
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			tok, err := hs[n%2].Tokens(context.Background(), now)
			if err != nil || tok.Access != access(1, now.Add(time.Hour)) {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	wg.Wait()
	if i.asked() != 1 {
		t.Errorf("asked %d times", i.asked())
	}
}

func TestASignInThatWasRefusedIsNotTriedAgain(t *testing.T) {
	for _, status := range []int{400, 401} {
		i := &issuer{status: status}
		home := signIn(t, now)
		h := holder(home, i)
		for range 3 {
			if _, err := h.Tokens(t.Context(), now); !errors.Is(err, codex.ErrLapsed) {
				t.Errorf("%d: %v", status, err)
			}
		}
		if i.asked() != 1 {
			t.Errorf("%d: asked %d times", status, i.asked())
		}
		// The owner signs in anew.
		write(t, home, strings.ReplaceAll(read(t, home), "refresh-0", "refresh-new"))
		i.status, i.good = 0, "refresh-new"
		if _, err := h.Tokens(t.Context(), now); err != nil {
			t.Errorf("after a new sign-in: %v", err)
		}
	}
}

func TestAPassingCauseLapsesNothing(t *testing.T) {
	for name, i := range map[string]*issuer{
		"503": {good: "refresh-0", status: 503}, "403": {good: "refresh-0", status: 403}, "no network": {good: "refresh-0", err: errors.New("no route")},
	} {
		h := holder(signIn(t, now), i)
		_, err := h.Tokens(t.Context(), now)
		if err == nil || errors.Is(err, codex.ErrLapsed) {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := h.Tokens(t.Context(), now.Add(time.Second)); again == nil || again.Error() != err.Error() || i.asked() != 1 {
			t.Errorf("%s: asked %d times within seconds: %v", name, i.asked(), again)
		}
		i.status, i.err = 0, nil
		if _, err := h.Tokens(t.Context(), now.Add(6*time.Second)); err != nil {
			t.Errorf("%s: after it passed: %v", name, err)
		}
	}
}

func TestATokenThatWasTurnedAwayIsRenewedOnce(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	h := holder(signIn(t, now.Add(time.Hour)), i)
	old, err := h.Tokens(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	first, err := h.Refused(t.Context(), old.Access, now)
	if err != nil || first.Access == old.Access {
		t.Fatalf("%v", err)
	}
	second, err := h.Refused(t.Context(), old.Access, now) // another request met the same
	if err != nil || second.Access != first.Access || i.asked() != 1 {
		t.Errorf("asked %d times: %v", i.asked(), err)
	}
}

func TestAFullDiskSpendsNoToken(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now)
	h := holder(home, i)
	h.Full("before")
	if _, err := h.Tokens(t.Context(), now); err == nil || !strings.Contains(err.Error(), "could not be written: no space left") || i.asked() != 0 {
		t.Errorf("asked %d times: %v", i.asked(), err)
	}
	h.Full("")
	if _, err := h.Tokens(t.Context(), now.Add(time.Minute)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestATokenThatCantBeWrittenIsKeptUntilItCan(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	home := signIn(t, now)
	h := holder(home, i)
	h.Full("after")
	before := read(t, home)
	want := access(1, now.Add(time.Hour))
	for range 2 {
		if tok, err := h.Tokens(t.Context(), now); err != nil || tok.Access != want {
			t.Fatalf("%v", err)
		}
	}
	if read(t, home) != before || i.asked() != 1 {
		t.Errorf("asked %d times, and the file holds %s", i.asked(), read(t, home))
	}
	// An hour on that one is stale too, and the one kept is what is renewed.
	if tok, err := h.Tokens(t.Context(), now.Add(time.Hour)); err != nil || tok.Access == want || i.asked() != 2 {
		t.Errorf("asked %d times: %v", i.asked(), err)
	}
	h.Full("")
	if _, err := h.Tokens(t.Context(), now.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if !strings.Contains(read(t, home), "refresh-2") {
		t.Errorf("never written: %s", read(t, home))
	}
}

func TestALinkedSignInStaysLinked(t *testing.T) {
	i := &issuer{good: "refresh-0"}
	real := signIn(t, now)
	home := t.TempDir()
	if err := os.Symlink(filepath.Join(real, "auth.json"), filepath.Join(home, "auth.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := holder(home, i).Tokens(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(home, "auth.json")); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(read(t, real), "refresh-1") {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestWhatASignInCanBe(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"an API key", `{"auth_mode":"apikey","OPENAI_API_KEY":"sk-x","tokens":null}`, codex.ErrKeyOnly},
		{"an old file with a key", `{"OPENAI_API_KEY":"sk-x"}`, codex.ErrKeyOnly},
		{"no tokens", `{"auth_mode":"chatgpt","tokens":null}`, codex.ErrNoSignIn},
		{"an empty token", `{"tokens":{"access_token":""}}`, codex.ErrNoSignIn},
		{"no JSON", `auth`, codex.ErrBroken},
		{"cut", `{"tokens":{"access_token":"a`, codex.ErrBroken},
		{"a list", `[]`, codex.ErrBroken},
		{"tokens that are none", `{"tokens":[1]}`, codex.ErrBroken},
		{"empty", ``, codex.ErrBroken},
		{"two files in one", `{"tokens":{"access_token":"a"}}{"x":1}`, codex.ErrBroken},
		{"deep", `{"x":` + strings.Repeat("[", 20000) + `}`, codex.ErrBroken},
		{"tokens of other types", `{"auth_mode":7,"tokens":{"access_token":["a"],"refresh_token":{}}}`, codex.ErrNoSignIn},
	} {
		home := t.TempDir()
		write(t, home, tt.text)
		if _, err := codex.Load(home); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := codex.Load(t.TempDir()); !errors.Is(err, codex.ErrNoSignIn) {
		t.Errorf("no file: %v", err)
	}
	home := t.TempDir()
	write(t, home, fmt.Sprintf(`{"tokens":{"id_token":%q,"access_token":"a","refresh_token":"r"}}`, id()))
	if tok, err := codex.Load(home); err != nil || tok.Account != "acct-1" {
		t.Errorf("the account stands in the token alone: %+v %v", tok, err)
	}
}

func TestASignInThatCanNotBeReadSaysWhyWithoutItsPath(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "auth.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := codex.Load(home)
	var state provider.SignInError
	if !errors.As(err, &state) || !strings.Contains(err.Error(), "can't be read") || strings.Contains(err.Error(), home) {
		t.Errorf("%v", err)
	}
}

func FuzzSignIn(f *testing.F) {
	f.Add(`{"auth_mode":"chatgpt","tokens":{"access_token":"a.b.c"},"x":[1,{"y":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		home := t.TempDir()
		write(t, home, text)
		_, _ = codex.Load(home)
	})
}

//go:build unix

package codex_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/provider/vendors/codex"
)

// during has something happen while the vendor is asked for a token.
func during(i *issuer, happens func()) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		happens()
		return i.do(req)
	}
}

// signedIn is the file of somebody's sign-in.
func signedIn(account string, n int) string {
	return fmt.Sprintf(`{"tokens":{"access_token":%q,"refresh_token":"refresh-%d","account_id":%q}}`, access(n, now.Add(time.Hour)), n, account)
}

func TestAFileThatIsBeingWrittenIsNoBrokenOne(t *testing.T) {
	for _, part := range []string{"", `{"tokens":{"access_tok`} {
		synctest.Test(t, func(t *testing.T) {
			home := signIn(t, now.Add(time.Hour))
			whole := read(t, home)
			write(t, home, part)
			go func() {
				<-time.After(80 * time.Millisecond)
				_ = os.WriteFile(filepath.Join(home, "auth.json"), []byte(whole), 0o600)
			}()
			if _, err := holder(home, &issuer{}).Tokens(t.Context(), now); err != nil {
				t.Errorf("%q: %v", part, err)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			home := signIn(t, now.Add(time.Hour))
			whole := read(t, home)
			write(t, home, part)
			go func() {
				<-time.After(80 * time.Millisecond)
				_ = os.WriteFile(filepath.Join(home, "auth.json"), []byte(whole), 0o600)
			}()
			if c, err := codex.Open(codex.Options{Home: home}).Look(); err != nil || c.User != "a@b.c" {
				t.Errorf("%q is looked at: %q %v", part, c.User, err)
			}
		})
	}
}

func TestWhoWasQuickerWithATokenIsBelieved(t *testing.T) {
	for _, after := range []time.Duration{0, 120 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			i := &issuer{good: "refresh-9"} // what is in the file is spent already
			home := signIn(t, now)
			h := holder(home, i)
			h.Do = during(i, func() {
				time.AfterFunc(after, func() {
					_ = os.WriteFile(filepath.Join(home, "auth.json"), []byte(signedIn("acct-1", 9)), 0o600)
				})
				synctest.Wait()
			})
			for range 2 {
				if tok, err := h.Tokens(t.Context(), now); err != nil || tok.Access != access(9, now.Add(time.Hour)) {
					t.Errorf("%s later: %v", after, err)
				}
			}
			if i.asked() != 1 {
				t.Errorf("asked %d times", i.asked())
			}
		})
	}
}

func TestWhatIsWrittenWhileATokenIsRenewedStays(t *testing.T) {
	t.Run("another sign-in", func(t *testing.T) {
		i := &issuer{good: "refresh-0"}
		home := signIn(t, now)
		h := holder(home, i)
		h.Do = during(i, func() { write(t, home, signedIn("acct-2", 7)) })
		tok, err := h.Tokens(t.Context(), now)
		if err != nil || tok.Account != "acct-2" || tok.Access != access(7, now.Add(time.Hour)) || read(t, home) != signedIn("acct-2", 7) {
			t.Errorf("%+v %v, and the file holds %s", tok, err, read(t, home))
		}
		onlySignIn(t, home)
	})
	t.Run("another field", func(t *testing.T) {
		i := &issuer{good: "refresh-0"}
		home := signIn(t, now)
		h := holder(home, i)
		h.Do = during(i, func() { write(t, home, strings.Replace(read(t, home), `"later"`, `"later still"`, 1)) })
		if _, err := h.Tokens(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if got := read(t, home); !strings.Contains(got, "refresh-1") || !strings.Contains(got, `"later still"`) {
			t.Errorf("the file holds %s", got)
		}
	})
	t.Run("nobody is signed in any more", func(t *testing.T) {
		i := &issuer{good: "refresh-0"}
		home := signIn(t, now)
		h := holder(home, i)
		h.Do = during(i, func() { _ = os.Remove(filepath.Join(home, "auth.json")) })
		_, _ = h.Tokens(t.Context(), now)
		if _, err := h.Tokens(t.Context(), now); !errors.Is(err, codex.ErrNoSignIn) {
			t.Errorf("%v", err)
		}
	})
}

func TestATokenThatIsStillGoodIsUsedWhereItCanNotBeRenewed(t *testing.T) {
	i := &issuer{good: "refresh-0", status: http.StatusServiceUnavailable}
	h := holder(signIn(t, now.Add(2*time.Minute)), i)
	for _, at := range []time.Time{now, now.Add(119 * time.Second)} {
		if tok, err := h.Tokens(t.Context(), at); err != nil || tok.Access != access(0, now.Add(2*time.Minute)) {
			t.Errorf("at %s: %v", at.Sub(now), err)
		}
	}
	if _, err := h.Tokens(t.Context(), now.Add(2*time.Minute)); err == nil || i.asked() != 2 {
		t.Errorf("at its end: %v, asked %d times", err, i.asked())
	}
}

func TestAClockThatIsAheadSpendsNoTokenWithEachRequest(t *testing.T) {
	i := &issuer{good: "refresh-0", ends: now.Add(-3 * time.Hour)} // an hour from now by the vendor's clock
	h := holder(signIn(t, now.Add(-3*time.Hour)), i)
	for at := now; at.Before(now.Add(4 * time.Minute)); at = at.Add(10 * time.Second) {
		if _, err := h.Tokens(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	if i.asked() != 1 {
		t.Errorf("asked %d times in four minutes", i.asked())
	}
}

func TestASignInWithoutTheTokenOfItsOwnerTellsWhoItIsByTheOther(t *testing.T) {
	home := t.TempDir()
	write(t, home, fmt.Sprintf(`{"tokens":{"access_token":%q,"refresh_token":"r","account_id":null}}`,
		token(`{"https://api.openai.com/profile":{"email":"a@b.c"},"https://api.openai.com/auth":{"chatgpt_plan_type":"team","chatgpt_account_id":"acct-1"}}`)))
	if tok, err := codex.Load(home); err != nil || tok.Account != "acct-1" || tok.User() != "a@b.c · Team" || tok.Plan() != "team" {
		t.Errorf("%+v %q %q %v", tok, tok.User(), tok.Plan(), err)
	}
}

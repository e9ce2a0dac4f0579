package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/config"
	"dev.magpie/provider"
)

const canary = "sk-canary-0123456789"

// vault is where the tests' secrets are, with a count of the times it was asked.
type vault struct {
	env, files map[string]string
	run        func(ctx context.Context, command string) ([]byte, error)
	asked      int
	mu         sync.Mutex
}

func (v *vault) store() *provider.Secrets {
	count := func() {
		v.mu.Lock()
		v.asked++
		v.mu.Unlock()
	}
	return provider.NewSecrets(provider.SecretsOptions{
		Getenv: func(name string) string { count(); return v.env[name] },
		ReadFile: func(path string) ([]byte, error) {
			count()
			if text, ok := v.files[path]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		Run: func(ctx context.Context, command string) ([]byte, error) { count(); return v.run(ctx, command) },
	})
}

func account(name string, s provider.SecretSource) *provider.Account {
	return &provider.Account{ID: provider.AccountID("p/" + name), Provider: "p", Name: name, Kind: provider.KindKey, Secret: s}
}

func TestSecretValue(t *testing.T) {
	v := &vault{
		env:   map[string]string{"SET": canary + "\n", "EMPTY": " ", "HOME": "/home/someone/"},
		files: map[string]string{"/k": "\n" + canary + "\r\nsecond line", "/home/someone/k": canary, "/empty": "\n\n"},
		run: func(_ context.Context, command string) ([]byte, error) {
			switch command {
			case "good":
				return []byte(canary + "\nmore"), nil
			case "silent":
				return nil, nil
			}
			return nil, errors.New("exit status 3")
		},
	}
	tests := []struct {
		name string
		from provider.SecretSource
		want config.Secret
		err  string
	}{
		{"a value", provider.SecretSource{Value: canary}, canary, ""},
		{"a variable", provider.SecretSource{Env: "SET"}, canary, ""},
		{"a variable that is not set", provider.SecretSource{Env: "NOT_SET"}, "", "environment variable NOT_SET is not set (providers.p key main)"},
		{"a variable with blanks alone", provider.SecretSource{Env: "EMPTY"}, "", "environment variable EMPTY is not set"},
		{"a file's first line", provider.SecretSource{File: "/k"}, canary, ""},
		{"a file in the home folder", provider.SecretSource{File: "~/k"}, canary, ""},
		{"a file that is not there", provider.SecretSource{File: "/gone"}, "", "file /gone cannot be read: file does not exist (providers.p key main)"},
		{"an empty file", provider.SecretSource{File: "/empty"}, "", "file /empty is empty"},
		{"a command's first line", provider.SecretSource{Command: "good"}, canary, ""},
		{"a command that says nothing", provider.SecretSource{Command: "silent"}, "", "the command printed nothing (providers.p key main)"},
		{"a command that fails", provider.SecretSource{Command: "echo " + canary}, "", "the command failed: exit status 3 (providers.p key main)"},
		{"none to fetch", provider.SecretSource{}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := v.store()
			a := account("main", tt.from)
			got, err := s.Value(t.Context(), a)
			if got != tt.want {
				t.Errorf("got %q", got.Reveal())
			}
			switch {
			case (err != nil) != (tt.err != ""):
				t.Errorf("error %v, want %q", err, tt.err)
			case err != nil && (!strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), canary)):
				t.Errorf("error %q, want %q", err, tt.err)
			}
			if why := s.Unready(a); (why != "") != (err != nil) {
				t.Errorf("unready %q after %v", why, err)
			}
		})
	}
}

func TestAnUnreadyAccountHasNoSecret(t *testing.T) {
	s := (&vault{}).store()
	a := &provider.Account{Unready: "provider x has no key"}
	if got, err := s.Value(t.Context(), a); got != "" || err == nil || err.Error() != a.Unready || s.Unready(a) != a.Unready {
		t.Errorf("%q %v", got, err)
	}
}

func TestSecretsAreKeptAndForgotten(t *testing.T) {
	v := &vault{env: map[string]string{"E": "e1"}, files: map[string]string{"/f": "f1"}}
	n := 0
	v.run = func(context.Context, string) ([]byte, error) { n++; return fmt.Appendf(nil, "c%d", n), nil }
	s := v.store()
	ask := func(a *provider.Account) string {
		t.Helper()
		got, err := s.Value(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return got.Reveal()
	}
	env, file, command := account("e", provider.SecretSource{Env: "E"}), account("f", provider.SecretSource{File: "/f"}), account("c", provider.SecretSource{Command: "c"})
	for range 3 {
		if got := ask(env) + ask(file) + ask(command); got != "e1f1c1" {
			t.Fatal(got)
		}
	}
	if v.asked != 3 {
		t.Errorf("asked %d times, want once each", v.asked)
	}
	v.env["E"], v.files["/f"] = "e2", "f2"
	for _, a := range []*provider.Account{env, file, command} {
		s.Forget(a.ID)
	}
	if got := ask(env) + ask(file) + ask(command); got != "e1f2c2" {
		t.Errorf("after a refusal: %s; a variable stays, a file and a command are asked again", got)
	}
	moved := account("f", provider.SecretSource{Command: "other"})
	if got := ask(moved); got != "c3" {
		t.Errorf("a changed config still gives the old source's key: %s", got)
	}
	s.Forget("p/nobody")
}

func TestAFailureIsNotAskedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		v := &vault{run: func(context.Context, string) ([]byte, error) {
			if n++; n < 3 {
				return nil, errors.New("exit status 1")
			}
			return []byte("k"), nil
		}}
		s := v.store()
		a := account("c", provider.SecretSource{Command: "c"})
		for range 5 {
			if _, err := s.Value(t.Context(), a); err == nil {
				t.Fatal("no error")
			}
		}
		if n != 1 {
			t.Errorf("asked %d times within a moment", n)
		}
		<-time.After(31 * time.Second)
		_, err := s.Value(t.Context(), a)
		if err == nil || n != 2 {
			t.Errorf("asked %d times after half a minute: %v", n, err)
		}
		s.Forget(a.ID)
		if got, err := s.Value(t.Context(), a); err != nil || got != "k" || s.Unready(a) != "" {
			t.Errorf("after it was forgotten: %v", err)
		}
	})
}

func TestOneFetchForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		v := &vault{run: func(context.Context, string) ([]byte, error) {
			n++
			<-time.After(3 * time.Second)
			return []byte("k"), nil
		}}
		s := v.store()
		a := account("c", provider.SecretSource{Command: "c"})
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if got, err := s.Value(t.Context(), a); got != "k" || err != nil {
					t.Errorf("%v %v", got, err)
				}
			})
		}
		wg.Wait()
		if n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestAFetchWhoseAskerLeavesIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		v := &vault{run: func(ctx context.Context, _ string) ([]byte, error) {
			n++
			select {
			case <-time.After(5 * time.Second):
				return []byte("k"), nil
			case <-ctx.Done():
				return nil, errors.New("killed")
			}
		}}
		s := v.store()
		a := account("c", provider.SecretSource{Command: "c"})
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Value(first, a); !errors.Is(err, context.Canceled) {
				t.Errorf("the one who left got %v", err)
			}
		})
		synctest.Wait()
		gone, leaveToo := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := s.Value(gone, a); !errors.Is(err, context.Canceled) {
				t.Errorf("one who left while waiting got %v", err)
			}
		})
		synctest.Wait()
		leaveToo()
		wg.Go(func() {
			if got, err := s.Value(t.Context(), a); got != "k" || err != nil {
				t.Errorf("the next got %v, %v", got, err)
			}
		})
		synctest.Wait()
		s.Forget(a.ID) // under way: nothing to forget
		leave()
		wg.Wait()
		if n != 2 {
			t.Errorf("%d fetches", n)
		}
	})
}

func TestACommandHasTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vault{run: func(ctx context.Context, _ string) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }}
		s := v.store()
		began := time.Now()
		_, err := s.Value(t.Context(), account("c", provider.SecretSource{Command: "c"}))
		if err == nil || !strings.Contains(err.Error(), "did not end within 10s") || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// The machine's own ways, with a real shell.
func TestTheMachinesOwnSecrets(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("MAGPIE_TEST_SECRET", canary)
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := provider.NewSecrets(provider.SecretsOptions{})
	for i, from := range []provider.SecretSource{
		{Env: "MAGPIE_TEST_SECRET"},
		{File: "~/key"},
		{File: filepath.Join(dir, "key")},
		{Command: `printf '%s\nsecond\n' "$MAGPIE_TEST_SECRET"`},
		{Command: `yes x | head -c 1000000 | tr -d '\n' >/dev/null; cat "$HOME/key"`},
	} {
		if got, err := s.Value(t.Context(), account(fmt.Sprint(i), from)); got != canary || err != nil {
			t.Errorf("%+v: %v", from, err)
		}
	}
	_, err := s.Value(t.Context(), account("x", provider.SecretSource{Command: "echo " + canary + "; echo " + canary + " >&2; exit 4"}))
	if err == nil || err.Error() != "the command failed: exit status 4 (providers.p key x)" {
		t.Errorf("%v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Value(gone, account("y", provider.SecretSource{Command: "sleep 60 & sleep 60"})); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestFingerprint(t *testing.T) {
	a, b := provider.Fingerprint(canary), provider.Fingerprint(canary+"x")
	if len(a) != 12 || a == b || a != provider.Fingerprint(canary) || strings.Contains(canary, a) || provider.Fingerprint("") != "" {
		t.Errorf("%q %q", a, b)
	}
}

// No way of printing a catalogue or a store shows a key.
func TestSecretsDoNotPrint(t *testing.T) {
	c := build(t, "[providers.anthropic]\nkeys = [{ name = \"k\", value = \""+canary+"\" }, { env = \"E\" }]\n")
	s := (&vault{env: map[string]string{"E": canary}}).store()
	for _, a := range c.AllAccounts() {
		if got, err := s.Value(t.Context(), a); err != nil || got.Reveal() != canary {
			t.Fatal(err)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, *a); strings.Contains(text, canary) {
				t.Errorf("%s shows the key: %s", verb, text)
			}
		}
	}
}

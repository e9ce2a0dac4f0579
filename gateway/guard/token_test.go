package guard

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dev.magpie/config"
)

func TestTheControlTokenIsMadeOnceAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.token")
	first, err := ControlToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Reveal()) != 64 || strings.Trim(first.Reveal(), "0123456789abcdef") != "" {
		t.Errorf("the token is %d characters", len(first.Reveal()))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	second, err := ControlToken(path)
	if err != nil || second != first {
		t.Errorf("the second time it is another: %v", err)
	}
	if other, _ := ControlToken(filepath.Join(t.TempDir(), "control.token")); other == first {
		t.Error("two tokens are the same")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".control-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestProcessesThatStartAtOnceShareOneToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.token")
	var wait sync.WaitGroup
	tokens := make([]config.Secret, 16)
	for i := range tokens {
		wait.Go(func() {
			token, err := ControlToken(path)
			if err != nil {
				t.Error(err)
			}
			tokens[i] = token
		})
	}
	wait.Wait()
	for _, token := range tokens {
		if token != tokens[0] || token == "" {
			t.Fatal("they have different ones")
		}
	}
}

func TestAFileThatHoldsNoTokenIsToldAndStays(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "half": "abcdef", "something else": strings.Repeat("x", 64), "too long": strings.Repeat("a", 66)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "control.token")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			token, err := ControlToken(path)
			if err == nil || token != "" || !strings.Contains(err.Error(), path) {
				t.Errorf("got %q, %v", token, err)
			}
			if len(text) > 0 && strings.Contains(err.Error(), text) {
				t.Error("the error repeats what the file holds")
			}
			if data, _ := os.ReadFile(path); string(data) != text {
				t.Error("the file was written over")
			}
		})
	}
	if _, err := ControlToken(filepath.Join(t.TempDir(), "none", "control.token")); err == nil {
		t.Error("a folder that is missing gives no error")
	}
}

func TestATokenThatOthersCanReadIsTakenFromThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.token")
	if err := os.WriteFile(path, []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ControlToken(path); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
}

func TestChangingNeedsTheTokenAndNoPage(t *testing.T) {
	const token = config.Secret("0123456789abcdef")
	for _, test := range []struct {
		name    string
		token   config.Secret
		headers []string
		want    bool
	}{
		{"the token", token, []string{"Authorization: Bearer 0123456789abcdef"}, true},
		{"the token, with blanks", token, []string{"Authorization: bearer  0123456789abcdef "}, true},
		{"none", token, nil, false},
		{"an empty one", token, []string{"Authorization: Bearer "}, false},
		{"a wrong one", token, []string{"Authorization: Bearer 0123456789abcdeF"}, false},
		{"the beginning of it", token, []string{"Authorization: Bearer 0123456789abcde"}, false},
		{"more than it", token, []string{"Authorization: Bearer 0123456789abcdef0"}, false},
		{"in another place", token, []string{"x-api-key: 0123456789abcdef"}, false},
		{"without Bearer", token, []string{"Authorization: 0123456789abcdef"}, false},
		{"the token from a page", token, []string{"Authorization: Bearer 0123456789abcdef", "Origin: http://localhost"}, false},
		{"the token from a nameless page", token, []string{"Authorization: Bearer 0123456789abcdef", "Origin: null"}, false},
		{"no token to compare with", "", []string{"Authorization: Bearer "}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := TokenOK(request("POST", here, own, test.headers...), test.token); got != test.want {
				t.Errorf("%v; want %v", got, test.want)
			}
		})
	}
}

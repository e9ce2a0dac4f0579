package copilot_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/copilot"
)

var now = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// homes makes folders of files: "apps.json" by its text.
func homes(t *testing.T, each ...map[string]string) []string {
	t.Helper()
	var all []string
	for _, files := range each {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, dir)
	}
	return all
}

// asked opens an account and notes what it asks; it is answered with a status.
func asked(status int, homes []string) (*copilot.Account, *[]*http.Request) {
	var all []*http.Request
	return copilot.Open(copilot.Options{Homes: homes, Agent: "magpie/test", Do: func(req *http.Request) (*http.Response, error) {
		all = append(all, req)
		if status == 0 {
			return nil, errors.New("it can't be reached")
		}
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(`{"copilot_plan":"pro","quota_snapshots":{}}`))}, nil
	}}), &all
}

const cli = `// User settings belong in settings.json.
{
  /* "copilotTokens": {"https://github.com:ghost": "gho_ghost"} */
  "lastLoggedInUser": {"host": "https://github.com", "login": "cat"}, // the last
  "loggedInUsers": [{"host": "https://github.com", "login": "cat"}, {"host": "https://github.com", "login": "dog",},],
  "copilotTokens": {"https://github.com:dog": "gho_dog", "https://github.com:cat": "gho_cat", "note": "a // b /* c */ ,}",},
}`

func TestWhoseSignInIsTaken(t *testing.T) {
	none := map[string]string{}
	for name, c := range map[string]struct {
		homes          []map[string]string
		user, token    string
		address, error string
	}{
		"an editor's":           {[]map[string]string{{"apps.json": `{"github.com:Iv1.b":{"user":"octo","oauth_token":"ghu_1","githubAppId":"Iv1.b"}}`}}, "octo", "ghu_1", "https://api.github.com", ""},
		"an older editor's":     {[]map[string]string{{"hosts.json": `{"github.com":{"user":"octo","oauth_token":"ghu_2"}}`}}, "octo", "ghu_2", "https://api.github.com", ""},
		"the newer file first":  {[]map[string]string{{"hosts.json": `{"github.com":{"oauth_token":"old"}}`, "apps.json": `{"github.com":{"oauth_token":"new"}}`}}, "", "new", "https://api.github.com", ""},
		"a company's":           {[]map[string]string{{"apps.json": `{"octo-corp.ghe.com:Iv1.b":{"user":"octo","oauth_token":"ghu_3"}}`}}, "octo", "ghu_3", "https://api.octo-corp.ghe.com", ""},
		"everybody's first":     {[]map[string]string{{"apps.json": `{"a.ghe.com":{"user":"a","oauth_token":"1"},"github.com:z":{"user":"z","oauth_token":"2"},"github.com:b":{"user":"b","oauth_token":"3"}}`}}, "b", "3", "https://api.github.com", ""},
		"the program's":         {[]map[string]string{none, {"config.json": cli}}, "cat", "gho_cat", "https://api.github.com", ""},
		"an editor's before it": {[]map[string]string{{"apps.json": `{"github.com":{"user":"octo","oauth_token":"ghu_4"}}`}, {"config.json": cli}}, "octo", "ghu_4", "https://api.github.com", ""},
		"an editor's is empty":  {[]map[string]string{{"apps.json": `{}`}, {"config.json": cli}}, "cat", "gho_cat", "https://api.github.com", ""},
		"an editor's is broken": {[]map[string]string{{"apps.json": `{`}, {"config.json": cli}}, "", "", "", "apps.json can't be read"},
		"another of its users":  {[]map[string]string{{"config.json": strings.Replace(cli, `"https://github.com:cat"`, `"https://github.com:bird"`, 1)}}, "dog", "gho_dog", "https://api.github.com", ""},
		"nobody":                {[]map[string]string{none, none}, "", "", "", string(copilot.ErrNoSignIn)},
		"in the keychain":       {[]map[string]string{none, {"config.json": `{"lastLoggedInUser":{"host":"https://github.com","login":"cat"}}`}}, "", "", "", string(copilot.ErrKeychain)},
		"an unknown host":       {[]map[string]string{{"apps.json": `{"github.com.evil.example":{"oauth_token":"1"},"github.com@evil.ghe.com":{"oauth_token":"1"},"a.b.ghe.com":{"oauth_token":"1"},".ghe.com":{"oauth_token":"1"},"evil.example/github.com":{"oauth_token":"1"}}`}}, "", "", "", string(copilot.ErrNoSignIn)},
	} {
		t.Run(name, func(t *testing.T) {
			a, sent := asked(http.StatusOK, homes(t, c.homes...))
			got, err := a.Look()
			var state provider.SignInError
			if c.error != "" {
				if !errors.As(err, &state) || !strings.Contains(err.Error(), c.error) {
					t.Errorf("%v", err)
				}
				if _, err := a.Read(t.Context(), now); err == nil || len(*sent) != 0 {
					t.Errorf("%v, sent %d", err, len(*sent))
				}
				return
			}
			if err != nil || got.User != c.user || got.Access.Reveal() != c.token {
				t.Fatalf("%v %+v", err, got)
			}
			if r, err := a.Read(t.Context(), now); err != nil || r.Plan != "pro" || len(*sent) != 1 {
				t.Fatalf("%v %+v", err, r)
			}
			req := (*sent)[0]
			if req.URL.String() != c.address+"/copilot_internal/user" || req.Method != http.MethodGet || req.Header.Get("Authorization") != "token "+c.token || req.Header.Get("User-Agent") != "magpie/test" || len(req.Header) != 3 {
				t.Errorf("%s %s %v", req.Method, req.URL, req.Header)
			}
		})
	}
}

func TestASignInStaysTheSameWhenItsTokenIsRenewed(t *testing.T) {
	dirs := homes(t, map[string]string{"apps.json": `{"github.com":{"user":"octo","oauth_token":"1"}}`})
	a, _ := asked(http.StatusOK, dirs)
	prints := map[string]bool{}
	for _, text := range []string{`{"github.com":{"user":"octo","oauth_token":"1"}}`, `{"github.com":{"user":"octo","oauth_token":"2"}}`} {
		if err := os.WriteFile(filepath.Join(dirs[0], "apps.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := a.Look()
		if err != nil {
			t.Fatal(err)
		}
		prints[c.Print()] = true
	}
	if len(prints) != 1 {
		t.Errorf("%v", prints)
	}
}

func TestATokenThatWasTurnedAwayIsNotSentAgain(t *testing.T) {
	dirs := homes(t, map[string]string{"apps.json": `{"github.com":{"user":"octo","oauth_token":"1"}}`})
	a, sent := asked(http.StatusUnauthorized, dirs)
	for range 3 {
		if _, err := a.Read(t.Context(), now); !errors.Is(err, copilot.ErrLapsed) {
			t.Error(err)
		}
	}
	if _, err := a.Look(); !errors.Is(err, copilot.ErrLapsed) || len(*sent) != 1 {
		t.Errorf("%v, sent %d times", err, len(*sent))
	}
	if err := os.WriteFile(filepath.Join(dirs[0], "apps.json"), []byte(`{"github.com":{"user":"octo","oauth_token":"2"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Look(); err != nil {
		t.Error(err)
	}
}

func TestWhatPassesIsNoStateOfASignIn(t *testing.T) {
	for _, status := range []int{0, 403, 404, 429, 500, 302} {
		a, _ := asked(status, homes(t, map[string]string{"apps.json": `{"github.com":{"user":"octo","oauth_token":"1"}}`}))
		_, err := a.Read(t.Context(), now)
		var state provider.SignInError
		if err == nil || errors.As(err, &state) {
			t.Errorf("%d: %v", status, err)
		}
		if _, err := a.Look(); err != nil {
			t.Errorf("%d: %v", status, err)
		}
	}
}

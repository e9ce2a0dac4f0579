package provider_test

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/provider"
)

func TestDetect(t *testing.T) {
	env := map[string]string{
		"ANTHROPIC_API_KEY": "k", "MOONSHOT_API_KEY": "k", "OPENCODE_API_KEY": "k", "DASHSCOPE_API_KEY": "k",
		"AZURE_OPENAI_API_KEY": "k", "OPENAI_API_KEY": "", "AWS_BEARER_TOKEN_BEDROCK": "k",
	}
	var mu sync.Mutex
	probed := map[string]bool{}
	cfg, found := provider.Detect(t.Context(), provider.DetectOptions{
		Getenv: func(name string) string { return env[name] },
		Home:   "/Users/someone",
		Stat: func(path string) (fs.FileInfo, error) {
			if path == "/Users/someone/.codex/auth.json" {
				return nil, nil
			}
			return nil, fs.ErrNotExist
		},
		Probe: func(_ context.Context, url string) bool {
			mu.Lock()
			defer mu.Unlock()
			probed[url] = true
			return url == "http://localhost:11434/v1/models"
		},
	})
	var ids []string
	for _, p := range cfg.Providers {
		ids = append(ids, p.ID)
	}
	want := []string{"anthropic", "moonshot", "qwen", "bedrock", "opencode-go", "ollama", "codex"}
	if d := cmp.Diff(want, ids); d != "" {
		t.Error(d)
	}
	wantProbed := map[string]bool{"http://localhost:11434/v1/models": true, "http://localhost:1234/v1/models": true, "http://127.0.0.1:8080/v1/models": true}
	if d := cmp.Diff(wantProbed, probed); d != "" {
		t.Error(d)
	}
	text := strings.Join(found, "\n")
	for _, w := range []string{"a key for Anthropic in ANTHROPIC_API_KEY", "a key for Kimi in MOONSHOT_API_KEY", "Ollama answering at http://localhost:11434/v1", "a Codex sign-in in ~/.codex"} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not told:\n%s", w, text)
		}
	}
	if len(found) != 7 {
		t.Errorf("%d things found:\n%s", len(found), text)
	}
	c, problems := provider.Build(cfg)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, a := range c.AllAccounts() {
		if a.Unready != "" {
			t.Errorf("%s is unready: %s", a.ID, a.Unready)
		}
	}
	if cfg.Listen == "" || cfg.Routing == "" {
		t.Error("the config lacks its defaults")
	}
}

func TestAKeyThatAnAgentIsGivenForMagpieIsNoVendorsKey(t *testing.T) {
	env := map[string]string{"GEMINI_API_KEY": "magpie-gemini", "OPENAI_API_KEY": "magpie", "ANTHROPIC_API_KEY": "k"}
	cfg, found := provider.Detect(t.Context(), provider.DetectOptions{Getenv: func(name string) string { return env[name] }})
	if len(cfg.Providers) != 1 || cfg.Providers[0].ID != "anthropic" || len(found) != 1 {
		t.Errorf("found %q", found)
	}
}

func TestDetectNothing(t *testing.T) {
	cfg, found := provider.Detect(t.Context(), provider.DetectOptions{})
	if len(cfg.Providers) != 0 || len(found) != 0 {
		t.Errorf("%v %v", cfg.Providers, found)
	}
	_, found = provider.Detect(t.Context(), provider.DetectOptions{
		Getenv: func(string) string { return "" }, Home: "/h", Stat: func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist },
		Probe: func(context.Context, string) bool { return false },
	})
	if len(found) != 0 {
		t.Error(found)
	}
}

func TestDetectFindsAMovedCodex(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/auth.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, found := provider.Detect(t.Context(), provider.DetectOptions{
		Getenv: func(name string) string { return map[string]string{"CODEX_HOME": dir}[name] }, Home: "/elsewhere", Stat: os.Stat,
	})
	if len(found) != 1 || !strings.Contains(found[0], dir) {
		t.Error(found)
	}
}

func TestDetectWaitsAThirdOfASecondInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, found := provider.Detect(t.Context(), provider.DetectOptions{Probe: func(ctx context.Context, _ string) bool {
			<-ctx.Done()
			return false
		}})
		if took := time.Since(began); took != 300*time.Millisecond || len(found) != 0 {
			t.Errorf("%s, %v", took, found)
		}
	})
}

func TestProbe(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[{"id":"qwen3:8b"}]}`)) })
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"data":[]}`))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	probe := provider.ProbeWith(server.Client())
	for path, want := range map[string]bool{"/v1/models": true, "/page": false, "/refuses": false, "/gone": false} {
		if got := probe(t.Context(), server.URL+path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	gone := httptest.NewServer(mux)
	gone.Close()
	if probe(t.Context(), gone.URL+"/v1/models") || probe(t.Context(), "::") {
		t.Error("nobody answers")
	}
}

func TestDetectFindsAClaudeSignIn(t *testing.T) {
	const notes = `{"numStartups":3,"oauthAccount":{"emailAddress":"me@example.com"}}`
	for name, c := range map[string]struct {
		env     map[string]string
		files   map[string]string
		program bool
		home    string // of the account
		says    string // "" = it is not found
	}{
		"by its file":             {nil, map[string]string{"/Users/me/.claude/.credentials.json": ""}, true, "", "a Claude Code sign-in in ~/.claude, by its program"},
		"in a key store":          {nil, map[string]string{"/Users/me/.claude.json": notes}, true, "", "a Claude Code sign-in in ~/.claude, by its program"},
		"moved":                   {map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude"}, map[string]string{"/srv/claude/.credentials.json": ""}, true, "/srv/claude", "a Claude Code sign-in in /srv/claude, by its program"},
		"moved, in a key store":   {map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude"}, map[string]string{"/srv/claude/.claude.json": notes}, true, "/srv/claude", "a Claude Code sign-in in /srv/claude, by its program"},
		"moved away":              {map[string]string{"CLAUDE_CONFIG_DIR": "/srv/claude"}, map[string]string{"/Users/me/.claude/.credentials.json": ""}, true, "", ""},
		"no program":              {nil, map[string]string{"/Users/me/.claude/.credentials.json": ""}, false, "", ""},
		"used, and signed out":    {nil, map[string]string{"/Users/me/.claude.json": `{"numStartups":3}`}, true, "", ""},
		"notes that are cut off":  {nil, map[string]string{"/Users/me/.claude.json": notes[:20]}, true, "", ""},
		"nothing but the program": {nil, nil, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(path string) ([]byte, error) {
				if strings.HasSuffix(path, ".credentials.json") {
					t.Error("a token is read")
				}
				text, ok := c.files[path]
				if !ok {
					return nil, fs.ErrNotExist
				}
				return []byte(text), nil
			}
			cfg, found := provider.Detect(t.Context(), provider.DetectOptions{
				Getenv: func(name string) string { return c.env[name] }, Home: "/Users/me", Read: read, Claude: func() bool { return c.program },
				Stat: func(path string) (fs.FileInfo, error) {
					if _, ok := c.files[path]; !ok {
						return nil, fs.ErrNotExist
					}
					return nil, nil
				},
			})
			if c.says == "" {
				if len(found) != 0 || len(cfg.Providers) != 0 {
					t.Errorf("found %q", found)
				}
				return
			}
			if len(found) != 1 || found[0] != c.says || len(cfg.Providers) != 1 {
				t.Fatalf("found %q", found)
			}
			if p := cfg.Providers[0]; p.ID != "claude" || len(p.Accounts) != 1 || p.Accounts[0].Home != c.home {
				t.Errorf("%+v", p)
			}
			cat, problems := provider.Build(cfg)
			if len(problems) > 0 || cat.Account("claude/me") == nil || cat.Account("claude/me").Unready != "" {
				t.Errorf("%v", problems)
			}
		})
	}
}

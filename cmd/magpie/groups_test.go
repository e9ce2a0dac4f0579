package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/trace"
)

const written = `# mine
[providers.glm] # the plan
preset = "zhipu"
keys = [{ name = "plan", env = "ZHIPU_API_KEY" }]

[providers.ollama]

# what is cheap
[groups.cheap]
members = ["glm/glm-5.3", "ollama/qwen3"] # both
`

// config reads the home's config.
func (s *shell) config() string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.home, "config.toml"))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func TestCommandsChangeTheConfigAndNothingElseInIt(t *testing.T) {
	for _, tt := range []struct{ args, old, new, said string }{
		{"group set cheap --routing order", "# both\n", "# both\nrouting = \"order\"\n", "changed group cheap"},
		{"group set group/cheap --members glm/glm-5.3", `["glm/glm-5.3", "ollama/qwen3"]`, `["glm/glm-5.3"]`, "changed group cheap"},
		{"group set fast --members glm/x,ollama/y:high --first-token 20s --context 1000 --off", "# both\n", "# both\n\n[groups.fast]\nmembers = [\"glm/x\", \"ollama/y:high\"]\ncontext = 1000\nfirst_token = \"20s\"\noff = true\n", "made group fast"},
		{"group rm cheap --yes", "[groups.cheap]\nmembers = [\"glm/glm-5.3\", \"ollama/qwen3\"] # both\n", "", "took group cheap out"},
		{"provider off glm", "\"ZHIPU_API_KEY\" }]\n", "\"ZHIPU_API_KEY\" }]\noff = true\n", "switched provider glm off"},
		{"provider on glm", "", "", "so already"},
		{"provider set glm --region coding --routing usage --max-rpm 20", "\"ZHIPU_API_KEY\" }]\n", "\"ZHIPU_API_KEY\" }]\nregion = \"coding\"\nrouting = \"usage\"\nmax_rpm = 20\n", "changed provider glm"},
		{"provider set glm --unset keys", "", "", "--unset knows no key"},
		{"provider set glm --unset preset,off --preset zhipu", "", "", "so already"},
		{"provider add anthropic --key-env A", "# both\n", "# both\n\n[providers.anthropic]\nkeys = [{ name = \"main\", env = \"A\" }]\n", "added provider anthropic"},
		{"provider add relay --chat https://relay.example/v1 --models a,b --key-command pass", "# both\n", "# both\n\n[providers.relay]\nchat = \"https://relay.example/v1\"\nmodels = [\"a\", \"b\"]\nkeys = [{ name = \"main\", command = \"pass\" }]\n", "added provider relay"},
		{"provider add deepseek", "# both\n", "# both\n\n[providers.deepseek]\nkeys = [{ name = \"main\", env = \"DEEPSEEK_API_KEY\" }]\n", "added provider deepseek"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			s := newShell(t)
			s.env["DEEPSEEK_API_KEY"] = "x"
			s.write("config.toml", written)
			code, out, errs := s.run(strings.Fields(tt.args)...)
			want := written
			if tt.old != "" {
				want = strings.Replace(written, tt.old, tt.new, 1)
			}
			if d := cmp.Diff(want, s.config()); d != "" {
				t.Errorf("%d %s %s: %s", code, out, errs, d)
			}
			if !strings.Contains(out+errs, tt.said) {
				t.Errorf("%d: %q %q lack %q", code, out, errs, tt.said)
			}
			if tt.old != "" && (code != exitOK || !strings.Contains(out, "+ ") && !strings.Contains(out, "- ")) {
				t.Errorf("%d %s %s", code, out, errs)
			}
		})
	}
}

func TestAChangeThatWouldNotBeGoodIsNotMade(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		said string
	}{
		{"group set cheap --routing fastest", exitUsage, `does not take "fastest"`},
		{"group set cheap --members glm/x,nobody/y", exitUsage, `names the provider "nobody"`},
		{"group set cheap --members group/cheap", exitUsage, "cannot stand in itself"},
		{"group set cheap", exitUsage, "name what to change"},
		{"group set new --routing order", exitUsage, "--members"},
		{"group set cheap --context many", exitUsage, "takes a number"},
		{"group rm cheap", exitUsage, "--yes"},
		{"group rm none", exitFailed, "no group"},
		{"provider rm glm --yes", exitUsage, `names the provider "glm"`},
		{"provider rm glm", exitUsage, "glm"},
		{"provider set gml --routing order", exitFailed, `did you mean "glm"?`},
		{"provider add glm", exitFailed, "is in the config already"},
		{"provider add new", exitUsage, "no address"},
		{"provider add An_ID --chat https://x.example/v1", exitUsage, "bad id"},
		{"provider add x --chat nowhere", exitUsage, "not a usable URL"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			s := newShell(t)
			s.write("config.toml", written)
			code, out, errs := s.run(strings.Fields(tt.args)...)
			if code != tt.code || !strings.Contains(out+errs, tt.said) || s.config() != written {
				t.Errorf("%d %s %s, want %d %s", code, out, errs, tt.code, tt.said)
			}
		})
	}
}

func TestWhatCanNotBeUndoneIsAskedFirst(t *testing.T) {
	for answer, code := range map[string]int{"y\n": exitOK, "yes\n": exitOK, "\n": exitFailed, "n\n": exitFailed, "": exitFailed} {
		s := newShell(t)
		s.write("config.toml", written)
		s.tty = func() bool { return true }
		s.in = strings.NewReader(answer)
		got, _, errs := s.run("group", "rm", "cheap")
		if got != code || (s.config() == written) != (code == exitFailed) || !strings.Contains(errs, "take group cheap out of the config? [y/N]") || !strings.Contains(errs, "-    9  [groups.cheap]") {
			t.Errorf("%q: %d %s", answer, got, errs)
		}
	}
}

func TestAProviderThatIsAddedWithoutItsKeySaysSo(t *testing.T) {
	for args, says := range map[string]string{
		"provider add anthropic":                              "anthropic would not be ready: provider anthropic has no key",
		"provider add openai --key-env NOPE":                  "openai/main would not be ready: environment variable NOPE is not set",
		"provider add openai --key-env NOPE --json":           "environment variable NOPE is not set",
		"provider add openai --key-env THERE":                 "",
		"provider add ollama":                                 "",
		"provider add openai --key-command pass":              "",
		"provider add relay --chat http://r.example/v1 --off": "",
	} {
		s := newShell(t)
		s.env["THERE"] = "sk-there-000000000001"
		s.write("config.toml", "[providers.deepseek]\nkeys = [{ env = \"ELSEWHERE\" }]\n") // of another, nothing is said
		code, out, errs := s.run(strings.Fields(args)...)
		if code != exitOK || !strings.Contains(out, "added provider") || !strings.Contains(oneLine(errs), says) || says == "" && errs != "" || strings.Contains(errs, "ELSEWHERE") {
			t.Errorf("%s: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}

func TestAFileIsMadeWhereThereIsNone(t *testing.T) {
	s := newShell(t)
	if code, out, errs := s.run("provider", "add", "ollama", "--json"); code != exitOK || !json.Valid([]byte(out)) {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	if got := s.config(); got != "[providers.ollama]\n" {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(filepath.Join(s.home, "config.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// grouping is a gateway with groups of every kind.
func grouping(t *testing.T) *canned {
	t.Helper()
	status := trace.Status{Groups: []trace.Group{
		{ID: "always-on", Routing: "order", Members: []string{"anthropic/claude-sonnet-5:high", "codex@team/gpt-5.4", "group/cheap"}, Ready: 2, Of: 5, Next: "anthropic/work-max"},
		{ID: "cheap", Routing: "manual", Members: []string{"glm/glm-5.3", "ollama/qwen3"}, Pick: "ollama/qwen3", Ready: 1, Of: 2, Next: "ollama", Place: 1},
		{ID: "dark", Routing: "smart", Members: []string{"glm/glm-5.3"}, Off: true, Place: 2},
		{ID: "auto-gpt-5-4", Routing: "smart", Auto: true, Members: []string{"codex/gpt-5.4", "openrouter/openai/gpt-5.4"}, Ready: 3, Of: 3, Next: "codex/me", Place: 3},
		{ID: "auto-glm-5-3", Routing: "smart", Auto: true, Off: true, Members: []string{"glm/glm-5.3", "openrouter/z/glm-5.3"}, Place: 4},
	}}
	route := trace.Route{Asked: "group/cheap", Resolved: trace.Resolved{Group: "cheap"}, Routing: "manual", Order: []trace.Candidate{{ID: "ollama", Model: "qwen3", Reason: "picked"}}, Left: []trace.Candidate{{ID: "glm/plan", Model: "glm-5.3", Reason: "not picked"}}}
	return newCanned(t, map[string]any{
		"GET /v1/magpie/status": status, "POST /v1/magpie/explain": route,
		"POST /v1/magpie/do": map[string]any{"done": "did it", "undo": true, "state": []any{}, "at": noon},
	})
}

func TestGroupsAreListedAndShown(t *testing.T) {
	c := grouping(t)
	s := newShell(t)
	s.env["MAGPIE_ADDR"] = c.addr()
	for name, args := range map[string][]string{"groups": {"groups"}, "group-show": {"group", "show", "group/cheap"}} {
		code, out, errs := s.run(args...)
		if code != exitOK || errs != "" {
			t.Fatalf("%d %s", code, errs)
		}
		golden(t, name, out)
		code, out, _ = s.run(append(args, "--json")...)
		if code != exitOK || !json.Valid([]byte(out)) {
			t.Errorf("%d %s", code, out)
		}
	}
	if code, _, errs := s.run("group", "show", "chep"); code != exitFailed || !strings.Contains(errs, `did you mean "cheap"?`) {
		t.Errorf("%d %s", code, errs)
	}
}

func TestChoicesGoToTheGateway(t *testing.T) {
	c := grouping(t)
	for args, want := range map[string]string{
		"order codex team me":            `{"verb":"order","who":"codex","args":{"order":["team","me"]}}`,
		"order group/cheap ollama/qwen3": `{"verb":"order","who":"group/cheap","args":{"order":["ollama/qwen3"]}}`,
		"order codex --reset":            `{"verb":"order","who":"codex","args":{}}`,
		"group pick cheap ollama/qwen3":  `{"verb":"pick","who":"group/cheap","args":{"member":"ollama/qwen3"}}`,
		"group pick group/cheap":         `{"verb":"pick","who":"group/cheap"}`,
		"group rm auto-gpt-5-4":          `{"verb":"hide","who":"auto-gpt-5-4"}`,
		"group restore auto-glm-5-3":     `{"verb":"show","who":"auto-glm-5-3"}`,
	} {
		s := newShell(t)
		s.env["MAGPIE_ADDR"] = c.addr()
		code, out, errs := s.run(strings.Fields(args)...)
		if code != exitOK || out != "did it\n" || !strings.HasSuffix(c.last(), want) {
			t.Errorf("%s: %d %s %s; asked %s, want %s", args, code, out, errs, c.last(), want)
		}
	}
	s := newShell(t)
	s.env["MAGPIE_ADDR"] = c.addr()
	if code, _, _ := s.run("order", "codex"); code != exitUsage {
		t.Errorf("an order of nobody: %d", code)
	}
	s.env["MAGPIE_ADDR"] = nowhere
	if code, _, _ := s.run("order", "codex", "me"); code != exitNoGateway {
		t.Errorf("without a gateway: %d", code)
	}
}

func TestAFoundGroupBecomesTheConfigsOwn(t *testing.T) {
	c := grouping(t)
	s := newShell(t)
	s.env["MAGPIE_ADDR"] = c.addr()
	s.write("config.toml", "[providers.codex]\nchat = \"https://c.example/v1\"\n[providers.openrouter]\n")
	code, out, errs := s.run("group", "set", "auto-gpt-5-4", "--routing", "order")
	if code != exitOK || !strings.HasSuffix(s.config(), "\n[groups.auto-gpt-5-4]\nmembers = [\"codex/gpt-5.4\", \"openrouter/openai/gpt-5.4\"]\nrouting = \"order\"\n") {
		t.Errorf("%d %s %s\n%s", code, out, errs, s.config())
	}
}

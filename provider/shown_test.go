package provider_test

import (
	"io/fs"
	"strings"
	"testing"

	"dev.magpie/config"
	"dev.magpie/provider"
)

func shown(t *testing.T, toml string) (*provider.Catalog, []config.Problem) {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(toml))
	if err != nil {
		t.Fatal(err)
	}
	return provider.Build(cfg)
}

func TestAPresetThatIsOnlyShownHasAccountsAndNoAddress(t *testing.T) {
	cat, problems := shown(t, "[providers.copilot]\nbalance_url = \"https://mine.example/usage\"\naccounts = [{ name = \"me\" }, { home = \"~/other\" }]\nkeys = [{ name = \"k\", env = \"X\" }]\n[providers.gemini-cli]\n")
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	p := cat.Provider("copilot")
	if p.ReadOnly == "" || len(p.Bases) != 0 || p.BalanceURL == "" {
		t.Errorf("%+v", p)
	}
	for id, says := range map[provider.AccountID]string{"copilot/me": "", "copilot/account2": "", "copilot/k": "takes no key", "gemini-cli": "has no account"} {
		if a := cat.Account(id); a == nil || says == "" && a.Unready != "" || !strings.Contains(a.Unready, says) {
			t.Errorf("%s: %+v", id, a)
		}
	}
	if _, _, ok := p.ListURL(); ok {
		t.Error("it has a list of models")
	}
}

// A sign-in goes nowhere that its vendor does not allow, whatever the config says.
func TestAPresetThatIsOnlyShownTakesNoAddressToAsk(t *testing.T) {
	for _, base := range []string{"chat", "responses", "messages", "gemini"} {
		for _, id := range []string{"copilot", "gemini-cli"} {
			_, problems := shown(t, "[providers.x]\npreset = \""+id+"\"\n"+base+" = \"https://api.example/v1\"\naccounts = [{ name = \"me\" }]\n")
			if len(problems) != 1 || problems[0].Line != 1 || !strings.Contains(problems[0].String(), "only shown") {
				t.Errorf("%s %s: %v", id, base, problems)
			}
		}
	}
}

func TestWhatIsOnlyShownIsInNoGroupThatIsFound(t *testing.T) {
	const model = "models = [\"m\"]\n"
	cat, problems := shown(t, "[providers.copilot]\n"+model+"accounts = [{ name = \"me\" }]\n[providers.a]\nchat = \"https://a.example/v1\"\nkeys = [{ value = \"sk-1\" }]\n"+model)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	if g := cat.With(provider.View{}).Groups; len(g) != 0 {
		t.Errorf("%+v", g[0])
	}
}

// Without a config nobody has said that these sign-ins may be looked at.
func TestSignInsThatAreOnlyShownAreNotLookedFor(t *testing.T) {
	cfg, found := provider.Detect(t.Context(), provider.DetectOptions{
		Getenv: func(string) string { return "" }, Home: "/home/someone",
		Stat: func(path string) (fs.FileInfo, error) {
			if strings.Contains(path, "opilot") || strings.Contains(path, "gemini") {
				t.Errorf("looked for %s", path)
			}
			return nil, nil
		},
	})
	if len(cfg.Providers) != 1 || cfg.Providers[0].ID != "codex" || len(found) != 1 {
		t.Errorf("%v %q", cfg.Providers, found)
	}
}

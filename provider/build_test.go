package provider_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// parse reads a config that must be right.
func parse(t testing.TB, file string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// build makes a catalogue of a config that must be right.
func build(t testing.TB, file string) *provider.Catalog {
	t.Helper()
	c, problems := provider.Build(parse(t, file))
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return c
}

func TestPresetsAndBases(t *testing.T) {
	tests := []struct {
		name, file string
		preset     string
		bases      map[wire.Protocol]string
	}{
		{
			"a table named like a preset takes it", `[providers.openai]
			keys = [{ env = "X" }]`, "openai",
			map[wire.Protocol]string{"chat": "https://api.openai.com/v1", "responses": "https://api.openai.com/v1"},
		},
		{
			"a table names another preset and a region of it", `[providers.glm]
			preset = "zhipu"
			region = "coding"`, "zhipu",
			map[wire.Protocol]string{
				"chat": "https://open.bigmodel.cn/api/coding/paas/v4", "responses": "https://open.bigmodel.cn/api/v1",
				"messages": "https://open.bigmodel.cn/api/anthropic",
			},
		},
		{
			"without a region the first is meant", `[providers.zhipu]`, "zhipu",
			map[wire.Protocol]string{"chat": "https://open.bigmodel.cn/api/paas/v4", "messages": "https://open.bigmodel.cn/api/anthropic"},
		},
		{
			"an earlier id stands for a preset and its region", `[providers.t]
			preset = "tencent-tokenhub"`, "tencent-cloud",
			map[wire.Protocol]string{
				"chat": "https://tokenhub-intl.tencentmaas.com/v1", "responses": "https://tokenhub-intl.tencentmaas.com/v1",
				"messages": "https://tokenhub-intl.tencentmaas.com",
			},
		},
		{
			"preset = \"\" takes none, whatever the table is named", `[providers.openai]
			preset = ""
			chat = "https://relay.example/v1"`, "",
			map[wire.Protocol]string{"chat": "https://relay.example/v1"},
		},
		{
			"one base over the preset's leaves the others, an empty one takes the API away", `[providers.deepseek]
			chat = "https://proxy.example/deepseek/v1"
			messages = ""`, "deepseek",
			map[wire.Protocol]string{"chat": "https://proxy.example/deepseek/v1", "responses": "https://api.deepseek.com/v1"},
		},
		{
			"a relay gives its own", `[providers.relay]
			chat = "https://relay.example/v1/"
			responses = "https://relay.example/v1/responses"
			messages = "https://relay.example/v1/messages"
			gemini = ""`, "",
			map[wire.Protocol]string{"chat": "https://relay.example/v1", "responses": "https://relay.example/v1", "messages": "https://relay.example"},
		},
		{
			"Azure's resource is enough for both its APIs", `[providers.azure]
			chat = "https://res.openai.azure.com"`, "azure",
			map[wire.Protocol]string{"chat": "https://res.openai.azure.com/openai/v1", "responses": "https://res.openai.azure.com/openai/v1"},
		},
		{
			"a path of one's own is used as it is, and tells nothing else", `[providers.azure]
			chat = "https://gate.example/azure/v2"`, "azure",
			map[wire.Protocol]string{"chat": "https://gate.example/azure/v2"},
		},
		{
			"another magpie's address stands for all four, less what is taken away", `[providers.remote-magpie]
			chat = "http://host:3425/v1"
			gemini = ""`, "remote-magpie",
			map[wire.Protocol]string{"chat": "http://host:3425/v1", "responses": "http://host:3425/v1", "messages": "http://host:3425"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := build(t, tt.file).Providers[0]
			if p.Preset != tt.preset {
				t.Errorf("preset %q, want %q", p.Preset, tt.preset)
			}
			if d := cmp.Diff(tt.bases, p.Bases); d != "" {
				t.Error(d)
			}
			if len(p.Auth) != len(p.Bases) {
				t.Errorf("auth for %v, bases for %v", p.Auth, p.Bases)
			}
		})
	}
}

func TestQuirksFollowThePreset(t *testing.T) {
	c := build(t, `
[providers.mine]
preset = "openai"
chat = "https://proxy.example/v1"
[providers.plain]
chat = "https://api.openai.com/v1"
[providers.azure]
chat = "https://r.openai.azure.com"
[providers.bedrock]
[providers.google]
`)
	if d := c.Provider("mine").Dialect; d.Vendor != "openai" || d.TokenField != "max_completion_tokens" || !d.DeveloperRole {
		t.Errorf("a preset's dialect was lost with its base: %+v", d)
	}
	if d := c.Provider("plain").Dialect; d.Vendor != "" || d.TokenField != "" {
		t.Errorf("a provider without a preset has a dialect: %+v", d)
	}
	for _, tt := range []struct {
		id   string
		api  wire.Protocol
		want provider.AuthStyle
	}{
		{"mine", wire.Chat, provider.AuthBearer},
		{"azure", wire.Responses, provider.AuthAPIKey},
		{"bedrock", wire.Messages, provider.AuthBearer},
		{"google", wire.Gemini, provider.AuthGoogle},
		{"google", wire.Chat, provider.AuthBearer},
	} {
		if got := c.Provider(tt.id).Auth[tt.api]; got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.id, tt.api, got, tt.want)
		}
	}
}

func TestBuildProblems(t *testing.T) {
	tests := []struct {
		name, file string
		line       int
		want       []string // in the problem's words
	}{
		{"no preset of that name", "\n[providers.glm]\npreset = \"zhipi\"", 3, []string{`no preset "zhipi"`, `"zhipu"`}},
		{"no region of that name", "[providers.zhipu]\nregion = \"codin\"", 2, []string{`no region "codin"`, "api, coding", `"coding"`}},
		{"a region where the preset has none", "[providers.openai]\nregion = \"eu\"", 2, []string{"no region"}},
		{"a region without a preset", "[providers.x]\nchat = \"https://x.example\"\nregion = \"eu\"", 3, []string{"no preset"}},
		{"no preset and no base", "[providers.relay]\nkeys = [{ env = \"X\" }]", 1, []string{"no address", "chat, responses, messages, gemini"}},
		{"every base taken away", "[providers.mistral]\nchat = \"\"", 1, []string{"no address"}},
		{"a preset that cannot know the address", "[providers.azure]", 1, []string{"needs its address", "chat, responses"}},
		{"an amount's place that can't be read", "[providers.relay]\nchat = \"https://relay.example/v1\"\nbalance_url = \"https://relay.example/left\"\nbalance_path = \"(data.left\"", 4, []string{"provider relay", `balance_path "(data.left"`, "a bracket is not closed", "$data.balance"}},
		{"a relay that must say what it speaks", "[providers.sub2api]", 1, []string{"needs its address", "chat, responses, messages, gemini"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := provider.Build(parse(t, tt.file))
			if len(problems) != 1 {
				t.Fatalf("want one problem: %v", problems)
			}
			p := problems[0]
			if p.Line != tt.line {
				t.Errorf("line %d, want %d: %s", p.Line, tt.line, p)
			}
			for _, w := range tt.want {
				if !strings.Contains(p.String(), w) {
					t.Errorf("%q lacks %q", p, w)
				}
			}
		})
	}
}

// A config made in memory is not checked by the decoder: what is wrong with it is told.
func TestBuildProblemsOfAConfigThatNobodyChecked(t *testing.T) {
	cfg := config.Default()
	cfg.Providers = []config.Provider{{
		ID: "x", Bases: map[string]string{"chat": "ftp://x.example"},
		Keys:     []config.Key{{Name: "A", Env: "A"}, {Name: "a", Env: "B"}},
		Fallback: []string{"nothing", "group/g", "y/m"},
	}}
	cfg.Groups = []config.Group{{ID: "g", Members: []string{"/m", "x/m"}}}
	c, problems := provider.Build(cfg)
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"chat is not a usable address", "two keys or accounts named", `"nothing" is not provider/model`, "is a group", "lacks the part"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told:\n%s", want, text)
		}
	}
	if len(problems) != 5 {
		t.Errorf("%d problems, want 5:\n%s", len(problems), text)
	}
	if got := c.Provider("x").Fallback; len(got) != 1 || got[0].Provider != "y" {
		t.Errorf("fallback %v", got)
	}
}

func TestAccounts(t *testing.T) {
	c := build(t, `
[providers.anthropic]
keys = [
  { env = "A" },
  { name = "home", command = "pass show x", weight = 2, models = ["claude-sonnet-5"], protocol = "messages" },
  { value = "sk-secret-value", off = true },
]
[providers.codex]
accounts = [{ name = "me@x.example", home = "~/.codex", cap = 80 }]
[providers.signed]
chat = "https://relay.example/v1"
accounts = [{ home = "~/.x" }]
[providers.ollama]
[providers.nokey]
chat = "https://relay.example/v1"
[providers.deepseek]
[providers.local]
chat = "http://127.0.0.1:9000/v1"
[providers.mixed]
chat = "http://127.0.0.1:9000/v1"
messages = "https://relay.example"
`)
	type row struct {
		ID      provider.AccountID
		Kind    provider.Kind
		Place   int
		Weight  int
		Off     bool
		Unready string // a part of it
	}
	want := []row{
		{"anthropic/key1", provider.KindKey, 0, 1, false, ""},
		{"anthropic/home", provider.KindKey, 1, 2, false, ""},
		{"anthropic/key3", provider.KindKey, 2, 1, true, ""},
		{"codex/me@x.example", provider.KindAccount, 3, 1, false, ""},
		{"signed/account1", provider.KindAccount, 4, 1, false, "signed has none that can be used"},
		{"ollama", provider.KindProvider, 5, 1, false, ""},
		{"nokey", provider.KindProvider, 6, 1, false, "provider nokey has no key"},
		{"deepseek", provider.KindProvider, 7, 1, false, `{ env = "DEEPSEEK_API_KEY" }`},
		{"local", provider.KindProvider, 8, 1, false, ""},
		{"mixed", provider.KindProvider, 9, 1, false, "has no key"},
	}
	all := c.AllAccounts()
	if len(all) != len(want) {
		t.Fatalf("%d accounts, want %d", len(all), len(want))
	}
	for i, w := range want {
		a := all[i]
		if a.ID != w.ID || a.Kind != w.Kind || a.Place != w.Place || a.Weight != w.Weight || a.Off != w.Off {
			t.Errorf("account %d is %+v, want %+v", i, *a, w)
		}
		if (w.Unready == "") != (a.Unready == "") || !strings.Contains(a.Unready, w.Unready) {
			t.Errorf("%s unready %q, want %q", a.ID, a.Unready, w.Unready)
		}
		if c.Account(w.ID) != a {
			t.Errorf("%s is not found by its id", w.ID)
		}
	}
	home := c.Account("anthropic/home")
	if home.Secret.Command != "pass show x" || home.Protocol != wire.Messages || !home.Serves("claude-sonnet-5[1m]") || home.Serves("claude-opus-5") {
		t.Errorf("the key's own settings: %+v", home)
	}
	if a := c.Account("codex/me@x.example"); a.Cap != 80 || a.Home != "~/.codex" || a.HasSecret() {
		t.Errorf("the account's own settings: %+v", a)
	}
	if !c.Provider("local").Local || c.Provider("mixed").Local {
		t.Error("local is where every base is on this machine")
	}
}

func TestFind(t *testing.T) {
	c := build(t, `
[providers.anthropic]
keys = [{ name = "Work", env = "A" }, { name = "ollama", env = "A" }]
[providers.openai]
keys = [{ name = "work", env = "B" }]
[providers.ollama]
`)
	for who, want := range map[string][]provider.AccountID{
		"anthropic/work": {"anthropic/Work"}, "ANTHROPIC/WORK": {"anthropic/Work"},
		"work": {"anthropic/Work", "openai/work"}, " Work ": {"anthropic/Work", "openai/work"},
		"ollama":    {"ollama"}, // an id hides a key's name
		"anthropic": {"anthropic/Work", "anthropic/ollama"},
		"nobody":    nil, "": nil,
	} {
		var got []provider.AccountID
		for _, a := range c.Find(who) {
			got = append(got, a.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", who, got, want)
		}
	}
	found := c.Find("work")
	found[0] = nil
	if c.Find("work")[0] == nil {
		t.Error("what was found is the catalogue's own slice")
	}
}

func TestDefaultsAndOwnSettings(t *testing.T) {
	c := build(t, `
routing = "order"
affinity = "turn"
sink = true
proxy = "http://proxy.example:1"
header_timeout = "90s"
[providers.a]
chat = "https://a.example/v1"
[providers.b]
name = "Bee"
chat = "https://b.example/v1"
keys = [{ env = "B" }]
routing = "pace"
affinity = "off"
sink = false
proxy = "direct"
header_timeout = 5
stall_timeout = "2m"
price_rate = 0.5
unlisted = true
headers = { X-B = "2", X-A = "1" }
fallback = ["a/m:high"]
[groups.g]
name = "Gee"
members = ["a/m:high", "b@key1/m2", "group/h"]
first_token = "20s"
context = 1000
[groups.h]
routing = "usage"
members = ["a/m"]
off = true
`)
	a, b := c.Provider("a"), c.Provider("b")
	if a.Routing != "order" || a.Affinity != "turn" || !a.Sink || a.Proxy != "http://proxy.example:1" || a.HeaderTimeout != 90*time.Second || a.Rate != 1 || a.Name != "a" {
		t.Errorf("the file's defaults: %+v", a)
	}
	if b.Routing != "pace" || b.Affinity != "off" || b.Sink || b.Proxy != "direct" || b.HeaderTimeout != 5*time.Second || b.StallTimeout != 2*time.Minute ||
		b.Rate != 0.5 || !b.Unlisted || b.Name != "Bee" || b.Place != 1 {
		t.Errorf("the provider's own: %+v", b)
	}
	if d := cmp.Diff([]provider.Header{{Name: "X-A", Value: "1"}, {Name: "X-B", Value: "2"}}, b.Headers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]provider.Ref{{Provider: "a", Model: "m", Effort: "high"}}, b.Fallback); d != "" {
		t.Error(d)
	}
	g, h := c.Group("g"), c.Group("h")
	if g.Name != "Gee" || g.Routing != "order" || g.FirstToken != 20*time.Second || g.Context != 1000 || h.Routing != "usage" || !h.Off || h.Place != 1 {
		t.Errorf("groups: %+v %+v", g, h)
	}
	if d := cmp.Diff([]provider.Ref{{Provider: "a", Model: "m", Effort: "high"}, {Provider: "b", Who: "key1", Model: "m2"}, {Group: "h"}}, g.Members); d != "" {
		t.Error(d)
	}
	if d, _ := provider.Build(config.Default()); d.Routing != "smart" {
		t.Errorf("without a word the order is %q", d.Routing)
	}
}

func TestAnEffortThatBelongsToTheModelsIDStays(t *testing.T) {
	c := build(t, `
[providers.a]
chat = "https://a.example/v1"
models = ["think:high", "m"]
fallback = ["a/think:high"]
[groups.g]
members = ["a/think:high", "a/m:high"]
`)
	want := []provider.Ref{{Provider: "a", Model: "think:high"}, {Provider: "a", Model: "m", Effort: "high"}}
	if d := cmp.Diff(want, c.Group("g").Members); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[:1], c.Provider("a").Fallback); d != "" {
		t.Error(d)
	}
}

func TestModelsWithoutAListToFetch(t *testing.T) {
	c := build(t, `
[providers.volcengine]
[providers.paygo]
preset = "volcengine"
region = "api"
[providers.bedrock]
[providers.openai]
[providers.anthropic]
[providers.google]
chat = ""
`)
	for id, want := range map[string]string{
		"volcengine": "", "bedrock": "",
		"paygo":     "https://ark.cn-beijing.volces.com/api/v3/models",
		"openai":    "https://api.openai.com/v1/models",
		"anthropic": "https://api.anthropic.com/v1/models?limit=1000",
		"google":    "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
	} {
		got, _, ok := c.Provider(id).ListURL()
		if got != want || ok != (want != "") {
			t.Errorf("%s: list at %q, %v; want %q", id, got, ok, want)
		}
	}
}

func TestEveryPresetBuilds(t *testing.T) {
	cfg := config.Default()
	presets := provider.Presets()
	for i := range presets {
		for _, r := range presets[i].Regions {
			cp := config.Provider{ID: "p" + presets[i].ID + r.ID, Preset: presets[i].ID, Region: r.ID, Keys: []config.Key{{Env: "X"}}}
			if presets[i].NeedsBase {
				cp.Bases = map[string]string{"chat": "https://mine.example/v1"}
			}
			cfg.Providers = append(cfg.Providers, cp)
		}
	}
	c, problems := provider.Build(cfg)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, p := range c.Providers {
		if p.Dialect.Vendor == "" || (len(slices.Collect(maps.Keys(p.Bases))) == 0) != (p.ReadOnly != "") {
			t.Errorf("%s: vendor %q, bases %v", p.ID, p.Dialect.Vendor, p.Bases)
		}
	}
}

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func parse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := Parse("config.toml", []byte(text))
	if err != nil {
		t.Fatalf("it does not parse:\n%v", err)
	}
	return c
}

// refused returns what is wrong with text.
func refused(t *testing.T, text string) []Problem {
	t.Helper()
	_, err := Parse("config.toml", []byte(text))
	all, ok := errors.AsType[*Errors](err)
	if !ok {
		t.Fatalf("Parse says %v; want *Errors of\n%s", err, text)
	}
	return all.Problems
}

func TestAnEmptyFileGivesTheDefaults(t *testing.T) {
	want := &Config{
		Listen: "127.0.0.1:3425", Routing: "smart", Affinity: "auto", Theme: Theme{Name: "auto"}, BodyLimit: 64 << 20, AutoGroups: true,
		Screen: Screen{Glyphs: "auto", OnHangup: "serve", WideAt: "110x28", Sync: "auto"},
	}
	if diff := cmp.Diff(want, Default()); diff != "" {
		t.Error(diff)
	}
	want.Path, want.Lines = "config.toml", []string{""}
	if diff := cmp.Diff(want, parse(t, "")); diff != "" {
		t.Error(diff)
	}
}

func TestEverythingInTheSchemaIsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.toml")
	if err != nil {
		t.Fatal(err)
	}
	c := parse(t, string(data))
	no, yes, zero, two, four := false, true, 0, 2, 4
	want := &Config{
		Listen: "127.0.0.1:4425", Routing: "order", Affinity: "session", Sink: true, Redact: []string{"secrets", "words"},
		RedactWords: []string{"Project Falcon", "ACME"}, RedactRules: []string{"CASE-[0-9]{6}", "ticket ([a-z]+-[0-9]+)"},
		Theme: Theme{Dark: "ink", Light: "paper"}, Background: "dark", PublicURL: "http://box.example:3425",
		CORSOrigins: []string{"https://app.example", "chrome-extension://abcdef"}, Proxy: "http://user:pass@proxy.example:8080",
		BodyLimit: 32 << 20, GuessVendor: true, Describer: "lamp/see-1", Searcher: "find-1", NoDetect: true,
		MaxAttempts: 5, HeaderTimeout: 45 * time.Second, StallTimeout: 90 * time.Second,
		Providers: []Provider{
			{
				ID: "lamp", Keys: []Key{
					{Name: "Desk", Env: "LAMP_KEY", Weight: 1},
					{Name: "shelf", Command: "secret-tool lookup lamp", Weight: 3},
				},
				Fallback: []string{"brook/river-2:low"}, MaxConcurrency: &four,
			},
			{ID: "tower", Preset: "codex", Routing: "smart", Accounts: []Account{
				{Name: "me", Home: "~/.codex"},
				{
					Name: "team", Home: "~/.codex-team", Cap: 75, WindowCaps: map[string]int{"5 hours": 90}, Credits: &no, AutoReset: true,
					Models: []string{"big-5"}, Proxy: "direct", MaxConcurrency: &two, Off: true,
				},
				{Name: "account3", Home: "~/.third"},
			}},
			{
				ID: "brook", NoPreset: true, Region: "east", Name: "The brook",
				Bases:      map[string]string{"chat": "https://brook.example/v1", "responses": "https://brook.example/v1", "messages": "https://brook.example", "gemini": ""},
				BalanceURL: "https://brook.example/v1/usage?team=a", BalancePath: "left",
				Keys: []Key{
					{Name: "key1", Value: "canary-value", Weight: 1},
					{Name: "key2", File: "~/brook.key", Protocol: "messages", Models: []string{"river-2"}, Off: true, Proxy: "socks5://127.0.0.1:1080", Weight: 1},
				},
				Models: []Model{{ID: "river-2"}, {
					ID: "stream-3", APIs: []string{"messages"}, Context: 200000, MaxOutput: 8000, Inputs: []string{"text", "image"},
					Efforts: []string{"low", "high"}, Price: &Price{Input: 1, Output: 2.5, CacheRead: 0.1, CacheWrite: 1.25},
				}},
				Affinity: "off", Sink: &no, Proxy: "direct", Headers: map[string]string{"X-Team": "canary-header"}, Unmasked: true, Searches: true,
				Unlisted: true, Off: true, Catalog: "river, stream", PriceRate: 0.5, MaxConcurrency: &zero, MaxRPM: 60, QueueLimit: 10,
				QueueWait: 30 * time.Second, HeaderTimeout: 1500 * time.Millisecond, StallTimeout: 2 * time.Minute, Retry: 2, Slots: 3,
			},
		},
		Groups: []Group{
			{ID: "cheap", Members: []string{"brook/river-2", "lamp/anything"}},
			{
				ID: "always-on", Name: "Always on", Routing: "order", Affinity: "turn", Sink: &yes,
				Members: []string{"lamp/see-1:high", "tower@TEAM/big-5", "brook@key1/stream-3", "group/cheap"}, Pick: "group/cheap",
				Rules:      []Rule{{Use: "group/cheap", Tokens: 50000, Images: true, Effort: "on", Agents: []string{"opencode"}, Intent: "small talk", Compact: true}},
				Classifier: "cheap", Effort: "auto", Efforts: []string{"low", "max"}, Context: 100000, FirstToken: 20 * time.Second, Policy: "combo", Sticky: 3,
			},
			{ID: "team", Slug: "team", Names: map[string][]string{"fast": {"tower@me/big-5", "brook/river-2"}, "big": {"lamp/see-1"}}},
		},
		Agents: map[string]Agent{"cursor-local": {Effort: "high", Tiers: map[string]string{"opus": "lamp/see-1", "haiku": "group/cheap"}}},
		Screen: Screen{Glyphs: "ascii", OnHangup: "quit", WideAt: "120x30", Mouse: true, Sync: "on", MaskAccounts: true},
		Notify: Notify{When: []string{"spent", "renewed"}, Command: "notify-send magpie"},
		Keys:   map[string][]string{"account.pause": {"p", "space"}, "quit": {"q"}},
		Path:   "config.toml",
	}
	ignore := cmp.Options{cmpopts.IgnoreTypes(Pos{}, []Pos(nil), map[string]Pos(nil)), cmpopts.IgnoreFields(Config{}, "Lines")}
	if diff := cmp.Diff(want, c, ignore); diff != "" {
		t.Error(diff)
	}
}

func TestEachThingKnowsItsPlace(t *testing.T) {
	c := parse(t, `theme = "ink"
[keys]
quit = "q"
[providers.lamp]
preset = "vendor"
region = "east"
keys = [ { env = "A" },
         { env = "B" } ]
fallback = ["brook/a", "brook/b"]
models = ["m1", { id = "m2" }]
[providers.brook]
[[providers.brook.keys]]
env = "C"
[groups.g]
members = ["lamp/m1", "lamp/m2"]
rules = [{ use = "lamp/m1", images = true }]
`)
	lamp, brook, g := c.Providers[0], c.Providers[1], c.Groups[0]
	for what, got := range map[string]struct{ is, want Pos }{
		"theme":                     {c.ThemePos, Pos{1, 9}},
		"a binding":                 {c.KeysPos["quit"], Pos{3, 1}},
		"a provider":                {lamp.Pos, Pos{4, 12}},
		"its preset":                {lamp.PresetPos, Pos{5, 10}},
		"its region":                {lamp.RegionPos, Pos{6, 10}},
		"its first key":             {lamp.Keys[0].Pos, Pos{7, 10}},
		"its second key":            {lamp.Keys[1].Pos, Pos{8, 10}},
		"a fallback":                {lamp.FallbackPos[1], Pos{9, 24}},
		"a model":                   {lamp.Models[0].Pos, Pos{10, 11}},
		"a model that is a table":   {lamp.Models[1].Pos, Pos{10, 17}},
		"a preset that isn't there": {brook.PresetPos, brook.Pos},
		"a key that is a [[table]]": {brook.Keys[0].Pos, Pos{12, 19}},
		"a group":                   {g.Pos, Pos{14, 9}},
		"a member":                  {g.MemberPos[1], Pos{15, 23}},
		"a rule":                    {g.Rules[0].Pos, Pos{16, 10}},
	} {
		if got.is != got.want {
			t.Errorf("%s stands at %v; want %v", what, got.is, got.want)
		}
	}
}

func TestProvidersAndGroupsKeepTheOrderOfTheFile(t *testing.T) {
	c := parse(t, `
[groups.zeta]
[providers.yak]
preset = "a"
[groups.alpha]
[providers.bee.headers]
A = "b"
[providers.ant]
[providers.bee]
preset = "c"
`)
	var got []string
	for _, p := range c.Providers {
		got = append(got, p.ID)
	}
	for _, g := range c.Groups {
		got = append(got, g.ID)
	}
	if diff := cmp.Diff(strings.Fields("yak bee ant zeta alpha"), got); diff != "" {
		t.Error(diff)
	}
}

func TestAFileIsReadTheWayEditorsWriteIt(t *testing.T) {
	for name, text := range map[string]string{
		"with a byte order mark":            "\xef\xbb\xbflisten = \"127.0.0.1:1\"",
		"with CRLF":                         "listen = \"127.0.0.1:1\"\r\n[providers.a]\r\n",
		"with comments":                     "# a\nlisten = '127.0.0.1:1' # b",
		"with a comma after the last entry": "listen = \"127.0.0.1:1\"\ncors_origins = [\n \"https://a.example\",\n]\n[providers.a]\nkeys=[{ env = \"A\", \n off = false, },]",
		"with dotted keys":                  "listen = \"127.0.0.1:1\"\nproviders.a.preset = \"b\"",
		"with quoted keys":                  "\"listen\" = \"127.0.0.1:1\"",
	} {
		t.Run(name, func(t *testing.T) {
			if c := parse(t, text); c.Listen != "127.0.0.1:1" {
				t.Errorf("listen is %q", c.Listen)
			}
		})
	}
}

func TestAMemberMayCarryAnEffortOrALongContext(t *testing.T) {
	parse(t, `
[providers.lamp]
models = ["m1", "m2:high", "m3"]
[groups.g]
members = ["lamp/m1:ultra", "lamp/m2:high", "lamp/m3[1M]:low", "lamp/m1[1m]"]
`)
}

func TestLoadTellsAMissingFileFromABrokenOne(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte("listen = 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	broken, ok := errors.AsType[*Errors](err)
	if !ok || len(broken.Problems) != 1 || broken.Problems[0].File != path {
		t.Errorf("a broken file gives %v", err)
	}
	if err := os.WriteFile(path, []byte("listen = \"127.0.0.1:9\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.Path != path || c.Listen != "127.0.0.1:9" {
		t.Errorf("a good file gives %v, %v", c, err)
	}
}

func TestDurationsAndSizes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`"90s"`: 90 * time.Second, `90`: 90 * time.Second, `1.5`: 1500 * time.Millisecond, `"1h30m"`: 90 * time.Minute, `0`: 0, `"250ms"`: 250 * time.Millisecond,
	} {
		if got := parse(t, "stall_timeout = "+text).StallTimeout; got != want {
			t.Errorf("%s is %v; want %v", text, got, want)
		}
	}
	for text, want := range map[string]int64{
		`"64MB"`: 64 << 20, `"64 MiB"`: 64 << 20, `"1.5kb"`: 1536, `4096`: 4096, `"1G"`: 1 << 30, `"2048"`: 2048, `"2048B"`: 2048,
	} {
		if got := parse(t, "body_limit = "+text).BodyLimit; got != want {
			t.Errorf("%s is %d; want %d", text, got, want)
		}
	}
}

func TestListenAddressesAreCompleted(t *testing.T) {
	c := &Config{Listen: "127.0.0.1:1111"}
	for _, test := range []struct {
		flag, env string
		c         *Config
		want      string
	}{
		{"", "", nil, "127.0.0.1:3425"},
		{"", "", c, "127.0.0.1:1111"},
		{"", "0.0.0.0:2222", c, "0.0.0.0:2222"},
		{"[::1]:3333", "0.0.0.0:2222", c, "[::1]:3333"},
		{"4444", "", c, "127.0.0.1:4444"},
		{":4444", "", c, ":4444"},
		{"", "::1", c, "[::1]:3425"},
		{"", "box.local", c, "box.local:3425"},
		{"", " 5555 ", c, "127.0.0.1:5555"},
		{"nonsense:port", "5555", c, "nonsense:port"},
	} {
		if got := Listen(test.flag, test.env, test.c); got != test.want {
			t.Errorf("flag %q, environment %q: %q; want %q", test.flag, test.env, got, test.want)
		}
	}
}

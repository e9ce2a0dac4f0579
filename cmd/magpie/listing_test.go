package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

func ago(d time.Duration) time.Time { return noon.Add(-d) }
func in(d time.Duration) *time.Time { t := noon.Add(d); return &t }
func window(n string, used float64, resets time.Duration, span time.Duration) trace.Window {
	return trace.Window{Name: n, Used: used, Resets: in(resets), SpanS: int64(span / time.Second), Read: ago(time.Minute)}
}

// everyday is a gateway with something of everything.
func everyday() trace.Status {
	rest := &trace.Rest{Key: "relay/a", Why: trace.Rate, By: trace.ByCooldown, Status: 429, Since: ago(12 * time.Second), Until: noon.Add(48 * time.Second), Failures: 2}
	return trace.Status{
		Name: "magpie", Version: "0.1.0", PID: 4121, Started: ago(192 * time.Minute), Listen: "127.0.0.1:3425",
		Config: trace.ConfigStatus{
			Path: "/etc/magpie/config.toml", Loaded: ago(12 * time.Minute),
			Warnings: []string{`the config asks for what this version does not carry out: searcher = "find-1", groups.always-on.rules`},
		},
		Totals: trace.Totals{Requests: 412, Rerouted: 14, Errors: 3, InFlight: 2},
		Today:  trace.Today{Day: "2026-11-29", Requests: 120, Input: 4_812_000, Output: 88_000, CacheRead: 4_523_000, CostUSD: 11.42, Unpriced: 2},
		Accounts: []trace.Account{
			{ID: "anthropic/work-max", Provider: "anthropic", Name: "work-max", Kind: "key", State: trace.Fine, Known: true, Used: 52, InFlight: 2, Limit: 2, Waiting: 1, Pinned: &trace.Pinned{Since: noon, Agent: "claude"}, Windows: []trace.Window{window("5 hours", 52, 134*time.Minute, 5*time.Hour), window("7 days", 31, 90*time.Hour, 168*time.Hour)}},
			{ID: "anthropic/home-pro", Provider: "anthropic", Name: "home-pro", Kind: "key", State: trace.Low, Known: true, Used: 93.2, Place: 1, Windows: []trace.Window{window("5 hours", 93.2, 41*time.Minute, 5*time.Hour)}},
			{ID: "relay/a", Provider: "relay", Name: "a", Kind: "key", State: trace.Resting, Rest: rest, Place: 2},
			{ID: "openrouter/key1", Provider: "openrouter", Name: "key1", Kind: "key", State: trace.Paused_, Paused: &trace.Paused{Since: ago(12 * time.Minute)}, Place: 3},
			{ID: "glm/plan", Provider: "glm", Name: "plan", Kind: "key", State: trace.Unready, Error: "environment variable ZHIPU_API_KEY is not set (providers.glm key plan)", Place: 4},
			{ID: "ollama", Provider: "ollama", Name: "ollama", Kind: "provider", State: trace.Off, Place: 5},
		},
		Groups: []trace.Group{
			{ID: "always-on", Routing: "order", Members: []string{"anthropic/claude-sonnet-5"}, Ready: 2, Of: 2, Next: "anthropic/work-max"},
			{ID: "cheap", Routing: "order", Members: []string{"glm/glm-5.3"}, Off: true, Place: 1},
		},
	}
}

// hostile is a text that must not reach a terminal as it is.
const hostile = "glm\x1b]52;c;aGk=\x07\u202e-5.3"

func everyRoutes() []trace.Route {
	try := func(id, model string, status int, fail trace.Kind) trace.Try {
		return trace.Try{ID: id, Model: model, Done: true, Status: status, Fail: fail, MS: 412}
	}
	late := try("relay/a", "claude-sonnet-5", 429, trace.Rate)
	late.Rest = &trace.Rest{Why: trace.Rate, Since: ago(time.Minute), Until: noon}
	good := trace.Try{ID: "anthropic/work-max", Model: "claude-sonnet-5", Done: true, Status: 200, MS: 13_200, TTFTMS: 1_900}
	return []trace.Route{
		{
			ID: 1795953600001, Seq: 7, Time: ago(time.Minute), Agent: "claude", Session: "0b1c5d3e-7f3a", API: "messages", Asked: "claude-sonnet-5",
			Resolved: trace.Resolved{Provider: "anthropic", Model: "claude-sonnet-5"}, Routing: "order", Done: true, Status: 200, MS: 14_200, TTFTMS: 2_300,
			Tries: []trace.Try{late, good}, Tokens: trace.Tokens{Input: 48_100, Output: 2_000, CacheRead: 46_200}, Cost: "0.031",
			Order: []trace.Candidate{
				{ID: "relay/a", Provider: "relay", Who: "a", Kind: "key", Model: "claude-sonnet-5", Reason: "first in your order"},
				{ID: "anthropic/work-max", Provider: "anthropic", Who: "work-max", Kind: "key", Model: "claude-sonnet-5", Known: true, Used: 52, Reason: "takes over when relay runs out: fallback of relay"},
			},
			Left: []trace.Candidate{{ID: "openrouter/key1", Provider: "openrouter", Who: "key1", Kind: "key", Model: "anthropic/claude-sonnet-5", Out: "paused", Reason: "paused by you"}},
		},
		{ID: 1795953600002, Seq: 9, Time: ago(30 * time.Second), Agent: "codex", API: "responses", Asked: "gpt-5.4", Status: 404, Done: true, MS: 1, Error: "no provider has gpt-5.4: magpie providers lists what there is", Tries: []trace.Try{}},
		{ID: 1795953600003, Seq: 11, Time: ago(26 * time.Hour), Agent: "droid", API: "chat", Asked: hostile, Status: 502, Done: true, MS: 9_000, Error: "the vendor broke off", Tries: []trace.Try{try("glm/plan", hostile, 502, trace.Network)}},
		{ID: 1795953600004, Seq: 12, Time: ago(2 * time.Second), Agent: "opencode", API: "chat", Asked: "group/always-on", Tries: []trace.Try{{ID: "anthropic/work-max", Model: "claude-sonnet-5", Start: ago(2 * time.Second)}}},
	}
}

func everyProviders() []trace.Provider {
	return []trace.Provider{
		{
			ID: "anthropic", Name: "Anthropic", Preset: "anthropic", Bases: map[string]string{"messages": "https://api.anthropic.com"}, Routing: "smart",
			Fallback: []string{"openrouter/anthropic/claude-sonnet-5"}, Models: 12, From: trace.FromVendor, KeysURL: "https://console.anthropic.com/settings/keys",
			Keys: []trace.Key{
				{ID: "anthropic/work-max", Name: "work-max", Kind: "key", Source: "env ANTHROPIC_API_KEY", Masked: "sk-a…9f2c", State: trace.Fine, Balance: "$14.00", Plan: "max"},
				{ID: "anthropic/home-pro", Name: "home-pro", Kind: "key", Source: "command", State: trace.Unready, Error: "the command failed: exit status 1 (providers.anthropic key home-pro)"},
			},
		},
		{ID: "ollama", Name: "Ollama", Preset: "ollama", Bases: map[string]string{"chat": "http://127.0.0.1:11434/v1"}, Routing: "smart", Local: true, From: trace.FromNowhere, Off: true, Keys: []trace.Key{{ID: "ollama", Name: "ollama", Kind: "provider", State: trace.Off}}},
	}
}

func everyModels() trace.Models {
	return trace.Models{Provider: "anthropic", From: trace.FromVendor, Models: []trace.ModelInfo{
		{ID: "claude-sonnet-5", APIs: []string{"messages"}, Context: 1_000_000, MaxOutput: 128_000, Inputs: []string{"text", "image"}, Price: &trace.ModelPrice{Input: "3", Output: "15"}},
		{ID: "claude-of-tomorrow-with-a-rather-long-name-20261129", APIs: []string{"messages"}},
	}}
}

// everyQuota is everyday's accounts with something of everything that may be left.
func everyQuota() []trace.Account {
	all := everyday().Accounts
	read := ago(38 * time.Second)
	all[0].Plan = "max"
	all[0].Resets = &trace.Resets{Count: 2, Until: noon.Add(90 * time.Hour)}
	all[2].Windows = []trace.Window{
		{Name: "5 hours", Resets: in(3 * time.Hour), SpanS: 18000, Amount: 6, Limit: 20, Unit: "USD", Used: 30, Read: read},
		{Name: "7 days", Resets: in(50 * time.Hour), SpanS: 604800, Amount: 150.25, Limit: 200, Unit: "USD", Used: 75.1, Read: read},
		{Name: "MCP · Month", Used: 100, Aside: true, Read: read},
	}
	all[2].Known, all[2].Used, all[2].Balance, all[2].Read = true, 75.1, "$14.00", &read
	all[3].Balance, all[3].Read = "¥3.10", &read
	all[3].ReadError = "its vendor answers 502: usage is not to be had now"
	return all
}

func everyReading() []trace.Reading {
	return []trace.Reading{
		{Time: ago(time.Minute), Account: "relay/a", Balance: "$14.00", Windows: everyQuota()[2].Windows[:2]},
		{Time: ago(26 * time.Hour), Account: "openrouter/key1", Plan: "free", Balance: "¥3.10", Windows: []trace.Window{}},
	}
}

func everyGateway(t *testing.T) *canned {
	routes := everyRoutes()
	plan := routes[0]
	plan.ID, plan.Tries, plan.Done, plan.Status = 0, []trace.Try{}, false, 0
	return newCanned(t, map[string]any{
		"GET /healthz":                   map[string]string{"status": "ok"},
		"GET /v1/magpie/status":          everyday(),
		"GET /v1/magpie/quotas":          map[string]any{"accounts": everyQuota()},
		"GET /v1/magpie/quotas/history":  map[string]any{"readings": everyReading()},
		"GET /v1/magpie/routes":          map[string]any{"seq": 12, "totals": everyday().Totals, "routes": routes},
		"GET /v1/magpie/route":           map[string]any{"route": routes[0]},
		"GET /v1/magpie/requests":        map[string]any{"requests": routes[:3]},
		"POST /v1/magpie/explain":        plan,
		"GET /v1/magpie/providers":       map[string]any{"providers": everyProviders()},
		"GET /v1/magpie/provider/models": everyModels(),
		"POST /v1/magpie/provider/test": map[string]any{"provider": "anthropic", "tests": []trace.KeyTest{
			{Key: "anthropic/work-max", OK: true, Status: 200, MS: 412, Models: 12},
			{Key: "anthropic/home-pro", Status: 401, MS: 98, Fail: trace.Auth, Error: "invalid x-api-key"},
		}},
		"POST /v1/magpie/do": map[string]any{"done": "paused anthropic/work-max for 2h", "undo": true, "state": everyday().Accounts[:1], "at": noon},
	})
}

func TestListingsReadWellAndFitEightyColumns(t *testing.T) {
	g, s := everyGateway(t), newShell(t)
	for _, c := range []struct {
		golden string
		args   []string
		code   int
	}{
		{"status", []string{"status"}, 0},
		{"accounts", []string{"accounts"}, 0},
		{"quota", []string{"quota"}, 0},
		{"quota-history", []string{"quota", "history"}, 0},
		{"quota-wait", []string{"quota", "wait", "anthropic"}, 0},
		{"line", []string{"line"}, 0},
		{"trace", []string{"trace"}, 0},
		{"requests", []string{"requests"}, 0},
		{"route", []string{"route", "7f3a"}, 0},
		{"explain", []string{"explain", "claude-sonnet-5"}, 0},
		{"providers", []string{"providers"}, 0},
		{"provider-show", []string{"provider", "show", "Anthropic"}, 0},
		{"provider-models", []string{"provider", "models", "anthropic"}, 0},
		{"provider-test", []string{"provider", "test", "anthropic"}, 1},
		{"pause", []string{"pause", "work-max", "--for", "2h"}, 0},
		{"presets", []string{"presets"}, 0},
		{"themes", []string{"themes"}, 0},
		{"help-explain", []string{"explain", "--help"}, 0},
	} {
		code, out, errs := s.run(append(c.args, "--listen", g.addr())...)
		if code != c.code || errs != "" {
			t.Errorf("%v: exit code %d, stderr %q", c.args, code, errs)
		}
		golden(t, c.golden, out)
	}
}

func TestAloneOutsideATerminalItPrintsItsHelp(t *testing.T) {
	code, out, errs := newShell(t).run()
	if code != 0 || errs != "" {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	golden(t, "help", out)
}

func TestEveryListingPrintsWhatTheCallAnswered(t *testing.T) {
	g, s := everyGateway(t), newShell(t)
	for _, c := range []struct {
		args []string
		has  string
	}{
		{[]string{"status"}, `"pid": 4121`},
		{[]string{"accounts"}, `"accounts": [`},
		{[]string{"quota"}, `"balance": "$14.00"`},
		{[]string{"quota", "anthropic", "relay"}, `"accounts": [`},
		{[]string{"quota", "history", "relay"}, `"readings": [`},
		{[]string{"quota", "wait", "work-max"}, `"free": true`},
		{[]string{"quota", "refresh"}, `"state": [`},
		{[]string{"quota", "cap", "work-max", "70%"}, `"state": [`},
		{[]string{"trace", "-n", "1"}, `"seq": 12`},
		{[]string{"requests"}, `"requests": [`},
		{[]string{"route", "7f3a"}, `"route": {`},
		{[]string{"explain", "claude-sonnet-5"}, `"order": [`},
		{[]string{"providers"}, `"models_from": "vendor"`},
		{[]string{"provider", "show", "ollama"}, `"local": true`},
		{[]string{"provider", "models", "anthropic"}, `"context": 1000000`},
		{[]string{"pause", "work-max"}, `"undo": true`},
		{[]string{"presets"}, `"checked": "`},
		{[]string{"themes"}, `"variant": "dark"`},
		{[]string{"version"}, `"name": "magpie"`},
		{[]string{"config", "path"}, `"exists": false`},
	} {
		code, out, errs := s.run(append(c.args, "--json", "--listen", g.addr())...)
		if code != 0 || errs != "" || !json.Valid([]byte(out)) || !strings.Contains(out, c.has) {
			t.Errorf("%v: exit code %d, stderr %q, no %s in %s", c.args, code, errs, c.has, out)
		}
	}
	if _, out, _ := s.run("trace", "-n", "1", "--json", "--listen", g.addr()); strings.Count(out, `"asked"`) != 1 || !strings.Contains(out, "always-on") {
		t.Errorf("the last request alone was asked for: %s", out)
	}
}

func TestCommandsSendWhatTheyWereTold(t *testing.T) {
	g, s := everyGateway(t), newShell(t)
	s.write("state/control.token", "feed\n")
	body := filepath.Join(s.home, "body.json")
	if err := os.WriteFile(body, []byte(`{"model":"m"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"pause Work --for 2h", `POST /v1/magpie/do Bearer feed {"verb":"pause","who":"Work","args":{"for":"2h"}}`},
		{"pause all --for 1.5d", `POST /v1/magpie/do Bearer feed {"verb":"pause","who":"all","args":{"for":"36h"}}`},
		{"resume a/b", `POST /v1/magpie/do Bearer feed {"verb":"resume","who":"a/b"}`},
		{"pin a/b --agent claude --model m --for 1h --only", `POST /v1/magpie/do Bearer feed {"verb":"pin","who":"a/b","args":{"for":"1h","agent":"claude","model":"m","only":true}}`},
		{"unpin --all", `POST /v1/magpie/do Bearer feed {"verb":"unpin"}`},
		{"unpin a/b", `POST /v1/magpie/do Bearer feed {"verb":"unpin","who":"a/b"}`},
		{"wake a", `POST /v1/magpie/do Bearer feed {"verb":"wake","who":"a"}`},
		{"quota refresh", `POST /v1/magpie/do Bearer feed {"verb":"refresh"}`},
		{"quota refresh a/b", `POST /v1/magpie/do Bearer feed {"verb":"refresh","who":"a/b"}`},
		{"quota cap a/b 70", `POST /v1/magpie/do Bearer feed {"verb":"cap","who":"a/b","args":{"percent":70}}`},
		{"quota cap a/b 70% --window 7-days", `POST /v1/magpie/do Bearer feed {"verb":"cap","who":"a/b","args":{"percent":70,"window":"7-days"}}`},
		{"quota cap a/b off", `POST /v1/magpie/do Bearer feed {"verb":"cap","who":"a/b","args":{"percent":0}}`},
		{"quota cap a/b 100", `POST /v1/magpie/do Bearer feed {"verb":"cap","who":"a/b","args":{"percent":0}}`},
		{"quota cap a/b -", `POST /v1/magpie/do Bearer feed {"verb":"cap","who":"a/b","args":{"percent":0}}`},
		{"quota credits a/b off", `POST /v1/magpie/do Bearer feed {"verb":"credits","who":"a/b","args":{"on":false}}`},
		{"quota auto-reset a/b ON", `POST /v1/magpie/do Bearer feed {"verb":"auto-reset","who":"a/b","args":{"on":true}}`},
		{"quota relay glm", "GET /v1/magpie/quotas?provider=relay&provider=glm&wait=5"},
		{"accounts", "GET /v1/magpie/quotas?wait=5"},
		{"quota history a/b --since 90m -n 3", "GET /v1/magpie/quotas/history?account=a%2Fb&limit=3&since=2026-11-29T10%3A32%3A00Z"},
		{"why m --agent codex --api responses --body " + body, `POST /v1/magpie/explain Bearer feed {"model":"m","agent":"codex","api":"responses","body":{"model":"m"}}`},
		{"requests --agent claude --model m --account a/b --status 5xx --since 90m -n 7", "GET /v1/magpie/requests?account=a%2Fb&agent=claude&limit=7&model=m&since=2026-11-29T10%3A32%3A00Z&status=5xx"},
		{"requests --since 2d", "GET /v1/magpie/requests?limit=50&since=2026-11-27T12%3A02%3A00Z"},
		{"requests --since 2026-11-28", "GET /v1/magpie/requests?limit=50&since=2026-11-27T22%3A00%3A00Z"},
		{"provider test anthropic", "POST /v1/magpie/provider/test?provider=anthropic Bearer feed {}"},
		{"healthcheck", "GET /healthz"},
	} {
		s.run(append(strings.Fields(c.line), "--listen", g.addr())...)
		if got := strings.TrimSpace(g.last()); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

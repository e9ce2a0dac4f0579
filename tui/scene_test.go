package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/feed"
	"dev.magpie/tui/layout"
)

// noon of the scenes: a Monday, two minutes past two.
var sceneNow = time.Date(2026, 11, 23, 14, 2, 20, 0, time.UTC)

func at(hour, minute, second int) time.Time {
	return time.Date(2026, 11, 23, hour, minute, second, 0, time.UTC)
}

func window(name string, used float64, span, left time.Duration) trace.Window {
	resets := sceneNow.Add(left)
	return trace.Window{Name: name, Used: used, SpanS: int64(span / time.Second), Resets: &resets, Read: sceneNow.Add(-38 * time.Second)}
}

const (
	fiveHours = 5 * time.Hour
	week      = 7 * 24 * time.Hour
)

func sceneAccounts() []trace.Account {
	return []trace.Account{
		{
			ID: "claude/work-max", Provider: "claude", Name: "work-max", Kind: "account", Plan: "Max", State: trace.Fine, Used: 52, Known: true, InFlight: 1,
			Windows: []trace.Window{window("5 hours", 52, fiveHours, 134*time.Minute), window("7 days", 31, week, 67*time.Hour)},
		},
		{
			ID: "claude/home-pro", Provider: "claude", Name: "home-pro", Kind: "account", Plan: "Pro", State: trace.Low, Used: 93, Known: true, InFlight: 1,
			Windows: []trace.Window{window("5 hours", 93, fiveHours, 41*time.Minute), window("7 days", 74, week, 76*time.Hour)}, Resets: &trace.Resets{Count: 1},
		},
		{
			ID: "chatgpt/codex-1", Provider: "chatgpt", Name: "codex-1", Kind: "account", State: trace.Spent, Used: 100, Known: true,
			Windows: []trace.Window{window("7 days", 100, week, 62*time.Minute)}, Resets: &trace.Resets{Count: 2},
			Rest: &trace.Rest{Why: trace.Quota, By: trace.ByResets, Since: at(13, 59, 2), Until: at(15, 4, 0)},
		},
		{
			ID: "sub2api/relay-a", Provider: "sub2api", Name: "relay-a", Kind: "key", State: trace.Resting, Used: 34, Known: true,
			Windows: []trace.Window{window("7 days", 34, week, 131*time.Hour)},
			Rest:    &trace.Rest{Why: trace.Rate, By: trace.ByCooldown, Since: sceneNow.Add(-12 * time.Second), Until: sceneNow.Add(48 * time.Second), Failures: 2},
		},
		{
			ID: "glm/glm-plan", Provider: "glm", Name: "glm-plan", Kind: "key", State: trace.Held, Used: 81, Known: true, Cap: 80,
			Windows: []trace.Window{window("7 days", 81, week, 68*time.Hour)},
		},
		{
			ID: "openrouter/or-key", Provider: "openrouter", Name: "or-key", Kind: "key", State: trace.Paused_,
			Paused: &trace.Paused{Since: sceneNow.Add(-12 * time.Minute)},
		},
	}
}

func numbered(accounts []trace.Account) []trace.Account {
	for i := range accounts {
		accounts[i].Place = i
	}
	return accounts
}

type row struct {
	time, agent, model, who string
	try                     int
	ttfb, dur               float64
	in, cached, out         int64
	status                  int
	session                 string
}

const (
	workMax = "claude/work-max"
	homePro = "claude/home-pro"
	codex1  = "chatgpt/codex-1"
	relayA  = "sub2api/relay-a"
)

// rows of the everyday scene, the newest first.
var sceneRows = []row{
	{"14:02:08", "claude", "claude-sonnet-5-5", workMax, 1, 0.9, 0, 48100, 96, 0, 0, "0a-7f3a"},
	{"14:02:17", "codex", "gpt-6.1-sol", homePro, 2, 0, 0, 21000, -1, 0, 0, "0b-c02e"},
	{"14:01:46", "codex", "gpt-6.1-sol", workMax, 2, 1.9, 14.2, 20410, 88, 1204, 200, "0b-c02e"},
	{"14:01:02", "claude", "claude-sonnet-5-5", workMax, 1, 0.8, 22, 47000, 96, 2000, 200, "0a-7f3a"},
	{"14:00:11", "claude", "claude-haiku-5", workMax, 1, 0.3, 1, 1900, 0, 88, 200, "0a-7f3a"},
	{"13:59:40", "droid", "glm-5.3", "", 3, 0, 9, 12200, -1, 0, 429, "0d-e770"},
	{"13:58:59", "claude", "claude-sonnet-5-5", workMax, 1, 0.9, 31, 46100, 95, 3100, 200, "0a-7f3a"},
	{"13:57:48", "codex", "gpt-6.1-sol", "", 0, 0, 0, 0, -1, 0, 503, "0b-c02e"},
	{"13:57:20", "claude", "claude-sonnet-5-5", homePro, 1, 1.1, 18, 44800, 97, 1400, 200, "0c-19bd"},
	{"13:55:40", "claude", "claude-opus-5", homePro, 1, 2.2, 7, 44800, 97, 310, 499, "0c-19bd"},
	{"13:55:12", "claude", "claude-sonnet-5-5", homePro, 1, 1.0, 9, 44100, 97, 702, 200, "0c-19bd"},
	{"13:54:33", "claude", "claude-sonnet-5-5", homePro, 1, 0.9, 26, 43200, 96, 2600, 200, "0c-19bd"},
	{"13:52:05", "codex", "gpt-6.1-sol", codex1, 1, 0.7, 11, 19800, 91, 1000, 200, "0b-c02e"},
	{"13:51:10", "claude", "claude-sonnet-5-5", homePro, 1, 0.9, 40, 42000, 96, 4100, 200, "0c-19bd"},
	{"13:50:02", "claude", "claude-sonnet-5-5", homePro, 1, 1.2, 8, 41000, 96, 600, 200, "0c-19bd"},
	{"13:48:47", "droid", "glm-5.3", workMax, 1, 0.6, 12, 9000, 0, 900, 200, "0d-e770"},
}

func (r row) route(id int64) trace.Route {
	clock, err := time.Parse(time.TimeOnly, r.time)
	if err != nil {
		panic(err)
	}
	begun := at(clock.Hour(), clock.Minute(), clock.Second())
	route := trace.Route{
		ID: id, Seq: uint64(id), Time: begun, Agent: r.agent, Session: r.session, API: "messages", Stream: true, Asked: r.model,
		Resolved: trace.Resolved{Group: "always-on"}, Routing: "smart", Done: r.status != 0, Status: r.status,
		MS: int64(r.dur * 1000), TTFTMS: int64(r.ttfb * 1000), Tokens: trace.Tokens{Input: r.in, Output: r.out},
	}
	if r.cached >= 0 {
		route.Tokens.CacheRead = r.in * r.cached / 100
	}
	if r.out > 0 {
		route.Cost = fmt.Sprintf("%.4f", float64(r.in)*0.0000015)
	}
	for n := 1; n <= r.try; n++ {
		try := trace.Try{ID: r.who, Model: r.model, Start: begun, Status: r.status, Done: route.Done, TTFTMS: route.TTFTMS, MS: route.MS}
		if n < r.try || r.who == "" {
			try.ID = []string{relayA, workMax, homePro}[n-1]
			try.Status, try.Fail, try.Done, try.TTFTMS, try.MS = 429, trace.Rate, true, 0, 400
			try.Error = "Too many requests, slow down"
			try.Rest = &trace.Rest{Why: trace.Rate, By: trace.ByCooldown, Since: begun, Until: begun.Add(time.Minute)}
		}
		if r.status == trace.Gone {
			try.Fail = trace.Cancelled
		}
		route.Tries = append(route.Tries, try)
	}
	switch r.status {
	case 429:
		route.Error = "all 3 candidates failed: glm-5.3 is rate limited; the first is back in 60 s"
	case 503:
		route.Error = "nobody is ready for gpt-6.1-sol: 1 paused, 2 rest"
	}
	return route
}

// explained gives a route the whole plan that the opened scene shows.
func explained(r *trace.Route) {
	until := at(15, 4, 0)
	r.API = "responses"
	r.Order = []trace.Candidate{
		{ID: relayA, Provider: "sub2api", Who: "relay-a", Kind: "key", Model: r.Asked, Why: trace.Reason{Code: trace.WhyListed, N: 1, By: "always-on"}},
		{ID: workMax, Provider: "claude", Who: "work-max", Kind: "account", Model: r.Asked, Tier: "fine", Why: trace.Reason{Code: trace.WhyListed, N: 2, By: "always-on"}},
		{ID: homePro, Provider: "claude", Who: "home-pro", Kind: "account", Model: r.Asked, Tier: "low", Why: trace.Reason{Code: trace.WhyListed, N: 3, By: "always-on"}},
		{
			ID: codex1, Provider: "chatgpt", Who: "codex-1", Kind: "account", Model: r.Asked, Tier: "spent", Rest: &trace.Rest{Why: trace.Quota, Until: until},
			Why: trace.Reason{Code: trace.WhyResting, Kind: trace.Quota, Until: until},
		},
	}
	r.Left = []trace.Candidate{
		{ID: "glm/glm-plan", Provider: "glm", Who: "glm-plan", Kind: "key", Model: r.Asked, Out: "capped", Why: trace.Reason{Code: trace.WhyCapped, Share: 81, Limit: 80}},
		{ID: "openrouter/or-key", Provider: "openrouter", Who: "or-key", Kind: "key", Model: r.Asked, Out: "paused", Why: trace.Reason{Code: trace.WhyPaused}},
	}
	r.Tokens.CacheWrite = 2450
	if len(r.Tries) == 2 {
		r.Tries[1].Translated = &trace.FromTo{From: "responses", To: "messages"}
		r.Tries[1].TTFTMS = 1500
	}
}

func sceneRoutes() []trace.Route {
	routes := make([]trace.Route, 0, len(sceneRows))
	for i := len(sceneRows) - 1; i >= 0; i-- {
		r := sceneRows[i].route(int64(4182 - i))
		if r.ID == 4180 {
			explained(&r)
		}
		routes = append(routes, r)
	}
	return routes
}

func sceneLogs() []trace.Log {
	lines := []struct{ time, level, text string }{
		{"10:50:12", "info", "listening on 127.0.0.1:3425"},
		{"13:12:44", "info", "config reloaded: 6 accounts"},
		{"13:40:00", "info", "home-pro 5h window renewed"},
		{"13:50:20", "info", "or-key paused by you"},
		{"13:59:02", "warn", "codex-1 out of quota » 15:04"},
		{"14:01:31", "info", "glm-plan held at 81% (cap 80%)"},
		{"14:01:58", "info", "c02e moved relay-a » work-max"},
		{"14:02:08", "warn", "relay-a rests 60s: rate limit"},
	}
	logs := make([]trace.Log, 0, len(lines))
	for i, l := range lines {
		clock, err := time.Parse(time.TimeOnly, l.time)
		if err != nil {
			panic(err)
		}
		logs = append(logs, trace.Log{Seq: uint64(i + 1), Time: at(clock.Hour(), clock.Minute(), clock.Second()), Level: l.level, Text: l.text})
	}
	return logs
}

func sceneGroups() []trace.Group {
	return []trace.Group{
		{ID: "always-on", Routing: "smart", Members: []string{"claude@work-max/x", "claude@home-pro/x", "chatgpt/x", "sub2api/x", "glm/x"}, Ready: 2, Of: 5, Next: workMax},
		{ID: "cheap", Routing: "order", Members: []string{"claude@home-pro/haiku", "claude@work-max/haiku"}, Ready: 2, Of: 2, Next: homePro, Place: 1},
		{ID: "opus", Routing: "order", Members: []string{"claude@work-max/opus", "claude@home-pro/opus"}, Ready: 2, Of: 2, Next: workMax, Place: 2},
		{ID: "vision", Routing: "order", Members: []string{"glm/v"}, Ready: 0, Of: 1, Off: true, Place: 3},
	}
}

func sceneView() trace.View {
	return trace.View{
		Seq: 9000,
		Status: trace.Status{
			Name: "magpie", Version: "1", PID: 4121, Started: at(10, 50, 12), Listen: "127.0.0.1:3425",
			Totals: trace.Totals{Requests: 412, InFlight: 2},
			Today:  trace.Today{Day: "2026-11-23", Requests: 412, Input: 9_800_000, CacheRead: 9_212_000, Output: 310_000, CostUSD: 11.42},
			Config: trace.ConfigStatus{Path: "~/.config/magpie/config.toml"}, Accounts: numbered(sceneAccounts()), Groups: sceneGroups(),
		},
		Routes: sceneRoutes(), Logs: sceneLogs(),
	}
}

// scene is one state of the screen that is drawn at every size.
type scene struct {
	name    string
	view    func() trace.View
	options func(*Options)
	setup   func(*model)
	more    []layout.Size // besides those that every scene is drawn at
}

func press(m *model, keys ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, k := range keys {
		cmd = m.handle(keyMsg{KeyMsg: keyOf(k), at: m.now})
	}
	return cmd
}

// keyOf makes the message of a key by its name; a longer text is typed as letters that came at once.
func keyOf(name string) tea.KeyMsg {
	for t := tea.KeyType(-200); t < 200; t++ {
		if k := (tea.KeyMsg{Type: t}); t != tea.KeyRunes && k.String() == name {
			return k
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// counted has keys whose vendors tell amounts and balances when they are asked.
func counted() trace.View {
	v := sceneView()
	read := sceneNow.Add(-38 * time.Second)
	key := &v.Status.Accounts[3]
	key.State, key.Rest, key.Used, key.Balance, key.Plan, key.Read = trace.Fine, nil, 75, "$14.00", "team", &read
	week := window("7 days", 75, week, 50*time.Hour)
	week.Amount, week.Limit, week.Unit, week.Read = 150.25, 200, "USD", read
	key.Windows = []trace.Window{week}
	other := &v.Status.Accounts[5]
	other.State, other.Paused, other.Balance, other.Read = trace.Fine, nil, "$3.10", &read
	other.ReadError = "its vendor answers 502: usage is not to be had now"
	return v
}

func allSpent() trace.View {
	v := sceneView()
	for i := range v.Status.Accounts {
		a := &v.Status.Accounts[i]
		a.State, a.Used, a.InFlight, a.Paused = trace.Spent, 100, 0, nil
		until := sceneNow.Add(time.Duration(i+1) * 37 * time.Minute)
		a.Windows = []trace.Window{window("5 hours", 100, fiveHours, until.Sub(sceneNow))}
		a.Rest = &trace.Rest{Why: trace.Quota, By: trace.ByWindow, Since: sceneNow, Until: until}
	}
	for i := range v.Status.Groups {
		v.Status.Groups[i].Ready, v.Status.Groups[i].Next = 0, ""
	}
	return v
}

func failing() trace.View {
	v := sceneView()
	v.Routes = nil
	for i := range 9 {
		r := row{fmt.Sprintf("14:01:%02d", 50-i*2), "codex", "gpt-6.1-sol", "", 3, 0, 9, 12000, -1, 0, 429, "0b-c02e"}.route(int64(4190 - i))
		explained(&r)
		v.Routes = append([]trace.Route{r}, v.Routes...)
	}
	return v
}

const hostile = "\x1b]52;c;aGk=\x07ev\u202eil\x1b[31m\u200b name\r\n\x9b2J"

func foreign() trace.View {
	v := sceneView()
	names := []string{"智谱·GLM 编码 🚀", "e\u0301te\u0301", "👩‍👩‍👧‍👦🇩🇪", "ﷺ عربي", "ｆｕｌｌ", strings.Repeat("長", 30)}
	for i := range v.Status.Accounts {
		v.Status.Accounts[i].Name = names[i]
		v.Status.Accounts[i].Provider = "供應商" + names[i]
	}
	for i := range v.Routes {
		v.Routes[i].Agent = names[i%len(names)]
		for k := range v.Routes[i].Tries {
			v.Routes[i].Tries[k].Model = names[(i+1)%len(names)] + "-模型"
		}
	}
	for i := range v.Status.Groups {
		v.Status.Groups[i].ID = names[i]
	}
	return v
}

func hostileView() trace.View {
	v := sceneView()
	for i := range v.Status.Accounts {
		v.Status.Accounts[i].Name = fmt.Sprint(i) + hostile
		v.Status.Accounts[i].Error = hostile
	}
	for i := range v.Routes {
		r := &v.Routes[i]
		r.Agent, r.Error, r.Asked, r.Session = hostile, hostile, hostile, hostile
		for k := range r.Tries {
			r.Tries[k].Model, r.Tries[k].Error = hostile, hostile
		}
		for k := range r.Order {
			r.Order[k].Model, r.Order[k].Why = hostile, trace.Reason{Code: trace.WhyOnly, Text: hostile}
		}
	}
	for i := range v.Logs {
		v.Logs[i].Text = hostile
	}
	for i := range v.Status.Groups {
		v.Status.Groups[i].ID = hostile
	}
	v.Status.Config.Error = hostile
	return v
}

func emptyView() trace.View {
	return trace.View{Status: trace.Status{
		Name: "magpie", Started: sceneNow.Add(-time.Minute), Listen: "127.0.0.1:3425", Config: trace.ConfigStatus{Path: "~/.config/magpie/config.toml"},
	}}
}

func openSelected(steps int) func(*model) {
	return func(m *model) {
		for range steps {
			press(m, "j")
		}
		press(m, "enter")
	}
}

var scenes = []scene{
	{name: "everyday", setup: func(m *model) { m.requests.Cursor.Select(m.requests.Keys(m.view()), 4180, 40) }},
	{name: "live"},
	{name: "empty", view: emptyView},
	{name: "all-spent", view: allSpent},
	{name: "failing", view: failing},
	{name: "failed-opened", view: failing, setup: openSelected(1)},
	{name: "filter", setup: func(m *model) { press(m, "/", "acct:home state:answered", "enter") }},
	{name: "filter-typing", setup: func(m *model) { press(m, "/", "acct:home stat:failed") }},
	{name: "nothing-matches", setup: func(m *model) { press(m, "/", "nobody", "enter") }},
	{name: "detail", setup: openSelected(2)},
	{name: "detail-live", setup: openSelected(1)},
	{name: "detail-refused", setup: openSelected(7)},
	{name: "account", setup: func(m *model) { press(m, "1", "j", "enter") }},
	{name: "account-key", setup: func(m *model) { press(m, "1", "G", "enter") }},
	{name: "allowance", view: counted, setup: func(m *model) { press(m, "1") }},
	{name: "allowance-opened", view: counted, setup: func(m *model) { press(m, "1", "j", "j", "j", "enter") }},
	{name: "allowance-unread", view: counted, setup: func(m *model) { press(m, "1", "G", "enter") }},
	{name: "accounts-focused", setup: func(m *model) { press(m, "1", "j") }},
	{name: "conversations", setup: func(m *model) { press(m, "3", "j") }},
	{name: "groups", setup: func(m *model) { press(m, "4") }},
	{name: "group", view: nestedGroups, more: small, setup: openGroup("always-on", "j", "j")},
	{name: "group-member", view: nestedGroups, more: small, setup: openGroup("always-on", "G")},
	{name: "group-asking", view: nestedGroups, setup: func(m *model) { press(m, "4", "enter") }},
	{name: "group-nobody", view: nestedGroups, setup: openGroup("spare", "j")},
	{name: "group-off", view: nestedGroups, setup: openGroup("vision")},
	{name: "group-manual", view: nestedGroups, setup: openGroup("cheap")},
	{name: "group-masked", view: nestedGroups, options: func(o *Options) { o.Screen.MaskAccounts = true }, setup: openGroup("always-on")},
	{name: "group-many", view: sixty, more: small, setup: openGroup("crowd")},
	{name: "log", setup: func(m *model) { press(m, "5", "j", "j") }},
	{name: "quit", setup: func(m *model) { press(m, "q") }},
	{name: "confirm", setup: func(m *model) {
		m.handle(askMsg{command: control.Command{Verb: control.Pause, Who: workMax}, at: m.now, effect: control.Effect{
			Class: control.Reversible, Words: "work-max takes no more requests until it is resumed.", Facts: []string{"1 request is under way on it; it goes on."}, Token: "t",
		}})
	}},
	{name: "palette", setup: func(m *model) { press(m, ":", "pa") }},
	{name: "palette-empty", setup: func(m *model) { press(m, ":") }},
	{name: "help", setup: func(m *model) { press(m, "?") }},
	{name: "help-search", setup: func(m *model) { press(m, "?", "/", "account") }},
	{name: "toast", setup: func(m *model) {
		m.handle(doneMsg{done: control.Done{Words: "or-key takes requests again", Undo: true}, at: m.now})
	}},
	{name: "error", setup: func(m *model) { m.fail(&control.Error{Message: "codex-1 does not rest"}) }},
	{name: "banner", view: func() trace.View {
		v := sceneView()
		v.Status.Config.Error = `config.toml:14:1 unknown key "ruting", did you mean "routing"?`
		return v
	}},
	{name: "behind", setup: func(m *model) { m.handle(feed.Msg{Batch: trace.Batch{Lost: 1904, Behind: true}, At: m.now}) }},
	{name: "attached", options: func(o *Options) { o.Attached = &Attached{PID: 4121} }},
	{name: "attached-lost", options: func(o *Options) { o.Attached = &Attached{PID: 4121} }, setup: func(m *model) {
		m.handle(feed.Msg{Batch: trace.Batch{Link: &trace.Link{Lost: true, Since: at(14, 2, 12), RetryIn: 4 * time.Second}}, At: m.now})
	}},
	{name: "demo", options: func(o *Options) { o.Demo = true }},
	{name: "masked", options: func(o *Options) { o.Screen.MaskAccounts = true }, setup: openSelected(2)},
	{name: "read-only", options: func(o *Options) { o.ReadOnly = true }},
	{name: "foreign", view: foreign},
	{name: "foreign-opened", view: foreign, setup: openSelected(2)},
	{name: "hostile", view: hostileView},
	{name: "hostile-opened", view: hostileView, setup: openSelected(2)},
	{name: "wide-characters", view: foreign, options: func(o *Options) {
		o.Env = func(k string) string {
			return map[string]string{"TERM": "xterm-256color", "RUNEWIDTH_EASTASIAN": "1"}[k]
		}
	}},
	{name: "ascii", options: func(o *Options) { o.Screen.Glyphs = "ascii" }, setup: openSelected(2)},
	{name: "held-still", setup: func(m *model) {
		press(m, "j", "j")
		var routes []trace.Route
		for i := range 12 {
			routes = append(routes, sceneRows[3].route(int64(4183+i)))
		}
		m.handle(feed.Msg{Batch: trace.Batch{Routes: routes}, At: m.now})
	}},
}

// sceneModel makes the screen of a scene at a size.
func sceneModel(t testing.TB, s scene, size layout.Size) *model {
	t.Helper()
	o := Options{
		Listen: "127.0.0.1:3425", Screen: config.Screen{Glyphs: "unicode"},
		Now: func() time.Time { return sceneNow },
		Env: func(k string) string {
			return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}[k]
		},
	}
	if s.options != nil {
		s.options(&o)
	}
	m, err := newModel(context.Background(), nil, o, true)
	if err != nil {
		t.Fatal(err)
	}
	view := sceneView
	if s.view != nil {
		view = s.view
	}
	m.begin(view(), stillFeed{})
	m.Update(tea.WindowSizeMsg{Width: size.W, Height: size.H})
	if s.setup != nil {
		s.setup(m)
		m.draw()
	}
	return m
}

// stillFeed never tells anything.
type stillFeed struct{}

func (stillFeed) Next(ctx context.Context, _ time.Time) (trace.Batch, error) {
	<-ctx.Done()
	return trace.Batch{}, ctx.Err()
}
func (stillFeed) Close() {}

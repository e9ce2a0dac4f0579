package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/gateway/trace"
)

var (
	zone = time.FixedZone("here", 2*3600)
	now  = time.Date(2026, 11, 29, 14, 2, 0, 0, zone) // a Sunday
	at   = func(clock string) time.Time {
		t, err := time.ParseInLocation("2006-01-02 15:04:05", "2026-11-29 "+clock, zone)
		if err != nil {
			panic(err)
		}
		return t.UTC()
	}
)

// constants reads the values of a type's constants from the source of package trace, so
// that a new one without a sentence fails here.
func constants(t *testing.T, typ string) []string {
	t.Helper()
	files, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), "../"+f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typ {
					continue
				}
				s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, s)
			}
		}
	}
	if len(out) < 4 {
		t.Fatalf("only %d constants of type %s found", len(out), typ)
	}
	return out
}

func TestEveryCodeHasItsWords(t *testing.T) {
	seen := map[string]string{}
	check := func(typ, code, words string, known bool) {
		if !known || words == "" && code != "" {
			t.Errorf("%s %q has no words", typ, code)
		}
		if other, ok := seen[typ+words]; ok {
			t.Errorf("%s %q and %q read alike: %s", typ, code, other, words)
		}
		seen[typ+words] = code
		if !utf8.ValidString(words) || strings.ContainsAny(words, "\n\t") || strings.HasSuffix(words, ".") {
			t.Errorf("%s %q: %q is not a plain short sentence", typ, code, words)
		}
	}
	for _, c := range constants(t, "Kind") {
		_, ok := kinds[trace.Kind(c)]
		check("Kind", c, Kind(trace.Kind(c)), ok)
	}
	for _, c := range constants(t, "RestBy") {
		_, ok := origins[trace.RestBy(c)]
		check("RestBy", c, By(trace.RestBy(c)), ok)
	}
	for _, c := range constants(t, "State") {
		_, ok := states[trace.State(c)]
		check("State", c, State(trace.State(c)), ok)
	}
	for _, c := range constants(t, "Outcome") {
		_, ok := outcomes[trace.Outcome(c)]
		check("Outcome", c, Outcome(trace.Outcome(c)), ok)
	}
	for _, c := range constants(t, "KeepWhy") {
		s := Keep(trace.Affinity{Why: trace.KeepWhy(c), Last: "codex/me"})
		check("KeepWhy", c, s, s != strings.ReplaceAll(c, "-", " "))
	}
	for _, c := range constants(t, "ReasonCode") {
		r := trace.Reason{Code: trace.ReasonCode(c), N: 2, Of: 5}
		s := ReasonAt(r, now)
		check("ReasonCode", c, s, s != strings.ReplaceAll(c, "-", " "))
	}
}

func TestACodeOfANewerGatewayIsShownAsItIs(t *testing.T) {
	for got, want := range map[string]string{
		ReasonAt(trace.Reason{Code: "fewest-held", Text: "two"}, now): "fewest held: two",
		Keep(trace.Affinity{Why: "so-so"}):                            "so so",
		Kind("odd"):                                                   "odd", State("odd"): "odd", By("odd"): "odd", Outcome("odd"): "odd",
		Kind("") + State("") + By("") + Outcome(""): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReasons(t *testing.T) {
	later := at("15:04:00")
	for want, r := range map[string]trace.Reason{
		"first in your order":                                       {Code: trace.WhyListed, N: 1, Of: 3},
		"tenth in your order":                                       {Code: trace.WhyListed, N: 10, Of: 30},
		"11th in your order":                                        {Code: trace.WhyListed, N: 11, Of: 30},
		"22nd in your order":                                        {Code: trace.WhyListed, N: 22, Of: 30},
		"113th in your order":                                       {Code: trace.WhyListed, N: 113, Of: 200},
		"second in group always-on":                                 {Code: trace.WhyListed, N: 2, Of: 5, By: "always-on"},
		"first in group g, third of its provider":                   {Code: trace.WhyListed, N: 1, Of: 2, By: "g", Count: 3},
		"first in your order: also beta":                            {Code: trace.WhyListed, N: 1, Text: "also beta"},
		"the only one there is":                                     {Code: trace.WhyOnly},
		"takes over when anthropic runs out: fallback of anthropic": {Code: trace.WhyFallback, By: "anthropic"},
		"a fallback: takes over when the others run out":            {Code: trace.WhyFallback},
		"rests until 15:04: out of credit":                          {Code: trace.WhyResting, Kind: trace.Credit, Until: later},
		"rests until Tue 09:00: out of quota": {
			Code: trace.WhyResting, Kind: trace.Quota, Until: time.Date(2026, 12, 1, 9, 0, 0, 0, zone),
		},
		"rests until 24 Dec 09:00": {Code: trace.WhyResting, Until: time.Date(2026, 12, 24, 9, 0, 0, 0, zone)},
		"rests until 15:04: rate limit, but there is no other": {
			Code: trace.WhyRestOnly, Kind: trace.Rate, Until: later,
		},
		"pinned by you, so asked first":             {Code: trace.WhyPinned},
		"pinned by you until 15:04, so asked first": {Code: trace.WhyPinned, Until: later},
		"paused by you":                             {Code: trace.WhyPaused},
		"paused by you until 15:04":                 {Code: trace.WhyPaused, Until: later},
		"held: 81% used is past its 80% cap":        {Code: trace.WhyCapped, Share: 81, Limit: 80},
		"held until 15:04: past its 80% cap":        {Code: trace.WhyCapped, Limit: 80, Until: later},
		"held: past its cap":                        {Code: trace.WhyCapped},
		"held until 15:04: its allowance is used up, and it is not to spend credits": {
			Code: trace.WhyNoCredits, Share: 100, Limit: 100, Until: later,
		},
		"only shown, never asked: for a reason":                                          {Code: trace.WhyReadOnly, Text: "for a reason"},
		"not the member that you picked":                                                 {Code: trace.WhyNotPicked},
		"its plan does not list this model, and another's does":                          {Code: trace.WhyUnlisted},
		"its allowance is not known yet, and its reply will tell it":                     {Code: trace.WhyLearns},
		"sooner to renew: 15:04, 12% used":                                               {Code: trace.WhySooner, At: later, Share: 12.4},
		"sooner to renew: 15:04":                                                         {Code: trace.WhySooner, At: later},
		"renews later: Tue 09:00, 40% used":                                              {Code: trace.WhyLater, At: time.Date(2026, 12, 1, 9, 0, 0, 0, zone), Share: 40},
		"nobody knows when it renews, so after those that renew":                         {Code: trace.WhyUnknown},
		"low: 93% used, so after those below 90%":                                        {Code: trace.WhyLow, Share: 93},
		"spent: 99% used, so after those with room":                                      {Code: trace.WhySpent, Share: 99.9},
		"its vendor answers nothing until it renews, so after those with room, 42% used": {Code: trace.WhyShut, Share: 42},
		"least used: 12%":                                 {Code: trace.WhyLeastUsed, Share: 12},
		"more used: 40%":                                  {Code: trace.WhyMoreUsed, Share: 40},
		"served the fewest tokens lately: 310":            {Code: trace.WhyFewestTokens, Count: 310},
		"served more tokens lately: 48.1k":                {Code: trace.WhyMoreTokens, Count: 48_100},
		"its turn":                                        {Code: trace.WhyTurn},
		"its turn is next":                                {Code: trace.WhyTurn, Count: 1},
		"its turn comes after 2 others":                   {Code: trace.WhyTurn, Count: 2},
		"has the most to spend: 4.5% an hour until 15:04": {Code: trace.WhyPace, Share: 4.5, At: later},
		"has less to spend: 0.6% an hour":                 {Code: trace.WhyLessPace, Share: 0.595},
		"its turn by weight: 3 of 4":                      {Code: trace.WhyWeight, Count: 3, Limit: 4},
		"another's turn by weight: it has 1 of 4":         {Code: trace.WhyWeighed, Count: 1, Limit: 4},
		"the member that is picked":                       {Code: trace.WhyPicked},
		"a key made for another API, so after those that suit this request":            {Code: trace.WhyAside},
		"a key made for messages, so after those that suit this request better":        {Code: trace.WhyUnfit, Text: "messages"},
		"limited at 15:04, so behind":                                                  {Code: trace.WhySunk, At: later},
		"the request names another":                                                    {Code: trace.WhyNotNamed},
		"not ready: ANTHROPIC_API_KEY is not set":                                      {Code: trace.WhyUnready, Text: "ANTHROPIC_API_KEY is not set"},
		"not ready: its secret is missing":                                             {Code: trace.WhyUnready},
		"group cheap is switched off in the config":                                    {Code: trace.WhyOff, Text: "group cheap"},
		"it is switched off in the config":                                             {Code: trace.WhyOff},
		"its own list of models does not have this one":                                {Code: trace.WhyBarred},
		"can be asked on messages only, not on the API of this request":                {Code: trace.WhyProtocol, Text: "messages"},
		"made for an API that its provider does not have":                              {Code: trace.WhyProtocol},
		"its model takes no images, and the turn shows one":                            {Code: trace.WhyBlind},
		"rule 2 of group g sends the turn here":                                        {Code: trace.WhyRule, Count: 2, By: "g"},
		"rule 1 of group g names a/m, which is not ready: a later rule names this one": {Code: trace.WhyRule, Count: 1, By: "g", Text: "a/m"},
		"next: a later rule of group g names it":                                       {Code: trace.WhyRuleNext, By: "g"},
		"would end unused: to be spent are 1.9% an hour until 15:04":                   {Code: trace.WhyHaste, Share: 1.93, At: later},
		"has time: 12% of its short window used":                                       {Code: trace.WhyLevel, Share: 12},
		"has no allowance that would end unused, so after those that have":             {Code: trace.WhyByUse},
		"another is pinned alone":                                                      {Code: trace.WhyOtherPin},
	} {
		if got := ReasonAt(r, now); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	r := trace.Reason{Code: trace.WhyResting, Kind: trace.Credit, Until: later.In(zone)}
	if got := Reason(r); got != "rests until Sun 15:04: out of credit" {
		t.Errorf("without a day: %q", got)
	}
}

func TestARouteLeavesWithItsSentencesAndStaysAsItWas(t *testing.T) {
	r := trace.Route{
		Time:  at("14:02:00"),
		Order: []trace.Candidate{{ID: "a", Why: trace.Reason{Code: trace.WhyOnly}}, {ID: "b", Reason: "kept"}},
		Left:  []trace.Candidate{{ID: "c", Why: trace.Reason{Code: trace.WhyPaused, Until: at("15:04:00")}}},
	}
	got := Route(r, zone)
	if got.Order[0].Reason != "the only one there is" || got.Left[0].Reason != "paused by you until 15:04" || got.Order[1].Reason != "kept" {
		t.Errorf("%+v", got)
	}
	if r.Order[0].Reason != "" || r.Left[0].Reason != "" {
		t.Error("a published route was written to")
	}
	if got := Route(trace.Route{}, zone); got.Order != nil || got.Left != nil {
		t.Error("nothing became something")
	}
}

func TestKeeping(t *testing.T) {
	for want, a := range map[string]trace.Affinity{
		"stays with codex/me, where its cache is warm": {Why: trace.KeepCache, Last: "codex/me", Kept: true},
		"leaves codex/me, who rests":                   {Why: trace.KeepResting, Last: "codex/me"},
		"may leave codex/me: a new turn begins":        {Why: trace.KeepNewTurn, Last: "codex/me"},
		"leaves another, who can't be asked now":       {Why: trace.KeepGone},
	} {
		if got := Keep(a); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	for want, r := range map[string]trace.Reason{
		"keeps the conversation where its cache is warm":            {Code: trace.WhyWarm},
		"a new turn: next after codex/me":                           {Code: trace.WhyNextTurn, Text: "codex/me"},
		"a new conversation: no other is on it lately, the fewest":  {Code: trace.WhyFewest},
		"a new conversation: one other is on it lately, the fewest": {Code: trace.WhyFewest, Count: 1},
		"a new conversation: 3 others are on it lately, the fewest": {Code: trace.WhyFewest, Count: 3},
	} {
		if got := ReasonAt(r, now); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestRests(t *testing.T) {
	since := at("14:01:58")
	rest := func(until time.Time, n int) trace.Rest {
		return trace.Rest{Why: trace.Rate, Since: since, Until: until, Failures: n}
	}
	for _, c := range []struct{ got, want string }{
		{Rest(rest(now.Add(48*time.Second), 2), now), "rests 0:48: rate limit x2"},
		{Rest(rest(now.Add(62*time.Minute), 1), now), "rests 1h02m: rate limit"},
		{Rest(rest(now.Add(-time.Minute), 1), now), "rested until 14:01: rate limit"},
		{Rest(rest(time.Time{}, 0), now), "rests: rate limit"},
		{Rested("relay/a", rest(since.Add(time.Minute), 1)), "relay/a rests 60s: rate limit"},
		{Rested("relay/a", rest(since.Add(time.Minute-time.Millisecond), 1)), "relay/a rests 60s: rate limit"},
		{Rested("relay/a", rest(since.Add(4*time.Minute-time.Second), 1)), "relay/a rests 4m: rate limit"},
		{Rested("relay/a", rest(time.Time{}, 3)), "relay/a rests: rate limit x3"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	for want, v := range map[string]trace.Verdict{
		"429 rate limit":    {Kind: trace.Rate, Status: 429},
		"connection failed": {Kind: trace.Network},
		"404 model not available, with this model only": {Kind: trace.Model, Status: 404, Scope: trace.ScopeModel},
	} {
		if got := Verdict(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAccounts(t *testing.T) {
	rest := &trace.Rest{Why: trace.Rate, Since: now, Until: now.Add(48 * time.Second), Failures: 2}
	quota := &trace.Rest{Why: trace.Quota, Since: now, Until: at("15:04:00")}
	for want, a := range map[string]trace.Account{
		"fine":                         {State: trace.Fine, Used: 52},
		"low: 93% used":                {State: trace.Low, Used: 93},
		"spent: 99% used":              {State: trace.Spent, Used: 99.6},
		"spent: 100% used":             {State: trace.Spent, Used: 100},
		"out of quota until 15:04":     {State: trace.Spent, Rest: quota},
		"rests 0:48: rate limit x2":    {State: trace.Resting, Rest: rest},
		"rests":                        {State: trace.Resting},
		"paused by you 12m ago":        {State: trace.Paused_, Paused: &trace.Paused{Since: now.Add(-12 * time.Minute)}},
		"paused by you until 15:04":    {State: trace.Paused_, Paused: &trace.Paused{Since: now, Until: at("15:04:00")}},
		"paused by you":                {State: trace.Paused_},
		"held: past its 80% cap":       {State: trace.Held, Cap: 80},
		"not ready: no such file":      {State: trace.Unready, Error: "no such file"},
		"off":                          {State: trace.Off},
		"fine, only shown":             {State: trace.Fine, ReadOnly: "why"},
		"spent: 100% used, only shown": {State: trace.Spent, Used: 100, ReadOnly: "why"},
		"not ready: nobody":            {State: trace.Unready, Error: "nobody", ReadOnly: "why"},
	} {
		if got := Account(a, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTriesAndAnswers(t *testing.T) {
	rest := &trace.Rest{Since: now, Until: now.Add(time.Minute)}
	for want, try := range map[string]trace.Try{
		"being asked": {},
		"429 rate limit in 0.4s, nothing sent; rests 60s": {Done: true, Status: 429, Fail: trace.Rate, MS: 412, Rest: rest},
		"200, first byte 1.5s, 13.0s":                     {Done: true, Status: 200, TTFTMS: 1500, MS: 13000},
		"connection failed in 3.0s, nothing sent":         {Done: true, Fail: trace.Network, MS: 3000},
		"agent left after 7.0s":                           {Done: true, Fail: trace.Cancelled, MS: 7000, TTFTMS: 2},
		"not asked after 60.0s: it had no slot":           {Done: true, Status: 429, Fail: trace.Rate, MS: 60000, Row: trace.RowFull},
		"not asked: you paused it meanwhile":              {Done: true, Status: 503, Fail: trace.Other, Row: trace.RowPausedSince},
		"not asked: it came to be held meanwhile":         {Done: true, Status: 429, Fail: trace.Quota, Row: trace.RowHeldSince},
		"not asked: it came to rest meanwhile, and another did not": {
			Done: true, Status: 429, Fail: trace.Rate, Row: trace.RowRestsSince,
		},
	} {
		if got := Try(try); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	one, two := []trace.Try{{ID: "codex/work"}}, []trace.Try{{ID: "relay/a"}, {ID: "codex/work"}}
	for want, r := range map[string]trace.Route{
		"nobody is asked yet":                {},
		"codex/work is being asked on try 2": {Tries: two},
		"codex/work answered":                {Done: true, Status: 200, Tries: one},
		"codex/work answered on try 2":       {Done: true, Status: 200, Tries: two},
		"codex/work failed":                  {Done: true, Status: 500, Tries: one},
		"all 2 tries failed":                 {Done: true, Status: 500, Tries: two},
		"nobody was asked":                   {Done: true, Status: 404},
		"the agent left":                     {Done: true, Status: 499, Tries: one},
	} {
		if got := Answer(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLines(t *testing.T) {
	r := trace.Route{
		Agent: "codex", Asked: "gpt-6.1-sol", Done: true, Status: 200, MS: 14200, Cost: "0.031",
		Tokens: trace.Tokens{Input: 20410, Output: 1204, CacheRead: 17960},
		Tries:  []trace.Try{{ID: "relay/a"}, {ID: "codex/work"}},
	}
	if d := cmp.Diff("codex gpt-6.1-sol » codex/work 200 14.2s, try 2, in 20.4k, cached 88%, out 1.2k, $0.031", Line(r)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("unknown nope 404 0.0s: no such model", Line(trace.Route{Asked: "nope", Done: true, Status: 404, Error: "no such model"})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("claude opus » a live", Line(trace.Route{Agent: "claude", Asked: "opus", Tries: []trace.Try{{ID: "a"}}})); d != "" {
		t.Error(d)
	}
	for level, want := range map[string]string{"info": "14:01:58 relay/a rests", "warn": "14:01:58 warn: relay/a rests"} {
		if got := LogLine(trace.Log{Time: at("14:01:58"), Level: level, Text: "relay/a rests"}, zone); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLengths(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct{ got, want string }{
		{In(48 * time.Second), "0:48"},
		{In(252*time.Second + 900*time.Millisecond), "4:12"},
		{In(-time.Hour), "0:00"},
		{In(41 * time.Minute), "41m"},
		{In(2*time.Hour + 14*time.Minute), "2h14m"},
		{In(2*day + 19*time.Hour), "2d19h"},
		{In(3*day + 4*time.Hour), "3d04h"},
		{In(120*day + time.Hour), "120d"},
		{Ago(38 * time.Second), "38s ago"},
		{Ago(12 * time.Minute), "12m ago"},
		{Ago(3*time.Hour + 12*time.Minute), "3h12m ago"},
		{Span(-1), "0s"},
		{Span(60 * time.Second), "60s"},
		{Span(100 * time.Second), "1m"},
		{Took(412 * time.Millisecond), "0.4s"},
		{Took(14200 * time.Millisecond), "14.2s"},
		{Took(100 * time.Second), "1m40s"},
		{Took(62 * time.Minute), "1h02m"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(1000), "1.0k"},
		{Count(48149), "48.1k"},
		{Count(412_000), "412k"},
		{Count(999_999), "999k"},
		{Count(9_849_000), "9.8M"},
		{Count(3_000_000_000), "3.0G"},
		{Money(0), "$0.000"},
		{Money(0.0312), "$0.031"},
		{Money(11.42), "$11.42"},
		{Money(1234.4), "$1234"},
		{Clock(at("15:04:00"), now), "15:04"},
		{Clock(now.AddDate(0, 0, 6), now), "Sat 14:02"},
		{Clock(now.AddDate(0, 0, 7), now), "6 Dec 14:02"},
		{Clock(now.AddDate(0, 0, -1), now), "28 Nov 14:02"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestWhatHasNoLimitSaysSo(t *testing.T) {
	a := trace.Account{Windows: []trace.Window{{Name: "Premium requests", Used: 20, Amount: 300, Limit: 1500}, {Name: "Chat requests", Aside: true, Endless: true}}}
	if got := Left(&a); got != "Premium requests 20% (300 of 1500), Chat requests: no limit" {
		t.Error(got)
	}
	if got := Used(&a.Windows[0]) + ", " + Used(&a.Windows[1]); got != "20%, no limit" {
		t.Error(got)
	}
}

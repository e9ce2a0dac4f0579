package state

import (
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

func account(id string, place int, state trace.State) trace.Account {
	provider, name := "p", id
	for i := range id {
		if id[i] == '/' {
			provider, name = id[:i], id[i+1:]
		}
	}
	return trace.Account{ID: id, Provider: provider, Name: name, Kind: "key", State: state, Place: place}
}

func TestABatchReplacesWhatItNamesAndLeavesTheRest(t *testing.T) {
	s := New(trace.View{
		Status: trace.Status{Accounts: []trace.Account{account("a/1", 0, trace.Fine), account("b/1", 1, trace.Fine)}, Groups: []trace.Group{{ID: "g", Ready: 1}}},
		Routes: []trace.Route{{ID: 1, Seq: 1}, {ID: 2, Seq: 2}},
	}, noon, false)
	s.Apply(trace.Batch{
		Routes:   []trace.Route{{ID: 2, Seq: 5, Done: true}, {ID: 3, Seq: 4}, {ID: 1, Seq: 0, Asked: "stale"}},
		Accounts: []trace.Account{account("b/1", 1, trace.Resting), account("c/1", 0, trace.Fine)},
		Groups:   []trace.Group{{ID: "g", Ready: 0}, {ID: "h", Ready: 2}},
		Logs:     []trace.Log{{Seq: 9, Text: "said"}},
		Status:   &trace.Status{Totals: trace.Totals{Requests: 7}},
	}, noon)

	if len(s.Routes) != 3 || !s.Routes[1].Done || s.Routes[0].Asked != "" {
		t.Errorf("the requests are %+v", s.Routes)
	}
	if r := s.Route(3); r == nil || r.ID != 3 {
		t.Error("a new request is not found")
	}
	if a, _ := s.Account("b/1"); a.State != trace.Resting {
		t.Errorf("the account still stands as %s", a.State)
	}
	if ids := []string{s.Accounts[0].ID, s.Accounts[1].ID, s.Accounts[2].ID}; ids[0] != "a/1" || ids[1] != "c/1" || ids[2] != "b/1" {
		t.Errorf("accounts come in the order %v, want the config's", ids)
	}
	if g, _ := s.Group("g"); g.Ready != 0 || len(s.Groups) != 2 {
		t.Errorf("the groups are %+v", s.Groups)
	}
	if s.Status.Totals.Requests != 7 || len(s.Logs) != 1 {
		t.Error("totals or log were not taken")
	}

	s.Apply(trace.Batch{Accounts: []trace.Account{{ID: "a/1", Removed: true}, {ID: "zz", Removed: true}}, Groups: []trace.Group{{ID: "g", Removed: true}, {ID: "zz", Removed: true}}}, noon)
	if len(s.Accounts) != 2 || len(s.Groups) != 1 {
		t.Errorf("what was removed is still there: %v %v", s.Accounts, s.Groups)
	}
}

func TestMemoryIsBoundedAndForgetsNoLiveRequest(t *testing.T) {
	s := New(trace.View{Routes: []trace.Route{{ID: 1, Seq: 1}}}, noon, false)
	for i := int64(2); i < 2000; i++ {
		s.Apply(trace.Batch{Routes: []trace.Route{{ID: i, Done: true}}, Logs: []trace.Log{{Seq: uint64(i)}}}, noon)
	}
	if len(s.Routes) != keepRoutes || len(s.Logs) != keepLogs {
		t.Errorf("%d requests and %d lines are kept", len(s.Routes), len(s.Logs))
	}
	if s.Route(1) == nil || len(s.Live()) != 1 {
		t.Error("the live request was forgotten")
	}
	if s.Logs[len(s.Logs)-1].Seq != 1999 {
		t.Error("the newest line was forgotten")
	}
}

func TestAViewAfterAGapReplacesAllButWhatOnlyTheScreenKnows(t *testing.T) {
	s := New(trace.View{Routes: []trace.Route{{ID: 1}}, Status: trace.Status{Accounts: []trace.Account{account("a/1", 0, trace.Fine)}}}, noon, false)
	s.Apply(trace.Batch{Behind: true, Lost: 3, View: &trace.View{
		Status: trace.Status{Version: "2", Accounts: []trace.Account{account("b/1", 0, trace.Fine)}},
		Routes: []trace.Route{{ID: 7}}, Logs: []trace.Log{{Seq: 4, Text: "new"}},
	}, Logs: []trace.Log{{Seq: 4, Text: "new"}, {Seq: 5, Text: "newer"}}}, noon)
	if s.Route(1) != nil || s.Route(7) == nil || s.Status.Version != "2" || len(s.Accounts) != 1 || s.Accounts[0].ID != "b/1" {
		t.Errorf("the view was not taken: %+v", s)
	}
	if len(s.Logs) != 2 {
		t.Errorf("the log has %d lines, want each once", len(s.Logs))
	}
	if s.Behind(At(noon)) != 3 {
		t.Errorf("%d events are told as skipped", s.Behind(At(noon)))
	}
}

func TestALostConnectionIsToldUntilItIsBack(t *testing.T) {
	s := New(trace.View{}, noon, false)
	s.Apply(trace.Batch{Link: &trace.Link{Lost: true, Since: noon, RetryIn: 4 * time.Second, Error: "connection refused"}}, noon.Add(time.Second))
	if !s.Link.Lost.Equal(noon) || !s.Link.Retry.Equal(noon.Add(5*time.Second)) {
		t.Errorf("the link is %+v", s.Link)
	}
	s.Apply(trace.Batch{Link: &trace.Link{Since: noon.Add(5 * time.Second)}}, noon.Add(5*time.Second))
	if !s.Link.Lost.IsZero() {
		t.Errorf("the link is still lost: %+v", s.Link)
	}
}

func TestSkippedEventsAreToldForAWhile(t *testing.T) {
	s := New(trace.View{}, noon, false)
	if s.Behind(At(noon)) != 0 {
		t.Fatal("a new screen says that it is behind")
	}
	s.Apply(trace.Batch{Behind: true, Lost: 1900}, noon)
	s.Apply(trace.Batch{Behind: true, Lost: 4}, noon.Add(time.Second))
	c := At(noon.Add(2 * time.Second))
	if got := s.Behind(c); got != 1904 {
		t.Fatalf("%d events are told as skipped", got)
	}
	if s.Behind(At(c.Next())) != 0 {
		t.Error("they are still told when they should be gone")
	}
}

func TestEveryAccountHasTheShortestNameThatTellsItApart(t *testing.T) {
	accounts := []trace.Account{
		account("claude/work", 0, trace.Fine), account("anthropic/key1", 1, trace.Fine),
		account("openai/key1", 2, trace.Fine), account("openai/key2", 3, trace.Fine),
		account("glm/main", 4, trace.Fine), account("relay/main", 5, trace.Fine), account("relay/spare", 6, trace.Fine),
		{ID: "ollama", Provider: "ollama", Kind: "provider", Place: 7},
		account("a/team", 8, trace.Fine), account("a/x", 9, trace.Fine), account("b/team", 10, trace.Fine), account("b/y", 11, trace.Fine),
	}
	s := New(trace.View{Status: trace.Status{Accounts: accounts}}, noon, false)
	for id, want := range map[string]string{
		"claude/work": "work", "anthropic/key1": "anthropic", "openai/key1": "openai/key1", "openai/key2": "openai/key2",
		"glm/main": "glm", "relay/main": "main", "relay/spare": "spare", "ollama": "ollama", "a/team": "a/team", "b/team": "b/team", "b/y": "y",
		"gone/me": "me", "gone/key1": "gone", "gone": "gone",
	} {
		if got := s.Name(id); got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
	masked := New(trace.View{Status: trace.Status{Accounts: accounts}}, noon, true)
	if got := masked.Name("claude/work"); got != "acct-1" {
		t.Errorf("a masked account is called %q", got)
	}
	if got := masked.Masked("claude/work rests, spare is next"); got != "acct-1 rests, acct-7 is next" {
		t.Errorf("a masked line reads %q", got)
	}
	if got := s.Masked("claude/work rests"); got != "claude/work rests" {
		t.Errorf("without a mask a line reads %q", got)
	}
	for text, want := range map[string]string{
		"claude/work rests 60s: rate limit":  "work rests 60s: rate limit",
		"claude/work/sonnet-5 rests 60s":     "work/sonnet-5 rests 60s",
		"paused claude/work, relay/spare":    "paused work, spare",
		"claude/workshop and x/claude/work":  "claude/workshop and x/claude/work",
		"openai/key1 is back, ollama is not": "openai/key1 is back, ollama is not",
	} {
		if got := s.Called(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"claude/work rests 60s: rate limit": "claude/work", "paused relay/spare, claude/work": "relay/spare", "claude/workshop and x/claude/work": "",
		"listening on 127.0.0.1:3425": "", "openai/key1 is back": "openai/key1", "ollama answers": "ollama", "": "",
	} {
		if got := s.About(text); got != want {
			t.Errorf("%q tells of %q, want %q", text, got, want)
		}
	}
	if got := masked.Called("claude/work rests"); got != "acct-1 rests" {
		t.Errorf("a masked line is shown as %q", got)
	}
	if got := masked.Name("gone/me"); got != "acct-?" {
		t.Errorf("a masked account that is gone is called %q", got)
	}
}

func TestAConversationIsKnownByItsTail(t *testing.T) {
	for in, want := range map[string]string{"019ac-77f1-8C02E": "c02e", "ab": "ab", "": "", "ses_é-7f3a": "7f3a"} {
		if got := Short(in); got != want {
			t.Errorf("%q is called %q, want %q", in, got, want)
		}
	}
}

func TestTheMarkSaysHowARequestWent(t *testing.T) {
	s, routes := sampleRoutes()
	for name, want := range map[string]struct {
		mark   trace.Outcome
		who    string
		asking bool
	}{
		"answered": {trace.Answered, "work-max", false},
		"later":    {trace.Later, "work-max", false},
		"failed":   {trace.Failed, "plan", false},
		"refused":  {trace.Declined, "unknown", false},
		"left":     {trace.Left, "agent left", false},
		"live":     {trace.Live, "work-max", true},
	} {
		r := routes[name]
		who, asking := s.AnsweredBy(r)
		if r.Outcome() != want.mark || who != want.who || asking != want.asking {
			t.Errorf("the %s request reads %s, %q, asking %v", name, r.Outcome(), who, asking)
		}
	}
	many := &trace.Route{Done: true, Status: 503, Tries: []trace.Try{{ID: "a/1"}, {ID: "b/1"}}}
	if who, _ := s.AnsweredBy(many); who != "all failed" {
		t.Errorf("a request that two failed reads %q", who)
	}
	spoken := &trace.Route{Tries: []trace.Try{{ID: "glm/plan", TTFTMS: 900}}}
	if who, asking := s.AnsweredBy(spoken); who != "plan" || asking {
		t.Errorf("a live request whose reply has begun reads %q, asking %v", who, asking)
	}
	keyless := &trace.Route{Done: true, Status: 401, Left: []trace.Candidate{{ID: "a/1"}}}
	if who, _ := s.AnsweredBy(keyless); who != "no key" {
		t.Errorf("a request that nobody has a key for reads %q", who)
	}
	for status, want := range map[int]string{503: "none ready", 401: "not let in", 413: "too large", 501: "not spoken", 400: "refused"} {
		if who, _ := s.AnsweredBy(&trace.Route{Done: true, Status: status}); who != want {
			t.Errorf("a refusal with status %d reads %q, want %q", status, who, want)
		}
	}
}

func TestTheCachedShareIsOfTheWholeInput(t *testing.T) {
	if got, known := CachedShare(trace.Tokens{Input: 20410, CacheRead: 17960}); got != 88 || !known {
		t.Errorf("17,960 of 20,410 is told as %d%%", got)
	}
	if _, known := CachedShare(trace.Tokens{}); known {
		t.Error("an unknown input has a cached share")
	}
	if got, _ := CachedShare(trace.Tokens{Input: 1000, CacheRead: 999}); got != 99 {
		t.Errorf("all but one of a thousand is told as %d%%", got)
	}
	if got, _ := CachedShare(trace.Tokens{Input: 10, CacheRead: 30}); got != 100 {
		t.Errorf("more cached than sent is told as %d%%", got)
	}
}

func TestTheEarliestReturnIsThatOfTheFirstToComeBack(t *testing.T) {
	soon, late := noon.Add(time.Minute), noon.Add(time.Hour)
	r := &trace.Route{
		Order: []trace.Candidate{{ID: "a/1", Rest: &trace.Rest{Until: late}}, {ID: "b/1"}},
		Tries: []trace.Try{{ID: "b/1", Rest: &trace.Rest{Until: soon}}},
	}
	if at, who := Earliest(r); !at.Equal(soon) || who != "b/1" {
		t.Errorf("the earliest return is %s at %v", who, at)
	}
	r.Order = append(r.Order, trace.Candidate{ID: "c/1"})
	r.Tries = append(r.Tries, trace.Try{ID: "c/1", Fail: trace.Refused})
	if at, who := Earliest(r); !at.IsZero() || who != "" {
		t.Errorf("one of them did not rest, and %s is said to be the first back", who)
	}
}

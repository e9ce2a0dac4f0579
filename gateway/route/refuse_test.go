package route_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestWhatAnAgentIsToldInsteadOfAsking(t *testing.T) {
	named := func(id provider.AccountID) func(*route.Call) {
		return func(c *route.Call) { c.Only = id }
	}
	made := func(id provider.AccountID, api wire.Protocol) func(*route.Call) {
		return func(c *route.Call) { c.Made, c.Protocol = id, api }
	}
	for _, tt := range []struct {
		name, board string
		call        func(*route.Call)
		status      int
		code        string
		says        []string
		retry       time.Duration // from now, 0 = not told
	}{
		{"somebody is ready", "a fine", nil, 0, "", nil, 0},
		{"a lone one that rests is asked", "a rests", nil, 0, "", nil, 0},
		{"every one paused", "a paused, b paused-an-hour; x off", nil, 503, "all_paused", []string{"own/a", "own/b until 2026-03-04 13:00:00 UTC", "magpie resume own/a"}, time.Hour},
		{"every one paused for good", "a paused", nil, 503, "all_paused", []string{"own/m"}, 0},
		{"one paused, the other without a secret", "a paused, b unready", nil, 503, "all_paused", nil, 0},
		{"no secret", "a unready, b unready, c off", nil, 401, "no_key", []string{"own/a: OWN_KEY is not set", "own/b"}, 0},
		{"the API is not there", "a for-messages, b barred", func(c *route.Call) { c.Own = true }, 501, "api_not_supported", []string{"Chat Completions", "own/a has messages"}, 0},
		{"neither API is there", "a for-messages", func(c *route.Call) { c.Own, c.Also = true, wire.Gemini }, 404, "api_not_supported", []string{"over Chat Completions or Gemini", "own/a has messages"}, 0},
		{"the other API is there", "a for-messages", func(c *route.Call) { c.Own, c.Also = true, wire.Messages }, 0, "", nil, 0},
		{"barred from the model", "a barred, b barred", nil, 403, "model_not_allowed", []string{"own/a does not have m"}, 0},
		{"barred, the other without a secret", "a barred, b unready", nil, 401, "no_key", nil, 0},
		{"only shown", "a fine, b off; x off", func(c *route.Call) { c.Target.Provider.ReadOnly = "its vendor forbids it" }, 403, "account_read_only", []string{"own/a: its vendor forbids it"}, 0},
		{"only shown, and without its sign-in", "a unready", func(c *route.Call) { c.Target.Provider.ReadOnly = "its vendor forbids it" }, 403, "account_read_only", nil, 0},
		{"only shown, and paused", "a paused", func(c *route.Call) { c.Target.Provider.ReadOnly = "its vendor forbids it" }, 403, "account_read_only", nil, 0},
		{"only shown, its fallback is asked", "a fine; x fine", func(c *route.Call) { c.Target.Provider.ReadOnly = "its vendor forbids it" }, 0, "", nil, 0},
		{"only shown, and named", "a fine; x fine", func(c *route.Call) { c.Target.Provider.ReadOnly, c.Only = "its vendor forbids it", "own/a" }, 403, "account_read_only", nil, 0},
		{"all off", "a off, b off", nil, 404, "account_off", []string{"own/a, own/b"}, 0},

		{"named and there", "a fine, b rests", named("own/a"), 0, "", nil, 0},
		{"named and unknown", "a fine, b off; x fine", named("own/z"), 404, "account_not_found", []string{"own/z", "own/a, own/b, spare/x"}, 0},
		{"named and barred", "a barred, b fine", named("own/a"), 400, "model_not_allowed", []string{"own/a does not have m"}, 0},
		{"named and resting", "a rests, b fine", named("own/a"), 429, "account_resting", []string{"2026-03-04 12:01:00 UTC", "(rate)", "magpie wake own/a"}, time.Minute},
		{"named and paused", "a paused-an-hour, b fine", named("own/a"), 503, "all_paused", []string{"own/a"}, time.Hour},
		{"named and without its secret", "a unready, b fine", named("own/a"), 401, "no_key", nil, 0},
		{"named and off", "a off, b fine", named("own/a"), 404, "account_off", nil, 0},
		{"pinned as the only one, and resting", "a fine, b pinned-only rests", nil, 429, "account_resting", []string{"magpie wake own/b", "magpie unpin own/b lets others answer"}, time.Minute},
		{"pinned as the only one, and paused", "a fine, b pinned-only paused", nil, 503, "all_paused", []string{"magpie resume own/b", "magpie unpin own/b"}, 0},
		{"pinned as the only one, and barred", "a fine, b pinned-only barred", nil, 400, "model_not_allowed", []string{"own/b does not have m", "magpie unpin own/b"}, 0},
		{"pinned as the only one, and without its secret", "a fine, b pinned-only unready", nil, 401, "no_key", []string{"magpie unpin own/b"}, 0},
		{"a pin has no say in what the request names", "a paused, b pinned-only", named("own/a"), 503, "all_paused", []string{"-magpie unpin"}, 0},
		{"pinned, and resting: the others take over", "a fine, b pinned rests", nil, 0, "", nil, 0},
		{"tied by its name, and resting: it is the only one, so it is asked", "a rests, b fine", func(c *route.Call) { c.Target.Who = "a" }, 0, "", nil, 0},

		{"who made the earlier reply is there", "a fine, b fine", made("own/b", wire.Chat), 0, "", nil, 0},
		{"it rests, and is asked", "a fine, b rests", made("own/b", wire.Chat), 0, "", nil, 0},
		{"it is paused", "a fine, b paused", made("own/b", wire.Messages), 404, "previous_response_not_found", []string{"own/b"}, 0},
		{"it is no longer there, over Responses", "a fine", made("own/z", wire.Responses), 400, "previous_response_not_found", nil, 0},
		{"another is named", "a fine, b fine", func(c *route.Call) { c.Made, c.Only = "own/b", "own/a" }, 404, "previous_response_not_found", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := draw(t, tt.board)
			c := b.call()
			if tt.call != nil {
				tt.call(&c)
			}
			r := route.Refuse(route.Plan(&b.snap, c), c)
			switch {
			case r == nil && tt.status != 0:
				t.Fatalf("it is asked, want %d %s", tt.status, tt.code)
			case r == nil:
				return
			case r.Status != tt.status || r.Code != tt.code:
				t.Fatalf("got %d %s (%s), want %d %s", r.Status, r.Code, r.Words, tt.status, tt.code)
			}
			for _, want := range tt.says {
				if not, found := strings.CutPrefix(want, "-"); found == strings.Contains(r.Words, not) {
					t.Errorf("%q, and %q is wanted", r.Words, want)
				}
			}
			var retry time.Time
			if tt.retry != 0 {
				retry = now.Add(tt.retry)
			}
			if !r.RetryAt.Equal(retry) {
				t.Errorf("retry at %v, want %v", r.RetryAt, retry)
			}
		})
	}
}

func TestNothingToAsk(t *testing.T) {
	cat := catalog(t, house+"[groups.g]\nmembers = [\"c/y\"]")
	s := route.Snapshot{Now: now, Catalog: cat}
	empty := *cat.Group("g")
	empty.Members = nil
	c := route.Call{Target: provider.Target{Group: &empty}}
	if r := route.Refuse(route.Plan(&s, c), c); r == nil || r.Status != 404 || r.Code != "group_empty" {
		t.Errorf("an empty group: %+v", r)
	}
	bare := *cat.Provider("c")
	bare.Accounts = nil
	c = route.Call{Target: provider.Target{Provider: &bare, Model: "y"}}
	if r := route.Refuse(route.Plan(&s, c), c); r == nil || r.Status != 404 || r.Code != "no_candidates" || !strings.Contains(r.Words, "c/y") {
		t.Errorf("a provider of nobody: %+v", r)
	}
}

func TestALongListOfReasonsIsCut(t *testing.T) {
	names := strings.Split("a b c d e f g h i j k l", " ")
	b := draw(t, strings.Join(names, " paused, ")+" paused")
	r := route.Refuse(route.Plan(&b.snap, b.call()), b.call())
	if !strings.Contains(r.Words, "own/h, and more;") || strings.Contains(r.Words, "own/i") {
		t.Errorf("%s", r.Words)
	}
}

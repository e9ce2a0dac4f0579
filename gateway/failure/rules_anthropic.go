package failure

import (
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

var (
	anthropicReset = &Fact{"an anthropic-ratelimit-unified window is rejected", unifiedRejected}
	oneModelWindow = &Fact{"each rejected window is one model's", func(r *reply) bool {
		windows := rejectedWindows(r.Header)
		for _, w := range windows {
			if !strings.Contains(w, "_") { // 7d_opus, 7d_sonnet
				return false
			}
		}
		return len(windows) > 0
	}}
	errorStatus = &Fact{"a status from 400", func(r *reply) bool { return r.status >= 400 }}

	spendEnd = &Ends{Says: "the date in the text, else the month's end", Read: func(r *reply) reset {
		if t, ok := dateText(r); ok && t.After(r.At) {
			return r.within(t, trace.ByResets)
		}
		return r.within(nextMonth(r.At), trace.ByResets)
	}}
)

// nextMonth is the first of the next month, UTC: when monthly allowances renew.
func nextMonth(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

var anthropicRules = []Rule{
	{
		Name: "claude-sign-in", When: When{Vendors: []string{"anthropic"}, Words: signIn, Is: []*Fact{isAccount, errorStatus}},
		Then: trace.Auth, Scope: whole,
		Says: "the account has to sign in again",
	},
	{
		Name: "anthropic-low-balance", When: When{Text: phrases("Anthropic's credit", "your credit balance is too low")},
		Then: trace.Credit, Scope: whole,
		Says: "a 400 whose type says invalid_request_error: the type lies",
	},
	{
		Name: "anthropic-billing", When: When{Codes: []string{"billing_error"}}, Then: trace.Credit, Scope: whole,
		Says: "billing_error",
	},
	{
		Name: "anthropic-spend-limit",
		When: When{Text: phrases("Anthropic's spend limit", "reached your (specified )?(workspace )?api usage limit*", "enforced spend limit reached")},
		Then: trace.Quota, Scope: whole, Ends: spendEnd,
		Says: "the owner's own limit, till the day that the text names",
	},
	{
		Name: "anthropic-prompt-too-long",
		When: When{
			Status: []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge},
			Text:   phrases("Anthropic's too long", "prompt is too long", "input length and `max tokens` exceed context limit"),
		},
		Then: trace.TooLarge,
		Says: "its own clients read these words, so they stay as they are",
	},
	{
		Name: "anthropic-too-large", When: When{Codes: []string{"request_too_large"}}, Then: trace.TooLarge, Bytes: true,
		Says: "32 MB of body",
	},
	{
		Name: "anthropic-thinking",
		When: When{
			Status: []int{http.StatusBadRequest},
			Text:   phrases("thinking of another", "invalid `signature` in `thinking` block", "invalid signature in thinking", "expected `thinking` or `redacted thinking`", "thinking blocks …cannot be modified"),
		},
		Then: trace.Request,
		Says: "thinking that this account didn't make",
	},
	{
		Name: "anthropic-cache-marks",
		When: When{Status: []int{http.StatusBadRequest}, Text: phrases("cache marks", "maximum of # blocks with cache control")},
		Then: trace.Request,
		Says: "more than four cache marks",
	},
	{
		Name: "anthropic-messages",
		When: When{
			Status: []int{http.StatusBadRequest},
			Text:   phrases("messages' shape", "content blocks must be non empty", "ids were found without `tool result`", "unexpected `tool use id`", "roles must alternate"),
		},
		Then: trace.Request,
		Says: "messages that can't stand so",
	},
	{
		Name: "anthropic-thread", When: When{Codes: []string{"thread_not_found", "thread_unsupported_request"}}, Then: trace.Request,
		Says: "a message thread that is another's: the agent sends all again",
	},
	{
		Name: "anthropic-window",
		When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{anthropicReset}},
		Then: trace.Quota, Scope: whole, Narrow: oneModelWindow,
		Says: "an account's window is full, till the latest rejected one renews",
	},
	{
		Name: "anthropic-overloaded",
		When: When{Codes: []string{"overloaded_error"}}, Then: trace.Overloaded, Scope: whole, Ends: untold,
		Says: "the vendor, not the key; its retry-after isn't to be trusted",
	},
	{
		Name: "anthropic-not-found",
		When: When{Status: []int{http.StatusNotFound}, Codes: []string{"not_found_error"}, Text: phrases("a model named by Anthropic", "model:", "model")},
		Then: trace.Model, Scope: model,
		Says: "no such model for this key",
	},
}

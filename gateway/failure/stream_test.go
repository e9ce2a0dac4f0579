package failure_test

import (
	"errors"
	"strings"
	"testing"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// TestTheStatusAnErrorEventStandsFor: the first of the five that fits.
func TestTheStatusAnErrorEventStandsFor(t *testing.T) {
	for _, c := range []struct {
		code, words string
		want        int
	}{
		{"overloaded_error", "Overloaded", 529},
		{"server_is_overloaded", "", 529},
		{"", "the engine is overloaded, rate limit", 529},
		{"", "Insufficient balance", 402},
		{"billing_error", "insufficient credits for this rate", 502},
		{"", "insufficient balance, rate limited", 429},
		{"insufficient_quota", "You exceeded your current quota", 429},
		{"rate_limit_error", "", 429},
		{"rate_limit_exceeded", "slow", 429},
		{"", "rate limit", 429},
		{"", "too many requests", 429},
		{"", "usage limit reached", 429},
		{"RESOURCE_EXHAUSTED", "", 429},
		{"model_not_found", "The model does not exist", 400},
		{"", "unknown model gpt-nine", 400},
		{"invalid_request_error", "", 400},
		{"context_length_exceeded", "", 400},
		{"", "prompt is too long", 400},
		{"server_error", "", 502},
		{"api_error", "Internal server error", 502},
		{"", "", 502},
	} {
		if got := failure.StreamStatus(c.code, c.words); got != c.want {
			t.Errorf("%q %q: %d, want %d", c.code, c.words, got, c.want)
		}
	}
}

// TestAnErrorAsTheFirstEventIsThatError: in each API's shape, as the event's JSON
// and as the event came.
func TestAnErrorAsTheFirstEventIsThatError(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       trace.Kind
		status     int
	}{
		{"messages", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, trace.Overloaded, 529},
		{"messages, rate", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, trace.Rate, 429},
		{"messages, credit", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, trace.Credit, 402},
		{"messages, bad request", `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: field required"}}`, trace.Request, 400},
		{"responses, failed", `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"try again in 3s"}}}`, trace.Rate, 429},
		{"responses, server", `{"type":"response.failed","response":{"error":{"code":"server_error","message":"sorry"}}}`, trace.Other, 502},
		{"responses, error", `{"type":"error","code":"server_is_overloaded","message":"busy","param":null}`, trace.Overloaded, 529},
		{"responses, on a socket", `{"type":"error","status":429,"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":60}}`, trace.Quota, 429},
		{"chat", `{"error":{"message":"Insufficient credits","code":402}}`, trace.Credit, 402},
		{"chat, beside a chunk", `{"id":"x","choices":[],"error":{"message":"upstream died","code":502}}`, trace.Other, 502},
		{"gemini", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, trace.Overloaded, 503},
		{"gemini, in an array", `[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`, trace.Rate, 429},
		{"Zhipu", `{"error":{"code":"1305","message":"busy"}}`, trace.Overloaded, 502},
		{"refused", `{"error":{"code":"content_filter","message":"no"}}`, trace.Refused, 400},
		{"nothing that can be read", `oops`, trace.Other, 502},
	} {
		for _, body := range []string{c.body, ": ping\n\nevent: error\ndata: " + c.body + "\n\n", "data:" + strings.Replace(c.body, ",", ",\ndata:", 1) + "\n\n"} {
			v := failure.ClassifyEvent(failure.Seen{Body: []byte(body), At: noon})
			if v.Kind != c.kind || v.Status != c.status {
				t.Errorf("%s: row %s says %s, %d; want %s, %d\n%s", c.name, v.Row, v.Kind, v.Status, c.kind, c.status, body)
			}
		}
	}
}

// TestAStreamThatBreaks says so, and never in the transport's words.
func TestAStreamThatBreaks(t *testing.T) {
	v := failure.ClassifyEvent(failure.Seen{Err: errors.New("unexpected EOF"), At: noon})
	if v.Kind != trace.Network || v.Status != 502 || strings.Contains(v.Words, "EOF") || !strings.Contains(v.Words, "lost mid-reply") {
		t.Errorf("%+v", v)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		code, typ, words string
		want             bool
	}{
		{"content_filter", "", "", true},
		{"", "content_filter", "", true},
		{"content_policy_violation", "invalid_request_error", "", true},
		{"bio_policy", "", "", true},
		{"cyber_policy", "", "", true},
		{"", "Some_Policy", "", true},
		{"invalid_prompt", "", "Your prompt was flagged as potentially violating our usage policy.", true},
		{"invalid_prompt", "", "It may break our usage policies", true},
		{"invalid_prompt", "", "no such template", false},
		{"policy", "", "", false},
		{"_policy", "", "", false},
		{"bio2_policy", "", "", false},
		{"policy_error", "", "", false},
		{"invalid_request_error", "", "the prompt was flagged", false},
	} {
		if got := failure.Refusal(c.code, c.typ, c.words); got != c.want {
			t.Errorf("%q %q %q: %v", c.code, c.typ, c.words, got)
		}
	}
	v := failure.Classify(reply(403, `{"error":{"code":"bio_policy","message":"no"}}`))
	if v.Kind != trace.Refused || v.Status != 400 || v.Scope != trace.ScopeNone || !v.Next {
		t.Errorf("an error status that refuses: %+v", v)
	}
}

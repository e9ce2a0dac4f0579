package standin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

func TestEveryRowOfWordsCanBeSaid(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range standin.WordNames() {
		if seen[name] {
			t.Errorf("two rows %s", name)
		}
		seen[name] = true
		for _, more := range []string{"", " resets=3h"} {
			t.Run(name+more, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, stop := up(t, standin.Options{Models: []string{`odd"model`}})
					defer stop()
					s.vendor.Script("k1", standin.Must("429 words="+name+more)...)
					a := s.ask(asking{api: wire.Chat, body: `{"model":"odd\"model","messages":[{"role":"user","content":"hi"}]}`})
					if !json.Valid([]byte(a.body)) || a.status != 429 {
						t.Errorf("%d, not JSON: %s", a.status, a.body)
					}
					for _, left := range []string{"{model}", "{s}", "{ms}", "{unix}", "{iso}", "{span}", "{beijing}", "{id}", "{now}", "{limit}", "{tokens}", "<<", ">>"} {
						if strings.Contains(a.body+fmt.Sprint(a.header), left) {
							t.Errorf("%s is left in %v %s", left, a.header, a.body)
						}
					}
				})
			})
		}
	}
}

func TestRefusalsInTheVendorsWords(t *testing.T) {
	const start = 946684800 // where a bubble's clock begins
	for _, c := range []struct {
		vendor, step string
		status       int
		body         string
		header       map[string]string
	}{
		{"anthropic", "429 rate retry-after=30", 429, `"type":"rate_limit_error"`, map[string]string{"Retry-After": "30", "Anthropic-Ratelimit-Requests-Reset": "2000-01-01T00:00:30Z"}},
		{"anthropic", "429 rate", 429, `"type":"rate_limit_error"`, map[string]string{"Retry-After": ""}},
		{"anthropic", "429 quota resets=3h", 429, `would exceed your account's rate limit`, map[string]string{"Anthropic-Ratelimit-Unified-5h-Status": "rejected", "Anthropic-Ratelimit-Unified-5h-Reset": fmt.Sprint(start + 3*3600), "Retry-After": "10800"}},
		{"anthropic", "529", 529, `"type":"overloaded_error"`, nil},
		{"anthropic", "400 credit", 400, `credit balance is too low`, nil},
		{"anthropic", "400 too-long", 400, `prompt is too long: 1125000 tokens > 1000000 maximum`, nil},
		{"anthropic", "500", 500, `"type":"api_error"`, nil},
		{"openai", "429 rate retry-after=6.5", 429, `Please try again in 6.5s.`, map[string]string{"Retry-After-Ms": "6500", "X-Ratelimit-Reset-Tokens": "6.5s"}},
		{"openai", "429 credit", 429, `"code":"insufficient_quota"`, nil},
		{"openai", "400 too-long", 400, `"code":"context_length_exceeded"`, nil},
		{"codex", "429 quota resets=3h", 429, `"resets_in_seconds":10800`, map[string]string{"X-Codex-Primary-Reset-After-Seconds": "10800", "X-Codex-Primary-Used-Percent": "100"}},
		{"gemini", "429 rate retry-after=38", 429, `"retryDelay":"38s"`, nil},
		{"gemini", "429 quota", 429, `PerDay`, nil},
		{"gemini", "429 words=gemini-array retry-after=38", 429, `[{"error"`, nil},
		{"gemini", "429 words=gemini-cli retry-after=54s", 429, `"quotaResetDelay":"54s"`, nil},
		{"glm", "429 quota resets=2h", 429, `Your limit will reset at 2000-01-01 10:00:00`, nil},
		{"glm", "429 words=glm-1113-zh", 429, `余额不足`, nil},
		{"kimi", "403 quota", 403, `weekly (7-day) usage limit`, nil},
		{"deepseek", "402", 402, `Insufficient Balance`, nil},
		{"xai", "429 words=xai-string", 429, `"Your team 0000 has either used all`, nil},
		{"openrouter", "429 rate", 429, `"raw":`, nil},
		{"azure", "429 rate retry-after=45", 429, `Please retry after 45 seconds.`, map[string]string{"Retry-After": "45"}},
		{"sub2api", "429 quota", 429, `日限额已用完`, nil},
		{"", "429 rate retry-after=5", 429, `please try again in 5s`, map[string]string{"Retry-After": "5"}},
		{"", "429 quota words=codex resets=90s", 429, `"usage_limit_reached"`, nil},
		{"", "404", 404, `does not exist`, nil},
		{"", "418", 418, `Internal server error`, nil},
		{"", "400 bad say=\"just no\" type=text/plain", 400, `just no`, map[string]string{"Content-Type": "text/plain"}},
	} {
		t.Run(c.vendor+" "+c.step, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: c.vendor, APIs: wire.Protocols, Models: []string{"claude-sonnet-5"}})
				defer stop()
				s.vendor.Script("k1", standin.Must(c.step)...)
				a := s.ask(asking{api: wire.Messages, body: bodies[wire.Messages]})
				if a.status != c.status || !strings.Contains(a.body, c.body) {
					t.Errorf("got %d %s", a.status, a.body)
				}
				for name, want := range c.header {
					if got := a.header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
			})
		})
	}
}

func TestEveryReasonHasPlainWordsInEveryShape(t *testing.T) {
	for _, api := range wire.Protocols {
		for _, why := range standin.Whys {
			t.Run(string(api)+" "+string(why), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, stop := up(t, standin.Options{})
					defer stop()
					s.vendor.Script("k1", standin.Status(0, why), standin.ErrorFirst(why))
					a := s.ask(asking{api: api, body: bodies[api]})
					if a.status < 400 || at(a.value(t), "error", "message") == "" {
						t.Errorf("%d %s", a.status, a.body)
					}
					b := s.ask(streamed(api))
					if b.status != http.StatusOK || len(b.events()) != 1 {
						t.Errorf("%d %s", b.status, b.body)
					}
				})
			})
		}
	}
}

func TestConstructorsSayWhatTheLanguageSays(t *testing.T) {
	for _, c := range []struct {
		fault standin.Fault
		step  string
	}{
		{standin.OK("hi"), "ok text=hi"},
		{standin.OK("").For(standin.Always), "ok x*"},
		{standin.Status(500, "").For(3), "500 x3"},
		{standin.RateLimited(30 * time.Second), "429 rate retry-after=30"},
		{standin.WebPage(403), "page"},
		{standin.Nothing(200), "empty"},
		{standin.Body(200, "text/plain", "no"), "body 200 say=no type=text/plain"},
		{standin.ErrorFirst(standin.WhyOverloaded), "error-first"},
		{standin.ErrorAfter(2, standin.WhyServer), "error"},
		{standin.CutAfter(3), "cut after=3"},
		{standin.ResetAfter(2), "rst"},
		{standin.HangUp(), "drop"},
		{standin.Silent(20*time.Second, standin.AtContent), "silence 20s"},
		{standin.Withheld(standin.AfterThink), "refuse after-thinking"},
		{standin.Withheld(standin.AtContent), "refuse"},
	} {
		if got, want := c.fault.String(), standin.Must(c.step)[0].String(); got != want {
			t.Errorf("%q and %q", got, want)
		}
	}
}

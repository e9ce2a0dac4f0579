package standin_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

func windows(t *testing.T, list string) []standin.Window {
	t.Helper()
	w, err := standin.ParseWindows(list)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRepliesTellTheWindowsInTheVendorsHeaders(t *testing.T) {
	for vendor, want := range map[string]map[string]string{
		"anthropic": {
			"Anthropic-Ratelimit-Unified-Status": "allowed_warning", "Anthropic-Ratelimit-Unified-5h-Utilization": "0.91", "Anthropic-Ratelimit-Unified-5h-Status": "allowed_warning",
			"Anthropic-Ratelimit-Unified-5h-Reset": "946690800", "Anthropic-Ratelimit-Unified-7d-Utilization": "0.62", "Anthropic-Ratelimit-Unified-7d-Status": "allowed",
			"Anthropic-Ratelimit-Unified-Representative-Claim": "five_hour",
		},
		"openai": {
			"X-Codex-Primary-Used-Percent": "91", "X-Codex-Primary-Window-Minutes": "300", "X-Codex-Primary-Reset-After-Seconds": "6000", "X-Codex-Primary-Reset-At": "946690800",
			"X-Codex-Secondary-Used-Percent": "62", "X-Codex-Secondary-Window-Minutes": "10080",
		},
	} {
		t.Run(vendor, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{Vendor: vendor})
				defer stop()
				s.vendor.Windows("k1", windows(t, "5h:91%/1h40m,7d:62%/3d")...)
				api := map[string]wire.Protocol{"anthropic": wire.Messages, "openai": wire.Chat}[vendor]
				a := s.ask(streamed(api))
				for name, value := range want {
					if got := a.header.Get(name); got != value {
						t.Errorf("%s: %q, want %q", name, got, value)
					}
				}
			})
		})
	}
}

func TestAFullWindowRefusesUntilItRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		s.vendor.Windows("k1", windows(t, "5h:98%/10m+1,7d:20%/3d")...)
		var got []string
		for range 4 {
			a := s.ask(messages(hi))
			got = append(got, fmt.Sprintf("%d %s", a.status, a.header.Get("Anthropic-Ratelimit-Unified-5h-Utilization")))
			if a.status == 429 && (a.header.Get("Retry-After") != "600" || a.header.Get("Anthropic-Ratelimit-Unified-7d-Utilization") != "0.2") {
				t.Errorf("the refusal says %v", a.header)
			}
		}
		if want := "200 0.99,200 1,429 1,429 1"; strings.Join(got, ",") != want {
			t.Errorf("got %s, want %s", strings.Join(got, ","), want)
		}
		if a := s.ask(asking{api: wire.Messages, key: "k2", body: bodies[wire.Messages]}); a.status != 200 || a.header.Get("Anthropic-Ratelimit-Unified-Status") != "" {
			t.Errorf("another key: %d %v", a.status, a.header)
		}
		<-time.After(10 * time.Minute)
		a := s.ask(messages(hi))
		if a.status != 200 || a.header.Get("Anthropic-Ratelimit-Unified-5h-Utilization") != "0.01" || a.header.Get("Anthropic-Ratelimit-Unified-5h-Reset") != fmt.Sprint(946684800+600+5*3600) {
			t.Errorf("renewed: %d %v", a.status, a.header)
		}
	})
}

func TestAStepTellsWindowsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		s.vendor.Script("k1", standin.Must("ok windows=5h:50%", "429 quota resets=2h windows=5h:40%/3m,7d:100%/2h")...)
		if a := s.ask(messages(hi)); a.header.Get("Anthropic-Ratelimit-Unified-5h-Utilization") != "0.5" {
			t.Errorf("%v", a.header)
		}
		a := s.ask(messages(hi))
		if a.status != 429 || a.header.Get("Anthropic-Ratelimit-Unified-7d-Status") != "rejected" || a.header.Get("Anthropic-Ratelimit-Unified-5h-Status") != "allowed" {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
}

func TestWindowsThatCannotBeRead(t *testing.T) {
	for _, list := range []string{"5h", "5h:x%", "soon:5%", "5h:5%/never", "5h:5%+much"} {
		if _, err := standin.ParseWindows(list); err == nil {
			t.Errorf("%q reads", list)
		}
	}
}

// talk is a conversation with a long beginning, so that it is worth caching.
func talk(turns int, mark string) asking {
	long := strings.Repeat("All work and no play. ", 400)
	var b strings.Builder
	for i := range turns {
		if i > 0 {
			b.WriteString(`,{"role":"assistant","content":"yes"},`)
		}
		m := ""
		if i == turns-1 {
			m = mark
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"turn %d %s"%s}]}`, i, long, m)
	}
	return messages(`"messages":[` + b.String() + `]`)
}

func TestPromptsAreCachedPerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic"})
		defer stop()
		usage := func(q asking) (input, read, written float64) {
			u := at(s.ask(q).value(t), "usage")
			return at(u, "input_tokens").(float64), at(u, "cache_read_input_tokens").(float64), at(u, "cache_creation_input_tokens").(float64)
		}
		const mark = `,"cache_control":{"type":"ephemeral"}`
		if input, read, written := usage(talk(1, "")); read != 0 || written != 0 || input < 2000 {
			t.Errorf("without a mark: %v in, %v read, %v written", input, read, written)
		}
		_, read, first := usage(talk(1, mark))
		if read != 0 || first < 2000 {
			t.Errorf("the first turn: %v read, %v written", read, first)
		}
		_, read, written := usage(talk(2, mark))
		if read != first || written < 2000 {
			t.Errorf("the second turn: %v read of %v, %v written", read, first, written)
		}
		q := talk(2, mark)
		q.key = "k2"
		if _, read, _ := usage(q); read != 0 {
			t.Errorf("another key read %v", read)
		}
	})
}

func TestOpenAICachesWithoutMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "openai", Overhead: 5000})
		defer stop()
		cached := func() float64 {
			return at(s.ask(chat(hi)).value(t), "usage", "prompt_tokens_details", "cached_tokens").(float64)
		}
		if first, second := cached(), cached(); first != 0 || second < 5000 {
			t.Errorf("first %v, second %v", first, second)
		}
	})
}

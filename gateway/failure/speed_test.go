package failure_test

import (
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/failure"
)

const mebibyte = 1 << 20

// bigBodies are bodies of 1 MiB that would take long to read in full.
func bigBodies() map[string]string {
	return map[string]string{
		"one long message":  message(strings.Repeat("the quota of the limit resets your ", mebibyte/35)),
		"many fields":       "{" + strings.Repeat(`"a":{"message":"x","code":"y"},`, mebibyte/32) + `"z":1}`,
		"many errors":       "[" + strings.Repeat(`{"error":{"message":"credit balance model limit"}},`, mebibyte/51) + "{}]",
		"deep":              strings.Repeat(`{"error":`, mebibyte/9),
		"deep arrays":       strings.Repeat(`[`, mebibyte),
		"quotes":            message(strings.Repeat(`'a" `, mebibyte/4)),
		"plain":             strings.Repeat("model not exceed your limit ", mebibyte/28),
		"a page":            "<html>" + strings.Repeat("<b>x", mebibyte/4),
		"blanks":            strings.Repeat(" ", mebibyte),
		"braces in a text":  strings.Repeat("{[", mebibyte/2),
		"nested in strings": nested(12),
		"an event":          "data: " + strings.Repeat("x\ndata: ", mebibyte/8),
	}
}

func nested(depth int) string {
	s := "inner"
	for range depth {
		s = message(s + strings.Repeat(" ", 100))
		if len(s) > mebibyte {
			break
		}
	}
	return s + strings.Repeat(" ", max(0, mebibyte-len(s)))
}

// A reading that goes over a body again and again takes minutes for one of a mebibyte; one that does
// not takes some milliseconds, which the benchmark tells. In between lies what a busy machine adds.
func TestABodyOfOneMebibyteIsJudgedAtOnce(t *testing.T) {
	failure.Classify(reply(400, message("warm"))) // the lists are compiled once
	for name, body := range bigBodies() {
		for _, status := range []int{400, 403, 429, 500} {
			best, limit := time.Hour, time.Second*slowdown
			for n := 0; n < 8 && best > limit; n++ {
				start := time.Now()
				failure.Classify(reply(status, body))
				best = min(best, time.Since(start))
			}
			if best > limit {
				t.Errorf("%s at %d takes %s", name, status, best)
			}
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	small := reply(429, message("Rate limit reached for gpt-x. Please try again in 6.5s."))
	b.Run("small", func(b *testing.B) {
		for b.Loop() {
			failure.Classify(small)
		}
	})
	for name, body := range bigBodies() {
		s := reply(500, body)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				failure.Classify(s)
			}
		})
	}
}

package failure_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// FuzzClassify: whatever comes, there is a verdict, and it is fit to be told.
func FuzzClassify(f *testing.F) {
	for _, x := range fixtures(f) {
		f.Add(x.seen.Vendor, x.seen.Status, string(x.seen.Phase), x.seen.Header.Get("Retry-After"), x.seen.Body)
	}
	f.Fuzz(func(t *testing.T, vendor string, status int, phase, retry string, body []byte) {
		s := reply(status, string(body), "Retry-After", retry, "X-Ratelimit-Reset-Tokens", retry)
		s.Vendor, s.Phase = vendor, failure.Phase(phase)
		v := failure.Classify(s)
		switch {
		case v.Row == "" || v.Kind == "":
			t.Fatalf("no row: %+v", v)
		case v.Status < 400 || v.Status > 599:
			t.Fatalf("told as %d", v.Status)
		case !v.Until.IsZero() && (v.Until.Before(noon) || v.Until.Sub(noon) > 8*24*time.Hour):
			t.Fatalf("until %s", v.Until)
		case (v.By == "") != v.Until.IsZero():
			t.Fatalf("by %q until %s", v.By, v.Until)
		case !utf8.ValidString(v.Words) || utf8.RuneCountInString(v.Words) > 300 || strings.ContainsAny(v.Words, "\n\r\t\x00\x1b"):
			t.Fatalf("words %q", v.Words)
		case status == 429 && v.Kind == trace.TooLarge:
			t.Fatal("a 429 is never too large")
		case v.Passes && !v.Next:
			t.Fatalf("may pass, but no other may do better: %+v", v)
		}
		if r, ok := failure.RestFor(v, failure.Past{}, time.Time{}, noon); ok {
			if d := r.Until.Sub(noon); d <= 0 || d > 8*24*time.Hour || r.By == "" || r.Why != v.Kind {
				t.Fatalf("rest %s by %q for %s", d, r.By, r.Why)
			}
		}
		if w := failure.TooLongWords("messages", v.Words); w == "" {
			t.Fatal("no words")
		}
	})
}

package failure

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	// streamQuota are the words by which an error inside a stream is a 429.
	streamQuota = join("quota in a stream", usedUp, phrases("", "quota", "usage limit*", "limit reached", "too many", "rate limit*", "throttl*", "resource exhausted", "额度", "用量", "限流", "频率"))
	// streamBad are those by which it is a 400.
	streamBad = phrases("bad request in a stream", "invalid*", "context length*", "too long", "validation*", "bad request")
)

// StreamStatus is the HTTP status that an error event inside a 2xx stands for, by
// its code or type and its message.
func StreamStatus(code, words string) int {
	t := fold(strings.ToLower(strings.ReplaceAll(code, "_", " ") + " " + strings.ReplaceAll(words, "_", " ")))
	t = cut(t, maxWord)
	switch {
	case strings.Contains(t, "overloaded"):
		return statusOverloaded
	case (moneyGone.in(t) || moneyWords.in(t)) && !strings.Contains(t, "rate"):
		return http.StatusPaymentRequired
	case streamQuota.in(t):
		return http.StatusTooManyRequests
	case unserved.in(t), streamBad.in(t):
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// refusalCodes say by themselves that the vendor refuses for safety.
var refusalCodes = []string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed"}

var (
	policyCode = regexp.MustCompile(`^[a-z]+_policy$`)
	promptSaid = phrases("invalid prompt for safety", "flagged", "usage polic*")
)

// Refusal reports whether an error refuses for safety: by a code or type made for
// it, any "<letters>_policy", or an invalid_prompt whose words say so.
func Refusal(code, typ, words string) bool {
	for _, c := range []string{strings.ToLower(code), strings.ToLower(typ)} {
		switch {
		case slices.Contains(refusalCodes, c), policyCode.MatchString(c):
			return true
		case c == "invalid_prompt" && promptSaid.in(fold(strings.ToLower(words))):
			return true
		}
	}
	return false
}

// refuses is Refusal over everything that the reply said.
func refuses(r *reply) bool {
	for _, c := range r.codes {
		if Refusal(c, "", r.text) {
			return true
		}
	}
	return false
}

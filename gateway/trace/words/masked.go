package words

import (
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
)

// Masked says for how much of a request vendors read placeholders, "" when for nothing.
func Masked(m *trace.Masked) string {
	if m == nil {
		return ""
	}
	var said []string
	count := func(n int, one, more string) {
		switch {
		case n == 1:
			said = append(said, "1 "+one)
		case n > 1:
			said = append(said, strconv.Itoa(n)+" "+more)
		}
	}
	count(m.Secrets, "secret", "secrets")
	count(m.Personal, "personal detail", "personal details")
	count(m.Words, "word of yours", "words of yours")
	if len(said) < 3 {
		return strings.Join(said, " and ")
	}
	return said[0] + ", " + said[1] + " and " + said[2]
}

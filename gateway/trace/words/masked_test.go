package words_test

import (
	"testing"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
)

func TestHowMuchWasMaskedIsSaidWithoutValues(t *testing.T) {
	for want, m := range map[string]*trace.Masked{
		"":                              nil,
		"1 secret":                      {Secrets: 1},
		"2 secrets and 1 word of yours": {Secrets: 2, Words: 1},
		"3 personal details":            {Personal: 3},
		"1 secret, 1 personal detail and 2 words of yours": {Secrets: 1, Personal: 1, Words: 2},
	} {
		if got := words.Masked(m); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package redact

import "strings"

// prefix is how tokens of one kind begin.
type prefix struct {
	text   string
	min    int  // letters after it
	chance bool // only when what follows looks random: the prefix is also a word's beginning
}

// prefixes are those that vendors give to their keys and tokens.
var prefixes = []prefix{
	{"sk-", 8, false}, // OpenAI, Anthropic, most relays
	{"csk-", 8, false},
	{"AIza", 6, false}, // Google
	{"ya29.", 8, false},
	{"1//0", 12, false},
	{"ghp_", 8, false}, // GitHub
	{"gho_", 8, false},
	{"ghu_", 8, false},
	{"ghs_", 8, false},
	{"ghr_", 8, false},
	{"github_pat_", 8, false},
	{"glpat-", 8, false},
	{"xai-", 8, false},
	{"gsk_", 8, false},
	{"pplx-", 8, false},
	{"nvapi-", 8, false},
	{"tgp_v1_", 8, false},
	{"AKIA", 12, true}, // AWS
	{"ASIA", 12, true},
	{"xoxb-", 8, false}, // Slack
	{"xoxp-", 8, false},
	{"xapp-", 8, false},
	{"hf_", 12, true},
	{"fw_", 12, true},
	{"r8_", 12, true},
	{"rt_", 12, true}, // refresh tokens
	{"rt.", 12, true},
	{"sess-", 12, true},
	{"key-", 12, true},
	{"tvly-", 8, true},
	{"xoxa-", 8, false},
	{"xoxs-", 8, false},
	{"xoxe.", 8, false},
	{"sk_live_", 8, false}, // Stripe
	{"sk_test_", 8, false},
	{"rk_live_", 8, false},
	{"whsec_", 12, true},
	{"SG.", 24, true}, // SendGrid
	{"npm_", 20, true},
	{"pypi-", 20, true},
	{"shpat_", 12, true}, // Shopify
	{"dop_v1_", 12, true},
	{"hvs.", 12, true}, // Vault
	{"ATATT3", 12, true},
	{"lin_api_", 12, true},
	{"ntn_", 20, true},
	{"glsa_", 12, true},
	{"glrt-", 12, true},
	{"sbp_", 12, true},
	{"figd_", 12, true},
	{"sntrys_", 12, true},
	{"AGE-SECRET-KEY-1", 20, false},
	{"eyJ", 17, false}, // JSON in base64: a JWT
	{"eyI", 17, false},
}

// byFirst has the prefixes by their first letter.
var byFirst = func() (t [256][]prefix) {
	for _, p := range prefixes {
		t[p.text[0]] = append(t[p.text[0]], p)
	}
	return t
}()

// glued is how long a token must be that stands right behind a letter.
const glued = 20

// token returns the end of the token with a known prefix that begins at i, 0 when there is none.
func (c *scan) token(i int) int {
	for k := range byFirst[c.s[i]] {
		p := &byFirst[c.s[i]][k]
		if !strings.HasPrefix(c.s[i:], p.text) {
			continue
		}
		n := c.tokens.end(i, c.s, run) - i
		if n < len(p.text)+p.min {
			continue
		}
		if c.finds != nil && !p.sure(c.s[i:i+n]) {
			continue
		}
		if (p.chance || !c.boundary(i)) && !c.chance(i, i+n) || !c.boundary(i) && n < glued {
			continue
		}
		return i + n
	}
	return 0
}

// boundary says whether a word may begin at i: no letter stands before it, or one that
// is the end of an escape, as in \nsk-… and %3Dsk-….
func (c *scan) boundary(i int) bool {
	switch {
	case i == 0 || !alnum(c.s[i-1]):
		return true
	case i > 1 && c.s[i-2] == '\\':
		return true
	case i > 2 && c.s[i-3] == '%':
		return true
	}
	return i > 5 && c.s[i-6] == '\\' && c.s[i-5] == 'u'
}

// enoughToTell is how much of a value shows whether it is prose.
const enoughToTell = 256

// scheme says whether a word is one behind which credentials stand.
func scheme(word string) bool {
	switch len(word) {
	case len("bearer"):
		return strings.EqualFold(word, "bearer")
	case len("basic"):
		return strings.EqualFold(word, "basic")
	}
	return false
}

// credentials finds what stands behind a scheme, empty when that is prose.
func (c *scan) credentials(word string, i int) (from, to int) {
	from = i + blanks(c.s[i:])
	if from == i {
		return from, from
	}
	to = c.values.end(from, c.s, unquoted)
	v := c.s[from:to]
	switch {
	case isMasked(v), v == "":
		return from, from
	case strings.EqualFold(word, "basic"):
		head := v[:min(len(v), enoughToTell)]
		if len(v) < 8 || !capitals(head) && !strings.ContainsAny(head, "0123456789=") {
			return from, from
		}
	case len(v) < enough && (len(v) < 6 || small(v)):
		return from, from
	}
	return from, to
}

// blanks counts what separates a scheme from its credentials.
func blanks(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case s[n] == ' ' || s[n] == '\t' || s[n] == '+':
			n++
		case strings.HasPrefix(s[n:], "%20"):
			n += 3
		default:
			return n
		}
	}
	return n
}

// small says whether a text is of small letters alone, as a word of a sentence is.
func small(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// capitals says whether one stands inside.
func capitals(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

package redact

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what was found in a request.
type Kind uint8

// What is found: a secret, one of the person's own words, or something about somebody.
const (
	Secret Kind = iota
	Word
	Email
	Phone
	Card
	IBAN
	ID
)

// find is one thing that was found in a text.
type find struct {
	part
	kind Kind
}

// Rules say what is masked in requests.
type Rules struct {
	Secrets  bool
	Personal bool
	Words    []string         // the person's own, found whatever their case is
	Patterns []*regexp.Regexp // the person's own secrets; a group in one is what is masked of it
	Known    *Masker          // whose values are secrets too, nil = none
}

// any says whether anything is looked for.
func (r *Rules) any() bool {
	return r.Secrets || r.Personal || len(r.Words) > 0
}

// find notes all that the rules find in a text.
func (c *Cloak) find(s string, finds []find) []find {
	if c.rules.Secrets {
		if k := c.known(); k != nil {
			finds = k.find(s, finds)
		}
		sc := scan{s: s, finds: &finds}
		sc.run()
		for _, p := range c.rules.Patterns {
			finds = matches(p, s, finds)
		}
	}
	if len(c.rules.Words) > 0 {
		finds = c.words(s, finds)
	}
	if c.rules.Personal {
		finds = personal(s, finds)
	}
	return finds
}

func (c *Cloak) known() *known {
	if c.rules.Known == nil {
		return nil
	}
	return c.rules.Known.known.Load()
}

// find notes known values, and the greater part of one, in a text.
func (k *known) find(s string, finds []find) []find {
	done := 0
	for i := 0; i+gram <= len(s); {
		if !k.begins[pair(s[i:])] {
			i++
			continue
		}
		from, to := k.part(s, i, done, true)
		if from == to {
			i++
			continue
		}
		finds = append(finds, find{part{from, to}, Secret})
		done, i = to, to
	}
	for _, v := range k.short {
		if literal(v, knownLeast) { // lm-studio is what that is told in place of a key
			finds = appearances(s, entry{v, Secret}, finds)
		}
	}
	return finds
}

// appearances notes where a value stands, and is no piece of a longer word.
func appearances(s string, e entry, finds []find) []find {
	for at := 0; ; {
		n := strings.Index(s[at:], e.value)
		if n < 0 {
			return finds
		}
		from, to := at+n, at+n+len(e.value)
		if alone(s, from, to) {
			finds = append(finds, find{part{from, to}, e.kind})
		}
		at = to
	}
}

// matches notes what a pattern of the person's own finds.
func matches(p *regexp.Regexp, s string, finds []find) []find {
	for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		if from < to {
			finds = append(finds, find{part{from, to}, Secret})
		}
	}
	return finds
}

// words notes the person's own words. One that begins or ends with a letter is no piece of
// a longer word.
func (c *Cloak) words(s string, finds []find) []find {
	for i := 0; i < len(s); i++ {
		for _, w := range c.begin[s[i]] {
			if end := i + len(w); end <= len(s) && strings.EqualFold(s[i:end], w) && alone(s, i, end) {
				finds = append(finds, find{part{i, end}, Word})
				i = end - 1
				break
			}
		}
	}
	return finds
}

// byBegin has words by each first byte that one may begin with, the longest first.
func byBegin(words []string) (t [256][]string) {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, w := range words {
		if w == "" {
			continue
		}
		r, _ := utf8.DecodeRuneInString(w)
		var firsts []byte
		for f := r; ; {
			if first := string(f)[0]; !slices.Contains(firsts, first) {
				firsts = append(firsts, first)
				t[first] = append(t[first], w)
			}
			if f = unicode.SimpleFold(f); f == r {
				break
			}
		}
	}
	return t
}

// alone says whether what stands at from and to is no piece of a longer word.
func alone(s string, from, to int) bool {
	first, _ := utf8.DecodeRuneInString(s[from:to])
	last, _ := utf8.DecodeLastRuneInString(s[from:to])
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	after, _ := utf8.DecodeRuneInString(s[to:])
	glued := from > 0 && spells(first) && spells(before) || to < len(s) && spells(last) && spells(after)
	return !glued
}

// spells says whether a letter is one of a script that parts words by blanks.
func spells(r rune) bool {
	if r == '_' || unicode.IsDigit(r) {
		return true
	}
	return unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul)
}

// merged brings finds into the order of the text; what overlaps is one, of the kind that
// begins first.
func merged(finds []find) []find {
	if len(finds) < 2 {
		return finds
	}
	slices.SortStableFunc(finds, func(a, b find) int { return cmp.Compare(a.from, b.from) })
	out := finds[:1]
	for _, f := range finds[1:] {
		last := &out[len(out)-1]
		if f.from < last.to {
			last.to = max(last.to, f.to)
			last.kind = min(last.kind, f.kind)
			continue
		}
		out = append(out, f)
	}
	return out
}

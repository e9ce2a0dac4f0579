package failure

import (
	"regexp"
	"strings"
	"sync"
)

// Words is a named list of phrases, written as people read them:
//
//	" "  blanks, a hyphen or an underscore     "…"    at most 40 characters, "…80" at most 80
//	"*"  the word may go on                    (a|b)  one of, (a )? perhaps, "#" a number
//
// A phrase that begins or ends in a Latin letter or digit matches whole words
// only, so that "load balancer" holds no "balance".
type Words struct {
	Name    string
	Phrases []string
	pattern func() *regexp.Regexp
}

// phrases lays a list. It is compiled when first asked: most runs never need it.
func phrases(name string, list ...string) *Words {
	return &Words{Name: name, Phrases: list, pattern: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(alternatives(list))
	})}
}

// join makes one list of several.
func join(name string, lists ...*Words) *Words {
	var all []string
	for _, l := range lists {
		all = append(all, l.Phrases...)
	}
	return phrases(name, all...)
}

// in reports whether text, lower-case and with its blanks folded, holds a phrase.
func (w *Words) in(text string) bool {
	return text != "" && w.pattern().MatchString(text)
}

func alternatives(list []string) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = expression(p)
	}
	return strings.Join(parts, "|")
}

var phraseMarks = strings.NewReplacer(
	".", `\.`, "+", `\+`, "$", `\$`, "[", `\[`, "]", `\]`, "^", `\^`,
	" ", `[\s_-]+`, "*", `\w*`, "(", "(?:", "#", `\d+`,
)

var gaps = regexp.MustCompile(`…(\d*)`)

func gap(m string) string {
	if n := strings.TrimPrefix(m, "…"); n != "" {
		return ".{0," + n + "}?"
	}
	return ".{0,40}?"
}

func expression(phrase string) string {
	e := gaps.ReplaceAllStringFunc(phraseMarks.Replace(phrase), gap)
	if first := strings.TrimLeft(phrase, "("); first != "" && latin(first[0]) {
		e = `\b` + e
	}
	if last := strings.TrimRight(phrase, ")?"); last != "" && latin(last[len(last)-1]) {
		e += `\b`
	}
	return e
}

func latin(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}

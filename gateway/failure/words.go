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
	laid    func() []phrase
}

// phrase is one phrase made ready: a piece that a text must hold for it to match,
// which is quickly looked for, and the pattern, compiled when first needed.
type phrase struct {
	anchor  string
	pattern func() *regexp.Regexp
}

// phrases lays a list.
func phrases(name string, list ...string) *Words {
	return &Words{Name: name, Phrases: list, laid: sync.OnceValue(func() []phrase {
		out := make([]phrase, len(list))
		for i, p := range list {
			out[i] = phrase{anchor(p), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression(p)) })}
		}
		return out
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
	if text == "" {
		return false
	}
	for _, p := range w.laid() {
		if strings.Contains(text, p.anchor) && p.pattern().MatchString(text) {
			return true
		}
	}
	return false
}

// anchor is the longest piece of a phrase that stands outside all groups.
func anchor(phrase string) string {
	var best, piece strings.Builder
	depth := 0
	end := func() {
		if piece.Len() > best.Len() {
			best.Reset()
			best.WriteString(piece.String())
		}
		piece.Reset()
	}
	for _, c := range gaps.ReplaceAllString(phrase, " ") {
		switch {
		case c == '(':
			end()
			depth++
		case c == ')':
			depth--
		case depth > 0 || c == '?':
		case strings.ContainsRune(" *#|", c):
			end()
		default:
			piece.WriteRune(c)
		}
	}
	end()
	return best.String()
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

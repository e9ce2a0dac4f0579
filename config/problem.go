package config

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a file the person wrote, and where.
type Problem struct {
	File      string // as it was named, "" when there is none
	Line, Col int    // 1-based, Col in characters; zero when there is no one place
	Text      string // what is wrong
	Hint      string // what would be right, such as `did you mean "routing"?`; may be ""
	Source    string // the line itself, with secrets masked
}

// Errors is everything that is wrong with one file, in the order of its lines.
type Errors struct{ Problems []Problem } //nolint:errname // it is many, and called so in every message

// Problem makes a problem of the file that c came from. Checks that live in other
// packages report through it, so that every complaint looks the same.
func (c *Config) Problem(at Pos, text, hint string) Problem {
	p := Problem{File: c.Path, Line: at.Line, Col: at.Col, Text: text, Hint: hint}
	if at.Line > 0 && at.Line <= len(c.Lines) {
		p.Source = c.Lines[at.Line-1]
	}
	return p
}

// String returns the problem as one line, the way compilers print theirs.
func (p Problem) String() string {
	s := p.Text
	if p.Hint != "" {
		s += ": " + p.Hint
	}
	if w := p.where(); w != "" {
		return w + ": " + s
	}
	return s
}

func (p Problem) where() string {
	parts := make([]string, 0, 3)
	if p.File != "" {
		parts = append(parts, p.File)
	}
	if p.Line > 0 {
		parts = append(parts, strconv.Itoa(p.Line), strconv.Itoa(max(p.Col, 1)))
	}
	return strings.Join(parts, ":")
}

// Long returns the problem with the line it is about and a mark under the place.
func (p Problem) Long() string {
	if p.Source == "" {
		return p.String()
	}
	const tab = "    "
	return p.String() + "\n" + tab + p.Source + "\n" + tab + under(p.Source, p.Col) + "^"
}

// under returns what moves a mark below the character at col: tabs stay tabs.
func under(line string, col int) string {
	var b strings.Builder
	for _, r := range line {
		if col--; col <= 0 {
			break
		}
		if r == '\t' {
			b.WriteRune(r)
			continue
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// Error returns every problem with its line, one below the other.
func (e *Errors) Error() string {
	all := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p.Long()
	}
	return strings.Join(all, "\n")
}

// Nearest returns the known word that word was most likely meant to be, "" when none is near.
func Nearest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", max(1, utf8.RuneCountInString(word)/3)+1
	for _, k := range known {
		small := strings.ToLower(k)
		d := distance(word, small)
		if min(len(word), len(small)) >= 3 && (strings.HasPrefix(small, word) || strings.HasPrefix(word, small)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean returns the hint that names the nearest known word, "" when none is near.
func DidYouMean(word string, known []string) string {
	if n := Nearest(word, known); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}

// distance counts the insertions, deletions, changes and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before := make([]int, len(to)+1) // the row two above
	above := make([]int, len(to)+1)
	row := make([]int, len(to)+1)
	for j := range above {
		above[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			cost := 1
			if from[i] == to[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(to)]
}

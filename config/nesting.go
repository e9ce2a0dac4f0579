package config

import (
	"bytes"
	"iter"
	"regexp"
	"strconv"
)

// maxDepth is how deep brackets may stand in each other. A config of ours needs four; the readers take a time that
// grows much faster than the depth.
const maxDepth = 32

// brackets gives the brackets of a file with where they stand. Those in strings and comments are none.
func brackets(data []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for i := 0; i < len(data); i++ {
			switch c := data[i]; c {
			case '#':
				i += within(data[i:], []byte("\n"))
			case '"', '\'':
				i += stringEnd(data[i:])
			case '[', '{', ']', '}':
				if !yield(i, c) {
					return
				}
			}
		}
	}
}

// tooDeep returns where a file goes deeper than any config does, nil when it does not.
func tooDeep(data []byte) *broken {
	depth := 0
	for i, c := range brackets(data) {
		if c == ']' || c == '}' {
			depth = max(depth-1, 0)
			continue
		}
		if depth++; depth > maxDepth {
			return &broken{offset: i, text: "this is nested too deep"}
		}
	}
	return nil
}

// opened returns the bracket that stands open behind data and was opened last, -1 when none is; spare says whether one
// is closed more than were opened.
func opened(data []byte) (last int, spare bool) {
	var open []int
	for i, c := range brackets(data) {
		switch {
		case c == '[' || c == '{':
			open = append(open, i)
		case len(open) == 0:
			spare = true
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1, spare
	}
	return open[len(open)-1], spare
}

// begins matches a line that begins a statement: the head of a table, or a key with a value.
var begins = func() *regexp.Regexp {
	const name = `(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`
	const key = name + `(?:[ \t]*\.[ \t]*` + name + `)*[ \t]*`
	return regexp.MustCompile(`^[ \t]*(?:\[[ \t]*` + key + `\]|\[\[[ \t]*` + key + `\]\]|` + key + `=)`)
}()

// unended tells a mistake that is one since a list has no end where the list begins, nil of any other: parsers tell of
// the next thing that makes no sense in it.
func unended(data []byte, at int) *broken {
	starts := lineStarts(data)
	line := posAt(data, starts, at).Line
	from, words := starts[line-1], "this list has no end"
	switch {
	case at >= len(bytes.TrimRight(data, " \t\r\n"))-1: // it went on to the end of the file
		from = len(data)
	case begins.Match(data[from : from+within(data[from:], []byte("\n"))]):
		words += " before line " + strconv.Itoa(line) + ", where something else begins"
	default:
		return nil
	}
	list, _ := opened(data[:from])
	if _, ended := opened(data[from:]); ended || list < 0 || data[list] != '[' {
		return nil
	}
	return &broken{offset: list, text: words}
}

// stringEnd is how far behind its first character the string at the beginning of data ends.
func stringEnd(data []byte) int {
	mark := data[:1]
	if three := bytes.Repeat(mark, 3); bytes.HasPrefix(data, three) {
		mark = three
	}
	for i := len(mark); i < len(data); i++ {
		switch {
		case data[i] == '\\' && mark[0] == '"':
			i++
		case bytes.HasPrefix(data[i:], mark):
			return i + len(mark) - 1
		case data[i] == '\n' && len(mark) == 1: // it is broken, and ends here
			return i
		}
	}
	return len(data)
}

// within is how far behind its first character data has end.
func within(data, end []byte) int {
	if i := bytes.Index(data, end); i >= 0 {
		return i
	}
	return len(data)
}

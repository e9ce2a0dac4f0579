package pane

import (
	"fmt"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace/words"

	"dev.magpie/tui/canvas"
)

// grouped writes a whole number with its thousands apart: 20,410.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// priced writes a cost that the gateway told as a decimal, "" when it told none.
func priced(decimal string) string {
	usd, err := strconv.ParseFloat(decimal, 64)
	if err != nil {
		return ""
	}
	return words.Money(usd)
}

// cents writes a sum of the day: two decimals, and a plus when some of it has no price; "" of nothing.
func cents(usd float64, unpriced int64) string {
	s := fmt.Sprintf("$%.2f", usd)
	switch {
	case usd <= 0:
		return ""
	case usd < 0.005:
		s = "<$0.01"
	}
	if unpriced > 0 {
		s += "+"
	}
	return s
}

// plural writes a number with its noun.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// short drops the smaller unit of a length of time that is too long for its column.
func short(span string, w int) string {
	if len(span) <= w {
		return span
	}
	if i := strings.IndexAny(span, "dhm"); i >= 0 && i < len(span)-1 {
		span = span[:i+1]
	}
	if len(span) > w {
		return ""
	}
	return span
}

// wrap breaks a text into lines of a width; none for a text that says nothing.
func wrap(set *canvas.GlyphSet, text string, width int) []string {
	if !strings.ContainsAny(text, "\r\n\t") && text != "" && set.Width(text) <= width {
		return []string{text} // columns in it stay as they are
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return nil
	}
	return set.Wrap(text, width)
}

// head is as much of the start of a word as fits a width.
func head(set *canvas.GlyphSet, word string, width int) string {
	end, used := 0, 0
	for i, r := range word {
		n := set.Width(string(r))
		if used+n > width {
			break
		}
		used += n
		end = i + len(string(r))
	}
	return word[:end]
}

// fill sets parts side by side, a separator between them, and begins a new line where one does
// not fit; no line begins with the separator.
func fill(set *canvas.GlyphSet, sep string, width int, parts ...string) []string {
	var lines []string
	line := ""
	for _, p := range parts {
		switch {
		case p == "":
		case line == "":
			line = p
		case set.Width(line+sep+p) <= width:
			line += sep + p
		default:
			lines = append(lines, wrap(set, line, width)...)
			line = p
		}
	}
	return append(lines, wrap(set, line, width)...)
}

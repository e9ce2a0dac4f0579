package config

import (
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// item is one text of a list that has a line for each, with the lines of comments above it.
type item struct {
	text       string
	from, to   int // of its lines
	end, comma int // behind the text itself, and behind its comma; 0 = it has none
	indent     string
}

// listed is a list's new text: where the old one has a line for each item, those that stay
// keep theirs with their comments. Other values stand as they are.
func (t *draft) listed(old span, value string) string {
	want, ok := textsOf(value)
	if !ok || len(want) == 0 {
		return value
	}
	items, first, ok := t.items(old)
	if !ok {
		return value
	}
	var b strings.Builder
	b.Write(t.data[old.from:first])
	for _, text := range want {
		i := slices.IndexFunc(items, func(one item) bool { return one.text == text })
		if i < 0 {
			b.WriteString(items[0].indent + Text(text) + "," + t.end)
			continue
		}
		one := items[i]
		b.Write(t.data[one.from:one.end])
		if one.comma == 0 {
			b.WriteByte(',')
		}
		b.Write(t.data[one.end:one.to])
	}
	b.Write(t.data[items[len(items)-1].to:old.to])
	if got, ok := textsOf(b.String()); !ok || !slices.Equal(got, want) {
		return value
	}
	return b.String()
}

// textsOf reads a list of texts.
func textsOf(value string) ([]string, bool) {
	var one struct{ X []string }
	if _, err := toml.Decode("x = "+value, &one); err != nil {
		return nil, false
	}
	return one.X, true
}

// items reads a list that has a line for each of its texts; first is where the first one's lines begin.
func (t *draft) items(in span) (items []item, first int, ok bool) {
	sc := scanner{data: t.data[:in.to], i: in.from}
	if !sc.at('[') {
		return nil, 0, false
	}
	sc.i++
	if !sc.restOfLine() {
		return nil, 0, false
	}
	first = sc.i
	for {
		one := item{from: sc.i}
		sc.blank()
		if sc.at(']') {
			return items, first, len(items) > 0
		}
		begin := sc.i
		sc.skipValue()
		one.end = sc.i
		texts, isText := textsOf("[" + string(t.data[begin:one.end]) + "]")
		if !isText || len(texts) != 1 {
			return nil, 0, false
		}
		one.text = texts[0]
		one.indent = lead(t.data[lineStart(t.data, begin):])
		sc.inline()
		if sc.at(',') {
			sc.i++
			one.comma = sc.i
		}
		if !sc.restOfLine() {
			return nil, 0, false
		}
		one.to = sc.i
		items = append(items, one)
	}
}

// restOfLine goes behind the line's end; it says whether nothing but a comment stood before that.
func (sc *scanner) restOfLine() bool {
	sc.inline()
	if sc.at('#') {
		for sc.i < len(sc.data) && !sc.at('\n') {
			sc.i++
		}
	}
	if sc.at('\r') {
		sc.i++
	}
	if !sc.at('\n') {
		return false
	}
	sc.i++
	return true
}

func lineStart(data []byte, at int) int {
	for at > 0 && data[at-1] != '\n' {
		at--
	}
	return at
}

package config

import (
	"bytes"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2/unstable"
)

// kind says what a value of the file is.
type kind int

const (
	isTable kind = iota + 1
	isList
	isText
	isWhole
	isReal
	isTruth
	isDate
)

// String returns the kind in words that fit after "must be" and "not".
func (k kind) String() string {
	switch k {
	case isTable:
		return "a table"
	case isList:
		return "a list"
	case isText:
		return "a string"
	case isWhole:
		return "a whole number"
	case isReal:
		return "a number"
	case isTruth:
		return "true or false"
	case isDate:
		return "a date or time"
	}
	return "nothing"
}

// node is one value of the file with its place.
type node struct {
	name  string // how a problem calls it: its key, or its place in a list
	key   string // in the table around it, "" in a list
	keyAt Pos
	at    Pos
	span  span // of a scalar, and of the sign that opens a table or list

	kind  kind
	text  string
	whole int64
	real  float64
	truth bool
	kids  []*node // a table's entries in the file's order, or a list's items
}

// span is a piece of the file, in bytes.
type span struct{ from, to int }

// kid returns the entry called key, nil when there is none.
func (n *node) kid(key string) *node {
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return nil
}

// broken is a mistake in the syntax.
type broken struct {
	offset int
	text   string
	hint   string
}

const (
	maxFile  = 256 << 10 // bytes; a larger file is not a config
	maxParts = 32        // of a dotted key; the schema needs five
)

// read returns the file's values with their places. The values are the decoder's; the places are a second
// reader's, since the decoder keeps none.
func read(data []byte) (*node, *broken) {
	if deep := tooDeep(data); deep != nil {
		return nil, deep
	}
	root, wrong := outline(data)
	if wrong != nil {
		return nil, wrong
	}
	var values map[string]any
	if _, err := toml.Decode(string(data), &values); err != nil {
		b := &broken{text: "the file is not TOML"}
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			b.offset, b.text = e.Position.Start, discreet(e.Message)
		}
		return nil, b
	}
	root.fill(values)
	return root, nil
}

// fill takes over the decoder's value v. Where the outline lacks an entry, the entry has no place.
func (n *node) fill(v any) {
	switch v := v.(type) {
	case map[string]any:
		n.kind = isTable
		n.kids = slices.DeleteFunc(n.kids, func(k *node) bool { _, ok := v[k.key]; return !ok })
		for _, key := range slices.Sorted(maps.Keys(v)) {
			k := n.kid(key)
			if k == nil {
				k = &node{name: strconv.Quote(key), key: key, keyAt: n.keyAt, at: n.at}
				n.kids = append(n.kids, k)
			}
			k.fill(v[key])
		}
	case []map[string]any:
		n.list(len(v))
		for i, item := range v {
			n.kids[i].fill(item)
		}
	case []any:
		n.list(len(v))
		for i, item := range v {
			n.kids[i].fill(item)
		}
	case string:
		n.kind, n.text = isText, v
	case int64:
		n.kind, n.whole, n.real = isWhole, v, float64(v)
	case float64:
		n.kind, n.real = isReal, v
	case bool:
		n.kind, n.truth = isTruth, v
	default:
		n.kind = isDate
	}
}

// list makes n a list of so many items.
func (n *node) list(items int) {
	n.kind = isList
	for len(n.kids) < items {
		n.kids = append(n.kids, &node{at: n.at, keyAt: n.at})
	}
	n.kids = n.kids[:items]
	for i, k := range n.kids {
		k.name = "item " + strconv.Itoa(i+1) + " of " + n.name
	}
}

// outliner collects the places of a file's keys and values.
type outliner struct {
	p     unstable.Parser
	data  []byte
	start []int // offsets at which lines begin
	deep  *broken

	last   int // the offset that was placed last, and its place
	lastAt Pos
}

// outline returns the file's tables, lists and keys with their places, and no values.
func outline(data []byte) (*node, *broken) {
	o := outliner{data: data, start: lineStarts(data)}
	o.p.Reset(data)
	root := &node{name: "the file", kind: isTable, at: Pos{1, 1}, keyAt: Pos{1, 1}}
	here := root
	for o.deep == nil && o.p.NextExpression() {
		e := o.p.Expression()
		if e.Kind == unstable.KeyValue {
			o.entry(here, e)
			continue
		}
		here = o.down(root, e.Key())
		if e.Kind == unstable.ArrayTable {
			item := &node{at: here.keyAt, keyAt: here.keyAt, kind: isTable}
			here.kind, here.kids = isList, append(here.kids, item)
			here = item
		}
	}
	if o.deep != nil {
		return nil, o.deep
	}
	if err := o.p.Error(); err != nil {
		wrong := o.wrong(err)
		if list := unended(data, wrong.offset); list != nil && !strings.Contains(wrong.text, "string") {
			wrong = list
		}
		return nil, wrong
	}
	return root, nil
}

// entry adds one `key = value` to the table in.
func (o *outliner) entry(in *node, e *unstable.Node) {
	n := o.down(in, e.Key())
	end := 0
	for keys := e.Key(); keys.Next(); {
		end = rangeEnd(keys.Node().Raw)
	}
	o.value(n, e.Value(), o.after(end, '='))
}

// value notes where v stands and what is in it; from is where it begins.
func (o *outliner) value(n *node, v *unstable.Node, from int) {
	n.at = o.pos(from)
	n.span = span{from, from + 1}
	if v.Kind != unstable.Array && v.Kind != unstable.InlineTable {
		n.span.to = rangeEnd(v.Raw)
		return
	}
	for kids := v.Children(); kids.Next(); {
		if v.Kind == unstable.InlineTable {
			o.entry(n, kids.Node())
			continue
		}
		item, at := &node{}, from
		if raw := kids.Node().Raw; raw.Length > 0 {
			at = int(raw.Offset) // a list in a list has none
		}
		o.value(item, kids.Node(), at)
		item.keyAt = item.at
		n.kids = append(n.kids, item)
	}
}

// down returns the node that a dotted key names inside in, made when it is not there.
func (o *outliner) down(in *node, keys unstable.Iterator) *node {
	for parts := 1; keys.Next(); parts++ {
		raw, name := keys.Node().Raw, string(keys.Node().Data)
		if parts > maxParts {
			o.deep = &broken{offset: int(raw.Offset), text: "the key has too many parts"}
			return in
		}
		if in.kind == isList && len(in.kids) > 0 {
			in = in.kids[len(in.kids)-1] // a table inside the last of [[these]]
		}
		next := in.kid(name)
		if next == nil {
			at := o.pos(int(raw.Offset))
			next = &node{name: strconv.Quote(name), key: name, keyAt: at, at: at}
			in.kids = append(in.kids, next)
		}
		in = next
	}
	return in
}

// after returns the offset of what follows the sign c, which is the next one after from but for blanks.
func (o *outliner) after(from int, c byte) int {
	if i := bytes.IndexByte(o.data[from:], c); i >= 0 {
		from += i + 1
	}
	for from < len(o.data) && (o.data[from] == ' ' || o.data[from] == '\t') {
		from++
	}
	return from
}

func rangeEnd(r unstable.Range) int { return int(r.Offset) + int(r.Length) }

// wrong says where the parser met what it could not read.
func (o *outliner) wrong(err error) *broken {
	b := &broken{offset: len(o.data), text: discreet(err.Error())}
	e, ok := errors.AsType[*unstable.ParserError](err)
	if !ok {
		return b
	}
	// The highlight is a piece of the data; an empty one stands at its end.
	if at := cap(o.data) - cap(e.Highlight); len(e.Highlight) > 0 && at >= 0 && at < len(o.data) {
		b.offset = at
		before := bytes.TrimRight(o.data[:at], " \t")
		inList := strings.HasPrefix(b.text, "expected keyword") || strings.HasSuffix(b.text, "at start of value")
		if (bytes.HasSuffix(before, []byte("=")) || inList) && isLetter(o.data[at]) {
			b.text, b.hint = "a value can't begin like this", "text needs quotes"
		}
	}
	return b
}

// codePoint matches how the parser names a character before it shows it. Of a longer one it knows but the first byte.
var codePoint = regexp.MustCompile(`:? ?U\+(?:00[89A-F][0-9A-F] '.*'|[0-9A-F]{4,6}( '.*')?)`)

// piece matches what a parser repeats of the file that is long enough to tell a secret.
var piece = regexp.MustCompile(`"[^" ]{4,}"|'[^' ]{4,}'|[-+_.0-9]{8,}`)

// discreet returns a parser's message in our style, without more of the file's text than a key's name.
func discreet(message string) string {
	message = codePoint.ReplaceAllString(strings.TrimSuffix(message, "."), "$1")
	if key, ok := strings.CutPrefix(message, "Key "); ok {
		return "the key " + key
	}
	return piece.ReplaceAllString(message, "…")
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// pos returns the place of offset. Offsets mostly rise, so that it counts on from the one before.
func (o *outliner) pos(offset int) Pos {
	var at Pos
	if line := o.lastAt.Line; line > 0 && offset >= o.last && (line == len(o.start) || offset < o.start[line]) {
		at = Pos{Line: line, Col: o.lastAt.Col + utf8.RuneCount(o.data[o.last:offset])}
	} else {
		at = posAt(o.data, o.start, offset)
	}
	o.last, o.lastAt = offset, at
	return at
}

// lineStarts returns the offsets at which lines begin.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// posAt returns the line and the character that offset falls on.
func posAt(data []byte, starts []int, offset int) Pos {
	offset = min(offset, len(data))
	line, found := slices.BinarySearch(starts, offset)
	if !found {
		line--
	}
	return Pos{Line: line + 1, Col: utf8.RuneCount(data[starts[line]:offset]) + 1}
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Edit is one change of a config's text: what it doesn't name keeps every byte.
type Edit struct {
	Table []string // such as groups, cheap; nil = before the first table
	Key   string   // "" = the table as a whole
	Value string   // as TOML; "" takes the key, or the table, out. Of a table "{}" makes it, where there is none
}

// ErrShape says that a file is written in a way that an edit can't change.
var ErrShape = errors.New("the file is written in a way that this can't be changed in: change it by hand")

// Apply makes edits to the text of a file. The result holds just what was asked for besides
// what was there, or there is an error.
func Apply(data []byte, edits ...Edit) ([]byte, error) {
	for _, e := range edits {
		next, err := apply(data, e)
		if err != nil {
			return nil, err
		}
		data = next
	}
	return data, nil
}

func apply(data []byte, e Edit) ([]byte, error) {
	e.Value = strings.TrimSpace(e.Value)
	if sc := (scanner{data: []byte(e.Value)}); e.Value != "" {
		if sc.skipValue(); sc.i != len(e.Value) {
			return nil, fmt.Errorf("the value of %s is not one value", e.Key)
		}
	}
	values, err := decoded(data)
	if err != nil {
		return nil, err
	}
	t := &draft{data: data, end: lineEnd(data)}
	switch {
	case e.Key == "" && e.Value == "":
		t.dropTable(e.Table)
	case e.Key == "":
		t.makeTable(e.Table)
	case e.Value == "":
		t.dropTable(append(slices.Clone(e.Table), e.Key))
	default:
		t.set(e.Table, e.Key, e.Value)
	}
	want, err := wanted(values, e)
	if err != nil {
		return nil, err
	}
	got, err := decoded(t.data)
	if e.Value == "" { // what held nothing else is gone with it, or is not, as it was written
		way := slices.Concat(e.Table, []string{e.Key})
		hollow(got, way)
		hollow(want, way)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, ErrShape
	}
	return t.data, nil
}

func decoded(data []byte) (map[string]any, error) {
	if len(data) > maxFile {
		return nil, errors.New("the file is larger than 256KB")
	}
	values := map[string]any{}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if _, err := toml.Decode(string(data), &values); err != nil {
		return nil, errors.New("the file is not TOML")
	}
	if _, wrong := outline(slices.Clip(bytes.Clone(data))); wrong != nil {
		return nil, errors.New("the file is not TOML")
	}
	return values, nil
}

// wanted makes the edit to decoded values.
func wanted(values map[string]any, e Edit) (map[string]any, error) {
	way := slices.Clone(e.Table)
	if e.Key != "" {
		way = append(way, e.Key)
	}
	if len(way) == 0 {
		return nil, ErrShape
	}
	at := values
	for _, key := range way[:len(way)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			if at[key] != nil {
				return nil, ErrShape
			}
			if e.Value == "" {
				return values, nil
			}
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	last := way[len(way)-1]
	switch {
	case e.Value == "":
		delete(at, last)
	case e.Key == "":
		if at[last] == nil {
			at[last] = map[string]any{}
		}
	default:
		one := map[string]any{}
		if _, err := toml.Decode("x = "+e.Value, &one); err != nil || len(one) != 1 {
			return nil, fmt.Errorf("the value of %s is not TOML", last)
		}
		at[last] = one["x"]
	}
	return values, nil
}

// hollow takes out the tables on a way that hold nothing.
func hollow(values map[string]any, way []string) {
	if len(way) == 0 {
		return
	}
	next, ok := values[way[0]].(map[string]any)
	if !ok {
		return
	}
	hollow(next, way[1:])
	if len(next) == 0 {
		delete(values, way[0])
	}
}

func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// draft is a file that is changed.
type draft struct {
	data []byte
	end  string // of its lines
}

// splice puts s in place of a piece.
func (t *draft) splice(from, to int, s string) {
	t.data = slices.Concat(t.data[:from], []byte(s), t.data[to:])
}

// line puts a line behind a statement's line.
func (t *draft) line(at int, s string) {
	if at > 0 && t.data[at-1] != '\n' && (at != 3 || t.data[0] != 0xef) {
		t.splice(at, at, t.end+s)
		return
	}
	t.splice(at, at, s+t.end)
}

func hasPrefix(way, prefix []string) bool {
	return len(way) >= len(prefix) && slices.Equal(way[:len(prefix)], prefix)
}

func (t *draft) set(table []string, key, value string) {
	all := statements(t.data)
	way := append(slices.Clone(table), key)
	for i := range all {
		s := &all[i]
		if s.head {
			continue
		}
		if slices.Equal(s.path(), way) {
			t.splice(s.value.from, s.value.to, t.listed(s.value, value))
			return
		}
		if hasPrefix(way, s.path()) && t.setInside(s.value, way[len(s.path()):], value) {
			return
		}
	}
	if at, indent := tail(all, table), ""; at != nil {
		if !at.head {
			indent = lead(t.data[at.start:])
		}
		t.line(at.end, indent+keyText([]string{key})+" = "+value)
		return
	}
	for _, s := range slices.Backward(all) { // a table of dotted keys grows by one
		if !s.head && hasPrefix(s.path(), table) && len(table) > len(s.table) && hasPrefix(table, s.table) {
			t.line(s.end, lead(t.data[s.start:])+keyText(way[len(s.table):])+" = "+value)
			return
		}
	}
	if len(table) == 0 {
		at := 0
		if bytes.HasPrefix(t.data, []byte("\xef\xbb\xbf")) {
			at = 3
		}
		t.splice(at, at, keyText([]string{key})+" = "+value+t.end)
		return
	}
	t.newTable(table)
	t.data = append(t.data, keyText([]string{key})+" = "+value+t.end...)
}

// tail is the last statement of a table that has a head, or of what stands before all heads.
func tail(all []statement, table []string) *statement {
	var last *statement
	for i := range all {
		s := &all[i]
		if s.array && hasPrefix(table, s.table) {
			return nil
		}
		if slices.Equal(s.table, table) && (s.head || len(table) == 0 || last != nil) {
			last = s
		}
	}
	return last
}

func lead(line []byte) string {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t') {
		n++
	}
	return string(line[:n])
}

// setInside sets a key of a table that stands in one line; it says whether the value is such a table.
func (t *draft) setInside(in span, way []string, value string) bool {
	if in.from >= len(t.data) || t.data[in.from] != '{' {
		return false
	}
	all := pairs(t.data, in.from)
	for _, p := range all {
		if slices.Equal(p.key, way) {
			t.splice(p.value.from, p.value.to, value)
			return true
		}
		if hasPrefix(way, p.key) && t.setInside(p.value, way[len(p.key):], value) {
			return true
		}
	}
	entry := keyText(way) + " = " + value
	if len(all) == 0 {
		t.splice(in.from, in.to, "{ "+entry+" }")
		return true
	}
	end := all[len(all)-1].value.to
	t.splice(end, end, ", "+entry)
	return true
}

func (t *draft) makeTable(table []string) {
	if values, err := decoded(t.data); err == nil && reach(values, table) {
		return
	}
	t.newTable(table)
}

func reach(values map[string]any, way []string) bool {
	for _, key := range way {
		next, ok := values[key].(map[string]any)
		if !ok {
			return false
		}
		values = next
	}
	return true
}

// newTable writes the head of a table at the file's end.
func (t *draft) newTable(table []string) {
	if n := len(t.data); n > 0 && (n != 3 || t.data[0] != 0xef) {
		if t.data[n-1] != '\n' {
			t.data = append(slices.Clip(t.data), t.end...)
		}
		t.data = append(slices.Clip(t.data), t.end...)
	}
	t.data = append(slices.Clip(t.data), "["+keyText(table)+"]"+t.end...)
}

// dropTable takes out all that stands under a way: heads with their keys, dotted keys,
// entries of tables in one line. Comments that stand alone stay.
func (t *draft) dropTable(way []string) {
	all := statements(t.data)
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		path := s.path()
		switch {
		case hasPrefix(path, way):
			t.cut(s.start, s.end, s.head)
		case !s.head && hasPrefix(way, path):
			t.dropInside(s.value, way[len(path):])
		}
	}
}

// cut takes whole lines out; where a table's head goes, the empty lines behind it go with
// it if there are some before it.
func (t *draft) cut(from, to int, head bool) {
	if head {
		before := t.data[:from]
		for len(before) == 0 || bytes.HasSuffix(before, []byte("\n\n")) || bytes.HasSuffix(before, []byte("\n\r\n")) {
			rest := t.data[to:]
			switch {
			case bytes.HasPrefix(rest, []byte("\n")):
				to++
				continue
			case bytes.HasPrefix(rest, []byte("\r\n")):
				to += 2
				continue
			}
			break
		}
	}
	t.splice(from, to, "")
}

// dropInside takes entries out of a table that stands in one line.
func (t *draft) dropInside(in span, way []string) {
	if in.from >= len(t.data) || t.data[in.from] != '{' {
		return
	}
	all := pairs(t.data, in.from)
	for i := len(all) - 1; i >= 0; i-- {
		p := all[i]
		if !hasPrefix(p.key, way) {
			if hasPrefix(way, p.key) {
				t.dropInside(p.value, way[len(p.key):])
			}
			continue
		}
		switch {
		case i+1 < len(all):
			t.splice(p.from, all[i+1].from, "")
		case i > 0:
			t.splice(all[i-1].value.to, p.value.to, "")
		default:
			t.splice(p.from, p.value.to, "")
		}
		all = slices.Delete(all, i, i+1)
	}
}

// keyText writes a dotted key.
func keyText(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p
		if p == "" || strings.Trim(p, letters+digits+"_-") != "" {
			out[i] = Text(p)
		}
	}
	return strings.Join(out, ".")
}

// Text writes a string as TOML.
func Text(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Texts writes a list of strings as TOML.
func Texts(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = Text(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

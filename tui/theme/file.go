package theme

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2/unstable"

	"dev.magpie/config"
)

// source is a theme file: its values, where they stand, and what was found wrong with it.
type source struct {
	file     string
	lines    []string
	values   map[string]any
	keys     map[string]config.Pos // by dotted path
	texts    map[string]config.Pos
	problems []config.Problem
}

// read decodes a file; a mistake in the syntax is the only problem then.
func read(file string, data []byte) (*source, error) {
	data = slices.Clip(bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	s := &source{file: file, keys: map[string]config.Pos{}, texts: map[string]config.Pos{}}
	if len(data) > maxFile {
		s.tell(config.Pos{}, "the file is larger than 64KB", "a theme is much smaller")
		return nil, s.err()
	}
	s.lines = strings.Split(string(data), "\n")
	if _, err := toml.Decode(string(data), &s.values); err != nil {
		at, text := config.Pos{}, err.Error()
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			at, text = s.pos(data, e.Position.Start), e.Message
		}
		s.tell(at, text, "")
		return nil, s.err()
	}
	s.place(data)
	return s, nil
}

// place notes where keys and values stand; the decoder above does not keep it.
func (s *source) place(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		within := table
		if e.Kind != unstable.KeyValue {
			within = ""
		}
		path, at, end := s.dotted(data, within, e.Key())
		s.keys[path] = at
		if e.Kind != unstable.KeyValue {
			table = path
			continue
		}
		s.texts[path] = s.pos(data, end+len("= "))
		if v := e.Value(); v.Raw.Length > 0 {
			s.texts[path] = s.pos(data, int(v.Raw.Offset))
		}
	}
}

// dotted joins a key's parts under a table; at is where the key stands and end where it ends.
func (s *source) dotted(data []byte, table string, key unstable.Iterator) (path string, at config.Pos, end int) {
	path = table
	for key.Next() {
		n := key.Node()
		if at == (config.Pos{}) {
			at = s.pos(data, int(n.Raw.Offset))
		}
		end = int(n.Raw.Offset + n.Raw.Length)
		if path != "" {
			path += "."
		}
		path += string(n.Data)
	}
	return path, at, end
}

// pos is the line and character of an offset.
func (s *source) pos(data []byte, offset int) config.Pos {
	before := data[:min(max(offset, 0), len(data))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return config.Pos{Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(line) + 1}
}

// tell adds a problem.
func (s *source) tell(at config.Pos, text, hint string) {
	p := config.Problem{File: s.file, Line: at.Line, Col: at.Col, Text: text, Hint: hint}
	if at.Line > 0 && at.Line <= len(s.lines) {
		p.Source = strings.TrimRight(s.lines[at.Line-1], "\r")
	}
	s.problems = append(s.problems, p)
}

// err is every problem in the order of the lines, nil when there is none.
func (s *source) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b config.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	return &config.Errors{Problems: s.problems}
}

// fields checks a table's keys against the known ones and gives them in order.
func (s *source) fields(table string, values map[string]any, known []string) []string {
	var fields []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if known != nil && !slices.Contains(known, k) {
			where := ""
			if table != "" {
				where = " in [" + table + "]"
			}
			s.tell(s.keys[under(table, k)], "unknown key "+strconv.Quote(k)+where, config.DidYouMean(k, known))
			continue
		}
		fields = append(fields, k)
	}
	return fields
}

// text reads a string.
func (s *source) text(path string, v any) (string, bool) {
	t, ok := v.(string)
	if !ok {
		s.tell(s.texts[path], strconv.Quote(path)+" must be a string", "text needs quotes")
	}
	return t, ok
}

// table reads a table, nil when it is not there.
func (s *source) table(name string) map[string]any {
	v, there := s.values[name]
	if !there {
		return nil
	}
	t, ok := v.(map[string]any)
	if !ok {
		s.tell(s.keys[name], strconv.Quote(name)+" must be a table", "write ["+name+"] above its keys")
	}
	return t
}

func under(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

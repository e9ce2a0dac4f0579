package standin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// kind is a set of JSON types.
type kind uint8

const (
	isObject kind = 1 << iota
	isArray
	isString
	isNumber
	isBool
	isNull
	isAny = isObject | isArray | isString | isNumber | isBool | isNull
)

// shape is what a value has to look like. It is one table a request type, so that
// what a vendor takes can be read in one place.
type shape struct {
	kinds  kind
	fields map[string]*shape // of an object; nil = any
	need   []string
	items  *shape // of an array, or the values of an object with free names; nil = any
	tag    string // the field whose word picks a variant
	kindOf map[string]*shape
	also   func(word string) bool // words of the tag beside those of kindOf
	firm   bool                   // an easy vendor refuses other words of the tag too
	words  []string               // that a string may be
	least  int                    // length of an array or a string
}

// flawKind is what is wrong with a value.
type flawKind int

const (
	unknownField flawKind = iota
	missingField
	wrongType
	wrongWord
	tooShort
)

// flaw is the first thing that is wrong with a value, and where.
type flaw struct {
	kind flawKind
	path []any  // names and indexes
	name string // of the unknown or missing field
	want string // the type or the words
	got  string
}

var (
	anything = &shape{kinds: isAny}
	text     = &shape{kinds: isString}
	number   = &shape{kinds: isNumber | isNull}
	flag     = &shape{kinds: isBool | isNull}
	maybe    = &shape{kinds: isString | isNull}
	openMap  = &shape{kinds: isObject}
	mapOrNot = &shape{kinds: isObject | isNull}
	textList = &shape{kinds: isArray, items: text}
)

// closed is an object with these fields and no others.
func closed(need []string, fields map[string]*shape) *shape {
	return &shape{kinds: isObject, fields: fields, need: need}
}

// some is an array of at least one.
func some(items *shape) *shape { return &shape{kinds: isArray, items: items, least: 1} }

// each is an array of any length.
func each(items *shape) *shape { return &shape{kinds: isArray, items: items} }

// orNull takes null besides.
func (s *shape) orNull() *shape {
	t := *s
	t.kinds |= isNull
	return &t
}

// orText takes a string besides.
func (s *shape) orText() *shape {
	t := *s
	t.kinds |= isString
	return &t
}

// tagged is an object of one of several kinds, told apart by a field.
func tagged(tag string, kinds map[string]*shape) *shape {
	return &shape{kinds: isObject, tag: tag, kindOf: kinds}
}

// word is a string out of a few.
func word(words ...string) *shape { return &shape{kinds: isString, words: words} }

// fieldsOf makes a field table of names with one shape.
func fieldsOf(s *shape, names ...string) map[string]*shape {
	m := map[string]*shape{}
	for _, n := range names {
		m[n] = s
	}
	return m
}

// with joins field tables.
func with(tables ...map[string]*shape) map[string]*shape {
	all := map[string]*shape{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// check finds the first flaw of a value. easy leaves unknown fields alone.
func (s *shape) check(v any, easy bool) *flaw { return s.walk(v, nil, easy) }

func (s *shape) walk(v any, path []any, easy bool) *flaw {
	if s.kinds&kindOf(v) == 0 {
		return &flaw{kind: wrongType, path: path, want: s.kinds.String(), got: kindOf(v).String()}
	}
	switch v := v.(type) {
	case object:
		return s.walkObject(v, path, easy)
	case list:
		return s.walkList(v, path, easy)
	case string:
		if s.words != nil && !slices.Contains(s.words, v) {
			return &flaw{kind: wrongWord, path: path, want: quoted(s.words), got: v}
		}
	}
	return nil
}

func (s *shape) walkList(v list, path []any, easy bool) *flaw {
	if len(v) < s.least {
		return &flaw{kind: tooShort, path: path}
	}
	if s.items == nil {
		return nil
	}
	for i, item := range v {
		if f := s.items.walk(item, append(path[:len(path):len(path)], i), easy); f != nil {
			return f
		}
	}
	return nil
}

func (s *shape) walkObject(v object, path []any, easy bool) *flaw {
	if s.tag != "" {
		return s.walkTagged(v, path, easy)
	}
	if s.fields == nil {
		return s.walkValues(v, path, easy)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		field, known := s.fields[name]
		switch {
		case !known && !easy:
			return &flaw{kind: unknownField, path: path, name: name}
		case known:
			if f := field.walk(v[name], append(path[:len(path):len(path)], name), easy); f != nil {
				return f
			}
		}
	}
	return s.missing(v, path)
}

// walkValues looks at an object whose names are free.
func (s *shape) walkValues(v object, path []any, easy bool) *flaw {
	if s.items == nil {
		return s.missing(v, path)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if f := s.items.walk(v[name], append(path[:len(path):len(path)], name), easy); f != nil {
			return f
		}
	}
	return nil
}

func (s *shape) missing(v object, path []any) *flaw {
	for _, name := range s.need {
		if _, ok := v[name]; !ok {
			return &flaw{kind: missingField, path: path, name: name}
		}
	}
	return nil
}

func (s *shape) walkTagged(v object, path []any, easy bool) *flaw {
	value, given := v[s.tag]
	w, ok := value.(string)
	if given && !ok {
		return &flaw{kind: wrongType, path: append(path[:len(path):len(path)], s.tag), want: "a string", got: kindOf(value).String()}
	}
	one := s.kindOf[w]
	switch {
	case one != nil:
		return one.walk(v, path, easy)
	case s.also != nil && s.also(w), easy && given && !s.firm:
		return nil
	case !given:
		return &flaw{kind: missingField, path: path, name: s.tag}
	}
	return &flaw{kind: wrongWord, path: append(path[:len(path):len(path)], s.tag), want: quoted(slices.Sorted(maps.Keys(s.kindOf))), got: w}
}

func kindOf(v any) kind {
	switch v.(type) {
	case object:
		return isObject
	case list:
		return isArray
	case string:
		return isString
	case json.Number:
		return isNumber
	case bool:
		return isBool
	}
	return isNull
}

// String names the types as error messages do.
func (k kind) String() string {
	var names []string
	for _, n := range []struct {
		k    kind
		name string
	}{{isObject, "an object"}, {isArray, "an array"}, {isString, "a string"}, {isNumber, "a number"}, {isBool, "a boolean"}, {isNull, "null"}} {
		if k&n.k != 0 {
			names = append(names, n.name)
		}
	}
	if len(names) > 1 && names[len(names)-1] == "null" {
		names = names[:len(names)-1]
	}
	return strings.Join(names, " or ")
}

// quoted lists words as error messages do.
func quoted(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = "'" + w + "'"
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + ", and " + all[len(all)-1]
}

// dotted writes a path with dots: messages.0.role.
func dotted(path []any) string {
	words := make([]string, len(path))
	for i, p := range path {
		words[i] = fmt.Sprint(p)
	}
	return strings.Join(words, ".")
}

// bracketed writes a path with brackets: messages[0].role.
func bracketed(path []any) string {
	var b strings.Builder
	for _, p := range path {
		if i, ok := p.(int); ok {
			fmt.Fprintf(&b, "[%d]", i)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		fmt.Fprint(&b, p)
	}
	return b.String()
}

package messages

import (
	"encoding/json"

	"dev.magpie/gateway/wire"
)

// setFormat asks for structured output: by the API's own field where the model has it and
// the schema fits, else by words.
func (w *writing) setFormat() {
	f := w.a.Format
	if f == nil {
		return
	}
	if f.Schema == nil {
		w.instruct("Answer with one JSON object and nothing else: no words around it, no code fence.")
		return
	}
	if w.m.format && w.takes("output_config") && w.takes("output_config.format") {
		schema := f.Schema
		if !w.own() {
			schema = formatSchema(f.Schema)
		}
		if schema != nil {
			w.format = append(append([]byte(`{"type":"json_schema","schema":`), schema...), '}')
			return
		}
	}
	w.instruct("Answer with one JSON value and nothing else, no words around it and no code fence. It must follow this JSON Schema:\n" + string(f.Schema))
	w.lose("structured output", "asked for in words: the model takes no such schema")
}

// bounds are the keywords that the API's schemas don't have; they go into the description.
var bounds = map[string]bool{
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minLength": true, "maxLength": true, "pattern": true, "minItems": true, "maxItems": true, "uniqueItems": true,
	"minProperties": true, "maxProperties": true, "contains": true, "patternProperties": true, "propertyNames": true,
	"if": true, "then": true, "else": true, "not": true, "dependentRequired": true, "dependentSchemas": true,
	"unevaluatedProperties": true, "prefixItems": true,
}

const deepest = 64

// formatSchema is a schema within what structured output takes: all objects are closed,
// and bounds are told in the description. It is nil for one that refers to itself.
func formatSchema(raw json.RawMessage) json.RawMessage {
	if recursive(wire.Value(raw)) {
		return nil
	}
	b, ok := appendSchema(make([]byte, 0, len(raw)+len(raw)/4), wire.Value(raw), 0)
	if !ok {
		return nil
	}
	return b
}

// appendSchema writes one schema and what is in it.
func appendSchema(b []byte, v wire.Value, depth int) ([]byte, bool) {
	if v.Kind() != '{' || depth > deepest {
		return append(b, v...), depth <= deepest
	}
	s := schema{b: append(b, '{'), depth: depth, ok: true}
	v.Members(s.member)
	if s.object {
		s.key("additionalProperties")
		s.b = append(s.b, "false"...)
	}
	if s.description != "" || s.note != "" {
		text := s.description
		if text != "" && s.note != "" {
			text += "\n"
		}
		s.key("description")
		s.b = wire.AppendQuoted(s.b, text+s.note)
	}
	return append(s.b, '}'), s.ok
}

// schema is one schema while it is written.
type schema struct {
	b           []byte
	depth       int
	some        bool
	ok          bool
	object      bool
	description string
	note        string
}

func (s *schema) key(name string) {
	if s.some {
		s.b = append(s.b, ',')
	}
	s.some = true
	s.b = append(wire.AppendQuoted(s.b, name), ':')
}

func (s *schema) member(key string, v wire.Value) {
	switch {
	case key == "description":
		s.description = v.Text()
	case key == "additionalProperties":
		s.object = true
	case bounds[key]:
		if key == "minItems" && (string(v) == "0" || string(v) == "1") {
			s.plain(key, v)
			return
		}
		if s.note != "" {
			s.note += ", "
		}
		s.note += key + ": " + string(v)
	case key == "properties" || key == "$defs" || key == "definitions":
		s.object = s.object || key == "properties"
		s.named(key, v)
	case key == "items":
		s.key(key)
		s.nested(v)
	case key == "anyOf" || key == "allOf":
		s.list(key, v)
	case key == "oneOf":
		s.list("anyOf", v)
	default:
		if key == "type" && v.Text() == "object" {
			s.object = true
		}
		s.plain(key, v)
	}
}

func (s *schema) plain(key string, v wire.Value) {
	s.key(key)
	s.b = append(s.b, v...)
}

func (s *schema) nested(v wire.Value) {
	var ok bool
	s.b, ok = appendSchema(s.b, v, s.depth+1)
	s.ok = s.ok && ok
}

func (s *schema) named(key string, v wire.Value) {
	s.key(key)
	s.b = append(s.b, '{')
	first := true
	v.Members(func(name string, m wire.Value) {
		if !first {
			s.b = append(s.b, ',')
		}
		first = false
		s.b = append(wire.AppendQuoted(s.b, name), ':')
		s.nested(m)
	})
	s.b = append(s.b, '}')
}

func (s *schema) list(key string, v wire.Value) {
	s.key(key)
	s.b = append(s.b, '[')
	first := true
	v.Elements(func(m wire.Value) {
		if !first {
			s.b = append(s.b, ',')
		}
		first = false
		s.nested(m)
	})
	s.b = append(s.b, ']')
}

// recursive says whether a schema refers to itself, or to what can't be followed.
func recursive(root wire.Value) bool {
	r := refs{defs: map[string]wire.Value{}, state: map[string]uint8{}}
	for _, key := range []string{"$defs", "definitions"} {
		root.Get(key).Members(func(name string, v wire.Value) { r.defs["#/"+key+"/"+name] = v })
	}
	return r.loops(root, 0)
}

// refs follows the references of a schema.
type refs struct {
	defs  map[string]wire.Value
	state map[string]uint8 // 1 = on the way, 2 = fine
}

func (r *refs) loops(v wire.Value, depth int) bool {
	if depth > deepest {
		return true
	}
	bad := false
	switch v.Kind() {
	case '[':
		v.Elements(func(e wire.Value) { bad = bad || r.loops(e, depth+1) })
	case '{':
		v.Members(func(key string, m wire.Value) {
			switch {
			case bad || key == "$defs" || key == "definitions" || key == "enum" || key == "const" || key == "default":
			case key == "$ref" && m.Kind() == '"':
				bad = r.follow(m.Text(), depth)
			default:
				bad = r.loops(m, depth+1)
			}
		})
	}
	return bad
}

func (r *refs) follow(ref string, depth int) bool {
	if r.state[ref] > 0 {
		return r.state[ref] == 1
	}
	v, ok := r.defs[ref]
	if !ok {
		return true
	}
	r.state[ref] = 1
	bad := r.loops(v, depth+1)
	r.state[ref] = 2
	return bad
}

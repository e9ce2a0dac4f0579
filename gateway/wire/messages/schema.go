package messages

import (
	"bytes"
	"encoding/json"
	"slices"

	"dev.magpie/gateway/wire"
)

// toolSchema is a tool's schema as the API takes it: an object at its root, no union there.
func toolSchema(raw json.RawMessage) json.RawMessage {
	v := wire.Value(bytes.TrimSpace(raw))
	if v.Kind() != '{' || len(bytes.TrimSpace(v[1:len(v)-1])) == 0 {
		return emptySchema
	}
	union, object := false, false
	v.Members(func(key string, m wire.Value) {
		switch key {
		case "oneOf", "anyOf", "allOf":
			union = true
		case "type":
			object = m.Text() == "object"
		}
	})
	switch {
	case union:
		return mergeUnion(v)
	case object:
		return raw
	}
	b := append(make([]byte, 0, len(v)+20), `{"type":"object"`...)
	v.Members(func(key string, m wire.Value) {
		if key != "type" {
			b = appendMember(b, key, m)
		}
	})
	return append(b, '}')
}

func appendMember(b []byte, key string, v []byte) []byte {
	b = wire.AppendQuoted(append(b, ','), key)
	return append(append(b, ':'), v...)
}

// union is what the branches of a schema's root come to when they are one object.
type union struct {
	names    []string
	props    map[string]wire.Value
	required []string
}

// mergeUnion makes one object of a schema whose root is a union: it has the properties of
// all branches, and demands what all of them demand.
func mergeUnion(v wire.Value) json.RawMessage {
	u := union{props: map[string]wire.Value{}}
	u.take(v)
	root := names(v.Get("required"))
	v.Members(func(key string, m wire.Value) {
		if key == "oneOf" || key == "anyOf" || key == "allOf" {
			u.branches(m, key == "allOf", &root)
		}
	})
	for _, name := range u.required {
		if !slices.Contains(root, name) {
			root = append(root, name)
		}
	}
	b := append(make([]byte, 0, len(v)), `{"type":"object","properties":{`...)
	for i, name := range u.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendQuoted(b, name), ':')
		b = append(b, u.props[name]...)
	}
	b = append(b, '}')
	if len(root) > 0 {
		b = appendStrings(append(b, `,"required":`...), root)
	}
	v.Members(func(key string, m wire.Value) {
		switch key {
		case "type", "oneOf", "anyOf", "allOf", "properties", "required":
		default:
			b = appendMember(b, key, m)
		}
	})
	return append(b, '}')
}

// take adds the properties of one branch; the first that tells of a name counts.
func (u *union) take(v wire.Value) {
	v.Get("properties").Members(func(name string, m wire.Value) {
		if _, ok := u.props[name]; !ok {
			u.names = append(u.names, name)
			u.props[name] = m
		}
	})
}

// branches adds those of one union. All of allOf hold at once, so what one of them demands is demanded.
func (u *union) branches(v wire.Value, all bool, root *[]string) {
	first := true
	var common []string
	v.Elements(func(branch wire.Value) {
		u.take(branch)
		demands := names(branch.Get("required"))
		switch {
		case all:
			for _, name := range demands {
				if !slices.Contains(*root, name) {
					*root = append(*root, name)
				}
			}
		case first:
			common = demands
		default:
			common = slices.DeleteFunc(common, func(s string) bool { return !slices.Contains(demands, s) })
		}
		first = false
	})
	u.required = append(u.required, common...)
}

func names(v wire.Value) []string {
	var out []string
	v.Elements(func(e wire.Value) { out = append(out, e.Text()) })
	return out
}

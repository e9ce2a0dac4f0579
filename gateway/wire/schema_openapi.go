package wire

import (
	"slices"
	"strings"
)

// openAPIKeys are the keywords that Gemini's OpenAPI schemas have, beside those that are
// read one by one.
var openAPIKeys = map[string]bool{
	"title": true, "description": true, "enum": true, "minItems": true, "maxItems": true, "required": true,
	"propertyOrdering": true, "minimum": true, "maximum": true, "minLength": true, "maxLength": true,
	"pattern": true, "default": true, "example": true,
}

// openAPIFormats are the formats that the types have.
var openAPIFormats = map[string][]string{
	"string":  {"date-time", "enum"},
	"integer": {"int32", "int64"},
	"number":  {"float", "double"},
}

// openAPI reduces one node to Gemini's OpenAPI schemas; open are the references that are
// being written out around it.
func (r *reducer) openAPI(n *node, open []*node) *node {
	if n.kind != '{' {
		return anything()
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > deepestSchema || !r.step() {
		r.lose("nesting")
		return anything()
	}
	n = r.flat(n)
	if ref := n.text("$ref"); ref != "" {
		return r.openAPIRef(n, ref, open)
	}
	types, null := n.types()
	if v := n.get("nullable"); v != nil && v.kind == 't' {
		null = true
	}
	for _, key := range [...]string{"anyOf", "oneOf"} {
		if list := n.list(key); list != nil {
			n = n.copied()
			n.drop(key)
			return r.openAPIUnion(n, list, null, open)
		}
	}
	if len(types) > 1 {
		list := listNode()
		for _, t := range types {
			list.kids = append(list.kids, ofType(n, t))
		}
		return r.branches(n, list.kids, null, open)
	}
	kind := ""
	if len(types) == 1 {
		kind = types[0]
	}
	return r.openAPIOne(n, kind, null, open)
}

// ofType is the node as one of its types alone.
func ofType(n *node, t string) *node {
	one := n.copied()
	one.drop("description")
	one.drop("nullable")
	one.set("type", textNode(t))
	return one
}

// anything is a value of which nothing is known, as near as the subset comes.
func anything() *node {
	return &node{kind: '{', keys: []string{"type", "description"}, kids: []*node{textNode("STRING"), textNode("Any JSON value, as text.")}}
}

func (r *reducer) openAPIRef(n *node, ref string, open []*node) *node {
	to := r.find(ref)
	if to == nil || to.kind != '{' || slices.Contains(open, to) || !r.step() {
		r.lose("$ref")
		out := &node{kind: '{', keys: []string{"type"}, kids: []*node{textNode("STRING")}}
		if words := n.text("description"); words != "" {
			out.note(words)
		}
		out.note(refNote(ref) + " As JSON text.")
		return out
	}
	inner := to.copied()
	for i, key := range n.keys {
		if key != "$ref" && key != "$defs" && key != "definitions" {
			inner.set(key, n.kids[i])
		}
	}
	return r.openAPI(inner, append(open[:len(open):len(open)], to))
}

// openAPIUnion writes a union. Null among its branches is a flag, a single branch is the
// node itself, and branches of an object that has properties are part of it: beside anyOf
// nothing may stand.
func (r *reducer) openAPIUnion(n, list *node, null bool, open []*node) *node {
	some := make([]*node, 0, len(list.kids))
	for _, branch := range list.kids {
		if branch.isNull() {
			null = true
			continue
		}
		some = append(some, branch)
	}
	if len(some) == 1 && some[0].kind == '{' {
		one := n.copied()
		for i, key := range some[0].keys {
			if one.get(key) == nil || key == "type" {
				one.set(key, some[0].kids[i])
			}
		}
		if null {
			one.set("nullable", boolNode(true))
		}
		return r.openAPI(one, open)
	}
	if n.get("properties") != nil || len(some) == 0 {
		whole := n.copied()
		if len(some) > 0 {
			whole.set("anyOf", listNode(some...))
			r.object(whole)
		}
		types, _ := whole.types()
		if len(types) != 1 {
			types = []string{""}
		}
		return r.openAPIOne(whole, types[0], null, open)
	}
	return r.branches(n, some, null, open)
}

func (n *node) isNull() bool {
	if c := n.get("const"); c != nil {
		return c.kind == 'n'
	}
	types, null := n.types()
	return null && len(types) == 0
}

// branches writes the branches of a union, each with what the node says of all of them.
func (r *reducer) branches(n *node, some []*node, null bool, open []*node) *node {
	list := listNode()
	for _, branch := range some {
		b := r.openAPI(branch, open)
		if words := n.text("description"); words != "" && b.get("description") == nil && b.get("anyOf") == nil {
			b.set("description", textNode(words))
		}
		if null && b.get("anyOf") == nil {
			b.set("nullable", boolNode(true))
		}
		list.kids = append(list.kids, b)
	}
	return &node{kind: '{', keys: []string{"anyOf"}, kids: []*node{list}}
}

// openAPIOne writes a node of one type, "" = not told.
func (r *reducer) openAPIOne(n *node, kind string, null bool, open []*node) *node {
	n = n.copied()
	if kind == "" {
		kind = guessType(n)
	}
	if kind == "" || kind == "string" {
		plainEnum(n, true)
	} else if n.get("enum") != nil {
		plainEnum(n, true)
		if n.get("enum") != nil { // text where none may stand
			n.drop("enum")
			r.lose("enum")
		}
	}
	n.keepRequired()
	out := &node{kind: '{', keys: make([]string, 0, len(n.keys)+1), kids: make([]*node, 0, len(n.keys)+1)}
	out.set("type", textNode(strings.ToUpper(kind)))
	for i, key := range n.keys {
		r.openAPIMember(out, kind, key, n.kids[i], open)
	}
	switch {
	case kind == "array" && out.get("items") == nil:
		r.openAPIItems(out, n, open)
	case kind == "object" && out.get("properties") == nil && r.depth > 1:
		out.set("type", textNode("STRING"))
		out.drop("required")
		out.drop("propertyOrdering")
		out.note("A JSON object, as text.")
	case kind == "":
		out.set("type", textNode("STRING"))
		if out.get("enum") == nil {
			out.note("Any JSON value, as text.")
		}
	}
	if null {
		out.set("nullable", boolNode(true))
	}
	return out
}

func (r *reducer) openAPIMember(out *node, kind, key string, v *node, open []*node) {
	switch key {
	case "type", "nullable", "prefixItems":
	case "items":
		if kind == "array" && v.kind == '{' {
			out.set(key, r.openAPI(v, open))
		}
	case "properties":
		if v.kind != '{' || len(v.kids) == 0 || kind != "object" {
			return
		}
		props := &node{kind: '{', keys: v.keys, kids: make([]*node, 0, len(v.kids))}
		for _, p := range v.kids {
			props.kids = append(props.kids, r.openAPI(p, open))
		}
		out.set(key, props)
	case "format":
		if slices.Contains(openAPIFormats[kind], v.str()) {
			out.set(key, v)
			return
		}
		r.lose(key)
	case "default":
		if v.kind != 'n' {
			out.set(key, v)
		}
	default:
		if openAPIKeys[key] {
			out.set(key, v)
		} else if !silent[key] {
			r.lose(key)
		}
	}
}

// openAPIItems tells of an array's elements where no one schema does: those of a tuple, or text.
func (r *reducer) openAPIItems(out, n *node, open []*node) {
	tuple := n.list("prefixItems")
	if tuple == nil {
		tuple = n.list("items")
	}
	var kinds []*node
	var seen []string
	if tuple != nil {
		r.lose("prefixItems")
		for _, e := range tuple.kids {
			one := r.openAPI(e, open)
			if text := string(one.bytes()); !slices.Contains(seen, text) && len(seen) < 16 {
				seen, kinds = append(seen, text), append(kinds, one)
			}
		}
	}
	switch len(kinds) {
	case 0:
		out.set("items", &node{kind: '{', keys: []string{"type"}, kids: []*node{textNode("STRING")}})
	case 1:
		out.set("items", kinds[0])
	default:
		out.set("items", &node{kind: '{', keys: []string{"anyOf"}, kids: []*node{listNode(kinds...)}})
	}
}

package wire

import (
	"slices"
	"strings"
)

// geminiKeys are the keywords that Gemini's JSON schemas have.
var geminiKeys = map[string]bool{
	"$id": true, "$defs": true, "$ref": true, "$anchor": true, "type": true, "format": true, "title": true,
	"description": true, "enum": true, "items": true, "prefixItems": true, "minItems": true, "maxItems": true,
	"minimum": true, "maximum": true, "anyOf": true, "oneOf": true, "properties": true, "additionalProperties": true,
	"required": true, "propertyOrdering": true,
}

// silent are keywords whose loss nobody misses: they say nothing of what is valid.
var silent = map[string]bool{
	"$schema": true, "$comment": true, "default": true, "examples": true, "example": true, "deprecated": true,
	"readOnly": true, "writeOnly": true, "definitions": true, "nullable": true, "strict": true,
	"$id": true, "$defs": true, "$anchor": true, "additionalProperties": true, "title": true,
}

// gemini reduces one node to Gemini's JSON schemas.
func (r *reducer) gemini(n *node) *node {
	switch n.kind {
	case 't', 'f':
		return &node{kind: '{'}
	case '{':
	default:
		return n
	}
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > deepestSchema {
		r.lose("nesting")
		return &node{kind: '{'}
	}
	if ref := n.text("$ref"); ref != "" {
		return r.geminiRef(n, ref)
	}
	n = r.flat(n)
	if ref := n.text("$ref"); ref != "" {
		return r.geminiRef(n, ref)
	}
	if null := n.get("nullable"); null != nil && null.kind == 't' {
		nullable(n)
	}
	if e := n.get("items"); e != nil && e.kind == '[' {
		n.drop("items")
		n.set("prefixItems", e)
	}
	if n.get("type") == nil && n.get("enum") != nil {
		if t := guessType(n); t != "" {
			n.set("type", textNode(t))
		}
	}
	plainEnum(n, false)
	n.keepRequired()
	r.freeRequired(n)
	out := &node{kind: '{', keys: make([]string, 0, len(n.keys)), kids: make([]*node, 0, len(n.keys))}
	for i, key := range n.keys {
		r.geminiMember(out, key, n.kids[i])
	}
	return out
}

func (r *reducer) geminiMember(out *node, key string, v *node) {
	switch key {
	case "properties":
		v = r.each(v)
	case "$defs", "definitions":
		r.defs(out, v)
		return
	case "items", "additionalProperties":
		if v.kind == '{' {
			v = r.gemini(v)
		} else if key == "items" {
			return
		}
	case "anyOf", "oneOf", "prefixItems":
		if v.kind != '[' || len(v.kids) == 0 {
			return
		}
		v = r.each(v)
	default:
		if !geminiKeys[key] {
			if !silent[key] {
				r.lose(key)
			}
			return
		}
	}
	out.set(key, v)
}

// each reduces all that stand in a list, or under names.
func (r *reducer) each(list *node) *node {
	out := &node{kind: list.kind, raw: list.raw, keys: list.keys, kids: make([]*node, 0, len(list.kids))}
	for _, kid := range list.kids {
		out.kids = append(out.kids, r.gemini(kid))
	}
	return out
}

// defs sets named schemas under $defs, whatever they stood under.
func (r *reducer) defs(out, v *node) {
	if v.kind != '{' {
		return
	}
	v = r.each(v)
	if had := out.get("$defs"); had != nil {
		had = had.copied()
		for i, name := range v.keys {
			if had.get(name) == nil {
				had.set(name, v.kids[i])
			}
		}
		v = had
	}
	out.set("$defs", v)
}

// geminiRef writes a reference. Beside it nothing may stand, so that a description of it
// goes around it; what no named schema is is written out.
func (r *reducer) geminiRef(n *node, ref string) *node {
	name, ok := strings.CutPrefix(ref, "#/definitions/")
	if ok {
		ref = "#/$defs/" + name
	} else {
		name, ok = strings.CutPrefix(ref, "#/$defs/")
	}
	if !ok || strings.Contains(name, "/") || r.named(name) == nil {
		return r.writeOut(n, ref)
	}
	out := &node{kind: '{', keys: []string{"$ref"}, kids: []*node{textNode(ref)}}
	if words := n.text("description"); words != "" {
		out = &node{kind: '{', keys: []string{"description", "anyOf"}, kids: []*node{textNode(words), listNode(out)}}
	}
	for _, key := range [...]string{"$defs", "definitions"} {
		if v := n.get(key); v != nil && n == r.root {
			r.defs(out, v)
		}
	}
	return out
}

// named is one of the schema's named schemas.
func (r *reducer) named(name string) *node {
	name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	if n := r.root.object("$defs").get(name); n != nil {
		return n
	}
	return r.root.object("definitions").get(name)
}

// writeOut sets what a reference points at in its place; what leads back to itself ends there.
func (r *reducer) writeOut(n *node, ref string) *node {
	to := r.find(ref)
	if to == nil || to.kind != '{' || r.loop(ref) || !r.step() {
		r.lose("$ref")
		out := &node{kind: '{', keys: []string{"type"}, kids: []*node{textNode("object")}}
		out.note(refNote(ref))
		return out
	}
	to = to.copied()
	if words := n.get("description"); words != nil {
		to.set("description", words)
	}
	return r.gemini(to)
}

// refNote tells of a reference that could not be kept.
func refNote(ref string) string {
	if ref == "#" {
		return "The same again as the whole."
	}
	return "The same again as " + ref[strings.LastIndexByte(ref, '/')+1:] + "."
}

// loop says whether what a reference points at refers, sooner or later, to itself.
func (r *reducer) loop(ref string) bool {
	if is, ok := r.loops[ref]; ok {
		return is
	}
	if r.loops == nil {
		r.loops = map[string]bool{}
	}
	is := false
	if goal := r.find(ref); goal != nil {
		is = r.below(goal, goal, map[*node]bool{})
	}
	r.loops[ref] = is
	return is
}

// below says whether the goal is reached from what stands in n. A tree holds no node twice,
// so that only a reference can lead back.
func (r *reducer) below(n, goal *node, seen map[*node]bool) bool {
	if ref := n.text("$ref"); ref != "" {
		if to := r.find(ref); to != nil && r.reaches(to, goal, seen) {
			return true
		}
	}
	return slices.ContainsFunc(n.kids, func(kid *node) bool { return r.reaches(kid, goal, seen) })
}

func (r *reducer) reaches(n, goal *node, seen map[*node]bool) bool {
	if n == goal || !r.step() {
		return true
	}
	if seen[n] {
		return false
	}
	seen[n] = true
	return r.below(n, goal, seen)
}

// freeRequired lets be left out what refers back to itself: cycles may stand in properties
// that nobody demands, and there alone.
func (r *reducer) freeRequired(n *node) {
	list, props := n.list("required"), n.object("properties")
	if list == nil || props == nil || r.root.get("$defs") == nil && r.root.get("definitions") == nil {
		return
	}
	kept := listNode()
	for _, e := range list.kids {
		if p := props.get(e.str()); p == nil || !r.refersBack(p) {
			kept.kids = append(kept.kids, e)
		}
	}
	switch {
	case len(kept.kids) == len(list.kids):
	case len(kept.kids) == 0:
		n.drop("required")
	default:
		n.set("required", kept)
	}
}

// refersBack says whether a property holds a reference that leads back to itself.
func (r *reducer) refersBack(n *node) bool {
	if ref := n.text("$ref"); ref != "" && r.loop(ref) {
		return true
	}
	return slices.ContainsFunc(n.kids, r.refersBack)
}

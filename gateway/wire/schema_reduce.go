package wire

import (
	"slices"
	"strconv"
	"strings"
)

// stepsMost bounds the work on one schema: a reference may stand in many places, and what
// it points at may hold many more.
const stepsMost = 50000

// deepestSchema is how deep a reduced schema may nest.
const deepestSchema = 100

// reducer takes a schema down to a subset.
type reducer struct {
	root  *node
	lost  []string
	steps int // of stepsMost
	depth int
	loops map[string]bool // references that lead back to themselves, once known
}

func (r *reducer) lose(key string) {
	if !slices.Contains(r.lost, key) {
		r.lost = append(r.lost, key)
	}
}

// step says whether there may be another step.
func (r *reducer) step() bool {
	r.steps++
	return r.steps <= stepsMost
}

// find is what a reference within the schema points at, nil for another document's.
func (r *reducer) find(ref string) *node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	n := r.root
	for path != "" {
		var step string
		if path, ok = strings.CutPrefix(path, "/"); !ok {
			return nil
		}
		step, path = path, ""
		if i := strings.IndexByte(step, '/'); i >= 0 {
			step, path = step[:i], step[i:]
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if n.kind == '[' {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.kids) {
				return nil
			}
			n = n.kids[i]
			continue
		}
		if n = n.get(step); n == nil {
			return nil
		}
	}
	return n
}

// object makes one object of a node whose branches are told in a union.
func (r *reducer) object(n *node) {
	m := merged{r: r, props: &node{kind: '{'}, loops: true}
	m.take(n, 0)
	out := &node{kind: '{', keys: []string{"type", "properties"}, kids: []*node{textNode("object"), m.props}}
	for i, key := range n.keys {
		switch key {
		case "type", "properties", "required", "anyOf", "oneOf", "allOf", "$ref":
		default:
			out.set(key, n.kids[i])
		}
	}
	if len(m.required) > 0 {
		list := listNode()
		for _, name := range m.required {
			list.kids = append(list.kids, textNode(name))
		}
		out.set("required", list)
	}
	*n = *out
}

// merged gathers the properties of branches, and what is demanded of all of them.
type merged struct {
	r        *reducer
	props    *node
	has      map[string]bool
	required []string
	loops    bool // references that lead back to themselves are followed, once
}

func (m *merged) take(n *node, depth int) {
	if depth > deepestSchema || n.kind != '{' || !m.r.step() {
		return
	}
	if p := n.object("properties"); p != nil {
		for i, name := range p.keys {
			if !m.has[name] {
				if m.has == nil {
					m.has = map[string]bool{}
				}
				m.has[name] = true
				m.props.keys, m.props.kids = append(m.props.keys, name), append(m.props.kids, p.kids[i])
			}
		}
	}
	m.demand(names(n.list("required")))
	if ref := n.text("$ref"); ref != "" && depth < 8 && (m.loops || !m.r.loop(ref)) {
		if to := m.r.find(ref); to != nil {
			m.take(to, depth+1)
		}
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		if list := n.list(key); list != nil {
			m.branches(list, key == "allOf", depth)
		}
	}
}

// branches takes those of one union. All of allOf hold at once; of the others one does.
func (m *merged) branches(list *node, all bool, depth int) {
	had := m.required
	var common []string
	for i, branch := range list.kids {
		if all {
			m.take(branch, depth+1)
			continue
		}
		m.required = nil
		m.take(branch, depth+1)
		if i == 0 {
			common = m.required
			continue
		}
		mine := m.required
		common = slices.DeleteFunc(common, func(s string) bool { return !slices.Contains(mine, s) })
	}
	if !all {
		m.required = had
		m.demand(common)
	}
}

func (m *merged) demand(more []string) {
	for _, name := range more {
		if !slices.Contains(m.required, name) {
			m.required = append(m.required, name)
		}
	}
}

func names(list *node) []string {
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(list.kids))
	for _, e := range list.kids {
		out = append(out, e.str())
	}
	return out
}

// flat brings what the two subsets know in common into one form: allOf merged, const as an
// enum of one, excluded bounds as included ones, no null among an enum's values.
func (r *reducer) flat(n *node) *node {
	n = n.copied()
	if all := n.list("allOf"); all != nil {
		r.mergeAll(n, all)
	}
	if c := n.get("const"); c != nil {
		n.drop("const")
		if n.get("enum") == nil {
			n.set("enum", listNode(c))
		}
	}
	n.exclusive()
	return n
}

// mergeAll sets what the branches of an allOf say into the node itself: all hold at once.
func (r *reducer) mergeAll(n, all *node) {
	n.drop("allOf")
	if len(all.kids) == 1 && n.get("properties") == nil && all.kids[0].text("$ref") != "" {
		n.set("$ref", all.kids[0].get("$ref"))
		return
	}
	m := merged{r: r, props: &node{kind: '{'}}
	m.take(n, 0)
	m.branches(all, true, 0)
	for _, branch := range all.kids {
		if ref := branch.text("$ref"); ref != "" {
			if branch = r.find(ref); branch == nil || r.loop(ref) || !r.step() {
				r.lose("$ref")
				continue
			}
		}
		if branch.kind != '{' {
			continue
		}
		for i, key := range branch.keys {
			if key != "allOf" && key != "$ref" && n.get(key) == nil {
				n.set(key, branch.kids[i])
			}
		}
	}
	if len(m.props.keys) > 0 {
		n.set("properties", m.props)
	}
	if len(m.required) > 0 {
		list := listNode()
		for _, name := range m.required {
			list.kids = append(list.kids, textNode(name))
		}
		n.set("required", list)
	}
}

// plainEnum leaves of an enum what may stand there; without any the values are told in the
// description. only says that strings alone may.
func plainEnum(n *node, only bool) {
	list := n.get("enum")
	if list == nil {
		return
	}
	kept, told, odd := listNode(), []string(nil), false
	if list.kind == '[' {
		for _, e := range list.kids {
			switch {
			case e.kind == 'n':
			case e.kind == '"' || e.kind == '0' && !only:
				kept.kids = append(kept.kids, e)
			default:
				odd = true
			}
			told = append(told, string(e.append(nil)))
		}
	}
	if len(kept.kids) > 0 && !odd {
		n.set("enum", kept)
		return
	}
	n.drop("enum")
	if len(told) > 0 {
		n.note("One of: " + strings.Join(told, ", "))
	}
}

// guessType is the type that a node without one has by what else it says, "" for any.
func guessType(n *node) string {
	switch {
	case n.get("properties") != nil:
		return "object"
	case n.get("items") != nil || n.get("prefixItems") != nil:
		return "array"
	}
	list := n.list("enum")
	if list == nil || len(list.kids) == 0 {
		return ""
	}
	switch list.kids[0].kind {
	case '"':
		return "string"
	case '0':
		if _, whole := list.kids[0].integer(); whole {
			return "integer"
		}
		return "number"
	case 't', 'f':
		return "boolean"
	}
	return ""
}

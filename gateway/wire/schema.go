package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// emptyObject is the schema of what takes nothing.
const emptyObject = `{"type":"object","properties":{}}`

// ObjectSchema is a tool's schema with an object at its root, as all APIs want it: nothing
// at all takes nothing, and a union at the root becomes one object that has the properties
// of all branches and demands what each of them demands.
func ObjectSchema(raw json.RawMessage) json.RawMessage {
	if isObject(Value(raw)) {
		return raw
	}
	root := parseSchema(raw)
	if root == nil || root.kind != '{' {
		return json.RawMessage(emptyObject)
	}
	(&reducer{root: root}).object(root)
	return root.bytes()
}

// NamedProperties is a tool's schema as OpenAI's APIs want it: nothing at all takes nothing,
// and an object at the root names its properties, be there none. All else stays to the byte.
func NamedProperties(raw json.RawMessage) json.RawMessage {
	root := Value(bytes.TrimSpace(raw))
	object, more := false, false
	root.Members(func(key string, m Value) {
		switch key {
		case "type":
			object = m.Text() == "object"
		case "properties", "anyOf", "oneOf", "allOf", "$ref":
			more = true
		}
	})
	switch {
	case root.None(), string(root) == "{}":
		return json.RawMessage(emptyObject)
	case !object || more:
		return raw
	}
	out := make([]byte, 0, len(root)+len(`,"properties":{}`))
	return append(append(out, root[:len(root)-1]...), `,"properties":{}}`...)
}

// isObject says whether a schema's root is an object with properties and nothing else.
func isObject(v Value) bool {
	object, properties, union := false, false, false
	v.Members(func(key string, m Value) {
		switch key {
		case "type":
			object = m.Text() == "object"
		case "properties":
			properties = m.Kind() == '{'
		case "anyOf", "oneOf", "allOf":
			union = true
		}
	})
	return object && properties && !union
}

// GeminiSchema reduces a JSON schema to what Gemini's parametersJsonSchema and
// responseJsonSchema understand. lost names the keywords that were left out, each once.
func GeminiSchema(raw json.RawMessage) (out json.RawMessage, lost []string) {
	root := parseSchema(raw)
	if root == nil || root.kind != '{' {
		return json.RawMessage(emptyObject), nil
	}
	r := &reducer{root: root}
	return r.gemini(root).bytes(), r.lost
}

// OpenAPISchema reduces a JSON schema to the subset of OpenAPI that Gemini's parameters
// and responseSchema are. It is nil for an object without properties, for which such a
// schema is refused. lost names the keywords that were left out, each once.
func OpenAPISchema(raw json.RawMessage) (out json.RawMessage, lost []string) {
	root := parseSchema(raw)
	if root == nil || root.kind != '{' {
		return nil, nil
	}
	r := &reducer{root: root}
	n := r.openAPI(root, nil)
	if n.text("type") == "OBJECT" && n.get("properties") == nil {
		return nil, r.lost
	}
	return n.bytes(), r.lost
}

// FromOpenAPI is a schema of Gemini's OpenAPI subset as a JSON schema: types in lower
// case, nullable as a type, bounds that are told as strings as numbers.
func FromOpenAPI(raw json.RawMessage) json.RawMessage {
	root := parseSchema(raw)
	if root == nil {
		return nil
	}
	fromOpenAPI(root)
	return root.bytes()
}

// node is one JSON value of a schema, taken apart. Scalars stay as they are spelled.
type node struct {
	kind byte     // as that of a Value
	raw  []byte   // of a scalar
	keys []string // of an object
	kids []*node  // of an object and of an array
}

func parseSchema(raw json.RawMessage) *node {
	c := cursor{b: raw}
	n := parseNode(&c)
	if c.finish() != nil {
		return nil
	}
	return n
}

func parseNode(c *cursor) *node {
	n := &node{kind: c.peek()}
	switch n.kind {
	case '{':
		c.object(func(key []byte) {
			name := schemaKey(key)
			n.keys, n.kids = append(n.keys, name), append(n.kids, parseNode(c))
		})
		n.unique()
	case '[':
		c.array(func(int) { n.kids = append(n.kids, parseNode(c)) })
	default:
		from := c.i
		c.skip()
		if c.err == nil {
			n.raw = c.b[from:c.i]
			n.kind = Value(n.raw).Kind()
		}
	}
	return n
}

// schemaKey decodes a key; those of schemas cost no memory.
func schemaKey(key []byte) string {
	switch string(key) {
	case "properties":
		return "properties"
	case "required":
		return "required"
	case "description":
		return "description"
	case "items":
		return "items"
	case "enum":
		return "enum"
	}
	return knownKey(key)
}

// unique keeps the last of members with equal keys, where the first stood.
func (n *node) unique() {
	const few = 12
	var at map[string]int
	if len(n.keys) > few {
		at = make(map[string]int, len(n.keys))
	}
	kept := 0
	for i, key := range n.keys {
		had := -1
		if at == nil {
			had = slices.Index(n.keys[:kept], key)
		} else if j, ok := at[key]; ok {
			had = j
		}
		if had >= 0 {
			n.kids[had] = n.kids[i]
			continue
		}
		if at != nil {
			at[key] = kept
		}
		n.keys[kept], n.kids[kept] = key, n.kids[i]
		kept++
	}
	n.keys, n.kids = n.keys[:kept], n.kids[:kept]
}

func (n *node) bytes() json.RawMessage { return n.append(make([]byte, 0, 256)) }

func (n *node) append(b []byte) []byte {
	switch n.kind {
	case '{':
		b = append(b, '{')
		for i, kid := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendQuoted(b, n.keys[i]), ':')
			b = kid.append(b)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, kid := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = kid.append(b)
		}
		return append(b, ']')
	}
	return append(b, n.raw...)
}

func (n *node) at(key string) int {
	if n == nil || n.kind != '{' {
		return -1
	}
	return slices.Index(n.keys, key)
}

func (n *node) get(key string) *node {
	if i := n.at(key); i >= 0 {
		return n.kids[i]
	}
	return nil
}

// object is a member that is an object, nil else.
func (n *node) object(key string) *node {
	if m := n.get(key); m != nil && m.kind == '{' {
		return m
	}
	return nil
}

// list is a member that is an array, nil else.
func (n *node) list(key string) *node {
	if m := n.get(key); m != nil && m.kind == '[' {
		return m
	}
	return nil
}

func (n *node) text(key string) string { return n.get(key).str() }

// str is a string's text, "" of anything else.
func (n *node) str() string {
	if n == nil || n.kind != '"' {
		return ""
	}
	return Value(n.raw).Text()
}

func (n *node) set(key string, v *node) {
	if i := n.at(key); i >= 0 {
		n.kids[i] = v
		return
	}
	n.keys, n.kids = append(n.keys, key), append(n.kids, v)
}

func (n *node) drop(key string) {
	if i := n.at(key); i >= 0 {
		n.keys, n.kids = slices.Delete(n.keys, i, i+1), slices.Delete(n.kids, i, i+1)
	}
}

// copied is a shallow copy: members may be set and dropped without touching the original.
func (n *node) copied() *node {
	return &node{kind: n.kind, raw: n.raw, keys: slices.Clone(n.keys), kids: slices.Clone(n.kids)}
}

func textNode(s string) *node { return &node{kind: '"', raw: Quote(s)} }

func boolNode(yes bool) *node {
	if yes {
		return &node{kind: 't', raw: []byte("true")}
	}
	return &node{kind: 'f', raw: []byte("false")}
}

func listNode(kids ...*node) *node { return &node{kind: '[', kids: kids} }

// types are the node's types without null, and whether null is one of them.
func (n *node) types() (types []string, null bool) {
	t := n.get("type")
	if t == nil {
		return nil, false
	}
	all := []*node{t}
	if t.kind == '[' {
		all = t.kids
	}
	for _, one := range all {
		switch word := strings.ToLower(one.str()); word {
		case "null":
			null = true
		case "":
		default:
			if !slices.Contains(types, word) {
				types = append(types, word)
			}
		}
	}
	return types, null
}

// note adds words to the node's description.
func (n *node) note(words string) {
	if had := n.text("description"); had != "" {
		words = had + "\n" + words
	}
	n.set("description", textNode(words))
}

// keepRequired leaves only those properties required that there are.
func (n *node) keepRequired() {
	list := n.get("required")
	if list == nil {
		return
	}
	has := map[string]bool{}
	if p := n.object("properties"); p != nil {
		for _, name := range p.keys {
			has[name] = true
		}
	}
	kept := listNode()
	if list.kind == '[' {
		for _, e := range list.kids {
			if name := e.str(); has[name] {
				has[name] = false // once
				kept.kids = append(kept.kids, e)
			}
		}
	}
	if len(kept.kids) == 0 {
		n.drop("required")
		return
	}
	n.set("required", kept)
}

// integer is a whole number as it is spelled; ok is false for anything else.
func (n *node) integer() (int64, bool) {
	if n == nil || n.kind != '0' {
		return 0, false
	}
	i, err := strconv.ParseInt(string(n.raw), 10, 64)
	return i, err == nil
}

// exclusive turns an excluded bound of whole numbers into one that is included.
func (n *node) exclusive() {
	types, _ := n.types()
	if len(types) != 1 || types[0] != "integer" {
		return
	}
	for _, b := range [...]struct {
		from, to string
		step     int64
	}{{"exclusiveMinimum", "minimum", 1}, {"exclusiveMaximum", "maximum", -1}} {
		v, ok := n.get(b.from).integer()
		if !ok || n.get(b.to) != nil || v+b.step > v != (b.step > 0) {
			continue
		}
		n.set(b.to, &node{kind: '0', raw: strconv.AppendInt(nil, v+b.step, 10)})
		n.drop(b.from)
	}
}

// wholeBounds are the bounds that OpenAPI's int64 may spell as strings.
var wholeBounds = map[string]bool{
	"minLength": true, "maxLength": true, "minItems": true, "maxItems": true, "minProperties": true, "maxProperties": true,
}

func fromOpenAPI(n *node) {
	if n.kind != '{' {
		return
	}
	n.drop("propertyOrdering")
	for i, key := range n.keys {
		kid := n.kids[i]
		switch {
		case key == "type":
			n.kids[i] = lowerType(kid)
		case key == "properties" || key == "defs" || key == "$defs":
			for _, p := range kid.kids {
				fromOpenAPI(p)
			}
		case key == "items" || key == "additionalProperties" || key == "not":
			fromOpenAPI(kid)
		case key == "anyOf" || key == "oneOf" || key == "allOf" || key == "prefixItems":
			for _, e := range kid.kids {
				fromOpenAPI(e)
			}
		case wholeBounds[key] && kid.kind == '"':
			if v, err := strconv.ParseInt(kid.str(), 10, 64); err == nil {
				n.kids[i] = &node{kind: '0', raw: strconv.AppendInt(nil, v, 10)}
			}
		}
	}
	if null := n.get("nullable"); null != nil {
		n.drop("nullable")
		if null.kind == 't' {
			nullable(n)
		}
	}
	if n.text("type") == "type_unspecified" {
		n.drop("type")
	}
}

func lowerType(t *node) *node {
	switch t.kind {
	case '"':
		return textNode(strings.ToLower(t.str()))
	case '[':
		out := listNode()
		for _, e := range t.kids {
			out.kids = append(out.kids, lowerType(e))
		}
		return out
	}
	return t
}

// nullable lets the node be null besides.
func nullable(n *node) {
	null := textNode("null")
	switch t := n.get("type"); {
	case t != nil && t.kind == '"' && t.str() != "null":
		n.set("type", listNode(t, null))
	case t != nil && t.kind == '[' && !slices.ContainsFunc(t.kids, func(e *node) bool { return e.str() == "null" }):
		t.kids = append(t.kids, null)
	case t == nil && n.list("anyOf") != nil:
		any := n.list("anyOf")
		any.kids = append(any.kids, &node{kind: '{', keys: []string{"type"}, kids: []*node{null}})
	}
	if e := n.list("enum"); e != nil && !slices.ContainsFunc(e.kids, func(v *node) bool { return v.kind == 'n' }) {
		e.kids = append(e.kids, &node{kind: 'n', raw: []byte("null")})
	}
}

package wire

import "strings"

// imageTool is Codex's tool that makes images: a namespace, which some write flat.
const imageTool = "image_gen"

// IsImageTool says whether a tool's flat name is that of Codex's tool that makes images.
func IsImageTool(name string) bool {
	return name == imageTool || strings.HasPrefix(name, imageTool+"__")
}

// DropImageTool takes Codex's image tool out of those that a body offers; a body that then
// offers none has neither tools nor a choice among them. ok is false where it isn't offered.
func DropImageTool(body []byte) (edits []Edit, ok bool) {
	m := membersOf(body)
	at := -1
	for i := range m {
		if m[i].key == "tools" {
			at = i
		}
	}
	if at < 0 {
		return nil, false
	}
	var kept []byte
	m[at].value.value(body).Elements(func(v Value) {
		name := v.Get("name").Text()
		if name == "" {
			name = v.Get("function").Get("name").Text()
		}
		if IsImageTool(name) {
			ok = true
			return
		}
		if len(kept) > 0 {
			kept = append(kept, ',')
		}
		kept = append(kept, v...)
	})
	switch {
	case !ok:
		return nil, false
	case len(kept) > 0:
		return []Edit{{m[at].value, append(append([]byte{'['}, kept...), ']')}}, true
	}
	return without(m, "tools", "tool_choice"), true
}

// member is where one member of an object stands.
type member struct {
	key   string
	start int // of its key
	value span
}

func membersOf(body []byte) []member {
	var all []member
	c := cursor{b: body}
	c.object(func(key []byte) {
		m := member{key: unquote(key)}
		m.start = cap(body) - cap(key) - 1 // the key is a piece of the body, behind its quote
		c.space()
		m.value.start = c.i
		c.skip()
		m.value.end = c.i
		all = append(all, m)
	})
	if c.finish() != nil {
		return nil
	}
	return all
}

// without takes members out of an object, each with one of the commas beside it.
func without(m []member, keys ...string) []Edit {
	var edits []Edit
	gone := func(i int) bool {
		for _, k := range keys {
			if m[i].key == k {
				return true
			}
		}
		return false
	}
	first := 0
	for first < len(m) && gone(first) {
		first++
	}
	switch {
	case first == len(m):
		return []Edit{{at: span{m[0].start, m[first-1].value.end}}}
	case first > 0:
		edits = append(edits, Edit{at: span{m[0].start, m[first].start}})
	}
	for i := first; i < len(m); i++ {
		if gone(i) {
			edits = append(edits, Edit{at: span{m[i-1].value.end, m[i].value.end}})
		}
	}
	return edits
}

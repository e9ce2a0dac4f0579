package chat

import (
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// calls gathers the calls of a reply: their pieces come by index, by id, or by neither.
type calls struct {
	r    *reader
	all  []*call
	told int               // how many were begun
	back map[string]string // names as they were before they were made to fit
	free map[string]bool   // tools that are freeform
}

// call is one call while its pieces come.
type call struct {
	key    int64 // the vendor's index, -1 = none
	id     string
	name   string
	custom bool // the vendor itself calls it freeform
	begun  bool
	ended  bool
	index  int // ours
	seal   *wire.Seal
	args   strings.Builder
	sent   int // how much of args was told
	shape  shape
	free   *wire.FreeDecoder
	input  strings.Builder // of a freeform call
}

// piece is what one element of tool_calls tells.
type piece struct {
	key    int64
	id     string
	name   string
	args   string
	custom bool
	seal   *wire.Seal
}

// add takes the calls of a delta, or of a whole message: each of that is a call of its own,
// whatever it calls itself.
func (s *calls) add(d *delta, whole bool) {
	if d.calls != nil {
		w, at := wire.Walk(d.calls), int64(-1)
		w.Array(func() {
			if w.Kind() != '{' {
				w.Skip()
				return
			}
			p := piece{key: -1}
			w.Object(func(key []byte) { p.member(w, key) })
			if at++; whole {
				p.key = at
			}
			s.piece(&p)
		})
	}
	if d.legacy != nil {
		p := piece{key: -2}
		w := wire.Walk(d.legacy)
		w.Object(func(key []byte) { p.inner(w, key) })
		s.piece(&p)
	}
}

func (p *piece) member(w *wire.Walker, key []byte) {
	switch string(key) {
	case "index":
		if n, ok := w.Int(); ok && n >= 0 {
			p.key = n
		}
	case "id":
		p.id = w.Text()
	case "type":
		p.custom = p.custom || w.Text() == "custom"
	case "function":
		if w.Kind() == '{' {
			w.Object(func(key []byte) { p.inner(w, key) })
		}
	case "custom":
		if w.Kind() == '{' {
			p.custom = true
			w.Object(func(key []byte) { p.inner(w, key) })
		}
	case "extra_content":
		p.seal = readExtra(w)
	}
}

func (p *piece) inner(w *wire.Walker, key []byte) {
	switch string(key) {
	case "name":
		p.name = w.Text()
	case "arguments", "input":
		if w.Kind() == '{' { // some local servers forget that it is a string
			p.args = string(w.Raw())
			return
		}
		p.args = w.Text()
	}
}

// piece adds a piece to the call that it belongs to.
func (s *calls) piece(p *piece) {
	c := s.find(p)
	if c == nil {
		s.settle(false)
		c = &call{key: p.key}
		s.all = append(s.all, c)
	}
	if c.ended {
		return
	}
	if c.id == "" {
		c.id = p.id
	}
	if c.name == "" {
		c.name = p.name
	}
	if c.seal == nil {
		c.seal = p.seal
	}
	c.custom = c.custom || p.custom
	if p.args != "" {
		c.args.WriteString(p.args)
		c.shape.add(p.args)
	}
	if c.name != "" && c.id != "" {
		s.tell(c)
	}
}

// find is the call that a piece goes on, nil when it begins another.
func (s *calls) find(p *piece) *call {
	if p.key == -1 {
		return s.unnumbered(p)
	}
	for i := len(s.all) - 1; i >= 0; i-- {
		c := s.all[i]
		if c.key != p.key {
			continue
		}
		if p.id != "" && c.id != "" && p.id != c.id && p.name != "" {
			return nil // the same index for every call
		}
		return c
	}
	return nil
}

// unnumbered finds the call of a piece without an index: that of its id, else the last.
func (s *calls) unnumbered(p *piece) *call {
	if len(s.all) == 0 {
		return nil
	}
	last := s.all[len(s.all)-1]
	if p.id != "" {
		for i := len(s.all) - 1; i >= 0; i-- {
			if s.all[i].id == p.id {
				return s.all[i]
			}
		}
		if last.id == "" && (p.name == "" || last.name == "" || last.name == p.name && !last.shape.whole()) {
			return last
		}
		return nil
	}
	if p.name != "" && last.name != "" && (p.name != last.name || last.shape.whole() || last.args.Len() == 0) {
		return nil
	}
	return last
}

// tell begins a call if need be, and tells what is new of its arguments.
func (s *calls) tell(c *call) {
	r := s.r
	if !c.begun {
		r.seal()
		if name, ok := s.back[c.name]; ok {
			c.name = name
		}
		c.begun, c.index = true, s.told
		s.told++
		if s.taken(c) {
			c.id = wire.MakeID("call_", r.seed, strconv.Itoa(c.index), c.name, c.id)
		}
		free := c.custom || s.free[c.name]
		if free && !c.custom {
			c.free = &wire.FreeDecoder{}
		}
		c.custom = free
		r.emit(wire.Event{
			Kind: wire.EventCall, Index: c.index, Seal: c.seal,
			Call: &wire.Call{ID: c.id, Name: c.name, Free: free},
		})
	}
	text := c.args.String()[c.sent:]
	c.sent = c.args.Len()
	if c.free != nil && text != "" {
		text = c.free.Add(text)
	}
	s.args(c, text)
}

// taken says whether a call's id is another's already: their results could not be told apart.
func (s *calls) taken(c *call) bool {
	for _, other := range s.all {
		if other != c && other.begun && other.id == c.id {
			return true
		}
	}
	return false
}

func (s *calls) args(c *call, text string) {
	if text == "" {
		return
	}
	if c.custom {
		c.input.WriteString(text)
	}
	s.r.emit(wire.Event{Kind: wire.EventArgs, Index: c.index, Text: text})
}

// settle ends the calls that are whole; at the end of the reply all of them. One that
// never got a name is nothing.
func (s *calls) settle(all bool) {
	for i, c := range s.all {
		if c.ended || !all && !c.shape.whole() {
			continue
		}
		if c.name == "" {
			c.ended = all
			continue
		}
		if c.id == "" {
			c.id = wire.MakeID("call_", s.r.seed, strconv.Itoa(i), c.name)
		}
		s.tell(c)
		c.ended = true
		whole := &wire.Call{ID: c.id, Name: c.name, Free: c.custom}
		switch {
		case c.free != nil:
			s.args(c, c.free.End())
			whole.Input = c.input.String()
		case c.custom:
			whole.Input = c.input.String()
		case c.args.Len() == 0:
			whole.Args = []byte("{}")
		default:
			whole.Args = []byte(c.args.String())
		}
		s.r.emit(wire.Event{Kind: wire.EventCallEnd, Index: c.index, Call: whole, Seal: c.seal})
	}
}

// shape follows JSON piece by piece, to know when an object is whole.
type shape struct {
	depth  int
	quoted bool
	slash  bool
	done   bool
}

func (s *shape) whole() bool { return s.done && s.depth == 0 }

func (s *shape) add(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case s.slash:
			s.slash = false
		case s.quoted:
			s.slash = c == '\\'
			s.quoted = c != '"'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
			s.done = s.depth == 0
		}
	}
}

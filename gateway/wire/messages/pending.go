package messages

import (
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// pendKind is what a block in the line is.
type pendKind uint8

const (
	pendText pendKind = iota
	pendThinking
	pendCall
)

// pending is a block of a reply that is not over, or not written.
type pending struct {
	kind  pendKind
	part  int
	text  string // what of it is still to be written
	more  *strings.Builder
	seal  string
	cites []wire.Cite
	solid bool // there is more of it than blanks
	begun bool // its beginning is written
	over  bool // nothing more of it comes

	// Of redacted thinking.
	redacted bool

	// Of a call.
	id, name string
	free     bool
	index    int
	args     argsScan
	told     bool // some of its arguments are written
}

// add appends to what is still to be written, without joining again and again.
func (p *pending) add(text string) {
	switch {
	case text == "":
		return
	case p.more != nil:
		p.more.WriteString(text)
	case p.text == "":
		p.text = text
	default:
		p.more = &strings.Builder{}
		p.more.WriteString(p.text)
		p.more.WriteString(text)
		p.text = ""
	}
	p.solid = p.solid || !blank(text)
}

// take gives what is still to be written.
func (p *pending) take() string {
	text := p.text
	if p.more != nil {
		text = p.more.String()
	}
	p.text, p.more = "", nil
	return text
}

// addArgs takes a piece of a call's arguments. What comes behind the whole object is no part of it.
func (p *pending) addArgs(piece string) {
	if p.over {
		return
	}
	if p.free {
		p.add(piece)
		return
	}
	p.add(piece[:p.args.scan(piece)])
}

// push puts a block at the end of the line. What stood there is over, save for a call
// whose arguments aren't whole: more of them may come.
func (w *writer) push(p *pending) {
	w.settle()
	w.line = append(w.line, p)
}

func (w *writer) settle() {
	for _, p := range w.line {
		if p.kind != pendCall || p.args.whole {
			p.over = true
		}
	}
}

// last is the block at the end of the line, nil when there is none.
func (w *writer) last() *pending {
	if n := len(w.line); n > 0 {
		return w.line[n-1]
	}
	return nil
}

// piece takes a piece of text or thinking.
func (w *writer) piece(k pendKind, e *wire.Event) {
	if e.Text == "" {
		return
	}
	p := w.last()
	if p == nil || p.over || p.kind != k || p.part != e.Part {
		p = &pending{kind: k, part: e.Part}
		w.push(p)
	}
	p.add(e.Text)
}

// seal ends the thinking that is open, or is thinking of which nothing else is told.
func (w *writer) seal(s *wire.Seal) {
	if s == nil {
		return
	}
	p := w.last()
	if s.API == wire.Messages && s.Redacted {
		w.push(&pending{kind: pendThinking, part: -1, redacted: true, seal: s.Data, over: true})
		return
	}
	if p == nil || p.kind != pendThinking || p.over {
		p = &pending{kind: pendThinking, part: -1}
		w.push(p)
	}
	p.seal, p.over = w.sealed(s), true
}

// sealed is a seal as this API's signature: its own as it is, another's under our mark.
func (w *writer) sealed(s *wire.Seal) string {
	if s.API == wire.Messages {
		return s.Data
	}
	return s.Mark(w.o.Vendor)
}

// call begins a call. A seal that came with it travels in the thinking right before it.
// Without any it is left to who remembers it: a block of its own would be one that nobody thought.
func (w *writer) call(e *wire.Event) {
	if e.Call == nil {
		return
	}
	if p := w.last(); e.Seal != nil && p != nil && p.kind == pendThinking && !p.over {
		w.seal(e.Seal)
	}
	if w.calls == nil {
		w.calls = map[int]*pending{}
	}
	p := &pending{kind: pendCall, index: e.Index, id: e.Call.ID, name: e.Call.Name, free: e.Call.Free}
	w.calls[e.Index] = p
	w.push(p)
}

// callEnd ends a call, of which the vendor may have told all only now.
func (w *writer) callEnd(e *wire.Event) {
	if e.Call == nil {
		return
	}
	p := w.calls[e.Index]
	if p == nil {
		w.call(e)
		p = w.calls[e.Index]
	}
	if p.over {
		return
	}
	if !p.begun {
		if p.name == "" {
			p.name = e.Call.Name
		}
		if p.id == "" {
			p.id = e.Call.ID
		}
	}
	if !p.told && p.text == "" && p.more == nil {
		if p.free {
			p.add(e.Call.Input)
		} else {
			p.addArgs(string(e.Call.Args))
		}
	}
	p.over = true
}

func (w *writer) cite(c *wire.Cite) {
	if p := w.last(); c != nil && p != nil && p.kind == pendText && !p.over {
		p.cites = append(p.cites, *c)
	}
}

// pump writes what the first of the line has, and goes on to the next once it is over.
func (w *writer) pump() {
	for len(w.line) > 0 {
		p := w.line[0]
		if !p.begun {
			if p.hollow() {
				if !p.over {
					return
				}
				w.shift()
				continue
			}
			w.begin(p)
		}
		w.pour(p)
		if !p.over {
			return
		}
		w.end(p)
		w.shift()
	}
}

func (w *writer) shift() {
	w.line[0] = nil
	w.line = w.line[1:]
}

// hollow says that there is nothing yet that makes it a block: text of blanks, a call without a name.
func (p *pending) hollow() bool {
	switch p.kind {
	case pendText:
		return !p.solid
	case pendThinking:
		return p.text == "" && p.more == nil && p.seal == ""
	case pendCall:
	}
	return p.name == ""
}

func (w *writer) begin(p *pending) {
	p.begun = true
	if p.kind == pendCall {
		w.made++
		w.identify(p)
	}
	w.writeBlockStart(p)
	w.count++
}

// identify gives a call an id that the API takes and that no other call of the reply has.
func (w *writer) identify(p *pending) {
	number := strconv.Itoa(p.index)
	if p.id == "" {
		p.id = wire.MakeID(idPrefix, w.o.ID, number, p.name)
	} else {
		p.id = wire.KeepID(p.id, idPrefix, idSize)
	}
	if w.ids[p.id] {
		p.id = wire.MakeID(idPrefix, w.o.ID, number, p.id)
	}
	if w.ids == nil {
		w.ids = map[string]bool{}
	}
	w.ids[p.id] = true
}

// pour writes what is there of a block. Arguments that don't begin as an object does, and
// freeform input, are written when they are over, as an object that holds them.
func (w *writer) pour(p *pending) {
	if p.kind == pendCall && (p.free || p.args.other || !p.args.begun) && !p.over {
		return
	}
	text := p.take()
	if p.kind == pendCall {
		text = p.arguments(text)
		if text == "" {
			return
		}
		p.told = true
	}
	w.writeDelta(p, text)
}

// arguments are a call's arguments as they are written.
func (p *pending) arguments(text string) string {
	switch {
	case p.free:
		return string(wire.FreeArgs(text))
	case p.args.other:
		return string(objectArgs(json.RawMessage(text)))
	case p.over && !p.told && blank(text):
		return "{}"
	}
	return text
}

// end writes the end of a block.
func (w *writer) end(p *pending) {
	w.writeBlockEnd(p)
}

// argsScan follows a call's arguments to where their object ends.
type argsScan struct {
	depth  int
	inside bool // of a string
	escape bool
	begun  bool
	whole  bool // the object is complete
	other  bool // they don't begin as an object
}

// scan takes a piece and says how much of it belongs to the arguments.
func (s *argsScan) scan(piece string) int {
	if s.whole {
		return 0
	}
	if s.other {
		return len(piece)
	}
	for i := range len(piece) {
		c := piece[i]
		switch {
		case s.inside:
			switch {
			case s.escape:
				s.escape = false
			case c == '\\':
				s.escape = true
			case c == '"':
				s.inside = false
			}
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		case !s.begun && c != '{':
			s.other = true
			return len(piece)
		case c == '"':
			s.inside = true
		case c == '{' || c == '[':
			s.begun = true
			s.depth++
		case c == '}' || c == ']':
			s.depth--
			if s.depth == 0 {
				s.whole = true
				return i + 1
			}
		}
	}
	return len(piece)
}

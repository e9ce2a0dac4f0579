package responses

import (
	"dev.magpie/gateway/wire"
)

// openKind is what item is open.
type openKind uint8

const (
	openNone openKind = iota
	openMessage
	openReasoning
	openFunction
	openCustom
	openBuilt // a client-run tool, told when it is whole
)

func (k openKind) isCall() bool { return k == openFunction || k == openCustom || k == openBuilt }

// textKind is what a part of a message is.
type textKind uint8

const (
	kindText textKind = iota
	kindRefusal
)

// openItem is the item that is open. Its texts are kept as JSON strings without the
// quotes: they stand in up to four events more.
type openItem struct {
	kind openKind
	id   string
	text []byte // of the part that is open, of the call's arguments or input
	part int    // its number in the reply

	// Of a message.
	isOpen  bool // a part is
	what    textKind
	content int    // the index of the part
	parts   []byte // those that are done
	cites   []byte // of the part
	nCites  int64

	call *openCall
}

// openCall is a call while it comes.
type openCall struct {
	index           int
	id, name, local string
	namespace       string
	built           string
	raw             []byte // of a built tool: its arguments
	decoder         *wire.FreeDecoder
	some            bool // of its arguments something came
}

// inner appends s as a JSON string without the quotes, and returns what it appended.
func inner(b []byte, s string) (all, added []byte) {
	n := len(b)
	b = wire.AppendQuoted(b, s)
	copy(b[n:], b[n+1:len(b)-1])
	b = b[:len(b)-2]
	return b, b[n:]
}

func (o *object) quotedInner(name string, text []byte) {
	o.key(name)
	o.b = append(append(append(o.b, '"'), text...), '"')
}

// say writes a piece of a message.
func (w *writer) say(what textKind, e *wire.Event) {
	if e.Text == "" {
		return
	}
	if w.open.kind != openMessage {
		w.close()
		w.open = openItem{kind: openMessage, id: w.itemID("msg_")}
		w.itemEvent("response.output_item.added", w.messageItem("in_progress"))
	}
	m := &w.open
	if m.isOpen && (m.what != what || m.part != e.Part) {
		w.closePart()
	}
	if !m.isOpen {
		m.isOpen, m.what, m.part = true, what, e.Part
		o := w.contentEvent("response.content_part.added")
		o.raw("part", m.contentPart(nil))
		w.end(o)
	}
	var added []byte
	m.text, added = inner(m.text, e.Text)
	name := "response.output_text.delta"
	if what == kindRefusal {
		name = "response.refusal.delta"
	}
	o := w.contentEvent(name)
	o.quotedInner("delta", added)
	if what == kindText {
		o.lit("logprobs", "[]")
	}
	w.end(o)
}

// contentPart is a part of a message with the text that it has so far.
func (m *openItem) contentPart(text []byte) []byte {
	o := newObject(make([]byte, 0, len(text)+len(m.cites)+64))
	if m.what == kindRefusal {
		o.str("type", "refusal")
		o.quotedInner("refusal", text)
		return o.end()
	}
	o.str("type", "output_text")
	o.quotedInner("text", text)
	o.key("annotations")
	o.b = append(append(append(o.b, '['), m.cites...), ']')
	return o.end()
}

// closePart ends the part of a message that is open.
func (w *writer) closePart() {
	m := &w.open
	if !m.isOpen {
		return
	}
	name, field := "response.output_text.done", "text"
	if m.what == kindRefusal {
		name, field = "response.refusal.done", "refusal"
	}
	o := w.contentEvent(name)
	o.quotedInner(field, m.text)
	if m.what == kindText {
		o.lit("logprobs", "[]")
	}
	w.end(o)
	part := m.contentPart(m.text)
	o = w.contentEvent("response.content_part.done")
	o.raw("part", part)
	w.end(o)
	if len(m.parts) > 0 {
		m.parts = append(m.parts, ',')
	}
	m.parts = append(m.parts, part...)
	m.isOpen, m.text, m.cites, m.nCites = false, m.text[:0], nil, 0
	m.content++
}

func (w *writer) messageItem(status string) []byte {
	m := &w.open
	o := newObject(make([]byte, 0, len(m.parts)+128))
	o.str("id", m.id)
	o.str("type", typeMessage)
	o.str("status", status)
	o.str("role", "assistant")
	o.key("content")
	o.b = append(append(append(o.b, '['), m.parts...), ']')
	return o.end()
}

// cite tells a source of the text that is open, where its place in it is known.
func (w *writer) cite(c *wire.Cite) {
	m := &w.open
	if c == nil || m.kind != openMessage || !m.isOpen || m.what != kindText || !placed(c) {
		return
	}
	one := writeCite(nil, c)
	o := w.contentEvent("response.output_text.annotation.added")
	o.int("annotation_index", m.nCites)
	o.raw("annotation", one)
	w.end(o)
	if m.nCites > 0 {
		m.cites = append(m.cites, ',')
	}
	m.cites = append(m.cites, one...)
	m.nCites++
}

// think writes a piece of reasoning.
func (w *writer) think(e *wire.Event) {
	if e.Text == "" {
		return
	}
	if w.open.kind != openReasoning || w.open.part != e.Part {
		w.close()
		w.openThought()
		w.open.part, w.open.isOpen = e.Part, true
		o := w.bodyEvent("response.reasoning_summary_part.added")
		o.int("summary_index", 0)
		o.lit("part", `{"type":"summary_text","text":""}`)
		w.end(o)
	}
	var added []byte
	w.open.text, added = inner(w.open.text, e.Text)
	o := w.bodyEvent("response.reasoning_summary_text.delta")
	o.int("summary_index", 0)
	o.quotedInner("delta", added)
	w.end(o)
}

func (w *writer) openThought() {
	w.open = openItem{kind: openReasoning, id: w.itemID("rs_")}
	o := newObject(nil)
	o.str("id", w.open.id)
	o.str("type", typeReasoning)
	o.lit("summary", "[]")
	w.itemEvent("response.output_item.added", o.end())
}

// seal ends the reasoning that is open with what proves it; without any, it is told as
// reasoning of which nothing is said.
func (w *writer) seal(s *wire.Seal) {
	if s == nil || s.Data == "" {
		return
	}
	if w.open.kind != openReasoning {
		w.close()
		w.openThought()
	}
	w.closeThought(w.sealed(s))
}

// carry takes Gemini's signature of a call or text along in the reasoning right before it.
// Without any it is left to who remembers it: an item of its own would be one that nobody said.
func (w *writer) carry(s *wire.Seal) {
	if w.open.kind == openReasoning {
		w.seal(s)
	}
}

// sealed is a seal as this API's agents keep it: one of another API under our mark.
func (w *writer) sealed(s *wire.Seal) string {
	if s.API == wire.Responses {
		return s.Data
	}
	return s.Mark(w.o.Vendor)
}

func (w *writer) closeThought(sealed string) {
	m := &w.open
	o := newObject(make([]byte, 0, len(m.text)+len(sealed)+128))
	o.str("id", m.id)
	o.str("type", typeReasoning)
	o.key("summary")
	o.b = append(o.b, '[')
	if m.isOpen {
		part := newObject(nil)
		part.str("type", "summary_text")
		part.quotedInner("text", m.text)
		whole := part.end()
		done := w.bodyEvent("response.reasoning_summary_text.done")
		done.int("summary_index", 0)
		done.quotedInner("text", m.text)
		w.end(done)
		done = w.bodyEvent("response.reasoning_summary_part.done")
		done.int("summary_index", 0)
		done.raw("part", whole)
		w.end(done)
		o.b = append(o.b, whole...)
	}
	o.b = append(o.b, ']')
	o.some("encrypted_content", sealed)
	w.doneItem(o.end())
}

// picture writes an image that the model made.
func (w *writer) picture(m *wire.Media) {
	if m == nil || m.Data == "" {
		return
	}
	w.close()
	id := w.itemID("ig_")
	w.open = openItem{id: id}
	o := newObject(nil)
	o.str("id", id)
	o.str("type", typeImage)
	o.str("status", "in_progress")
	o.lit("result", "null")
	w.itemEvent("response.output_item.added", o.end())
	for _, step := range [...]string{"in_progress", "generating", "completed"} {
		w.end(w.bodyEvent("response." + typeImage + "." + step))
	}
	o = newObject(make([]byte, 0, len(m.Data)+128))
	o.str("id", id)
	o.str("type", typeImage)
	o.str("status", "completed")
	o.str("result", m.Data)
	w.doneItem(o.end())
}

// close ends the item that is open.
func (w *writer) close() {
	status := "completed"
	if w.cut {
		status = "incomplete"
	}
	switch w.open.kind {
	case openNone:
	case openMessage:
		w.closePart()
		w.doneItem(w.messageItem(status))
	case openReasoning:
		w.closeThought("")
	case openFunction, openCustom, openBuilt:
		w.closeCall(status)
	}
}

package chat

import (
	"io"
	"strconv"
	"unicode/utf8"

	"dev.magpie/gateway/wire"
)

// writer writes a reply, as a stream of chunks or in one piece at its end.
type writer struct {
	w      io.Writer
	o      wire.WriterOptions
	usage  bool // the client asked for it in the stream
	legacy bool // the client knows one call, as function_call
	mute   bool // the client wants no reasoning
	head   []byte
	buf    []byte
	begun  bool // the first chunk is out
	done   bool
	fold   *wire.Fold // of a whole reply

	last    wire.Usage
	calls   map[int]*written
	order   []int // of the calls, by their events' index
	told    int   // calls that are out
	refused bool  // a refusal's text is out
	runes   int   // of the text so far
	part    int   // the text's block
	from    int   // where it begins in the text, in runes
	covers  int   // bytes of reasoning since the last seal
}

// written is a call of which the beginning is out.
type written struct {
	at   int
	free bool
	args bool // some of its arguments are out
}

func newWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) *writer {
	c := &writer{w: w, o: o}
	if asked != nil {
		c.usage, c.legacy, c.mute = asked.Usage, asked.Legacy, asked.Show == wire.ShowNone
	}
	if !o.Stream {
		c.fold = &wire.Fold{}
		return c
	}
	c.calls = map[int]*written{}
	return c
}

// Done says whether the end was written.
func (c *writer) Done() bool { return c.done }

// Ping writes a comment.
func (c *writer) Ping() error {
	if c.done || !c.o.Stream {
		return nil
	}
	_, err := c.w.Write([]byte(": keep-alive\n\n"))
	return err
}

// Event takes the next event.
func (c *writer) Event(e wire.Event) error {
	if c.done || c.mute && (e.Kind == wire.EventThinking || e.Kind == wire.EventSeal) {
		return nil
	}
	if c.fold != nil {
		return c.gather(e)
	}
	c.buf = c.buf[:0]
	if e.Kind == wire.EventFail {
		c.done = true
		c.buf = append(c.buf, e.Fail.Event(wire.Chat, nil, c.begun)...)
		return c.flush()
	}
	c.begin(e.ID)
	c.stream(&e)
	return c.flush()
}

func (c *writer) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	_, err := c.w.Write(c.buf)
	return err
}

// replyID is the reply's id, the same in all of its chunks.
func replyID(o *wire.WriterOptions, upstream string) string {
	if o.ID == "" {
		return wire.MakeID("chatcmpl-", upstream)
	}
	return wire.MakeID("chatcmpl-", o.ID)
}

// begin writes the first chunk, which says who speaks.
func (c *writer) begin(id string) {
	if c.begun {
		return
	}
	c.begun = true
	h := append(make([]byte, 0, 160), `data: {"id":`...)
	h = wire.AppendQuoted(h, replyID(&c.o, id))
	h = append(h, `,"object":"chat.completion.chunk","created":`...)
	h = strconv.AppendInt(h, c.o.Now, 10)
	h = append(h, `,"model":`...)
	h = wire.AppendQuoted(h, c.o.Model)
	c.head = append(h, `,"choices":[`...)
	c.open()
	c.buf = append(c.buf, `"role":"assistant","content":""`...)
	c.close()
}

// open begins a chunk with a delta, close ends it.
func (c *writer) open() {
	c.buf = append(append(c.buf, c.head...), `{"index":0,"delta":{`...)
}

func (c *writer) close() { c.end("null") }

func (c *writer) end(finish string) {
	c.buf = append(c.buf, `},"logprobs":null,"finish_reason":`...)
	c.buf = append(append(c.buf, finish...), "}]"...)
	if c.usage {
		c.buf = append(c.buf, `,"usage":null`...)
	}
	c.buf = append(c.buf, "}\n\n"...)
}

// text writes a delta of one string.
func (c *writer) text(field, text string) {
	if text == "" {
		return
	}
	c.open()
	c.buf = append(c.buf, field...)
	c.buf = wire.AppendQuoted(c.buf, text)
	c.close()
}

// stream writes one event.
func (c *writer) stream(e *wire.Event) {
	switch e.Kind {
	case wire.EventStart, wire.EventFail:
	case wire.EventThinking:
		c.covers += len(e.Text)
		c.text(`"reasoning_content":`, e.Text)
	case wire.EventSeal:
		c.seal(e.Seal)
	case wire.EventText:
		c.say(e)
	case wire.EventRefusal:
		c.refused = c.refused || e.Text != ""
		c.text(`"refusal":`, e.Text)
	case wire.EventCall:
		c.call(e)
	case wire.EventArgs:
		c.args(e.Index, e.Text)
	case wire.EventCallEnd:
		c.whole(e)
	case wire.EventCite:
		c.cite(e.Cite)
	case wire.EventMedia:
		c.image(e.Media)
	case wire.EventUsage:
		c.last = e.Usage
	case wire.EventFinish:
		c.finish(&e.Finish)
	}
}

func (c *writer) say(e *wire.Event) {
	if e.Part != c.part {
		c.part, c.from = e.Part, c.runes
	}
	c.runes += utf8.RuneCountInString(e.Text)
	c.text(`"content":`, e.Text)
}

// seal writes what proves the reasoning so far, for clients that give messages back whole.
func (c *writer) seal(s *wire.Seal) {
	if s == nil || s.Data == "" {
		return
	}
	c.open()
	c.buf = append(c.buf, `"reasoning_details":[`...)
	c.buf = appendDetail(c.buf, s, c.o.Vendor, c.covers)
	c.buf = append(c.buf, ']')
	c.close()
	c.covers = 0
}

func (c *writer) cite(cite *wire.Cite) {
	if cite == nil || cite.End == 0 {
		return
	}
	c.open()
	c.buf = append(c.buf, `"annotations":[`...)
	c.buf = appendCite(c.buf, cite, c.from)
	c.buf = append(c.buf, ']')
	c.close()
}

// appendCite writes a source; its place counts from the beginning of all text.
func appendCite(b []byte, cite *wire.Cite, from int) []byte {
	b = append(b, `{"type":"url_citation","url_citation":{"start_index":`...)
	b = strconv.AppendInt(b, int64(from+cite.Start), 10)
	b = append(b, `,"end_index":`...)
	b = strconv.AppendInt(b, int64(from+cite.End), 10)
	b = append(b, `,"url":`...)
	b = wire.AppendQuoted(b, cite.URL)
	b = append(b, `,"title":`...)
	return append(wire.AppendQuoted(b, cite.Title), "}}"...)
}

func (c *writer) image(m *wire.Media) {
	if m == nil {
		return
	}
	c.open()
	c.buf = append(c.buf, `"images":[`...)
	c.buf = append(appendImage(c.buf, m), ']')
	c.close()
}

func appendImage(b []byte, m *wire.Media) []byte {
	b = append(b, `{"type":"image_url","image_url":{"url":`...)
	return append(wire.AppendQuoted(b, m.AsURL()), "}}"...)
}

// call writes the beginning of a call.
func (c *writer) call(e *wire.Event) {
	if e.Call == nil || c.calls[e.Index] != nil || c.legacy && c.told > 0 {
		return
	}
	k := &written{at: c.told, free: e.Call.Free}
	c.calls[e.Index] = k
	c.order = append(c.order, e.Index)
	c.told++
	c.open()
	if c.legacy {
		c.buf = append(c.buf, `"function_call":{"name":`...)
		c.buf = wire.AppendQuoted(c.buf, e.Call.Name)
		c.buf = append(c.buf, `,"arguments":""}`...)
		c.close()
		return
	}
	c.buf = append(c.buf, `"tool_calls":[{"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(k.at), 10)
	c.buf = append(c.buf, `,"id":`...)
	c.buf = wire.AppendQuoted(c.buf, e.Call.ID)
	kind, field := callWords(k.free)
	c.buf = append(c.buf, `,"type":"`...)
	c.buf = append(c.buf, kind...)
	c.buf = append(c.buf, `","`...)
	c.buf = append(c.buf, kind...)
	c.buf = append(c.buf, `":{"name":`...)
	c.buf = wire.AppendQuoted(c.buf, e.Call.Name)
	c.buf = append(c.buf, `,"`...)
	c.buf = append(c.buf, field...)
	c.buf = append(c.buf, `":""}`...)
	c.buf = appendCallSeal(c.buf, e.Seal)
	c.buf = append(c.buf, "}]"...)
	c.close()
}

// callWords are the type of a call and the name of what it is given.
func callWords(free bool) (kind, field string) {
	if free {
		return "custom", "input"
	}
	return "function", "arguments"
}

// appendCallSeal writes Gemini's signature of a call where its own Chat door has it.
func appendCallSeal(b []byte, s *wire.Seal) []byte {
	if s == nil || s.API != wire.Gemini || s.Data == "" {
		return b
	}
	b = append(b, `,"extra_content":{"google":{"thought_signature":`...)
	return append(wire.AppendQuoted(b, s.Data), "}}"...)
}

// args writes a piece of a call's arguments.
func (c *writer) args(index int, text string) {
	k := c.calls[index]
	if k == nil || text == "" {
		return
	}
	k.args = true
	c.open()
	if c.legacy {
		c.buf = append(c.buf, `"function_call":{"arguments":`...)
		c.buf = append(wire.AppendQuoted(c.buf, text), '}')
		c.close()
		return
	}
	kind, field := callWords(k.free)
	c.buf = append(c.buf, `"tool_calls":[{"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(k.at), 10)
	c.buf = append(c.buf, `,"`...)
	c.buf = append(c.buf, kind...)
	c.buf = append(c.buf, `":{"`...)
	c.buf = append(c.buf, field...)
	c.buf = append(c.buf, `":`...)
	c.buf = append(wire.AppendQuoted(c.buf, text), "}}]"...)
	c.close()
}

// whole writes a call that came at once, or the arguments of one that came without pieces.
func (c *writer) whole(e *wire.Event) {
	if e.Call == nil {
		return
	}
	c.call(e)
	k := c.calls[e.Index]
	if k == nil || k.args {
		return
	}
	c.args(e.Index, argsOf(e.Call))
}

// argsOf is what a call is given, as this API has it: a string.
func argsOf(call *wire.Call) string {
	switch {
	case call.Free:
		return call.Input
	case len(call.Args) == 0:
		return "{}"
	}
	return string(call.Args)
}

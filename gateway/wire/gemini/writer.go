package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"dev.magpie/gateway/wire"
)

// writer writes a reply: as lines of data, as elements of an array, or whole. A call is one
// part and goes out when it is whole; what comes behind a call that isn't waits for it.
type writer struct {
	w    io.Writer
	o    wire.WriterOptions
	show bool // the client wants to see reasoning
	id   string
	tail []byte // what stands behind the parts of each chunk

	queue []*piece       // begins with a call that is still coming
	calls map[int]*piece // those that are still coming
	held  *wire.Seal     // of the reasoning before, until the part that it goes with

	buf   object
	some  bool // of an array: an element is out
	parts object
	run   run // of a whole reply: the text that is being gathered

	refused bool
	usage   wire.Usage
	counted bool
	cites   []wire.Cite
	done    bool
}

// piece is a part that is to be written.
type piece struct {
	kind  wire.Kind // text, thinking, call or image
	text  string
	part  int
	sign  string
	media *wire.Media
	call  *wire.Call
	args  strings.Builder
	whole bool
}

// run is text that is gathered into one part.
type run struct {
	open bool
	kind wire.Kind
	part int
	sign string
	text strings.Builder
}

func newWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) wire.Writer {
	out := &writer{w: w, o: o}
	if asked != nil {
		out.show = asked.Show == wire.ShowSummary || asked.Show == wire.ShowUpdates
		if o.Model == "" {
			out.o.Model = asked.Model
		}
	}
	if o.ID != "" {
		out.id = wire.MakeID("", o.ID)
	}
	return out
}

// Done says whether the end was written.
func (w *writer) Done() bool { return w.done }

// Ping writes nothing: the API's clients fail on all that is no reply.
func (w *writer) Ping() error { return nil }

// Event takes the next event.
func (w *writer) Event(e wire.Event) error {
	if w.done {
		return nil
	}
	switch e.Kind {
	case wire.EventStart:
		if w.id == "" {
			w.id = e.ID
		}
	case wire.EventThinking:
		if w.show && e.Text != "" {
			return w.say(&piece{kind: wire.KindThinking, text: e.Text, part: e.Part, whole: true})
		}
	case wire.EventSeal:
		return w.seal(e.Seal)
	case wire.EventText, wire.EventRefusal:
		w.refused = w.refused || e.Kind == wire.EventRefusal
		if e.Text != "" || e.Seal != nil {
			return w.say(&piece{kind: wire.KindText, text: e.Text, part: e.Part, sign: w.sign(e.Seal), whole: true})
		}
	case wire.EventMedia:
		if e.Media != nil {
			return w.say(&piece{kind: wire.KindImage, media: e.Media, whole: true})
		}
	case wire.EventCall:
		if e.Call != nil && w.calls[e.Index] == nil {
			return w.begin(&e)
		}
	case wire.EventArgs:
		if p := w.calls[e.Index]; p != nil {
			p.args.WriteString(e.Text)
		}
	case wire.EventCallEnd:
		return w.endCall(&e)
	case wire.EventCite:
		if e.Cite != nil {
			w.cites = append(w.cites, *e.Cite)
		}
	case wire.EventUsage:
		w.usage, w.counted = e.Usage, true
	case wire.EventFinish:
		return w.finish(&e.Finish)
	case wire.EventFail:
		return w.fail(e.Fail)
	}
	return nil
}

// seal keeps a seal for the part that comes next; one that is kept already goes out by itself.
func (w *writer) seal(s *wire.Seal) error {
	if s == nil || s.Data == "" {
		return nil
	}
	var err error
	if w.held != nil {
		err = w.say(&piece{kind: wire.KindText, whole: true})
	}
	w.held = s
	return err
}

// sign is a seal as a signature: Gemini's own, or another's under our mark.
func (w *writer) sign(s *wire.Seal) string {
	switch {
	case s == nil || s.Data == "":
		return ""
	case s.API == wire.Gemini:
		return s.Data
	}
	return s.MarkBase64(w.o.Vendor)
}

// say writes a part, or queues it behind a call that is not whole yet.
func (w *writer) say(p *piece) error {
	if w.held != nil && p.sign == "" && p.kind != wire.KindThinking {
		p.sign, w.held = w.sign(w.held), nil
	}
	if len(w.queue) > 0 || !p.whole {
		w.queue = append(w.queue, p)
		return nil
	}
	return w.write(p)
}

func (w *writer) begin(e *wire.Event) error {
	c := *e.Call
	p := &piece{kind: wire.KindCall, call: &c, sign: w.sign(e.Seal)}
	if w.calls == nil {
		w.calls = map[int]*piece{}
	}
	w.calls[e.Index] = p
	return w.say(p)
}

func (w *writer) endCall(e *wire.Event) error {
	p := w.calls[e.Index]
	if e.Call == nil {
		return nil
	}
	if p == nil {
		if err := w.begin(e); err != nil {
			return err
		}
		p = w.calls[e.Index]
	}
	had := p.call.ID
	c := *e.Call
	if c.ID == "" {
		c.ID = had
	}
	p.call, p.whole = &c, true
	if sign := w.sign(e.Seal); sign != "" {
		p.sign = sign
	}
	if !c.Free && c.Args == nil {
		p.call.Args = json.RawMessage(p.args.String())
	}
	if args := p.call.Args; !c.Free && len(args) > 0 && !json.Valid(args) { // the end of the reply tells whether it was cut
		p.whole, p.call.Args = false, nil
		p.args.Reset()
		p.args.Write(args)
		return nil
	}
	return w.release()
}

// release writes what waited for a call that is whole now.
func (w *writer) release() error {
	for len(w.queue) > 0 && w.queue[0].whole {
		p := w.queue[0]
		w.queue = w.queue[1:]
		if err := w.write(p); err != nil {
			return err
		}
	}
	return nil
}

// settle takes the calls that nobody ended for what came of them. Of a reply that was cut
// short, one whose arguments are cut is no call.
func (w *writer) settle(cut bool) error {
	kept := w.queue[:0]
	for _, p := range w.queue {
		if !p.whole {
			p.whole = true
			text := p.args.String()
			switch {
			case p.call.Free:
				p.call.Input = text
			case cut && text != "" && !json.Valid([]byte(text)):
				continue
			default:
				p.call.Args = json.RawMessage(text)
			}
		}
		kept = append(kept, p)
	}
	w.queue = kept
	return w.release()
}

// write writes a part at once, or gathers it into the whole reply.
func (w *writer) write(p *piece) error {
	if w.o.Stream {
		o := w.chunk()
		p.append(o)
		o.b = append(o.b, w.end()...)
		return w.send()
	}
	if p.kind == wire.KindText || p.kind == wire.KindThinking {
		w.gather(p)
		return nil
	}
	w.settleRun()
	p.append(&w.parts)
	return nil
}

// gather adds text to the part that is open, or opens another.
func (w *writer) gather(p *piece) {
	if r := &w.run; !r.open || r.kind != p.kind || r.part != p.part || p.sign != "" && r.sign != "" {
		w.settleRun()
		r.open, r.kind, r.part, r.sign = true, p.kind, p.part, ""
	}
	if p.sign != "" {
		w.run.sign = p.sign
	}
	w.run.text.WriteString(p.text)
}

func (w *writer) settleRun() {
	r := &w.run
	if !r.open {
		return
	}
	(&piece{kind: r.kind, text: r.text.String(), sign: r.sign}).append(&w.parts)
	r.text.Reset()
	r.open = false
}

// append writes the part.
func (p *piece) append(o *object) {
	o.open("", '{')
	switch p.kind {
	case wire.KindCall:
		o.open("functionCall", '{')
		o.textIf("id", p.call.ID)
		o.text("name", p.call.Name)
		o.raw("args", compact(args(p.call)))
		o.close('}')
	case wire.KindImage:
		p.appendMedia(o)
	case wire.KindThinking:
		o.text("text", p.text)
		o.raw("thought", []byte("true"))
	case wire.KindText, wire.KindFile, wire.KindAudio, wire.KindVideo, wire.KindResult, wire.KindRefusal, wire.KindOpaque:
		o.text("text", p.text)
	}
	o.textIf("thoughtSignature", p.sign)
	o.close('}')
}

func (p *piece) appendMedia(o *object) {
	m := p.media
	mime := m.MIME
	if m.Data == "" {
		o.open("fileData", '{')
		o.textIf("mimeType", mime)
		o.text("fileUri", m.URL+m.ID)
		o.close('}')
		return
	}
	if mime == "" {
		mime = wire.SniffMIME(m.Data)
	}
	o.open("inlineData", '{')
	o.text("mimeType", mime)
	o.text("data", m.Data)
	o.close('}')
}

// compact keeps a value on one line: each chunk is one.
func compact(raw []byte) []byte {
	if !bytes.ContainsAny(raw, "\r\n") {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// lead begins the buffer with what stands before a chunk.
func (w *writer) lead() []byte {
	b := w.buf.b[:0]
	switch {
	case !w.o.Stream:
	case !w.o.Array:
		b = append(b, "data: "...)
	case w.some:
		b = append(b, ",\r\n"...)
	default:
		b = append(b, '[')
	}
	w.some = true
	return b
}

// chunk begins a chunk up to where its parts stand.
func (w *writer) chunk() *object {
	w.buf.b = append(w.lead(), `{"candidates":[{"content":{"role":"model","parts":[`...)
	return &w.buf
}

// end is what stands behind the parts of a chunk that isn't the last.
func (w *writer) end() []byte {
	if w.tail == nil {
		o := object{b: []byte(`]},"index":0}]`)}
		w.named(&o)
		o.close('}')
		w.tail = o.b
	}
	return w.tail
}

func (w *writer) named(o *object) {
	o.text("modelVersion", w.o.Model)
	o.textIf("responseId", w.id)
}

// send writes what is in the buffer, a chunk, as the client reads it.
func (w *writer) send() error {
	switch {
	case !w.o.Stream:
	case !w.o.Array:
		w.buf.b = append(w.buf.b, "\n\n"...)
	case w.done:
		w.buf.b = append(w.buf.b, ']')
	}
	_, err := w.w.Write(w.buf.b)
	return err
}

// fail ends the reply with an error.
func (w *writer) fail(r *wire.Refusal) error {
	w.done = true
	out := wire.Refusal{Status: http.StatusBadGateway, Words: "The vendor's reply failed."}
	if r != nil {
		out = *r
	}
	if out.Status == 529 { // a word of Anthropic's; this API's clients know 503
		out.Status = http.StatusServiceUnavailable
	}
	w.buf.b = append(w.lead(), out.Body(wire.Gemini)...)
	return w.send()
}

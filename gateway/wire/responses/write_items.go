package responses

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// input lays the turns out as items.
func (w *askWriter) input(o *object) {
	o.key("input")
	l := itemList{w: w, b: append(o.b, '[')}
	for i := range w.turns {
		t := &w.turns[i]
		l.turn = i
		l.role = "user"
		switch t.Role {
		case wire.RoleAssistant:
			l.role = "assistant"
		case wire.RoleSystem:
			l.role = "developer"
		case wire.RoleUser:
		}
		for j := range t.Parts {
			l.part(&t.Parts[j])
		}
		l.close()
	}
	if n := len(w.turns); n > 0 && w.turns[n-1].Role == wire.RoleAssistant {
		// A reply that is begun can't be gone on with.
		l.role = "user"
		l.text("Continue.", nil)
		l.close()
	}
	if !l.some { // no vendor answers an empty list
		l.role = "user"
		l.text("…", nil)
		l.close()
	}
	o.b = append(l.b, ']')
}

// itemList writes the items of an input.
type itemList struct {
	w       *askWriter
	b       []byte
	turn    int
	role    string
	some    bool // an item stands
	open    bool // a message is open
	content bool // and has a part
	nested  bool // it is a result's output: parts without items
}

// begin opens an item.
func (l *itemList) begin(kind string) object {
	l.close()
	if l.some {
		l.b = append(l.b, ',')
	}
	l.some = true
	o := newObject(l.b)
	o.str("type", kind)
	return o
}

// raw writes an item as it came.
func (l *itemList) raw(raw json.RawMessage) {
	l.close()
	if l.some {
		l.b = append(l.b, ',')
	}
	l.some = true
	l.b = append(l.b, raw...)
}

// piece begins a part of the message that is open, or of one that it opens.
func (l *itemList) piece(kind string) object {
	if !l.open {
		o := l.begin(typeMessage)
		o.str("role", l.role)
		o.key("content")
		l.b = append(o.b, '[')
		l.open, l.content = true, false
	}
	if l.content {
		l.b = append(l.b, ',')
	}
	l.content = true
	o := newObject(l.b)
	o.str("type", kind)
	return o
}

// close ends the message that is open.
func (l *itemList) close() {
	if l.open {
		l.b = append(l.b, "]}"...)
		l.open = false
	}
}

func (l *itemList) part(p *wire.Part) {
	if p.Begins && l.content && !l.nested {
		l.close()
	}
	switch p.Kind {
	case wire.KindText:
		l.said(p)
	case wire.KindRefusal:
		if l.role != "assistant" {
			l.said(p)
			return
		}
		o := l.piece("refusal")
		o.str("refusal", p.Text)
		l.b = o.end()
	case wire.KindImage, wire.KindFile, wire.KindAudio, wire.KindVideo:
		l.media(p)
	case wire.KindCall:
		l.call(p)
	case wire.KindResult:
		l.result(p.Reply)
	case wire.KindThinking:
		l.thought(p)
	case wire.KindOpaque:
		if l.w.own() && len(p.Raw) > 0 {
			l.raw(p.Raw)
			return
		}
		l.said(p)
	}
}

// said writes a text.
func (l *itemList) said(p *wire.Part) {
	if p.Text != "" {
		l.text(p.Text, p)
	}
}

// text writes a part of text; p tells its sources and cache breakpoint, and may be nil.
func (l *itemList) text(s string, p *wire.Part) {
	kind := "input_text"
	if l.role == "assistant" {
		kind = "output_text"
	}
	o := l.piece(kind)
	o.str("text", s)
	if p != nil {
		if kind == "output_text" && len(p.Cites) > 0 {
			o.raw("annotations", writeCites(p.Cites))
		}
		l.w.marked(&o, p)
	}
	l.b = o.end()
}

// markable says that a cache breakpoint can stand on the part.
func markable(p *wire.Part) bool {
	switch p.Kind {
	case wire.KindText, wire.KindImage, wire.KindFile:
		return true
	case wire.KindAudio, wire.KindVideo, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
	return false
}

// marked writes a part's cache breakpoint, if it is one of the last four.
func (w *askWriter) marked(o *object, p *wire.Part) {
	switch {
	case p.Cache == nil || !markable(p):
	case !wire.Headed(w.t.Model, w.t.Dialect.CacheBreaks):
		w.lose(w.word("cache"), cachesItself)
	case w.unmarked > 0:
		w.unmarked--
	default:
		o.lit("prompt_cache_breakpoint", `{"mode":"explicit"}`)
	}
}

// media writes what is no text, or what stands in its place.
func (l *itemList) media(p *wire.Part) {
	m := p.Media
	switch {
	case m == nil:
		return
	case l.role == "assistant" || !l.w.t.Reads(p.Kind) && (l.turn != l.w.current || !unplayed(p)):
		l.w.lose(l.w.word("turns")+"."+mediaWord(p.Kind), "the model can't be shown it here")
		l.text(wire.Note(p.Kind), nil)
		return
	case m.Text != "":
		l.text(wire.DocumentText(m), p)
		return
	case m.ID != "" && l.w.a.API != wire.Responses:
		l.w.refuse(wire.MediaField(l.w.a.API, p), "a file that is stored at another vendor can't be read here; send its bytes or its URL")
		return
	}
	if o, ok := l.medium(p); ok {
		l.w.marked(&o, p)
		l.b = o.end()
		return
	}
	if l.turn == l.w.current {
		l.w.refuse(wire.MediaField(l.w.a.API, p), "this model's API takes no "+mediaWord(p.Kind)+" of that kind")
		return
	}
	l.text(wire.Note(p.Kind), nil)
}

// unplayed says whether a sound or a film has no place in this API, whatever its model takes.
func unplayed(p *wire.Part) bool {
	return p.Kind == wire.KindVideo || p.Kind == wire.KindAudio && (p.Media.Data == "" || audioFormat(p.Media.MIME) == "")
}

func mediaWord(k wire.Kind) string {
	switch k {
	case wire.KindImage:
		return "image"
	case wire.KindFile:
		return "file"
	case wire.KindAudio:
		return "audio"
	case wire.KindVideo:
		return "video"
	case wire.KindText, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
	return "part"
}

// medium begins the part that a medium is; the caller ends it.
func (l *itemList) medium(p *wire.Part) (object, bool) {
	switch p.Kind {
	case wire.KindImage:
		o := l.piece("input_image")
		o.image(p.Media)
		return o, true
	case wire.KindFile:
		o := l.piece("input_file")
		o.file(p.Media)
		return o, true
	case wire.KindAudio:
		format := audioFormat(p.Media.MIME)
		if format == "" || p.Media.Data == "" {
			return object{}, false
		}
		o := l.piece("input_audio")
		in := newObject(nil)
		in.str("data", p.Media.Data)
		in.str("format", format)
		o.raw("input_audio", in.end())
		return o, true
	case wire.KindVideo, wire.KindText, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
	return object{}, false
}

func audioFormat(mime string) string {
	switch strings.TrimPrefix(mime, "audio/") {
	case "wav", "x-wav", "wave":
		return "wav"
	case "mp3", "mpeg":
		return "mp3"
	}
	return ""
}

func (o *object) image(m *wire.Media) {
	if m.ID != "" {
		o.str("file_id", m.ID)
	} else {
		o.str("image_url", m.AsURL())
	}
	detail := m.Detail
	if detail == "" {
		detail = "auto"
	}
	o.str("detail", detail)
}

func (o *object) file(m *wire.Media) {
	switch {
	case m.ID != "":
		o.str("file_id", m.ID)
	case m.Data != "":
		name := m.Name
		if name == "" {
			name = "document.pdf"
		}
		o.str("filename", name)
		o.str("file_data", m.AsURL())
	default:
		o.str("file_url", m.URL)
	}
}

func (l *itemList) thought(p *wire.Part) {
	d := &l.w.t.Dialect
	sealed := p.Seal.For(wire.Responses, d.Vendor)
	if !sealed && (!d.BareReasoning || p.Text == "") {
		l.w.lose("reasoning of earlier turns", "another vendor sealed it, or none")
		return
	}
	o := l.begin(typeReasoning)
	o.raw("summary", summary(p.Text))
	if sealed {
		o.str("encrypted_content", p.Seal.Data)
	}
	l.b = o.end()
}

// summary is reasoning as the one part of an item's summary.
func summary(text string) []byte {
	if text == "" {
		return []byte("[]")
	}
	o := newObject([]byte{'['})
	o.str("type", "summary_text")
	o.str("text", text)
	return append(o.end(), ']')
}

func (l *itemList) call(p *wire.Part) {
	c := p.Call
	t := l.w.byName(c.Name)
	if t != nil && t.Built != "" && l.w.own() {
		if len(p.Raw) > 0 {
			l.raw(p.Raw)
			return
		}
		l.raw(builtItem(t.Built, "", callID(c.ID), "completed", c.Args))
		return
	}
	free := c.Free && !l.w.t.Dialect.FunctionsOnly
	kind := typeFunction
	if free {
		kind = typeCustom
	}
	o := l.begin(kind)
	o.str("call_id", callID(c.ID))
	l.named(&o, c.Name, t)
	switch {
	case free:
		o.str("input", c.Input)
	case c.Free:
		o.str("arguments", string(wire.FreeArgs(c.Input)))
	default:
		o.str("arguments", argsText(c.Args))
	}
	l.b = o.end()
}

// named writes a call's name, with the namespace in which the tool is on offer.
func (l *itemList) named(o *object, name string, t *wire.Tool) {
	if t != nil && t.Namespace != "" && l.w.own() {
		o.str("name", wire.ResponsesNames.Name(t.Local))
		o.str("namespace", t.Namespace)
		return
	}
	o.str("name", wire.ResponsesNames.Name(name))
}

func argsText(args json.RawMessage) string {
	if len(args) == 0 {
		return "{}"
	}
	return string(args)
}

// result writes a call's output as the call wants it.
func (l *itemList) result(r *wire.Result) {
	kind := "function_call_output"
	if c := r.Of; c != nil {
		if t := l.w.byName(c.Name); t != nil && t.Built != "" && l.w.own() {
			l.builtResult(t.Built, r)
			return
		}
		if c.Free && !l.w.t.Dialect.FunctionsOnly {
			kind = "custom_tool_call_output"
		}
	}
	o := l.begin(kind)
	o.str("call_id", callID(r.ID))
	o.key("output")
	l.b = o.b
	l.output(r)
	l.b = append(l.b, '}')
}

// output writes what a call gave: a text, or parts where it is more than one.
func (l *itemList) output(r *wire.Result) {
	if len(r.Parts) < 2 && wire.AllText(r.Parts) {
		text, _ := wire.ResultText(r)
		l.b = wire.AppendQuoted(l.b, text)
		return
	}
	in := itemList{w: l.w, role: "user", turn: l.turn, open: true, nested: true, b: append(l.b, '[')}
	for i := range r.Parts {
		p := r.Parts[i]
		p.Cache = nil
		if i == 0 && r.Error {
			p = failedPart(&in, p)
		}
		in.part(&p)
	}
	l.b = append(in.b, ']')
}

// failedPart tells a failure at the head of a result of several parts.
func failedPart(in *itemList, p wire.Part) wire.Part {
	switch {
	case p.Kind != wire.KindText:
		in.text("Error: ", nil)
	case !strings.HasPrefix(p.Text, "Error: "):
		p.Text = "Error: " + p.Text
	}
	return p
}

// builtResult writes what a client-run tool gave.
func (l *itemList) builtResult(name string, r *wire.Result) {
	if len(r.Raw) > 0 {
		l.raw(r.Raw)
		return
	}
	b := builtBy(func(b *built) bool { return b.name == name })
	text, _ := wire.ResultText(r)
	o := l.begin(b.output)
	o.str("call_id", callID(r.ID))
	switch name {
	case "shell":
		in := newObject([]byte{'['})
		in.str("stdout", text)
		in.str("stderr", "")
		in.lit("outcome", `{"type":"exit","exit_code":0}`)
		o.raw("output", append(in.end(), ']'))
	case "tool_search":
		o.str("execution", "client")
		o.lit("tools", "[]")
	case "apply_patch":
		status := "completed"
		if r.Error {
			status = "failed"
		}
		o.str("status", status)
		o.str("output", text)
	default:
		o.str("output", text)
	}
	l.b = o.end()
}

// writeCites writes the sources whose place in the text is known.
func writeCites(cites []wire.Cite) []byte {
	b := []byte{'['}
	for i := range cites {
		if c := &cites[i]; placed(c) {
			if len(b) > 1 {
				b = append(b, ',')
			}
			b = writeCite(b, c)
		}
	}
	return append(b, ']')
}

func placed(c *wire.Cite) bool { return c.URL != "" && c.End > c.Start }

func writeCite(b []byte, c *wire.Cite) []byte {
	o := newObject(b)
	o.str("type", "url_citation")
	o.str("url", c.URL)
	o.str("title", c.Title)
	o.int("start_index", int64(c.Start))
	o.int("end_index", int64(c.End))
	return o.end()
}

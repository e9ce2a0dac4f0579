package gemini

import (
	"dev.magpie/gateway/wire"
)

// part writes what is no call, result or reasoning. now says that it belongs to what is
// asked now: there nothing may be left out unsaid.
func (w *writing) part(p *wire.Part, now bool) {
	if w.own() && p.Raw != nil {
		w.next()
		w.b = append(w.b, p.Raw...)
		return
	}
	if w.own() && p.Media != nil && p.Media.Data != "" {
		w.media(p)
		return
	}
	if text, ok := wire.Spoken(p); ok {
		if text != "" {
			w.textPart(text)
		}
		return
	}
	if p.Media == nil {
		return
	}
	if !w.t.Reads(p.Kind) {
		w.lose(wire.MediaField(w.a.API, p), "the model does not read it")
		w.textPart(wire.Note(p.Kind))
		return
	}
	if w.media(p) {
		return
	}
	if now {
		w.refuse(wire.MediaField(w.a.API, p), w.why(p))
		return
	}
	w.lose(wire.MediaField(w.a.API, p), w.why(p))
	w.textPart(wire.Note(p.Kind))
}

// media writes a medium by its bytes, or by what Google knows it as; false when it has neither.
func (w *writing) media(p *wire.Part) bool {
	m := p.Media
	mime := m.MIME
	switch {
	case m.Data != "":
		if mime == "" {
			mime = wire.SniffMIME(m.Data)
		}
		w.open("", '{')
		w.open("inlineData", '{')
		w.text("mimeType", mime)
		w.text("data", m.Data)
	case w.own() && m.ID+m.URL != "" || googleFile(m.URL) && m.URL != "":
		w.open("", '{')
		w.open("fileData", '{')
		w.textIf("mimeType", mime)
		w.text("fileUri", m.ID+m.URL)
	default:
		return false
	}
	w.close('}')
	w.close('}')
	return true
}

// why is why a medium can't go on.
func (w *writing) why(p *wire.Part) string {
	if p.Media.ID != "" {
		return "a file id is good only at the vendor that gave it; send the bytes"
	}
	return "the vendor fetches nothing from this URL; send the bytes"
}

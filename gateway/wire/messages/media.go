package messages

import (
	"encoding/base64"
	"strings"

	"dev.magpie/gateway/wire"
)

// mediaBlock is an image, a document or what stands in its place.
func (w *writing) mediaBlock(p *wire.Part, at place) block {
	m := p.Media
	if m == nil {
		return block{}
	}
	if at.role == wire.RoleAssistant || at.role == wire.RoleSystem {
		w.lose(mediaWord(p.Kind), "it has no place in a turn of the model's")
		return textBlock(wire.Note(p.Kind))
	}
	if p.Kind == wire.KindFile && m.Text != "" {
		return block{kind: blockDocument, media: &source{kind: "text", mime: "text/plain", value: m.Text, title: m.Name}}
	}
	if p.Kind == wire.KindAudio || p.Kind == wire.KindVideo {
		return w.outOfPlace(p, at, "the Messages API takes none")
	}
	if !w.t.Reads(p.Kind) {
		w.lose(mediaWord(p.Kind), "the model can't read it")
		return textBlock(wire.Note(p.Kind))
	}
	if m.ID != "" {
		if !w.own() {
			w.refuse(wire.MediaField(w.a.API, p), "a file id is good at one vendor only; send the bytes or a URL")
			return block{}
		}
		return block{kind: mediaKind(p.Kind), media: &source{kind: "file", value: m.ID, title: m.Name}}
	}
	if m.Data == "" {
		return w.urlBlock(p, at)
	}
	if p.Kind == wire.KindImage {
		return w.imageBlock(p, at)
	}
	return w.fileBlock(p, at)
}

func mediaKind(k wire.Kind) blockKind {
	if k == wire.KindImage {
		return blockImage
	}
	return blockDocument
}

func mediaWord(k wire.Kind) string {
	switch k {
	case wire.KindImage:
		return "image"
	case wire.KindAudio:
		return "audio"
	case wire.KindVideo:
		return "video"
	case wire.KindFile, wire.KindText, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
	return "file"
}

// outOfPlace refuses what the model is asked about now and can't be told; in older turns
// a note takes its place.
func (w *writing) outOfPlace(p *wire.Part, at place, why string) block {
	word := mediaWord(p.Kind)
	if at.current && !at.inside {
		w.refuse(wire.MediaField(w.a.API, p), why)
		return block{}
	}
	w.lose(word, why)
	return textBlock(wire.Note(p.Kind))
}

func (w *writing) urlBlock(p *wire.Part, at place) block {
	if !strings.HasPrefix(p.Media.URL, "http://") && !strings.HasPrefix(p.Media.URL, "https://") {
		return w.outOfPlace(p, at, "its URL must be one of http or https")
	}
	if p.Kind == wire.KindFile && p.Media.MIME != "" && p.Media.MIME != "application/pdf" {
		return w.outOfPlace(p, at, "a file at a URL must be a PDF")
	}
	return block{kind: mediaKind(p.Kind), media: &source{kind: "url", value: p.Media.URL, title: p.Media.Name}}
}

// imageBlock is an image by its bytes. These say more of its type than what it came with.
func (w *writing) imageBlock(p *wire.Part, at place) block {
	mime := strings.ToLower(p.Media.MIME)
	if mime == "image/jpg" {
		mime = "image/jpeg"
	}
	if found := wire.SniffMIME(p.Media.Data); strings.HasPrefix(found, "image/") {
		mime = found
	}
	switch mime {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return block{kind: blockImage, media: &source{kind: "base64", mime: mime, value: p.Media.Data}}
	}
	return w.outOfPlace(p, at, "an image must be a JPEG, PNG, GIF or WebP")
}

// fileBlock is a document by its bytes: a PDF, or text.
func (w *writing) fileBlock(p *wire.Part, at place) block {
	m := p.Media
	mime := strings.ToLower(m.MIME)
	if mime == "" || mime == "application/octet-stream" {
		mime = wire.SniffMIME(m.Data)
	}
	if mime == "application/pdf" {
		return block{kind: blockDocument, media: &source{kind: "base64", mime: mime, value: m.Data, title: m.Name}}
	}
	if strings.HasPrefix(mime, "text/") || mime == "application/json" || mime == "application/xml" {
		if text, err := base64.StdEncoding.DecodeString(m.Data); err == nil && !blank(string(text)) {
			return block{kind: blockDocument, media: &source{kind: "text", mime: "text/plain", value: string(text), title: m.Name}}
		}
	}
	if strings.HasPrefix(mime, "image/") {
		return w.imageBlock(&wire.Part{Kind: wire.KindImage, Media: m}, at)
	}
	return w.outOfPlace(p, at, "a file must be a PDF or text")
}

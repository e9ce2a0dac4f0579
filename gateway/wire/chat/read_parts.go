package chat

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// readContent reads a message's content: a string, or parts. Empty texts are nothing.
func readContent(w *wire.Walker) []wire.Part {
	if w.Kind() == '"' {
		if t := w.Text(); t != "" {
			return []wire.Part{{Text: t}}
		}
		return nil
	}
	var parts []wire.Part
	w.Array(func() {
		p, ok := readPart(w)
		if ok {
			parts = append(parts, p)
		}
	})
	return parts
}

// readPart reads one part of a content.
func readPart(w *wire.Walker) (wire.Part, bool) {
	if w.Kind() == '"' {
		t := w.Text()
		return wire.Part{Text: t}, t != ""
	}
	if w.Kind() != '{' {
		w.Skip()
		return wire.Part{}, false
	}
	raw := w.Raw()
	d := part{media: &wire.Media{}}
	in := wire.Walk(raw)
	in.Object(func(key []byte) { d.member(in, key) })
	return d.part(raw)
}

// part is a part while it is read.
type part struct {
	kind  string
	text  string
	media *wire.Media
	cache *wire.Cache
}

func (d *part) member(w *wire.Walker, key []byte) {
	switch string(key) {
	case "type":
		d.kind = w.Text()
	case "text", "refusal":
		d.text = w.Text()
	case "thinking":
		for _, p := range readContent(w) { // Mistral nests parts in it
			d.text += p.Text
		}
	case "image_url":
		d.image(w)
	case "input_audio":
		w.Object(func(key []byte) { d.audio(w, key) })
	case "file":
		w.Object(func(key []byte) { d.file(w, key) })
	case "video_url":
		w.Object(func(key []byte) {
			if string(key) == "url" {
				*d.media = *wire.MediaAt(w.Text())
			}
		})
	case "cache_control":
		d.cache = readCache(w)
	case "prompt_cache_breakpoint":
		d.cache = &wire.Cache{}
		w.Skip()
	}
}

// image reads {url, detail}, or the bare string that some agents send.
func (d *part) image(w *wire.Walker) {
	if w.Kind() == '"' {
		*d.media = *wire.MediaAt(w.Text())
		return
	}
	detail := ""
	w.Object(func(key []byte) {
		switch string(key) {
		case "url":
			*d.media = *wire.MediaAt(w.Text())
		case "detail":
			detail = w.Text()
		}
	})
	d.media.Detail = detail
}

func (d *part) audio(w *wire.Walker, key []byte) {
	switch string(key) {
	case "data":
		d.media.Data = w.Text()
		if _, data, ok := wire.DataURL(d.media.Data); ok {
			d.media.Data = data
		}
	case "format":
		d.media.MIME = audioMIME(w.Text())
	}
}

func audioMIME(format string) string {
	if format == "mp3" {
		return "audio/mpeg"
	}
	return "audio/" + format
}

func (d *part) file(w *wire.Walker, key []byte) {
	switch string(key) {
	case "filename":
		d.media.Name = w.Text()
	case "file_id":
		d.media.ID = w.Text()
	case "file_data":
		name, id := d.media.Name, d.media.ID
		data := w.Text()
		m := wire.MediaAt(data)
		if m.URL != "" && !strings.HasPrefix(data, "http") { // bare base64
			m = &wire.Media{Data: data, MIME: wire.SniffMIME(data)}
		}
		m.Name, m.ID = name, id
		*d.media = *m
	}
}

// part settles what it is. raw is kept of a part that nothing else here knows.
func (d *part) part(raw json.RawMessage) (wire.Part, bool) {
	p := wire.Part{Cache: d.cache}
	switch d.kind {
	case "text", "input_text", "output_text", "":
		p.Text = d.text
		return p, d.text != ""
	case "refusal":
		p.Kind, p.Text = wire.KindRefusal, d.text
		return p, d.text != ""
	case "thinking":
		p.Kind, p.Text = wire.KindThinking, d.text
		return p, d.text != ""
	case "image_url", "input_image":
		p.Kind = wire.KindImage
	case "input_audio":
		p.Kind = wire.KindAudio
	case "video_url":
		p.Kind = wire.KindVideo
	case "file":
		p.Kind = wire.KindFile
		if text, ok := plainText(d.media); ok {
			d.media.Text, d.media.Data = text, ""
		}
	default:
		p.Kind, p.Text, p.Raw = wire.KindOpaque, d.text, raw
		return p, true
	}
	p.Media = d.media
	return p, true
}

// readCache reads a cache mark of the dialect that agents borrow from Messages.
func readCache(w *wire.Walker) *wire.Cache {
	if w.Kind() != '{' {
		return nil
	}
	c := &wire.Cache{}
	w.Object(func(key []byte) {
		if string(key) == "ttl" {
			c.TTL = w.Text()
		}
	})
	return c
}

// location flattens the place that a search is made from.
func location(w *wire.Walker) json.RawMessage {
	b := []byte(`{"type":"approximate"`)
	var member func(key []byte)
	member = func(key []byte) {
		switch string(key) {
		case "approximate":
			w.Object(member)
		case "city", "region", "country", "timezone":
			if t := w.Text(); t != "" {
				b = append(wire.AppendQuoted(append(b, ','), string(key)), ':')
				b = wire.AppendQuoted(b, t)
			}
		}
	}
	w.Object(member)
	return append(b, '}')
}

// plainText decodes a file that is text; its bytes are in base64.
func plainText(m *wire.Media) (string, bool) {
	if !strings.HasPrefix(m.MIME, "text/") || m.Data == "" {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return "", false
	}
	return string(b), true
}

package responses

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// content is one part of a message or an output, as it came.
type content struct {
	Type, Text, Refusal, URL, Detail, FileID, Data, FileURL, Filename, Audio, Format string

	marked bool
	cites  []wire.Cite
}

// readParts reads a message's content: a text, or parts. Empty texts are left out.
func readParts(raw json.RawMessage) []wire.Part {
	v := wire.Value(raw)
	if v.Kind() == '"' {
		if s := v.Text(); s != "" {
			return []wire.Part{{Text: s}}
		}
		return nil
	}
	var parts []wire.Part
	w := wire.Walk(raw)
	w.Array(func() {
		if w.Kind() == '"' {
			parts = append(parts, wire.Part{Text: w.Text()})
			return
		}
		if p, ok := readPart(w.Raw()); ok {
			parts = append(parts, p)
		}
	})
	return parts
}

func readPart(raw json.RawMessage) (wire.Part, bool) {
	var c content
	w := wire.Walk(raw)
	w.Object(func(key []byte) { c.member(key, w) })
	p := wire.Part{Cites: c.cites}
	if c.marked {
		p.Cache = &wire.Cache{}
	}
	switch c.Type {
	case "input_text", "output_text", "text", "summary_text", "reasoning_text":
		p.Text = c.Text
		return p, p.Text != ""
	case "refusal":
		p.Kind, p.Text = wire.KindRefusal, c.Refusal
		return p, p.Text != ""
	case "input_image", "image_url", "computer_screenshot":
		p.Kind, p.Media = wire.KindImage, wire.MediaAt(c.URL)
		p.Media.ID, p.Media.Detail = c.FileID, c.Detail
	case "input_file":
		p.Kind, p.Media = c.file()
	case "input_audio":
		p.Kind = wire.KindAudio
		p.Media = &wire.Media{MIME: "audio/" + c.Format, Data: c.Audio}
	default:
		p.Kind, p.Raw = wire.KindOpaque, raw
	}
	return p, true
}

func (c *content) member(key []byte, w *wire.Walker) {
	switch string(key) {
	case "type":
		c.Type = w.Text()
	case "text":
		c.Text = w.Text()
	case "refusal":
		c.Refusal = w.Text()
	case "image_url": // a string; an object where an agent thinks of Chat Completions
		if w.Kind() == '{' {
			v := wire.Value(w.Raw())
			c.URL, c.Detail = v.Get("url").Text(), v.Get("detail").Text()
			return
		}
		c.URL = w.Text()
	case "detail":
		c.Detail = w.Text()
	case "file_id":
		c.FileID = w.Text()
	case "file_data":
		c.Data = w.Text()
	case "file_url":
		c.FileURL = w.Text()
	case "filename":
		c.Filename = w.Text()
	case "input_audio":
		v := wire.Value(w.Raw())
		c.Audio, c.Format = v.Get("data").Text(), v.Get("format").Text()
	case "prompt_cache_breakpoint":
		c.marked = w.Kind() == '{'
		w.Skip()
	case "annotations":
		c.cites = readCites(w)
	}
}

// file reads a file: a document, or what else its type says that it is.
func (c *content) file() (wire.Kind, *wire.Media) {
	m := &wire.Media{URL: c.FileURL, ID: c.FileID, Name: c.Filename, Detail: c.Detail}
	if c.Data != "" {
		m.MIME, m.Data = fileData(c.Data, c.Filename)
	}
	head, _, _ := strings.Cut(m.MIME, "/")
	switch head {
	case "image":
		return wire.KindImage, m
	case "audio":
		return wire.KindAudio, m
	case "video":
		return wire.KindVideo, m
	case "text":
		if b, err := base64.StdEncoding.DecodeString(m.Data); err == nil {
			m.Text, m.Data = string(b), ""
		}
	}
	return wire.KindFile, m
}

// fileData takes a file's bytes, be they a data: URL or base64 alone.
func fileData(s, name string) (mime, data string) {
	if mime, data, ok := wire.DataURL(s); ok {
		return mime, data
	}
	mime = wire.SniffMIME(s)
	if strings.HasSuffix(strings.ToLower(name), ".pdf") {
		mime = "application/pdf"
	}
	return mime, s
}

// readCites reads the sources of a text.
func readCites(w *wire.Walker) []wire.Cite {
	var cites []wire.Cite
	w.Array(func() {
		if c, ok := readCite(w); ok {
			cites = append(cites, c)
		}
	})
	return cites
}

func readCite(w *wire.Walker) (wire.Cite, bool) {
	var c wire.Cite
	kind := ""
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			kind = w.Text()
		case "url":
			c.URL = w.Text()
		case "title":
			c.Title = w.Text()
		case "start_index":
			n, _ := w.Int()
			c.Start = int(n)
		case "end_index":
			n, _ := w.Int()
			c.End = int(n)
		}
	})
	return c, kind == "url_citation" && c.URL != ""
}

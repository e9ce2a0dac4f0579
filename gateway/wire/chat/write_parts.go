package chat

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// kindWord is what a loss calls a kind of part.
func kindWord(k wire.Kind) string {
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

// takes is a user's part as it goes on: itself, or a note in its place. What can't be told
// in the current turn is refused; of an older one a note is enough.
func (w *writing) takes(p *wire.Part, current bool) (wire.Part, bool) {
	switch p.Kind {
	case wire.KindText, wire.KindRefusal:
		return *p, p.Text != ""
	case wire.KindOpaque:
		if w.a.API == wire.Chat {
			return *p, true
		}
		w.loseOpaque(p)
		return wire.Part{Text: p.Text, Cache: p.Cache}, p.Text != ""
	case wire.KindThinking, wire.KindCall, wire.KindResult:
		return wire.Part{}, false
	case wire.KindImage, wire.KindFile, wire.KindAudio, wire.KindVideo:
	}
	if p.Media == nil {
		return wire.Part{}, false
	}
	if p.Kind == wire.KindFile && p.Media.Text != "" {
		return wire.Part{Text: wire.DocumentText(p.Media), Cache: p.Cache}, true
	}
	note := wire.Part{Text: wire.Note(p.Kind), Cache: p.Cache}
	word := kindWord(p.Kind)
	why := w.homeless(p)
	// What the API has no place for is refused, even where the model would not take it either.
	played := current && why != "" && (p.Kind == wire.KindAudio || p.Kind == wire.KindVideo)
	if !w.t.Reads(p.Kind) && !played {
		w.lose("messages."+word, "the model can't take it")
		return note, true
	}
	if why != "" {
		if current || p.Media.ID != "" {
			field := wire.MediaField(w.a.API, p)
			w.refuse(field, field+": "+why)
		}
		w.lose("messages."+word, why)
		return note, true
	}
	return *p, true
}

// homeless says why a medium has no place in this API, "" when it has one.
func (w *writing) homeless(p *wire.Part) string {
	m := p.Media
	if m.ID != "" && w.a.API != wire.Chat {
		return "a file that is known by its id at another vendor can't be sent to this model; send its content"
	}
	switch p.Kind {
	case wire.KindImage:
		if m.AsURL() == "" {
			return "an image without content can't be sent to this model"
		}
	case wire.KindFile:
		if m.Data == "" && m.ID == "" {
			return "a document by its URL can't be sent to this model; send its content"
		}
	case wire.KindAudio:
		if m.Data == "" || audioFormat(m.MIME) == "" {
			return "this model's API takes audio as wav or mp3 alone"
		}
	case wire.KindVideo:
		if w.a.API != wire.Chat || m.AsURL() == "" {
			return "video can't be sent to this model"
		}
	case wire.KindText, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
	return ""
}

func audioFormat(mime string) string {
	switch strings.TrimPrefix(mime, "audio/") {
	case "wav", "x-wav", "wave", "vnd.wave":
		return "wav"
	case "mpeg", "mp3":
		return "mp3"
	}
	return ""
}

func (w *writing) loseOpaque(p *wire.Part) {
	what := "part"
	if kind, ok := typeOf(p.Raw); ok {
		what = kind
	}
	w.lose("messages."+what, "only the API that it came from knows it")
}

// typeOf is the type of a raw part.
func typeOf(raw []byte) (string, bool) {
	v := wire.Value(raw).Get("type")
	return v.Text(), v.Text() != ""
}

// parts writes a content as an array; marks says whether cache marks are written.
func (w *writing) parts(parts []wire.Part, marks bool) {
	w.key("content")
	w.open('[')
	for i := range parts {
		p := &parts[i]
		if p.Kind == wire.KindOpaque && len(p.Raw) > 0 && w.a.API == wire.Chat {
			w.item()
			w.b = append(w.b, p.Raw...)
			continue
		}
		text, ok := wire.Spoken(p)
		if ok && text == "" {
			continue
		}
		w.item()
		w.open('{')
		if ok {
			w.str("type", "text")
			w.str("text", text)
		} else {
			w.medium(p)
		}
		if marks {
			w.mark(p.Cache)
		}
		w.close('}')
	}
	w.close(']')
}

// medium writes the members of a part that is no text.
func (w *writing) medium(p *wire.Part) {
	m := p.Media
	switch p.Kind {
	case wire.KindImage:
		w.str("type", "image_url")
		w.key("image_url")
		w.open('{')
		w.str("url", m.AsURL())
		detail := m.Detail
		if detail == "original" {
			detail = "high"
		}
		w.strIf("detail", detail)
		w.close('}')
	case wire.KindFile:
		w.str("type", "file")
		w.key("file")
		w.open('{')
		if m.Data != "" {
			name := m.Name
			if name == "" {
				name = "document.pdf"
			}
			w.str("filename", name)
			w.str("file_data", m.AsURL())
		} else {
			w.str("file_id", m.ID)
		}
		w.close('}')
	case wire.KindAudio:
		w.str("type", "input_audio")
		w.key("input_audio")
		w.open('{')
		w.str("data", m.Data)
		w.str("format", audioFormat(m.MIME))
		w.close('}')
	case wire.KindVideo:
		w.str("type", "video_url")
		w.key("video_url")
		w.open('{')
		w.str("url", m.AsURL())
		w.close('}')
	case wire.KindText, wire.KindCall, wire.KindResult, wire.KindThinking, wire.KindRefusal, wire.KindOpaque:
	}
}

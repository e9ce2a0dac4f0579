package wire

import "strings"

// Notes that stand where something could not go on.
const (
	noteImage = "[image left out: the model reads no images]"
	noteFile  = "[file left out: the model reads no files]"
	noteAudio = "[audio left out: the model hears none]"
	noteVideo = "[video left out: the model watches none]"
)

// Note is what stands in the place of a part that a model or an API can't take, "" for a
// part that is no medium.
func Note(k Kind) string {
	switch k {
	case KindImage:
		return noteImage
	case KindFile:
		return noteFile
	case KindAudio:
		return noteAudio
	case KindVideo:
		return noteVideo
	case KindText, KindCall, KindResult, KindThinking, KindRefusal, KindOpaque:
	}
	return ""
}

// Spoken is what a part says as text: that of a text, a refusal, a plain-text document
// and of an opaque part what others may read of it. ok is false for a part that is no text.
func Spoken(p *Part) (text string, ok bool) {
	switch p.Kind {
	case KindText, KindRefusal, KindOpaque:
		return p.Text, true
	case KindFile:
		if p.Media != nil && p.Media.Text != "" {
			return DocumentText(p.Media), true
		}
	case KindImage, KindAudio, KindVideo, KindCall, KindResult, KindThinking:
	}
	return "", false
}

// DocumentText is a plain-text document as text, its title the first line.
func DocumentText(m *Media) string {
	if m.Name == "" {
		return m.Text
	}
	return m.Name + "\n" + m.Text
}

// JoinText joins what the parts say as text; empty texts and other parts are passed over.
// Pieces of one cited text are one text, whatever sep is.
func JoinText(parts []Part, sep string) string {
	var b strings.Builder
	one, cited := "", false
	for i := range parts {
		text, ok := Spoken(&parts[i])
		if !ok || text == "" {
			continue
		}
		if one == "" {
			one = text // of a single text no copy is made
			cited = len(parts[i].Cites) > 0
			continue
		}
		if b.Len() == 0 {
			b.WriteString(one)
		}
		if !cited && len(parts[i].Cites) == 0 {
			b.WriteString(sep)
		}
		b.WriteString(text)
		cited = len(parts[i].Cites) > 0
	}
	if b.Len() == 0 {
		return one
	}
	return b.String()
}

// AllText says whether the parts are text alone, so that one string can stand for them.
func AllText(parts []Part) bool {
	for i := range parts {
		if _, ok := Spoken(&parts[i]); !ok {
			return false
		}
	}
	return true
}

// ResultText is a result for an API whose results are text alone: its text, with "Error: "
// before that of a failed call, and the media that have to stand elsewhere. A result that
// is media only says where they are.
func ResultText(r *Result) (text string, media []Part) {
	kind := KindText
	for i := range r.Parts {
		if _, ok := Spoken(&r.Parts[i]); ok || r.Parts[i].Media == nil {
			continue
		}
		media = append(media, r.Parts[i])
		kind = r.Parts[i].Kind
	}
	text = JoinText(r.Parts, "\n")
	if text == "" && len(media) > 0 {
		text = "see image below"
		if kind != KindImage {
			text = "see file below"
		}
	}
	if r.Error && !strings.HasPrefix(text, "Error: ") {
		text = "Error: " + text
	}
	return text, media
}

// Unwrap reads a result's text that is itself the JSON of content parts, as agents write
// who have only a string for it. It is nil unless every element is a part that is known
// and one of them an image.
func Unwrap(text string) []Part {
	t := strings.TrimLeft(text, " \n\r\t")
	if !strings.HasPrefix(t, "[") || !strings.Contains(t, "image") {
		return nil
	}
	v, err := ReadValue([]byte(t))
	if err != nil {
		return nil
	}
	var parts []Part
	known, image := true, false
	v.Elements(func(e Value) {
		p, ok := wrapped(e)
		known = known && ok
		image = image || ok && p.Kind == KindImage
		parts = append(parts, p)
	})
	if !known || !image {
		return nil
	}
	return parts
}

// wrapped reads one part in any of the spellings of the APIs.
func wrapped(v Value) (Part, bool) {
	switch v.Get("type").Text() {
	case "text", "input_text", "output_text":
		text := v.Get("text")
		return Part{Text: text.Text()}, text.Kind() == '"'
	case "input_image", "image_url":
		url := v.Get("image_url")
		detail := v.Get("detail").Text()
		if url.Kind() == '{' {
			url, detail = url.Get("url"), url.Get("detail").Text()
		}
		if url.Text() == "" {
			return Part{}, false
		}
		m := MediaAt(url.Text())
		m.Detail = detail
		return Part{Kind: KindImage, Media: m}, true
	case "image":
		return wrappedImage(v)
	}
	return Part{}, false
}

// wrappedImage reads Anthropic's image and that of MCP.
func wrappedImage(v Value) (Part, bool) {
	m := &Media{MIME: v.Get("mimeType").Text(), Data: v.Get("data").Text()}
	if s := v.Get("source"); !s.None() {
		m = &Media{MIME: s.Get("media_type").Text(), Data: s.Get("data").Text(), URL: s.Get("url").Text()}
	}
	return Part{Kind: KindImage, Media: m}, m.Data != "" || m.URL != ""
}

// Billing says whether a text is the line that Claude Code puts before its system prompt
// and that changes with every request: it is left out of what is translated, for caches'
// sake.
func Billing(text string) bool { return strings.HasPrefix(text, billingLine) }

const billingLine = "x-anthropic-billing-header:"

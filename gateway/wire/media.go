package wire

import "strings"

// MediaAt is the medium at a URL; one that a data: URL holds is held by its bytes.
func MediaAt(url string) *Media {
	if mime, data, ok := DataURL(url); ok {
		return &Media{MIME: mime, Data: data}
	}
	return &Media{URL: url}
}

// DataURL takes a base64 data: URL apart.
func DataURL(url string) (mime, data string, ok bool) {
	if len(url) < 5 || !strings.EqualFold(url[:5], "data:") {
		return "", "", false
	}
	head, data, found := strings.Cut(url[5:], ",")
	if !found {
		return "", "", false
	}
	mime, base64 := strings.CutSuffix(head, ";base64")
	if !base64 {
		return "", "", false
	}
	mime, _, _ = strings.Cut(mime, ";")
	return strings.ToLower(mime), data, true
}

// AsURL is the medium as a URL: its own, or a data: URL of its bytes. "" when it has
// neither. A type that isn't told is read from the bytes.
func (m *Media) AsURL() string {
	if m.Data == "" {
		return m.URL
	}
	mime := m.MIME
	if mime == "" {
		mime = SniffMIME(m.Data)
	}
	return "data:" + mime + ";base64," + m.Data
}

// magic are the first letters, in base64, of the types that agents send.
var magic = []struct{ head, mime string }{
	{"iVBORw0KGgo", "image/png"},
	{"/9j/", "image/jpeg"},
	{"R0lGOD", "image/gif"},
	{"UklGR", "image/webp"},
	{"JVBERi", "application/pdf"},
}

// SniffMIME tells a type from the first bytes of what stands in base64.
func SniffMIME(data string) string {
	for _, m := range magic {
		if strings.HasPrefix(data, m.head) {
			return m.mime
		}
	}
	return "application/octet-stream"
}

// MediaField is what a medium is called in an API, for telling its client what can't go on.
func MediaField(api Protocol, p *Part) string {
	names := [4]string{"file", "input_file", "document", "fileData"}
	switch p.Kind {
	case KindImage:
		names = [4]string{"image_url", "input_image", "image", "fileData"}
	case KindAudio:
		names = [4]string{"input_audio", "input_audio", "audio", "fileData"}
	case KindVideo:
		names = [4]string{"video_url", "input_video", "video", "fileData"}
	case KindFile, KindText, KindCall, KindResult, KindThinking, KindRefusal, KindOpaque:
	}
	switch api {
	case Chat:
		return names[0]
	case Responses:
		return names[1]
	case Messages:
		return names[2]
	case Gemini:
		if p.Media != nil && p.Media.Data != "" {
			return "inlineData"
		}
		return names[3]
	}
	return names[0]
}

package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"dev.magpie/gateway/wire"
)

// openCall is a call of the last round that a result may answer.
type openCall struct {
	id, name string
	answered bool
}

// readContent reads one content. Its role may stand behind its parts.
func (r *asking) readContent() {
	role := wire.RoleUser
	var parts []wire.Part
	r.w.Object(func(key []byte) {
		switch string(key) {
		case "role":
			switch r.w.Text() {
			case "model", "assistant":
				role = wire.RoleAssistant
			case "system":
				role = wire.RoleSystem
			}
		case "parts":
			if r.w.Kind() == '{' {
				parts = appendPart(parts, r.w.Raw())
				return
			}
			r.w.Array(func() { parts = appendPart(parts, r.w.Raw()) })
		}
	})
	parts = joinThoughts(parts)
	r.name(parts, role == wire.RoleAssistant)
	r.content++
	if len(parts) > 0 {
		r.a.Turns = append(r.a.Turns, wire.Turn{Role: role, Parts: parts})
	}
}

// joinThoughts joins the pieces of one thought: a client gives them back as they were
// streamed, and the seal, which is of the whole, stands at the last or behind it.
func joinThoughts(parts []wire.Part) []wire.Part {
	kept := parts[:0]
	for i := 0; i < len(parts); i++ {
		last := i
		for isPiece(&parts[last]) && last+1 < len(parts) && parts[last+1].Kind == wire.KindThinking && parts[last+1].Raw == nil {
			last++
		}
		whole := parts[last]
		if last > i {
			var b strings.Builder
			for _, p := range parts[i : last+1] {
				b.WriteString(p.Text)
			}
			whole.Text = b.String()
		}
		kept, i = append(kept, whole), last
	}
	return kept
}

// isPiece says whether a part is thinking that goes on in the next one.
func isPiece(p *wire.Part) bool {
	return p.Kind == wire.KindThinking && p.Seal == nil && p.Raw == nil
}

// name gives calls without ids one that is the same each time the conversation is read,
// and brings results without ids to the calls of their name, first in, first out.
func (r *asking) name(parts []wire.Part, model bool) {
	if model && !r.model {
		r.open = r.open[:0]
	}
	r.model = model
	at := strconv.Itoa(r.content)
	for i, n := 0, 0; i < len(parts); i++ {
		if c := parts[i].Call; c != nil {
			if c.ID == "" {
				c.ID = wire.MakeID("call_", at, strconv.Itoa(n), c.Name)
			}
			r.open = append(r.open, openCall{id: c.ID, name: c.Name})
			if r.ids == nil {
				r.ids = map[string]bool{}
			}
			r.ids[c.ID] = true
			n++
		}
	}
	for i := range parts { // an id that is told wins
		if res := parts[i].Reply; res != nil && res.ID != "" && !r.answer(&res.ID, func(c *openCall) bool { return c.id == res.ID }) {
			r.orphan(res)
		}
	}
	for i, n := 0, 0; i < len(parts); i++ {
		res := parts[i].Reply
		if res == nil || res.ID != "" {
			continue
		}
		if !r.answer(&res.ID, func(c *openCall) bool { return c.name == res.Name }) {
			res.ID = wire.MakeID("call_", "none", at, strconv.Itoa(n), res.Name)
		}
		n++
	}
}

// answer takes the first open call that is meant.
func (r *asking) answer(id *string, meant func(c *openCall) bool) bool {
	for i := range r.open {
		if c := &r.open[i]; !c.answered && meant(c) {
			*id, c.answered = c.id, true
			return true
		}
	}
	return false
}

// orphan is a result with an id of no call of this round: its call may have been told
// without one, or stand further up.
func (r *asking) orphan(res *wire.Result) {
	if r.ids[res.ID] {
		return
	}
	for i := range r.open {
		if c := &r.open[i]; !c.answered && c.name == res.Name {
			res.ID = ""
			return
		}
	}
}

// rawPart is a part as its members say it.
type rawPart struct {
	part    wire.Part
	thought bool
	sign    string
	more    bool // it says more than the neutral form has a place for
}

// appendPart reads one part.
func appendPart(parts []wire.Part, raw json.RawMessage) []wire.Part {
	p := rawPart{}
	w := wire.Walk(raw)
	w.Object(func(key []byte) { p.member(w, key) })
	if p.thought {
		p.part.Kind = wire.KindThinking
	}
	if p.more {
		p.part.Raw = raw
	}
	seal := wire.ReadSeal(wire.Gemini, p.sign)
	if seal != nil && seal.API != wire.Gemini && !p.thought {
		// Another vendor's seal of the reasoning that stood before this part.
		if n := len(parts) - 1; n >= 0 && parts[n].Kind == wire.KindThinking && parts[n].Seal == nil {
			parts[n].Seal = seal
		} else {
			parts = append(parts, wire.Part{Kind: wire.KindThinking, Seal: seal})
		}
		seal = nil
	}
	p.part.Seal = seal
	if empty := p.part.Kind == wire.KindText || p.part.Kind == wire.KindThinking; empty && p.part.Text == "" && seal == nil {
		return parts
	}
	return append(parts, p.part)
}

func (p *rawPart) member(w *wire.Walker, key []byte) {
	switch string(key) {
	case "text":
		p.part.Text = w.Text()
	case "thought":
		p.thought = w.Bool()
	case "thoughtSignature", "thought_signature":
		p.sign = w.Text()
	case "inlineData", "inline_data":
		p.part.Media = blob(w)
		p.part.Kind = mediaKind(p.part.Media.MIME)
		if p.part.Kind == wire.KindFile {
			p.part.Media.Text = plainText(p.part.Media)
		}
	case "fileData", "file_data":
		p.part.Media = file(w)
		p.part.Kind = mediaKind(p.part.Media.MIME)
	case "functionCall", "function_call":
		p.part.Kind, p.part.Call = wire.KindCall, call(w)
	case "functionResponse", "function_response":
		p.part.Kind, p.part.Reply = wire.KindResult, response(w)
	case "videoMetadata", "video_metadata", "mediaResolution", "media_resolution", "partMetadata", "part_metadata":
		w.Skip()
		p.more = true
	default: // code that Google ran, and what is not known
		p.part.Kind, p.more = wire.KindOpaque, true
		p.part.Text = codeText(string(key), wire.Value(w.Raw()))
	}
}

// codeText is code that Google ran, or what it put out, as others may read it.
func codeText(key string, v wire.Value) string {
	switch key {
	case "executableCode", "executable_code":
		return "```" + strings.ToLower(v.Get("language").Text()) + "\n" + v.Get("code").Text() + "\n```"
	case "codeExecutionResult", "code_execution_result":
		return "```\n" + v.Get("output").Text() + "\n```"
	}
	return ""
}

func blob(w *wire.Walker) *wire.Media {
	m := &wire.Media{}
	w.Object(func(key []byte) {
		switch string(key) {
		case "mimeType", "mime_type":
			m.MIME = w.Text()
		case "data":
			m.Data = w.Text()
		case "displayName", "display_name":
			m.Name = w.Text()
		}
	})
	if m.MIME == "" {
		m.MIME = wire.SniffMIME(m.Data)
	}
	return m
}

// file reads a reference: an id of Google's files, or a URL that anyone can fetch.
func file(w *wire.Walker) *wire.Media {
	m := &wire.Media{}
	w.Object(func(key []byte) {
		switch string(key) {
		case "mimeType", "mime_type":
			m.MIME = w.Text()
		case "fileUri", "file_uri":
			m.URL = w.Text()
		case "displayName", "display_name":
			m.Name = w.Text()
		}
	})
	if googleFile(m.URL) {
		m.ID, m.URL = m.URL, ""
	}
	return m
}

// googleFile says whether a URI is good at Google alone.
func googleFile(uri string) bool {
	return strings.HasPrefix(uri, "gs://") || strings.HasPrefix(uri, "https://generativelanguage.googleapis.com/") ||
		!strings.HasPrefix(uri, "https://") && !strings.HasPrefix(uri, "http://")
}

func mediaKind(mime string) wire.Kind {
	switch head, _, _ := strings.Cut(mime, "/"); head {
	case "image":
		return wire.KindImage
	case "audio":
		return wire.KindAudio
	case "video":
		return wire.KindVideo
	}
	return wire.KindFile
}

// plainText is the text of a document that is text, "" of others.
func plainText(m *wire.Media) string {
	if !strings.HasPrefix(m.MIME, "text/") && m.MIME != "application/json" {
		return ""
	}
	b, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil || !utf8.Valid(b) {
		return ""
	}
	return string(b)
}

func call(w *wire.Walker) *wire.Call {
	c := &wire.Call{}
	w.Object(func(key []byte) {
		switch string(key) {
		case "id":
			c.ID = w.Text()
		case "name":
			c.Name = w.Text()
		case "args":
			c.Args = w.Raw()
		}
	})
	if wire.Value(c.Args).Kind() != '{' {
		c.Args = json.RawMessage("{}")
	}
	return c
}

func response(w *wire.Walker) *wire.Result {
	res := &wire.Result{}
	var media []wire.Part
	w.Object(func(key []byte) {
		switch string(key) {
		case "id":
			res.ID = w.Text()
		case "name":
			res.Name = w.Text()
		case "response":
			text := responseText(res, wire.Value(w.Raw()))
			if text != "" {
				res.Parts = append(res.Parts, wire.Part{Text: text})
			}
		case "parts":
			w.Array(func() { media = appendPart(media, w.Raw()) })
		}
	})
	res.Parts = append(res.Parts, media...)
	return res
}

// responseText is what a result says: the text of its output, or of its error, or else all
// of it as JSON.
func responseText(res *wire.Result, v wire.Value) string {
	only, members := "", 0
	v.Members(func(key string, _ wire.Value) { only, members = key, members+1 })
	if members == 1 {
		switch only {
		case "output", "result":
			v = v.Get(only)
		case "error":
			v, res.Error = v.Get(only), true
		}
	}
	switch {
	case v.None():
		return ""
	case v.Kind() == '"':
		return v.Text()
	case members == 0 && v.Kind() == '{':
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return string(v)
	}
	return b.String()
}

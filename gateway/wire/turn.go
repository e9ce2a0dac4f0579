package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Turns are what a conversation's items tell of whose move it is.
type Turns struct {
	Turn   int  // user items that say something and bring no tool's result
	Within bool // the last user item brings a tool's result: the turn goes on
	Shows  bool // what the user said last shows an image
}

// entry is one message, content or input item, while it is walked.
type entry struct {
	role, kind span
	heard
}

// part is one piece of an entry's content.
type part struct {
	kind span
	heard
}

// heard is what an entry or a part brings.
type heard struct {
	says   bool // text, an image or a file
	result bool // what a tool gave back
	image  bool
}

func (h *heard) add(o heard) {
	h.says, h.result, h.image = h.says || o.says, h.result || o.result, h.image || o.image
}

// member reads one member of an entry.
func (r *reader) member(key []byte) {
	switch string(key) {
	case "role":
		if s, ok := r.c.stringValue(); ok {
			r.entry.role = s
		}
	case "type":
		if s, ok := r.c.stringValue(); ok {
			r.entry.kind = s
		}
	case "content", "parts":
		r.content(key)
	default:
		r.deep(key)
	}
}

func (r *reader) content(key []byte) {
	switch r.c.peek() {
	case '"':
		at := r.c.i
		r.deep(key)
		r.entry.says = r.entry.says || said(r.c.b[at:r.c.i])
	case '[':
		r.c.array(r.piece)
	default:
		r.deep(key)
	}
}

// piece reads one piece of an entry's content.
func (r *reader) piece(int) {
	if r.c.peek() != '{' {
		r.deep(nil)
		return
	}
	r.part = part{}
	r.c.object(r.pieceMember)
	switch kind := r.part.kind.of(r.c.b); string(kind) {
	case "", "text", "input_text": // by what it holds
	case "image", "input_image", "image_url":
		r.part.says, r.part.image, r.e.Images = true, true, true
	case "document", "file", "input_file", "input_audio", "container_upload", "search_result":
		r.part.says = true
	default:
		r.part.heard = heard{result: r.part.result || bytes.HasSuffix(kind, []byte("tool_result"))}
	}
	r.entry.add(r.part.heard)
}

// pieceMember reads one member of a piece. What stands deeper is another's: a tool's result
// may hold images that nobody showed.
func (r *reader) pieceMember(key []byte) {
	switch string(key) {
	case "type":
		if s, ok := r.c.stringValue(); ok {
			r.part.kind = s
		}
		return
	case "text":
		r.c.space()
		at := r.c.i
		r.deep(key)
		r.part.says = r.part.says || said(r.c.b[at:r.c.i])
		return
	case "inlineData", "inline_data", "fileData", "file_data":
		r.part.says = true
		if r.c.peek() == '{' {
			r.e.Images = r.e.Images || image(key)
			r.c.object(r.mediaMember)
			return
		}
	case "functionResponse", "function_response":
		r.part.result = true
	}
	r.deep(key)
}

// mediaMember reads one member of Gemini's bytes or file: its type tells an image from a document,
// a sound and a film.
func (r *reader) mediaMember(key []byte) {
	switch string(key) {
	case "mimeType", "mime_type":
		if s, ok := r.c.stringValue(); ok && isImage(s.of(r.c.b)) {
			r.part.image, r.e.Images = true, true // a file's too
		}
	default:
		r.deep(key)
	}
}

func isImage(kind []byte) bool {
	const of = "image/"
	return len(kind) >= len(of) && bytes.EqualFold(kind[:len(of)], []byte(of))
}

// said says whether a raw string holds more than a reminder, which is the program's note and no turn.
func said(raw []byte) bool {
	return len(raw) > 2 && raw[0] == '"' && !noted(raw[1:len(raw)-1])
}

// noted says whether a string's text is a reminder from its beginning to its end.
func noted(text []byte) bool {
	if !bytes.HasPrefix(text, []byte(reminderOpen)) {
		return false
	}
	for text = bytes.TrimRight(text, " \n"); bytes.HasSuffix(text, []byte(`\n`)); { // as written, or as meant
		text = text[:len(text)-2]
	}
	return bytes.HasSuffix(text, []byte(reminderClose))
}

// heed counts an entry that was walked.
func (r *reader) heed(at span) {
	role, t := r.entry.role.of(r.c.b), &r.e.Turns
	user := string(role) == "user" || r.p == Gemini && r.entry.role == span{}
	if user && r.e.first == (span{}) {
		r.e.first = at
	}
	switch {
	case r.gave(role) || user && r.entry.result:
		t.Within, r.saying = true, false
	case user && r.entry.says:
		if !r.saying {
			t.Shows = false
		}
		t.Turn++
		t.Within, t.Shows, r.saying = false, t.Shows || r.entry.image, true
	case user, string(role) == "system", string(role) == "developer": // says nothing, or is a note
	default:
		r.saying = false
	}
}

// gave says whether an entry is itself a tool's result.
func (r *reader) gave(role []byte) bool {
	switch r.p {
	case Chat, Gemini:
		return string(role) == "tool" || string(role) == "function"
	case Responses:
		return bytes.HasSuffix(r.entry.kind.of(r.c.b), []byte("_output"))
	case Messages:
	}
	return false
}

// hashBytes is how much of a SHA-256 names a conversation.
const hashBytes = 12

// ConversationHash names the conversation by the raw bytes of its first user item,
// for agents that send no session id: the first 12 bytes of SHA-256, in hex.
func (e *Envelope) ConversationHash(body []byte) string {
	part := body
	switch {
	case e.first != span{}:
		part = e.first.of(body)
	case e.input != span{}:
		part = e.input.of(body)
	}
	sum := sha256.Sum256(part)
	return "magpie-" + hex.EncodeToString(sum[:hashBytes])
}

// FirstWords names the conversation by the text alone of its first user item: what programs put
// beside it, such as cache marks, moves from one request to the next.
func (e *Envelope) FirstWords(body []byte) string {
	h := sha256.New()
	text := func(w *Walker) {
		if s := w.Text(); !noted([]byte(s)) {
			_, _ = h.Write(append([]byte(s), 0))
		}
	}
	switch {
	case e.first != span{}:
		w := Walk(e.first.of(body))
		w.Object(func(key []byte) {
			if string(key) != "content" && string(key) != "parts" {
				return
			}
			if w.Kind() == '"' {
				text(w)
				return
			}
			w.Array(func() {
				w.Object(func(key []byte) {
					if string(key) == "text" {
						text(w)
					}
				})
			})
		})
	case e.input != span{}:
		text(Walk(e.input.of(body)))
	}
	return hex.EncodeToString(h.Sum(nil)[:hashBytes])
}

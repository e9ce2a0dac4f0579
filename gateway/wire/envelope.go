package wire

import (
	"bytes"
	"errors"
	"strings"
)

// Envelope is what one walk over a request's body tells. The body itself stays as it came.
type Envelope struct {
	Model      string // trimmed; "" when the body has none
	Stream     bool
	Previous   string // Responses: previous_response_id
	Thread     string // Messages: "create", "continue" or ""
	ThreadPrev string // Messages: thread.previous_message_id
	CacheKey   string // prompt_cache_key
	UserID     string // Messages: metadata.user_id
	Items      int    // messages, contents or input items
	Text       int    // bytes of text, sealed and binary parts apart
	Images     bool
	Tools      bool
	Turns

	think thinking // where it says how hard to think

	model   span // the model's value with its quotes
	first   span // the first user item, raw
	input   span // Responses: input as a string, raw
	billing span // Messages: the block of the system prompt that says whom to bill
	talk    span // the list of messages, contents or input items
}

// Talk is where the conversation stands in the body that was read; 0, 0 where there is none.
func (e *Envelope) Talk() (from, to int) { return e.talk.start, e.talk.end }

// Errors of a body that no API takes; a *SyntaxError stands for one that is no JSON.
var (
	ErrEmpty      = errors.New("the request body is empty")
	ErrNotObject  = errors.New("the request body must be one JSON object")
	ErrTwice      = errors.New("stands twice at the top of the request body")
	ErrModelType  = errors.New("model must be a string")
	ErrStreamType = errors.New("stream must be true or false")
)

// FieldError is an error about one field of the body.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string {
	if errors.Is(e.Err, ErrTwice) {
		return e.Field + " " + e.Err.Error()
	}
	return e.Err.Error()
}

func (e *FieldError) Unwrap() error { return e.Err }

// Read walks body once and checks that it is one JSON object that p's requests can be.
func Read(body []byte, p Protocol) (Envelope, error) {
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		return Envelope{}, ErrEmpty
	}
	r := reader{c: cursor{b: body}, p: p}
	if r.c.peek() != '{' {
		if err := skipWhole(body); err != nil {
			return Envelope{}, err
		}
		return Envelope{}, ErrNotObject
	}
	r.c.object(r.top)
	if err := r.c.finish(); err != nil {
		return Envelope{}, err
	}
	r.e.Text = r.c.text - r.dead
	return r.e, r.err
}

func skipWhole(body []byte) error {
	c := cursor{b: body}
	c.skip()
	return c.finish()
}

// reader collects an Envelope.
type reader struct {
	c    cursor
	p    Protocol
	e    Envelope
	err  error // the first wrong field; the walk goes on, for a syntax error weighs more
	dead int   // bytes of strings that are no text: images, seals
	seen struct{ model, stream bool }

	entry  entry // that is walked
	part   part  // of it
	saying bool  // since it began to speak, nobody but the user did
}

func (r *reader) wrong(field string, err error) {
	if r.err == nil {
		r.err = &FieldError{Field: field, Err: err}
	}
}

func (r *reader) top(key []byte) {
	if bytes.IndexByte(key, '\\') >= 0 { // "mod\u0065l" is model to every vendor
		key = []byte(unquote(key))
	}
	switch string(key) {
	case "model":
		r.model()
	case "stream":
		r.stream()
	case "messages", "contents":
		r.items()
	case "input":
		if r.c.peek() == '"' {
			r.e.input, _ = r.c.stringValue()
			r.e.Turn++
			return
		}
		r.items()
	case "system":
		r.system()
	case "tools":
		r.tools()
	case "previous_response_id":
		r.take(&r.e.Previous)
	case "prompt_cache_key":
		r.take(&r.e.CacheKey)
	case "metadata":
		r.inside("user_id", &r.e.UserID)
	case "thread":
		r.thread()
	default:
		r.thinking(key)
	}
}

func (r *reader) take(to *string) {
	if s, ok := r.c.stringValue(); ok {
		*to = unquote(s.of(r.c.b))
	}
}

func (r *reader) inside(name string, to *string) {
	if r.c.peek() != '{' {
		return
	}
	r.c.object(func(key []byte) {
		if string(key) == name {
			r.take(to)
		}
	})
}

func (r *reader) thread() {
	if r.c.peek() != '{' {
		return
	}
	r.c.object(func(key []byte) {
		switch string(key) {
		case "type":
			r.take(&r.e.Thread)
		case "previous_message_id":
			r.take(&r.e.ThreadPrev)
		}
	})
}

func (r *reader) model() {
	if r.seen.model {
		r.wrong("model", ErrTwice)
	}
	r.seen.model = true
	r.c.space()
	at := r.c.i
	s, ok := r.c.stringValue()
	if !ok {
		r.wrong("model", ErrModelType)
		return
	}
	r.e.model = span{at, r.c.i}
	r.e.Model = strings.TrimSpace(unquote(s.of(r.c.b)))
}

func (r *reader) stream() {
	if r.seen.stream {
		r.wrong("stream", ErrTwice)
	}
	r.seen.stream = true
	switch r.c.peek() {
	case 't':
		r.e.Stream = true
	case 'f', 'n':
	default:
		r.wrong("stream", ErrStreamType)
	}
}

// system looks for the block that says whom to bill.
func (r *reader) system() {
	if r.c.peek() != '[' {
		return
	}
	r.c.array(func(int) {
		if r.c.peek() != '{' {
			return
		}
		at, bills := r.c.i, false
		r.c.object(func(key []byte) {
			if string(key) != "text" {
				return
			}
			if s, ok := r.c.stringValue(); ok {
				bills = bytes.HasPrefix(s.of(r.c.b), []byte(billingLine))
			}
		})
		if bills && r.e.billing == (span{}) {
			r.e.billing = span{at, r.c.i}
		}
	})
}

func (r *reader) tools() {
	if r.c.peek() != '[' {
		return
	}
	at := r.c.i
	r.c.array(func(int) { r.e.Tools = true })
	// Schemas are mostly keys: a definition counts whole.
	r.dead -= max(0, r.c.i-at-2)
}

func (r *reader) items() {
	if r.c.peek() != '[' {
		return
	}
	from := r.c.i
	defer func() { r.e.talk = span{from, r.c.i} }()
	r.c.array(func(int) {
		r.e.Items++
		if r.c.peek() != '{' {
			return
		}
		at := r.c.i
		r.entry = entry{}
		r.c.object(r.member)
		if r.c.err == nil {
			r.heed(span{at, r.c.i})
		}
	})
}

// deep walks a value of an item, minding images and what is no text.
func (r *reader) deep(key []byte) {
	switch r.c.peek() {
	case '{':
		if image(key) {
			r.e.Images = true
		}
		r.c.object(r.deep)
	case '[':
		r.c.array(func(int) { r.deep(nil) })
	case '"':
		s, _ := r.c.stringValue()
		raw := s.of(r.c.b)
		switch {
		case string(key) == "type" && (string(raw) == "image" || string(raw) == "input_image" || string(raw) == "image_url"):
			r.e.Images = true
		case sealed(key) || bytes.HasPrefix(raw, []byte("data:")):
			r.dead += len(raw)
		}
	default:
		r.c.skip()
	}
}

func image(key []byte) bool {
	switch string(key) {
	case "image_url", "inlineData", "inline_data":
		return true
	}
	return false
}

// sealed names the keys whose strings are bytes in disguise.
func sealed(key []byte) bool {
	switch string(key) {
	case "data", "encrypted_content", "signature", "thoughtSignature", "thought_signature", "file_data":
		return true
	}
	return false
}

// Estimate is the request's size in tokens, by bytes: good to a fifth.
func (e *Envelope) Estimate() int { return e.Text / 4 }

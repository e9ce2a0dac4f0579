package gateway

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// restorer is the agent's side of a reply to a masked request: what stands in it for something goes out
// as that. Events go on as they come, but for an end that may begin a placeholder; a reply in one piece
// is kept until it is over.
type restorer struct {
	w     http.ResponseWriter
	vault *redact.Vault
	api   wire.Protocol
	array bool // the agent reads an array that grows

	mode   restoring
	status int
	split  sse.Splitter
	stream *redact.Stream
	buf    bytes.Buffer // what goes out, of events; what came, of a whole reply
	held   []byte       // of one that is too large to be kept
	isJSON bool
	pieces arrayPieces
}

// restoring is how a reply is turned back.
type restoring uint8

const (
	asWhole restoring = iota
	asEvents
	asArray
	asParts // a reply that is too large to be kept
	asIs    // one that can't be read
)

// restore has what is sent from now on turned back.
func (r *reply) restore(v *redact.Vault, a *ask) {
	rw := &restorer{w: r.w, vault: v, api: a.api, array: a.stream && a.api == wire.Gemini && a.query != "alt=sse", stream: v.Stream(string(a.api))}
	r.w, r.back = rw, rw
	if r.begun {
		rw.begin(r.status)
	}
}

// endRestore sends what is still held back of a reply that is over.
func (r *reply) endRestore() {
	if r.back == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.back.end(r.short); err != nil && r.err == nil {
		r.err = err
	}
}

func (r *restorer) Header() http.Header { return r.w.Header() }

// WriteHeader settles how the reply is turned back. The head of a whole one waits for its length.
func (r *restorer) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	r.begin(status)
	if r.mode != asWhole {
		r.w.WriteHeader(status)
	}
}

func (r *restorer) begin(status int) {
	r.status = status
	h := r.Header()
	kind := h.Get("Content-Type")
	switch {
	case packed(h):
		r.mode = asIs
	case strings.HasPrefix(kind, eventType[0]):
		r.mode = asEvents
	case r.array && status == http.StatusOK:
		r.mode = asArray
	}
	if r.mode == asEvents || r.mode == asArray {
		h.Del("Content-Length")
	}
}

func (r *restorer) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if len(b) == 0 {
		return 0, nil
	}
	var err error
	switch r.mode {
	case asIs:
		return r.w.Write(b)
	case asEvents:
		err = r.events(b)
	case asArray:
		err = r.elements(b)
	case asWhole:
		r.buf.Write(b)
		if r.buf.Len() > wholeBytes {
			err = r.part()
		}
	case asParts:
		err = r.more(b)
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError sends what net/http holds. Of a whole reply nothing is there yet.
func (r *restorer) FlushError() error {
	if r.mode == asWhole {
		return nil
	}
	return http.NewResponseController(r.w).Flush()
}

// events takes whole events and comments, each in one write or in several.
func (r *restorer) events(b []byte) error {
	if r.split.Pending() == 0 && b[0] == ':' && bytes.IndexByte(b, '\n') == len(b)-1 { // it keeps the agent waiting, so it doesn't wait
		_, err := r.w.Write(b)
		return err
	}
	if err := r.split.Feed(b); err != nil {
		return err
	}
	r.buf.Reset()
	for ev := r.split.Next(); ev != nil; ev = r.split.Next() {
		r.event(ev)
	}
	return r.out()
}

// event writes one event as it goes out.
func (r *restorer) event(ev []byte) {
	name, data := sse.Parse(ev)
	if data == nil {
		r.buf.Write(ev)
		return
	}
	before, with := r.stream.Event(string(name), data)
	r.add(before)
	switch at := bytes.Index(ev, data); {
	case len(with) == len(data) && bytes.Equal(with, data):
		r.buf.Write(ev)
	case at >= 0:
		r.buf.Write(ev[:at])
		r.buf.Write(with)
		r.buf.Write(ev[at+len(data):])
	default: // its data stood in several lines
		r.add([]redact.Event{{Name: string(name), Data: bytes.ReplaceAll(with, []byte("\n"), nil)}})
	}
}

// add writes events of our own.
func (r *restorer) add(events []redact.Event) {
	for _, e := range events {
		if e.Name != "" {
			r.buf.WriteString("event: " + e.Name + "\n")
		}
		r.buf.WriteString("data: ")
		r.buf.Write(e.Data)
		r.buf.WriteString("\n\n")
	}
}

func (r *restorer) out() error {
	if r.buf.Len() == 0 {
		return nil
	}
	_, err := r.w.Write(r.buf.Bytes())
	r.buf.Reset()
	return err
}

// elements takes pieces of an array that grows.
func (r *restorer) elements(b []byte) error {
	r.buf.Reset()
	r.pieces.feed(b, r.between, r.element)
	return r.out()
}

// between writes what stands between elements. What is still held goes out before the array ends.
func (r *restorer) between(b []byte) {
	if i := bytes.IndexByte(b, ']'); i >= 0 {
		r.buf.Write(b[:i])
		b = b[i:]
		for _, e := range r.stream.End() {
			r.buf.WriteString(",\r\n")
			r.buf.Write(e.Data)
		}
	}
	r.buf.Write(b)
}

// element writes one element as it goes out, behind those that have to come before it.
func (r *restorer) element(data []byte) {
	before, with := r.stream.Event("", data)
	for _, e := range before {
		r.buf.Write(e.Data)
		r.buf.WriteString(",\r\n")
	}
	r.buf.Write(with)
}

// part begins to send a reply that is too large to be kept.
func (r *restorer) part() error {
	first := bytes.TrimLeft(r.buf.Bytes(), " \t\r\n")
	r.mode, r.isJSON = asParts, len(first) > 0 && (first[0] == '{' || first[0] == '[')
	r.Header().Del("Content-Length")
	r.w.WriteHeader(r.status)
	b := r.buf.Bytes()
	r.buf = bytes.Buffer{}
	return r.more(b)
}

func (r *restorer) more(b []byte) error {
	out, held := r.vault.RestorePart(r.held, b, r.isJSON)
	r.held = held
	_, err := r.w.Write(out)
	return err
}

// end sends what is held; short says that the reply is no whole one.
func (r *restorer) end(short bool) error {
	switch r.mode {
	case asEvents:
		r.buf.Reset()
		if rest := r.split.Rest(); len(rest) > 0 {
			r.event(rest)
		}
		r.add(r.stream.End())
		if r.buf.Len() == 0 {
			return nil
		}
		if err := r.out(); err != nil {
			return err
		}
		return r.FlushError()
	case asArray:
		r.buf.Reset()
		r.buf.Write(r.pieces.rest())
		return r.out()
	case asParts:
		_, err := r.w.Write(r.held)
		return err
	case asIs:
	case asWhole:
		if r.status == 0 {
			return nil
		}
		body := r.vault.Restore(r.buf.Bytes())
		r.Header().Del("Content-Length")
		if !short && r.status != http.StatusNoContent {
			r.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		r.w.WriteHeader(r.status)
		if len(body) == 0 {
			return nil
		}
		_, err := r.w.Write(body)
		return err
	}
	return nil
}

// arrayPieces cuts an array that grows into its elements and what stands between.
type arrayPieces struct {
	element []byte
	depth   int
	text    bool
	escaped bool
}

// feed takes a piece of the array.
func (a *arrayPieces) feed(b []byte, between, element func([]byte)) {
	from := 0
	for i, c := range b {
		if a.text {
			switch {
			case a.escaped:
				a.escaped = false
			case c == '\\':
				a.escaped = true
			case c == '"':
				a.text = false
			}
			continue
		}
		switch c {
		case '"':
			a.text = true
		case '{', '[':
			if a.depth++; a.depth == 2 {
				between(b[from:i])
				from = i
			}
		case '}', ']':
			if a.depth--; a.depth == 1 {
				a.element = append(a.element, b[from:i+1]...)
				element(a.element)
				a.element, from = a.element[:0], i+1
			}
		}
	}
	if a.depth > 1 {
		a.element = append(a.element, b[from:]...)
		return
	}
	between(b[from:])
}

// rest is half an element.
func (a *arrayPieces) rest() []byte { return a.element }

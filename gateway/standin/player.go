package standin

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"
)

// beat says what an event of a stream is to the reader.
type beat int

const (
	lead    beat = iota // says nothing yet
	thought             // a piece of thinking
	piece               // a piece of text or of a call's arguments
	link                // between pieces
	tail                // ends the reply
)

// frame is one event of a stream.
type frame struct {
	beat  beat
	event string // the event's name, "" for none
	data  []byte
}

// sleep waits, unless the client leaves.
func (x *exchange) sleep(d time.Duration) {
	if x.left || d <= 0 {
		return
	}
	var due <-chan time.Time
	if d != UntilLeft {
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-due:
	case <-x.r.Context().Done():
		x.left = true
	}
}

// pace is how fast a step goes.
func (x *exchange) pace(f Fault) Pace {
	p := x.v.opts.Pace
	if f.Pace == nil {
		return p
	}
	if f.Pace.First.Max > 0 {
		p.First = f.Pace.First
	}
	if f.Pace.Gap.Max > 0 {
		p.Gap = f.Pace.Gap
	}
	return p
}

// first waits as long as the vendor takes to its first byte.
func (x *exchange) first(f Fault) {
	x.sleep(x.pace(f).First.draw(x.v.chance(x.n)))
	if f.Do == Silence && f.At == AtHeaders {
		x.sleep(f.Pause)
	}
}

// begin sends the status and the headers.
func (x *exchange) begin(f Fault, kind string) {
	h := x.w.Header()
	for name, values := range f.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	h.Set("Content-Type", kind)
	status := f.Status
	if status == 0 {
		status = http.StatusOK
	}
	x.call.note(func(c *Call) { c.Status = status })
	x.w.WriteHeader(status)
}

// send sends a body whole.
func (x *exchange) send(f Fault, kind string, body []byte) {
	if x.left {
		return
	}
	if f.Line.Gzip {
		x.w.Header().Set("Content-Encoding", "gzip")
		body = zipped(body)
	}
	x.w.Header().Set("Content-Length", itoa(len(body)))
	x.begin(f, kind)
	x.put(body)
	x.over = !x.left
}

// put writes bytes and flushes them.
func (x *exchange) put(b []byte) {
	if x.left {
		return
	}
	_, err := x.w.Write(b)
	if err == nil {
		err = http.NewResponseController(x.w).Flush()
	}
	if err != nil {
		x.left = true
	}
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b) // a bytes.Buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// hangUp closes the connection as it stands, or resets it.
func (x *exchange) hangUp(reset bool) {
	x.over = true
	c, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if reset {
		_ = abort(c) // nobody is left to tell
		return
	}
	_ = c.Close() // nobody is left to tell
}

// sendWhole sends a JSON value, broken where the step breaks it.
func (x *exchange) sendWhole(f Fault, body []byte) {
	kind := pick(f.Type, "application/json")
	half := body[:len(body)/2]
	switch f.Do {
	case Cut:
		x.begin(f, kind)
		x.put(half)
		x.over = !x.left
	case Fin, Reset:
		x.w.Header().Set("Content-Length", itoa(len(body)))
		x.begin(f, kind)
		x.put(half)
		x.hangUp(f.Do == Reset)
	case Silence:
		if f.At == AtHeaders {
			x.send(f, kind, body)
			return
		}
		x.begin(f, kind)
		x.put(half)
		x.sleep(f.Pause)
		x.put(body[len(half):])
		x.over = !x.left
	case Answer, Refuse, Page, Empty, Raw, Error, Drop, Withhold:
		x.send(f, kind, body)
	}
}

// place finds the frame before which the step's fault happens.
func place(f Fault, frames []frame) int {
	first := func(want func(beat) bool) int {
		for i, fr := range frames {
			if want(fr.beat) {
				return i
			}
		}
		return len(frames)
	}
	end := first(func(b beat) bool { return b == tail })
	switch f.At {
	case AtHeaders:
		return 0
	case AtContent:
		return min(end, first(func(b beat) bool { return b == thought || b == piece }))
	case AfterThink:
		return min(end, first(func(b beat) bool { return b == piece }))
	case AfterPieces:
		n := 0
		for i, fr := range frames {
			if n == f.After && n > 0 {
				return i
			}
			if fr.beat == piece || fr.beat == thought {
				if f.After == 0 {
					return i
				}
				n++
			}
		}
	case AtEnd:
	}
	return end
}

// stream plays the frames of a reply at the step's pace, with its fault in the place where it belongs.
func (x *exchange) stream(f Fault, a *ask, frames []frame) {
	s := &score{x: x, line: f.Line, array: a.array}
	if s.line.Comment == "" {
		s.line.Comment = x.v.house.comment
		s.once = true
	}
	if f.Line.Gzip {
		x.w.Header().Set("Content-Encoding", "gzip")
		s.zip = gzip.NewWriter(&s.zipped)
	}
	x.w.Header().Set("Cache-Control", "no-cache")
	kind := "text/event-stream"
	if a.array {
		kind = "application/json"
	}
	if x.left {
		return
	}
	x.begin(f, pick(f.Type, kind))
	x.put(nil)
	s.gap = x.pace(f).Gap
	stop := len(frames)
	if f.Do != Answer && f.Do != Withhold {
		stop = place(f, frames)
	}
	s.play(frames[:stop])
	x.act(f, a, s, frames[stop:])
}

// act does what the step is about, after the frames before it.
func (x *exchange) act(f Fault, a *ask, s *score, rest []frame) {
	switch f.Do {
	case Error:
		s.play(x.errorFrames(a, f, s.n))
		s.end(true)
	case Cut:
		s.end(false)
	case Fin, Reset:
		if !x.left {
			x.hangUp(f.Do == Reset)
		}
		return
	case Silence:
		if f.At != AtHeaders {
			x.sleep(f.Pause)
		}
		s.play(rest)
		s.end(true)
	case Answer, Refuse, Page, Empty, Raw, Drop, Withhold:
		s.play(rest)
		s.end(true)
	}
	x.over = !x.left
}

// score lays the frames of one stream out as bytes.
type score struct {
	x      *exchange
	line   Line
	once   bool // the comment comes once, at the start
	array  bool
	gap    Span
	n      int // frames that went out
	pieces int
	zip    *gzip.Writer
	zipped bytes.Buffer
}

// play sends frames one after another.
func (s *score) play(frames []frame) {
	chance := s.x.v.chance(s.x.n)
	for _, fr := range frames {
		if fr.beat == piece || fr.beat == thought {
			if s.pieces > 0 {
				s.x.sleep(s.gap.draw(chance))
			}
			s.pieces++
		}
		if s.x.left {
			return
		}
		s.write(s.text(fr))
		s.n++
	}
}

// text is a frame's bytes.
func (s *score) text(fr frame) []byte {
	if s.array {
		head := ",\r\n"
		if s.n == 0 {
			head = "["
		}
		return append([]byte(head), fr.data...)
	}
	var b strings.Builder
	if s.line.Comment != "" && (!s.once || s.n == 0) && fr.data != nil {
		b.WriteString(":" + s.line.Comment + "\n\n")
	}
	if fr.event != "" {
		b.WriteString("event: " + fr.event + "\n")
	}
	b.WriteString("data:")
	if !s.line.Tight {
		b.WriteByte(' ')
	}
	b.Write(fr.data)
	b.WriteString("\n\n")
	if s.line.CRLF {
		return []byte(strings.ReplaceAll(b.String(), "\n", "\r\n"))
	}
	return []byte(b.String())
}

// write sends bytes, compressed and in pieces where the step says so.
func (s *score) write(b []byte) {
	if s.zip != nil {
		_, _ = s.zip.Write(b) // into a bytes.Buffer
		_ = s.zip.Flush()
		b, _ = io.ReadAll(&s.zipped) // a bytes.Buffer has no error to give
	}
	if s.line.Split <= 0 {
		s.x.put(b)
		return
	}
	for len(b) > 0 && !s.x.left {
		n := min(s.line.Split, len(b))
		s.x.put(b[:n])
		b = b[n:]
		s.x.sleep(s.line.Pause)
	}
}

// end closes what is open around the frames.
func (s *score) end(whole bool) {
	if s.array && whole {
		s.x.put([]byte("]"))
	}
	if s.zip != nil {
		_ = s.zip.Close() // into a bytes.Buffer
		s.x.put(s.zipped.Bytes())
	}
}

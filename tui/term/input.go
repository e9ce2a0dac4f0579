package term

import (
	"os"
	"time"
)

// lateFor is how long after the start an answer may still come.
const lateFor = 10 * time.Second

// Input reads the keys. An answer of the terminal that came too late for the question is taken out, so that it is
// never shown as typed text. It is a file as the terminal library wants one.
type Input struct {
	f     *os.File
	late  func(dark bool)
	until time.Time

	replies replies
	done    bool
	spare   []byte // read, and not given out for want of room
}

// NewInput makes the way from a terminal. asked is what came of the question; late, which may be nil, is told the
// background when its answer comes after all.
func NewInput(f *os.File, asked Answer, late func(dark bool)) *Input {
	return &Input{f: f, late: late, replies: asked.rest, done: !asked.Open, until: time.Now().Add(lateFor)}
}

// Read reads what was typed. It may give nothing, when all that came was an answer.
func (in *Input) Read(p []byte) (int, error) {
	if len(in.spare) > 0 {
		n := copy(p, in.spare)
		in.spare = in.spare[n:]
		return n, nil
	}
	if in.done {
		return in.f.Read(p)
	}
	n, err := in.f.Read(p)
	out := in.filter(p[:n], time.Now())
	n = copy(p, out)
	in.spare = append(in.spare, out[n:]...)
	return n, err
}

// filter takes answers out, for as long as one may come.
func (in *Input) filter(b []byte, now time.Time) []byte {
	if now.After(in.until) {
		in.done = true
		return append(in.replies.rest(), b...)
	}
	before := in.replies.colour
	out := in.replies.feed(b)
	if in.replies.colour != before && in.late != nil {
		if isDark, ok := dark(in.replies.colour); ok {
			in.late(isDark)
		}
	}
	if in.replies.complete() {
		in.done = true
		out = append(out, in.replies.rest()...)
	}
	return out
}

// Write is there for the terminal library, which never uses it.
func (in *Input) Write(p []byte) (int, error) { return in.f.Write(p) }

// Close does nothing: whoever opened the file closes it.
func (*Input) Close() error { return nil }

// Fd is the terminal's descriptor.
func (in *Input) Fd() uintptr { return in.f.Fd() }

// Name is the file's name.
func (in *Input) Name() string { return in.f.Name() }

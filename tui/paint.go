package tui

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"dev.magpie/tui/term"
)

// painter brings frames to the terminal: the newest as soon as the one before was long enough ago,
// and of it only the lines that differ. It is in a goroutine of its own, so that a terminal that takes its
// time holds up nothing but itself; and where nothing changes it does nothing at all.
type painter struct {
	out    io.Writer
	titled func(string) error // gives the terminal its title; may be nil
	gap    time.Duration      // the least time between two frames
	bad    func()             // called once when the terminal takes no more

	mu      sync.Mutex
	frame   string
	title   string
	waiting bool // frame has not been drawn
	whole   bool // nothing is on the terminal that could stay
	stopped bool
	bell    chan struct{}

	turn  sync.Mutex // held while the terminal is written to
	lines []string   // what is on the terminal; whoever holds turn has it
	buf   []byte
}

// The least time between two frames: an eye takes in no more, and over a network each costs traffic.
const (
	nearGap = 50 * time.Millisecond
	farGap  = 100 * time.Millisecond
)

func newPainter(out io.Writer, ssh bool, bad func()) *painter {
	p := &painter{out: out, gap: nearGap, bad: bad, bell: make(chan struct{}, 1), whole: true}
	if ssh {
		p.gap = farGap
	}
	return p
}

// show has a frame drawn, and a title set. It never waits.
func (p *painter) show(frame, title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if frame == p.frame && title == p.title && !p.whole {
		return
	}
	p.frame, p.title, p.waiting = frame, title, true
	p.ring()
}

// anew has everything drawn again, whatever the terminal shows.
func (p *painter) anew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole, p.waiting = true, p.frame != ""
	p.ring()
}

func (p *painter) ring() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

// stop ends the drawing: once it returns, nothing more reaches the terminal.
func (p *painter) stop() {
	p.mu.Lock()
	p.stopped = true
	p.ring()
	p.mu.Unlock()
	p.turn.Lock() // a frame on its way out gets there first
	defer p.turn.Unlock()
}

// run draws until stop or the context's end.
func (p *painter) run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.bell:
		}
		drew, on := p.draw()
		if !on {
			return
		}
		if !drew {
			continue
		}
		pause.Reset(p.gap)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// job is what there is to draw.
type job struct {
	frame, title string
	whole        bool // all of it, whatever the terminal shows
}

// take is the newest frame, false when it has been drawn; on is false when there is nothing more to
// draw, ever.
func (p *painter) take() (j job, fresh, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return job{}, false, false
	}
	if !p.waiting {
		return job{}, false, true
	}
	j = job{frame: p.frame, title: p.title, whole: p.whole}
	p.waiting, p.whole = false, false
	return j, true, true
}

// draw writes what differs. On is false when nothing more will be drawn.
func (p *painter) draw() (drew, on bool) {
	p.turn.Lock()
	defer p.turn.Unlock()
	j, fresh, on := p.take()
	if !fresh {
		return false, on
	}
	if out := p.changes(j); len(out) > 0 {
		if _, err := p.out.Write(out); err != nil {
			p.mu.Lock()
			p.stopped = true
			p.mu.Unlock()
			p.bad()
			return false, false
		}
		drew = true
	}
	if p.titled != nil {
		_ = p.titled(j.title) // nothing depends on a title, and a terminal that is gone says so with the next frame
	}
	return drew, true
}

// changes is what turns what the terminal shows into the frame.
func (p *painter) changes(j job) []byte {
	next := strings.Split(j.frame, "\n")
	out := p.buf[:0]
	whole := j.whole || len(next) != len(p.lines)
	if whole {
		out = append(out, "\x1b[H\x1b[2J"...)
	}
	for y, line := range next {
		if !whole && p.lines[y] == line {
			continue
		}
		out = append(out, "\x1b["...)
		out = strconv.AppendInt(out, int64(y+1), 10)
		out = append(out, ";1H"...)
		out = append(out, line...)
	}
	p.lines, p.buf = next, out
	return out
}

// screen is the terminal as the terminal library sees it. It may set modes through it, but draws nothing: the
// painter does, and stops before the library gives the screen back.
type screen struct {
	*term.Output
	painter *painter
}

// leaveAlt is how the library gives the screen back.
const leaveAlt = "\x1b[?1049l"

// Write drops the library's own frames.
func (s screen) Write(p []byte) (int, error) { return len(p), nil }

// WriteString sets modes.
func (s screen) WriteString(str string) (int, error) {
	if strings.Contains(str, leaveAlt) {
		s.painter.stop()
	}
	return s.Output.WriteString(str)
}

// keyboard is the terminal's keys. When it ends, the terminal is gone.
type keyboard struct {
	*term.Input
	gone func()
}

// Read reads what was typed.
func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.Input.Read(p)
	if err != nil {
		k.gone()
	}
	return n, err
}

package tui

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sheet writes down what a painter sends, and when.
type sheet struct {
	mu    sync.Mutex
	sent  []string
	at    []time.Time
	fail  error
	block chan struct{}
}

func (s *sheet) Write(p []byte) (int, error) {
	if s.block != nil {
		<-s.block
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	s.sent, s.at = append(s.sent, string(p)), append(s.at, time.Now())
	return len(p), nil
}

func (s *sheet) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sent...)
}

// painting runs a painter in a bubble.
func painting(t *testing.T, out *sheet, do func(*painter)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := newPainter(out, false, func() {})
		ended := make(chan struct{})
		go func() {
			p.run(ctx)
			close(ended)
		}()
		do(p)
		cancel()
		<-ended
	})
}

func TestThePainterSendsTheFirstFrameAtOnceAndThenWhatDiffers(t *testing.T) {
	out := &sheet{}
	painting(t, out, func(p *painter) {
		begun := time.Now()
		p.show("one\ntwo\nthree", "")
		synctest.Wait()
		if len(out.all()) != 1 || !out.at[0].Equal(begun) {
			t.Fatalf("the first frame did not come at once: %q", out.all())
		}
		p.show("one\nTWO\nthree", "")
		<-time.After(nearGap)
		synctest.Wait()
		if got := out.all(); len(got) != 2 || got[1] != "\x1b[2;1HTWO" {
			t.Errorf("a changed line sends %q", got[1:])
		}
		p.show("one\nTWO\nthree", "")
		<-time.After(time.Second)
		synctest.Wait()
		if got := out.all(); len(got) != 2 {
			t.Errorf("an equal frame sends %q", got[2:])
		}
	})
}

func TestThePainterSkipsFramesThatCameTooSoon(t *testing.T) {
	out := &sheet{}
	painting(t, out, func(p *painter) {
		for i := range 1000 {
			p.show(strings.Repeat("x", i+1), "")
			<-time.After(time.Millisecond)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if n := len(out.all()); n < 19 || n > 22 {
			t.Errorf("a thousand frames in a second were drawn %d times, want about twenty", n)
		}
		if last := out.all()[len(out.all())-1]; !strings.HasSuffix(last, strings.Repeat("x", 1000)) {
			t.Error("the last frame was not drawn")
		}
	})
}

func TestThePainterDrawsAnewWhenAskedOrResized(t *testing.T) {
	out := &sheet{}
	painting(t, out, func(p *painter) {
		p.show("a\nb", "")
		<-time.After(nearGap)
		p.anew()
		<-time.After(nearGap)
		p.show("a\nb\nc", "")
		<-time.After(nearGap)
		synctest.Wait()
		want := []string{"\x1b[H\x1b[2J\x1b[1;1Ha\x1b[2;1Hb", "\x1b[H\x1b[2J\x1b[1;1Ha\x1b[2;1Hb", "\x1b[H\x1b[2J\x1b[1;1Ha\x1b[2;1Hb\x1b[3;1Hc"}
		if got := out.all(); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("it sent %q", got)
		}
	})
}

func TestNothingIsDrawnAfterStop(t *testing.T) {
	out := &sheet{}
	painting(t, out, func(p *painter) {
		p.show("a", "")
		synctest.Wait()
		p.stop()
		p.show("b", "")
		p.anew()
		<-time.After(time.Second)
		synctest.Wait()
		if got := out.all(); len(got) != 1 {
			t.Errorf("after stop it sent %q", got[1:])
		}
	})
}

func TestATerminalThatTakesItsTimeHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &sheet{block: make(chan struct{})}
		p := newPainter(out, true, func() {})
		ended := make(chan struct{})
		go func() {
			p.run(t.Context())
			close(ended)
		}()
		p.show("a", "")
		synctest.Wait() // the painter hangs in the terminal
		shown := make(chan struct{})
		go func() {
			for range 100 {
				p.show("b", "")
			}
			close(shown)
		}()
		synctest.Wait()
		select {
		case <-shown:
		default:
			t.Error("showing a frame waits for the terminal")
		}
		close(out.block)
		<-time.After(time.Second)
		p.stop()
		<-ended
	})
}

func TestATerminalThatIsGoneIsToldOnce(t *testing.T) {
	out := &sheet{fail: errors.New("input/output error")}
	told := 0
	synctest.Test(t, func(t *testing.T) {
		p := newPainter(out, false, func() { told++ })
		ended := make(chan struct{})
		go func() {
			p.run(t.Context())
			close(ended)
		}()
		p.show("a", "")
		<-ended
		p.show("b", "")
		p.stop()
	})
	if told != 1 {
		t.Errorf("it was told %d times", told)
	}
}

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	xterm "github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui"
)

// rotten is a gateway whose changes make the screen panic once it is told to.
type rotten struct {
	tui.Gateway
	now *atomic.Bool
}

func (r rotten) Watch(ctx context.Context) (trace.View, trace.Feed, error) {
	v, f, err := r.Gateway.Watch(ctx)
	return v, rottenFeed{f, r.now}, err
}

type rottenFeed struct {
	trace.Feed
	now *atomic.Bool
}

func (f rottenFeed) Next(ctx context.Context, notBefore time.Time) (trace.Batch, error) {
	b, err := f.Feed.Next(ctx, notBefore)
	if f.now.Load() {
		panic("a row that there is not, for " + canary)
	}
	return b, err
}

func TestAPanicOfTheScreenCutsNoStream(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	before, err := xterm.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	drawn := &buffer{}
	go func() { _, _ = io.Copy(drawn, master) }()

	gate := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-gate
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer slow.Close()
	s := newShell(t)
	addr := freePort(t)
	s.write("config.toml", "listen = \""+addr+"\"\n"+relay(slow.URL))
	var rot atomic.Bool
	s.now, s.term, s.tty = time.Now, slave, func() bool { return true }
	s.env["TERM"], s.env["COLORFGBG"] = "xterm-256color", "15;0"
	s.through = func(g tui.Gateway) tui.Gateway { return rotten{g, &rot} }
	code := make(chan int, 1)
	s.args = []string{"tui"}
	go func() { code <- run(s.process) }()
	eventually(t, "drawn", func() bool { return strings.Contains(drawn.String(), "requests") })

	resp, err := ask(t, addr, true)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	rot.Store(true)
	if other, err := ask(t, addr, true); err != nil { // a change for the screen to see
		t.Error(err)
	} else {
		defer other.Body.Close()
	}
	eventually(t, "told", func() bool { return strings.Contains(s.stderr.String(), "the gateway goes on") })
	close(gate)
	all, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(all), "[DONE]") {
		t.Errorf("an agent's stream was cut: %v %s", err, all)
	}
	if n := strings.Count(s.stderr.String(), "magpie: "); n != 1 {
		t.Errorf("it is told so: %s", s.stderr.String())
	}
	after, err := xterm.GetState(slave.Fd())
	if err != nil || *after != *before {
		t.Errorf("the terminal is set differently: %v", err)
	}
	eventually(t, "left the screen", func() bool { // what was written to a terminal comes out of it in its own time
		out := drawn.String()
		return strings.LastIndex(out, "\x1b[?1049l") > strings.LastIndex(out, "\x1b[?1049h") && strings.LastIndex(out, "\x1b[?25h") > strings.LastIndex(out, "\x1b[?25l")
	})
	reports, err := filepath.Glob(filepath.Join(s.home, "state", "crash-2*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("%v %v", reports, err)
	}
	report, err := os.ReadFile(reports[0])
	if err != nil || !strings.Contains(string(report), "a row that there is not") || !strings.Contains(string(report), "goroutine") || strings.Contains(string(report), canary) {
		t.Errorf("%v %s", err, report)
	}
	eventually(t, "through with both", func() bool { // an agent has its end before it is counted
		all := status(t, addr).Totals
		return all.Requests == 2 && all.InFlight == 0
	})
	if !s.send(syscall.SIGTERM) {
		t.Fatal("nobody waits for a signal")
	}
	if c := <-code; c != 0 {
		t.Errorf("exit code %d", c)
	}
}

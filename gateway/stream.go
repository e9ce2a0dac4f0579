package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
)

const (
	traceGap   = 50 * time.Millisecond // between two batches to one reader
	tracePulse = 15 * time.Second
)

// handleTrace sends every change as an event, whole, numbered, and to be resumed by its
// number: route, account, group, log, status; reset = what follows is everything anew.
func (g *Gateway) handleTrace(w http.ResponseWriter, r *http.Request) {
	t := &traceWriter{w: w, flush: http.NewResponseController(w).Flush}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	streamHeaders(h)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	feed, ok := g.resumed(ctx, r, t)
	if !ok {
		view, fresh, err := g.d.Bus.Watch(ctx)
		if err != nil {
			return
		}
		feed = fresh
		t.view(g, view)
	}
	defer feed.Close()
	t.send()
	for t.err == nil {
		t.next(ctx, g, feed)
		t.send()
	}
}

// resumed goes on after the last number that the reader had.
func (g *Gateway) resumed(ctx context.Context, r *http.Request, t *traceWriter) (trace.Feed, bool) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		return nil, false
	}
	seq, err := strconv.ParseUint(last, 10, 64)
	if err == nil {
		if feed, ok := g.d.Bus.Since(ctx, seq); ok {
			return feed, true
		}
	}
	t.event(trace.EventReset, 0, struct{}{})
	return nil, false
}

// traceWriter writes events to one reader.
type traceWriter struct {
	w     http.ResponseWriter
	flush func() error
	buf   bytes.Buffer
	err   error
}

func (t *traceWriter) view(g *Gateway, v trace.View) {
	s := g.Status()
	s.Seq = v.Seq
	t.event(trace.EventStatus, 0, s)
	for i := range v.Routes {
		t.event(trace.EventRoute, 0, words.Route(v.Routes[i], time.Local))
	}
	for i := range v.Logs {
		t.event(trace.EventLog, 0, v.Logs[i])
	}
	t.event(trace.EventReady, v.Seq, struct{}{})
}

// next waits for a batch and writes it, or a comment when nothing happens for a while.
func (t *traceWriter) next(ctx context.Context, g *Gateway, feed trace.Feed) {
	pulse, cancel := context.WithTimeout(ctx, tracePulse)
	defer cancel()
	b, err := feed.Next(pulse, time.Now().Add(traceGap))
	switch {
	case ctx.Err() != nil:
		t.err = ctx.Err()
	case err != nil && pulse.Err() != nil:
		t.buf.WriteString(": still here\n\n")
	case err != nil:
		t.err = err
	case b.View != nil:
		t.event(trace.EventReset, 0, struct{}{})
		t.view(g, *b.View)
	default:
		for _, ev := range b.Events() {
			t.event(ev.Name, ev.Seq, told(ev.Value))
		}
	}
}

// told gives a value as it leaves the process: with its sentences.
func told(v any) any {
	if r, ok := v.(*trace.Route); ok {
		return words.Route(*r, time.Local)
	}
	return v
}

func (t *traceWriter) event(name string, seq uint64, v any) {
	t.buf.WriteString("event: " + name + "\n")
	if seq > 0 {
		t.buf.WriteString("id: " + strconv.FormatUint(seq, 10) + "\n")
	}
	t.buf.WriteString("data: ")
	enc := json.NewEncoder(&t.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.err = err
	}
	t.buf.WriteString("\n")
}

func (t *traceWriter) send() {
	if t.err != nil || t.buf.Len() == 0 {
		return
	}
	_, t.err = t.w.Write(t.buf.Bytes())
	t.buf.Reset()
	if t.err == nil {
		t.err = t.flush()
	}
}

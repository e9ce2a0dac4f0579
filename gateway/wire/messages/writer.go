package messages

import (
	"io"
	"strings"

	"dev.magpie/gateway/wire"
)

// writer writes a reply. Blocks wait in a line: the first one is written as it comes,
// those behind it once it is over, for this API has one block open at a time.
type writer struct {
	out     io.Writer
	o       wire.WriterOptions
	buf     []byte
	line    []*pending
	calls   map[int]*pending
	ids     map[string]bool
	count   int // blocks begun
	made    int // calls begun
	refused bool
	started bool
	done    bool
	usage   wire.Usage
	counted bool
	content []byte // of a reply in one piece
	whole   wholeBlock
}

func newWriter(out io.Writer, asked *wire.Ask, o wire.WriterOptions) *writer {
	if o.Input <= 0 {
		o.Input = estimate(asked)
	}
	return &writer{out: out, o: o}
}

// Event takes the next event.
func (w *writer) Event(e wire.Event) error {
	if w.done {
		return nil
	}
	w.buf = w.buf[:0]
	w.take(&e)
	return w.flush()
}

func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	_, err := w.out.Write(w.buf)
	if cap(w.buf) > 64<<10 {
		w.buf = nil
	}
	return err
}

// Ping keeps a silent client waiting.
func (w *writer) Ping() error {
	if w.done || !w.o.Stream {
		return nil
	}
	_, err := io.WriteString(w.out, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
	return err
}

// Done says whether the end was written.
func (w *writer) Done() bool { return w.done }

func (w *writer) take(e *wire.Event) {
	switch e.Kind {
	case wire.EventUsage:
		w.usage, w.counted = e.Usage, true
		return
	case wire.EventFail:
		w.fail(e.Fail)
		return
	case wire.EventStart, wire.EventThinking, wire.EventSeal, wire.EventText, wire.EventRefusal, wire.EventCall,
		wire.EventArgs, wire.EventCallEnd, wire.EventCite, wire.EventMedia, wire.EventFinish:
	}
	w.start(e)
	switch e.Kind {
	case wire.EventThinking:
		w.piece(pendThinking, e)
	case wire.EventText:
		w.piece(pendText, e)
	case wire.EventRefusal:
		w.refused = true
		w.piece(pendText, e)
	case wire.EventSeal:
		w.seal(e.Seal)
	case wire.EventCall:
		w.call(e)
	case wire.EventArgs:
		if c := w.calls[e.Index]; c != nil {
			c.addArgs(e.Text)
		}
	case wire.EventCallEnd:
		w.callEnd(e)
	case wire.EventCite:
		w.cite(e.Cite)
	case wire.EventMedia:
		w.push(&pending{kind: pendText, part: -1, text: "[the model made an image, which this API can't show]", solid: true, over: true})
	case wire.EventFinish:
		w.finish(e.Finish)
		return
	case wire.EventStart, wire.EventUsage, wire.EventFail:
	}
	w.pump()
}

// fail ends the reply with an error. It never reads as a finished one.
func (w *writer) fail(f *wire.Refusal) {
	if f == nil {
		f = &wire.Refusal{Status: 502, Words: "the reply broke off"}
	}
	w.done = true
	if w.o.Stream {
		w.buf = append(w.buf, f.Event(wire.Messages, nil, w.started)...)
		return
	}
	w.buf = append(w.buf, f.Body(wire.Messages)...)
}

// start begins the reply; what the vendor said of ids counts only at its beginning.
func (w *writer) start(e *wire.Event) {
	if w.started {
		return
	}
	w.started = true
	id := ""
	if e.Kind == wire.EventStart {
		id = e.ID
	}
	if !strings.HasPrefix(id, "msg_") || len(id) > 128 {
		id = wire.MakeID("msg_", w.o.ID, id)
	}
	w.o.ID = id
	if w.o.Stream {
		w.writeStart()
	}
}

// finish closes all blocks and tells why the reply ends.
func (w *writer) finish(f wire.Finish) {
	for _, p := range w.line {
		p.over = true
	}
	w.pump()
	if w.o.Stream {
		w.writeStop(f)
	} else {
		w.writeWhole(f)
	}
	w.done = true
}

// stopReason is why a reply ends, in this API's words: calls decide, unless the reply was cut.
func (w *writer) stopReason(f *wire.Finish) string {
	switch f.Why {
	case wire.FinishLength:
		return "max_tokens"
	case wire.FinishWindow:
		return "model_context_window_exceeded"
	case wire.FinishWithheld:
		return "refusal"
	case wire.FinishStop, wire.FinishString, wire.FinishCalls, wire.FinishPause, wire.FinishBroken:
	}
	switch {
	case w.made > 0:
		return "tool_use"
	case w.refused:
		return "refusal"
	case f.Why == wire.FinishString && f.String != "":
		return "stop_sequence"
	case f.Why == wire.FinishPause:
		return "pause_turn"
	}
	return "end_turn"
}

// estimate is about how many tokens a request has, for the beginning of a stream: the
// vendor tells it at the end only, and agents show it at once.
func estimate(asked *wire.Ask) int64 {
	if asked == nil {
		return 1
	}
	n := 0
	for i := range asked.System {
		n += len(asked.System[i].Text)
	}
	for i := range asked.Tools {
		n += len(asked.Tools[i].Schema) + len(asked.Tools[i].Description)
	}
	for i := range asked.Turns {
		n += textSize(asked.Turns[i].Parts)
	}
	return int64(n/4) + 1
}

func textSize(parts []wire.Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += len(p.Text)
		if p.Call != nil {
			n += len(p.Call.Args) + len(p.Call.Input)
		}
		if p.Reply != nil {
			n += textSize(p.Reply.Parts)
		}
	}
	return n
}

package responses

import (
	"encoding/base64"
	"io"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// writer writes a reply as items strictly one after another: while one is open, what
// belongs to others waits. A whole reply is what the stream's end would hold.
type writer struct {
	out io.Writer
	a   *wire.Ask
	o   wire.WriterOptions

	id, seed string
	seq      int64
	begun    bool
	over     bool
	buf      []byte // events that are not written yet
	output   []byte // the items that are done
	index    int    // of the item that is open, or of the next
	usage    wire.Usage
	refused  bool
	cut      bool // the reply ends before it is done: so does what is open
	summary  strings.Builder
	broke    *wire.Refusal // no summary came
	open     openItem
	seen     map[int]bool // calls that began
	queue    []*queued
}

var _ wire.Writer = (*writer)(nil)

// queued is what waits until the call that is open ends.
type queued struct {
	held
	index int // of a call, -1 = no call
}

func newWriter(out io.Writer, asked *wire.Ask, o wire.WriterOptions) *writer {
	switch {
	case asked == nil:
		asked = &wire.Ask{}
	case o.Stream:
		asked = repeated(asked)
	}
	w := &writer{out: out, a: asked, o: o, seen: map[int]bool{}}
	w.seed = wire.MakeID("", o.ID)
	w.id = "resp_magpie" + w.seed
	return w
}

// repeated is what a stream's events repeat of a request, and what they need of its tools. It
// holds nothing of the request's body: a stream may be open for long.
func repeated(asked *wire.Ask) *wire.Ask {
	a := &wire.Ask{
		API: asked.API, Model: asked.Model, Max: asked.Max, Temperature: asked.Temperature, TopP: asked.TopP, OneCall: asked.OneCall,
		Effort: asked.Effort, Show: asked.Show, Verbosity: asked.Verbosity, Compact: asked.Compact, Alone: asked.Alone, Metadata: slices.Clone(asked.Metadata),
	}
	if asked.Format != nil {
		f := *asked.Format
		f.Schema = slices.Clone(f.Schema)
		a.Format = &f
	}
	a.Tools = make([]wire.Tool, len(asked.Tools))
	for i := range asked.Tools {
		t := &asked.Tools[i]
		a.Tools[i] = wire.Tool{Kind: t.Kind, Name: t.Name, Namespace: t.Namespace, Local: t.Local, Built: t.Built}
	}
	return a
}

// Done says whether the end was written.
func (w *writer) Done() bool { return w.over }

// Event takes the next event.
func (w *writer) Event(e wire.Event) error {
	if w.over {
		return nil
	}
	switch e.Kind {
	case wire.EventStart:
		w.begin()
	case wire.EventUsage:
		w.usage = e.Usage
	case wire.EventFinish:
		w.begin()
		w.finish(&e.Finish)
	case wire.EventFail:
		w.fail(e.Fail)
	case wire.EventThinking, wire.EventSeal, wire.EventText, wire.EventRefusal, wire.EventCall,
		wire.EventArgs, wire.EventCallEnd, wire.EventCite, wire.EventMedia:
		w.begin()
		if w.a.Compact {
			w.summarize(&e)
			break
		}
		w.route(&e)
	}
	return w.flush()
}

// Ping tells an agent that waits that the reply is still in progress: it counts events only.
func (w *writer) Ping() error {
	if w.over || !w.o.Stream {
		return nil
	}
	if w.begun {
		w.progress("response.in_progress")
	}
	w.begin()
	return w.flush()
}

// flush writes what there is: events, or of a whole reply its body at the end.
func (w *writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if !w.o.Stream && !w.over {
		w.buf = w.buf[:0]
		return nil
	}
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// begin opens the reply, once.
func (w *writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.progress("response.created")
	if !w.a.Compact { // a compaction is four events
		w.progress("response.in_progress")
	}
}

// route gives an event to the item that is open, or lets it wait.
func (w *writer) route(e *wire.Event) {
	switch e.Kind {
	case wire.EventCall:
		if e.Call == nil || e.Call.Name == "" || w.seen[e.Index] {
			return
		}
		w.seen[e.Index] = true
		if w.open.kind.isCall() {
			w.wait(e, e.Index)
			return
		}
	case wire.EventArgs, wire.EventCallEnd:
		if !w.seen[e.Index] {
			w.late(e)
			return
		}
		if w.open.kind.isCall() && w.open.call.index == e.Index {
			break
		}
		for _, q := range w.queue {
			if q.index == e.Index {
				q.add(e)
			}
		}
		return
	case wire.EventThinking, wire.EventSeal, wire.EventText, wire.EventRefusal, wire.EventCite, wire.EventMedia,
		wire.EventStart, wire.EventUsage, wire.EventFinish, wire.EventFail:
		if w.open.kind.isCall() {
			w.wait(e, -1)
			return
		}
	}
	w.apply(e)
	w.drain()
}

// late takes a call that is told as a whole only.
func (w *writer) late(e *wire.Event) {
	if e.Kind != wire.EventCallEnd || e.Call == nil || e.Call.Name == "" {
		return
	}
	c := *e.Call
	c.Args, c.Input = nil, ""
	w.route(&wire.Event{Kind: wire.EventCall, Index: e.Index, Call: &c, Seal: e.Seal})
	w.route(e)
}

// wait keeps an event until the call that is open ends.
func (w *writer) wait(e *wire.Event, index int) {
	if n := len(w.queue) - 1; n >= 0 && index < 0 && w.queue[n].index < 0 {
		w.queue[n].add(e)
		return
	}
	q := &queued{index: index}
	q.add(e)
	w.queue = append(w.queue, q)
}

// drain takes what waits, up to the next call that isn't whole yet.
func (w *writer) drain() {
	for len(w.queue) > 0 && !w.open.kind.isCall() {
		q := w.queue[0]
		w.queue = w.queue[1:]
		for _, e := range q.take() {
			w.apply(&e)
		}
	}
}

// apply writes an event into its item.
func (w *writer) apply(e *wire.Event) {
	switch e.Kind {
	case wire.EventText:
		if w.open.kind != openMessage { // a text that goes on is not cut for its signature, which may get lost
			w.carry(e.Seal)
		}
		w.say(kindText, e)
	case wire.EventRefusal:
		w.refused = true
		w.say(kindRefusal, e)
	case wire.EventThinking:
		w.think(e)
	case wire.EventSeal:
		w.seal(e.Seal)
	case wire.EventCite:
		w.cite(e.Cite)
	case wire.EventMedia:
		w.picture(e.Media)
	case wire.EventCall:
		w.carry(e.Seal)
		w.call(e)
	case wire.EventArgs:
		w.args(e.Text)
	case wire.EventCallEnd:
		w.whole(e.Call)
		w.close()
	case wire.EventStart, wire.EventUsage, wire.EventFinish, wire.EventFail:
	}
}

// summarize gathers the summary that a compaction is.
func (w *writer) summarize(e *wire.Event) {
	if e.Kind == wire.EventText {
		w.summary.WriteString(e.Text)
	}
}

// finish ends the reply as its vendor did.
func (w *writer) finish(f *wire.Finish) {
	status, reason := "completed", ""
	switch f.Why {
	case wire.FinishLength, wire.FinishWindow:
		status, reason = "incomplete", "max_output_tokens"
	case wire.FinishWithheld:
		if !w.refused || f.Explanation() != "" {
			status, reason = "incomplete", "content_filter"
		}
	case wire.FinishStop, wire.FinishString, wire.FinishCalls, wire.FinishPause, wire.FinishBroken:
	}
	if w.a.Compact {
		if status != "completed" || strings.TrimSpace(w.summary.String()) == "" {
			w.broke = &wire.Refusal{Status: 502, Words: "the model wrote no summary of the conversation"}
			w.fail(w.broke)
			return
		}
		w.compaction()
	}
	w.cut = status != "completed"
	w.closeAll()
	if f.Why == wire.FinishWithheld && f.Explanation() != "" && !w.refused {
		w.say(kindRefusal, &wire.Event{Text: f.Explanation()})
		w.close()
	}
	w.terminal(status, reason, nil)
}

// Broke is what kept a vendor's whole reply from being one for the agent.
func (w *writer) Broke() *wire.Refusal { return w.broke }

// closeAll ends what is open, and all that waited.
func (w *writer) closeAll() {
	w.close()
	for len(w.queue) > 0 {
		w.drain()
		w.close()
	}
}

// fail ends the reply as a failed one. What was open stays without an end.
func (w *writer) fail(f *wire.Refusal) {
	if f == nil {
		f = &wire.Refusal{Status: 502, Words: "the vendor's reply failed"}
	}
	if !w.o.Stream {
		w.over = true
		w.buf = append(w.buf[:0], f.Body(wire.Responses)...)
		return
	}
	w.begin()
	w.terminal("failed", "", f)
}

// compaction writes the summary as the item that a compaction is, marked as ours.
func (w *writer) compaction() {
	o := newObject(nil)
	o.str("id", w.itemID("cmp_"))
	o.str("type", typeCompacted)
	o.str("encrypted_content", summaryMark+base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(w.summary.String()))))
	item := o.end()
	w.itemEvent("response.output_item.added", item)
	w.doneItem(item)
}

// itemID makes the id of the item that is open: one for all of its events.
func (w *writer) itemID(prefix string) string {
	return prefix + "magpie" + w.seed + strconv.Itoa(w.index)
}

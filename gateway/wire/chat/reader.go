package chat

import (
	"bytes"
	"strconv"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// reader reads a reply. The events that it returns are good until the next call.
type reader struct {
	calls    calls
	events   []wire.Event
	start    bool // Start is told
	over     bool // Finish or Fail is told
	finished bool // a finish_reason came
	why      wire.FinishWhy
	word     string // the vendor's own
	usage    wire.Usage
	counted  bool
	details  details
	seed     string // for ids that the vendor does not give
}

func newReader(asked *wire.Ask) *reader {
	r := &reader{events: make([]wire.Event, 0, 4)}
	r.calls.r = r
	r.calls.back = wire.Restore(asked, wire.ChatNames)
	if asked == nil {
		return r
	}
	r.seed = "reply " + strconv.Itoa(len(asked.Turns))
	for i := range asked.Tools {
		if t := &asked.Tools[i]; t.Kind == wire.ToolFree {
			if r.calls.free == nil {
				r.calls.free = map[string]bool{}
			}
			r.calls.free[t.Name] = true
		}
	}
	return r
}

// Read takes one SSE event.
func (r *reader) Read(event []byte) []wire.Event {
	r.events = r.events[:0]
	if r.over {
		return nil
	}
	_, data := sse.Parse(event)
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		r.end()
		return r.events
	}
	var c chunk
	if c.read(data) != nil {
		r.fail(&wire.Refusal{Status: 502, Words: "the vendor's stream holds something that is not JSON"})
		return r.events
	}
	r.take(&c, false)
	return r.events
}

// Whole takes a reply in one piece.
func (r *reader) Whole(body []byte) []wire.Event {
	r.events = r.events[:0]
	if r.over {
		return nil
	}
	var c chunk
	err := c.read(body)
	switch {
	case err != nil:
		r.fail(&wire.Refusal{Status: 502, Words: "the vendor's reply is not JSON"})
	case len(c.fault) == 0 && !c.chosen:
		r.fail(&wire.Refusal{Status: 502, Words: "the vendor's reply has no choices"})
	default:
		r.take(&c, true)
		r.end()
	}
	return r.events
}

// End is told that the stream ended. A reply without its finish_reason was cut short.
func (r *reader) End() []wire.Event {
	r.events = r.events[:0]
	switch {
	case r.over:
		return nil
	case r.finished:
		r.end()
	default:
		r.fail(&wire.Refusal{Status: 502, Words: "the vendor's stream ended before the reply was complete"})
	}
	return r.events
}

func (r *reader) emit(e wire.Event) { r.events = append(r.events, e) }

// begin tells the start, once.
func (r *reader) begin(c *chunk) {
	if !r.start {
		r.start = true
		if c.id != "" {
			r.seed = c.id
		}
		r.emit(wire.Event{Kind: wire.EventStart, ID: c.id, Model: c.model})
	}
}

// take turns a chunk into events, or a whole reply.
func (r *reader) take(c *chunk, whole bool) {
	if len(c.fault) > 0 {
		r.fail(readFault(c.fault))
		return
	}
	if c.counted {
		r.usage, r.counted = c.usage, true
	}
	if !c.chosen && c.id == "" {
		return // usage alone, or a filter's word on the prompt
	}
	r.begin(c)
	r.think(&c.delta)
	r.say(&c.delta)
	r.calls.add(&c.delta, whole)
	if c.finish == "" {
		return
	}
	why, fault := finishOf(c.finish)
	if fault != nil {
		r.fail(fault)
		return
	}
	r.finished, r.why, r.word = true, why, c.finish
}

// think tells the reasoning of a delta.
func (r *reader) think(d *delta) {
	text := d.thought
	if len(d.details) > 0 {
		told := r.details.add(d.details)
		if text == "" {
			text = told
		}
	}
	if text != "" {
		r.emit(wire.Event{Kind: wire.EventThinking, Text: text})
	}
}

// seal tells what proves the reasoning so far, once reasoning is over.
func (r *reader) seal() {
	if data := r.details.take(); data != "" {
		r.emit(wire.Event{Kind: wire.EventSeal, Seal: &wire.Seal{API: wire.Chat, Data: data}})
	}
}

// say tells the text, the refusal, the sources and the images of a delta.
func (r *reader) say(d *delta) {
	if d.text == "" && d.refusal == "" && d.images == nil && d.cites == nil {
		return
	}
	r.seal()
	r.calls.settle(false)
	if d.text != "" {
		r.emit(wire.Event{Kind: wire.EventText, Text: d.text})
	}
	if d.refusal != "" {
		r.emit(wire.Event{Kind: wire.EventRefusal, Text: d.refusal})
	}
	for i := range d.cites {
		r.emit(wire.Event{Kind: wire.EventCite, Cite: &d.cites[i]})
	}
	for _, url := range d.images {
		r.emit(wire.Event{Kind: wire.EventMedia, Media: wire.MediaAt(url)})
	}
}

// end tells the end of a whole reply.
func (r *reader) end() {
	if r.over {
		return
	}
	r.begin(&chunk{})
	r.seal()
	r.calls.settle(true)
	why := r.why
	switch {
	case r.calls.told > 0 && (why == "" || why == wire.FinishStop || why == wire.FinishString):
		why = wire.FinishCalls
	case why == "" || r.calls.told == 0 && why == wire.FinishCalls:
		why = wire.FinishStop
	}
	r.count()
	r.emit(wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why, Detail: r.word}})
	r.over = true
}

func (r *reader) count() {
	if r.counted {
		r.emit(wire.Event{Kind: wire.EventUsage, Usage: r.usage})
	}
}

// fail tells that the reply broke; what it had used is told before.
func (r *reader) fail(f *wire.Refusal) {
	if r.over {
		return
	}
	if r.start {
		r.count()
	}
	r.emit(wire.Event{Kind: wire.EventFail, Fail: f})
	r.over = true
}

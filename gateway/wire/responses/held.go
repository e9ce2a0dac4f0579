package responses

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// held keeps events for later, pieces of one thing as one.
type held struct {
	events []wire.Event
	run    strings.Builder // the text of the last event, while it grows
}

func (h *held) add(e *wire.Event) {
	if n := len(h.events) - 1; n >= 0 && joins(&h.events[n], e) {
		if h.run.Len() == 0 {
			h.run.WriteString(h.events[n].Text)
		}
		h.run.WriteString(e.Text)
		return
	}
	h.settle()
	h.events = append(h.events, *e)
}

func (h *held) settle() {
	if h.run.Len() > 0 {
		h.events[len(h.events)-1].Text = h.run.String()
		h.run.Reset()
	}
}

// take gives what was held, and forgets it.
func (h *held) take() []wire.Event {
	h.settle()
	events := h.events
	h.events = nil
	return events
}

// joins says that e only goes on with what last began.
func joins(last, e *wire.Event) bool {
	if last.Kind != e.Kind || last.Index != e.Index || last.Part != e.Part || last.Seal != nil || e.Seal != nil {
		return false
	}
	switch e.Kind {
	case wire.EventText, wire.EventThinking, wire.EventRefusal, wire.EventArgs:
		return true
	case wire.EventStart, wire.EventSeal, wire.EventCall, wire.EventCallEnd, wire.EventCite,
		wire.EventMedia, wire.EventUsage, wire.EventFinish, wire.EventFail:
	}
	return false
}

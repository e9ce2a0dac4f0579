package messages

import "dev.magpie/gateway/wire"

// mostBreaks is how many breakpoints of the cache the API takes.
const mostBreaks = 4

// setCaches keeps the breakpoints that the client set, as many as the API takes, and sets
// them for a client that knows none: else every turn pays the whole prompt.
func (w *writing) setCaches() {
	marks := w.marks()
	if !w.takes("cache_control") {
		for _, m := range marks {
			*m = nil
		}
		return
	}
	if len(marks) == 0 {
		if !w.own() {
			w.mark()
		}
		return
	}
	most := mostBreaks
	if w.own() && w.a.AutoCache {
		most--
	}
	over := len(marks) - most
	if over <= 0 {
		return
	}
	w.lose("cache_control", "the API takes four breakpoints")
	head := w.headMarks()
	for _, m := range marks[head:] { // the earliest of the conversation go first
		if over > 0 {
			*m = nil
			over--
		}
	}
	for _, m := range marks[:head] {
		if over > 0 {
			*m = nil
			over--
		}
	}
}

// marks are the breakpoints that are set, in the order of the prompt.
func (w *writing) marks() []**wire.Cache {
	var out []**wire.Cache
	add := func(c **wire.Cache) {
		if *c != nil {
			out = append(out, c)
		}
	}
	for i := range w.tools {
		add(&w.tools[i].cache)
	}
	for i := range w.system {
		add(&w.system[i].cache)
	}
	for i := range w.turns {
		for j := range w.turns[i].blocks {
			add(&w.turns[i].blocks[j].cache)
		}
	}
	return out
}

// headMarks is how many of the breakpoints stand before the conversation.
func (w *writing) headMarks() int {
	n := 0
	for i := range w.tools {
		if w.tools[i].cache != nil {
			n++
		}
	}
	for i := range w.system {
		if w.system[i].cache != nil {
			n++
		}
	}
	return n
}

// mark sets breakpoints behind the tools, the system prompt and the last two turns of the user.
func (w *writing) mark() {
	if n := len(w.tools) - 1; n >= 0 {
		w.tools[n].cache = &wire.Cache{}
	}
	if n := len(w.system) - 1; n >= 0 {
		w.system[n].cache = &wire.Cache{}
	}
	left := 2
	for i := len(w.turns) - 1; i >= 0 && left > 0; i-- {
		if w.turns[i].role != wire.RoleUser {
			continue
		}
		blocks := w.turns[i].blocks
		for j := len(blocks) - 1; j >= 0; j-- {
			if blocks[j].kind.marks() {
				blocks[j].cache = &wire.Cache{}
				left--
				break
			}
		}
	}
}

package messages

import (
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// turn is a message as it is written.
type turn struct {
	role   wire.Role
	blocks []block
}

// setTurns brings the conversation into the form that the API demands: results first, no
// two turns of one side in a row, a user at the beginning, nothing empty.
func (w *writing) setTurns() {
	turns := wire.PairApart(w.a.Turns)
	turns = w.placeSystem(turns)
	last := -1
	for i := range turns {
		if turns[i].Role == wire.RoleAssistant {
			last = i
		}
	}
	for i := range turns {
		blocks := w.blocks(turns[i].Parts, place{role: turns[i].Role, current: i > last})
		w.add(turn{turns[i].Role, blocks})
	}
	w.begin()
	w.finish()
}

// add appends a turn, to the last one when the same side speaks.
func (w *writing) add(t turn) {
	if len(t.blocks) == 0 {
		return
	}
	if n := len(w.turns) - 1; n >= 0 && w.turns[n].role == t.role {
		w.turns[n].blocks = append(w.turns[n].blocks, t.blocks...)
		return
	}
	w.turns = append(w.turns, t)
}

// begin makes the user speak first.
func (w *writing) begin() {
	if len(w.turns) == 0 {
		text := block{kind: blockText, text: "…"}
		if n := len(w.system) - 1; n >= 0 {
			text, w.system = w.system[n], w.system[:n]
		}
		w.turns = []turn{{wire.RoleUser, []block{text}}}
		return
	}
	if w.turns[0].role == wire.RoleAssistant {
		first := turn{wire.RoleUser, []block{{kind: blockText, text: "…"}}}
		w.turns = slices.Insert(w.turns, 0, first)
	}
}

// finish sees to an assistant's turn at the end: newer models don't go on with it.
func (w *writing) finish() {
	n := len(w.turns) - 1
	if w.turns[n].role != wire.RoleAssistant {
		return
	}
	if !w.m.prefill || w.thinks || w.format != nil {
		w.turns = append(w.turns, turn{wire.RoleUser, []block{{kind: blockText, text: "Continue."}}})
		return
	}
	blocks := w.turns[n].blocks
	if b := &blocks[len(blocks)-1]; b.kind == blockText {
		b.text = strings.TrimRight(b.text, " \t\r\n") // refused at the very end
	}
}

// placeSystem leaves what the system says between turns at its place where the model may
// hear it there, and has the user say it as a reminder elsewhere. It is never moved up:
// that would change what is cached.
func (w *writing) placeSystem(turns []wire.Turn) []wire.Turn {
	if !w.m.system {
		return wire.Remind(turns)
	}
	out := make([]wire.Turn, 0, len(turns))
	for i := 0; i < len(turns); i++ {
		if turns[i].Role != wire.RoleSystem {
			out = append(out, turns[i])
			continue
		}
		from := i
		var parts []wire.Part
		for ; i < len(turns) && turns[i].Role == wire.RoleSystem; i++ {
			parts = append(parts, turns[i].Parts...)
		}
		t := wire.Turn{Role: wire.RoleSystem, Parts: parts}
		i--
		behindUser := from > 0 && turns[from-1].Role == wire.RoleUser
		before := i+1 == len(turns) || turns[i+1].Role == wire.RoleAssistant
		if behindUser && before && textOnly(parts) {
			out = append(out, t)
			continue
		}
		out = append(out, wire.Remind([]wire.Turn{t})...)
	}
	return wire.Pair(out) // reminders join the turns beside them
}

func textOnly(parts []wire.Part) bool {
	for i := range parts {
		if parts[i].Kind != wire.KindText {
			return false
		}
	}
	return true
}

// place is where a part stands.
type place struct {
	role    wire.Role
	current bool // no assistant's turn comes behind it
	inside  bool // of a result
}

func (w *writing) blocks(parts []wire.Part, at place) []block {
	out := make([]block, 0, len(parts))
	for i := range parts {
		b := w.block(&parts[i], at)
		if b.kind == blockNone {
			if n := len(out) - 1; n >= 0 && parts[i].Cache != nil && out[n].cache == nil {
				out[n].cache = parts[i].Cache
			}
			continue
		}
		if b.cache == nil && b.kind.marks() {
			b.cache = parts[i].Cache
		}
		out = append(out, b)
	}
	return out
}

// block is a part as the block that it becomes; none when nothing is left of it.
func (w *writing) block(p *wire.Part, at place) block {
	switch p.Kind {
	case wire.KindText, wire.KindRefusal:
		return textBlock(p.Text)
	case wire.KindImage, wire.KindFile, wire.KindAudio, wire.KindVideo:
		return w.mediaBlock(p, at)
	case wire.KindThinking:
		return w.thinkingBlock(p, at)
	case wire.KindCall:
		if p.Call == nil || at.role != wire.RoleAssistant {
			return block{}
		}
		return block{kind: blockCall, part: p}
	case wire.KindResult:
		return w.resultBlock(p, at)
	case wire.KindOpaque:
		if w.own() && p.Raw != nil {
			return block{kind: blockRaw, part: p}
		}
		if p.Text == "" {
			w.lose("a block of the history", "another vendor's own")
		}
		return textBlock(p.Text)
	}
	return block{}
}

func textBlock(text string) block {
	if blank(text) {
		return block{}
	}
	return block{kind: blockText, text: text}
}

// thinkingBlock gives reasoning back to the vendor that sealed it, and to no other. Some
// vendors besides want what nobody sealed.
func (w *writing) thinkingBlock(p *wire.Part, at place) block {
	if at.role != wire.RoleAssistant {
		return block{}
	}
	if p.Seal.For(wire.Messages, w.t.Dialect.Vendor) {
		return block{kind: blockThinking, part: p}
	}
	if p.Text != "" && w.t.Dialect.BareReasoning {
		return block{kind: blockThinking, part: &wire.Part{Kind: wire.KindThinking, Text: p.Text}}
	}
	if !w.unsealed {
		w.unsealed = true
		w.lose("reasoning of earlier turns", "only who sealed it may have it back")
	}
	return block{}
}

// resultBlock is a call's result. An empty one stays: its call needs it.
func (w *writing) resultBlock(p *wire.Part, at place) block {
	if p.Reply == nil || at.role == wire.RoleAssistant {
		return block{}
	}
	at.inside = true
	b := block{kind: blockResult, part: p, inner: w.blocks(p.Reply.Parts, at)}
	for i := range b.inner {
		if b.inner[i].cache != nil {
			b.cache, b.inner[i].cache = b.inner[i].cache, nil
		}
	}
	if p.Cache != nil {
		b.cache = p.Cache
	}
	if len(b.inner) == 0 && p.Reply.Error {
		b.inner = []block{{kind: blockText, text: "Error"}} // an error has to say something
	}
	return b
}

package responses

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// streamItem is one item of a reply while it comes.
type streamItem struct {
	kind, id string
	waiting  held
	done     bool
	ripe     bool // a message whose text was told whole: it may end when the next begins
	matched  bool // the whole output has it
	cited    bool
	pieces   []piece

	// Of reasoning.
	part int // its number among the pieces of the reply
	raw  int // what is told of it: 0 not known yet, 1 the summary, 2 the reasoning itself
	gaps bool

	// Of a call.
	index     int
	name, ns  string
	callID    string
	begun     bool
	free      bool
	decoder   *wire.FreeDecoder // of a freeform tool that went out as a function
	arguments strings.Builder
}

// piece is what was told of one content or summary part.
type piece struct {
	kind wire.EventKind
	at   int
	part int
	sent int
}

// at is the item that an event is about; one that was never told of begins with it.
func (r *reader) at(e *streamed, kind, id string) *streamItem {
	if id == "" {
		id = e.ItemID
	}
	if it := r.byID[id]; it != nil && id != "" {
		return it
	}
	if it := r.byIndex[e.index]; it != nil && e.index >= 0 {
		return it
	}
	if n := len(r.items) - 1; n >= 0 && e.index < 0 && id == "" && r.items[n].kind == kind {
		return r.items[n]
	}
	return r.open(kind, id, e.index)
}

// open begins an item.
func (r *reader) open(kind, id string, index int) *streamItem {
	r.start(nil)
	if r.head < len(r.items) && r.items[r.head].ripe {
		r.close(r.items[r.head])
	}
	it := &streamItem{kind: kind, id: id}
	r.items = append(r.items, it)
	if id != "" {
		r.byID[id] = it
	}
	if index >= 0 {
		r.byIndex[index] = it
	}
	if kind == typeFunction || kind == typeCustom || builtBy(func(b *built) bool { return b.call == kind }) != nil {
		it.index = r.calls
		r.calls++
	}
	return it
}

func (r *reader) added(e *streamed) {
	in := readItem(e.Item)
	it := r.byIndex[e.index]
	if it == nil || it.done || it.id != in.ID {
		it = r.open(in.Type, in.ID, e.index)
	}
	it.known(&in)
	r.begin(it)
}

// known takes what an item tells of a call.
func (it *streamItem) known(in *item) {
	if in.Name != "" {
		it.name, it.ns = in.Name, in.Namespace
	}
	if in.CallID != "" {
		it.callID = in.CallID
	}
}

// tell passes an event on, or keeps it until its item's turn comes.
func (r *reader) tell(it *streamItem, e *wire.Event) {
	if it.done || r.head < len(r.items) && r.items[r.head] == it {
		r.out = append(r.out, *e)
		return
	}
	it.waiting.add(e)
}

// close ends an item, and lets the next ones tell what they kept.
func (r *reader) close(it *streamItem) {
	it.done = true
	for r.head < len(r.items) {
		next := r.items[r.head]
		r.out = append(r.out, next.waiting.take()...)
		if !next.done {
			return
		}
		r.head++
	}
}

func (it *streamItem) piece(kind wire.EventKind, at int) *piece {
	for i := range it.pieces {
		if it.pieces[i].kind == kind && it.pieces[i].at == at {
			return &it.pieces[i]
		}
	}
	it.pieces = append(it.pieces, piece{kind: kind, at: at})
	return &it.pieces[len(it.pieces)-1]
}

// text tells a piece of a message.
func (r *reader) text(it *streamItem, kind wire.EventKind, at int, s string) {
	if s == "" {
		return
	}
	p := it.piece(kind, at)
	if p.sent == 0 {
		r.parts++
		p.part = r.parts
	}
	p.sent += len(s)
	r.refused = r.refused || kind == wire.EventRefusal
	r.tell(it, &wire.Event{Kind: kind, Text: s, Part: p.part})
}

// fillText tells what of a whole part was not told yet.
func (r *reader) fillText(it *streamItem, kind wire.EventKind, at int, whole string) {
	if p := it.piece(kind, at); len(whole) > p.sent {
		r.text(it, kind, at, whole[p.sent:])
	}
}

// thought tells a piece of reasoning: of its summary or of itself, whichever comes first.
func (r *reader) thought(it *streamItem, raw bool, at int, s string) {
	which := 1
	if raw {
		which = 2
	}
	if s == "" || it.raw != 0 && it.raw != which {
		return
	}
	if it.raw == 0 {
		it.raw = which
		r.parts++
		it.part = r.parts
	}
	p := it.piece(wire.EventThinking, at)
	if p.sent == 0 && it.gaps {
		r.tell(it, &wire.Event{Kind: wire.EventThinking, Text: thoughtGap, Part: it.part})
	}
	it.gaps = true
	p.sent += len(s)
	r.tell(it, &wire.Event{Kind: wire.EventThinking, Text: s, Part: it.part})
}

func (r *reader) fillThought(it *streamItem, raw bool, at int, whole string) {
	if p := it.piece(wire.EventThinking, at); len(whole) > p.sent {
		r.thought(it, raw, at, whole[p.sent:])
	}
}

// begin tells that a call begins, once its name is known.
func (r *reader) begin(it *streamItem) {
	if it.begun || it.name == "" || it.kind != typeFunction && it.kind != typeCustom {
		return
	}
	it.begun, r.called = true, true
	name := flat(it.ns, it.name)
	if full, ok := r.back[name]; ok {
		name = full
	}
	it.free = it.kind == typeCustom
	if r.free[name] && !it.free {
		it.free, it.decoder = true, &wire.FreeDecoder{}
	}
	it.name, it.ns = name, ""
	if it.callID == "" {
		it.callID = it.id
	}
	r.tell(it, &wire.Event{Kind: wire.EventCall, Index: it.index, Call: &wire.Call{ID: it.callID, Name: name, Free: it.free}})
	if early := it.arguments.String(); early != "" {
		r.tellArgs(it, early)
	}
}

func (r *reader) tellArgs(it *streamItem, s string) {
	if it.decoder != nil {
		s = it.decoder.Add(s)
	}
	if s != "" {
		r.tell(it, &wire.Event{Kind: wire.EventArgs, Index: it.index, Text: s})
	}
}

// arg takes a piece of a call's arguments.
func (r *reader) arg(it *streamItem, s string) {
	if it.done {
		return
	}
	it.arguments.WriteString(s)
	if it.begun {
		r.tellArgs(it, s)
	}
}

// fillArgs takes a call's whole arguments.
func (r *reader) fillArgs(it *streamItem, whole string) {
	r.begin(it)
	if n := it.arguments.Len(); len(whole) > n {
		r.arg(it, whole[n:])
	}
}

// finishItem takes an item as a whole, and ends it.
func (r *reader) finishItem(it *streamItem, in *item) {
	if it.kind == "" {
		it.kind = in.Type
	}
	if it.done {
		return
	}
	switch it.kind {
	case typeMessage:
		r.finishMessage(it, in.Content)
	case typeReasoning:
		r.finishThought(it, in)
	case typeFunction:
		it.known(in)
		r.fillArgs(it, in.Arguments)
	case typeCustom:
		it.known(in)
		r.fillArgs(it, in.Input)
	case typeImage:
		if in.Result != "" {
			m := &wire.Media{MIME: wire.SniffMIME(in.Result), Data: in.Result}
			r.tell(it, &wire.Event{Kind: wire.EventMedia, Media: m})
		}
	default:
		r.finishBuilt(it, in)
	}
	r.endCall(it)
	r.close(it)
}

// endCall tells that a call is whole.
func (r *reader) endCall(it *streamItem) {
	if !it.begun {
		return
	}
	c := &wire.Call{ID: it.callID, Name: it.name, Free: it.free}
	whole := it.arguments.String()
	switch {
	case it.decoder != nil:
		if rest := it.decoder.End(); rest != "" {
			r.tell(it, &wire.Event{Kind: wire.EventArgs, Index: it.index, Text: rest})
		}
		c.Input = wire.FreeInput(whole)
	case it.free:
		c.Input = whole
	default:
		c.Args = readArgs(whole)
	}
	r.tell(it, &wire.Event{Kind: wire.EventCallEnd, Index: it.index, Call: c})
}

func (r *reader) finishMessage(it *streamItem, content json.RawMessage) {
	v := wire.Value(content)
	if v.Kind() == '"' { // some vendors write a text for the parts
		r.fillText(it, wire.EventText, 0, v.Text())
		return
	}
	at := 0
	v.Elements(func(e wire.Value) {
		switch e.Get("type").Text() {
		case "output_text", "text":
			r.fillText(it, wire.EventText, at, e.Get("text").Text())
			if !it.cited {
				for _, c := range readCites(wire.Walk(e.Get("annotations"))) {
					r.tell(it, &wire.Event{Kind: wire.EventCite, Cite: &c})
				}
			}
		case "refusal":
			r.fillText(it, wire.EventRefusal, at, e.Get("refusal").Text())
		}
		at++
	})
}

// finishThought tells what is left of a summary, or of the reasoning where there is none,
// and the seal. Only the seal that comes with the whole item is good.
func (r *reader) finishThought(it *streamItem, in *item) {
	r.fillThoughts(it, false, in.Summary)
	r.fillThoughts(it, true, in.Content)
	if in.Sealed != "" {
		seal := &wire.Seal{API: wire.Responses, Data: in.Sealed, ID: in.ID}
		r.tell(it, &wire.Event{Kind: wire.EventSeal, Seal: seal})
	}
}

func (r *reader) fillThoughts(it *streamItem, raw bool, list json.RawMessage) {
	at := 0
	wire.Value(list).Elements(func(e wire.Value) {
		r.fillThought(it, raw, at, e.Get("text").Text())
		at++
	})
}

// finishBuilt tells a call of a client-run tool. What the vendor ran itself says nothing.
func (r *reader) finishBuilt(it *streamItem, in *item) {
	b := builtBy(func(b *built) bool { return b.call == it.kind })
	if b == nil || b.name == "tool_search" && in.Execution == "server" {
		return
	}
	it.begun, r.called = true, true
	it.name, it.callID = b.name, in.call()
	args := builtArgs(in, b)
	it.arguments.Write(args)
	r.tell(it, &wire.Event{Kind: wire.EventCall, Index: it.index, Call: &wire.Call{ID: it.callID, Name: b.name}})
	r.tell(it, &wire.Event{Kind: wire.EventArgs, Index: it.index, Text: string(args)})
}

// terminal takes the reply as a whole: what was not told yet is, and what is open ends.
func (r *reader) terminal(response json.RawMessage, incomplete bool) {
	r.start(response)
	v := wire.Value(response)
	var output []item
	v.Get("output").Elements(func(e wire.Value) { output = append(output, readItem(json.RawMessage(e))) })
	r.fill(output)
	for _, it := range r.items {
		if !it.done {
			r.begin(it)
			r.endCall(it)
			r.close(it)
		}
	}
	r.usage(v.Get("usage"))
	r.ended = true
	why := v.Get("incomplete_details").Get("reason").Text()
	r.out = append(r.out, wire.Event{Kind: wire.EventFinish, Finish: r.finish(why, incomplete)})
}

// fill brings the items of the whole output together with those of the stream: by their
// ids first, then by their order among those of their kind, for some vendors' ids change.
func (r *reader) fill(output []item) {
	found := make([]*streamItem, len(output))
	for i := range output {
		if it := r.byID[output[i].ID]; it != nil && output[i].ID != "" && !it.matched {
			it.matched, found[i] = true, it
		}
	}
	for i := range output {
		for _, it := range r.items {
			if found[i] == nil && !it.matched && it.kind == output[i].Type {
				it.matched, found[i] = true, it
			}
		}
		if found[i] == nil {
			found[i] = r.open(output[i].Type, "", -1)
			found[i].matched = true
		}
		if !found[i].done {
			r.finishItem(found[i], &output[i])
		}
	}
}

func (r *reader) finish(why string, incomplete bool) wire.Finish {
	f := wire.Finish{Why: wire.FinishStop}
	switch {
	case why == "content_filter":
		f = wire.Finish{Why: wire.FinishWithheld}
	case incomplete || why != "":
		f = wire.Finish{Why: wire.FinishLength, Detail: why}
	case r.refused:
		f.Why = wire.FinishWithheld
	case r.called:
		f.Why = wire.FinishCalls
	}
	return f
}

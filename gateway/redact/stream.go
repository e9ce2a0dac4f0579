package redact

import (
	"bytes"
	"strconv"
	"strings"
)

// Stream turns the placeholders of a streamed reply back, one event after the other. Only what could
// be the beginning of a placeholder is held back, until the next event of the same text tells, or the
// text ends.
type Stream struct {
	v     *Vault
	api   string
	open  []*spoken
	next  int // the number behind that of the event before, where an API numbers them
	ahead int // how many events with a number are not the vendor's
}

// spoken is a text that comes in pieces, of which the end may begin a placeholder.
type spoken struct {
	slot         // its last piece
	name  string // of the event with that
	event string // that event
	held  string // as it stands between quotes
}

// Event is one event of a stream: its name and its data.
type Event struct {
	Name string
	Data []byte
}

// slot is a piece of a text in an event.
type slot struct {
	part
	id, group string
	field     string // what it is called
	call      int    // the number of the call that it is of
	nested    bool   // it is of JSON inside the string
	beside    bool   // it is a call, and others of its group may go on beside it
	thought   bool
	last      bool // nothing of its text follows
	with      string
}

// pieces are those of one event, and what ends with it.
type pieces struct {
	slots []slot
	ends  []string // groups
	all   bool     // every text ends
	quiet bool     // it says nothing of any text
}

// Stream begins a streamed reply in the API of that name.
func (v *Vault) Stream(api string) *Stream { return &Stream{v: v, api: api} }

// Event takes the next event: what is to be sent before it, and its data as it is to be
// sent, which is the same where nothing changes.
func (s *Stream) Event(name string, data []byte) (before []Event, out []byte) {
	before, out = s.turned(name, data)
	return before, s.numbered(before, out)
}

func (s *Stream) turned(name string, data []byte) (before []Event, out []byte) {
	if len(s.open) == 0 && bytes.IndexByte(data, Prefix[0]) < 0 {
		return nil, data
	}
	text := string(data)
	p := read(s.api, text)
	before = s.ended(&p)
	if len(s.open) == 0 && strings.IndexByte(text, Prefix[0]) < 0 {
		return before, data
	}
	same := !strings.Contains(text, Prefix)
	for i := range p.slots {
		sl := &p.slots[i]
		if raw := sl.of(text); !s.turn(name, text, sl) || sl.with != raw {
			same = false
		}
	}
	if same {
		return before, data
	}
	return before, s.v.rewrite(text, p.slots)
}

// turn makes of a slot what is sent of it. It says whether nothing is held back.
func (s *Stream) turn(name, text string, sl *slot) bool {
	r := s.find(sl.id)
	raw := sl.of(text)
	if r != nil {
		raw = r.held + raw
	}
	cut := len(raw)
	if !sl.last {
		cut = s.v.begun(raw)
	}
	sl.with = s.v.text(raw[:cut], func(value string) string { return written(value, sl.nested) })
	if cut == len(raw) {
		s.drop(r)
		return true
	}
	if r == nil {
		r = &spoken{}
		s.open = append(s.open, r)
	}
	r.slot, r.name, r.event, r.held = *sl, name, text, raw[cut:]
	return false
}

func (s *Stream) find(id string) *spoken {
	for _, r := range s.open {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (s *Stream) drop(r *spoken) {
	for i := range s.open {
		if s.open[i] == r {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

// ended gives the ends of the texts that an event ends without having a piece of them.
func (s *Stream) ended(p *pieces) []Event {
	if len(s.open) == 0 || p.quiet {
		return nil
	}
	var out []Event
	for _, r := range append([]*spoken(nil), s.open...) {
		if p.goesOn(r) {
			continue
		}
		out = append(out, s.rest(r))
		s.drop(r)
	}
	return out
}

// goesOn says whether a text may go on behind an event.
func (p *pieces) goesOn(r *spoken) bool {
	other := false
	for i := range p.slots {
		if p.slots[i].id == r.id {
			return true
		}
		other = other || p.slots[i].group == r.group && (!r.beside || !p.slots[i].beside)
	}
	if p.all || other {
		return false
	}
	for _, g := range p.ends {
		if g == r.group {
			return false
		}
	}
	return true
}

// rest makes an event of what is held of a text: its last one with nothing else in it.
func (s *Stream) rest(r *spoken) Event {
	switch s.api {
	case "gemini":
		thought := ""
		if r.thought {
			thought = `,"thought":true`
		}
		return Event{r.name, []byte(`{"candidates":[{"content":{"role":"model","parts":[{"text":"` + r.held + `"` + thought + `}]},"index":` + r.group + `}]}`)}
	case "chat":
		return Event{r.name, []byte(r.chunk())}
	}
	p := read(s.api, r.event)
	for i := range p.slots {
		if p.slots[i].part == r.part {
			p.slots[i].with = r.held
		}
	}
	return Event{r.name, s.v.rewrite(r.event, p.slots)}
}

// End gives what is still held when the stream is over.
func (s *Stream) End() []Event {
	out := s.ended(&pieces{all: true})
	s.numbered(out, nil)
	return out
}

// read finds the pieces of texts in an event.
func read(api, text string) pieces {
	var p pieces
	w := &walk{s: text}
	switch api {
	case "chat":
		p.chat(w)
	case "messages":
		p.messages(w)
	case "responses":
		p.responses(w)
	case "gemini":
		p.gemini(w)
	}
	if w.bad {
		return pieces{all: true}
	}
	return p
}

// take takes a string as a piece of a text; anything else is passed over.
func (p *pieces) take(w *walk, id string) *slot {
	if w.next() != '"' {
		w.skip()
		return nil
	}
	p.slots = append(p.slots, slot{part: w.str(), id: id, field: id})
	return &p.slots[len(p.slots)-1]
}

func (p *pieces) chat(w *walk) {
	p.all = w.next() != '{' // [DONE]
	w.object(func(key string) {
		switch key {
		case "choices":
			n := 0
			w.array(func() {
				p.choice(w, n)
				n++
			})
		case "error":
			p.all = p.all || w.next() != 'n'
		}
	})
}

// choice reads one choice of a chunk.
func (p *pieces) choice(w *walk, index int) {
	from, over := len(p.slots), false
	w.object(func(key string) {
		switch key {
		case "index":
			if n := w.number(); n >= 0 {
				index = n
			}
		case "finish_reason":
			over = w.next() == '"'
		case "text":
			p.take(w, key)
		case "delta":
			p.delta(w)
		}
	})
	group := strconv.Itoa(index)
	for i := from; i < len(p.slots); i++ {
		p.slots[i].id, p.slots[i].group, p.slots[i].last = group+"."+p.slots[i].id, group, over
	}
	if over {
		p.ends = append(p.ends, group)
	}
}

// delta reads what a chunk adds to its choice.
func (p *pieces) delta(w *walk) {
	w.object(func(key string) {
		switch key {
		case "content", "reasoning_content", "reasoning", "refusal":
			if sl := p.take(w, key); sl != nil && sl.from == sl.to {
				p.slots = p.slots[:len(p.slots)-1] // many send all of the fields with each chunk
			}
		case "function_call":
			w.object(func(key string) {
				if key == "arguments" {
					if sl := p.take(w, "function_call"); sl != nil {
						sl.nested = true
					}
				}
			})
		case "tool_calls":
			n := 0
			w.array(func() {
				p.call(w, n)
				n++
			})
		}
	})
}

// call reads a piece of a call. Several may go on side by side.
func (p *pieces) call(w *walk, index int) {
	from := len(p.slots)
	w.object(func(key string) {
		switch key {
		case "index":
			if n := w.number(); n >= 0 {
				index = n
			}
		case "function", "custom":
			w.object(func(key string) {
				switch key {
				case "arguments", "input":
					if sl := p.take(w, key); sl != nil {
						sl.nested = key == "arguments"
					}
				}
			})
		}
	})
	for i := from; i < len(p.slots); i++ {
		p.slots[i].id, p.slots[i].call, p.slots[i].beside = "call"+strconv.Itoa(index), index, true
	}
}

func (p *pieces) messages(w *walk) {
	kind, index := "", 0
	w.object(func(key string) {
		switch key {
		case "type":
			kind = w.text()
		case "index":
			index = w.number()
		case "delta":
			w.object(func(key string) {
				switch key {
				case "text", "thinking", "partial_json", "content":
					if sl := p.take(w, key); sl != nil {
						sl.nested = key == "partial_json"
					}
				}
			})
		}
	})
	group := strconv.Itoa(index)
	for i := range p.slots {
		p.slots[i].id, p.slots[i].group = group+"."+p.slots[i].id, group
	}
	switch kind {
	case "content_block_delta":
		if len(p.slots) == 0 { // a signature, or a citation
			p.ends = []string{group}
		}
	case "content_block_start", "content_block_stop":
		p.slots, p.ends = nil, []string{group}
	case "ping":
		p.quiet = true
	default:
		p.slots, p.all = nil, true
	}
}

func (p *pieces) responses(w *walk) {
	kind, item, out := "", "", -1
	at := ""
	w.object(func(key string) {
		switch key {
		case "type":
			kind = w.text()
		case "item_id":
			item = w.text()
		case "output_index":
			out = w.number()
		case "content_index", "summary_index":
			at += "." + strconv.Itoa(w.number())
		case "delta":
			p.take(w, "")
		}
	})
	group := strconv.Itoa(out)
	if !strings.HasSuffix(kind, ".delta") {
		p.slots, p.ends, p.all = nil, []string{group}, out < 0
		return
	}
	if strings.HasSuffix(kind, "audio.delta") { // bytes, each piece by itself
		p.slots, p.quiet = nil, true
		return
	}
	for i := range p.slots {
		sl := &p.slots[i]
		sl.id, sl.group, sl.nested = kind+item+group+at, group, strings.Contains(kind, "call_arguments")
	}
}

func (p *pieces) gemini(w *walk) {
	w.object(func(key string) {
		switch key {
		case "candidates":
			n := 0
			w.array(func() {
				p.candidate(w, n)
				n++
			})
		case "error":
			p.all = true
		}
	})
}

// candidate reads one candidate of a chunk. Pieces of one text that follow each other are one.
func (p *pieces) candidate(w *walk, index int) {
	from, over := len(p.slots), false
	w.object(func(key string) {
		switch key {
		case "index":
			if n := w.number(); n >= 0 {
				index = n
			}
		case "finishReason":
			over = w.next() == '"'
		case "content":
			w.object(func(key string) {
				if key == "parts" {
					w.array(func() { p.said(w, from) })
				}
			})
		}
	})
	group := strconv.Itoa(index)
	for i := from; i < len(p.slots); i++ {
		sl := &p.slots[i]
		sl.id, sl.group = group+"."+sl.id, group
		sl.last = sl.last || over && i == len(p.slots)-1
	}
	if over {
		p.ends = append(p.ends, group)
	}
}

// said reads one part of a candidate; one that is no text ends the text before it.
func (p *pieces) said(w *walk, from int) {
	thought := false
	var mine *slot
	w.object(func(key string) {
		switch key {
		case "thought":
			thought = w.next() == 't'
		case "text":
			mine = p.take(w, "text")
		}
	})
	if mine == nil {
		if len(p.slots) > from {
			p.slots[len(p.slots)-1].last = true
		} else {
			p.all = true
		}
		return
	}
	if mine.thought = thought; thought {
		mine.id = "thought"
	}
	if n := len(p.slots); n-from > 1 && p.slots[n-2].id != mine.id {
		p.slots[n-2].last = true
	}
}

package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// reader turns a reply into events. The end of the stream ends the reply: usage may still
// come behind the chunk that tells why it ended.
type reader struct {
	out  []wire.Event
	back map[string]string // tools' own names, where the vendor got others
	free map[string]bool   // tools that are freeform to the asker
	seed string            // tells apart the replies of a conversation to a vendor that gives them no ids

	started bool
	over    bool
	whole   bool // the reply came in one piece
	calls   int
	said    bool // text, a call or an image came
	part    int  // counts runs of text and of reasoning
	last    wire.EventKind
	usage   wire.Usage
	finish  string
	detail  string
	blocked bool
	cites   citing
}

func newReader(asked *wire.Ask) wire.Reader {
	r := &reader{back: wire.Restore(asked, names)}
	if asked == nil {
		r.cites.on = true
		return r
	}
	for i := range asked.Tools {
		switch t := &asked.Tools[i]; t.Kind {
		case wire.ToolFree:
			if r.free == nil {
				r.free = map[string]bool{}
			}
			r.free[t.Name] = true
		case wire.ToolHosted:
			r.cites.on = r.cites.on || t.Hosted == "web_search" || t.Hosted == "web_fetch"
		case wire.ToolFunction:
		}
	}
	r.seed = seed(asked)
	return r
}

// seedMost is how much of a text is kept to tell a request apart.
const seedMost = 512

// seed tells a request apart from those before it in its conversation.
func seed(a *wire.Ask) string {
	last := ""
	for i := len(a.Turns) - 1; i >= 0 && last == ""; i-- {
		for j := range a.Turns[i].Parts {
			switch p := &a.Turns[i].Parts[j]; {
			case p.Call != nil:
				last = p.Call.ID
			case p.Kind == wire.KindText:
				last = p.Text
			}
		}
	}
	return strconv.Itoa(len(a.Turns)) + "\x00" + strconv.Itoa(len(last)) + "\x00" + last[:min(len(last), seedMost)]
}

// Read takes one event. What it returns is good until the next call.
func (r *reader) Read(event []byte) []wire.Event {
	r.out = r.out[:0]
	_, data := sse.Parse(event)
	data = bytes.TrimSpace(data)
	if r.over || len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	r.value(data)
	return r.out
}

// Whole takes a reply that came in one piece: an object, or the array that a stream
// without alt=sse is.
func (r *reader) Whole(body []byte) []wire.Event {
	r.out = r.out[:0]
	if r.over {
		return nil
	}
	r.whole = true
	r.value(bytes.TrimSpace(body))
	r.end()
	return r.out
}

// End is told that the stream ended.
func (r *reader) End() []wire.Event {
	r.out = r.out[:0]
	r.end()
	return r.out
}

func (r *reader) emit(e wire.Event) { r.out = append(r.out, e) }

func (r *reader) fail(status int, code, words string) {
	if r.over {
		return
	}
	r.over = true
	r.emit(wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: status, Code: code, Words: words}})
}

// value reads one chunk, or an array of them.
func (r *reader) value(data []byte) {
	if len(data) > 0 && data[0] == '[' {
		v, err := wire.ReadValue(data)
		if err != nil {
			r.fail(http.StatusBadGateway, "", "The vendor's reply can't be read: "+err.Error())
			return
		}
		v.Elements(func(e wire.Value) { r.chunk(e) })
		return
	}
	r.chunk(data)
}

// chunk reads one GenerateContentResponse, or an error.
func (r *reader) chunk(data []byte) {
	if r.over {
		return
	}
	w := wire.Walk(data)
	var c chunk
	w.Object(func(key []byte) { c.member(w, key) })
	if err := w.Err(); err != nil {
		r.fail(http.StatusBadGateway, "", "The vendor's reply can't be read: "+err.Error())
		return
	}
	if c.fault != nil {
		r.fault(c.fault)
		return
	}
	r.start(&c)
	for _, p := range c.parts {
		r.piece(p)
	}
	if c.ground != nil {
		r.cites.ground = append(r.cites.ground[:0], c.ground...)
	}
	if c.counted && c.usage != r.usage {
		r.usage = c.usage
		r.emit(wire.Event{Kind: wire.EventUsage, Usage: c.usage})
	}
	if c.finish != "" && c.finish != "FINISH_REASON_UNSPECIFIED" {
		r.finish, r.detail = c.finish, c.words
	}
	if c.block != "" {
		r.blocked, r.finish, r.detail = true, c.block, c.words
	}
}

func (r *reader) start(c *chunk) {
	if r.started {
		return
	}
	r.started = true
	if c.id != "" {
		r.seed = c.id
	}
	r.emit(wire.Event{Kind: wire.EventStart, ID: c.id, Model: c.model})
}

// fault fails the reply with what the vendor says of it.
func (r *reader) fault(raw json.RawMessage) {
	v := wire.Value(raw)
	status := http.StatusBadGateway
	if n, ok := v.Get("code").Int(); ok && n >= 400 && n < 600 {
		status = int(n)
	}
	words := v.Get("message").Text()
	if v.Kind() == '"' {
		words = v.Text()
	}
	if words == "" {
		words = "The vendor broke the reply off with an error that it does not explain."
	}
	r.fail(status, "", words)
}

// run says which run of its kind a piece belongs to: another kind between begins another.
func (r *reader) run(k wire.EventKind) int {
	if r.last != k {
		r.last = k
		r.part++
	}
	return r.part
}

// piece tells one part.
func (r *reader) piece(raw json.RawMessage) {
	p := replyPart{}
	w := wire.Walk(raw)
	w.Object(func(key []byte) { p.member(w, key) })
	var seal *wire.Seal
	if p.sign != "" {
		seal = &wire.Seal{API: wire.Gemini, Data: p.sign}
	}
	switch {
	case p.call != nil:
		r.call(p.call, seal)
	case p.thought:
		if p.text != "" {
			r.emit(wire.Event{Kind: wire.EventThinking, Text: p.text, Part: r.run(wire.EventThinking)})
		}
		if seal != nil {
			r.emit(wire.Event{Kind: wire.EventSeal, Seal: seal})
			r.last = wire.EventSeal
		}
	case p.media != nil:
		r.said = true
		r.last = wire.EventMedia
		r.emit(wire.Event{Kind: wire.EventMedia, Media: p.media})
	case p.text != "" || seal != nil:
		r.said = r.said || strings.TrimSpace(p.text) != ""
		r.cites.say(p.text)
		r.emit(wire.Event{Kind: wire.EventText, Text: p.text, Seal: seal, Part: r.run(wire.EventText)})
	}
}

// call tells a call: it comes whole. One without a name can't be made.
func (r *reader) call(c *wire.Call, seal *wire.Seal) {
	if c.Name == "" {
		return
	}
	if own, ok := r.back[c.Name]; ok {
		c.Name = own
	}
	n := r.calls
	r.calls++
	r.said = true
	r.last = wire.EventCall
	if c.ID == "" {
		c.ID = wire.MakeID("call_", r.seed, strconv.Itoa(n), c.Name)
	}
	text := string(c.Args)
	c.Args = json.RawMessage(text) // the event's bytes are not ours to keep
	if r.free[c.Name] {
		c.Free, c.Input, c.Args = true, wire.FreeInput(text), nil
		text = c.Input
	}
	r.emit(wire.Event{Kind: wire.EventCall, Index: n, Call: &wire.Call{ID: c.ID, Name: c.Name, Free: c.Free}, Seal: seal})
	r.emit(wire.Event{Kind: wire.EventArgs, Index: n, Text: text})
	r.emit(wire.Event{Kind: wire.EventCallEnd, Index: n, Call: c})
}

// end settles how the reply ended.
func (r *reader) end() {
	if r.over {
		return
	}
	if r.finish == "" && (!r.whole || !r.said) {
		words := "The vendor's reply ended before it was whole."
		if r.whole {
			words = "The vendor's reply is empty."
		}
		r.fail(http.StatusBadGateway, "", words)
		return
	}
	f, ok := r.ending()
	if !ok {
		return
	}
	r.over = true
	for _, c := range r.cites.all() {
		r.emit(wire.Event{Kind: wire.EventCite, Cite: &c})
	}
	r.emit(wire.Event{Kind: wire.EventFinish, Finish: f})
}

// ending is how the reply ended. A call that the model could not make, and a reply of
// nothing, are failures while nothing was said.
func (r *reader) ending() (f wire.Finish, ok bool) {
	f.Detail = r.finish
	if r.blocked || withheld[r.finish] {
		f.Why = wire.FinishWithheld
		return f, true
	}
	switch r.finish {
	case "MAX_TOKENS", "CONTINUATION":
		f.Why = wire.FinishLength
		return f, true
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		if !r.said {
			r.fail(http.StatusBadGateway, r.finish, "The model broke its reply off: "+r.reason()+".")
			return f, false
		}
		f.Why = wire.FinishBroken
	default:
		if !r.said {
			r.fail(http.StatusBadGateway, "empty_reply", "The model's reply is empty.")
			return f, false
		}
		f.Why = wire.FinishStop
	}
	if r.calls > 0 {
		f.Why = wire.FinishCalls
	}
	return f, true
}

func (r *reader) reason() string {
	if r.detail != "" {
		return r.finish + ": " + strings.TrimSuffix(r.detail, ".")
	}
	return r.finish
}

// withheld are the reasons for which a reply, or the rest of it, is held back.
var withheld = map[string]bool{
	"SAFETY": true, "RECITATION": true, "LANGUAGE": true, "BLOCKLIST": true, "PROHIBITED_CONTENT": true, "SPII": true,
	"IMAGE_SAFETY": true, "IMAGE_PROHIBITED_CONTENT": true, "IMAGE_RECITATION": true, "IMAGE_OTHER": true, "MODEL_ARMOR": true,
}

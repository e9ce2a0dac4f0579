package standin

import (
	"strings"
	"time"

	"dev.magpie/gateway/wire"
)

// How a reply ends.
const (
	finishStop    = "stop"
	finishCalls   = "calls"
	finishLength  = "length"
	finishRefused = "refused"
)

// reply is an answer before it has an API's shape.
type reply struct {
	id       string
	model    string
	created  int64
	think    string
	seal     string
	callSeal string   // Gemini: of the first call
	pieces   []string // of the text
	calls    []call
	finish   string
	usage    Usage
	sealed   string // of a compaction
}

// call is one tool call of a reply.
type call struct {
	id        string
	item      string // the id of its item on Responses
	name      string
	namespace string
	freeform  bool
	args      string // JSON, or the bare text of a freeform tool
}

// text is the whole text of a reply.
func (r *reply) text() string { return strings.Join(r.pieces, "") }

// What is said when nothing else is given.
const (
	defaultText  = "All good: the request arrived and this is the answer to it."
	defaultThink = "The request is clear. A short answer will do."
	defaultTitle = "A small change"
)

// compose makes the answer to an ask as the step wants it.
func (x *exchange) compose(a *ask, f Fault) *reply {
	v := x.v
	prefix := map[wire.Protocol]string{wire.Chat: "chatcmpl-", wire.Responses: "resp_", wire.Messages: "msg_"}[a.api]
	r := &reply{id: v.makeID(prefix, x.n, "reply"), model: a.model, created: time.Now().Unix(), finish: finishStop}
	text := pick(f.Say, pick(v.opts.Text, defaultText))
	if f.Say == "" {
		text = v.says(a, text)
	}
	r.calls = x.calls(a, f)
	switch {
	case f.Do == Withhold:
		text, r.calls, r.finish = "", nil, finishRefused
	case len(r.calls) > 0:
		text, r.finish = f.Say, finishCalls
	case a.warmUp():
		text, r.finish = "", finishLength
	case f.Finish == finishLength || a.limit > 0 && a.limit < estimate(len(text)):
		r.finish = finishLength
		if a.limit > 0 {
			text = text[:min(len(text), a.limit*4)]
		}
	}
	r.pieces = cut(text, f.Events)
	if f.Huge > 0 {
		r.pieces = append(r.pieces, strings.Repeat("x", f.Huge))
	}
	r.think = v.thinks(a, f)
	if r.think != "" {
		r.seal = v.seal(a, r.think)
	}
	if len(r.calls) > 0 {
		r.callSeal = v.seal(a, r.calls[0].name+r.calls[0].args)
	}
	r.usage = v.usage(a, x.key, r)
	if f.Usage != nil {
		r.usage = *f.Usage
	}
	return r
}

// thinks is what the model thinks before it answers, "" for nothing.
func (v *Vendor) thinks(a *ask, f Fault) string {
	shows := a.api != wire.Chat || v.house.reasoning != ""
	switch {
	case !shows, a.warmUp(), f.Do == Withhold && f.At != AfterThink:
		return ""
	case f.Think != "":
		return f.Think
	case a.thinking || f.Do == Withhold && f.At == AfterThink:
		return pick(v.opts.Think, defaultThink)
	}
	return ""
}

// says picks a text that fits what was asked: JSON where JSON was asked for, a title
// where an agent asks for one beside its work.
func (v *Vendor) says(a *ask, text string) string {
	loop := v.opts.Loop
	switch {
	case a.schema != nil:
		return string(marshal(sample(a.schema, "")))
	case a.json:
		return `{"answer":"` + defaultTitle + `"}`
	case loop == nil:
		return text
	case len(a.open()) == 0 && a.everResults() == 0:
		return defaultTitle
	}
	return pick(loop.Final, text)
}

// calls are the tool calls of the answer: the step's, the loop's, those that the
// request forces, or those of a model at work.
func (x *exchange) calls(a *ask, f Fault) []call {
	open := a.open()
	var want []ToolCall
	switch {
	case f.Calls != nil:
		want = f.Calls
	case len(open) == 0 || a.warmUp() || a.choice.mode == "none" || f.Say != "" || a.schema != nil:
		return nil
	case x.v.opts.Loop != nil && a.begins(x.v.opts.Loop.Each):
		return x.named(a, x.v.opts.Loop.call(open))
	case a.choice.mode == "any":
		want = []ToolCall{{Name: pick(a.choice.name, "*")}}
	case x.v.opts.Busy && a.results() < busyCalls(a.said()):
		want = []ToolCall{{Name: busyTool(open, a.results())}}
	}
	return x.named(a, want...)
}

// named finds the tools on offer for the calls that are wanted, and fills them in.
func (x *exchange) named(a *ask, want ...ToolCall) []call {
	var all []call
	open := a.open()
	for i, w := range want {
		if w.Name == "" {
			continue
		}
		t := tool{name: w.Name}
		for _, one := range open {
			if one.name == w.Name || w.Name == "*" {
				t = one
				break
			}
		}
		c := call{name: t.name, namespace: t.namespace, freeform: t.freeform, args: w.Args}
		what := "call" + itoa(i)
		switch a.api {
		case wire.Messages:
			c.id = x.v.makeID("toolu_", x.n, what)
		case wire.Responses:
			c.id = x.v.makeID("call_", x.n, what)
			c.item = x.v.makeID("fc_", x.n, what)
			if c.freeform {
				c.item = x.v.makeID("ctc_", x.n, what)
			}
		case wire.Chat, wire.Gemini:
			c.id = x.v.makeID("call_", x.n, what)
		}
		if c.args == "" && !c.freeform {
			c.args = string(marshal(sample(t.schema, "")))
		}
		all = append(all, c)
	}
	return all
}

// cut splits a text into pieces of a few words, or into so many pieces, saying it
// again until there are enough.
func cut(text string, n int) []string {
	words := strings.SplitAfter(text, " ")
	if text == "" {
		return nil
	}
	if n <= 0 {
		var pieces []string
		for len(words) > 0 {
			k := min(3, len(words))
			pieces = append(pieces, strings.Join(words[:k], ""))
			words = words[k:]
		}
		return pieces
	}
	pieces := make([]string, 0, n)
	for i := range n {
		w := words[i%len(words)]
		if i%len(words) == len(words)-1 && i < n-1 {
			w += " "
		}
		pieces = append(pieces, w)
	}
	if len(words) > n {
		pieces[n-1] += strings.Join(words[n:], "")
	}
	return pieces
}

// reply answers a request for a reply.
func (x *exchange) reply(a *ask, f Fault) {
	if a.compact || a.op == OpCompact {
		x.compaction(a, f)
		return
	}
	r := x.compose(a, f)
	x.remember(a, r)
	if a.stream && !f.Line.Whole {
		x.first(f)
		x.stream(f, a, x.v.frames(a, r))
		return
	}
	if f.Do == Error {
		x.first(f)
		x.refuse(x.v.refuse(Fault{Status: f.Status, Why: f.Why, Words: f.Words, Retry: f.Retry, Resets: f.Resets, Body: f.Body}, x.occasion(a)))
		return
	}
	x.whole(f, x.v.wholeReply(a, r))
}

// frames is a reply as a stream in the ask's API.
func (v *Vendor) frames(a *ask, r *reply) []frame {
	switch a.api {
	case wire.Responses:
		return v.responsesFrames(a, r)
	case wire.Messages:
		return messagesFrames(a, r)
	case wire.Gemini:
		return geminiFrames(a, r)
	case wire.Chat:
	}
	return v.chatFrames(a, r)
}

// wholeReply is a reply as one value in the ask's API.
func (v *Vendor) wholeReply(a *ask, r *reply) object {
	switch a.api {
	case wire.Responses:
		return responsesWhole(a, r, responsesItemsOf(a, r))
	case wire.Messages:
		return messagesWhole(a, r)
	case wire.Gemini:
		return geminiWhole(a, r)
	case wire.Chat:
	}
	return v.chatWhole(a, r)
}

// remember keeps what later requests may refer to.
func (x *exchange) remember(a *ask, r *reply) {
	said := turn{role: "assistant"}
	if t := r.text(); t != "" {
		said.parts = append(said.parts, content{kind: "text", text: t})
	}
	for _, c := range r.calls {
		said.parts = append(said.parts, content{kind: "call", id: c.id, name: c.name, text: c.args})
	}
	conv := conversation{turns: append(a.turns[:len(a.turns):len(a.turns)], said)}
	switch {
	case a.api == wire.Responses && a.store:
		items := responsesItemsOf(a, r)
		for _, it := range items {
			x.v.stored.keepItem(storedID{a.key, str(obj(it)["id"])})
		}
		conv.body = marshal(responsesWhole(a, r, items))
		x.v.stored.keep(storedID{a.key, r.id}, conv)
	case a.api == wire.Messages && a.tree["thread"] != nil:
		x.v.stored.keep(storedID{a.key, r.id}, conv)
	}
}

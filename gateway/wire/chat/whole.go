package chat

import (
	"strconv"
	"unicode/utf8"

	"dev.magpie/gateway/wire"
)

// finishWord is the finish_reason of a reply in which so many calls were told.
func finishWord(f *wire.Finish, calls int, legacy bool) string {
	switch f.Why {
	case wire.FinishLength, wire.FinishWindow:
		return "length"
	case wire.FinishWithheld:
		return "content_filter"
	case wire.FinishStop, wire.FinishString, wire.FinishCalls, wire.FinishPause, wire.FinishBroken:
	}
	switch {
	case calls == 0:
		return "stop"
	case legacy:
		return "function_call"
	}
	return "tool_calls"
}

// finish writes the chunk that ends the reply, usage if it was asked for, and the mark of the end.
func (c *writer) finish(f *wire.Finish) {
	if f.Why == wire.FinishWithheld && !c.refused && c.runes == 0 {
		c.text(`"refusal":`, f.Explanation())
	}
	for _, index := range c.order {
		if k := c.calls[index]; !k.args && !k.free {
			c.args(index, "{}")
		}
	}
	c.open()
	c.end(quoted(finishWord(f, c.told, c.legacy)))
	if c.usage {
		c.buf = append(c.buf, c.head...)
		c.buf = append(c.buf, `],"usage":`...)
		c.buf = append(appendUsage(c.buf, &c.last), "}\n\n"...)
	}
	c.buf = append(c.buf, "data: [DONE]\n\n"...)
	c.done = true
}

func appendUsage(b []byte, u *wire.Usage) []byte {
	number := func(name string, n int64) {
		b = append(b, name...)
		b = strconv.AppendInt(b, n, 10)
	}
	number(`{"prompt_tokens":`, u.Input)
	number(`,"completion_tokens":`, u.Output)
	number(`,"total_tokens":`, u.Input+u.Output)
	number(`,"prompt_tokens_details":{"cached_tokens":`, u.CacheRead)
	if u.CacheWrite > 0 {
		number(`,"cache_write_tokens":`, u.CacheWrite)
	}
	number(`},"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	return append(b, "}}"...)
}

// gather takes an event of a reply that is written in one piece.
func (c *writer) gather(e wire.Event) error {
	c.fold.Add(e)
	switch e.Kind {
	case wire.EventFail:
		c.done = true
		c.buf = e.Fail.Body(wire.Chat)
	case wire.EventFinish:
		c.done = true
		a := c.fold.Answer()
		c.buf = c.answer(&a)
	case wire.EventStart, wire.EventThinking, wire.EventSeal, wire.EventText, wire.EventRefusal, wire.EventCall,
		wire.EventArgs, wire.EventCallEnd, wire.EventCite, wire.EventMedia, wire.EventUsage:
		return nil
	}
	return c.flush()
}

// answer writes a whole reply with every field that the SDKs call required.
func (c *writer) answer(a *wire.Answer) []byte {
	var o out
	o.open('{')
	o.str("id", replyID(&c.o, a.ID))
	o.str("object", "chat.completion")
	o.num("created", c.o.Now)
	o.str("model", c.o.Model)
	o.key("choices")
	o.open('[')
	o.open('{')
	o.num("index", 0)
	o.key("message")
	calls := c.message(&o, a)
	o.raw("logprobs", []byte("null"))
	o.str("finish_reason", finishWord(&a.Finish, calls, c.legacy))
	o.close('}')
	o.close(']')
	o.key("usage")
	o.b = appendUsage(o.b, &a.Usage)
	o.close('}')
	return o.b
}

// said is what the parts of a whole reply come to.
type said struct {
	text, refusal, thought []byte
	details, cites, images []byte
	calls                  []*wire.Part
	covers                 int
	runes                  int
}

func (s *said) add(p *wire.Part, vendor string) {
	switch p.Kind {
	case wire.KindText:
		for i := range p.Cites {
			if p.Cites[i].End > 0 {
				s.cites = appendCite(comma(s.cites), &p.Cites[i], s.runes)
			}
		}
		s.text = append(s.text, p.Text...)
		s.runes += utf8.RuneCountInString(p.Text)
	case wire.KindRefusal:
		s.refusal = append(s.refusal, p.Text...)
	case wire.KindThinking:
		s.thought = append(s.thought, p.Text...)
		s.covers += len(p.Text)
		if p.Seal != nil && p.Seal.Data != "" {
			s.details = appendDetail(comma(s.details), p.Seal, vendor, s.covers)
			s.covers = 0
		}
	case wire.KindImage:
		s.images = appendImage(comma(s.images), p.Media)
	case wire.KindCall:
		s.calls = append(s.calls, p)
	case wire.KindFile, wire.KindAudio, wire.KindVideo, wire.KindResult, wire.KindOpaque:
	}
}

func comma(b []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return b
}

// message writes the message and returns how many calls it has.
func (c *writer) message(o *out, a *wire.Answer) int {
	var s said
	for i := range a.Parts {
		s.add(&a.Parts[i], c.o.Vendor)
	}
	if a.Finish.Why == wire.FinishWithheld && len(s.refusal) == 0 && len(s.text) == 0 {
		s.refusal = []byte(a.Finish.Explanation())
	}
	o.open('{')
	o.str("role", "assistant")
	if len(s.text) == 0 && (len(s.calls) > 0 || len(s.refusal) > 0) {
		o.raw("content", []byte("null"))
	} else {
		o.str("content", string(s.text))
	}
	if len(s.refusal) == 0 {
		o.raw("refusal", []byte("null"))
	} else {
		o.str("refusal", string(s.refusal))
	}
	o.strIf("reasoning_content", string(s.thought))
	o.list("reasoning_details", s.details)
	o.list("annotations", s.cites)
	o.list("images", s.images)
	if c.legacy && len(s.calls) > 0 {
		s.calls = s.calls[:1]
		call := s.calls[0].Call
		o.key("function_call")
		o.open('{')
		o.str("name", call.Name)
		o.str("arguments", argsOf(call))
		o.close('}')
	} else if len(s.calls) > 0 {
		writeCalls(o, s.calls)
	}
	o.close('}')
	return len(s.calls)
}

func writeCalls(o *out, calls []*wire.Part) {
	o.key("tool_calls")
	o.open('[')
	for _, p := range calls {
		kind, field := callWords(p.Call.Free)
		o.item()
		o.open('{')
		o.str("id", p.Call.ID)
		o.str("type", kind)
		o.key(kind)
		o.open('{')
		o.str("name", p.Call.Name)
		o.str(field, argsOf(p.Call))
		o.close('}')
		o.b = appendCallSeal(o.b, p.Seal)
		o.close('}')
	}
	o.close(']')
}

package gateway

import (
	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/gemini"
	"dev.magpie/provider"
)

// embeds says whether vectors of texts are asked for.
func (a *ask) embeds() bool { return a.door == provider.Embeddings || a.door == provider.Batch }

// embedsToo is the other API that has embeddings; no more than these two have any.
var embedsToo = map[wire.Protocol]wire.Protocol{wire.Chat: wire.Gemini, wire.Gemini: wire.Chat}

// settleEmbed settles on which of the two the vendor is asked.
func (t *try) settleEmbed() {
	if api, ok := t.s.askOn(t.c, []wire.Protocol{wire.Responses, wire.Messages}); ok {
		t.api, t.speaks = api, true
	}
}

// translateEmbed makes the request of a try in the other API than the agent's.
func (s *service) translateEmbed(t *try) (*translation, error) {
	x := &translation{from: s.a.api, to: t.api}
	var err error
	if s.a.api == wire.Gemini {
		x.embed, err = gemini.ReadEmbedAsk(s.a.body)
	} else {
		x.embed, err = chat.ReadEmbedAsk(s.a.body)
	}
	if err != nil {
		return nil, err
	}
	x.lost = x.embed.Lost()
	if t.api == wire.Gemini {
		x.door, x.body = provider.Batch, gemini.WriteEmbedAsk(x.embed, t.c.Model)
	} else {
		x.door, x.body = provider.Embeddings, chat.WriteEmbedAsk(x.embed, t.c.Model)
	}
	return x, nil
}

// embedded tells the agent, in its own API, what a vendor of the other made of its texts.
func (t *try) embedded(first []byte, err error) outcome {
	s := t.s
	body, more := first, false
	if err == nil {
		body, more, err = t.gather(first)
	}
	if more || err != nil && !isEnd(err) {
		return t.cutShort(err)
	}
	facts := wire.Reply{P: t.api}
	if facts.JudgeWhole(body) == wire.Failed {
		return s.failedEvent(t.c, t.resp, facts.Fault)
	}
	if !facts.Whole { // cut off, though the connection ended well
		return t.cutShort(err)
	}
	var e *wire.Embedded
	if t.api == wire.Gemini {
		e, err = gemini.ReadEmbedded(body)
	} else {
		e, err = chat.ReadEmbedded(body)
	}
	if err == nil {
		err = e.Of(t.x.embed)
	}
	if err != nil {
		o := s.failed(t.c, failure.Seen{Phase: failure.PhaseStream, Err: err})
		o.words, o.verdict.Words = err.Error(), err.Error()
		return o
	}
	if e.Input > 0 {
		facts.Usage, facts.Counted = wire.Usage{Input: e.Input}, true
	} else {
		e.Input = t.x.embed.Estimate()
	}
	if s.a.api == wire.Gemini {
		return t.sendTranslated(gemini.WriteEmbedded(e, t.x.embed), &facts)
	}
	return t.sendTranslated(chat.WriteEmbedded(e, t.x.embed, s.a.model), &facts)
}

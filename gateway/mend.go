package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// How often one candidate is asked once more in another form.
const (
	mendsMost  = 8
	shapesMost = 3 // for features of Messages that a vendor doesn't know
)

// mending is what was found out of one candidate in this request.
type mending struct {
	found  []found
	lost   []found         // bets that were put back
	unfit  []wire.Protocol // on which it doesn't serve the model
	rounds int
	shapes int
}

// found is a thing that a request is sent without, and the API on which it was refused.
type found struct {
	mend.Found
	api wire.Protocol
}

// generates says whether the request is for a model's reply, of which something may be left out.
func (a *ask) generates() bool {
	return (a.door == provider.Generate || a.door == provider.Stream) && a.tail == ""
}

// mended says whether a refused request can be sent once more to the same candidate, on
// another API or without what it was refused for.
func (s *service) mended(c *trace.Candidate, o *outcome) bool {
	if !s.a.generates() || !aboutTheRequest(o.verdict.Kind) {
		return false
	}
	if s.mends == nil {
		s.mends = map[string]*mending{}
	}
	m := s.mends[c.ID]
	if m == nil {
		m = &mending{}
		s.mends[c.ID] = m
	}
	if m.rounds >= mendsMost {
		return false
	}
	if s.elsewhere(c, m, o) || s.without(c, m, o) {
		m.rounds++
		return true
	}
	return false
}

// aboutTheRequest says whether a failure may be one of the request's form.
func aboutTheRequest(k trace.Kind) bool {
	switch k {
	case trace.Request, trace.Shape, trace.Model, trace.Effort, trace.Prompt, trace.Other:
		return true
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Refused, trace.Slow, trace.Proxy,
		trace.Verify, trace.Cancelled, trace.TooLarge, trace.Network:
	}
	return false
}

// wrongEndpoint is the row of a model that isn't served on an API.
const wrongEndpoint = "wrong-endpoint"

// elsewhere says whether the provider has the model on another API than the one that it refused it on.
func (s *service) elsewhere(c *trace.Candidate, m *mending, o *outcome) bool {
	if o.verdict.Row != wrongEndpoint || slices.Contains(m.unfit, s.asking) {
		return false
	}
	if _, ok := s.askOn(c, append(s.unfit(c), s.asking)); !ok {
		return false
	}
	m.unfit = append(m.unfit, s.asking)
	return true
}

// askOn is the API on which a candidate's model is asked, but for some.
func (s *service) askOn(c *trace.Candidate, unfit []wire.Protocol) (wire.Protocol, bool) {
	p, acct := s.lv.cat.Provider(c.Provider), s.lv.cat.Account(provider.AccountID(c.ID))
	return p.AskOn(s.a.api, acct.Protocol, c.Model, s.lv.fetched()[p.ID], unfit...)
}

// unfit are the APIs on which the candidate's model is known not to be served.
func (s *service) unfit(c *trace.Candidate) []wire.Protocol {
	var out []wire.Protocol
	if m := s.mends[c.ID]; m != nil {
		out = slices.Clone(m.unfit)
	}
	for _, api := range wire.Protocols {
		if slices.Contains(s.g.learned.Of(c.Provider, api, c.Model), mend.Thing{What: mend.Unfit}) {
			out = append(out, api)
		}
	}
	return out
}

// without notes what the refusal asks to leave out, and says whether that is anything.
func (s *service) without(c *trace.Candidate, m *mending, o *outcome) bool {
	had := s.things(c, s.asking)
	added := false
	for _, f := range mend.Find(s.refusedAsk(c), refusalOf(o)) {
		if slices.Contains(had, f.Thing) || !s.bears(f.What) || m.isLost(f.Thing, s.asking) {
			continue
		}
		if !added && f.Bet {
			m.putBack(s.asking)
		}
		added = true
		m.found = append(m.found, found{f, s.asking})
		if f.Now {
			s.g.learned.Learn(s.key(c, &m.found[len(m.found)-1]), f.Thing)
		}
	}
	if !added {
		m.putBack(s.asking)
	}
	if added && s.asking == wire.Messages {
		m.shapes++
		return m.shapes <= shapesMost
	}
	return added
}

// putBack puts back what was left out on no more than a guess, once the request was refused
// without it in the same way: it stays in the requests to come.
func (m *mending) putBack(api wire.Protocol) {
	for i := range m.found {
		if f := m.found[i]; f.Bet && f.api == api {
			m.lost = append(m.lost, f)
		}
	}
	m.found = slices.DeleteFunc(m.found, func(f found) bool { return f.Bet && f.api == api })
}

// isLost says whether a thing was left out in vain.
func (m *mending) isLost(t mend.Thing, api wire.Protocol) bool {
	return slices.ContainsFunc(m.lost, func(f found) bool { return f.Thing == t && f.api == api })
}

func refusalOf(o *outcome) mend.Refusal {
	r := mend.Refusal{Status: o.seen, Body: o.raw, Words: o.words, Row: o.verdict.Row, Long: o.verdict.Kind == trace.TooLarge}
	switch o.verdict.Kind {
	case trace.Request, trace.Other, trace.Shape:
		r.Plain = r.Row != wrongEndpoint
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Refused, trace.TooLarge, trace.Slow, trace.Prompt,
		trace.Effort, trace.Proxy, trace.Verify, trace.Cancelled, trace.Model, trace.Network:
	}
	return r
}

// refusedAsk is the request that was refused, as its vendor got it.
func (s *service) refusedAsk(c *trace.Candidate) mend.Sent {
	sent := mend.Sent{API: s.asking, Body: s.sent, Translated: s.asking != s.a.api}
	if s.asking == wire.Messages && !sent.Translated {
		for _, v := range mend.Betas(s.a.header.Values("Anthropic-Beta"), s.things(c, s.asking)) {
			sent.Betas = append(sent.Betas, strings.Split(v, ",")...)
		}
	}
	other, ok := s.askOn(c, append(s.unfit(c), s.asking))
	sent.Lone = !ok || other != wire.Responses
	sent.House = ownHouse(s.lv.cat.Provider(c.Provider), s.lv.cat.Account(provider.AccountID(c.ID)), s.asking)
	return sent
}

// ownHouse says whether whoever is asked made Codex: a sign-in of ChatGPT, or OpenAI itself.
func ownHouse(p *provider.Provider, acct *provider.Account, api wire.Protocol) bool {
	if acct.Kind == provider.KindAccount && (p.Dialect.Vendor == "codex" || p.Dialect.Vendor == "openai") {
		return true
	}
	u, err := url.Parse(p.Bases[api])
	return err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com"))
}

// bears says whether the conversation has what a request would be written anew without.
func (s *service) bears(w mend.What) bool {
	switch w {
	case mend.Images:
		return s.a.env.Images && s.has(wire.KindImage)
	case mend.Thoughts:
		return s.has(wire.KindThinking)
	case mend.Field, mend.Beta, mend.Level, mend.Choice, mend.Least, mend.Most, mend.Bare, mend.Recall, mend.Adaptive, mend.Unfit, mend.Painter:
	}
	return true
}

// has says whether the conversation has a part of that kind, also inside of results.
func (s *service) has(k wire.Kind) bool {
	a, err := s.a.neutral()
	return err == nil && has(a, k)
}

func has(a *wire.Ask, k wire.Kind) bool {
	for i := range a.Turns {
		for j := range a.Turns[i].Parts {
			p := &a.Turns[i].Parts[j]
			if p.Kind == k || p.Kind == wire.KindResult && p.Reply != nil && slices.ContainsFunc(p.Reply.Parts, func(in wire.Part) bool { return in.Kind == k }) {
				return true
			}
		}
	}
	return false
}

// things are what a request to the candidate is sent without on an API: as it was refused,
// or as the provider is known.
func (s *service) things(c *trace.Candidate, api wire.Protocol) []mend.Thing {
	known := s.g.learned.Of(c.Provider, api, c.Model)
	m := s.mends[c.ID]
	if m == nil {
		return known
	}
	all := slices.Clone(known)
	for i := range m.found {
		if m.found[i].api == api && !slices.Contains(all, m.found[i].Thing) {
			all = append(all, m.found[i].Thing)
		}
	}
	return all
}

func (s *service) key(c *trace.Candidate, f *found) mend.Key {
	k := mend.Key{Provider: c.Provider, API: f.api, Model: c.Model}
	if f.Wide {
		k.Model = ""
	}
	return k
}

// learn remembers what made a mended request good.
func (s *service) learn(c *trace.Candidate) {
	m := s.mends[c.ID]
	if m == nil {
		return
	}
	for _, api := range m.unfit {
		s.g.learned.Learn(mend.Key{Provider: c.Provider, API: api, Model: c.Model}, mend.Thing{What: mend.Unfit})
	}
	for i := range m.found {
		if f := &m.found[i]; f.Keep && f.api == s.asking {
			s.g.learned.Learn(s.key(c, f), f.Thing)
		}
	}
}

// rewrites says whether a request of the agent's own API has to be written anew for what it
// is sent without: such things are taken out of the conversation, not out of its bytes.
func (s *service) rewrites(things []mend.Thing) bool {
	return slices.ContainsFunc(things, func(t mend.Thing) bool {
		return (t.What == mend.Images || t.What == mend.Thoughts || t.What == mend.Recall) && s.bears(t.What)
	})
}

// lostThought stands for reasoning that a vendor demands and nobody has: vendors refuse an empty one.
const lostThought = " "

// spare writes into what a request is written from what it is sent without.
func spare(things []mend.Thing, asked *wire.Ask, to *wire.Target) *wire.Ask {
	thoughts := false
	for _, t := range things {
		switch t.What {
		case mend.Images:
			if to.Inputs == nil {
				to.Inputs = []string{"text", "audio", "video", "pdf", "file"}
			}
			to.Inputs = slices.DeleteFunc(slices.Clone(to.Inputs), func(in string) bool { return in == "image" })
		case mend.Most:
			if to.Output == 0 || int64(to.Output) > t.N {
				to.Output = int(t.N)
			}
		case mend.Thoughts:
			thoughts = true
		case mend.Recall:
			to.Dialect.GiveBack, to.Dialect.ReasoningLost = wire.GiveEvery, lostThought
		case mend.Field, mend.Beta, mend.Level, mend.Choice, mend.Least, mend.Bare, mend.Adaptive, mend.Unfit, mend.Painter:
		}
	}
	if !thoughts {
		return asked
	}
	bare := *asked
	bare.Turns = make([]wire.Turn, len(asked.Turns))
	for i, t := range asked.Turns {
		t.Parts = slices.DeleteFunc(slices.Clone(t.Parts), func(p wire.Part) bool { return p.Kind == wire.KindThinking })
		bare.Turns[i] = t
	}
	return &bare
}

// fit brings a body into the form that the vendor takes: repaired, and without what it is
// known or was seen to refuse. It returns body itself where there is nothing to do.
func (t *try) fit(body []byte) (out []byte, lost []wire.Loss) {
	var talk [2]int
	if a := t.s.a; len(body) > 0 && len(a.body) > 0 && &body[0] == &a.body[0] {
		talk[0], talk[1] = a.env.Talk()
	}
	out, done := mend.RepairAround(t.api, t.c.Model, &t.p.Dialect, body, talk)
	for _, what := range done {
		lost = append(lost, wire.Loss{What: what, Why: "the vendor takes it in another form, or not at all"})
	}
	out, spared := mend.Apply(t.api, out, t.things)
	for _, one := range spared {
		what, why := one.Words()
		lost = append(lost, wire.Loss{What: what, Why: why})
	}
	return out, lost
}

// relay prepares the body of a request in the agent's own API.
func (t *try) relay() {
	s := t.s
	t.body, s.sent = s.body(t.p, t.c.Model, t.h.edits), s.a.body
	if !s.a.generates() {
		return
	}
	whole := s.a.body
	if len(t.h.edits) > 0 || s.a.env.Billed() && !t.p.Claudes(t.c.Model) {
		whole = t.body.Bytes()
		s.sent = whole
	}
	body, lost := t.fit(whole)
	if len(body) == 0 || &body[0] == &whole[0] {
		return
	}
	if s.a.api != wire.Gemini {
		body = wire.Put(body, "model", wire.Quote(t.c.Model))
	}
	t.body, s.sent = wire.Whole(body), body
	s.rec.translated(fromTo(s.a.api, t.api, lost))
}

// spareBetas takes features out of the header that the vendor doesn't know.
func (t *try) spareBetas(h http.Header) {
	const name = "Anthropic-Beta"
	values := h[name]
	if t.api != wire.Messages || len(values) == 0 || !slices.ContainsFunc(t.things, func(one mend.Thing) bool { return one.What == mend.Beta }) {
		return
	}
	if kept := mend.Betas(values, t.things); len(kept) > 0 {
		h[name] = kept
		return
	}
	delete(h, name)
}

package gateway

import (
	"bytes"
	"errors"
	"net/http"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/gemini"
	"dev.magpie/gateway/wire/messages"
	"dev.magpie/gateway/wire/responses"
	"dev.magpie/gateway/wire/sse"
	"dev.magpie/provider"
)

// codecs are the four APIs, each read and written through the neutral form.
var codecs = map[wire.Protocol]wire.Codec{
	wire.Chat: chat.Codec{}, wire.Responses: responses.Codec{}, wire.Messages: messages.Codec{}, wire.Gemini: gemini.Codec{},
}

// translation carries one try between the agent's API and its vendor's.
type translation struct {
	from, to wire.Protocol
	door     provider.Door
	body     []byte
	lost     []wire.Loss
	reader   wire.Reader
	writer   wire.Writer
	seals    *sealing     // of a vendor that signs calls and texts
	out      bytes.Buffer // what the writer wrote and nobody sent yet
	stream   bool         // the agent reads events, or Gemini's array
	array    bool
	request  string         // of an agent of Messages: the request's name, for an error
	failed   *wire.Refusal  // what the reader or we made of a reply that can't be read on
	embed    *wire.EmbedAsk // what embeddings are asked for, nil = a reply is
	warm     bool           // no reply is wanted, only a warm cache, which another API has no word for
}

// neutral reads the ask into the neutral form, once for all tries.
func (a *ask) neutral() (*wire.Ask, error) {
	if a.asked != nil || a.notAsked != nil {
		return a.asked, a.notAsked
	}
	if a.summed {
		a.asked, a.notAsked = responses.ReadCompact(a.body)
		return a.asked, a.notAsked
	}
	a.asked, a.notAsked = codecs[a.api].ReadAsk(a.body)
	if a.notAsked == nil && a.api == wire.Gemini {
		a.asked.Model, a.asked.Stream = a.model, a.stream
	}
	return a.asked, a.notAsked
}

// translate makes the request of a try in another API than the agent's.
func (s *service) translate(t *try) (*translation, error) {
	asked, err := s.a.neutral()
	if err != nil {
		return nil, err
	}
	m := s.lv.model(t.p, t.c.Model)
	x := &translation{door: provider.Stream, from: s.a.api, to: t.api, stream: s.a.stream, array: s.a.stream && s.a.api == wire.Gemini && s.a.query != "alt=sse"}
	to := wire.Target{
		Model: t.c.Model, Dialect: t.p.Dialect, Context: m.Context, Output: m.MaxOutput, Efforts: m.Efforts, Session: s.a.session, Inputs: m.Inputs,
	}
	if t.api == wire.Gemini {
		asked = s.g.seals.restore(asked, s.a.session)
	}
	if asked, err = t.shaped(asked, &to); err != nil {
		return nil, err
	}
	if t.api == wire.Gemini && s.a.generates() && to.Reads(wire.KindImage) {
		asked = s.inline(asked)
	}
	x.body, x.lost, err = codecs[t.api].WriteAsk(asked, to)
	var field *wire.FieldRefusal
	if why := s.unfetched(); why != "" && errors.As(err, &field) {
		field.Words += "; it could not be fetched: " + why
	}
	if err == nil && s.a.generates() {
		var lost []wire.Loss
		x.body, lost = t.fit(x.body)
		x.lost = append(x.lost, lost...)
	}
	if t.api == wire.Gemini && !s.a.stream { // the path says whether she streams, and a whole reply is all that is wanted
		x.door = provider.Generate
	}
	if err == nil && s.a.counting() {
		x.door = provider.Count
		x.body, err = countBody(t.api, x.body, t.c.Model)
	}
	if err != nil {
		return nil, err
	}
	x.warm = asked.WarmsUp() && !s.a.counting()
	t.carries(x, asked)
	return x, nil
}

// carries readies a translation for the vendor's reply.
func (t *try) carries(x *translation, asked *wire.Ask) {
	s := t.s
	x.request = ownRequest(s.out.id)
	if t.api == wire.Gemini {
		x.seals = &sealing{to: &s.g.seals, in: s.a.session}
	}
	x.reader = codecs[t.api].NewReader(asked)
	x.writer = codecs[s.a.api].NewWriter(&x.out, asked, wire.WriterOptions{
		Stream: s.a.stream, Array: x.array, ID: s.out.id, Now: s.a.start.Unix(), Model: s.a.model, Vendor: t.p.Dialect.Vendor,
		Input: int64(s.a.env.Estimate()),
	})
}

// unstream readies a try whose vendor streams although its own API was asked for one piece:
// an agent that waits for that can't read events. It says whether the reply is to be gathered.
func (t *try) unstream() bool {
	s := t.s
	if s.a.stream || !s.a.generates() || t.p.Program != "" {
		return false
	}
	asked, err := s.a.neutral()
	if err != nil {
		return false
	}
	t.x = &translation{from: s.a.api, to: t.api}
	t.carries(t.x, asked)
	return true
}

// warmed answers a request that only warms a cache: nobody is asked.
func (t *try) warmed() outcome {
	t.x.out.Reset()
	t.x.write([]wire.Event{{Kind: wire.EventStart, Model: t.s.a.model}, {Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishLength}}})
	t.resp = &http.Response{Header: http.Header{}}
	return t.sendTranslated(t.x.out.Bytes(), &wire.Reply{P: t.api})
}

// unsayable makes an outcome of a request that the candidate's API can't be asked without lying.
func (s *service) unsayable(err error) outcome {
	v := &trace.Verdict{Row: "not-sayable", Kind: trace.Shape, Next: true, Status: http.StatusBadRequest, Words: err.Error()}
	o := outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}}
	var field *wire.FieldRefusal
	if errors.As(err, &field) {
		o.param, o.detail = field.Field, field.Code
	}
	return o
}

// fromTo is what the trace tells of a request that was written anew, or changed.
func fromTo(from, to wire.Protocol, lost []wire.Loss) *trace.FromTo {
	ft := &trace.FromTo{From: string(from), To: string(to)}
	for _, l := range lost {
		what := l.What
		if l.Why != "" {
			what += ": " + l.Why
		}
		ft.Lost = append(ft.Lost, what)
	}
	return ft
}

// busyCode is OpenAI's word for a vendor that has too much to do.
const busyCode = "server_is_overloaded"

// carry takes whole events of the vendor's and returns what they are in the agent's API; the
// last one's blank line may be missing. The bytes are good until the next call.
func (x *translation) carry(events []byte) []byte {
	x.out.Reset()
	for len(events) > 0 {
		n := sse.End(events, 0, 0)
		if n < 0 {
			n = len(events)
		}
		x.write(x.reader.Read(events[:n]))
		events = events[n:]
	}
	return x.out.Bytes()
}

func (x *translation) write(events []wire.Event) {
	if x.seals != nil {
		x.seals.note(events)
	}
	for i := range events {
		if events[i].Kind == wire.EventFail {
			x.failed = events[i].Fail
			if x.failed != nil {
				x.failed.Request = x.request
				x.failed.Theirs, x.failed.Busy = true, x.failed.Busy || x.failed.Status == 529 || x.failed.Code == busyCode
			}
		}
		if x.writer.Event(events[i]) != nil {
			return // it writes into memory: only a reply that is over refuses
		}
	}
}

// end closes a reply that came whole.
func (x *translation) end() []byte {
	x.out.Reset()
	x.write(x.reader.End())
	return x.out.Bytes()
}

// fail ends a reply of which a part is out.
func (x *translation) fail(ref *wire.Refusal) []byte {
	x.out.Reset()
	x.write([]wire.Event{{Kind: wire.EventFail, Fail: ref}})
	return x.out.Bytes()
}

// ping is what keeps a silent agent waiting, in its API's own words.
func (x *translation) ping() []byte {
	x.out.Reset()
	if x.writer.Ping() != nil {
		return nil
	}
	return x.out.Bytes()
}

// contentType is that of the translated reply.
func (x *translation) contentType() string {
	if x.stream && !x.array {
		return "text/event-stream"
	}
	return "application/json"
}

// folded reads a vendor's stream to its end for an agent that wants one piece. Nothing is
// sent before that, so that any break still goes to the next candidate.
func (t *try) folded(first []byte, err error, buf []byte) outcome {
	s, x := t.s, t.x
	facts := wire.Reply{P: t.api}
	var split sse.Splitter
	var class wire.Class
	var whole bytes.Buffer
	room := foldedBytes
	over := func() bool { return class == wire.Failed || class == wire.Refused && !t.last }
	take := func(chunk []byte) error {
		if err := split.Feed(chunk); err != nil {
			return err
		}
		for ev := split.Next(); ev != nil && !over(); ev = split.Next() {
			class = facts.Judge(ev)
			t.readBeside(&facts.Facts)
			whole.Write(x.carry(ev))
		}
		if room -= len(chunk); room < 0 { // the writer holds what it gathers
			return errTooMuch
		}
		return nil
	}
	broke := take(first)
	for err == nil && broke == nil && !over() {
		var n int
		n, err = t.resp.Body.Read(buf)
		t.w.hear(time.Now())
		broke = take(buf[:n])
	}
	if rest := split.Rest(); len(rest) > 0 && broke == nil {
		broke = take(append(append([]byte(nil), rest...), "\n\n"...))
	}
	facts.Finish()
	facts.Whole = facts.Whole || facts.Stopped && isEnd(err)
	switch {
	case s.gone():
		return left()
	case facts.Fault != nil:
		return s.failedEvent(t.c, t.resp, facts.Fault)
	case class == wire.Refused && !facts.Said && !t.last:
		o := s.refused(facts.Refusal)
		o.facts = facts.Facts
		return o
	case broke != nil:
		return t.cutShort(broke)
	case !facts.Whole:
		return t.cutShort(err)
	}
	whole.Write(x.end())
	return t.sendTranslated(whole.Bytes(), &facts)
}

// foldedBytes is how much of a stream is translated: the same text takes up more room in events
// than in one piece, and a translated reply is gathered also where it is streamed.
const foldedBytes = 2 * wholeBytes

// errTooMuch says that a stream that is translated does not end.
var errTooMuch = errors.New("more than 128 MiB in one reply")

// sendTranslated sends a reply that is whole in the agent's API.
func (t *try) sendTranslated(body []byte, facts *wire.Reply) outcome {
	if f := t.x.failed; f != nil { // no whole reply is an error: what of it can't be read, another may answer
		return t.s.failed(t.c, failure.Seen{Phase: failure.PhaseStream, Err: errors.New(f.Words)})
	}
	if w, ok := t.x.writer.(interface{ Broke() *wire.Refusal }); ok && w.Broke() != nil { // it says not what it was asked for
		words := w.Broke().Words
		o := t.s.failed(t.c, failure.Seen{Phase: failure.PhaseStream, Err: errors.New(words)})
		o.words, o.verdict.Words = words, words
		return o
	}
	out, now := &t.s.out, time.Now()
	out.mu.Lock()
	out.passed = true
	out.beginTranslated(t.resp, t.c, t.x, int64(len(body)))
	t.s.rec.r.TTFTMS = now.Sub(t.s.a.start).Milliseconds()
	out.write(body, false)
	err := out.err
	out.mu.Unlock()
	if err != nil || t.s.gone() {
		o := left()
		o.facts, o.passed = facts.Facts, true
		return o
	}
	return outcome{status: http.StatusOK, passed: true, facts: facts.Facts, sent: now}
}

// translated relays a vendor's reply in the agent's API.
func (t *try) translated(first []byte, err error, buf []byte) outcome {
	switch {
	case !streamed(t.resp.Header, first):
		return t.pieced(first, err)
	case t.x.stream:
		return t.events(first, err, buf)
	}
	return t.folded(first, err, buf)
}

// pieced translates a reply that came in one piece although a stream was asked for.
func (t *try) pieced(first []byte, err error) outcome {
	s := t.s
	body, more := first, false
	if err == nil {
		body, more, err = t.gather(first)
	}
	if more || err != nil && !isEnd(err) {
		return t.cutShort(err)
	}
	facts := wire.Reply{P: t.api}
	switch facts.JudgeWhole(body) {
	case wire.Failed:
		return s.failedEvent(t.c, t.resp, facts.Fault)
	case wire.Refused:
		if !t.last {
			return s.refused(facts.Refusal)
		}
	case wire.Lead, wire.Buffering, wire.Thinking, wire.Content:
		if !facts.Whole { // cut off, though the connection ended well
			return t.cutShort(err)
		}
	}
	t.x.out.Reset()
	t.x.write(t.x.reader.Whole(body))
	return t.sendTranslated(t.x.out.Bytes(), &facts)
}

package gateway

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// record keeps one request's route and tells it whenever it changed.
type record struct {
	g *Gateway
	r trace.Route
}

// record begins the route of an ask.
func (g *Gateway) record(a *ask) record {
	return record{g: g, r: trace.Route{
		ID: g.d.Bus.NextID(), Time: a.start, Agent: a.agent, Session: g.masker.Mask(a.session), API: string(a.api),
		Path: g.masker.Mask(bounded(a.path)), Stream: a.stream, Inner: a.inner, Of: a.of, Asked: g.masker.Mask(bounded(a.model)), BytesIn: int64(len(a.body)),
		Order: []trace.Candidate{}, Left: []trace.Candidate{}, Tries: []trace.Try{}, // lists in JSON, never null
	}}
}

// took notes what the body told.
func (rec *record) took(a *ask) {
	rec.r.Session, rec.r.Stream = rec.g.masker.Mask(a.session), a.stream
	rec.r.Asked, rec.r.BytesIn = rec.g.masker.Mask(bounded(a.model)), int64(len(a.body))
}

// bounded cuts what an agent may have made as long as it likes.
func bounded(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// planned notes the decision; nobody writes it a second time.
func (rec *record) planned(t *provider.Target, p *trace.Plan) {
	if t.Group != nil {
		rec.r.Resolved = trace.Resolved{Group: t.Group.ID}
	} else {
		rec.r.Resolved = trace.Resolved{Provider: t.Provider.ID, Model: t.Model, Guessed: t.Guessed}
	}
	rec.r.Routing, rec.r.Pinned, rec.r.Affinity, rec.r.Rule = p.Routing, p.Pinned, p.Affinity, p.Rule
	if p.Order != nil {
		rec.r.Order = p.Order
	}
	if p.Left != nil {
		rec.r.Left = p.Left
	}
}

// tell publishes the route as it is. Its slices are never written again: a try that
// changes is put into a copy of them.
func (rec *record) tell() { rec.g.d.Bus.Publish(rec.r) }

// began notes a new try and tells it; full is the one that gave way to it, "" for none.
func (rec *record) began(c *trace.Candidate, again bool, full string, now time.Time) {
	tries := make([]trace.Try, len(rec.r.Tries)+1)
	copy(tries, rec.r.Tries)
	tries[len(tries)-1] = trace.Try{ID: c.ID, Model: c.Model, Start: now, Again: again, InsteadOf: full}
	rec.r.Tries = tries
	rec.tell()
}

// try changes the last try in a copy.
func (rec *record) try(change func(t *trace.Try)) {
	tries := make([]trace.Try, len(rec.r.Tries))
	copy(tries, rec.r.Tries)
	if len(tries) > 0 {
		change(&tries[len(tries)-1])
	}
	rec.r.Tries = tries
}

// waits tells that the last try waits for a slot.
func (rec *record) waits() {
	rec.try(func(t *trace.Try) { t.Queued = true })
	rec.tell()
}

// entered notes that the last try waited for a slot until now, and whether it has it.
func (rec *record) entered(now time.Time) {
	rec.try(func(t *trace.Try) { t.Queued, t.QueuedMS = false, now.Sub(t.Start).Milliseconds() })
	rec.tell()
}

// translated notes that the last try speaks another API than the agent.
func (rec *record) translated(ft *trace.FromTo) {
	rec.try(func(t *trace.Try) { t.Translated = ft })
	rec.tell()
}

// thinks notes how hard the model of the last try is asked to think.
func (rec *record) thinks(w wish) {
	rec.try(func(t *trace.Try) { t.Effort, t.Picked, t.Fixed = w.level, w.picked, w.fixed })
}

// firstByte tells that the reply began to pass.
func (rec *record) firstByte(now time.Time) {
	rec.r.TTFTMS = now.Sub(rec.r.Time).Milliseconds()
	rec.try(func(t *trace.Try) { t.TTFTMS = now.Sub(t.Start).Milliseconds() })
	rec.tell()
}

// ended notes how the last try ended.
func (rec *record) ended(o *outcome, rest *trace.Rest, now time.Time) {
	rec.try(func(t *trace.Try) {
		t.Done, t.MS, t.Status = true, now.Sub(t.Start).Milliseconds(), o.status
		if o.verdict != nil {
			t.Fail, t.Error, t.Row, t.Rest = o.verdict.Kind, o.words, o.verdict.Row, rest
			if t.Error == "" {
				t.Error = http.StatusText(o.status)
			}
		}
	})
}

// facts notes what the reply told of itself.
func (rec *record) facts(f *wire.Facts, model provider.Model, rate float64) {
	u := f.Usage
	rec.r.Tokens = trace.Tokens{Input: u.Input, Output: u.Output, Reasoning: u.Reasoning, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	if f.Model != "" {
		rec.r.Served = rec.g.masker.Mask(bounded(f.Model))
	}
	if !f.Counted {
		return
	}
	usd, ok := provider.Cost(model, rate, provider.Tokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	if ok {
		rec.r.Cost = strconv.FormatFloat(usd, 'f', 6, 64)
	}
}

// done ends the route: told, kept in the history, logged in one line.
func (rec *record) done(status int, words string, out int64) {
	now := time.Now()
	rec.r.Done, rec.r.Status, rec.r.Error = true, status, words
	rec.r.MS, rec.r.BytesOut = now.Sub(rec.r.Time).Milliseconds(), out
	rec.tell()
	if h := rec.g.d.History; h != nil {
		h.Add(rec.r)
	}
	rec.logLine()
}

// name tells the agent its request's number, by which a person finds it.
func (rec *record) name(w http.ResponseWriter) {
	w.Header()["X-Magpie-Request"] = []string{strconv.FormatInt(rec.r.ID, 10)}
}

// refuse ends a route that was turned away before anyone was asked.
func (rec *record) refuse(ref *wire.Refusal) {
	ref.Words = rec.g.masker.Mask(ref.Words)
	rec.done(ref.Status, ref.Words, 0)
}

func (rec *record) logLine() {
	level := slog.LevelInfo
	if rec.r.Status >= 500 {
		level = slog.LevelWarn
	}
	if !rec.g.log.Enabled(rec.g.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.Int64(keyRequest, rec.r.ID), slog.String(keyAgent, rec.r.Agent), slog.String(keyAPI, rec.r.API),
		slog.String(keyModel, rec.r.Asked), slog.String(keyBy, rec.r.Answerer()), slog.Int(keyTries, len(rec.r.Tries)),
		slog.Int(keyStatus, rec.r.Status), slog.Int64(keyMS, rec.r.MS), slog.Int64(keyTTFT, rec.r.TTFTMS),
		slog.Int64(keyIn, rec.r.Tokens.Input), slog.Int64(keyOut, rec.r.Tokens.Output), slog.String(keyError, rec.r.Error),
	}
	if m := rec.r.Masked; m != nil {
		attrs = append(attrs, slog.Int(keyMasked, m.Secrets+m.Personal+m.Words))
	}
	rec.g.log.LogAttrs(rec.g.ctx, level, "request", attrs...)
}

// Keys of the log's attributes.
const (
	keyRequest = "request"
	keyAgent   = "agent"
	keyAPI     = "api"
	keyModel   = "model"
	keyBy      = "by"
	keyTries   = "tries"
	keyStatus  = "status"
	keyMS      = "ms"
	keyTTFT    = "ttft_ms"
	keyIn      = "in"
	keyOut     = "out"
	keyError   = "error"
	keyMasked  = "masked"
	keyHeader  = "header"
)

package gateway

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// effortField is what an agent of each API calls how hard a model thinks.
var effortField = map[wire.Protocol]string{
	wire.Chat: "reasoning_effort", wire.Responses: "reasoning.effort", wire.Messages: "output_config.effort", wire.Gemini: "generationConfig.thinkingConfig",
}

// refusesLevel says whether the plan of the candidate at a place is known not to have the
// level that it would be sent.
func (s *service) refusesLevel(place int) (state.Refused, bool) {
	if !s.g.d.State.RefusesAny() || !s.a.thinking() {
		return state.Refused{}, false
	}
	c := &s.order[place]
	w := s.wishFor(place)
	if w.level == "" {
		return state.Refused{}, false
	}
	return s.g.d.State.Refuses(provider.AccountID(c.ID), c.Model, w.level, time.Now())
}

// giveWay puts another account of the same member before one whose plan is known not to have the level.
func (s *service) giveWay() {
	if _, refuses := s.refusesLevel(s.at); !refuses {
		return
	}
	for _, j := range route.Mates(s.order, s.at) {
		if _, refuses := s.refusesLevel(j); refuses {
			continue
		}
		order := slices.Clone(s.order) // the trace has the old one
		mate := order[j]
		copy(order[s.at+1:j+1], order[s.at:j])
		order[s.at] = mate
		s.order, s.again = order, 0
		return
	}
}

// unleveled answers from memory for an account whose plan has not the level: it would only say so again.
func (s *service) unleveled(c *trace.Candidate) (outcome, bool) {
	r, refuses := s.refusesLevel(s.at)
	if !refuses {
		return outcome{}, false
	}
	w := s.wishFor(s.at)
	s.rec.thinks(w)
	v := &trace.Verdict{
		Row: "known-effort", Kind: trace.Effort, Next: true, Status: http.StatusBadRequest,
		Words: c.ID + "'s plan has no effort " + w.level + " for " + c.Model,
	}
	return outcome{verdict: v, words: v.Words, status: v.Status, reply: vendorError{mine: true}, takes: r.Takes}, true
}

// levelRefused remembers a level that an account's plan refused.
func (s *service) levelRefused(c *trace.Candidate, o *outcome) {
	if o.verdict == nil || o.verdict.Kind != trace.Effort {
		return
	}
	w := s.wishFor(s.at)
	if w.level == "" {
		return
	}
	o.takes = levelsIn(o.words, w.level)
	s.g.d.State.NoteRefused(state.Refused{ID: provider.AccountID(c.ID), Model: c.Model, Level: w.level, Takes: o.takes, At: time.Now()})
}

var levelWord = regexp.MustCompile(`[a-z]+`)

// levelsIn are the levels that a refusal names, but the refused one.
func levelsIn(said, refused string) []string {
	words := levelWord.FindAllString(strings.ToLower(said), -1)
	var found []string
	for _, level := range provider.Efforts {
		if level != refused && slices.Contains(words, level) {
			found = append(found, level)
		}
	}
	return found
}

// levelWords tell an agent which levels there are instead of the one that no plan has.
func (s *service) levelWords(o *outcome) string {
	place := slices.IndexFunc(s.order, func(c trace.Candidate) bool {
		return c.ID == o.of.ID && c.Model == o.of.Model && c.Effort == o.of.Effort
	})
	level := ""
	if place >= 0 {
		level = s.wishFor(place).level
	}
	takes := o.takes
	if p := s.lv.cat.Provider(o.of.Provider); len(takes) == 0 && p != nil {
		m := s.lv.model(p, o.of.Model)
		takes = slices.DeleteFunc(slices.Clone(m.Efforts), func(l string) bool { return l == level })
	}
	words := o.of.Model + " of " + o.of.Name + " takes no effort " + level + " on this plan"
	if len(takes) > 0 {
		words += ", only " + strings.Join(takes, ", ")
	}
	return words + " (" + o.verdict.Words + ")"
}

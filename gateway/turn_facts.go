package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// turnFacts fills in what rules, and images, make of a request.
func (g *Gateway) turnFacts(lv *live, a *ask, call *route.Call, now time.Time) {
	if a.door != provider.Generate && a.door != provider.Stream {
		call.Images = false
		return
	}
	call.Described = lv.cfg.Describer != "" && a.inner == ""
	call.Effort = a.thinks(call.Target.Effort)
	ruled := ruledGroups(lv.catalog(), call.Target.Group)
	if len(ruled) == 0 {
		return
	}
	call.Decided = map[string]route.Decided{}
	call.Judged = a.judged
	if a.inner != "" {
		call.Judged = map[string]trace.Classified{}
	}
	for _, in := range ruled {
		if a.inner != "" { // what asks for itself asks no other
			call.Judged[in.ID] = trace.Classified{By: in.Classifier, Error: "not asked: this is a question of the gateway's own"}
		}
		for i := range in.Rules {
			call.Compact = call.Compact || in.Rules[i].Compact
		}
		if was, ok := g.d.State.Turn(a.turnKey(in.ID), now); ok {
			call.Decided[in.ID] = was.Decided
			call.Counted = max(call.Counted, was.Counted)
		}
	}
	call.Compact = call.Compact && a.compacts()
	a.ruled = ruled
}

// ruledGroups are the group and those in it that decide something about a turn.
func ruledGroups(cat *provider.Catalog, g *provider.Group) []*provider.Group {
	var found []*provider.Group
	var walk func(g *provider.Group, depth int)
	walk = func(g *provider.Group, depth int) {
		if g == nil || depth > 8 {
			return
		}
		if len(g.Rules) > 0 || g.Effort != "" {
			for _, have := range found {
				if have == g {
					return
				}
			}
			found = append(found, g)
		}
		for i := range g.Members {
			if id := g.Members[i].Group; id != "" {
				walk(cat.Group(id), depth+1)
			}
		}
	}
	walk(g, 1)
	return found
}

// thinks is how much reasoning is asked for, by the name or by the body: a level, "on" without one.
func (a *ask) thinks(byName string) string {
	level, on := a.env.Thinks(a.body, a.api)
	switch {
	case byName != "":
		return byName
	case level == "" && on:
		return "on"
	}
	return level
}

// firstWords is a hash of what the conversation began with, as the agent wrote it.
func (a *ask) firstWords() string {
	if a.words == "" {
		a.words = a.env.FirstWords(a.body)
	}
	return a.words
}

// turnKey names the conversation in a group with rules: the agents of one session are told
// apart by what each was first told.
func (a *ask) turnKey(group string) string {
	return route.GroupKey(group) + "|" + a.talk + "|" + a.firstWords()
}

// compactions are how programs begin when they have a conversation shortened: what their
// user, or their system, says then.
var compactions = []string{
	"you are performing a context checkpoint compaction",
	"your task is to create a detailed summary of the conversation so far",
	"you are a helpful ai assistant tasked with summarizing conversations",
	"you are the component that summarizes internal chat history",
}

// compacts says whether the agent shortens its conversation.
func (a *ask) compacts() bool {
	if a.tail == "/compact" {
		return true
	}
	asked, err := a.neutral()
	if err != nil {
		return false
	}
	if asked.Compact {
		return true
	}
	system := ""
	for i := range asked.System {
		system += asked.System[i].Text
	}
	return beginsCompaction(system) || beginsCompaction(said(asked))
}

// sums turns a compaction by its own path, which no candidate's vendor has, into one for a
// summary that a model writes. It says whether it did.
func (a *ask) sums() bool {
	if a.tail != "/compact" {
		return false
	}
	a.tail, a.summed, a.stream = "", true, false
	a.asked, a.notAsked = nil, nil
	return true
}

func beginsCompaction(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, head := range compactions {
		if strings.HasPrefix(text, head) {
			return true
		}
	}
	return false
}

// ruledBy says whether a rule for compactions is in force.
func ruledBy(cat *provider.Catalog, r *trace.Rule) bool {
	for ; r != nil; r = r.Inner {
		g := cat.Group(r.Group)
		if g != nil && r.N > 0 && r.N <= len(g.Rules) && g.Rules[r.N-1].Compact {
			return true
		}
	}
	return false
}

// said is what the user said last: all texts since somebody else did.
func said(asked *wire.Ask) string {
	var all []string
	for i := len(asked.Turns) - 1; i >= 0; i-- {
		t := &asked.Turns[i]
		switch {
		case t.Role == wire.RoleSystem:
			continue
		case t.Role != wire.RoleUser:
			return strings.Join(all, "\n")
		}
		var texts []string
		for j := range t.Parts {
			if p := &t.Parts[j]; p.Kind == wire.KindText && !strings.HasPrefix(p.Text, "<system-reminder>") {
				texts = append(texts, p.Text)
			}
		}
		all = append(texts, all...)
	}
	return strings.Join(all, "\n")
}

// carryOut notes what carrying a plan out changes.
func (s *service) carryOut(e *route.Effects, now time.Time) {
	for id, d := range e.Decided {
		s.g.d.State.NoteTurn(s.a.turnKey(id), now, func(t *state.Turn) {
			if t.Turn != d.Turn {
				t.Judged, t.Said = trace.Classified{}, ""
			}
			t.Decided = d
			if j, ok := s.a.judged[id]; ok && j.Error == "" {
				t.Judged, t.Said = j, s.a.saidHash()
			}
		})
	}
}

// counted remembers how many tokens the vendor counted: the next turn's rules go by that.
func (s *service) countedTurn(tokens int64) {
	if tokens <= 0 {
		return
	}
	for _, g := range s.a.ruled {
		s.g.d.State.NoteTurn(s.a.turnKey(g.ID), time.Now(), func(t *state.Turn) { t.Counted = int(tokens) })
	}
}

// saidHash tells what the user said last from anything else.
func (a *ask) saidHash() string {
	asked, err := a.neutral()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(said(asked)))
	return hex.EncodeToString(sum[:12])
}

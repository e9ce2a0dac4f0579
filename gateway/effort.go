package gateway

import (
	"slices"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// wish is how hard a candidate's model is asked to think.
type wish struct {
	level  string // as it is sent, "" = nothing is said
	own    string // as the request has it
	on     bool   // the request asks for reasoning
	fixed  bool   // by the member
	picked bool   // by the turn's rule, group or classifier
}

// changes says whether something has to be written for it. A request that asks for no
// reasoning, and shall have none, need not say so.
func (w wish) changes() bool {
	return w.level != w.own && (w.level != "none" || w.own != "" || w.on)
}

// wishFor is the wish for the candidate at a place of the order.
func (s *service) wishFor(place int) wish {
	c := &s.order[place]
	own, on := s.a.env.Thinks(s.a.body, s.a.api)
	if own == "" && c.Effort == "" && s.target.Effort == "" && (s.pick == "" || !on) && s.lv.cfg.Agents[s.a.agent].Effort == "" {
		return wish{on: on}
	}
	p := s.lv.cat.Provider(c.Provider)
	if p == nil {
		return wish{own: own, level: own, on: on}
	}
	return s.wish(c, wish{own: own, level: own, on: on}, s.lv.model(p, c.Model), p)
}

// wish settles it, by who is the first to say: the member, the name that was asked for, the
// turn, the person for this agent, the request itself. Each is fitted to what the model has.
func (s *service) wish(c *trace.Candidate, w wish, m *provider.Model, p *provider.Provider) wish {
	offered := s.offered()
	mine := true
	switch pick := s.pick; {
	case s.fixes(c):
		w.level, w.fixed = c.Effort, true
	case s.target.Effort != "": // a name's level goes for all members alike
		w.level = bound(s.target.Effort, offered)
	case pick != "" && w.on:
		w.level, w.picked = bound(pick, offered), true
	case s.lv.cfg.Agents[s.a.agent].Effort != "" && reasons(m, c.Model):
		w.level = bound(s.lv.cfg.Agents[s.a.agent].Effort, offered)
	case w.own == "":
		return w
	default:
		mine = false
		if s.a.env.Counts(s.a.body, s.a.api) { // a budget is made a level's only where the group's own levels want that
			if g := s.target.Group; g == nil || bound(w.own, g.Efforts) == w.own {
				return w
			}
		}
		w.level = bound(w.own, offered)
	}
	w.level = fit(w.level, m, p, mine)
	return w
}

// fixes says whether the config fixes how hard a candidate thinks. One that nobody fixes stands
// in the plan with the level behind the name that was asked for.
func (s *service) fixes(c *trace.Candidate) bool {
	if c.Effort == "" || c.Effort != s.target.Effort || c.Fallback {
		return c.Effort != ""
	}
	return s.target.Group != nil && fixedIn(s.lv.catalog(), s.target.Group, c, 1)
}

func fixedIn(cat *provider.Catalog, g *provider.Group, c *trace.Candidate, depth int) bool {
	return g != nil && depth <= 8 && slices.ContainsFunc(g.Members, func(r provider.Ref) bool {
		if r.Group != "" {
			return fixedIn(cat, cat.Group(r.Group), c, depth+1)
		}
		return r.Provider == c.Provider && r.Model == c.Model && r.Effort == c.Effort && (r.Who == "" || strings.EqualFold(r.Who, c.Who))
	})
}

// offered are the levels that the group asked for offers, nil = any.
func (s *service) offered() []string {
	if s.target.Group == nil {
		return nil
	}
	return s.lv.group(s.target.Group).Efforts
}

// bound is the level of those that a group offers. Not to think at all is not a level that a
// group has to offer.
func bound(level string, offered []string) string {
	if level == "none" || len(offered) == 0 {
		return level
	}
	return nearest(level, offered)
}

// fit is the nearest level that a model has. Of one of which that isn't known, ours is no more
// than high, the most that all have which have levels, and the request's own stays as it is.
func fit(level string, m *provider.Model, p *provider.Provider, mine bool) string {
	d := &p.Dialect
	switch {
	case (d.Switch == wire.SwitchType || d.Switch == wire.SwitchEnable) && !d.SwitchLevel, len(m.Efforts) == 0 && mine:
		return atMost(level, "high")
	case len(m.Efforts) == 0:
		return level
	case level == "none" && !slices.Contains(m.Efforts, "none"): // no level, but there are other ways to say it
		return level
	}
	return nearest(level, m.Efforts)
}

// nearest is the nearest level among those that there are, but whoever wants some reasoning does not get none.
func nearest(level string, has []string) string {
	if level == "none" {
		return wire.NearestEffort(level, has)
	}
	some := slices.DeleteFunc(slices.Clone(has), func(l string) bool { return l == "none" })
	return wire.NearestEffort(level, some)
}

func atMost(level, most string) string {
	if slices.Index(provider.Efforts, level) > slices.Index(provider.Efforts, most) {
		return most
	}
	return level
}

// thinkers are the beginnings of the ids of models that reason, besides OpenAI's.
var thinkers = []string{
	"claude-3-7", "claude-opus-", "claude-sonnet-", "claude-haiku-4-5", "claude-haiku-5", "claude-fable-", "claude-mythos-", "gemini-2.5", "gemini-3",
	"deepseek-reasoner", "deepseek-r1", "deepseek-v3.1", "deepseek-v3.2", "deepseek-v4", "glm-4.5", "glm-4.6", "glm-4.7", "glm-5", "kimi-k2.6", "kimi-k3",
	"kimi-k2-thinking", "qwen3-max", "qwen3.7", "minimax-m2", "minimax-m3", "grok-4", "gpt-oss", "magistral",
}

// reasons says whether a model is known to reason: by its levels, else by its id.
func reasons(m *provider.Model, id string) bool {
	if len(m.Efforts) > 0 {
		return slices.ContainsFunc(m.Efforts, func(l string) bool { return l != "none" })
	}
	id = strings.ToLower(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	return wire.ReasoningModel(id) || wire.Headed(id, thinkers)
}

// askFor writes a level into the neutral form. What was said as a number goes: it meant another.
func askFor(asked *wire.Ask, level string) *wire.Ask {
	out := *asked
	out.Effort, out.Budget = level, nil
	if asked.API == wire.Messages && level != "none" { // there a level alone does not ask for reasoning
		asLikes := int64(-1)
		out.Budget = &asLikes
	}
	return &out
}

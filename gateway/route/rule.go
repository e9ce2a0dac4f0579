package route

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Decided is what a group's rules decided for a turn of a conversation.
type Decided struct {
	Turn  int    `json:"turn"`
	N     int    `json:"n"`    // the rule in force, from 1; 0 = none
	Mark  uint64 `json:"mark"` // of that rule: another in its place has another
	Grown bool   `json:"grown,omitempty"`
	Pick  string `json:"pick,omitempty"`

	Intent string `json:"intent,omitempty"` // as classified
}

// Question is what a group's classifier is asked of a turn.
type Question struct {
	Group   *provider.Group
	Intents []string
	Effort  bool // how hard it shall think
}

// outgrown is the part of a model's window from which a turn counts as having outgrown it.
const outgrown = 0.95

// ruleFirst sends the turn where the group's rules have it, then where those of the group in
// it have it, down the chain of whoever goes first.
func ruleFirst(d *draft) {
	g := d.c.Target.Group
	if g == nil || len(d.in) == 0 {
		return
	}
	first := d.in[0]
	d.rules(g)
	if a := d.plan.Affinity; a != nil && a.Kept && (d.in[0].who != first.who || d.in[0].model != first.model || d.in[0].effort != first.effort) {
		a.Kept, a.Why = false, trace.KeepRule
	}
}

func (d *draft) rules(g *provider.Group) {
	told := &d.plan.Rule
	end := len(d.in)
	for depth := 0; g != nil && end > 0 && depth < maxDepth; depth++ {
		r := d.rule(g, end)
		if r != nil {
			*told = r
			told = &r.Inner
		}
		g = d.headGroup(g)
		if g == nil {
			return
		}
		end = 0
		for end < len(d.in) && d.inGroup(g, &d.in[end], 1) {
			end++
		}
	}
}

// headGroup is the member of g that is a group and has the first candidate, nil when that is g's own.
func (d *draft) headGroup(g *provider.Group) *provider.Group {
	for _, ref := range g.Members {
		if d.has(ref, &d.in[0], 1) {
			if ref.Group == "" {
				return nil
			}
			return d.s.Catalog.Group(ref.Group)
		}
	}
	return nil
}

// rule decides by one group's rules, and moves what they send to the front of the first end seats.
func (d *draft) rule(g *provider.Group, end int) *trace.Rule {
	if len(g.Rules) == 0 && g.Effort == "" || d.s.groupRouting(g) == "manual" {
		return nil
	}
	v := verdict{d: d, g: g}
	v.told = trace.Rule{Group: g.ID, Turn: d.c.Turn, Tokens: v.tokens(), Images: d.c.Images, Effort: d.c.Effort}
	if d.c.Within {
		v.within()
	} else {
		v.begin()
	}
	r := &v.told
	if v.n > 0 {
		rule := &g.Rules[v.n-1]
		r.N, r.Use, r.When = v.n, g.Members[rule.Use].String(), when(rule)
		v.send(end)
	}
	r.Bare = v.n == 0
	if r.Bare && !r.Waits && r.Pick == "" && r.Classified == nil {
		return nil
	}
	return r
}

// verdict is what one group's rules come to.
type verdict struct {
	d    *draft
	g    *provider.Group
	n    int // the rule in force, from 1
	then []int
	told trace.Rule
}

func (v *verdict) tokens() int { return max(v.d.c.Tokens, v.d.c.Counted) }

// begin looks at all rules, as a user's turn begins.
func (v *verdict) begin() {
	j := v.classified()
	v.match(j.Intent, func(*provider.Rule) bool { return true })
	switch v.g.Effort {
	case "":
	case "auto":
		v.told.Pick = j.Effort
	default:
		v.told.Pick = v.g.Effort
	}
	v.note(j.Intent)
}

// within keeps to what was decided as the turn began.
func (v *verdict) within() {
	was, known := v.d.c.Decided[v.g.ID]
	if !known || was.Turn != v.d.c.Turn || was.N > len(v.g.Rules) || was.N > 0 && mark(&v.g.Rules[was.N-1]) != was.Mark {
		v.told.Waits = true
		return
	}
	v.n, v.told.Pick, v.told.Held = was.N, was.Pick, was.N > 0
	if was.N > 0 {
		v.later(was.Intent)
	}
	if was.Grown || len(v.g.Rules) == 0 {
		return
	}
	window := v.inUse()
	if window == 0 || float64(v.tokens()) < outgrown*float64(window) {
		return
	}
	before := v.n
	v.match(was.Intent, func(r *provider.Rule) bool {
		return v.d.window(v.g.Members[r.Use]) > window
	})
	if v.n == 0 {
		v.n = before
		return
	}
	if v.n != before {
		v.told.Grown, v.told.Held = true, false
		v.note(was.Intent)
	}
}

// note has the decision remembered.
func (v *verdict) note(intent string) {
	if !v.d.carry {
		return
	}
	r := Decided{Turn: v.d.c.Turn, N: v.n, Grown: v.told.Grown, Pick: v.told.Pick, Intent: intent}
	if v.n > 0 {
		r.Mark = mark(&v.g.Rules[v.n-1])
	}
	if v.d.effects.Decided == nil {
		v.d.effects.Decided = map[string]Decided{}
	}
	v.d.effects.Decided[v.g.ID] = r
}

// match finds the first rule that holds and may be taken, and the members of those after it that hold too.
func (v *verdict) match(intent string, may func(*provider.Rule) bool) {
	v.n = 0
	for i := range v.g.Rules {
		if r := &v.g.Rules[i]; v.holds(r, intent) && may(r) {
			v.n = i + 1
			break
		}
	}
	if v.n > 0 {
		v.later(intent)
	}
}

// later finds the members of the rules after the one in force that hold too.
func (v *verdict) later(intent string) {
	v.then = nil
	use := v.g.Rules[v.n-1].Use
	for i := v.n; i < len(v.g.Rules); i++ {
		r := &v.g.Rules[i]
		if r.Use != use && v.holds(r, intent) && !slices.Contains(v.then, r.Use) {
			v.then = append(v.then, r.Use)
		}
	}
}

func (v *verdict) holds(r *provider.Rule, intent string) bool {
	return v.otherwise(r) && (r.Intent == "" || r.Intent == intent)
}

// otherwise says whether a rule holds but for its intent.
func (v *verdict) otherwise(r *provider.Rule) bool {
	c := &v.d.c
	switch {
	case r.Tokens > 0 && v.tokens() < r.Tokens, r.Images && !c.Images, r.Compact && !c.Compact:
		return false
	case r.Effort != "" && !asksFor(c.Effort, r.Effort):
		return false
	case len(r.Agents) > 0:
		return slices.ContainsFunc(r.Agents, func(a string) bool { return strings.EqualFold(a, c.Agent) })
	}
	return true
}

// asksFor says whether a request asks for at least so much reasoning.
func asksFor(asked, least string) bool {
	if asked == "" || asked == "none" {
		return false
	}
	if least == "on" {
		return true
	}
	return slices.Index(provider.Efforts, asked) >= slices.Index(provider.Efforts, least)
}

// classified is what the classifier says, if it has to be asked: an intent could decide
// which rule is first, or it picks how hard a turn thinks that asked for reasoning.
func (v *verdict) classified() trace.Classified {
	q := Question{Group: v.g, Effort: v.g.Effort == "auto" && v.d.c.Effort != "" && v.d.c.Effort != "none"}
	for i := range v.g.Rules {
		r := &v.g.Rules[i]
		if !v.otherwise(r) {
			continue
		}
		if r.Intent == "" {
			break
		}
		if !slices.Contains(q.Intents, r.Intent) {
			q.Intents = append(q.Intents, r.Intent)
		}
	}
	if v.g.Classifier == "" || len(q.Intents) == 0 && !q.Effort {
		return trace.Classified{}
	}
	said, known := v.d.c.Judged[v.g.ID]
	if !known {
		if v.d.effects.Ask == nil {
			v.d.effects.Ask = &q
		}
		said = trace.Classified{By: v.g.Classifier, Intents: q.Intents, Error: "not asked"}
	}
	v.told.Classified = &said
	return said
}

// send moves whom the rule in force names to the front of the first end seats, then those
// that later rules name. Whoever rests is not put first by a rule.
func (v *verdict) send(end int) {
	d, rule := v.d, &v.g.Rules[v.n-1]
	for _, at := range v.then {
		v.told.Then = append(v.told.Then, v.g.Members[at].String())
	}
	lead := append([]int{rule.Use}, v.then...)
	ready := slices.DeleteFunc(slices.Clone(lead), func(at int) bool {
		return !slices.ContainsFunc(d.in[:end], func(t seat) bool { return t.rest == nil && d.has(v.g.Members[at], &t, 1) })
	})
	v.told.Unready = !slices.Contains(ready, rule.Use)
	if len(ready) == 0 || d.stays(&v.told) {
		return
	}
	if v.told.Unready {
		v.told.Instead = v.g.Members[ready[0]].String()
	}
	rank := func(t *seat) int {
		if t.rest == nil {
			for i, at := range ready {
				if d.has(v.g.Members[at], t, 1) {
					return i
				}
			}
		}
		return len(ready)
	}
	slices.SortStableFunc(d.in[:end], func(a, b seat) int { return rank(&a) - rank(&b) })
	for i := range d.in[:end] {
		t := &d.in[i]
		switch at := rank(t); {
		case at == len(ready):
			return
		case at == 0:
			t.lead, t.because = false, trace.Reason{Code: trace.WhyRule, Count: int64(v.n), By: v.g.ID}
			if v.told.Unready {
				t.because.Text = v.told.Use
			}
		default:
			t.lead, t.because = false, trace.Reason{Code: trace.WhyRuleNext, By: v.g.ID}
		}
	}
}

// stays says whether the conversation stays where it is whatever the rule says: within a
// turn, whoever answered it goes on, unless the turn outgrew them.
func (d *draft) stays(r *trace.Rule) bool {
	return r.Held && d.c.Within && d.kept()
}

// inUse is the window of the model that the turn uses, 0 = unknown: of whoever answered it,
// else of whom its rule names; where no rule is in force, the smallest member's.
func (v *verdict) inUse() int {
	d := v.d
	if v.n > 0 {
		if k := d.c.Keep; k != nil {
			if a := d.s.Catalog.Account(k.ID); a != nil {
				return d.windowOf(a.Provider, k.Model)
			}
		}
		return d.window(v.g.Members[v.g.Rules[v.n-1].Use])
	}
	least := 0
	for _, ref := range v.g.Members {
		if w := d.window(ref); w > 0 && (least == 0 || w < least) {
			least = w
		}
	}
	return least
}

// window is how many tokens a member takes, 0 = unknown: of a group, the least of its own.
func (d *draft) window(ref provider.Ref) int { return d.windowAt(ref, 1) }

func (d *draft) windowAt(ref provider.Ref, depth int) int {
	if ref.Group == "" {
		return d.windowOf(ref.Provider, ref.Model)
	}
	g := d.s.Catalog.Group(ref.Group)
	if g == nil || depth > maxDepth {
		return 0
	}
	least := 0
	for _, m := range g.Members {
		w := d.windowAt(m, depth+1)
		if w == 0 {
			return 0
		}
		if least == 0 || w < least {
			least = w
		}
	}
	return least
}

func (d *draft) windowOf(id, model string) int {
	p := d.s.Catalog.Provider(id)
	if p == nil {
		return 0
	}
	return p.Model(model, d.s.Lists[id]).Context
}

// has says whether a seat is one of a member's.
func (d *draft) has(ref provider.Ref, t *seat, depth int) bool {
	if ref.Group != "" {
		g := d.s.Catalog.Group(ref.Group)
		return g != nil && d.inGroup(g, t, depth+1)
	}
	return ref.Provider == t.of.ID && ref.Model == t.model && (ref.Who == "" || strings.EqualFold(ref.Who, t.who.Name)) &&
		(ref.Effort == t.effort || ref.Effort == "" && t.effort == d.c.Target.Effort)
}

func (d *draft) inGroup(g *provider.Group, t *seat, depth int) bool {
	return depth <= maxDepth && slices.ContainsFunc(g.Members, func(ref provider.Ref) bool { return d.has(ref, t, depth) })
}

// when lists a rule's conditions as facts.
func when(r *provider.Rule) []string {
	var all []string
	if r.Tokens > 0 {
		all = append(all, "tokens >= "+strconv.Itoa(r.Tokens))
	}
	if r.Images {
		all = append(all, "images")
	}
	switch r.Effort {
	case "":
	case "on":
		all = append(all, "effort on")
	default:
		all = append(all, "effort >= "+r.Effort)
	}
	if len(r.Agents) > 0 {
		all = append(all, "agents "+strings.Join(r.Agents, ", "))
	}
	if r.Intent != "" {
		all = append(all, "intent "+strconv.Quote(r.Intent))
	}
	if r.Compact {
		all = append(all, "compact")
	}
	return all
}

// mark tells a rule from another.
func mark(r *provider.Rule) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.Itoa(r.Use) + "\x00" + strings.Join(when(r), "\x00")))
	return h.Sum64()
}

// kept says whether the conversation is kept with who answered it.
func (d *draft) kept() bool { return d.plan.Affinity != nil && d.plan.Affinity.Kept }

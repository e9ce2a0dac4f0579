package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/provider"
)

// What the person chooses of providers, groups and accounts while the gateway runs: it
// beats the config until it is taken back. An empty value gives the word back to the config.

const manual = "manual"

// Words that the choices take.
var (
	orders     = []string{"smart", "order", "rotate", "usage", "pace", "weight", "best"}
	affinities = []string{"auto", "session", "turn", "off"}
)

func badArgs(format string, args ...any) error {
	return &control.Error{Status: http.StatusBadRequest, Code: "bad_args", Message: fmt.Sprintf(format, args...)}
}

// subject is a provider or a group that a choice is about.
type subject struct {
	key   string // in the choices
	p     *provider.Provider
	group *provider.Group
}

func (s *subject) String() string { return s.key }

// about finds the provider or group that a command names; a group is group/<id>, or its
// id alone where no provider is called so.
func (g *Gateway) about(who string) (subject, error) {
	cat := g.live.Load().catalog()
	who = strings.ToLower(strings.TrimSpace(who))
	id, isGroup := strings.CutPrefix(who, "group/")
	if p := cat.Provider(who); p != nil && !isGroup {
		return subject{key: p.ID, p: p}, nil
	}
	if gr := cat.Group(id); gr != nil {
		return subject{key: route.GroupKey(gr.ID), group: gr}, nil
	}
	var known []string
	for _, p := range cat.Providers {
		known = append(known, p.ID)
	}
	for _, gr := range cat.Groups {
		known = append(known, route.GroupKey(gr.ID))
	}
	e := &control.Error{Status: http.StatusNotFound, Code: "no_such_provider_or_group", Matches: known}
	e.Message = fmt.Sprintf("no provider or group is called %.60q", who)
	if hint := config.DidYouMean(who, known); hint != "" {
		e.Message += ": " + hint
	}
	return subject{}, e
}

// subjects finds whom a choice is about: one, or with nothing or "all" every provider and group.
func (g *Gateway) subjects(who string) ([]subject, error) {
	if who != "" && !strings.EqualFold(who, "all") {
		s, err := g.about(who)
		return []subject{s}, err
	}
	var all []subject
	cat := g.live.Load().catalog()
	for _, p := range cat.Providers {
		all = append(all, subject{key: p.ID, p: p})
	}
	for _, gr := range cat.Groups {
		all = append(all, subject{key: route.GroupKey(gr.ID), group: gr})
	}
	return all, nil
}

// choice is one change of what is chosen, checked and not yet made.
type choice struct {
	words string // what it does: "route group/g by usage"
	undo  string // what an undo takes back: "routing of group/g"
	same  string // what is said when it is so already
	note  string // what else the person should know
	ids   []provider.AccountID
	set   func(*state.Chosen) bool
}

// choosers read a command's wish. Their order is that of the page.
var choosers = map[control.Verb]func(*Gateway, *control.Command) (choice, error){
	control.Order: (*Gateway).order, control.Pick: (*Gateway).pick, control.Routing: (*Gateway).routing,
	control.Affinity: (*Gateway).affinity, control.Sink: (*Gateway).sink, control.Cap: (*Gateway).cap,
	control.Credits: (*Gateway).credits, control.AutoReset: (*Gateway).autoReset,
	control.Hide: (*Gateway).hide, control.Show: (*Gateway).show,
}

// choose carries a choice out.
func (g *Gateway) choose(c control.Command, now time.Time) (control.Done, error) {
	ch, err := choosers[c.Verb](g, &c)
	if err != nil {
		return control.Done{}, err
	}
	if !g.d.State.Choose(ch.undo, ch.ids, ch.set) {
		return g.done(ch.same, ch.ids, false, now), nil
	}
	g.regroup(g.live.Load())
	return g.done(ch.said(), ch.ids, true, now), nil
}

func (ch *choice) said() string {
	if ch.note != "" {
		return ch.words + " (" + ch.note + ")"
	}
	return ch.words
}

// put sets a key of a map, or takes it out for the zero value; it says whether that changed anything.
func put[V comparable, K comparable](m map[K]V, key K, value V) bool {
	var zero V
	was, had := m[key]
	if value == zero {
		delete(m, key)
		return had
	}
	m[key] = value
	return !had || was != value
}

func (g *Gateway) order(c *control.Command) (choice, error) {
	s, err := g.about(c.Who)
	if err != nil {
		return choice{}, err
	}
	undo := "order of " + s.key
	if s.group != nil {
		names, err := spelled(s.group, c.Args.Order)
		if err != nil {
			return choice{}, err
		}
		return choice{
			words: orderWords(&s, names), undo: undo, same: s.key + " is in that order already", note: g.orderNote(&s),
			set: func(ch *state.Chosen) bool { return putList(ch.Members, s.group.ID, names) },
		}, nil
	}
	var ids []provider.AccountID
	var names []string
	for _, name := range c.Args.Order {
		a := s.p.Account(strings.TrimPrefix(name, s.p.ID+"/"))
		if a == nil {
			return choice{}, badArgs("%s has no key or account %.60q; it has %s", s.p.ID, name, namesOf(s.p.Accounts))
		}
		if slices.Contains(ids, a.ID) {
			return choice{}, badArgs("%s is named twice", a.ID)
		}
		ids, names = append(ids, a.ID), append(names, a.Name)
	}
	return choice{
		words: orderWords(&s, names), undo: undo, same: s.key + " is in that order already", note: g.orderNote(&s), ids: idsOf(s.p.Accounts),
		set: func(ch *state.Chosen) bool { return putList(ch.Order, s.p.ID, ids) },
	}, nil
}

func orderWords(s *subject, names []string) string {
	if len(names) == 0 {
		return s.key + " is in the config's order again"
	}
	return s.key + " goes in the order " + strings.Join(names, ", ")
}

// orderNote says what an order is worth under the routing in force.
func (g *Gateway) orderNote(s *subject) string {
	switch r := g.routingNow(s); r {
	case "order", "rotate":
	case manual:
		return "routing is manual: the first is used where none is picked"
	default:
		return "routing is " + r + ": the order decides only between equals"
	}
	return ""
}

func (g *Gateway) routingNow(s *subject) string {
	if r := g.d.State.Chosen().Routing[s.key]; r != "" {
		return r
	}
	if s.group != nil {
		return s.group.Routing
	}
	return s.p.Routing
}

func putList[K comparable, V comparable](m map[K][]V, key K, list []V) bool {
	was, had := m[key]
	if len(list) == 0 {
		delete(m, key)
		return had
	}
	m[key] = list
	return !slices.Equal(was, list)
}

func namesOf(as []*provider.Account) string {
	var names []string
	for _, a := range as {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// spelled finds members of a group as the config spells them.
func spelled(gr *provider.Group, names []string) ([]string, error) {
	var found []string
	for _, name := range names {
		i := memberAt(gr, name)
		if i < 0 {
			return nil, badArgs("group %s has no member %.60q; it has %s", gr.ID, name, strings.Join(gr.Spelled, ", "))
		}
		if slices.Contains(found, gr.Spelled[i]) {
			return nil, badArgs("%s is named twice", gr.Spelled[i])
		}
		found = append(found, gr.Spelled[i])
	}
	return found, nil
}

func memberAt(gr *provider.Group, name string) int {
	name = strings.TrimSpace(name)
	if i := slices.Index(gr.Spelled, name); i >= 0 {
		return i
	}
	return slices.IndexFunc(gr.Members, func(r provider.Ref) bool { return strings.EqualFold(r.String(), name) })
}

func (g *Gateway) pick(c *control.Command) (choice, error) {
	s, err := g.about(c.Who)
	if err != nil {
		return choice{}, err
	}
	if s.group == nil {
		return choice{}, badArgs("%s is a provider: a member is picked of a group", s.key)
	}
	ch := choice{undo: "pick of " + s.key, words: s.key + " uses what the config picks again", same: s.key + " uses what the config picks already"}
	member := ""
	if c.Args.Member != "" {
		one, err := spelled(s.group, []string{c.Args.Member})
		if err != nil {
			return choice{}, err
		}
		member = one[0]
		ch.words, ch.same = s.key+" uses "+member, s.key+" uses that one already"
	}
	if r := g.routingNow(&s); r != manual {
		ch.note = "it counts once its routing is manual, not " + r
	}
	ch.set = func(chosen *state.Chosen) bool { return put(chosen.Pick, s.group.ID, member) }
	return ch, nil
}

// memberUsed is the member that a manual group uses.
func memberUsed(snap *route.Snapshot, gr *provider.Group) string {
	for _, pick := range []string{snap.Choices.Pick[gr.ID], gr.Pick} {
		if pick != "" && slices.Contains(gr.Spelled, pick) {
			return pick
		}
	}
	return gr.Spelled[0]
}

func (g *Gateway) routing(c *control.Command) (choice, error) {
	s, err := g.about(c.Who)
	if err != nil {
		return choice{}, err
	}
	value := strings.ToLower(c.Args.Value)
	words := orders
	if s.group != nil {
		words = append(slices.Clone(orders), manual)
	}
	if value != "" && !slices.Contains(words, value) {
		return choice{}, badArgs("%.40q is no order for %s: there are %s", c.Args.Value, s.key, strings.Join(words, ", "))
	}
	ch := choice{undo: "routing of " + s.key, words: s.key + " is routed by " + value, same: s.key + " is routed so already"}
	if value == "" {
		ch.words = s.key + " is routed as the config says again"
	}
	ch.set = func(chosen *state.Chosen) bool { return put(chosen.Routing, s.key, value) }
	return ch, nil
}

// of names whom a choice for one or all is about.
func of(all []subject) string {
	if len(all) == 1 {
		return all[0].key
	}
	return "all providers and groups"
}

func (g *Gateway) affinity(c *control.Command) (choice, error) {
	all, err := g.subjects(c.Who)
	if err != nil {
		return choice{}, err
	}
	value := strings.ToLower(c.Args.Value)
	if value != "" && !slices.Contains(affinities, value) {
		return choice{}, badArgs("%.40q is no affinity: there are %s", c.Args.Value, strings.Join(affinities, ", "))
	}
	who := of(all)
	ch := choice{undo: "affinity of " + who, words: "affinity of " + who + " is " + value, same: "that is so already"}
	if value == "" {
		ch.words = "affinity of " + who + " is as the config says again"
	}
	ch.set = func(chosen *state.Chosen) bool {
		changed := false
		for _, s := range all {
			changed = put(chosen.Affinity, s.key, value) || changed
		}
		return changed
	}
	return ch, nil
}

func (g *Gateway) sink(c *control.Command) (choice, error) {
	all, err := g.subjects(c.Who)
	if err != nil {
		return choice{}, err
	}
	who := of(all)
	ch := choice{undo: "sink of " + who, words: "sink of " + who + " is as the config says again", same: "that is so already"}
	if c.Args.On != nil {
		ch.words = "sink of " + who + " is " + onOff(*c.Args.On)
	}
	on := c.Args.On
	ch.set = func(chosen *state.Chosen) bool {
		changed := false
		for _, s := range all {
			was, had := chosen.Sink[s.key]
			switch {
			case on == nil:
				delete(chosen.Sink, s.key)
				changed = changed || had
			case !had || was != *on:
				chosen.Sink[s.key] = *on
				changed = true
			}
		}
		return changed
	}
	return ch, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// found finds the found group that a command names.
func (g *Gateway) found(who string) (*provider.Group, error) {
	s, err := g.about("group/" + strings.TrimPrefix(who, "group/"))
	if err != nil {
		return nil, err
	}
	if !s.group.Auto {
		return nil, badArgs("group %s is the config's own: magpie group rm %s takes it out of there", s.group.ID, s.group.ID)
	}
	return s.group, nil
}

func (g *Gateway) hide(c *control.Command) (choice, error) {
	gr, err := g.found(c.Who)
	if err != nil {
		return choice{}, err
	}
	if user := usedBy(g.live.Load().cat, gr.ID); user != "" && !gr.Off {
		return choice{}, &control.Error{Status: http.StatusConflict, Code: "in_use", Message: "group " + user + " uses group/" + gr.ID + ": take it out there first"}
	}
	return choice{
		words: "took group/" + gr.ID + " away", undo: "hiding of group/" + gr.ID, same: "group/" + gr.ID + " is away already",
		set: func(ch *state.Chosen) bool { return put(ch.Hidden, gr.ID, true) },
	}, nil
}

func (g *Gateway) show(c *control.Command) (choice, error) {
	gr, err := g.found(c.Who)
	if err != nil {
		return choice{}, err
	}
	return choice{
		words: "group/" + gr.ID + " is back", undo: "showing of group/" + gr.ID, same: "group/" + gr.ID + " was not away",
		set: func(ch *state.Chosen) bool { return put(ch.Hidden, gr.ID, false) },
	}, nil
}

// usedBy is the group of the config that contains or classifies with a group, "" for none.
func usedBy(cat *provider.Catalog, id string) string {
	for _, gr := range cat.Groups {
		if gr.Classifier == route.GroupKey(id) || gr.Classifier == id || slices.ContainsFunc(gr.Members, func(r provider.Ref) bool { return r.Group == id }) {
			return gr.ID
		}
	}
	return ""
}

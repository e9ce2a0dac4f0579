package gateway

import (
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// The catalogue as it stands now: with the groups that were found, and in the person's order.

// catalog is what requests are resolved and planned on. It is made anew when lists,
// readiness or choices change, never for a request.
func (l *live) catalog() *provider.Catalog {
	if c := l.view.Load(); c != nil {
		return c
	}
	return l.cat
}

// snapshot takes what planning may know.
func (g *Gateway) snapshot(lv *live, now time.Time) *route.Snapshot {
	snap := g.d.State.Snapshot(lv.catalog(), now)
	snap.Lists = lv.fetched()
	if plans := lv.plans.Load(); plans != nil {
		snap.Plans = *plans
	}
	return snap
}

// derive makes the catalogue anew from what is known now.
func (g *Gateway) derive(lv *live) {
	lv.deriving.Lock() // or an older look could be stored last, and stand
	defer lv.deriving.Unlock()
	chosen := g.d.State.Chosen()
	lv.view.Store(lv.cat.With(provider.View{
		Lists: lv.fetched(), Hidden: chosen.Hidden, Order: chosen.Members,
		Ready: func(a *provider.Account) bool { return !g.d.State.IsUnready(a.ID) },
	}))
}

// regroup makes the catalogue anew and tells what became of the groups.
func (g *Gateway) regroup(lv *live) {
	g.derive(lv)
	if g.live.Load() != lv {
		return
	}
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	g.tellGone(lv)
	g.tellGroups(lv, time.Now())
}

// tellGone takes groups away that are no more.
func (g *Gateway) tellGone(lv *live) {
	cat := lv.catalog()
	for _, gone := range g.d.Bus.Status().Groups {
		if cat.Group(gone.ID) == nil {
			gone.Removed = true
			g.d.Bus.PublishGroup(gone)
		}
	}
}

// unready notes why an account has no secret, "" that it has one; who is ready decides
// which groups there are.
func (g *Gateway) unready(id provider.AccountID, why string) {
	was := g.d.State.IsUnready(id)
	g.d.State.SetUnready(id, why)
	if was != (why != "") {
		if lv := g.live.Load(); lv != nil && lv.cat.Account(id) != nil {
			g.regroup(lv)
		}
	}
}

// tellGroups tells how each group stands.
func (g *Gateway) tellGroups(lv *live, now time.Time) {
	g.tellSome(lv, now, func(*provider.Group) bool { return true })
}

// tellSome tells how some groups stand, by the planner itself, where that is news.
func (g *Gateway) tellSome(lv *live, now time.Time, which func(*provider.Group) bool) {
	cat := lv.catalog()
	if len(cat.Groups) == 0 {
		return
	}
	was := map[string]trace.Group{}
	for _, gr := range g.d.Bus.Status().Groups {
		was[gr.ID] = gr
	}
	snap := g.snapshot(lv, now)
	for _, gr := range cat.Groups {
		if !which(gr) {
			continue
		}
		told := g.groupTold(snap, gr, now)
		if old, ok := was[gr.ID]; !ok || !old.Same(&told) {
			g.d.Bus.PublishGroup(told)
		}
	}
}

// groupTold is how a group stands.
func (g *Gateway) groupTold(snap *route.Snapshot, gr *provider.Group, now time.Time) trace.Group {
	told := trace.Group{
		ID: gr.ID, Place: gr.Place, Auto: gr.Auto, Off: gr.Off, Members: make([]string, len(gr.Members)),
	}
	for i, m := range gr.Members {
		told.Members[i] = m.String()
	}
	call := route.Call{Target: provider.Target{Asked: route.GroupKey(gr.ID), Group: gr}}
	if snap.Spreads(&call.Target) { // who is next is told of a new conversation
		call.Held = g.d.State.Held(state.Talk{Scope: route.ScopeOf(&call.Target)}, now)
	}
	plan := route.Plan(snap, call)
	told.Routing = plan.Routing
	if told.Routing == manual && len(gr.Spelled) > 0 {
		told.Pick = memberUsed(snap, gr)
	}
	told.Of = len(plan.Order) + len(plan.Left)
	for i := range plan.Order {
		c := &plan.Order[i]
		id := provider.AccountID(c.ID)
		if c.Rest != nil || snap.Standing[id].ShutAt(now) || g.d.State.IsDenied(id) {
			continue // asked, but when nobody else is left
		}
		if told.Ready++; told.Ready == 1 {
			told.Last = c.ID
		} else if told.Last != c.ID {
			told.Last = ""
		}
	}
	if len(plan.Order) > 0 {
		told.Next = plan.Order[0].ID
	}
	return told
}

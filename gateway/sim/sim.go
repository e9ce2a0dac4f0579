package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Orders are what is compared.
var Orders = []string{"smart", "order", "rotate", "usage", "pace", "weight", "best"}

// Report is what a workload came to under each order.
type Report struct {
	Workload string
	Days     int
	Requests int
	Bound    Bound
	Orders   []Result
}

// group is the model under which all who may answer stand, where no config says otherwise.
const (
	groupID = "all"
	modelID = "model"
)

// Run plays a workload under each order. Without a catalogue everybody who is named in the
// workload stands in one group, keys marked so as fallbacks behind it.
func Run(w *Workload, cat *provider.Catalog, orders []string) (*Report, error) {
	asks := w.Requests()
	if len(asks) == 0 {
		return nil, errors.New("the workload asks nothing")
	}
	var err error
	if cat == nil {
		cat, err = w.catalog()
	} else {
		cat, err = w.over(cat)
	}
	if err != nil {
		return nil, err
	}
	target, err := w.target(cat)
	if err != nil {
		return nil, err
	}
	if err := w.reaches(cat, target); err != nil {
		return nil, err
	}
	m := w.measure(asks)
	rep := &Report{Workload: w.Name, Requests: len(asks), Days: w.Days, Bound: w.bound(asks, m)}
	for _, o := range orders {
		r := w.begin(asks, m, cat, target, o)
		res := r.run()
		res.Order = o
		rep.Orders = append(rep.Orders, res)
	}
	return rep, nil
}

// Own plays the workload as the catalogue has its routing.
const Own = "yours"

// begin makes a run, with all as at the start.
func (w *Workload) begin(asks []Request, m *measures, cat *provider.Catalog, target provider.Target, order string) *run {
	r := &run{
		w: w, asks: asks, next: m.next, least: m.least, target: target, weight: w.weight(),
		world: map[provider.AccountID]*vendor{}, keeps: map[int]*route.Keep{}, fails: map[provider.AccountID]int{},
		snap: route.Snapshot{Catalog: cat, Standing: map[provider.AccountID]route.Standing{}, Rests: map[string]trace.Rest{}, Served: map[provider.AccountID]route.Lately{}},
	}
	if order != Own {
		key := groupKey(&target)
		r.snap.Choices.Routing = map[string]string{key: order}
	}
	for i := range w.Accounts {
		a := &w.Accounts[i]
		v := &vendor{id: provider.AccountID(a.ID), fails: a.Fails, cache: map[int]prefix{}}
		for j, win := range a.Windows {
			x := window{Window: win, limit: int64(win.Limit * grain), budget: j == budgetOf(a.Windows)}
			x.used = int64(win.Limit * grain * win.Used / 100)
			x.left = x.limit - x.used
			if win.Resets != nil {
				x.ends = max(win.Resets.d(), 1)
			}
			v.windows = append(v.windows, x)
		}
		r.add(v)
		if !a.Unknown {
			r.tell(v, 0)
		}
	}
	for i := range w.Keys {
		k := &w.Keys[i]
		r.add(&vendor{id: provider.AccountID(k.ID), money: true, price: k.cost(), fails: k.Fails, cache: map[int]prefix{}})
	}
	return r
}

func (k *Key) cost() cost { return costOf(k.Price.Input, k.Price.CacheRead, k.Price.Output) }

func (w *Workload) weight() cost {
	return costOf(w.Weights.Input, w.Weights.CacheRead, w.Weights.Output)
}

func (r *run) add(v *vendor) {
	r.all = append(r.all, v)
	r.world[v.id] = v
	r.snap.Standing[v.id] = route.Standing{Told: []trace.Window{}} // nobody reads the plan's windows
}

func groupKey(t *provider.Target) string {
	if t.Group != nil {
		return route.GroupKey(t.Group.ID)
	}
	return t.Provider.ID
}

// catalog makes providers of whom the workload names.
func (w *Workload) catalog() (*provider.Catalog, error) {
	var ps []*provider.Provider
	place := 0
	add := func(id string, kind provider.Kind) *provider.Provider {
		pid, name, _ := strings.Cut(id, "/")
		i := slices.IndexFunc(ps, func(p *provider.Provider) bool { return p.ID == pid })
		if i < 0 {
			i = len(ps)
			ps = append(ps, &provider.Provider{ID: pid, Name: pid, Routing: "smart", Affinity: "auto", Place: i})
		}
		p := ps[i]
		p.Accounts = append(p.Accounts, &provider.Account{ID: provider.AccountID(id), Provider: pid, Name: name, Kind: kind, Weight: 1, Place: place})
		place++
		return p
	}
	for i := range w.Accounts {
		add(w.Accounts[i].ID, provider.KindAccount)
	}
	main := len(ps)
	var behind []provider.Ref
	g := &provider.Group{ID: groupID, Name: groupID, Routing: "smart", Affinity: "auto"}
	for i := range w.Keys {
		k := &w.Keys[i]
		p := add(k.ID, provider.KindKey)
		if !k.Fallback {
			continue
		}
		ref := provider.Ref{Provider: p.ID, Who: p.Accounts[len(p.Accounts)-1].Name, Model: modelID}
		behind = append(behind, ref)
	}
	if len(behind) > 0 {
		if main != 1 || len(behind) != len(w.Keys) || ps[0].Accounts[len(ps[0].Accounts)-1].Kind == provider.KindKey {
			return nil, errors.New("fallback keys need all accounts at one provider, and all keys at others and fallbacks")
		}
		ps[0].Fallback = behind
		return provider.NewCatalog(ps, nil), nil
	}
	for _, p := range ps {
		g.Members = append(g.Members, provider.Ref{Provider: p.ID, Model: modelID})
	}
	return provider.NewCatalog(ps, []*provider.Group{g}), nil
}

// over takes a config's catalogue, with those alone in it whom the workload names, and ready.
func (w *Workload) over(cat *provider.Catalog) (*provider.Catalog, error) {
	known := map[string]bool{}
	for i := range w.Accounts {
		known[w.Accounts[i].ID] = false
	}
	for i := range w.Keys {
		known[w.Keys[i].ID] = false
	}
	ps := make([]*provider.Provider, len(cat.Providers))
	for i, p := range cat.Providers {
		c := *p
		c.Accounts = nil
		for _, a := range p.Accounts {
			b := *a
			b.Unready = ""
			if _, ok := known[string(a.ID)]; ok {
				known[string(a.ID)] = true
			} else {
				b.Off = true
			}
			c.Accounts = append(c.Accounts, &b)
		}
		ps[i] = &c
	}
	var missing []string
	for id, there := range known {
		if !there {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("the config has not %s, which the workload names", strings.Join(missing, ", "))
	}
	return provider.NewCatalog(ps, cat.Groups), nil
}

// target is what the agents ask for.
func (w *Workload) target(cat *provider.Catalog) (provider.Target, error) {
	if w.Model != "" {
		t, bad := cat.Resolve(w.Model, nil)
		if bad != nil {
			return t, fmt.Errorf("the workload's model: %s", bad.Words)
		}
		return t, nil
	}
	if g := cat.Group(groupID); g != nil {
		return provider.Target{Asked: "group/" + groupID, Group: g}, nil
	}
	if len(cat.Providers) > 0 && len(cat.Groups) == 0 {
		return provider.Target{Asked: modelID, Provider: cat.Providers[0], Model: modelID}, nil
	}
	return provider.Target{}, errors.New("with a config the workload has to say what is asked for: model = \"group/…\"")
}

// reaches checks that the planner asks everybody of the workload: what the bound says of money
// rests on that.
func (w *Workload) reaches(cat *provider.Catalog, target provider.Target) error {
	plan := route.Plan(&route.Snapshot{Now: w.Start, Catalog: cat}, route.Call{Target: target})
	asked := func(id string) bool {
		return slices.ContainsFunc(plan.Order, func(c trace.Candidate) bool { return c.ID == id })
	}
	for i := range w.Accounts {
		if id := w.Accounts[i].ID; !asked(id) {
			return fmt.Errorf("%s does not go to %s, which the workload names", target.Asked, id)
		}
	}
	for i := range w.Keys {
		if id := w.Keys[i].ID; !asked(id) {
			return fmt.Errorf("%s does not go to %s, which the workload names", target.Asked, id)
		}
	}
	return nil
}

// measures are what is known of the requests whoever answers them.
type measures struct {
	next  []time.Duration // by request: when its conversation's next one is asked
	cache []int64         // by request: the most that it can read from a cache
	least []int64         // by request: the least that it can cost an allowance
}

const never = time.Duration(1<<63 - 1)

func (w *Workload) measure(asks []Request) *measures {
	m := &measures{next: make([]time.Duration, len(asks)), cache: make([]int64, len(asks)), least: make([]int64, len(asks))}
	last := map[int]int{}
	weight := w.weight()
	for i := range asks {
		m.next[i] = never
		if j, ok := last[asks[i].Conv]; ok {
			m.next[j] = asks[i].At
			// It may have waited, and so be younger than its time tells.
			if asks[i].At-asks[j].At-w.Patience.d() <= warmFor {
				m.cache[i] = asks[i].Shared
			}
		}
		last[asks[i].Conv] = i
		m.least[i] = weight.of(&asks[i], m.cache[i])
	}
	return m
}

package state

import (
	"cmp"
	"slices"
	"time"

	"dev.magpie/gateway/trace"
)

// How much is kept. The gateway keeps 500 routes itself.
const (
	keepRoutes = 500
	keepLogs   = 400
	// skipShown is how long the header tells of events that were skipped.
	skipShown = 10 * time.Second
)

// State is everything that the screen knows of its gateway.
type State struct {
	Status   trace.Status    // without accounts and groups
	Accounts []trace.Account // in the config's order
	Groups   []trace.Group   // in the config's order
	Routes   []*trace.Route  // oldest first
	Logs     []trace.Log     // oldest first
	Skipped  Skip
	Link     Link

	names  map[string]string // display name by account id
	mask   bool
	trends map[trendKey][]sample
	talks  []Talk // made from Routes when asked for; nil = not made yet
}

// Skip counts events that the gateway told faster than the screen took them.
type Skip struct {
	N  int
	At time.Time
}

// Link says how the screen is connected to its gateway.
type Link struct {
	Lost  time.Time // since when it is not, zero while it is
	Retry time.Time // of the next attempt
	Why   string
}

// New returns the state as a view tells it. With mask, accounts are called acct-1, acct-2 ….
func New(v trace.View, now time.Time, mask bool) *State {
	s := &State{mask: mask, trends: map[trendKey][]sample{}}
	s.Replace(v, now)
	return s
}

// Replace takes a view in place of all that was told so far. What only the screen
// knows, such as how fast windows fill, stays.
func (s *State) Replace(v trace.View, now time.Time) {
	s.Status = v.Status
	s.Accounts = slices.Clone(v.Status.Accounts)
	s.Groups = slices.Clone(v.Status.Groups)
	s.Status.Accounts, s.Status.Groups = nil, nil
	s.Accounts = slices.DeleteFunc(s.Accounts, func(a trace.Account) bool { return a.Removed })
	s.Groups = slices.DeleteFunc(s.Groups, func(g trace.Group) bool { return g.Removed })
	s.Logs = tail(slices.Clone(v.Logs), keepLogs)
	s.Routes = make([]*trace.Route, 0, len(v.Routes))
	for i := range v.Routes {
		s.putRoute(&v.Routes[i])
	}
	s.talks = nil
	s.trim()
	s.settle(now)
}

// Apply folds one batch in.
func (s *State) Apply(b trace.Batch, now time.Time) {
	if b.View != nil {
		s.Replace(*b.View, now)
	}
	for i := range b.Routes {
		s.putRoute(&b.Routes[i])
	}
	if len(b.Routes) > 0 {
		s.trim()
	}
	for i := range b.Accounts {
		s.putAccount(b.Accounts[i])
	}
	for i := range b.Groups {
		s.putGroup(b.Groups[i])
	}
	s.putLogs(b.Logs)
	if b.Status != nil {
		s.Status = *b.Status
		s.Status.Accounts, s.Status.Groups = nil, nil
	}
	if b.Link != nil {
		s.link(b.Link, now)
	}
	if b.Lost > 0 || b.Behind {
		s.skip(max(b.Lost, 1), now)
	}
	if len(b.Accounts)+len(b.Groups) > 0 {
		s.settle(now)
	}
}

// skip adds to what the header tells for a while.
func (s *State) skip(n int, now time.Time) {
	if now.Sub(s.Skipped.At) > skipShown {
		s.Skipped.N = 0
	}
	s.Skipped = Skip{N: s.Skipped.N + n, At: now}
}

// Behind returns how many events were skipped lately, 0 when none were.
func (s *State) Behind(c *Clock) int {
	if s.Skipped.N == 0 || c.Passed(s.Skipped.At.Add(skipShown)) {
		return 0
	}
	return s.Skipped.N
}

func (s *State) link(l *trace.Link, now time.Time) {
	s.Link = Link{}
	if l.Lost {
		s.Link = Link{Lost: l.Since, Retry: now.Add(l.RetryIn), Why: l.Error}
	}
}

// putLogs adds lines in their order; one that is there already is not added again.
func (s *State) putLogs(lines []trace.Log) {
	for _, l := range lines {
		if n := len(s.Logs); n > 0 && l.Seq != 0 && l.Seq <= s.Logs[n-1].Seq {
			continue
		}
		s.Logs = append(s.Logs, l)
	}
	s.Logs = tail(s.Logs, keepLogs)
}

func (s *State) putRoute(r *trace.Route) {
	s.talks = nil
	i, found := slices.BinarySearchFunc(s.Routes, r.ID, func(x *trace.Route, id int64) int { return cmp.Compare(x.ID, id) })
	if found {
		if r.Seq >= s.Routes[i].Seq {
			s.Routes[i] = r
		}
		return
	}
	s.Routes = slices.Insert(s.Routes, i, r)
}

// trim forgets the oldest requests past the limit, but none that is still being answered.
func (s *State) trim() {
	over := len(s.Routes) - keepRoutes
	if over <= 0 {
		return
	}
	kept := s.Routes[:0:0]
	for _, r := range s.Routes {
		if over > 0 && r.Done {
			over--
			continue
		}
		kept = append(kept, r)
	}
	s.Routes = kept
}

func (s *State) putAccount(a trace.Account) {
	i := slices.IndexFunc(s.Accounts, func(x trace.Account) bool { return x.ID == a.ID })
	switch {
	case a.Removed && i >= 0:
		s.Accounts = slices.Delete(s.Accounts, i, i+1)
	case a.Removed:
	case i >= 0:
		s.Accounts[i] = a
	default:
		s.Accounts = append(s.Accounts, a)
	}
}

func (s *State) putGroup(g trace.Group) {
	i := slices.IndexFunc(s.Groups, func(x trace.Group) bool { return x.ID == g.ID })
	switch {
	case g.Removed && i >= 0:
		s.Groups = slices.Delete(s.Groups, i, i+1)
	case g.Removed:
	case i >= 0:
		s.Groups[i] = g
	default:
		s.Groups = append(s.Groups, g)
	}
}

// settle puts accounts in their order, names them and notes their readings.
func (s *State) settle(now time.Time) {
	slices.SortStableFunc(s.Accounts, func(a, b trace.Account) int { return cmp.Compare(a.Place, b.Place) })
	slices.SortStableFunc(s.Groups, func(a, b trace.Group) int { return cmp.Compare(a.Place, b.Place) })
	s.names = nameAccounts(s.Accounts, s.mask)
	s.observe(now)
}

// Account returns the account with that id.
func (s *State) Account(id string) (trace.Account, bool) {
	for i := range s.Accounts {
		if s.Accounts[i].ID == id {
			return s.Accounts[i], true
		}
	}
	return trace.Account{}, false
}

// Route returns the request with that id, nil when it is not known.
func (s *State) Route(id int64) *trace.Route {
	i, found := slices.BinarySearchFunc(s.Routes, id, func(x *trace.Route, id int64) int { return cmp.Compare(x.ID, id) })
	if !found {
		return nil
	}
	return s.Routes[i]
}

// Group returns the group with that id.
func (s *State) Group(id string) (trace.Group, bool) {
	for _, g := range s.Groups {
		if g.ID == id {
			return g, true
		}
	}
	return trace.Group{}, false
}

// Live returns the requests that are being answered, oldest first.
func (s *State) Live() []*trace.Route {
	var live []*trace.Route
	for _, r := range s.Routes {
		if !r.Done {
			live = append(live, r)
		}
	}
	return live
}

func tail[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Clone(list[len(list)-n:])
}

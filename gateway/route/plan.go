package route

import (
	"slices"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// steps make a plan, in this order. Each that moves a seat notes why it stands there.
var steps = [...]func(*draft){
	expand,    // the target's candidates, each once, in the file's order
	leaveOut,  // those that must not be asked
	see,       // those that can't see what the turn shows
	noteRests, // who rests
	weigh,     // what the last readings say
	fit,       // keys made for another API than the best, aside
	order,     // each pool by its own routing, and who was rate limited behind
	asideLast, // a group's aside keys, behind all its others
	keepFirst, // who answered the conversation
	ruleFirst, // whom a group's rules send the turn to
	pinFirst,  // the person's pins
	restLast,  // those that rest, behind the others
	dress,     // the candidates as told, with their reasons
}

// Plan decides whom to ask for a call, in which order, and whom not: every
// configured candidate is in Order or in Left, once, with its reason. It is a look:
// whoever carries the plan out takes Decide.
func Plan(s *Snapshot, c Call) trace.Plan {
	d := draft{s: s, c: c}
	d.make()
	return d.plan
}

// Decide makes the plan and says what carrying it out changes.
func Decide(s *Snapshot, c Call) (trace.Plan, Effects) { return new(Desk).Decide(s, c) }

// Desk is room to make plans in, one after the other: whoever makes many keeps one, which
// halves what a plan costs. The zero value is an empty one. Nothing that a plan tells
// points into its desk.
type Desk struct{ d draft }

// mostRoom is how many candidates' room a desk keeps.
const mostRoom = 1024

// Decide makes the plan and says what carrying it out changes.
func (k *Desk) Decide(s *Snapshot, c Call) (trace.Plan, Effects) {
	d := &k.d
	d.s, d.c, d.carry = s, c, true
	d.make()
	plan, effects := d.plan, d.effects
	k.clear()
	return plan, effects
}

// clear empties the desk, and keeps its room.
func (k *Desk) clear() {
	d := &k.d
	if cap(d.room) > mostRoom || cap(d.units) > mostRoom {
		*d = draft{}
		return
	}
	clear(d.room)
	clear(d.units)
	clear(d.blocks)
	clear(d.walked)
	clear(d.charges)
	clear(d.in[:cap(d.in)])
	clear(d.spare[:cap(d.spare)])
	*d = draft{
		room: d.room[:0], units: d.units[:0], blocks: d.blocks[:0], walked: d.walked[:0], in: d.in[:0], spare: d.spare[:0],
		charges: d.charges[:0], paces: d.paces[:0],
	}
}

func (d *draft) make() {
	for _, step := range steps {
		step(d)
	}
}

// draft is a plan in the making.
type draft struct {
	s    *Snapshot
	c    Call
	in   []seat // to be asked, in order; at first all of them
	out  []seat // left out
	plan trace.Plan

	carry   bool // the plan is carried out, so its effects matter
	effects Effects
	charges []charge // rounds of weights that this plan took part in

	units   []unit // pools and groups, each before what it holds
	room    []candidate
	blocks  []block
	spare   []seat // room for the next order
	times   []time.Time
	weights []Weight // of all rounds that this plan plays
	paces   []float64
	walked  []*provider.Group // groups already expanded
	again   bool              // a provider was met again, so an account may have several seats
	later   []put             // what nobody goes to, expanded after all others
	spoken  spoken
}

// seat is a candidate's place in the order; seats are moved, candidates are not.
type seat struct{ *candidate }

// candidate is one account with one model, before it is told.
type candidate struct {
	who      *provider.Account
	of       *provider.Provider
	model    string
	effort   string
	unit     int // its pool, among the draft's units
	place    place
	standing Standing
	why      trace.ReasonCode // why it is left out, "" while it is not
	text     string           // what that reason needs besides
	pin      *trace.Pinned    // the pin that concerns this request
	rest     *trace.Rest
	lead     bool         // its conversation puts it first
	because  trace.Reason // why it stands where it does, by the last step that moved it; no code = as listed

	known  bool // a window that counts the model was read
	learns bool // nothing is known of it, and its reply will tell
	used   float64
	load   float64     // what it is ordered by: what is used, or more than all where its vendor answers nothing
	renews []time.Time // by window, the longest first; zero = unknown
	pace   float64     // under pace: percent an hour to spend
	due    time.Time   // under pace: until then
	fit    int         // how well a key made for one API suits the request, 0 = best
	aside  bool        // a key made for another API than the best of its pool
	sunk   *time.Time  // rate limited then, so behind
	held   held

	stand stand   // under best
	short float64 // used of its fullest window that is shorter than a day
	rank  float64 // among those that stand alike, the lowest first
	band  int     // under pace: its place by tier, and of those with room by pace
}

// place is where the file has a candidate.
type place struct {
	n, of    int    // its place, from 1, and among how many
	by       string // the group, or the provider whose fallback it is
	mate     int    // of a group's member that stands for several: its place among them, from 1; else 0
	fallback bool
	off      bool // it is there only by a group that is switched off
	unpicked bool // it is there only by members that a manual group does not use
	tied     bool // the request's name ties it to another key or account
	unlisted bool // its provider's own list has not the model
}

// split moves the seats that go first before the others; both parts keep their order.
func (d *draft) split(first func(*seat) bool) {
	sorted := slices.Grow(d.spare[:0], len(d.in))
	for i := range d.in {
		if first(&d.in[i]) {
			sorted = append(sorted, d.in[i])
		}
	}
	for i := range d.in {
		if !first(&d.in[i]) {
			sorted = append(sorted, d.in[i])
		}
	}
	d.in, d.spare = sorted, d.in
}

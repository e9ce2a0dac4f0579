package trace

import "iter"

// The names of the events under which values go over the wire.
const (
	EventRoute   = "route"
	EventAccount = "account"
	EventGroup   = "group"
	EventLog     = "log"
	EventStatus  = "status"
	EventReset   = "reset" // what follows is everything anew
	EventReady   = "ready" // the view is complete, changes follow
)

// Event is one value of a batch. Value is a *Route, *Account, *Group, *Log or *Status
// that points into the batch.
type Event struct {
	Seq   uint64
	Name  string
	Value any
}

// Events gives a batch's values in the order of their numbers, so that whoever
// stops after one can resume from it.
func (b *Batch) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var r, a, g, l int
		status := b.Status
		for {
			var e Event
			var at *int
			earliest := func(seq uint64, name string, i *int) bool {
				if e.Name != "" && e.Seq <= seq {
					return false
				}
				e.Seq, e.Name, at = seq, name, i
				return true
			}
			if r < len(b.Routes) && earliest(b.Routes[r].Seq, EventRoute, &r) {
				e.Value = &b.Routes[r]
			}
			if a < len(b.Accounts) && earliest(b.Accounts[a].Seq, EventAccount, &a) {
				e.Value = &b.Accounts[a]
			}
			if g < len(b.Groups) && earliest(b.Groups[g].Seq, EventGroup, &g) {
				e.Value = &b.Groups[g]
			}
			if l < len(b.Logs) && earliest(b.Logs[l].Seq, EventLog, &l) {
				e.Value = &b.Logs[l]
			}
			if status != nil && earliest(status.Seq, EventStatus, nil) {
				e.Value = status
			}
			if e.Name == "" {
				return
			}
			if at != nil {
				*at++
			} else {
				status = nil
			}
			if !yield(e) {
				return
			}
		}
	}
}

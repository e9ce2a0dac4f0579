package trace

import (
	"cmp"
	"slices"
)

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
func (b *Batch) Events() []Event {
	out := make([]Event, 0, b.values()+1)
	for i := range b.Routes {
		out = append(out, Event{b.Routes[i].Seq, EventRoute, &b.Routes[i]})
	}
	for i := range b.Accounts {
		out = append(out, Event{b.Accounts[i].Seq, EventAccount, &b.Accounts[i]})
	}
	for i := range b.Groups {
		out = append(out, Event{b.Groups[i].Seq, EventGroup, &b.Groups[i]})
	}
	for i := range b.Logs {
		out = append(out, Event{b.Logs[i].Seq, EventLog, &b.Logs[i]})
	}
	if b.Status != nil {
		out = append(out, Event{b.Status.Seq, EventStatus, b.Status})
	}
	slices.SortStableFunc(out, func(x, y Event) int { return cmp.Compare(x.Seq, y.Seq) })
	return out
}

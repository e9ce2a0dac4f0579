package state

import (
	"container/list"
	"sync"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
)

const (
	maxTurns = 4096           // conversations of groups with rules
	turnsFor = 24 * time.Hour // how long
)

// Turn is what a group's rules and its classifier made of a conversation's last turn.
type Turn struct {
	route.Decided
	Said    string           // a hash of what the user said in it
	Judged  trace.Classified // By "" = no classifier was asked
	Counted int              // tokens of the last request, as its vendor counted them
}

// turns remembers them, the latest ones. They stand beside the facts: each request changes them.
type turns struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // newest first
}

type turnAt struct {
	key string
	Turn
	at time.Time
}

// Turn returns what is remembered under a key: group/<id>|<conversation>|<first words>.
func (s *Store) Turn(key string, now time.Time) (Turn, bool) {
	t := &s.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.by[key]
	if !ok {
		return Turn{}, false
	}
	one, _ := e.Value.(turnAt)
	if now.Sub(one.at) >= turnsFor {
		t.drop(e)
		return Turn{}, false
	}
	return one.Turn, true
}

// NoteTurn changes what is remembered under a key.
func (s *Store) NoteTurn(key string, now time.Time, change func(*Turn)) {
	t := &s.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[string]*list.Element{}
	}
	e, ok := t.by[key]
	if !ok {
		e = t.order.PushFront(turnAt{key: key})
		t.by[key] = e
	}
	one, _ := e.Value.(turnAt)
	change(&one.Turn)
	one.at = now
	e.Value = one
	t.order.MoveToFront(e)
	if t.order.Len() > maxTurns {
		t.drop(t.order.Back())
	}
}

func (t *turns) drop(e *list.Element) {
	one, _ := t.order.Remove(e).(turnAt)
	delete(t.by, one.key)
}

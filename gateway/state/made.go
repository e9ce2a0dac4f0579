package state

import (
	"container/list"
	"sync"
	"time"

	"dev.magpie/provider"
)

const (
	maxMade   = 4096           // replies remembered
	madeFor   = 24 * time.Hour // how long
	maxMadeID = 512            // bytes of an id that is worth remembering
)

// made remembers which account made which reply, the latest ones.
type made struct {
	mu    sync.Mutex
	byID  map[string]*list.Element
	order *list.List // newest use first
}

type reply struct {
	id string
	by provider.AccountID
	at time.Time
}

func (m *made) init() {
	m.byID = map[string]*list.Element{}
	m.order = list.New()
}

// NoteMade remembers that an account made the reply of that id.
func (s *Store) NoteMade(id string, by provider.AccountID) {
	if id == "" || len(id) > maxMadeID {
		return
	}
	m := &s.made
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.byID[id]; ok {
		e.Value = reply{id: id, by: by, at: time.Now()}
		m.order.MoveToFront(e)
		return
	}
	m.byID[id] = m.order.PushFront(reply{id: id, by: by, at: time.Now()})
	if m.order.Len() > maxMade {
		m.drop(m.order.Back())
	}
}

// Made returns who made the reply of that id, if that is still remembered.
func (s *Store) Made(id string) (provider.AccountID, bool) {
	m := &s.made
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.byID[id]
	if !ok {
		return "", false
	}
	r, _ := e.Value.(reply)
	if time.Since(r.at) >= madeFor {
		m.drop(e)
		return "", false
	}
	m.order.MoveToFront(e)
	return r.by, true
}

func (m *made) drop(e *list.Element) {
	r, _ := m.order.Remove(e).(reply)
	delete(m.byID, r.id)
}

package trace

import "context"

// Mirror is a bus that is told what another bus told: it keeps that one's numbers,
// totals and days, and hands them on by the same rules.
type Mirror struct{ b *Bus }

// NewMirror returns a mirror of a view.
func NewMirror(v View) *Mirror {
	b := NewBus(Options{})
	b.told = true
	m := &Mirror{b}
	m.fill(v)
	return m
}

// Watch returns everything as told, and a feed of all after it.
func (m *Mirror) Watch(ctx context.Context) (View, Feed, error) { return m.b.Watch(ctx) }

// Tell takes over one value, as an event carries it.
func (m *Mirror) Tell(value any) {
	b := m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	m.put(value)
}

func (m *Mirror) put(value any) {
	b := m.b
	switch v := value.(type) {
	case *Route:
		b.putRoute(v)
	case *Account:
		e, _ := b.accounts.put(v.ID, b.seq)
		e.value = *v
	case *Group:
		e, _ := b.groups.put(v.ID, b.seq)
		e.value = *v
	case *Log:
		b.logs.push(*v, b.seq)
	case *Status:
		s := *v
		s.Accounts, s.Groups, s.Seq = nil, nil, b.seq
		b.status = s
	case *Link:
		b.link, b.linkSeq = v, b.seq
	}
}

// Reset replaces everything; every feed tells it as a view. Log lines stay when v has none.
func (m *Mirror) Reset(v View) {
	b := m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bump()
	b.routes, b.accounts, b.groups = shelf[int64, Route]{}, shelf[string, Account]{}, shelf[string, Group]{}
	b.done = queue{}
	if len(v.Logs) > 0 {
		b.logs = ring{size: b.logs.size}
	}
	m.fill(v)
	for _, f := range b.feeds {
		f.behind = true
		f.logsAt = min(f.logsAt, b.logs.n)
	}
}

// fill takes over a view's values.
func (m *Mirror) fill(v View) {
	b := m.b
	for i := range v.Routes {
		b.seq++
		m.put(&v.Routes[i])
	}
	for i := range v.Status.Accounts {
		b.seq++
		m.put(&v.Status.Accounts[i])
	}
	for i := range v.Status.Groups {
		b.seq++
		m.put(&v.Status.Groups[i])
	}
	for i := range v.Logs {
		b.seq++
		m.put(&v.Logs[i])
	}
	b.seq++
	m.put(&v.Status)
}

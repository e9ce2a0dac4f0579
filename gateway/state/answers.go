package state

import (
	"sync"
	"time"

	"dev.magpie/provider"
)

// answers remembers when each account answered last, in this run. It stands beside the
// facts: it changes with every reply.
type answers struct {
	mu sync.Mutex
	at map[provider.AccountID]time.Time
}

func (l *answers) note(id provider.AccountID, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[provider.AccountID]time.Time{}
	}
	if at.After(l.at[id]) {
		l.at[id] = at
	}
}

// of returns an account's last answer, nil when there was none.
func (l *answers) of(id provider.AccountID) *time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.at[id]
	if !ok {
		return nil
	}
	return &at
}

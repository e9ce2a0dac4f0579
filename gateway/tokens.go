package gateway

import (
	"crypto/rand"
	"reflect"
	"sync"
	"time"

	"dev.magpie/gateway/control"
)

// tokenFor is how long the facts of a preview count as fresh.
const tokenFor = time.Minute

// tokens binds what can't be undone to a preview of it.
type tokens struct {
	mu sync.Mutex
	by map[control.Token]given
}

type given struct {
	c     control.Command
	facts []string // that were shown
	end   time.Time
}

func (t *tokens) give(c control.Command, facts []string, now time.Time) control.Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.by == nil {
		t.by = map[control.Token]given{}
	}
	for k, g := range t.by {
		if now.After(g.end) {
			delete(t.by, k)
		}
	}
	token := control.Token(rand.Text())
	t.by[token] = given{c, facts, now.Add(tokenFor)}
	return token
}

// take uses a token up and returns the facts that it stands for; it holds for the very command
// that was previewed.
func (t *tokens) take(c control.Command, token control.Token, now time.Time) (facts []string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, ok := t.by[token]
	if !ok || !reflect.DeepEqual(g.c, c) || now.After(g.end) {
		return nil, false
	}
	delete(t.by, token)
	return g.facts, true
}

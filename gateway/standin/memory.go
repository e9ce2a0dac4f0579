package standin

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"dev.magpie/gateway/wire"
)

// What a vendor remembers between requests, bounded.
const (
	mostConversations = 512
	mostPrompts       = 4096
	leastCached       = 1024 // tokens: shorter prompts are not cached
)

// conversation is what was said up to a reply.
type conversation struct {
	turns []turn
	body  []byte // the reply, as it was stored
}

// conversations keeps what later requests of the same key may refer to by id.
type conversations struct {
	mu    sync.Mutex
	byID  map[storedID]conversation
	items map[storedID]bool
	order []storedID
}

// storedID is an id and the key that it was made for: no other key finds it.
type storedID struct{ key, id string }

func newConversations() *conversations {
	return &conversations{byID: map[storedID]conversation{}, items: map[storedID]bool{}}
}

func (c *conversations) keep(id storedID, conv conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[id] = conv
	c.remember(id)
}

// keepItem remembers the id of an output item.
func (c *conversations) keepItem(id storedID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[id] = true
	c.remember(id)
}

// remember notes an id's age and forgets the oldest. Its caller holds the lock.
func (c *conversations) remember(id storedID) {
	c.order = append(c.order, id)
	if len(c.order) > mostConversations {
		delete(c.byID, c.order[0])
		delete(c.items, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
}

func (c *conversations) find(id storedID) (conversation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conv, ok := c.byID[id]
	return conv, ok
}

func (c *conversations) forget(id storedID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.byID[id]
	delete(c.byID, id)
	return ok
}

func (c *conversations) knows(id storedID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.items[id]
}

// promptCache remembers which beginnings of prompts a key has sent, with their length.
type promptCache struct {
	mu    sync.Mutex
	seen  map[[32]byte]int
	order [][32]byte
}

func newPromptCache() *promptCache { return &promptCache{seen: map[[32]byte]int{}} }

// read tells how many tokens of a prompt were sent before by the key, and notes the
// prompt's beginnings. The prompt is its pieces: what stands before the turns, then each turn.
func (c *promptCache) read(key, model string, pieces []promptPiece) (cached int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", key, model))
	total := 0
	for _, p := range pieces {
		sum = sha256.Sum256(append(sum[:], p.sum[:]...))
		total += p.tokens
		if _, ok := c.seen[sum]; ok {
			cached = total
			continue
		}
		c.seen[sum] = total
		c.order = append(c.order, sum)
	}
	for len(c.order) > mostPrompts {
		delete(c.seen, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	if cached < leastCached {
		return 0
	}
	return cached
}

// promptPiece is a stretch of a prompt.
type promptPiece struct {
	sum    [32]byte
	tokens int
}

// estimate is how many tokens so many bytes are.
func estimate(bytes int) int { return (bytes + 3) / 4 }

// pieces cuts a prompt where caches may: before the turns, and after each.
func (v *Vendor) pieces(a *ask) []promptPiece {
	head := append(marshal(a.tree["tools"]), a.system...)
	all := []promptPiece{{sum: sha256.Sum256(head), tokens: estimate(len(head)) + v.opts.Overhead}}
	for _, t := range a.turns {
		text := fmt.Append(nil, t.role)
		for _, p := range t.parts {
			text = fmt.Append(text, p.kind, p.name, p.text)
		}
		all = append(all, promptPiece{sum: sha256.Sum256(text), tokens: estimate(len(text)) + 3})
	}
	return all
}

// usage is what a reply took: the prompt's estimate, what of it the key had sent
// before, and the estimate of what was written.
func (v *Vendor) usage(a *ask, key string, r *reply) Usage {
	pieces := v.pieces(a)
	marks := len(pieces)
	if a.api == wire.Messages {
		marks = min(a.cached+1, len(pieces))
	}
	u := Usage{}
	for _, p := range pieces {
		u.Input += p.tokens
	}
	if marks > 0 {
		u.Cached = v.prompts.read(key, a.model, pieces[:marks])
		if a.api == wire.Messages {
			for _, p := range pieces[:marks] {
				u.Written += p.tokens
			}
			if u.Written -= u.Cached; u.Written < leastCached && u.Cached == 0 {
				u.Written = 0
			}
		}
	}
	u.Reasoning = estimate(len(r.think))
	u.Output = u.Reasoning + estimate(len(r.text())) + 2
	for _, c := range r.calls {
		u.Output += estimate(len(c.name)+len(c.args)) + 8
	}
	return u
}

package state

import (
	"cmp"
	"io/fs"
	"slices"
	"sync"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/provider"
)

const (
	maxKeeps   = 100_000             // conversations remembered
	keptFor    = int64(24 * 60 * 60) // seconds from a conversation's last reply
	heldFor    = int64(30 * 60)      // seconds for which it counts among those that its answerer has
	maxTalk    = 512                 // bytes of a name that is worth remembering
	keptOnDisk = 512                 // of them, the latest
)

// Talk names a conversation: what it is remembered in, and itself there.
type Talk struct{ Scope, ID string }

// keeps remembers who answered which conversation last. It stands beside the facts: it changes with
// every reply, and nothing that it does grows with the number of conversations but reading a file.
//
//	newest ◄─► … ◄─► lately ◄─► … ◄─► oldest      by their last reply
//	└─ counted with who answered ─┘
type keeps struct {
	mu      sync.Mutex
	byTalk  map[Talk]*kept
	scopes  map[string]*scope
	newest  *kept
	oldest  *kept
	lately  *kept       // the oldest that is counted
	latest  int64       // of all moments that were told
	reading sync.Mutex  // one reading of the file at a time; taken before mu
	seen    fs.FileInfo // the file as last read or written; under reading
}

// kept is one conversation.
type kept struct {
	talk         Talk
	by           *holder
	session      string // by which people know it, where that is another name
	at           int64
	cacheRead    int64
	turn         int
	moved        bool
	counted      bool
	newer, older *kept
}

// scope is where conversations are told apart.
type scope struct {
	name    string
	holders map[route.Who]*holder
}

// holder is one answerer of conversations of a scope.
type holder struct {
	scope  *scope
	who    route.Who
	n      int // conversations
	lately int // of them, those that it answered lately
}

func (k *keeps) init() {
	k.byTalk, k.scopes = map[Talk]*kept{}, map[string]*scope{}
}

// tick takes in what time it is: those answered long ago count no more, or are forgotten.
func (k *keeps) tick(now int64) {
	k.latest = max(k.latest, now)
	for e := k.lately; e != nil && e.at <= k.latest-heldFor; e = k.lately {
		e.counted = false
		e.by.lately--
		k.lately = e.newer
	}
	for e := k.oldest; e != nil && (e.at <= k.latest-keptFor || len(k.byTalk) > maxKeeps); e = k.oldest {
		k.drop(e)
	}
}

// put remembers a conversation as the newest.
func (k *keeps) put(t Talk, session string, r route.Keep) {
	h := k.holder(t.Scope, r.Who)
	h.n++
	h.lately++
	t.Scope = h.scope.name // one string for all
	e := k.byTalk[t]
	if e == nil {
		e = new(kept)
		k.byTalk[t] = e
	} else { // nearly always by the same holder, which stays
		t = e.talk
		k.unlink(e)
	}
	if session == t.ID {
		session = ""
	}
	*e = kept{talk: t, by: h, session: session, at: r.At, cacheRead: r.CacheRead, turn: r.Turn, moved: r.Moved, counted: true, older: k.newest}
	if k.newest != nil {
		k.newest.newer = e
	} else {
		k.oldest = e
	}
	k.newest = e
	if k.lately == nil {
		k.lately = e
	}
}

func (k *keeps) holder(name string, who route.Who) *holder {
	s := k.scopes[name]
	if s == nil {
		s = &scope{name: name, holders: map[route.Who]*holder{}}
		k.scopes[name] = s
	}
	h := s.holders[who]
	if h == nil {
		h = &holder{scope: s, who: who}
		s.holders[who] = h
	}
	return h
}

// drop forgets a conversation.
func (k *keeps) drop(e *kept) {
	k.unlink(e)
	delete(k.byTalk, e.talk)
}

// unlink takes a conversation out of the order and from its holder.
func (k *keeps) unlink(e *kept) {
	if e == k.lately {
		k.lately = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		k.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		k.oldest = e.newer
	}
	h := e.by
	if e.counted {
		h.lately--
	}
	if h.n--; h.n > 0 {
		return
	}
	delete(h.scope.holders, h.who)
	if len(h.scope.holders) == 0 {
		delete(k.scopes, h.scope.name)
	}
}

func (e *kept) keep() route.Keep {
	return route.Keep{Who: e.by.who, Turn: e.turn, At: e.at, CacheRead: e.cacheRead, Moved: e.moved}
}

// Kept returns who answered a conversation last, nil when nobody is known to have. A file that
// another process wrote since is looked into first.
func (s *Store) Kept(t Talk, now time.Time) *route.Keep {
	r := s.keeps.get(t, now.Unix())
	if r == nil && s.readKeepsAgain(now) {
		r = s.keeps.get(t, now.Unix())
	}
	return r
}

func (k *keeps) get(t Talk, now int64) *route.Keep {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tick(now)
	e := k.byTalk[t]
	if e == nil {
		return nil
	}
	r := e.keep()
	return &r
}

// Held counts the other conversations of a scope that were answered lately, by who answered.
func (s *Store) Held(t Talk, now time.Time) map[route.Who]int {
	k := &s.keeps
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tick(now.Unix())
	of := k.scopes[t.Scope]
	if of == nil {
		return nil
	}
	held := make(map[route.Who]int, len(of.holders))
	for who, h := range of.holders {
		if h.lately > 0 {
			held[who] = h.lately
		}
	}
	if own := k.byTalk[t]; own != nil && own.counted {
		held[own.by.who]--
	}
	return held
}

// Keep remembers who answered a conversation, as of r.At. Session is the name by which people know it.
func (s *Store) Keep(t Talk, session string, r route.Keep) {
	if len(t.Scope)+len(t.ID)+len(session) > maxTalk {
		return
	}
	s.keeps.mu.Lock()
	s.keeps.put(t, session, r)
	s.keeps.tick(r.At)
	s.keeps.mu.Unlock()
	s.keepsChanged()
}

// BrokeOff forgets who answered a conversation, if that was the account whose reply now broke off.
func (s *Store) BrokeOff(t Talk, by provider.AccountID) {
	s.keeps.mu.Lock()
	e := s.keeps.byTalk[t]
	forgot := e != nil && e.by.who.ID == by
	if forgot {
		s.keeps.drop(e)
	}
	s.keeps.mu.Unlock()
	if forgot {
		s.keepsChanged()
	}
}

// talkWas is how a conversation was remembered before a person changed it.
type talkWas struct {
	talk    Talk
	session string
	keep    route.Keep
}

// ForgetTalk forgets who answered the conversations that people know by that name, and returns how
// many there were.
func (s *Store) ForgetTalk(session string) int {
	return s.wishTalks("forgetting of conversation "+session, session, func(k *keeps, e *kept) bool {
		k.drop(e)
		return true
	})
}

// MoveTalk has the next request of the conversations that people know by that name go to an account:
// of those in the scopes that are named. It returns how many there are.
func (s *Store) MoveTalk(session string, to provider.AccountID, scopes []string) int {
	return s.wishTalks("move of conversation "+session, session, func(k *keeps, e *kept) bool {
		if !slices.Contains(scopes, e.talk.Scope) {
			return false
		}
		r := e.keep()
		r.ID, r.Moved = to, true
		k.put(e.talk, e.session, r)
		return true
	})
}

// wishTalks changes what is remembered of a conversation by the person's wish, as one change to be taken back.
func (s *Store) wishTalks(words, session string, set func(*keeps, *kept) bool) int {
	var before []talkWas
	s.change(func(e *edit) {
		k := &s.keeps
		k.mu.Lock()
		defer k.mu.Unlock()
		for _, one := range k.of(session) {
			was := talkWas{talk: one.talk, session: one.session, keep: one.keep()}
			if set(k, one) {
				before = append(before, was)
			}
		}
		if len(before) > 0 {
			k.sort()
			s.push(change{words: words, talks: before})
			e.dirty[affinity] = true
		}
	})
	return len(before)
}

// Scopes lists where the conversations that people know by that name are remembered.
func (s *Store) Scopes(session string) []string {
	k := &s.keeps
	k.mu.Lock()
	defer k.mu.Unlock()
	var scopes []string
	for _, e := range k.of(session) {
		if !slices.Contains(scopes, e.talk.Scope) {
			scopes = append(scopes, e.talk.Scope)
		}
	}
	return scopes
}

// of finds conversations by the name that people know: a person asks for it, so all are looked at.
func (k *keeps) of(session string) []*kept {
	var found []*kept
	for e := k.newest; e != nil; e = e.older {
		if cmp.Or(e.session, e.talk.ID) == session {
			found = append(found, e)
		}
	}
	return found
}

// restoreTalks puts conversations back as they were, but for those that were answered since.
func (k *keeps) restoreTalks(before []talkWas) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range before {
		if e := k.byTalk[w.talk]; e == nil || e.at == w.keep.At {
			k.put(w.talk, w.session, w.keep)
		}
	}
	k.sort()
}

// sort puts all into the order of their last replies again, and counts those anew that count.
func (k *keeps) sort() {
	all := make([]*kept, 0, len(k.byTalk))
	for _, e := range k.byTalk {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *kept) int { return int(b.at - a.at) })
	k.newest, k.oldest, k.lately = nil, nil, nil
	for i, e := range all {
		e.newer, e.older = nil, nil
		if i == 0 {
			k.newest = e
		} else {
			e.newer, all[i-1].older = all[i-1], e
		}
		k.oldest = e
		if e.counted {
			e.by.lately--
		}
		if e.counted = e.at > k.latest-heldFor; e.counted {
			e.by.lately++
			k.lately = e
		}
	}
}

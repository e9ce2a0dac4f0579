package state

import (
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Options say where the store keeps what. A path that is empty keeps that part in memory alone.
type Options struct {
	Choices  string // choices.json
	Rests    string // rests.json
	Quotas   string // quotas.json
	Affinity string // affinity.json
	Kept     bool   // another process keeps the files: they are read, and not written
	Log      *slog.Logger
}

// Store owns the facts. Its methods may be called from any goroutine.
type Store struct {
	facts atomic.Pointer[facts]
	hook  atomic.Pointer[func(ids []provider.AccountID)]
	log   *slog.Logger
	made  made
	last  answers
	keeps keeps
	turns turns

	rounds rounds
	served served

	mu       sync.Mutex // for all below, and for publishing facts
	gen      uint64     // of the newest change to any rest or count
	sunk     uint64     // rate limits that sank an account
	undo     []change
	files    [fileCount]file
	problems map[string]string // by path
	wrote    chan struct{}     // closed and made anew after every write, also one that failed

	wake    chan struct{}
	quit    chan struct{}
	done    chan struct{}
	closing sync.Once
}

// facts are all that readers see: immutable, and so are the maps in it.
type facts struct {
	standing map[provider.AccountID]route.Standing
	rests    map[string]trace.Rest
	past     map[string]Past
	cards    map[provider.AccountID]card
	spent    map[provider.AccountID]Spending
	denied   map[provider.AccountID]trace.Denied
	chosen   *Chosen            // nil = nothing
	refused  map[string]Refused // levels, by who refused them
}

// Open reads the files and returns a store that keeps them. A file that can't be read
// or parsed is no error: Problems tells of it, it is never written over, and the store
// goes on in memory for that part.
func Open(o Options, now time.Time) (*Store, error) {
	if twice(o) {
		return nil, errors.New("open state: two of its files have one path")
	}
	s := &Store{
		log:      o.Log,
		problems: map[string]string{},
		wrote:    make(chan struct{}),
		wake:     make(chan struct{}, 1),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.made.init()
	s.keeps.init()
	s.files = [fileCount]file{
		choices: {path: o.Choices, encode: encodeChoices},
		rests:   {path: o.Rests, encode: encodeRests},
		quotas:  {path: o.Quotas, encode: encodeQuotas, delay: quotaDelay},

		affinity: {path: o.Affinity, encode: s.encodeKeeps, delay: keepDelay},
	}
	s.load(now)
	if o.Kept {
		s.leave()
	}
	if o.Choices == "" && o.Rests == "" && o.Quotas == "" && o.Affinity == "" {
		close(s.done)
		return s, nil
	}
	go s.write()
	return s, nil
}

func twice(o Options) bool {
	seen := map[string]bool{}
	for _, path := range []string{o.Choices, o.Rests, o.Quotas, o.Affinity} {
		if path != "" && seen[path] {
			return true
		}
		seen[path] = true
	}
	return false
}

// OnChange has fn called after each change with the accounts that it concerns. It is
// called by whoever made the change, after the store's lock is released.
func (s *Store) OnChange(fn func(ids []provider.AccountID)) { s.hook.Store(&fn) }

// Snapshot takes what planning may know. It costs the same however much is remembered.
func (s *Store) Snapshot(cat *provider.Catalog, now time.Time) *route.Snapshot {
	f := s.facts.Load()
	return &route.Snapshot{
		Now: now, Catalog: cat, Standing: f.standing, Rests: f.rests, Rounds: s.rounds.load(), Served: s.served.load(),
		Choices: f.choosing().Choices,
	}
}

// edit is one change to the facts: it copies a map when it first touches it.
type edit struct {
	facts
	copied  [6]bool
	chose   bool // chosen is another
	learned bool // refused is another
	dirty   [fileCount]bool
	ids     []provider.AccountID
}

func (e *edit) stand(id provider.AccountID, st route.Standing) {
	e.set(id, st)
	e.concerns(id)
}

func (e *edit) set(id provider.AccountID, st route.Standing) {
	if !e.copied[0] {
		e.standing, e.copied[0] = maps.Clone(e.standing), true
	}
	e.standing[id] = st
}

func (e *edit) rest(r trace.Rest) {
	e.ownRests()
	e.dirty[rests] = e.dirty[rests] || r.By.Kept() || e.rests[r.Key].By.Kept()
	e.rests[r.Key] = r
}

func (e *edit) unrest(key string) {
	e.ownRests()
	e.dirty[rests] = e.dirty[rests] || e.rests[key].By.Kept()
	delete(e.rests, key)
}

func (e *edit) ownRests() {
	if !e.copied[1] {
		e.rests, e.copied[1] = maps.Clone(e.rests), true
	}
}

func (e *edit) remember(key string, p Past) {
	e.ownPast()
	e.past[key] = p
}

func (e *edit) forget(key string) {
	if _, ok := e.past[key]; ok {
		e.ownPast()
		delete(e.past, key)
	}
}

func (e *edit) ownPast() {
	if !e.copied[2] {
		e.past, e.copied[2] = maps.Clone(e.past), true
	}
}

func (e *edit) concerns(id provider.AccountID) {
	for _, have := range e.ids {
		if have == id {
			return
		}
	}
	e.ids = append(e.ids, id)
}

// change carries out one write: fn edits a copy, which is then published, saved soon
// and told.
func (s *Store) change(fn func(e *edit)) []provider.AccountID {
	s.mu.Lock()
	e := edit{facts: *s.facts.Load()}
	fn(&e)
	if e.copied != [6]bool{} || e.chose || e.learned {
		next := e.facts
		s.facts.Store(&next)
	}
	kick := s.mark(e.dirty)
	s.mu.Unlock()
	s.kick(kick)
	s.tell(e.ids)
	return e.ids
}

// mark has files written that changed, and says whether any will be. The lock is held.
func (s *Store) mark(dirty [fileCount]bool) (kick bool) {
	for i, changed := range dirty {
		if changed && s.files[i].path != "" && s.files[i].mark() {
			kick = true
		}
	}
	return kick
}

// kick wakes the writer.
func (s *Store) kick(wanted bool) {
	if !wanted {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) tell(ids []provider.AccountID) {
	if len(ids) == 0 {
		return
	}
	if fn := s.hook.Load(); fn != nil && *fn != nil {
		(*fn)(ids)
	}
}

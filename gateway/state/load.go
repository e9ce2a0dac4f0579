package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

const (
	version    = 1
	maxFile    = 16 << 20            // bytes; a thousand rests are less than one million
	maxRest    = 8 * 24 * time.Hour  // no rest is longer
	readingAge = 30 * 24 * time.Hour // a reading older than this tells nothing
	clockSkew  = time.Minute         // a reading from later than this was made by a clock that was wrong
)

// restsFile is rests.json.
type restsFile struct {
	Version int          `json:"version"`
	Rests   []trace.Rest `json:"rests"`
}

// quotasFile is quotas.json.
type quotasFile struct {
	Version  int                            `json:"version"`
	Accounts map[provider.AccountID]reading `json:"accounts"`
}

// reading is what was last read of one account.
type reading struct {
	Read    time.Time         `json:"read,omitzero"` // of the windows
	Windows []provider.Window `json:"windows,omitempty"`
	Plan    string            `json:"plan,omitempty"`
	Balance string            `json:"balance,omitempty"`
	Resets  *trace.Resets     `json:"resets,omitempty"`
	Shut    bool              `json:"shut,omitempty"` // the vendor answers nothing until a window renews
	Asked   time.Time         `json:"asked,omitzero"` // when the vendor was last asked and told something
	Of      string            `json:"of,omitempty"`   // the fingerprint of whom it was read
}

// choicesFile is choices.json. What else the file holds is kept as it is.
type choicesFile struct {
	Version int                                  `json:"version"`
	Paused  map[provider.AccountID]*trace.Paused `json:"paused"`
	Pinned  map[provider.AccountID]*trace.Pinned `json:"pinned"`
	Spent   map[provider.AccountID]Spending      `json:"spent,omitempty"`
	chosenFile
	Refused []Refused `json:"refused,omitempty"` // learned, not chosen
}

// extra is what a file holds beyond what this program knows.
type extra map[string]json.RawMessage

// Problems tells of files that could not be read or written, each with what follows from that.
func (s *Store) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := make([]string, 0, len(s.problems))
	for _, path := range slices.Sorted(maps.Keys(s.problems)) {
		told = append(told, s.problems[path])
	}
	return told
}

// load reads all files. It runs before anyone else sees the store.
func (s *Store) load(now time.Time) {
	f := &facts{standing: map[provider.AccountID]route.Standing{}, rests: map[string]trace.Rest{}, past: map[string]Past{}, cards: map[provider.AccountID]card{}}
	s.keeps.latest = now.Unix()
	takes := [fileCount]func([]byte) error{
		choices: func(data []byte) error { return s.loadChoices(f, data, now) },
		rests:   func(data []byte) error { return s.loadRests(f, data, now) },
		quotas:  func(data []byte) error { return loadQuotas(f, data, now) },

		affinity: func(data []byte) error { return s.keeps.load(data, now) },
	}
	for i, take := range takes {
		file := &s.files[i]
		if file.path == "" {
			continue
		}
		sweep(file.path, now)
		if i == affinity { // what another process writes meanwhile is read again
			s.keeps.seen, _ = os.Stat(file.path)
		}
		data, err := readFile(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = take(data)
		}
		if err != nil {
			s.shut(i, err)
		}
	}
	s.facts.Store(f)
}

var errKept = errors.New("another gateway that runs in this home keeps it")

// leave has the files stay as they are: two that write them would undo each other's choices.
func (s *Store) leave() {
	for i := range s.files {
		if f := &s.files[i]; !f.shut {
			f.shut, f.err = true, errKept
		}
	}
	s.problems[""] = "another gateway runs in this home and keeps its state: what is paused, pinned or rests here is kept in memory until this one ends"
	s.log.Warn("state not kept", keyError, errKept.Error())
}

// readFile reads a file of ours. What is none, a pipe say, would keep whoever opens it waiting, and what is larger
// than any that was written here is not taken into memory.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d MB, and none that was written here has more than %d", info.Size()>>20, maxFile>>20)
	}
	return os.ReadFile(path)
}

// shut tells of a file that can't be read, and leaves it as it is from now on.
func (s *Store) shut(i int, err error) {
	f := &s.files[i]
	s.mu.Lock()
	f.shut, f.err, f.due = true, err, time.Time{}
	s.problems[f.path] = f.path + " could not be read: " + err.Error() + "; it is left as it is, and what belongs in it is kept in memory until the gateway ends"
	s.mu.Unlock()
	s.log.Error("state not read", keyPath, f.path, keyError, err.Error())
}

func known(v int) error {
	if v != version {
		return fmt.Errorf("it is of version %d, and this program knows %d", v, version)
	}
	return nil
}

func (s *Store) loadChoices(f *facts, data []byte, now time.Time) error {
	var c choicesFile
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if err := known(c.Version); err != nil {
		return err
	}
	var all extra
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, own := range append([]string{"version", "paused", "pinned", "refused", "spent"}, chosenKeys...) {
		delete(all, own)
	}
	f.chosen, f.spent = c.chosen(), c.Spent
	s.files[choices].extra = all
	f.took(c.Refused, now)
	for id, p := range c.Paused {
		st := f.standing[id]
		if p != nil {
			p.Since, p.Until = begun(p.Since, p.Until, now)
		}
		st.Paused = p
		st.Paused = st.PausedAt(now)
		f.standing[id] = st
	}
	for id, p := range c.Pinned {
		st := f.standing[id]
		if p != nil {
			p.Since, p.Until = begun(p.Since, p.Until, now)
		}
		st.Pinned = p
		st.Pinned = st.PinnedAt(now)
		f.standing[id] = st
	}
	return nil
}

func (s *Store) loadRests(f *facts, data []byte, now time.Time) error {
	var r restsFile
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	if err := known(r.Version); err != nil {
		return err
	}
	for _, rest := range r.Rests {
		if rest.Key == "" || !rest.By.Kept() || !now.Before(rest.Until) {
			continue
		}
		// A clock that was wrong then must not rest anyone for years, nor let a rest begin
		// later than any answer that could end it.
		rest.Since, rest.Until = begun(rest.Since, rest.Until, now)
		if last := now.Add(maxRest); rest.Until.After(last) {
			rest.Until = last
		}
		s.gen++
		f.rests[rest.Key] = rest
		f.past[rest.Key] = Past{Kind: rest.Why, Failures: rest.Failures, Until: rest.Until, Gen: s.gen, At: rest.Since}
	}
	return nil
}

// begun moves what began later than now, by a clock that was wrong then, to now: it lasts as long as it was meant to.
func begun(since, until, now time.Time) (time.Time, time.Time) {
	if !since.After(now) {
		return since, until
	}
	if !until.IsZero() {
		until = now.Add(until.Sub(since))
	}
	return now, until
}

func loadQuotas(f *facts, data []byte, now time.Time) error {
	var q quotasFile
	if err := json.Unmarshal(data, &q); err != nil {
		return err
	}
	if err := known(q.Version); err != nil {
		return err
	}
	for id, r := range q.Accounts {
		if recent(r.Asked, now) {
			f.cards[id] = card{Plan: r.Plan, Balance: r.Balance, Read: r.Asked}
			st := f.standing[id]
			st.Resets, st.Shut = r.Resets, r.Shut
			f.standing[id] = st
		}
		if r.Of != "" {
			st := f.standing[id]
			st.Print = r.Of
			f.standing[id] = st
		}
		if len(r.Windows) == 0 || !recent(r.Read, now) {
			continue
		}
		st := f.standing[id]
		windows := provider.TidyWindows(r.Windows, now)
		st.Windows, st.Told, st.Read = windows, route.Told(windows), r.Read
		f.standing[id] = st
	}
	return nil
}

// recent says whether a reading of that time still tells anything.
func recent(read, now time.Time) bool {
	age := now.Sub(read)
	return age <= readingAge && age >= -clockSkew
}

func encodeChoices(f *facts, more extra) ([]byte, error) {
	c := choicesFile{
		Version: version, Paused: map[provider.AccountID]*trace.Paused{}, Pinned: map[provider.AccountID]*trace.Pinned{},
		Spent: f.spent, chosenFile: f.choosing().file(), Refused: f.refusals(),
	}
	for id, st := range f.standing {
		if st.Paused != nil {
			c.Paused[id] = st.Paused
		}
		if st.Pinned != nil {
			c.Pinned[id] = st.Pinned
		}
	}
	if len(more) == 0 {
		return encode(c)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	all := extra{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return encode(all)
}

func encodeRests(f *facts, _ extra) ([]byte, error) {
	r := restsFile{Version: version, Rests: []trace.Rest{}}
	for _, key := range slices.Sorted(maps.Keys(f.rests)) {
		if rest := f.rests[key]; rest.By.Kept() {
			r.Rests = append(r.Rests, rest)
		}
	}
	return encode(r)
}

func encodeQuotas(f *facts, _ extra) ([]byte, error) {
	q := quotasFile{Version: version, Accounts: map[provider.AccountID]reading{}}
	for id, st := range f.standing {
		if len(st.Windows) > 0 {
			q.Accounts[id] = reading{Read: st.Read, Windows: st.Windows}
		}
	}
	for id, c := range f.cards {
		if c.Read.IsZero() {
			continue
		}
		r := q.Accounts[id]
		r.Plan, r.Balance, r.Asked, r.Resets, r.Shut = c.Plan, c.Balance, c.Read, f.standing[id].Resets, f.standing[id].Shut
		q.Accounts[id] = r
	}
	for id, r := range q.Accounts {
		r.Of = f.standing[id].Print
		q.Accounts[id] = r
	}
	return encode(q)
}

func encode(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"dev.magpie/gateway/route"
	"dev.magpie/provider"
)

// maxKeepsFile is more than a file of ours ever has.
const maxKeepsFile = 4 << 20

// keepRecord is a conversation in affinity.json, under scope|conversation.
type keepRecord struct {
	Rest      string             `json:"rest"` // what rests when who does
	Who       provider.AccountID `json:"who"`
	Model     string             `json:"model,omitempty"`
	Effort    string             `json:"effort,omitempty"`
	Turn      int                `json:"turn,omitempty"`
	At        time.Time          `json:"at"`
	CacheRead int64              `json:"cacheRead,omitempty"`
	Moved     bool               `json:"moved,omitempty"`
	Session   string             `json:"session,omitempty"`
}

// keepsChanged has the file written. No fact changed, so nothing is published.
func (s *Store) keepsChanged() {
	s.mu.Lock()
	kick := s.mark([fileCount]bool{affinity: true})
	s.mu.Unlock()
	s.kick(kick)
}

// encodeKeeps writes down the latest conversations, with what another process wrote since.
func (s *Store) encodeKeeps(*facts, extra) ([]byte, error) {
	s.readKeepsAgain(time.Time{})
	s.mu.Lock()
	shut := s.files[affinity].shut
	s.mu.Unlock()
	if shut {
		return nil, errShut
	}
	return encode(s.keeps.records())
}

var errShut = errors.New("it can't be read, so it is left as it is")

func (k *keeps) records() map[string]keepRecord {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[string]keepRecord, min(keptOnDisk, len(k.byTalk)))
	for e := k.newest; e != nil && len(all) < keptOnDisk; e = e.older {
		w := &e.by.who
		all[e.talk.Scope+"|"+e.talk.ID] = keepRecord{
			Rest: string(w.ID), Who: w.ID, Model: w.Model, Effort: w.Effort, Turn: e.turn, At: time.Unix(e.at, 0).UTC(),
			CacheRead: e.cacheRead, Moved: e.moved, Session: e.session,
		}
	}
	return all
}

// loadKeeps takes a file's conversations in; of one that is remembered too, the newer counts.
func (k *keeps) load(data []byte, now time.Time) error {
	var all map[string]keepRecord
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.latest = max(k.latest, unix(now))
	for key, r := range all {
		t, ok := talkOf(key)
		at := min(unix(r.At), k.latest) // a clock that was wrong then
		if !ok || r.Who == "" || len(r.Who)+len(r.Model)+len(r.Effort)+len(r.Session) > maxTalk || at <= k.latest-keptFor {
			continue
		}
		if have := k.byTalk[t]; have != nil && have.at >= at {
			continue
		}
		k.put(t, r.Session, route.Keep{
			Who: route.Who{ID: r.Who, Model: r.Model, Effort: r.Effort}, Turn: max(0, r.Turn), At: at, CacheRead: max(0, r.CacheRead), Moved: r.Moved,
		})
	}
	k.sort()
	k.tick(k.latest)
	return nil
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func talkOf(key string) (Talk, bool) {
	name, id, ok := strings.Cut(key, "|")
	return Talk{Scope: name, ID: id}, ok && name != "" && id != "" && len(key) <= maxTalk
}

// readKeepsAgain takes the file in if it is another than was read or written last. It says whether it did.
func (s *Store) readKeepsAgain(now time.Time) bool {
	f, k := &s.files[affinity], &s.keeps
	if f.path == "" {
		return false
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && k.seen != nil && same(k.seen, info) {
		return false
	}
	var data []byte
	if err == nil {
		data, err = readBounded(f.path, maxKeepsFile)
	}
	if err == nil {
		err = k.load(data, now)
	}
	k.seen = info
	if err != nil {
		s.shut(affinity, err)
	}
	return err == nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// readBounded reads a file that ought not to be large.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return data, err
}

// wroteKeeps notes the file as it was just written.
func (k *keeps) wrote(path string) {
	k.reading.Lock()
	defer k.reading.Unlock()
	if info, err := os.Stat(path); err == nil {
		k.seen = info
	}
}

package state

import (
	"errors"
	"time"
)

const (
	quotaDelay = time.Second      // readings come with every reply
	keepDelay  = time.Second / 2  // so do those who answered
	retryDelay = 10 * time.Second // after a write that failed
)

// The files, in the order in which they are written.
const (
	choices = iota
	rests
	quotas
	affinity
	fileCount
)

// file is one of the store's files. All but path, encode and delay is under the store's lock.
type file struct {
	path   string
	encode func(*facts, extra) ([]byte, error)
	delay  time.Duration // from the first change to the write
	due    time.Time     // of the next write, zero = nothing changed
	shut   bool          // could not be read, so is never written
	extra  extra         // what the file holds besides and is kept in it
	err    error         // of the last write, or why it is never written
	asked  uint64        // changes that belong in it
	saved  uint64        // of those, how many are in it
}

// mark asks for a write, and says whether there will be one.
func (f *file) mark() bool {
	f.asked++
	if f.due.IsZero() && !f.shut {
		f.due = time.Now().Add(f.delay)
	}
	return !f.shut
}

// write is the one goroutine that writes files. It ends with Close, after a last flush.
func (s *Store) write() {
	defer close(s.done)
	for {
		var tick <-chan time.Time
		if next := s.flush(false); !next.IsZero() {
			tick = time.After(time.Until(next))
		}
		select {
		case <-s.quit:
			s.flush(true)
			return
		case <-s.wake:
		case <-tick:
		}
	}
}

// flush writes the files that are due, or all that changed, and returns when the next is due.
func (s *Store) flush(all bool) (next time.Time) {
	for i := range s.files {
		if due := s.save(i, all); !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// save writes one file if it is due, and returns when it is due next.
func (s *Store) save(i int, now bool) time.Time {
	f := &s.files[i]
	s.mu.Lock()
	due := f.due
	if due.IsZero() || !now && time.Until(due) > 0 {
		s.mu.Unlock()
		return due
	}
	f.due = time.Time{}
	facts, asked := s.facts.Load(), f.asked
	s.mu.Unlock()

	data, err := f.encode(facts, f.extra)
	if err == nil {
		err = WriteFile(f.path, data)
	}
	if err == nil && i == affinity {
		s.keeps.wrote(f.path)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if f.shut { // since: it was told, and nothing more comes of it
		return time.Time{}
	}
	first := f.err == nil
	f.err = err
	defer s.settled()
	if err == nil {
		f.saved = asked
		delete(s.problems, f.path)
		return f.due
	}
	s.problems[f.path] = f.path + " could not be written: " + err.Error()
	if first {
		s.log.Error("state not saved", keyPath, f.path, keyError, err.Error())
	}
	f.due = time.Now().Add(retryDelay)
	return f.due
}

// Keys of log attributes.
const (
	keyPath  = "path"
	keyError = "error"
)

// Close writes what is not written yet and ends the writer. It returns what could not be written.
func (s *Store) Close() error {
	s.closing.Do(func() { close(s.quit) })
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range s.files {
		if !s.files[i].shut { // told at the start
			errs = append(errs, s.files[i].err)
		}
	}
	return errors.Join(errs...)
}

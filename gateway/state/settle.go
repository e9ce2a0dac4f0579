package state

import (
	"context"
	"errors"
	"fmt"
)

// A Mark is a place in the order of changes; Settle tells what became of those after it.
type Mark [fileCount]uint64

// Mark returns the place that the changes have reached.
func (s *Store) Mark() (m Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.files {
		m[i] = s.files[i].asked
	}
	return m
}

// Settle waits until the choices and rests that changed since a mark are on disk, where nothing that ends the
// process can undo them. An error says that they are not: they could not be written, or not before ctx ended.
// They are in force all the same.
func (s *Store) Settle(ctx context.Context, since Mark) error {
	s.mu.Lock()
	now := Mark{}
	for i := range s.files {
		now[i] = s.files[i].asked
	}
	s.mu.Unlock()
	for {
		wrote, err := s.unsettled(since, now)
		if wrote == nil {
			return err
		}
		select {
		case <-wrote:
		case <-s.done: // the last write was made
			if wrote, err = s.unsettled(since, now); wrote != nil {
				return errors.New("the state is closed")
			}
			return err
		case <-ctx.Done():
			return errors.New("its write takes long")
		}
	}
}

// unsettled returns a channel that is closed with the next write, while changes after one mark and up to another
// still wait for theirs; nil and an error when they wait in vain.
func (s *Store) unsettled(from, to Mark) (wrote <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range []int{choices, rests} {
		f := &s.files[i]
		switch {
		case to[i] == from[i] || f.saved >= to[i]:
		case f.err != nil: // whoever asks need not wait for another try
			return nil, fmt.Errorf("%s: %w", f.path, f.err)
		default:
			wrote = s.wrote
		}
	}
	return wrote, nil
}

// settled tells those who wait that a write is over. It is called under the lock.
func (s *Store) settled() {
	close(s.wrote)
	s.wrote = make(chan struct{})
}

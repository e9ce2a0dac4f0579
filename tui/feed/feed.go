// Package feed brings what the gateway tells to the screen, in batches, as commands of the program. The gateway
// never waits for it: what happens between two batches is folded by the feed underneath.
package feed

import (
	"context"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/trace"
)

// The least time between two batches: a frame each is all that an eye takes in, and over a network
// each costs traffic.
const (
	localGap  = 100 * time.Millisecond
	remoteGap = 250 * time.Millisecond
)

// Gap is the least time between two batches, over SSH or not.
func Gap(ssh bool) time.Duration {
	if ssh {
		return remoteGap
	}
	return localGap
}

// Msg is what a command of the pump brings: a batch, or the feed's end.
type Msg struct {
	Batch trace.Batch
	Err   error // the feed has ended; no more comes
	At    time.Time
}

// Pump takes batches from a feed, one command at a time.
type Pump struct {
	feed trace.Feed
	gap  time.Duration
	now  func() time.Time

	mu   sync.Mutex
	busy bool
	done bool
	last time.Time // when the last batch was handed on
}

// New makes a pump for a feed. now stamps the messages.
func New(f trace.Feed, gap time.Duration, now func() time.Time) *Pump {
	return &Pump{feed: f, gap: gap, now: now}
}

// Next is the command that waits for the next batch. It ends with ctx, as a command must, since the program
// cannot call it off. Only one is under way at a time, for a feed has one reader: a second one
// brings nothing at once, and none brings anything after the end.
func (p *Pump) Next(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		notBefore, ok := p.begin()
		if !ok {
			return nil
		}
		b, err := p.feed.Next(ctx, notBefore)
		p.end(err)
		return Msg{Batch: b, Err: err, At: p.now()}
	}
}

// Close ends the feed and a command that waits for it.
func (p *Pump) Close() { p.feed.Close() }

// begin takes the turn, if it is free, and gives the earliest time for a batch.
func (p *Pump) begin() (notBefore time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy || p.done {
		return time.Time{}, false
	}
	p.busy = true
	if p.last.IsZero() {
		return time.Time{}, true
	}
	return p.last.Add(p.gap), true
}

func (p *Pump) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy, p.done = false, err != nil
	p.last = time.Now() // not the stamp's clock: a feed waits by the real one
}

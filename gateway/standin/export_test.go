package standin

import (
	"context"
	"net"
)

// StageOn puts the demo up on a network in memory.
func StageOn(ctx context.Context, n *Net) (*DemoRun, error) {
	return stage(ctx, "day", func() (net.Listener, error) { return n.Listen("") })
}

// PlayWith plays the demo with a crew of the test's own.
func (d *DemoRun) PlayWith(ctx context.Context, c Crew) error { return d.play(ctx, c) }

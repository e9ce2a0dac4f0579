package over

import "time"

// How long the keyboard must have been quiet before a dialog takes a key, and how long a dialog
// waits for that at most.
const (
	quiet   = 250 * time.Millisecond
	atMost  = time.Second
	twice   = 2 * time.Second // ctrl+c again within this quits at once
	toasted = 4 * time.Second
)

// Guard keeps keys that were typed for another place from pressing a dialog's button.
type Guard struct {
	opened, last time.Time
	ready        bool
}

// NewGuard begins when a dialog opens.
func NewGuard(now time.Time) Guard { return Guard{opened: now, last: now} }

// Take says whether a key that comes now is meant for the dialog.
func (g *Guard) Take(now time.Time) bool {
	if !g.ready && (now.Sub(g.last) >= quiet || now.Sub(g.opened) >= atMost) {
		g.ready = true
	}
	g.last = now
	return g.ready
}

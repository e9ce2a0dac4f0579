package route

import (
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// full is the share at which a window is used up.
const full = 100

// held says that an account must not be spent any further until something changes.
type held struct {
	at      int        // the share at which it is held, 0 = it is not
	used    float64    // of the window that holds it, the fullest of several
	back    *time.Time // when all that hold it renew, nil = unknown
	credits bool       // no cap holds it: its windows are used up, and its credits are not to be spent
}

// say puts it into the reason that is told.
func (h held) say(r *trace.Reason) {
	if h.at == 0 {
		return
	}
	r.Share, r.Limit = h.used, h.at
	if h.back != nil {
		r.Until = *h.back
	}
}

// Held says at which share an account is held for a model, 0 = it is not, and until when;
// zero = unknown. Without a model it goes by the windows that count all of them.
func (s *Snapshot) Held(a *provider.Account, model string) (at int, until time.Time) {
	h := s.held(a, model, s.Standing[a.ID].Windows)
	if h.back != nil {
		until = *h.back
	}
	return h.at, until
}

// held says whether a cap or the wish to spend no credits holds an account: any window
// that counts the model, at its own share, does. Keys have neither.
func (s *Snapshot) held(a *provider.Account, model string, windows []provider.Window) held {
	if a.Kind != provider.KindAccount || len(windows) == 0 {
		return held{}
	}
	limits := s.limits(a)
	if limits.none() {
		return held{}
	}
	var h held
	var back time.Time
	unknown := false
	for i := range windows {
		w := &windows[i]
		share, capped := limits.of(w.Name)
		used := w.UsedAt(s.Now)
		if share == 0 || w.Aside || used < float64(share) || !provider.Applies(*w, model) {
			continue
		}
		// A cap is told before credits, and of several the fullest window's.
		if h.at == 0 || capped && h.credits || capped == !h.credits && used > h.used {
			h.at, h.used, h.credits = share, used, !capped
		}
		unknown = unknown || w.Resets.IsZero()
		if w.Resets.After(back) {
			back = w.Resets
		}
	}
	if h.at > 0 && !unknown {
		h.back = &back
	}
	return h
}

// limits are how much of an account may be spent: what the person chose over the config.
type limits struct {
	percent         int // of each window, 0 = no cap
	chosen, windows map[string]int
	credits         bool
}

func (s *Snapshot) limits(a *provider.Account) limits {
	l := limits{percent: a.Cap, windows: a.Caps, credits: a.Credits}
	c, ok := s.Choices.Caps[a.ID]
	if !ok {
		return l
	}
	switch {
	case c.Percent < 0:
		l.percent, l.windows = 0, nil
	case c.Percent > 0:
		l.percent = c.Percent
	}
	l.chosen = c.Windows
	if c.Credits != nil {
		l.credits = *c.Credits
	}
	return l
}

func (l *limits) none() bool {
	return l.credits && l.percent == 0 && len(l.chosen) == 0 && len(l.windows) == 0
}

// of is the share at which a window of that name holds its account, 0 = never; capped =
// by a cap, not for want of credits that may be spent.
func (l *limits) of(name string) (share int, capped bool) {
	share = l.percent
	if len(l.chosen)+len(l.windows) > 0 {
		name = strings.ToLower(name)
		if own, ok := l.chosen[name]; ok {
			share = own
		} else if own, ok := l.windows[name]; ok {
			share = own
		}
	}
	switch {
	case share > 0 && share < full:
		return share, true
	case !l.credits:
		return full, false
	}
	return 0, false
}

// MaySpend says whether an account may spend credits, and resets, by itself.
func (s *Snapshot) MaySpend(a *provider.Account) (credits, resets bool) {
	l := s.limits(a)
	return l.credits, s.spendsResets(a)
}

// spendsResets says whether an account may spend its resets by itself.
func (s *Snapshot) spendsResets(a *provider.Account) bool {
	if may := s.Choices.Caps[a.ID].Reset; may != nil {
		return *may
	}
	return a.Resets
}

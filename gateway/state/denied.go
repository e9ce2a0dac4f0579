package state

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// NoteDenied notes that a vendor turned an account's key or sign-in away, or has no credit for it. It keeps nobody
// from being asked: who may be is for the rests to say, and a lone key has none. It holds until the account
// answers, has another secret, or, for credit, is read to have another balance.
// What it answered since the asking began stands.
func (s *Store) NoteDenied(id provider.AccountID, d trace.Denied, began time.Time) {
	if at := s.last.of(id); at != nil && at.After(began) {
		return
	}
	if old, known := s.facts.Load().denied[id]; known && old.Why == d.Why && old.Status == d.Status && old.Text == d.Text {
		return
	}
	s.change(func(e *edit) {
		if old, known := e.denied[id]; known && old.Why == d.Why {
			d.Since = old.Since
		}
		e.ownDenied()
		e.denied[id] = d
		e.concerns(id)
	})
}

// IsDenied says whether an account's vendor turned it away, and took it for nothing since.
func (s *Store) IsDenied(id provider.AccountID) bool {
	_, denied := s.facts.Load().denied[id]
	return denied
}

// takes says whether an answer that began at a moment belies that the account is turned away.
func (f *facts) takes(id provider.AccountID, began time.Time) bool {
	d, denied := f.denied[id]
	return denied && began.After(d.Since)
}

func (e *edit) undeny(id provider.AccountID) {
	if _, denied := e.denied[id]; !denied {
		return
	}
	e.ownDenied()
	delete(e.denied, id)
	e.concerns(id)
}

// toppedUp takes in a balance that is another than what was told before: money came in, if there is any and it
// is not less. A vendor may have no credit for a request long before the last cent is spent.
func (e *edit) toppedUp(id provider.AccountID, before, balance string) {
	if e.denied[id].Why != trace.Credit || balance == "" || balance == before || !positive(balance) {
		return
	}
	was, known := amount(before)
	if is, told := amount(balance); known && told && is < was {
		return
	}
	e.undeny(id)
}

// amount is the number in a balance that has one alone.
func amount(balance string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789.-", r) {
			return r
		}
		return -1
	}, balance), 64)
	return n, err == nil
}

// positive says whether a balance, as a vendor writes it, is more than nothing.
func positive(balance string) bool {
	return !strings.HasPrefix(balance, "-") && strings.ContainsAny(balance, "123456789")
}

func (e *edit) ownDenied() {
	if e.copied[5] {
		return
	}
	if e.copied[5] = true; e.denied == nil {
		e.denied = map[provider.AccountID]trace.Denied{}
		return
	}
	e.denied = maps.Clone(e.denied)
}

// denial says why an account was turned away, and what to do about it.
func denial(a *provider.Account, d *trace.Denied) string {
	if d.Why == trace.Credit {
		return "out of credit" + said(d, "top it up at its vendor")
	}
	what, mend := "key", "put a working one in the config"
	switch src := a.Secret; {
	case a.Kind == provider.KindAccount:
		what, mend = "sign-in", "sign in again with its own program"
	case a.Kind == provider.KindProvider:
		return "refused without a key" + said(d, "name one in the config")
	case src.Env != "":
		mend = "put a working one in " + src.Env + " and start magpie anew"
	case src.File != "":
		mend = "put a working one in its file"
	case src.Command != "":
		mend = "have its command print a working one"
	}
	return what + " refused" + said(d, mend)
}

// said is what a vendor answered to a secret that it does not take, with what to do about it first: a short place
// cuts the end.
func said(d *trace.Denied, mend string) string {
	s := ", " + mend
	if d.Status > 0 {
		s = fmt.Sprintf(" (%d)", d.Status) + s
	}
	if d.Text != "" {
		s += ": " + d.Text
	}
	return s
}

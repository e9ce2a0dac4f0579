package provider

import (
	"time"

	"dev.magpie/config"
)

// Credential is what a request goes out under for an account that a program is signed in to.
type Credential struct {
	Access  config.Secret
	Account string // the vendor's id of the account
	User    string // what the account is called, "" = not told
	Plan    string // the vendor's word, "" = not told

	// Hidden are further secrets of the sign-in, which are never to be shown.
	Hidden []config.Secret
}

// Print tells accounts apart: it stays when a token is renewed, and changes when somebody
// else signs in.
func (c *Credential) Print() string {
	if c.Account == "" {
		return Fingerprint(c.Access)
	}
	return Fingerprint(config.Secret(c.Account + "\n" + c.User))
}

// SignInError is a state of a sign-in that only its owner ends.
type SignInError string

func (e SignInError) Error() string { return string(e) }

// Reset is one reset that an account has in hand.
type Reset struct {
	ID      string
	Expires time.Time // zero = never
}

// Outcome is what came of spending a reset.
type Outcome string

// What can come of it.
const (
	DidReset   Outcome = "reset"
	Nothing    Outcome = "nothing_to_reset"
	NoCredit   Outcome = "no_credit"
	AlreadyWas Outcome = "already_redeemed"
)

// Budget is how long a window has to be for its end to be that of a week: a reset is spent
// by itself on such a one alone.
const Budget = 24 * time.Hour

// UsedUp returns the end of the account's week when that is used up, and zero when it is not:
// of several such windows, the last to renew.
func UsedUp(ws []Window, now time.Time) time.Time {
	var end time.Time
	for i := range ws {
		w := &ws[i]
		if w.Span >= Budget && !w.Aside && w.Model == "" && w.Used >= 100 && w.Resets.After(now) && w.Resets.After(end) {
			end = w.Resets
		}
	}
	return end
}

// Touched says whether anything of the windows was used that a reset would give back.
func Touched(ws []Window, now time.Time) bool {
	for i := range ws {
		if !ws[i].Aside && ws[i].UsedAt(now) > 0 {
			return true
		}
	}
	return false
}

package state

import (
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// Trouble is what needs somebody, in one line. It stands under the header while it is true.
type Trouble struct {
	Text string
	More string // said too where there is room
	Bad  bool   // false: worth knowing, nothing is broken
}

// Trouble returns the worst of what needs somebody now, false when nothing does.
func (s *State) Trouble(c *Clock) (Trouble, bool) {
	if lost := s.Link.Lost; !lost.IsZero() {
		return Trouble{Text: "what is below is as it was at " + lost.In(c.Now.Location()).Format("15:04:05"), Bad: true}, true
	}
	if e := s.Status.Config.Error; e != "" {
		return Trouble{Text: unplaced(firstLine(e)), More: "The old settings stand.", Bad: true}, true
	}
	if t, out := s.allOut(c); out {
		return t, true
	}
	if e := s.Status.Trouble; len(e) > 0 {
		return Trouble{Text: firstLine(e[0]), Bad: true}, true
	}
	if e := s.Status.History.Error; e != "" {
		return Trouble{Text: "history cannot be written: " + firstLine(e), Bad: true}, true
	}
	if s.Status.Draining {
		return Trouble{Text: "finishing what is under way; new requests are told to come back"}, true
	}
	return Trouble{}, false
}

// unplaced is a complaint about a file without the folders that the file lies in: they would leave no
// room for what is wrong.
func unplaced(text string) string {
	path, rest, found := strings.Cut(text, ":")
	if i := strings.LastIndexByte(path, '/'); found && strings.HasPrefix(path, "/") {
		return path[i+1:] + ":" + rest
	}
	return text
}

// allOut tells of a group, or of all accounts, of which nobody is ready.
func (s *State) allOut(c *Clock) (Trouble, bool) {
	for _, g := range s.Groups {
		if g.Off || g.Ready > 0 || len(g.Members) == 0 {
			continue
		}
		return Trouble{Text: s.outText("all of "+g.ID+" is resting", "nobody in "+g.ID+" is ready", s.members(g), c), Bad: true}, true
	}
	if len(s.Accounts) == 0 {
		return Trouble{}, false
	}
	for i := range s.Accounts {
		if Usable(&s.Accounts[i]) {
			return Trouble{}, false
		}
	}
	return Trouble{Text: s.outText("every account is resting", "no account is ready", s.Accounts, c), Bad: true}, true
}

func (s *State) outText(resting, none string, accounts []trace.Account, c *Clock) string {
	first, at := "", time.Time{}
	for i := range accounts {
		if accounts[i].ReadOnly != "" {
			continue // it is not asked when it is back either
		}
		until := Back(&accounts[i])
		if until.After(c.Now) && (at.IsZero() || until.Before(at)) {
			first, at = accounts[i].ID, until
		}
	}
	if first == "" {
		return none
	}
	return resting + "; the first is back in " + c.Countdown(at) + " (" + s.Name(first) + ")"
}

// Back returns when an account that is out of use comes back by itself, zero when nothing says so.
func Back(a *trace.Account) time.Time {
	switch a.State {
	case trace.Resting:
		if a.Rest != nil {
			return a.Rest.Until
		}
	case trace.Spent:
		if a.Rest != nil && !a.Rest.Until.IsZero() {
			return a.Rest.Until
		}
		if w, known := Fullest(a); known && w.Resets != nil && (w.Used >= 100 || !Denied(a)) {
			return *w.Resets
		}
	case trace.Paused_:
		if a.Paused != nil {
			return a.Paused.Until
		}
	case trace.Fine, trace.Low, trace.Held, trace.Unready, trace.Off:
	}
	return time.Time{}
}

// members returns the accounts that a group's members name.
func (s *State) members(g trace.Group) []trace.Account {
	var out []trace.Account
	for i := range s.Accounts {
		a := s.Accounts[i]
		for _, m := range g.Members {
			target, _, _ := strings.Cut(m, "/")
			provider, who, tied := strings.Cut(target, "@")
			if provider == a.Provider && (!tied || strings.EqualFold(who, a.Name)) {
				out = append(out, a)
				break
			}
		}
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

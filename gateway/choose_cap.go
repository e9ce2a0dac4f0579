package gateway

import (
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/state"
	"dev.magpie/provider"
)

// What a subscription's account may spend.

// subscription finds the one account that a command names; a key has neither cap nor credits.
func (g *Gateway) subscription(who string) ([]provider.AccountID, error) {
	ids, err := g.whom(who, false)
	if err != nil {
		return nil, err
	}
	if a := g.live.Load().cat.Account(ids[0]); a.Kind != provider.KindAccount {
		return nil, badArgs("%s is no subscription's account: a key has no cap, no credits and no resets", a.ID)
	}
	return ids, nil
}

// cap reads how much of an account may be used: percent is 1 to 99, 0 = all of it, and
// left out = as the config says.
func (g *Gateway) cap(c *control.Command) (choice, error) {
	ids, err := g.subscription(c.Who)
	if err != nil {
		return choice{}, err
	}
	id, window, percent := ids[0], strings.ToLower(strings.TrimSpace(c.Args.Window)), c.Args.Percent
	if percent != nil && (*percent < 0 || *percent > 99) {
		return choice{}, badArgs("a cap is from 1 to 99 percent, or 0 for none, not %d", *percent)
	}
	what := "cap of " + string(id)
	if window != "" {
		what += " on its window " + strconv.Quote(window)
	}
	ch := choice{undo: what, same: "that is so already", ids: ids}
	switch {
	case percent == nil:
		ch.words = what + " is as the config says again"
	case *percent == 0:
		ch.words = what + " is off"
	default:
		ch.words = what + " is " + strconv.Itoa(*percent) + "%"
	}
	if window != "" && !g.hasWindow(id, window) {
		ch.note = "it has no such window as far as is known"
	}
	ch.set = func(chosen *state.Chosen) bool {
		return capped(chosen, id, func(one *route.Cap) bool {
			if window != "" {
				windows := map[string]int{}
				for name, v := range one.Windows {
					windows[name] = v
				}
				changed := put(windows, window, capValue(percent, 100))
				one.Windows = windows
				return changed
			}
			was := one.Percent
			one.Percent = capValue(percent, -1)
			return one.Percent != was
		})
	}
	return ch, nil
}

// capValue is how a cap is kept: none is written as the config's word would not be.
func capValue(percent *int, off int) int {
	switch {
	case percent == nil:
		return 0
	case *percent == 0:
		return off
	}
	return *percent
}

func (g *Gateway) hasWindow(id provider.AccountID, name string) bool {
	a, _ := g.d.State.Account(g.live.Load().cat, id, time.Now())
	for i := range a.Windows {
		if strings.EqualFold(a.Windows[i].Name, name) {
			return true
		}
	}
	return false
}

// capped changes one account's cap.
func capped(chosen *state.Chosen, id provider.AccountID, set func(*route.Cap) bool) bool {
	one := chosen.Caps[id]
	if !set(&one) {
		return false
	}
	if one.Percent == 0 && len(one.Windows) == 0 && one.Credits == nil && one.Reset == nil {
		delete(chosen.Caps, id)
		return true
	}
	chosen.Caps[id] = one
	return true
}

func (g *Gateway) credits(c *control.Command) (choice, error) {
	return g.mayItself(c, "spending credits", func(one *route.Cap) **bool { return &one.Credits }, "")
}

func (g *Gateway) autoReset(c *control.Command) (choice, error) {
	return g.mayItself(c, "spending resets by itself", func(one *route.Cap) **bool { return &one.Reset }, "")
}

// mayItself reads whether an account may do something by itself.
func (g *Gateway) mayItself(c *control.Command, what string, field func(*route.Cap) **bool, note string) (choice, error) {
	ids, err := g.subscription(c.Who)
	if err != nil {
		return choice{}, err
	}
	id, on := ids[0], c.Args.On
	ch := choice{undo: what + " of " + string(id), words: what + " of " + string(id) + " is as the config says again", same: "that is so already", ids: ids, note: note}
	if on != nil {
		ch.words = what + " of " + string(id) + " is " + onOff(*on)
	}
	ch.set = func(chosen *state.Chosen) bool {
		return capped(chosen, id, func(one *route.Cap) bool {
			f := field(one)
			same := *f == on || *f != nil && on != nil && **f == *on
			*f = on
			return !same
		})
	}
	return ch, nil
}

package gateway

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/provider"
)

// What people are told of what is left. Where they ask, vendors are asked too, though not often.

const (
	askAgain  = 30 * time.Second // from one asking for people to the next
	waitLeft  = 8 * time.Second  // how long who has it read again waits for it
	waitQuota = 20               // seconds, at the most, of a listing
)

// askedByPeople has accounts read of which a person wants to know, unless that was done lately.
func (g *Gateway) askedByPeople(lv *live, ids []provider.AccountID, now time.Time) {
	for _, id := range ids {
		if !lv.told(id) {
			continue
		}
		if at, busy := g.meter.Asked(id); !busy && (now.Sub(at) >= askAgain || at.After(now)) {
			g.meter.Refresh(id, now)
		}
	}
}

// settled waits until what is asked of accounts is told, or ctx ends.
func (g *Gateway) settled(ctx context.Context, ids []provider.AccountID) {
	for _, id := range ids {
		g.meter.Wait(ctx, id)
	}
}

// handleQuotas lists the accounts with what is left of them, of some providers or of all.
func (g *Gateway) handleQuotas(w http.ResponseWriter, r *http.Request) {
	lv, now := g.live.Load(), time.Now()
	secs, err := number(r, "wait")
	if err != nil {
		apiError(w, err)
		return
	}
	ids, err := g.ofProviders(lv, r.URL.Query()["provider"])
	if err != nil {
		apiError(w, err)
		return
	}
	g.askedByPeople(lv, ids, now)
	if secs > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(min(secs, waitQuota))*time.Second)
		g.settled(ctx, ids)
		cancel()
	}
	all := []trace.Account{}
	for _, a := range g.Status().Accounts {
		if slices.Contains(ids, provider.AccountID(a.ID)) {
			all = append(all, a)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"accounts": all})
}

// ofProviders are the accounts of providers, or all where none is named.
func (g *Gateway) ofProviders(lv *live, names []string) ([]provider.AccountID, error) {
	if len(names) == 0 {
		return idsOf(lv.cat.AllAccounts()), nil
	}
	var ids []provider.AccountID
	for _, name := range names {
		p, err := g.providerNamed(lv, strings.ToLower(name))
		if err != nil {
			return nil, err
		}
		ids = append(ids, idsOf(p.Accounts)...)
	}
	return ids, nil
}

// handleQuotaHistory lists readings, the newest first.
func (g *Gateway) handleQuotaHistory(w http.ResponseWriter, r *http.Request) {
	h, f, err := g.asksHistory(r)
	if err != nil {
		apiError(w, err)
		return
	}
	all, err := h.Readings(r.Context(), history.ReadingFilter{Account: f.Account, Since: f.Since, Limit: f.Limit})
	if err != nil {
		apiError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"readings": all})
}

// refresh has accounts read again for a person who waits for it.
func (g *Gateway) refresh(c control.Command, now time.Time) (control.Done, error) {
	lv := g.live.Load()
	ids, err := g.refreshed(lv, c.Who)
	if err != nil {
		return control.Done{}, err
	}
	lately := map[provider.AccountID]time.Duration{}
	for _, id := range ids {
		at, _ := g.meter.Asked(id)
		if age := now.Sub(at); lv.sparing(id) && age >= 0 && age < askAgain && !g.d.State.IsUnready(id) {
			lately[id] = age
			continue
		}
		if a := lv.program(id); a != nil && g.d.State.IsUnready(id) {
			g.bridge.Doubt(a.Home) // whoever just signed in asks whether that is seen
		}
		g.meter.Stale(id) // what is asked just now may be from before what the person did
		g.meter.Refresh(id, now)
	}
	ctx, cancel := context.WithTimeout(g.ctx, waitLeft)
	defer cancel()
	g.settled(ctx, ids)
	d := g.done("", ids, false, time.Now())
	d.Words = g.readWords(d.Accounts, lately)
	return d, nil
}

// refreshed are the accounts that can be read again of those that a person names.
func (g *Gateway) refreshed(lv *live, who string) ([]provider.AccountID, error) {
	var named []provider.AccountID
	if p := lv.cat.Provider(strings.ToLower(who)); p != nil && len(p.Accounts) > 1 {
		named = idsOf(p.Accounts)
	} else {
		if who == "" {
			who = "all"
		}
		var err error
		if named, err = g.whom(who, true); err != nil {
			return nil, err
		}
	}
	ids := slices.DeleteFunc(slices.Clone(named), func(id provider.AccountID) bool { return !lv.told(id) })
	if len(ids) == 0 {
		if p := shownOnly(lv, named); p != nil {
			return nil, &control.Error{Status: http.StatusConflict, Code: "not_told", Message: "what is left of " + string(named[0]) + " is not asked for: " + p.ReadOnly}
		}
		whose := "any key"
		switch {
		case len(named) == 1:
			whose = string(named[0])
		case lv.cat.Provider(strings.ToLower(who)) != nil:
			whose = "any key of " + strings.ToLower(who)
		}
		return nil, &control.Error{
			Status: http.StatusConflict, Code: "not_told",
			Message: "only replies tell what is left of " + whose + ": there is no place to ask; balance_url names one",
		}
	}
	return ids, nil
}

// shownOnly is the provider of a lone account that is only shown, nil of any other.
func shownOnly(lv *live, named []provider.AccountID) *provider.Provider {
	if len(named) != 1 {
		return nil
	}
	if a := lv.cat.Account(named[0]); a != nil {
		if p := lv.cat.Provider(a.Provider); p.ReadOnly != "" {
			return p
		}
	}
	return nil
}

// readWords says what a reading came to.
func (g *Gateway) readWords(all []trace.Account, lately map[provider.AccountID]time.Duration) string {
	if len(all) == 1 {
		a := &all[0]
		switch age, soon := lately[provider.AccountID(a.ID)]; {
		case a.ReadError != "":
			return a.ID + " can't be read: " + a.ReadError
		case soon:
			return a.ID + " was asked " + words.Ago(age) + ", and is asked every " + askAgain.String() + " at most: " + words.Left(a)
		case g.asking(a.ID):
			return a.ID + " is still being read"
		}
		return "read " + a.ID + ": " + words.Left(a)
	}
	bad, slow := 0, []string{}
	for i := range all {
		switch {
		case all[i].ReadError != "":
			bad++
		case g.asking(all[i].ID):
			slow = append(slow, all[i].ID)
		}
	}
	s := "read 1 account"
	if n := len(all) - bad - len(slow); n != 1 {
		s = fmt.Sprintf("read %d accounts", n)
	}
	if bad > 0 {
		s += fmt.Sprintf(", %d can't be read", bad)
	}
	if len(slow) > 0 {
		s += ", still being read: " + strings.Join(slow, ", ")
	}
	return s
}

func (g *Gateway) asking(id string) bool {
	_, busy := g.meter.Asked(provider.AccountID(id))
	return busy
}

// readingKeeper keeps what was read. AddReading must not wait.
type readingKeeper interface{ AddReading(r trace.Reading) }

// lastReadings are what was kept last of each account; teller.one guards them.
type lastReadings map[string]trace.Reading

// knownReadings notes what is known before anything is read: it was kept when it was read.
func (g *Gateway) knownReadings(lv *live) {
	g.teller.one.Lock()
	defer g.teller.one.Unlock()
	for _, a := range g.d.State.Accounts(lv.cat, time.Now()) {
		g.noteReading(&a, true)
	}
}

// noteReading has a reading kept when it tells something else than the one before. One that is
// known from before the start was kept then.
func (g *Gateway) noteReading(a *trace.Account, before bool) {
	keeper, ok := g.d.History.(readingKeeper)
	if !ok {
		return
	}
	r := trace.Reading{Account: a.ID, Plan: a.Plan, Balance: a.Balance, Windows: a.Windows}
	if a.Read != nil {
		r.Time = *a.Read
	}
	for i := range a.Windows {
		if w := &a.Windows[i]; w.Read.After(r.Time) {
			r.Time = w.Read
		}
	}
	was, known := g.readings[a.ID]
	if r.Time.IsZero() || known && (!r.Time.After(was.Time) || before) {
		return
	}
	if known && sameReading(&was, &r) {
		return
	}
	g.readings[a.ID] = r
	if !before {
		keeper.AddReading(r)
	}
}

// Two readings of one renewal may lie a minute apart, for vendors count from now in whole
// seconds; a tenth of a percent is less than anybody looks for.
const (
	readingJitter = time.Minute
	readingGrain  = 0.1
)

func sameReading(a, b *trace.Reading) bool {
	return a.Plan == b.Plan && a.Balance == b.Balance && slices.EqualFunc(a.Windows, b.Windows, func(v, w trace.Window) bool {
		return v.Name == w.Name && v.Model == w.Model && v.Limit == w.Limit && math.Abs(v.Used-w.Used) < readingGrain && sameReset(v.Resets, w.Resets)
	})
}

func sameReset(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Sub(*b).Abs() <= readingJitter
}

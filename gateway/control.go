package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// Watch returns everything as told, and a feed of all after it.
func (g *Gateway) Watch(ctx context.Context) (trace.View, trace.Feed, error) {
	return g.d.Bus.Watch(ctx)
}

// verbs say what each verb is and what does it.
var verbs = map[control.Verb]struct {
	class control.Class
	do    func(g *Gateway, c control.Command, now time.Time) (control.Done, error)
}{
	control.Pause:   {control.Reversible, (*Gateway).pause},
	control.Resume:  {control.Reversible, (*Gateway).resume},
	control.Pin:     {control.Reversible, (*Gateway).pin},
	control.Unpin:   {control.Reversible, (*Gateway).unpin},
	control.Wake:    {control.Reversible, (*Gateway).wake},
	control.Undo:    {control.Reversible, (*Gateway).undo},
	control.Reload:  {control.Reversible, (*Gateway).reload},
	control.Refresh: {control.Reads, (*Gateway).refresh},
	control.Cancel:  {control.Ends, (*Gateway).cancelCall},
	control.Reset:   {control.Spends, nil},

	control.Order: {control.Reversible, (*Gateway).choose}, control.Pick: {control.Reversible, (*Gateway).choose},
	control.Routing: {control.Reversible, (*Gateway).choose}, control.Affinity: {control.Reversible, (*Gateway).choose},
	control.Sink: {control.Reversible, (*Gateway).choose}, control.Cap: {control.Reversible, (*Gateway).choose},
	control.Credits: {control.Reversible, (*Gateway).choose}, control.AutoReset: {control.Reversible, (*Gateway).choose},
	control.Hide: {control.Reversible, (*Gateway).choose}, control.Show: {control.Reversible, (*Gateway).choose},

	control.Move:   {control.Reversible, (*Gateway).moveTalk},
	control.Forget: {control.Reversible, (*Gateway).forgetTalk},
}

// Preview says what a command would do. For one that ends something it gives a token
// bound to the facts shown.
func (g *Gateway) Preview(ctx context.Context, c control.Command) (control.Effect, error) {
	v, ok := verbs[c.Verb]
	if !ok {
		return control.Effect{}, unknownVerb(c.Verb)
	}
	e := control.Effect{Class: v.class, Words: string(c.Verb) + " " + c.Who}
	if read := choosers[c.Verb]; read != nil {
		ch, err := read(g, &c)
		e.Words = ch.said()
		return e, err
	}
	if c.Verb == control.Reset {
		return g.previewReset(ctx, c)
	}
	if c.Verb != control.Cancel {
		return e, nil
	}
	r, live := g.d.Bus.Route(c.Args.Request)
	if !live || r.Done {
		return control.Effect{}, notLive(c.Args.Request)
	}
	e.Words = "end request " + strconv.FormatInt(r.ID, 10) + " of " + r.Agent + ": the agent sees its reply break off"
	e.Facts = []string{r.Agent, r.Asked, r.Answerer()}
	e.Token = g.tokens.give(c, e.Facts, time.Now())
	return e, nil
}

// Do carries a command out. One that ends something needs a fresh token of Preview.
func (g *Gateway) Do(ctx context.Context, c control.Command, token control.Token) (control.Done, error) {
	v, ok := verbs[c.Verb]
	if !ok {
		return control.Done{}, unknownVerb(c.Verb)
	}
	now := time.Now()
	var facts []string
	if v.class == control.Ends || v.class == control.Spends {
		fresh := false
		if facts, fresh = g.tokens.take(c, token, now); !fresh {
			return control.Done{}, staleToken(v.class)
		}
	}
	if c.Verb == control.Reset {
		return g.resetByHand(ctx, c, facts)
	}
	mark := g.d.State.Mark()
	d, err := v.do(g, c, now)
	if err != nil {
		return control.Done{}, err
	}
	d.Words += g.settle(ctx, mark)
	d.At = now
	g.tell(trace.Log{Time: now, Level: "info", Text: d.Words})
	return d, nil
}

func staleToken(class control.Class) error {
	return &control.Error{
		Status: http.StatusConflict, Code: "stale_token",
		Message: "this " + string(class) + " something: preview it first and send the token that the preview gives, within a minute",
	}
}

// settleTime is how long an answer waits for what was done to be on disk.
const settleTime = 2 * time.Second

// settle waits until what was done since a mark is on disk, and returns what is to be said when it is not. That
// the asker leaves changes nothing: it is done.
func (g *Gateway) settle(ctx context.Context, since state.Mark) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := g.d.State.Settle(ctx, since); err != nil {
		return "; this is not on disk yet and may end with the gateway: " + err.Error()
	}
	return ""
}

func unknownVerb(v control.Verb) error {
	return &control.Error{
		Status: http.StatusBadRequest, Code: "unknown_verb",
		Message: fmt.Sprintf("%q is no verb that this version carries out: %s", string(v), known()),
	}
}

func known() string {
	var names []string
	for v := range verbs {
		names = append(names, string(v))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func notLive(id int64) error {
	return &control.Error{Status: http.StatusNotFound, Code: "not_live", Message: "request " + strconv.FormatInt(id, 10) + " is not under way"}
}

// whom finds the accounts that a command names: an id, a bare name that just one has, a
// provider with one account, or "all".
func (g *Gateway) whom(who string, all bool) ([]provider.AccountID, error) {
	cat := g.live.Load().cat
	if strings.EqualFold(who, "all") && all {
		return idsOf(cat.AllAccounts()), nil
	}
	found := cat.Find(who)
	if len(found) == 1 {
		return idsOf(found), nil
	}
	e := &control.Error{Status: http.StatusNotFound, Code: "no_such_account"}
	list := found
	if len(found) == 0 {
		list = cat.AllAccounts()
		e.Message = fmt.Sprintf("nobody is called %q; there are: ", who)
	} else {
		e.Message = fmt.Sprintf("several are called %q: ", who)
	}
	for _, a := range list {
		e.Matches = append(e.Matches, string(a.ID))
	}
	e.Message += strings.Join(e.Matches, ", ")
	return nil, e
}

func idsOf(as []*provider.Account) []provider.AccountID {
	ids := make([]provider.AccountID, len(as))
	for i, a := range as {
		ids[i] = a.ID
	}
	return ids
}

// until reads how long a wish holds; "" is until it is taken back.
func until(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return time.Time{}, &control.Error{
			Status: http.StatusBadRequest, Code: "bad_duration",
			Message: fmt.Sprintf("%.40q is no duration: write it like 90s, 30m or 2h", s),
		}
	}
	return now.Add(d), nil
}

func (g *Gateway) done(words string, ids []provider.AccountID, undo bool, now time.Time) control.Done {
	d := control.Done{Words: words, Undo: undo}
	cat := g.live.Load().cat
	for _, id := range ids {
		if a, ok := g.d.State.Account(cat, id, now); ok {
			d.Accounts = append(d.Accounts, a)
		}
	}
	return d
}

func names(ids []provider.AccountID) string {
	if len(ids) > 3 {
		return strconv.Itoa(len(ids)) + " accounts"
	}
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = string(id)
	}
	return strings.Join(s, ", ")
}

func was(ids []provider.AccountID) string {
	if len(ids) > 1 {
		return " were"
	}
	return " was"
}

func forWords(s string) string {
	if s == "" {
		return ""
	}
	return " for " + s
}

func (g *Gateway) pause(c control.Command, now time.Time) (control.Done, error) {
	ids, err := g.whom(c.Who, true)
	if err != nil {
		return control.Done{}, err
	}
	end, err := until(c.Args.For, now)
	if err != nil {
		return control.Done{}, err
	}
	changed := g.d.State.Pause(ids, end, now)
	if len(changed) == 0 {
		return g.done(names(ids)+was(ids)+" paused already", ids, false, now), nil
	}
	return g.done("paused "+names(changed)+forWords(c.Args.For), ids, true, now), nil
}

func (g *Gateway) resume(c control.Command, now time.Time) (control.Done, error) {
	ids, err := g.whom(c.Who, true)
	if err != nil {
		return control.Done{}, err
	}
	changed := g.d.State.Resume(ids, now)
	if len(changed) == 0 {
		return g.done(names(ids)+was(ids)+" not paused", ids, false, now), nil
	}
	return g.done("resumed "+names(changed), ids, true, now), nil
}

func (g *Gateway) pin(c control.Command, now time.Time) (control.Done, error) {
	ids, err := g.whom(c.Who, false)
	if err != nil {
		return control.Done{}, err
	}
	end, err := until(c.Args.For, now)
	if err != nil {
		return control.Done{}, err
	}
	p := trace.Pinned{Until: end, Agent: c.Args.Agent, Model: c.Args.Model, Only: c.Args.Only}
	what := "pinned "
	if p.Only {
		what = "pinned alone: "
	}
	if len(g.d.State.Pin(ids[0], p, now)) == 0 {
		return g.done(names(ids)+was(ids)+" pinned so already", ids, false, now), nil
	}
	return g.done(what+names(ids)+forWords(c.Args.For), ids, true, now), nil
}

func (g *Gateway) unpin(c control.Command, now time.Time) (control.Done, error) {
	who := c.Who
	if who == "" {
		who = "all"
	}
	ids, err := g.whom(who, true)
	if err != nil {
		return control.Done{}, err
	}
	changed := g.d.State.Unpin(ids, now)
	if len(changed) == 0 {
		return g.done("nothing was pinned", nil, false, now), nil
	}
	return g.done("unpinned "+names(changed), changed, true, now), nil
}

func (g *Gateway) wake(c control.Command, now time.Time) (control.Done, error) {
	ids, err := g.whom(c.Who, true)
	if err != nil {
		return control.Done{}, err
	}
	if len(g.d.State.Wake(ids, now)) == 0 {
		return g.done(names(ids)+was(ids)+" not resting", ids, false, now), nil
	}
	return g.done("woke "+names(ids), ids, true, now), nil
}

func (g *Gateway) undo(_ control.Command, now time.Time) (control.Done, error) {
	words, ids, ok := g.d.State.Undo(now)
	if !ok {
		return control.Done{Words: "nothing to undo"}, nil
	}
	g.regroup(g.live.Load())
	return g.done(words, ids, false, now), nil
}

func (g *Gateway) reload(control.Command, time.Time) (control.Done, error) {
	if err := g.Reload(); err != nil {
		return control.Done{}, &control.Error{Status: http.StatusBadRequest, Code: "bad_config", Message: g.masker.Mask(err.Error())}
	}
	return control.Done{Words: "read the config again"}, nil
}

func (g *Gateway) cancelCall(c control.Command, _ time.Time) (control.Done, error) {
	if !g.calls.cancel(c.Args.Request) {
		return control.Done{}, notLive(c.Args.Request)
	}
	return control.Done{Words: "ended request " + strconv.FormatInt(c.Args.Request, 10)}, nil
}

package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/route"
	"dev.magpie/provider"
)

// moveTalk has a conversation's next request go to an account, wherever the conversation may: to
// the models of others it is no candidate.
func (g *Gateway) moveTalk(c control.Command, now time.Time) (control.Done, error) {
	ids, err := g.whom(c.Args.To, false)
	if err != nil {
		return control.Done{}, err
	}
	scopes := g.d.State.Scopes(c.Args.Session)
	if len(scopes) == 0 {
		return control.Done{}, noTalk(c.Args.Session)
	}
	could := make([]string, 0, len(scopes))
	for _, scope := range scopes {
		if g.candidate(ids[0], scope, now) {
			could = append(could, scope)
		}
	}
	if g.d.State.MoveTalk(c.Args.Session, ids[0], could) == 0 {
		return control.Done{}, &control.Error{
			Status: http.StatusNotFound, Code: "no_candidate",
			Message: string(ids[0]) + " is no candidate for what conversation " + quoteShort(c.Args.Session) + " asks for",
		}
	}
	return g.done(fmt.Sprintf("moved conversation %s to %s: from its next request on", shortTalk(c.Args.Session), ids[0]), ids, true, now), nil
}

// candidate says whether an account is one for what is asked in a scope.
func (g *Gateway) candidate(id provider.AccountID, scope string, now time.Time) bool {
	lv := g.live.Load()
	target, bad := lv.catalog().Resolve(scope, lv.fetched())
	if bad != nil {
		return false
	}
	p := route.Plan(g.snapshot(lv, now), route.Call{Target: target})
	for i := range p.Order {
		if p.Order[i].ID == string(id) {
			return true
		}
	}
	return false
}

// forgetTalk forgets who answered a conversation: its next request goes where a new one would.
func (g *Gateway) forgetTalk(c control.Command, _ time.Time) (control.Done, error) {
	n := g.d.State.ForgetTalk(c.Args.Session)
	if n == 0 {
		return control.Done{}, noTalk(c.Args.Session)
	}
	words := "forgot who answered conversation " + shortTalk(c.Args.Session)
	if n > 1 {
		words += ", in " + strconv.Itoa(n) + " places"
	}
	return control.Done{Words: words, Undo: true}, nil
}

func noTalk(session string) error {
	return &control.Error{
		Status: http.StatusNotFound, Code: "no_such_conversation",
		Message: "nobody is known to have answered a conversation " + quoteShort(session) + " in the last 24 hours",
	}
}

// shortTalk is a conversation's id as people read it.
func shortTalk(session string) string {
	if r := []rune(session); len(r) > 12 {
		return string(r[:12]) + "…"
	}
	return session
}

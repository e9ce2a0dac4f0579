package route

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// Codes of what an agent is told when nobody is asked.
const (
	CodeAllPaused    = "all_paused"                  // every candidate is paused
	CodeNoKey        = "no_key"                      // no candidate has its secret
	CodeHeld         = "account_held"                // every candidate is at its cap, or used up and not to spend credits
	CodeResting      = "account_resting"             // the only one allowed rests
	CodeNotAllowed   = "model_not_allowed"           // no key's own model list has the model
	CodeNoAPI        = "api_not_supported"           // no candidate has the agent's API
	CodeOff          = "account_off"                 // all switched off in the config
	CodeReadOnly     = "account_read_only"           // all are only shown
	CodeNotMade      = "previous_response_not_found" // who made what the request goes on from can't be asked
	CodeNoCandidates = "no_candidates"               // nothing is configured
	CodeNoImages     = "images_not_supported"        // no candidate's model sees the image that the turn shows
)

// Refuse says what to tell the agent instead of asking anyone, nil when the plan is to be carried out.
func Refuse(p trace.Plan, c Call) *Refusal {
	switch {
	case c.Only != "" && !names(p, string(c.Only)):
		return notFound(p, c)
	case c.Made != "" && len(p.Order) == 0:
		return notMade(c)
	case len(p.Order) == 0:
		return pinnedBy(p, c, nobody(p, c))
	case p.Pinned != "":
		return pinnedBy(p, c, restingOnly(p.Order))
	}
	return nil
}

// pinnedBy adds that it is a person's pin that lets nobody else answer: what else is told has
// others wait for nothing.
func pinnedBy(p trace.Plan, c Call, r *Refusal) *Refusal {
	if r != nil && p.Pinned != "" && c.Only == "" {
		r.Words += "; it is pinned as the only one, and magpie unpin " + p.Pinned + " lets others answer"
	}
	return r
}

// names says whether a candidate of the plan has that id.
func names(p trace.Plan, id string) bool {
	is := func(c trace.Candidate) bool { return c.ID == id }
	return slices.ContainsFunc(p.Order, is) || slices.ContainsFunc(p.Left, is)
}

func notFound(p trace.Plan, c Call) *Refusal {
	words := string(c.Only) + " is no key or account that " + asked(c) + " can go to"
	if all := ids(p.Order, p.Left); all != "" {
		words += "; it can go to " + all
	}
	return &Refusal{Status: 404, Code: provider.CodeAccountUnknown, Words: words}
}

// notMade is an API's own error for a reply that it does not have: the agent sends the whole conversation then.
func notMade(c Call) *Refusal {
	status := 404
	if c.Protocol == wire.Responses {
		status = 400
	}
	return &Refusal{Status: status, Code: CodeNotMade, Words: "the earlier response that this request goes on from was not found: " +
		string(c.Made) + ", which made it, can't be asked now; send the whole conversation"}
}

// restingOnly refuses a request that is held to candidates which all rest.
func restingOnly(order []trace.Candidate) *Refusal {
	first := order[0]
	for _, c := range order {
		if c.Rest == nil {
			return nil
		}
		if c.Rest.Until.Before(first.Rest.Until) {
			first = c
		}
	}
	return &Refusal{Status: 429, Code: CodeResting, RetryAt: first.Rest.Until, Words: first.ID + " rests until " + clock(first.Rest.Until) +
		" (" + string(first.Rest.Why) + ") and the request is held to it; end the rest with magpie wake " + first.ID}
}

// nobody explains a plan without anyone to ask. Of several reasons it goes by the one that is nearest to an answer.
func nobody(p trace.Plan, c Call) *Refusal {
	left := slices.DeleteFunc(slices.Clone(p.Left), func(c trace.Candidate) bool {
		return slices.Contains([]trace.ReasonCode{trace.WhyNotNamed, trace.WhyOtherPin, trace.WhyNotMade, trace.WhyNotPicked}, c.Why.Code)
	})
	if r := allHeld(left, c); r != nil {
		return r
	}
	for _, r := range refusals {
		if because := having(left, r.codes); len(because) > 0 {
			out := r.say(because, c, p.Pinned != "")
			if held := having(left, heldCodes); len(held) > 0 { // they are back by themselves
				out.Words += "; " + list(held, heldUntil)
			}
			return out
		}
	}
	if g := c.Target.Group; g != nil {
		return &Refusal{Status: 404, Code: provider.CodeGroupEmpty, Words: "group " + g.ID + " has no member that can be asked: name some in [groups." + g.ID + "]"}
	}
	return &Refusal{Status: 404, Code: CodeNoCandidates, Words: "nothing is configured that " + asked(c) + " can go to"}
}

// refusals are tried in this order.
var refusals = []struct {
	codes []trace.ReasonCode
	say   func(because []trace.Candidate, c Call, held bool) *Refusal
}{
	{[]trace.ReasonCode{trace.WhyPaused}, allPaused},
	{[]trace.ReasonCode{trace.WhyUnready}, noKey},
	{[]trace.ReasonCode{trace.WhyProtocol}, noAPI},
	{[]trace.ReasonCode{trace.WhyBlind}, cantSee},
	{[]trace.ReasonCode{trace.WhyBarred, trace.WhyNotServed, trace.WhyUnlisted}, notAllowed},
	{[]trace.ReasonCode{trace.WhyReadOnly}, readOnly},
	{[]trace.ReasonCode{trace.WhyOff}, allOff},
}

func having(left []trace.Candidate, codes []trace.ReasonCode) []trace.Candidate {
	var found []trace.Candidate
	for _, c := range left {
		if slices.Contains(codes, c.Why.Code) {
			found = append(found, c)
		}
	}
	return found
}

// heldCodes are the reasons of those that a cap or the wish to spend no credits holds.
var heldCodes = []trace.ReasonCode{trace.WhyCapped, trace.WhyNoCredits}

// allHeld refuses where a cap or the wish to spend no credits holds everyone who could ever
// be asked, nil where it does not. Whom the person paused counts as little as who is switched off.
func allHeld(left []trace.Candidate, c Call) *Refusal {
	var because, paused []trace.Candidate
	for _, l := range left {
		switch l.Why.Code { //nolint:exhaustive // whatever else may change makes it another error
		case trace.WhyCapped, trace.WhyNoCredits:
			because = append(because, l)
		case trace.WhyPaused:
			paused = append(paused, l)
		case trace.WhyOff, trace.WhyReadOnly, trace.WhyBarred, trace.WhyNotServed, trace.WhyUnlisted:
		default:
			return nil
		}
	}
	if len(because) == 0 {
		return nil
	}
	r := &Refusal{Status: 429, Code: CodeHeld}
	var mend []string
	each := list(because, func(c trace.Candidate) string {
		if _, how := heldBy(&c); !slices.Contains(mend, how) {
			mend = append(mend, how)
		}
		if c.CapBack != nil {
			r.backBy(c.CapBack.Add(time.Second))
		}
		return heldUntil(c)
	})
	if len(paused) > 0 {
		each += "; and paused: " + list(paused, func(c trace.Candidate) string {
			r.backBy(c.Why.Until)
			return c.ID
		})
	}
	r.Words = "whoever " + asked(c) + " could go to is held: " + each + "; wait, or " + strings.Join(mend, ", or ")
	return r
}

// backBy notes when somebody is back; zero is not known.
func (r *Refusal) backBy(at time.Time) {
	if !at.IsZero() && (r.RetryAt.IsZero() || at.Before(r.RetryAt)) {
		r.RetryAt = at
	}
}

// heldUntil says who is held by what, and until when.
func heldUntil(c trace.Candidate) string {
	why, _ := heldBy(&c)
	if c.CapBack == nil {
		return c.ID + " " + why
	}
	return c.ID + " " + why + " until " + clock(*c.CapBack)
}

// heldBy says what holds an account, and what a person can do about it.
func heldBy(c *trace.Candidate) (why, how string) {
	if c.NoCredits {
		return "has used its allowance up and is not to spend credits", "let it spend credits (credits = true)"
	}
	at := strconv.Itoa(c.Capped) + "%"
	return "is at its cap of " + at, "raise its cap"
}

func allPaused(because []trace.Candidate, c Call, _ bool) *Refusal {
	r := &Refusal{Status: 503, Code: CodeAllPaused}
	each := list(because, func(c trace.Candidate) string {
		if c.Why.Until.IsZero() {
			return c.ID
		}
		r.backBy(c.Why.Until)
		return c.ID + " until " + clock(c.Why.Until)
	})
	r.Words = "whoever " + asked(c) + " could go to is paused: " + each + "; resume with magpie resume " + because[0].ID
	return r
}

func noKey(because []trace.Candidate, c Call, _ bool) *Refusal {
	return &Refusal{Status: 401, Code: CodeNoKey, Words: "no key for " + asked(c) + ": " +
		list(because, func(c trace.Candidate) string { return c.ID + ": " + c.Why.Text })}
}

func noAPI(because []trace.Candidate, c Call, _ bool) *Refusal {
	status, over := 501, c.Protocol.Title()
	if c.Also != "" { // who has neither has no such thing at all
		status, over = 404, over+" or "+c.Also.Title()
	}
	return &Refusal{Status: status, Code: CodeNoAPI, Words: asked(c) + " can't be asked over " + over + ": " +
		list(because, func(c trace.Candidate) string {
			if c.Why.Text == "" {
				return c.ID + " has no API for it"
			}
			return c.ID + " has " + c.Why.Text
		})}
}

func notAllowed(because []trace.Candidate, c Call, held bool) *Refusal {
	lists := "no model list in the config allows "
	if !slices.ContainsFunc(because, func(c trace.Candidate) bool { return c.Why.Code != trace.WhyUnlisted }) {
		lists = "no plan lists "
	}
	r := &Refusal{Status: 403, Code: CodeNotAllowed, Words: lists + asked(c) + ": " +
		list(because, func(c trace.Candidate) string {
			if c.Why.Code == trace.WhyUnlisted {
				return "the plan of " + c.ID + " does not have " + c.Model
			}
			return c.ID + " does not have " + c.Model
		})}
	if held {
		r.Status = 400
	}
	return r
}

func readOnly(because []trace.Candidate, c Call, _ bool) *Refusal {
	return &Refusal{Status: 403, Code: CodeReadOnly, Words: asked(c) + " is never asked, its account is only shown: " +
		list(because, func(c trace.Candidate) string { return c.ID + ": " + c.Why.Text })}
}

func allOff(because []trace.Candidate, c Call, _ bool) *Refusal {
	return &Refusal{Status: 404, Code: CodeOff, Words: "whoever " + asked(c) + " could go to is switched off in the config: " +
		list(because, func(c trace.Candidate) string { return c.ID })}
}

// asked is the model under the name by which it was asked for.
func asked(c Call) string {
	switch {
	case c.Target.Asked != "":
		return c.Target.Asked
	case c.Target.Group != nil:
		return "group/" + c.Target.Group.ID
	case c.Target.Provider != nil:
		return c.Target.Provider.ID + "/" + c.Target.Model
	}
	return "the request"
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// list writes what say says of the first few, once each.
func list(of []trace.Candidate, say func(trace.Candidate) string) string {
	const most = 8
	var said []string
	for _, c := range of {
		if s := say(c); !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	if len(said) > most {
		said = append(said[:most], "and more")
	}
	return strings.Join(said, ", ")
}

func ids(order, left []trace.Candidate) string {
	return list(slices.Concat(order, left), func(c trace.Candidate) string { return c.ID })
}

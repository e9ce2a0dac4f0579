package gateway

import (
	"net/http"
	"time"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
)

// step is what follows a failed try.
type step uint8

const (
	stepStop   step = iota // the agent is told
	stepNext               // the next candidate
	stepAgain              // the same one, after a pause
	stepMended             // the same one, at once, in another form
)

// decision says what follows a failed try, and whether its candidate rests.
type decision struct {
	do    step
	rest  bool
	wait  time.Duration
	order []trace.Candidate // for stepNext: what was tried, then what is left
}

// situation is what a decision stands on: the order, where it is, and how the try failed.
type situation struct {
	order  []trace.Candidate
	at     int
	last   bool // the attempts are used up, or nobody is left
	again  int  // repeats of this candidate so far
	v      *trace.Verdict
	now    time.Time
	status int

	window   route.Window
	estimate int // of the request, in tokens
}

// after decides what follows a failed try: the first line that claims it.
func after(s situation) decision {
	v := s.v
	switch v.Kind {
	case trace.Cancelled:
		return decision{do: stepStop}
	case trace.Slow, trace.Shape, trace.Proxy:
		return s.advance(false, s.order)
	case trace.Refused, trace.Effort:
		return s.advance(false, s.with(route.MatesFirst(s.order, s.at)))
	case trace.Prompt:
		return s.advance(false, s.with(route.MatesLast(s.order, s.at)))
	case trace.TooLarge:
		return s.larger()
	case trace.Auth, trace.Model, trace.Verify:
		d := s.advance(true, s.order)
		d.rest = d.do == stepNext || v.Kind == trace.Verify
		return d
	case trace.Credit, trace.Quota, trace.Rate, trace.Overloaded, trace.Request, trace.Network, trace.Other:
	}
	if v.Passes && !s.last && s.othersSpent() {
		if d, ok := s.repeat(); ok {
			return d
		}
	}
	if !s.last && v.Next {
		return s.advance(true, s.order)
	}
	if s.last && v.Passes {
		if d, ok := s.repeat(); ok {
			return d
		}
	}
	return decision{do: stepStop}
}

// advance goes on to the next of order; on the last, what may pass is asked once more.
func (s *situation) advance(rest bool, order []trace.Candidate) decision {
	if !s.last {
		return decision{do: stepNext, rest: rest, order: order}
	}
	if s.v.Passes {
		if d, ok := s.repeat(); ok {
			return d
		}
	}
	return decision{do: stepStop}
}

func (s *situation) repeat() (decision, bool) {
	wait, ok := failure.Repeat(*s.v, s.again, s.now)
	if !ok {
		return decision{}, false
	}
	return decision{do: stepAgain, wait: wait}, true
}

// othersSpent says whether all who are left rest for want of quota or credit.
func (s *situation) othersSpent() bool {
	for i := s.at + 1; i < len(s.order); i++ {
		r := s.order[i].Rest
		if r == nil || r.Why != trace.Quota && r.Why != trace.Credit {
			return false
		}
	}
	return true
}

// with keeps what was tried and puts what is left in a new order.
func (s *situation) with(left []trace.Candidate) []trace.Candidate {
	out := make([]trace.Candidate, 0, len(s.order))
	out = append(out, s.order[:s.at+1]...)
	return append(out, left...)
}

// larger goes on with another model that is known to hold more; nobody rests.
func (s *situation) larger() decision {
	if s.last {
		return decision{do: stepStop}
	}
	estimate := s.estimate
	if s.status == http.StatusRequestEntityTooLarge {
		estimate = 0 // the vendor minded bytes
	}
	fit := route.Larger(s.order[s.at+1:], &s.order[s.at], s.window, estimate)
	if len(fit) == 0 {
		return decision{do: stepStop}
	}
	return decision{do: stepNext, order: s.with(fit)}
}

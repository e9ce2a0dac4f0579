package words

import (
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// Reason says why a candidate stands at its place, without knowing what day it is.
func Reason(r trace.Reason) string { return ReasonAt(r, time.Time{}) }

// ReasonAt says why a candidate stands at its place.
func ReasonAt(r trace.Reason, now time.Time) string {
	switch r.Code {
	case trace.WhyListed:
		return listed(r)
	case trace.WhyOnly:
		return plus("the only one there is", r.Text)
	case trace.WhyFallback:
		return fallback(r)
	case trace.WhyResting:
		return "rests" + until(r.Until, now) + because(r)
	case trace.WhyRestOnly:
		return "rests" + until(r.Until, now) + because(r) + ", but there is no other"
	case trace.WhyPinned:
		return "pinned by you" + until(r.Until, now) + ", so asked first"
	case trace.WhyPaused:
		return "paused by you" + until(r.Until, now)
	case trace.WhyCapped:
		return capped(r, now)
	case trace.WhyNoCredits:
		return "held" + until(r.Until, now) + ": its allowance is used up, and it is not to spend credits"
	case trace.WhyNamed:
		return "named by the request"
	case trace.WhyMade:
		return "made the reply that this request goes on from"
	case trace.WhyNotNamed:
		return "the request names " + or(r.Text, "another")
	case trace.WhyOtherPin:
		return "another is pinned alone"
	case trace.WhyNotMade:
		return or(r.Text, "another") + " made the reply that this request goes on from"
	case trace.WhyUnready:
		return plus("not ready", or(r.Text, "its secret is missing"))
	case trace.WhyBarred:
		return "its own list of models does not have this one"
	case trace.WhyProtocol:
		return protocol(r)
	case trace.WhyOff, trace.WhyReadOnly:
		return never(r)
	case trace.WhyBlind, trace.WhyRule, trace.WhyRuleNext:
		return byTurn(r)
	case trace.WhyNotServed:
		return plus("its provider does not serve this model", r.Text)
	case trace.WhyNotPicked:
		return "not the member that you picked"
	case trace.WhyUnlisted:
		return "its plan does not list this model, and another's does"
	case trace.WhyLearns, trace.WhySooner, trace.WhyLater, trace.WhyUnknown, trace.WhyLow, trace.WhySpent, trace.WhyShut, trace.WhyLeastUsed, trace.WhyMoreUsed,
		trace.WhyFewestTokens, trace.WhyMoreTokens, trace.WhyTurn, trace.WhyPace, trace.WhyLessPace, trace.WhyHaste, trace.WhyLevel, trace.WhyByUse, trace.WhyWeight, trace.WhyWeighed,
		trace.WhyPicked, trace.WhyAside, trace.WhyUnfit, trace.WhySunk:
		return routed(r, now)
	case trace.WhyWarm, trace.WhySameTurn, trace.WhySession, trace.WhyMoved, trace.WhyNextTurn, trace.WhyFewest:
		return conversed(r)
	}
	return plus(strings.ReplaceAll(string(r.Code), "-", " "), r.Text)
}

// never is why a candidate is asked for nothing as long as the config stands.
func never(r trace.Reason) string {
	if r.Code == trace.WhyReadOnly {
		return plus("only shown, never asked", r.Text)
	}
	return or(r.Text, "it") + " is switched off in the config"
}

func protocol(r trace.Reason) string {
	if r.Text != "" {
		return "can be asked on " + r.Text + " only, not on the API of this request"
	}
	return "made for an API that its provider does not have"
}

func listed(r trace.Reason) string {
	var s string
	switch {
	case r.By != "":
		s = ordinal(r.N) + " in group " + r.By
		if r.Count > 0 {
			s += ", " + ordinal(int(r.Count)) + " of its provider"
		}
	default:
		s = ordinal(r.N) + " in your order"
	}
	return plus(s, r.Text)
}

func fallback(r trace.Reason) string {
	if r.By == "" {
		return plus("a fallback: takes over when the others run out", r.Text)
	}
	return plus("takes over when "+r.By+" runs out: fallback of "+r.By, r.Text)
}

func capped(r trace.Reason, now time.Time) string {
	held := "held" + until(r.Until, now)
	switch {
	case r.Share > 0 && r.Limit > 0:
		return held + ": " + Percent(r.Share) + " used is past its " + strconv.Itoa(r.Limit) + "% cap"
	case r.Limit > 0:
		return held + ": past its " + strconv.Itoa(r.Limit) + "% cap"
	}
	return held + ": past its cap"
}

// because is the cause of a rest, where it is told.
func because(r trace.Reason) string {
	if r.Kind == "" {
		return ""
	}
	return ": " + Kind(r.Kind)
}

// until names the end of something that has one.
func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + Clock(t, now)
}

// ordinals are the words up to tenth.
var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

// ordinal writes a place that counts from 1.
func ordinal(n int) string {
	if n >= 1 && n <= len(ordinals) {
		return ordinals[n-1]
	}
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// plus adds a text that says more.
func plus(s, more string) string {
	if more == "" {
		return s
	}
	return s + ": " + more
}

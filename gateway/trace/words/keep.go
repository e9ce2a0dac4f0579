package words

import (
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
)

// Keep says why a conversation stays with who answered it last, or does not.
func Keep(a trace.Affinity) string {
	last := or(a.Last, "another")
	switch a.Why {
	case trace.KeepOff:
		return "conversations are not kept: affinity is off"
	case trace.KeepFirst:
		return "nobody is known to have answered this conversation"
	case trace.KeepGone:
		return "leaves " + last + ", who can't be asked now"
	case trace.KeepResting:
		return "leaves " + last + ", who rests"
	case trace.KeepSpent:
		return "leaves " + last + ", whose allowance is used up"
	case trace.KeepMoved:
		return "is with " + last + ", where you moved it"
	case trace.KeepPinned:
		return "leaves " + last + ": your pin puts another first"
	case trace.KeepRule:
		return "leaves " + last + ": a rule of the group puts another first"
	case trace.KeepSession:
		return "stays with " + last + " to its end"
	case trace.KeepTurn:
		return "stays with " + last + ", who answered this turn so far"
	case trace.KeepNewTurn:
		return "may leave " + last + ": a new turn begins"
	case trace.KeepNoCache:
		return "may leave " + last + ", whose last reply read next to nothing from a cache"
	case trace.KeepCold:
		return "may leave " + last + ", where its cache is cold by now"
	case trace.KeepCache:
		return "stays with " + last + ", where its cache is warm"
	}
	return strings.ReplaceAll(string(a.Why), "-", " ")
}

// conversed says why its conversation puts a candidate first.
func conversed(r trace.Reason) string {
	switch r.Code { //nolint:exhaustive // the others are not of a conversation
	case trace.WhySameTurn:
		return "answered this turn so far, so goes on with it"
	case trace.WhySession:
		return "keeps the conversation to its end"
	case trace.WhyMoved:
		return "you moved the conversation here"
	case trace.WhyNextTurn:
		return "a new turn: next after " + or(r.Text, "who answered the last one")
	case trace.WhyFewest:
		return "a new conversation: " + others(r.Count) + " on it lately, the fewest"
	}
	return "keeps the conversation where its cache is warm"
}

// others counts other conversations.
func others(n int64) string {
	switch n {
	case 0:
		return "no other is"
	case 1:
		return "one other is"
	}
	return strconv.FormatInt(n, 10) + " others are"
}

package pane

import (
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
)

// reasonOf is why a candidate stands at its place, as a sentence. The times in it are told
// as of the day on which it is read.
func reasonOf(v *View, c *trace.Candidate) string {
	if c.Why.Code == "" {
		return v.State.Masked(c.Reason)
	}
	if !c.Why.Until.IsZero() {
		v.Clock.Day(c.Why.Until)
	}
	return v.State.Masked(words.ReasonAt(c.Why, v.Clock.Now))
}

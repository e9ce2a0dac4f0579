package words

import (
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
)

// Rule says what a group's rules made of a request.
func Rule(r *trace.Rule) string {
	var said []string
	for ; r != nil; r = r.Inner {
		said = append(said, rule(r))
	}
	return strings.Join(said, "; ")
}

// byTurn says why a candidate stands where it stands for what the turn is.
func byTurn(r trace.Reason) string {
	switch r.Code { //nolint:exhaustive // the others have nothing to do with the turn
	case trace.WhyBlind:
		return plus("its model takes no images, and the turn shows one", r.Text)
	case trace.WhyRule:
		return byRule(r)
	}
	return "next: a later rule of group " + or(r.By, "it") + " names it"
}

// byRule says why a rule puts a candidate first.
func byRule(r trace.Reason) string {
	s := "rule " + strconv.FormatInt(r.Count, 10) + " of group " + or(r.By, "it")
	if r.Text != "" {
		return s + " names " + r.Text + ", which is not ready: a later rule names this one"
	}
	return s + " sends the turn here"
}

func rule(r *trace.Rule) string {
	of := " of group " + or(r.Group, "it")
	var s string
	switch {
	case r.Waits:
		s = "rules" + of + " wait: the turn was met in its middle, or its rule is another by now"
	case r.N == 0:
		s = "no rule" + of + " holds"
	case r.Grown:
		s = "rule " + strconv.Itoa(r.N) + of + " moves the turn to " + r.Use + ", as it outgrew its model's window"
	case r.Held:
		s = "rule " + strconv.Itoa(r.N) + of + " sent the turn to " + r.Use + " as it began"
	default:
		s = "rule " + strconv.Itoa(r.N) + of + " sends the turn to " + r.Use
	}
	if r.N > 0 && len(r.When) > 0 {
		s += ": " + when(r.When)
	}
	switch {
	case r.Unready && r.Instead != "":
		s += ", which is not ready, so " + r.Instead + " goes first"
	case r.Unready:
		s += ", which is not ready"
	}
	if c := r.Classified; c != nil {
		s += ", " + classified(c)
	}
	if r.Pick != "" {
		s += ", the turn thinks " + r.Pick
	}
	return s
}

func classified(c *trace.Classified) string {
	by := or(c.By, "the classifier")
	switch {
	case c.Error != "":
		return by + " did not say what it is about: " + c.Error
	case c.Intent != "":
		return by + " finds it to be about: " + c.Intent
	case len(c.Intents) > 0:
		return by + " finds it to be about nothing that a rule names"
	}
	return by + " was asked how hard it is"
}

// when says a rule's conditions.
func when(facts []string) string {
	said := make([]string, len(facts))
	for i, f := range facts {
		said[i] = condition(f)
	}
	return strings.Join(said, ", ")
}

func condition(f string) string {
	for _, c := range []struct{ head, before, after string }{
		{"tokens >= ", "", " tokens or more"},
		{"effort >= ", "asks for effort ", " or more"},
		{"agents ", "asked by ", ""},
		{"intent ", "about ", ""},
	} {
		if rest, ok := strings.CutPrefix(f, c.head); ok {
			return c.before + rest + c.after
		}
	}
	switch f {
	case "images":
		return "shows an image"
	case "effort on":
		return "asks for reasoning"
	case "compact":
		return "shortens its conversation"
	}
	return f
}

// Effort says how hard the model of a try was asked to think, "" where nothing was said. asked
// is what the agent asked for.
func Effort(t *trace.Try, asked string) string {
	if t == nil || t.Effort == "" {
		return ""
	}
	s := t.Effort
	switch {
	case t.Fixed:
		s += ", as the member has it"
	case t.Picked:
		s += ", as the turn's group has it"
	}
	if asked != t.Effort {
		switch asked {
		case "":
			s += "; the agent said nothing of it"
		case "on":
			s += "; the agent named no level"
		default:
			s += "; the agent asked for " + asked
		}
	}
	return s
}

package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// State is how an account stands, as one word or two.
func State(s trace.State) string {
	if word, ok := states[s]; ok {
		return word
	}
	return string(s)
}

// states has a word or two for each.
var states = map[trace.State]string{
	trace.Fine:    "fine",
	trace.Low:     "low",
	trace.Spent:   "spent",
	trace.Resting: "rests",
	trace.Paused_: "paused",
	trace.Held:    "held",
	trace.Unready: "not ready",
	trace.Off:     "off",
}

// Denied says in a few words why a vendor turns an account away.
func Denied(a *trace.Account) string {
	switch {
	case a.Denied != nil && a.Denied.Why == trace.Credit:
		return "out of credit"
	case a.Kind == "account":
		return "sign-in refused"
	case a.Kind == "provider":
		return "key wanted"
	}
	return "key refused"
}

// Account says how an account stands, with what there is to say about it.
func Account(a trace.Account, now time.Time) string {
	s := stands(&a, now)
	if a.ReadOnly != "" && a.State != trace.Unready && a.State != trace.Off {
		s += ", only shown"
	}
	return s
}

func stands(a *trace.Account, now time.Time) string {
	switch a.State {
	case trace.Resting:
		if a.Rest != nil {
			return Rest(*a.Rest, now)
		}
	case trace.Paused_:
		if p := a.Paused; p != nil && !p.Until.IsZero() {
			return "paused by you until " + Clock(p.Until, now)
		} else if p != nil && !p.Since.IsZero() {
			return "paused by you " + Ago(now.Sub(p.Since))
		}
		return "paused by you"
	case trace.Held:
		if a.Cap > 0 {
			return fmt.Sprintf("held: past its %d%% cap", a.Cap)
		}
	case trace.Unready:
		return plus("not ready", a.Error)
	case trace.Spent:
		switch {
		case a.Rest != nil:
			return cause(*a.Rest) + until(a.Rest.Until, now)
		case a.Error != "":
			return plus("spent", a.Error)
		}
		return fmt.Sprintf("spent: %s used", percent(a.Used))
	case trace.Low:
		return fmt.Sprintf("low: %s used", percent(a.Used))
	case trace.Fine, trace.Off:
	}
	return State(a.State)
}

// percent never says 100 of what is not full.
func percent(used float64) string {
	n := int(used + .5)
	if n >= 100 && used < 100 {
		n = 99
	}
	return strconv.Itoa(n) + "%"
}

// Outcome says what became of a request, as in the legend of the marks.
func Outcome(o trace.Outcome) string {
	if s, ok := outcomes[o]; ok {
		return s
	}
	return string(o)
}

// outcomes has a word or two for each.
var outcomes = map[trace.Outcome]string{
	trace.Live:     "live",
	trace.Answered: "answered",
	trace.Later:    "answered on a later try",
	trace.Failed:   "failed",
	trace.Declined: "refused",
	trace.Left:     "agent left",
}

// Try says what one try came to: "429 rate limit in 0.4s, nothing sent; rests 1m00s".
func Try(t trace.Try) string {
	switch {
	case !t.Done:
		return "being asked"
	case t.Fail == "":
		s := strconv.Itoa(t.Status)
		if t.TTFTMS > 0 {
			s += ", first byte " + Took(ms(t.TTFTMS))
		}
		return s + ", " + Took(ms(t.MS))
	case t.Fail == trace.Cancelled:
		return "agent left after " + Took(ms(t.MS))
	}
	if why := unasked[t.Row]; why != "" {
		if t.MS > 0 {
			return "not asked after " + Took(ms(t.MS)) + ": " + why
		}
		return "not asked: " + why
	}
	s := Kind(t.Fail)
	if t.Status > 0 {
		s = strconv.Itoa(t.Status) + " " + s
	}
	s += " in " + Took(ms(t.MS))
	if t.TTFTMS == 0 {
		s += ", nothing sent"
	}
	if t.Rest != nil && !t.Rest.Until.IsZero() {
		s += "; rests " + Lasts(*t.Rest)
	}
	return s
}

// unasked says why nobody was asked in a try, by its row.
var unasked = map[string]string{
	trace.RowFull:        "it had no slot",
	trace.RowPausedSince: "you paused it meanwhile",
	trace.RowHeldSince:   "it came to be held meanwhile",
	trace.RowRestsSince:  "it came to rest meanwhile, and another did not",
}

// Answer says who answered a request, or why nobody did: "codex/work answered on try 2".
func Answer(r trace.Route) string {
	switch r.Outcome() {
	case trace.Live:
		if by := r.Answerer(); by != "" {
			return by + " is being asked" + onTry(len(r.Tries))
		}
		return "nobody is asked yet"
	case trace.Answered, trace.Later:
		return or(r.Answerer(), "magpie") + " answered" + onTry(len(r.Tries))
	case trace.Failed:
		if len(r.Tries) == 1 {
			return r.Answerer() + " failed"
		}
		return fmt.Sprintf("all %d tries failed", len(r.Tries))
	case trace.Declined:
		return "nobody was asked"
	case trace.Left:
		return "the agent left"
	}
	return ""
}

func onTry(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" on try %d", n)
}

// Line says a request in one line, as a log has it:
// "codex gpt-6.1-sol » codex/work 200 14.2s, try 2, in 20.4k, cached 88%, out 1.2k, $0.031".
func Line(r trace.Route) string {
	var b strings.Builder
	b.WriteString(or(r.Agent, "unknown") + " " + or(r.Asked, "-"))
	if by := r.Answerer(); by != "" {
		b.WriteString(" » " + by)
	}
	if r.Done {
		b.WriteString(" " + strconv.Itoa(r.Status) + " " + Took(ms(r.MS)))
	} else {
		b.WriteString(" live")
	}
	if len(r.Tries) > 1 {
		b.WriteString(", try " + strconv.Itoa(len(r.Tries)))
	}
	if t := r.Tokens; t.Input > 0 {
		b.WriteString(", in " + Count(t.Input) + ", cached " + percent(float64(t.CacheRead)/float64(t.Input)*100))
	}
	if t := r.Tokens; t.Output > 0 {
		b.WriteString(", out " + Count(t.Output))
	}
	if usd, err := strconv.ParseFloat(r.Cost, 64); err == nil {
		b.WriteString(", " + Money(usd))
	}
	if r.Error != "" {
		b.WriteString(": " + r.Error)
	}
	return b.String()
}

// LogLine writes a line of the log with its time of day: "14:01:58 relay/a rests 60s: rate limit".
func LogLine(l trace.Log, loc *time.Location) string {
	s := l.Time.In(loc).Format(time.TimeOnly) + " "
	if l.Level == "warn" || l.Level == "error" {
		s += l.Level + ": "
	}
	return s + l.Text
}

// Route gives a copy whose candidates carry their reasons as sentences, with times in loc.
// The route itself and its slices stay as they are.
func Route(r trace.Route, loc *time.Location) trace.Route {
	now := r.Time.In(loc)
	r.Order = reasons(r.Order, now)
	r.Left = reasons(r.Left, now)
	return r
}

func reasons(cs []trace.Candidate, now time.Time) []trace.Candidate {
	if cs == nil {
		return nil
	}
	out := make([]trace.Candidate, len(cs))
	copy(out, cs)
	for i := range out {
		if out[i].Why.Code != "" {
			out[i].Reason = ReasonAt(out[i].Why, now)
		}
	}
	return out
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

package state

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
)

// Filter narrows a list: every term must hold.
type Filter struct {
	Text  string // as typed
	Bad   []Bad  // terms that say nothing; the others apply
	terms []term
}

// Bad is a term that could not be read, and why.
type Bad struct{ Term, Why string }

type term struct {
	not   bool
	holds func(*State, *trace.Route, *Clock) bool
	plain string // a word without a field, lower case
}

// Fields lists what a term can narrow by, in the order in which help names them.
func Fields() []string {
	return []string{"acct", "prov", "model", "group", "agent", "conv", "state", "try", "ttfb", "dur", "in", "out", "cost", "since"}
}

// ParseFilter reads the filter language: words match anywhere, field:value narrows,
// a minus negates.
func ParseFilter(text string) Filter {
	f := Filter{Text: strings.TrimSpace(text)}
	for word := range strings.FieldsSeq(text) {
		body, not := strings.CutPrefix(word, "-")
		if body == "" {
			continue
		}
		t := term{not: not}
		field, value, narrowed := strings.Cut(body, ":")
		switch {
		case !narrowed:
			t.plain = strings.ToLower(body)
			t.holds = func(s *State, r *trace.Route, _ *Clock) bool { return anywhere(s, r, t.plain) }
		default:
			holds, why := parseTerm(strings.ToLower(field), strings.ToLower(value))
			if why != "" {
				f.Bad = append(f.Bad, Bad{Term: word, Why: why})
				continue
			}
			t.holds = holds
		}
		f.terms = append(f.terms, t)
	}
	return f
}

// Empty says whether the filter lets everything through.
func (f *Filter) Empty() bool { return len(f.terms) == 0 }

// Match says whether a request passes.
func (f *Filter) Match(s *State, r *trace.Route, c *Clock) bool {
	for i := range f.terms {
		if f.terms[i].holds(s, r, c) == f.terms[i].not {
			return false
		}
	}
	return true
}

// MatchText says whether a line passes; only plain words count for it.
func (f *Filter) MatchText(line string) bool {
	if f.Empty() {
		return true
	}
	line = strings.ToLower(line)
	for i := range f.terms {
		t := &f.terms[i]
		if t.plain != "" && strings.Contains(line, t.plain) == t.not {
			return false
		}
	}
	return true
}

type test = func(*State, *trace.Route, *Clock) bool

func parseTerm(field, value string) (test, string) {
	if value == "" && slices.Contains(Fields(), field) {
		return nil, "nothing after " + field + ":"
	}
	switch field {
	case "acct", "prov", "model", "group", "agent", "conv":
		return textTerm(field, value), ""
	case "state":
		return stateTerm(value)
	case "try":
		return numberTerm(value, func(r *trace.Route) float64 { return float64(len(r.Tries)) })
	case "in":
		return numberTerm(value, func(r *trace.Route) float64 { return float64(r.Tokens.Input) })
	case "out":
		return numberTerm(value, func(r *trace.Route) float64 { return float64(r.Tokens.Output) })
	case "cost":
		return numberTerm(strings.Replace(value, "$", "", 1), func(r *trace.Route) float64 {
			cost, err := strconv.ParseFloat(r.Cost, 64)
			if err != nil {
				return 0
			}
			return cost
		})
	case "ttfb":
		return lengthTerm(value, func(r *trace.Route, _ *Clock) (time.Duration, bool) {
			d := firstByte(r)
			return d, d > 0
		})
	case "dur":
		return lengthTerm(value, func(r *trace.Route, c *Clock) (time.Duration, bool) {
			if r.Done {
				return time.Duration(r.MS) * time.Millisecond, true
			}
			c.Running(r.Time)
			return c.Now.Sub(r.Time), true
		})
	case "since":
		d, err := parseLength(value)
		if err != nil {
			return nil, "since: takes a length of time such as 10m"
		}
		return func(_ *State, r *trace.Route, c *Clock) bool { return !c.Passed(r.Time.Add(d)) }, ""
	}
	return nil, noField(field)
}

// noField names the field that was most likely meant, else all there are.
func noField(field string) string {
	for _, f := range Fields() {
		if strings.HasPrefix(f, field) || strings.HasPrefix(field, f) {
			return "no field " + field + ", did you mean " + f + "?"
		}
	}
	return "no field " + field + "; there are " + strings.Join(Fields(), " ")
}

func textTerm(field, value string) test {
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), value) }
	switch field {
	case "acct":
		return func(s *State, r *trace.Route, _ *Clock) bool {
			for i := range r.Tries {
				if has(s.Name(r.Tries[i].ID)) || has(r.Tries[i].ID) {
					return true
				}
			}
			return false
		}
	case "prov":
		return func(_ *State, r *trace.Route, _ *Clock) bool {
			for i := range r.Tries {
				provider, _, _ := strings.Cut(r.Tries[i].ID, "/")
				if has(provider) {
					return true
				}
			}
			return has(r.Resolved.Provider)
		}
	case "model":
		return func(_ *State, r *trace.Route, _ *Clock) bool { return has(ModelOf(r)) || has(r.Asked) || has(r.Served) }
	case "group":
		return func(_ *State, r *trace.Route, _ *Clock) bool { return has(r.Resolved.Group) }
	case "agent":
		return func(_ *State, r *trace.Route, _ *Clock) bool { return has(r.Agent) }
	}
	return func(_ *State, r *trace.Route, _ *Clock) bool { return has(r.Session) }
}

func stateTerm(value string) (test, string) {
	var wanted []trace.Outcome
	switch value {
	case "ok":
		wanted = []trace.Outcome{trace.Answered, trace.Later}
	case "error":
		wanted = []trace.Outcome{trace.Failed, trace.Declined}
	default:
		for _, m := range Outcomes() {
			if strings.HasPrefix(string(m), value) {
				wanted = append(wanted, m)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, "state: takes live answered later failed refused left ok error"
	}
	return func(_ *State, r *trace.Route, _ *Clock) bool { return slices.Contains(wanted, r.Outcome()) }, ""
}

// numberTerm compares a number: 3, >1, <=20k.
func numberTerm(value string, of func(*trace.Route) float64) (test, string) {
	op, rest := operator(value)
	times := 1.0
	switch {
	case strings.HasSuffix(rest, "k"):
		rest, times = strings.TrimSuffix(rest, "k"), 1e3
	case strings.HasSuffix(rest, "m"):
		rest, times = strings.TrimSuffix(rest, "m"), 1e6
	}
	n, err := strconv.ParseFloat(rest, 64)
	if err != nil {
		return nil, fmt.Sprintf("%q is no number", rest)
	}
	n *= times
	return func(_ *State, r *trace.Route, _ *Clock) bool { return compare(op, of(r), n) }, ""
}

// lengthTerm compares a length of time: >2s, <500ms; 3 means three seconds or more.
func lengthTerm(value string, of func(*trace.Route, *Clock) (time.Duration, bool)) (test, string) {
	op, rest := operator(value)
	if op == "" {
		op = ">="
	}
	want, err := parseLength(rest)
	if err != nil {
		return nil, fmt.Sprintf("%q is no length of time such as 2s", rest)
	}
	return func(_ *State, r *trace.Route, c *Clock) bool {
		d, known := of(r, c)
		return known && compare(op, d.Seconds(), want.Seconds())
	}, ""
}

func parseLength(s string) (time.Duration, error) {
	if secs, err := strconv.ParseFloat(s, 64); err == nil && secs >= 0 && secs < 1e9 {
		return time.Duration(secs * float64(time.Second)), nil
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 10000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("read a length of time: %w", err)
	}
	return d, nil
}

func operator(value string) (op, rest string) {
	for _, op := range []string{">=", "<=", ">", "<", "="} {
		if rest, found := strings.CutPrefix(value, op); found {
			return op, rest
		}
	}
	return "", value
}

func compare(op string, a, b float64) bool {
	switch op {
	case ">":
		return a > b
	case "<":
		return a < b
	case ">=":
		return a >= b
	case "<=":
		return a <= b
	}
	return a == b
}

// anywhere looks for a word in all that a row or its page says.
func anywhere(s *State, r *trace.Route, word string) bool {
	has := func(text string) bool { return text != "" && strings.Contains(strings.ToLower(text), word) }
	if has(r.Asked) || has(r.Agent) || has(r.Session) || has(r.Resolved.Group) || has(r.Resolved.Provider) ||
		has(r.Served) || has(r.Error) || has(string(r.Outcome())) {
		return true
	}
	for i := range r.Tries {
		t := &r.Tries[i]
		if has(t.ID) || has(s.Name(t.ID)) || has(t.Model) || has(t.Error) || has(string(t.Fail)) {
			return true
		}
	}
	return has(strconv.FormatInt(r.ID, 10))
}

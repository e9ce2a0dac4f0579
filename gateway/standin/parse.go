package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/wire"
)

// Steps reads steps from lines of the script language, one a line; README.md of
// this folder is its reference. Empty lines and lines that begin with # are left out.
func Steps(lines ...string) ([]Fault, error) {
	var faults []Fault
	for _, text := range lines {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			f, err := parseStep(line)
			if err != nil {
				return nil, fmt.Errorf("step %q: %w", line, err)
			}
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// Must is Steps for scripts in source: it panics on a mistake.
func Must(lines ...string) []Fault {
	faults, err := Steps(lines...)
	if err != nil {
		panic("standin: " + err.Error())
	}
	return faults
}

// parseStep reads one step: a verb, its bare words, then name=value marks and xN.
func parseStep(line string) (Fault, error) {
	words, err := split(line)
	if err != nil {
		return Fault{}, err
	}
	f := Fault{}
	rest, err := parseVerb(&f, words)
	if err != nil {
		return Fault{}, err
	}
	for _, word := range rest {
		if err := parseMark(&f, word); err != nil {
			return Fault{}, err
		}
	}
	if err := f.check(); err != nil {
		return Fault{}, err
	}
	return f, nil
}

// verb is one word that can begin a step.
type verb struct {
	name    string
	bare    string // what may follow bare, for the reference
	doc     string
	example string
	set     func(f *Fault, bare []string) error
}

// verbs is the table of them; a number of three digits is the verb "<status>".
var verbs = []verb{
	{"ok", "", "a good answer", "ok text=\"from b\" x2", func(*Fault, []string) error { return nil }},
	{"<status>", "[why]", "a refusal with that status, in a vendor's words for the reason (the status' usual one when none is given)", "429 quota words=codex resets=3h", setStatus},
	{"page", "[status]", "a web page (403)", "page 200 title=\"Sign in\"", setPage},
	{"empty", "[status]", "a status and an empty body (200)", "empty 200 type=text/event-stream", setEmpty},
	{"body", "[status]", "the bytes of say=, with the type of type= (200)", "body 200 say=\"upstream is tired\" type=application/json", setBody},
	{"error-first", "[why]", "a stream whose first event is an error (overloaded)", "error-first overloaded split=7", setErrorFirst},
	{"error", "[why]", "a stream that ends in an error event (server), after 2 pieces unless after= says otherwise", "error rate after=3", setError},
	{"cut", "", "a clean end before the reply is over, after 2 pieces unless after= says otherwise", "cut after=end", setBreak(Cut)},
	{"fin", "", "the connection closed in the middle of a chunk, as cut", "fin after=1", setBreak(Fin)},
	{"rst", "", "the connection reset, as cut", "rst after=2", setBreak(Reset)},
	{"drop", "", "the connection closed without any answer", "drop", func(f *Fault, _ []string) error { f.Do = Drop; return nil }},
	{"silence", "<time>|forever", "nothing for that long, before the first content unless after= says otherwise; then the answer", "silence 20s after=headers", setSilence},
	{"refuse", "[at-once|after-thinking]", "the model refuses: a safety stop, at once unless said otherwise", "refuse after-thinking", setRefuse},
}

// mark is one name=value that may follow a verb.
type mark struct {
	name    string
	value   string // what it takes, for the reference
	doc     string
	example string
	set     func(f *Fault, value string) error
}

func setStatus(f *Fault, bare []string) error {
	f.Do = Refuse
	if len(bare) == 0 {
		return nil
	}
	return setWhy(f, bare[0])
}

func setWhy(f *Fault, word string) error {
	if !slices.Contains(Whys, Why(word)) {
		return fmt.Errorf("no reason %q; there are %v", word, Whys)
	}
	f.Why = Why(word)
	return nil
}

func setPage(f *Fault, bare []string) error {
	f.Do = Page
	return bareStatus(f, bare, http.StatusForbidden)
}

func setEmpty(f *Fault, bare []string) error {
	f.Do = Empty
	return bareStatus(f, bare, http.StatusOK)
}

func setBody(f *Fault, bare []string) error {
	f.Do = Raw
	return bareStatus(f, bare, http.StatusOK)
}

func bareStatus(f *Fault, bare []string, usual int) error {
	f.Status = usual
	if len(bare) == 0 {
		return nil
	}
	status, ok := statusWord(bare[0])
	if !ok {
		return fmt.Errorf("%q is no status", bare[0])
	}
	f.Status = status
	return nil
}

func setErrorFirst(f *Fault, bare []string) error {
	f.Do, f.Why, f.At = Error, WhyOverloaded, AtHeaders
	if len(bare) == 0 {
		return nil
	}
	return setWhy(f, bare[0])
}

func setError(f *Fault, bare []string) error {
	f.Do, f.Why, f.At, f.After = Error, WhyServer, AfterPieces, 2
	if len(bare) == 0 {
		return nil
	}
	return setWhy(f, bare[0])
}

func setBreak(a Act) func(*Fault, []string) error {
	return func(f *Fault, _ []string) error {
		f.Do, f.At, f.After = a, AfterPieces, 2
		return nil
	}
}

func setSilence(f *Fault, bare []string) error {
	f.Do, f.At = Silence, AtContent
	if len(bare) == 0 {
		return fmt.Errorf("silence wants a time, or forever")
	}
	if bare[0] == "forever" {
		f.Pause = UntilLeft
		return nil
	}
	d, err := time.ParseDuration(bare[0])
	f.Pause = d
	return err
}

func setRefuse(f *Fault, bare []string) error {
	f.Do, f.At = Withhold, AtContent
	if len(bare) == 0 || bare[0] == "at-once" {
		return nil
	}
	if bare[0] != "after-thinking" {
		return fmt.Errorf("refuse takes at-once or after-thinking, not %q", bare[0])
	}
	f.At = AfterThink
	return nil
}

// parseVerb reads the verb and the bare word that may follow it, and gives back the rest.
func parseVerb(f *Fault, words []string) ([]string, error) {
	name := words[0]
	if status, ok := statusWord(name); ok {
		name, f.Status = "<status>", status
	}
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no verb %q", name)
	}
	words = words[1:]
	n := 0
	if verbs[i].bare != "" && len(words) > 0 && !strings.Contains(words[0], "=") && !isTimes(words[0]) {
		n = 1
	}
	if err := verbs[i].set(f, words[:n]); err != nil {
		return nil, err
	}
	return words[n:], nil
}

// parseMark reads one name=value, or xN.
func parseMark(f *Fault, word string) error {
	if isTimes(word) {
		if word == "x*" {
			f.Times = Always
			return nil
		}
		n, err := strconv.Atoi(word[1:])
		f.Times = n
		return err
	}
	name, value, _ := strings.Cut(word, "=")
	i := slices.IndexFunc(marks, func(m mark) bool { return m.name == name })
	if i < 0 {
		return fmt.Errorf("no mark %q", name)
	}
	if err := marks[i].set(f, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func isTimes(word string) bool {
	if word == "x*" {
		return true
	}
	rest, ok := strings.CutPrefix(word, "x")
	n, err := strconv.Atoi(rest)
	return ok && err == nil && n > 0
}

func statusWord(word string) (int, bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil && len(word) == 3 && n >= 200 && n <= 599
}

// check tells what no single mark can see.
func (f Fault) check() error {
	if f.Words != "" && !slices.ContainsFunc(rows, func(r row) bool { return r.name == f.Words || r.vendor == f.Words }) {
		return fmt.Errorf("no words %q", f.Words)
	}
	if f.When.API != "" && !slices.Contains(wire.Protocols, f.When.API) {
		return fmt.Errorf("no API %q; there are %v", f.When.API, wire.Protocols)
	}
	placed := f.where() != "" || f.Do == Withhold || f.Do == Error
	if f.At != "" && !placed {
		return fmt.Errorf("after= wants a verb that happens at a place in the reply")
	}
	if f.Do == Withhold && f.At != AtContent && f.At != AfterThink {
		return fmt.Errorf("refuse happens at-once or after-thinking")
	}
	return nil
}

// split cuts a line at its blanks; double quotes keep blanks together and take Go's escapes.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var b strings.Builder
		for line != "" && line[0] != ' ' && line[0] != '\t' {
			if line[0] != '"' {
				b.WriteByte(line[0])
				line = line[1:]
				continue
			}
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("a quote without its end: %s", line)
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("bad quote %s: %w", quoted, err)
			}
			b.WriteString(text)
			line = line[len(quoted):]
		}
		words = append(words, b.String())
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("nothing in it")
	}
	return words, nil
}

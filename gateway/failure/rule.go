package failure

import (
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
)

// Rule is one row of the failure table.
type Rule struct {
	Name   string // stable: it stands in traces
	When   When
	Then   trace.Kind
	Scope  trace.Scope // how far a rest reaches, ScopeNone = nobody rests
	Narrow *Fact       // where it holds, the rest is the model's alone
	Ends   *Ends       // how the end is found; nil = as the kind's are
	Code   string      // a code for the agent
	Bytes  bool        // the body's bytes are too many, not the conversation's tokens: told as a 413
	Says   string      // what the row is about, for the page of reference
}

// When is what a row asks of a reply: everything that it names must hold.
type When struct {
	Vendors []string // the catalogue's words; none = any vendor
	Status  []int    // any of these
	Codes   []string // any of these said as type, code, status word or reason; lower-case
	Words   *Words   // a phrase of the list in the vendor's own words
	Text    *Words   // the same, but quotes and addresses count
	But     *Words   // none of these in the text
	Is      []*Fact
	Not     []*Fact
}

// Fact is something that a row may ask of a reply and that is no word in it.
type Fact struct {
	Says string
	Is   func(*reply) bool
}

// Ends is a way of its own to find when a rest ends.
type Ends struct {
	Says string
	Read func(*reply) reset
}

const (
	nobody = trace.ScopeNone
	whole  = trace.ScopeWhole
	model  = trace.ScopeModel
)

// match goes from what costs nothing to what costs most.
func (w When) match(r *reply) bool {
	switch {
	case len(w.Vendors) > 0 && !slices.Contains(w.Vendors, r.Vendor),
		len(w.Status) > 0 && !slices.Contains(w.Status, r.status),
		len(w.Codes) > 0 && !r.has(w.Codes...):
		return false
	}
	for _, f := range w.Is {
		if !f.Is(r) {
			return false
		}
	}
	for _, f := range w.Not {
		if f.Is(r) {
			return false
		}
	}
	return (w.Words == nil || w.Words.in(r.prose)) &&
		(w.Text == nil || w.Text.in(r.text)) &&
		(w.But == nil || !w.But.in(r.text))
}

// String is the condition in words.
func (w When) String() string {
	var parts []string
	if len(w.Vendors) > 0 {
		parts = append(parts, "vendor "+strings.Join(w.Vendors, " or "))
	}
	if len(w.Status) > 0 {
		parts = append(parts, statuses(w.Status))
	}
	if len(w.Codes) > 0 {
		parts = append(parts, "code `"+strings.Join(w.Codes, "` or `")+"`")
	}
	if w.Words != nil {
		parts = append(parts, "words of *"+w.Words.Name+"*")
	}
	if w.Text != nil {
		parts = append(parts, "text of *"+w.Text.Name+"*")
	}
	for _, f := range w.Is {
		parts = append(parts, f.Says)
	}
	if w.But != nil {
		parts = append(parts, "no text of *"+w.But.Name+"*")
	}
	for _, f := range w.Not {
		parts = append(parts, "not "+f.Says)
	}
	if len(parts) == 0 {
		return "anything"
	}
	return strings.Join(parts, "; ")
}

func statuses(list []int) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = strconv.Itoa(s)
	}
	return strings.Join(parts, " ")
}

// Lists are the words that the table asks for, each list once, in the order of
// the rows, then those that facts alone ask for.
func Lists() []*Words {
	var all []*Words
	for _, r := range table {
		all = append(all, r.When.Words, r.When.Text, r.When.But)
	}
	all = append(all, overflow, replyLength, pace, shortWindows, longWindow, unserved, verify, moderated,
		plan, moneyGone, moneyWords, usedUp, notOurs, effortWords, anyModel, promptSaid, proxyWords)
	var out []*Words
	for _, w := range all {
		if w != nil && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Rules is the whole table in the order in which it is read. Vendors' rows stand
// before general ones; the last row matches everything.
func Rules() []Rule { return slices.Clone(table) }

var table = slices.Concat(
	transportRules,
	pageRules,
	refusalRules,
	zhipuRules,
	anthropicRules,
	tooLongRules,
	openaiRules,
	googleRules,
	azureRules,
	bedrockRules,
	openrouterRules,
	moonshotRules,
	xaiRules,
	copilotRules,
	relayRules,
	otherRules,
	requestRules,
	moneyRules,
	limitRules,
	standingRules,
	statusRules,
)

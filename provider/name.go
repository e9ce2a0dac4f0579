package provider

import (
	"fmt"
	"slices"
	"strings"
)

// Efforts are the levels of reasoning that a name may carry, weakest first.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"}

// longMark asks for a model's long context; agents write it, vendors do not list it.
const longMark = "[1m]"

// Unmarked returns the model's id without the mark that asks for its long context.
func Unmarked(model string) string {
	if n := len(model) - len(longMark); n > 0 && strings.EqualFold(model[n:], longMark) {
		return model[:n]
	}
	return model
}

// Slug returns the name under which equal models of different vendors meet: lower case,
// without vendor prefix and trailing date, version dots as dashes. What follows a colon stays.
func Slug(model string) string {
	s := strings.ToLower(Unmarked(strings.TrimSpace(model)))
	base, variant := s, ""
	if i := strings.IndexByte(s, ':'); i >= 0 {
		base, variant = s[:i], s[i:]
	}
	base = base[strings.LastIndexByte(base, '/')+1:]
	return undate(undot(base)) + variant
}

// undot writes a dot between two digits as a dash.
func undot(s string) string {
	if strings.IndexByte(s, '.') < 0 {
		return s
	}
	b := []byte(s)
	for i := 1; i+1 < len(b); i++ {
		if b[i] == '.' && isDigit(b[i-1]) && isDigit(b[i+1]) {
			b[i] = '-'
		}
	}
	return string(b)
}

// undate drops a trailing -20YYMMDD or -20YY-MM-DD.
func undate(s string) string {
	for _, form := range []string{"-20dddddd", "-20dd-dd-dd"} {
		if n := len(s) - len(form); n > 0 && shaped(s[n:], form) {
			return s[:n]
		}
	}
	return s
}

// shaped reports whether s is form with a digit for every d.
func shaped(s, form string) bool {
	for i := range len(form) {
		if form[i] == 'd' && isDigit(s[i]) {
			continue
		}
		if form[i] != s[i] {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// ParseRef reads `provider[@who]/model[:effort]` or `group/<id>` as a file writes it.
// It does not know whether what it names exists.
func ParseRef(s string) (Ref, error) {
	s = strings.TrimSpace(s)
	head, model, found := strings.Cut(s, "/")
	if !found {
		return Ref{}, fmt.Errorf("%q is not provider/model or group/<id>", s)
	}
	if head == "" || model == "" {
		return Ref{}, fmt.Errorf("%q lacks the part on one side of its /", s)
	}
	if head == groupWord {
		return Ref{Group: model}, nil
	}
	r := Ref{Model: model}
	var tied bool
	r.Provider, r.Who, tied = strings.Cut(head, "@")
	if r.Provider == "" || tied && r.Who == "" {
		return Ref{}, fmt.Errorf("%q lacks a name beside its @", s)
	}
	if i := strings.LastIndexByte(model, ':'); i > 0 {
		if level := strings.ToLower(model[i+1:]); slices.Contains(Efforts, level) {
			r.Model, r.Effort = model[:i], level
		}
	}
	return r, nil
}

// String writes the reference as a file does.
func (r Ref) String() string {
	if r.Group != "" {
		return groupWord + "/" + r.Group
	}
	var b strings.Builder
	b.WriteString(r.Provider)
	if r.Who != "" {
		b.WriteString("@" + r.Who)
	}
	b.WriteString("/" + r.Model)
	if r.Effort != "" {
		b.WriteString(":" + r.Effort)
	}
	return b.String()
}

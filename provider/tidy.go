package provider

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What a vendor can tell at all. It is kept on disk, weighed with each request and shown to
// people: more than that is a mistake, or meant to do harm.
const (
	mostWindows = 32
	mostName    = 60
	mostWords   = 160
	mostAmount  = 1e12
	mostResets  = 1000
	farthest    = 400 * 24 * time.Hour // from now to a renewal
	longest     = 400 * 24 * time.Hour // a window
)

// Tidy returns a reading within what a vendor can tell. One that is so already costs nothing.
func (r Reading) Tidy(at time.Time) Reading {
	r.Windows = TidyWindows(r.Windows, at)
	r.Plan, r.Balance = tidyText(r.Plan, mostName), tidyText(r.Balance, mostWords)
	if c := r.Credits; c != nil {
		own := *c
		own.Balance = tidyText(c.Balance, mostName)
		r.Credits = &own
	}
	if in := r.Resets; in != nil {
		own := Resets{Count: max(0, min(mostResets, in.Count)), Until: in.Until}
		if own.Until.Sub(at) > 10*farthest {
			own.Until = time.Time{}
		}
		r.Resets = &own
	}
	return r
}

// TidyWindows does so with windows. Those that were given stay as they are.
func TidyWindows(ws []Window, at time.Time) []Window {
	for i := range ws {
		if i >= mostWindows || ws[i].tidy(at) != ws[i] { // what is no number equals nothing
			return tidied(ws, at)
		}
	}
	return ws
}

func tidied(ws []Window, at time.Time) []Window {
	all := make([]Window, 0, min(len(ws), mostWindows))
	for _, w := range ws {
		if math.IsNaN(w.Used) || len(all) == mostWindows {
			continue
		}
		all = append(all, w.tidy(at))
	}
	return all
}

func (w Window) tidy(at time.Time) Window {
	w.Used = max(0, min(100, w.Used))
	if w.Resets.Sub(at) > farthest {
		w.Resets = time.Time{}
	}
	if w.Span < 0 || w.Span > longest {
		w.Span = 0
	}
	if !(w.Amount >= 0 && w.Amount <= mostAmount && w.Limit >= 0 && w.Limit <= mostAmount) {
		w.Amount, w.Limit = 0, 0
	}
	w.Name, w.Model, w.Unit = tidyText(w.Name, mostName), tidyText(w.Model, mostName), tidyText(w.Unit, mostName)
	if w.Name == "" {
		w.Name = SpanName(w.Span)
	}
	return w
}

// tidyText keeps a text to one line of at most so many signs, and none that moves a cursor.
func tidyText(s string, most int) string {
	if len(s) <= most && plainText(s) {
		return s
	}
	if len(s) > utf8.UTFMax*most {
		s = s[:utf8.UTFMax*most]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most-1]) + "…"
	}
	return strings.TrimSpace(s)
}

// plainText says whether a text needs no look at its signs.
func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' && s[i] < utf8.RuneSelf {
			return false
		}
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
		}
	}
	return true
}

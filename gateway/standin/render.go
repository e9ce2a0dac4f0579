package standin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String is the step in the script language: for a step that was read from it, one that reads as the same.
func (f Fault) String() string {
	words := []string{f.verb()}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+quote(value))
		}
	}
	add("words", f.Words)
	add("retry-after", wait(f.Retry))
	add("resets", wait(f.Resets))
	add("say", f.Body)
	add("type", f.Type)
	add("title", f.Title)
	for _, name := range slices.Sorted(maps.Keys(f.Header)) {
		for _, v := range f.Header[name] {
			add("header", name+":"+v)
		}
	}
	add("after", f.where())
	add("form", f.Form)
	words = append(words, f.answerMarks()...)
	words = append(words, f.lineMarks()...)
	add("model", f.When.Model)
	add("api", string(f.When.API))
	add("op", string(f.When.Op))
	add("has", f.When.Has)
	add("asked", f.When.Kind)
	switch {
	case f.Times == Always:
		words = append(words, "x*")
	case f.Times > 1:
		words = append(words, "x"+itoa(f.Times))
	}
	return strings.Join(words, " ")
}

// verb is what the step begins with.
func (f Fault) verb() string {
	switch f.Do {
	case Answer:
		return "ok"
	case Refuse:
		status := f.Status
		if status == 0 {
			status = plainStatus[f.Why]
		}
		return strings.TrimSpace(itoa(status) + " " + string(f.Why))
	case Page, Empty:
		return string(f.Do) + " " + itoa(f.Status)
	case Raw:
		return "body " + itoa(f.Status)
	case Error:
		if f.At == AtHeaders {
			return "error-first " + string(f.Why)
		}
		return "error " + string(f.Why)
	case Silence:
		if f.Pause == UntilLeft {
			return "silence forever"
		}
		return "silence " + f.Pause.String()
	case Withhold:
		if f.At == AfterThink {
			return "refuse after-thinking"
		}
		return "refuse"
	case Cut, Fin, Reset, Drop:
	}
	return string(f.Do)
}

// where is the step's place, "" for steps that have none.
func (f Fault) where() string {
	switch f.Do {
	case Error, Cut, Fin, Reset, Silence:
		if f.At == AfterPieces {
			return itoa(f.After)
		}
		if f.Do == Error && f.At == AtHeaders {
			return ""
		}
		return string(f.At)
	case Answer, Refuse, Page, Empty, Raw, Drop, Withhold:
	}
	return ""
}

func (f Fault) answerMarks() []string {
	var words []string
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+"="+quote(value))
		}
	}
	add("text", f.Say)
	add("think", f.Think)
	for _, c := range f.Calls {
		add("call", strings.TrimSuffix(c.Name+"="+c.Args, "="))
	}
	add("finish", f.Finish)
	if f.Events > 0 {
		add("events", itoa(f.Events))
	}
	if f.Huge > 0 {
		add("huge", itoa(f.Huge))
	}
	if u := f.Usage; u != nil {
		add("usage", fmt.Sprintf("%d/%d/%d", u.Input, u.Cached, u.Output))
	}
	var windows []string
	for _, w := range f.Windows {
		windows = append(windows, w.String())
	}
	add("windows", strings.Join(windows, ","))
	if f.Pace != nil {
		add("first", f.Pace.First.String())
		add("gap", f.Pace.Gap.String())
	}
	return words
}

func (f Fault) lineMarks() []string {
	var words []string
	for _, w := range []struct {
		on   bool
		name string
	}{{f.Line.CRLF, "crlf"}, {f.Line.Tight, "tight"}, {f.Line.Gzip, "gzip"}, {f.Line.Whole, "whole"}} {
		if w.on {
			words = append(words, w.name)
		}
	}
	if f.Line.Comment != "" {
		words = append(words, "comment="+quote(f.Line.Comment))
	}
	if f.Line.Split > 0 {
		split := "split=" + itoa(f.Line.Split)
		if f.Line.Pause > 0 {
			split += "/" + f.Line.Pause.String()
		}
		words = append(words, split)
	}
	return words
}

// String is the window in the script language.
func (w Window) String() string {
	s := w.Name + ":" + strconv.FormatFloat(w.Used, 'f', -1, 64) + "%"
	if w.Resets > 0 {
		s += "/" + w.Resets.String()
	}
	if w.Grow > 0 {
		s += "+" + strconv.FormatFloat(w.Grow, 'f', -1, 64)
	}
	return s
}

// String is the span in the script language, "" for none.
func (s Span) String() string {
	switch {
	case s.Min == 0 && s.Max == 0:
		return ""
	case s.Max <= s.Min:
		return s.Min.String()
	}
	return s.Min.String() + ".." + s.Max.String()
}

func wait(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// quote puts quotes around a value that needs them.
func quote(s string) string {
	if strings.ContainsAny(s, " \t\n\"\\") {
		return strconv.Quote(s)
	}
	return s
}

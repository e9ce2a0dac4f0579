package standin

import (
	"bytes"
	"fmt"
	"strings"
)

// script is the steps of one key with what is left of each. Its owner locks it.
type script struct {
	faults []Fault
	left   []int
}

func newScript(faults []Fault) *script {
	s := &script{faults: faults, left: make([]int, len(faults))}
	for i, f := range faults {
		s.left[i] = f.Times
		if f.Times == 0 {
			s.left[i] = 1
		}
	}
	return s
}

// take gives the first step that has requests left and fits, and uses one of them up.
func (s *script) take(a *ask) (Fault, bool) {
	if s == nil {
		return Fault{}, false
	}
	for i, f := range s.faults {
		if s.left[i] == 0 || !f.When.fits(a) {
			continue
		}
		if s.left[i] > 0 {
			s.left[i]--
		}
		return f, true
	}
	return Fault{}, false
}

// fits tells whether a request is one that the step is for.
func (w When) fits(a *ask) bool {
	op := w.Op
	if op == "" {
		op = OpCreate
	}
	switch {
	case op != OpAny && op != a.op:
	case w.API != "" && w.API != a.api:
	case w.Model != "" && w.Model != a.model:
	case w.Kind == "stream" && !a.stream, w.Kind == "whole" && a.stream:
	case w.Has != "" && !bytes.Contains(a.body, []byte(w.Has)):
	default:
		return true
	}
	return false
}

// step takes the next step for a key: its own, else one for any key.
func (v *Vendor) step(key string, a *ask) (Fault, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f, ok := v.scripts[key].take(a); ok {
		return f, true
	}
	return v.scripts[AnyKey].take(a)
}

// Script is a script file that was read: the steps and the windows of each key.
type Script struct {
	Steps   map[string][]Fault
	Windows map[string][]Window
}

// ParseScript reads a script file in txtar's form: each part "-- key NAME --" holds
// the steps of one key, "-- key * --" those of all others, and a line "windows …"
// in it the key's allowance windows.
func ParseScript(file []byte) (Script, error) {
	s := Script{Steps: map[string][]Fault{}, Windows: map[string][]Window{}}
	for _, part := range parts(file) {
		key, ok := strings.CutPrefix(part.name, "key ")
		if !ok {
			return Script{}, fmt.Errorf("part %q is no key", part.name)
		}
		if err := s.add(strings.TrimSpace(key), part.lines); err != nil {
			return Script{}, fmt.Errorf("key %s: %w", key, err)
		}
	}
	return s, nil
}

// add reads the lines of one key.
func (s Script) add(key string, lines []string) error {
	var steps []string
	for _, line := range lines {
		list, ok := strings.CutPrefix(strings.TrimSpace(line), "windows ")
		if !ok {
			steps = append(steps, line)
			continue
		}
		windows, err := ParseWindows(list)
		if err != nil {
			return err
		}
		s.Windows[key] = append(s.Windows[key], windows...)
	}
	faults, err := Steps(steps...)
	if err != nil {
		return err
	}
	s.Steps[key] = append(s.Steps[key], faults...)
	return nil
}

// part is one file of a txtar archive: its name and its lines.
type part struct {
	name  string
	lines []string
}

// parts reads a txtar archive; the comment before its first file is left out.
func parts(file []byte) []part {
	var all []part
	for line := range strings.Lines(string(file)) {
		line = strings.TrimRight(line, "\r\n")
		name, ok := strings.CutPrefix(line, "-- ")
		if n, end := strings.CutSuffix(name, " --"); ok && end {
			all = append(all, part{name: strings.TrimSpace(n)})
			continue
		}
		if len(all) > 0 {
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

package redact

import (
	"strconv"
	"strings"
)

// What a stream says more than its vendor did has to be right by the rules of its API: a call's name stands in
// its first chunk alone, and the numbers of events grow by one.

// chunk is a chunk that adds what is held of a text, and tells nothing once more but which reply it is of.
func (r *spoken) chunk() string {
	said := `"delta":{"` + r.field + `":"` + r.held + `"}`
	switch r.field {
	case "text":
		said = `"text":"` + r.held + `"`
	case "function_call":
		said = `"delta":{"function_call":{"arguments":"` + r.held + `"}}`
	case "arguments", "input":
		of := "custom"
		if r.nested {
			of = "function"
		}
		said = `"delta":{"tool_calls":[{"index":` + strconv.Itoa(r.call) + `,"` + of + `":{"` + r.field + `":"` + r.held + `"}}]}`
	}
	var head strings.Builder
	w := &walk{s: r.event}
	w.object(func(key string) {
		switch key {
		case "id", "object", "created", "model", "provider", "system_fingerprint", "service_tier":
			w.next()
			from := w.i
			w.skip()
			head.WriteString(`"` + key + `":` + w.s[from:w.i] + ",")
		}
	})
	return "{" + head.String() + `"choices":[{"index":` + r.group + "," + said + `,"finish_reason":null}]}`
}

// numbered gives the events that are sent before data the numbers behind that of the event before, and data the
// one that is behind theirs.
func (s *Stream) numbered(before []Event, data []byte) []byte {
	if s.api != "responses" || len(before) == 0 && len(s.open) == 0 && s.ahead == 0 {
		return data
	}
	text := string(data)
	at, has := sequence(text)
	if has {
		s.next = atoi(at.of(text)) + s.ahead
	}
	for i := range before {
		b := string(before[i].Data)
		if old, ok := sequence(b); ok {
			before[i].Data = []byte(b[:old.from] + strconv.Itoa(s.next) + b[old.to:])
			s.next++
			s.ahead++
		}
	}
	if !has {
		return data
	}
	n := s.next
	s.next++
	if s.ahead == 0 {
		return data
	}
	return []byte(text[:at.from] + strconv.Itoa(n) + text[at.to:])
}

// sequence is where the number of an event stands.
func sequence(text string) (at part, ok bool) {
	w := &walk{s: text}
	w.object(func(key string) {
		if key != "sequence_number" {
			return
		}
		w.next()
		from := w.i
		if w.number() >= 0 {
			at, ok = part{from, w.i}, true
		}
	})
	return at, ok && !w.bad
}

// atoi is a number that has been read as one before.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

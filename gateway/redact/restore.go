package redact

import (
	"bytes"
	"strings"
)

// inJSON are the fields of replies whose strings are JSON themselves: what is put back into
// them is written as JSON has it once more.
func inJSON(key string) bool { return key == "arguments" || key == "partial_json" }

// written is a value as it stands in a JSON string, or in JSON inside of one.
func written(value string, nested bool) string {
	if nested {
		value = quotedInner(value)
	}
	return quotedInner(value)
}

// Restore turns the placeholders of a whole reply back. Where there are none the reply itself comes back.
func (v *Vault) Restore(reply []byte) []byte {
	if v == nil || !holds(reply) {
		return reply
	}
	s := string(reply)
	if first := strings.TrimLeft(s, " \t\r\n\ufeff"); first == "" || first[0] != '{' && first[0] != '[' {
		return []byte(v.text(s, func(value string) string { return value }))
	}
	return v.rewrite(s, nil)
}

// RestorePart is Restore for pieces of a reply that come one after the other: held is what the
// one before left, and what is left now is returned with what can go on.
func (v *Vault) RestorePart(held, more []byte, isJSON bool) (out, left []byte) {
	s := string(held) + string(more)
	cut := v.begun(s)
	turn := func(value string) string { return value }
	if isJSON {
		turn = quotedInner
	}
	return []byte(v.text(s[:cut], turn)), []byte(s[cut:])
}

func holds(b []byte) bool { return bytes.Contains(b, []byte(Prefix)) }

// text turns the placeholders of a text back.
func (v *Vault) text(s string, turn func(value string) string) string {
	var out strings.Builder
	at := 0
	for from := 0; ; {
		n := strings.Index(s[from:], Prefix)
		if n < 0 {
			break
		}
		from += n
		value, size := v.placed(s[from:])
		if size == 0 {
			from += len(Prefix)
			continue
		}
		out.WriteString(s[at:from])
		out.WriteString(turn(value))
		from += size
		at = from
	}
	if at == 0 {
		return s
	}
	out.WriteString(s[at:])
	return out.String()
}

// rewrite turns back what stands in the strings of a JSON text. What others make of the slots
// stands in their place.
func (v *Vault) rewrite(s string, slots []slot) []byte {
	out := make([]byte, 0, len(s)+64)
	w := &walk{s: s}
	at, key := 0, ""
	for {
		n := strings.IndexByte(s[w.i:], '"')
		if n < 0 {
			break
		}
		w.i += n
		p := w.str()
		if w.bad { // half a string: what there is of it
			p = part{w.i, len(s)}
			out = append(out, s[at:p.from]...)
			return append(out, v.text(p.of(s), quotedInner)...)
		}
		raw := p.of(s)
		isKey := w.next() == ':'
		with, changed := raw, false
		if k := slotAt(slots, p.from); k >= 0 && !isKey {
			with, changed = slots[k].with, true
		} else if strings.Contains(raw, Prefix) {
			nested := !isKey && inJSON(key)
			with, changed = v.text(raw, func(value string) string { return written(value, nested) }), true
		}
		if isKey {
			key = raw
		}
		if changed {
			out = append(append(out, s[at:p.from]...), with...)
			at = p.to
		}
	}
	return append(out, s[at:]...)
}

func slotAt(slots []slot, from int) int {
	for i := range slots {
		if slots[i].from == from {
			return i
		}
	}
	return -1
}

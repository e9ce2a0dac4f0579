package redact

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	knownLeast = 8   // shorter values are words, as the "ollama" that stands for no key
	knownMost  = 512 // values kept; the oldest leave, as tokens that are renewed every hour
	// A part of twelve letters holds a whole gram at one of every step places.
	gram = 6
	step = enough - gram + 1
)

// Masker hides, besides what Mask does, secrets whose values it knows. The zero value is
// ready; all methods may be called by several goroutines at once.
type Masker struct {
	mu    sync.Mutex // of those who add
	known atomic.Pointer[known]
}

// New returns a Masker that knows no values yet.
func New() *Masker { return &Masker{} }

// known is an index over values; it is never written again once it is stored.
type known struct {
	values []string // as given, the oldest first
	forms  []string // and as they stand in JSON and URLs
	grams  map[[gram]byte][]place
	begins [1 << 16]bool // by the first two letters of the grams, to pass over the others fast
	short  []string      // of less than enough letters: hidden as a whole
}

// place is where a gram stands in a form.
type place struct{ form, at int32 }

// Known adds values to be hidden. Very short ones are left out: they are words.
func (m *Masker) Known(values ...string) {
	if k := m.known.Load(); k != nil && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(k.values, v) }) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var old []string
	if k := m.known.Load(); k != nil {
		old = k.values
	}
	next := slices.Clone(old)
	for _, v := range values {
		if len(v) >= knownLeast && !slices.Contains(next, v) {
			next = append(next, v)
		}
	}
	if len(next) > knownMost {
		next = next[len(next)-knownMost:]
	}
	m.known.Store(index(next))
}

func index(values []string) *known {
	k := &known{values: values, grams: map[[gram]byte][]place{}}
	for _, v := range values {
		for _, form := range forms(v) {
			k.add(form)
		}
	}
	return k
}

// forms are the ways in which a value is written in JSON and URLs.
func forms(v string) []string {
	out := []string{v}
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(url.QueryEscape(v))
	add(url.PathEscape(v))
	if b, err := json.Marshal(v); err == nil {
		add(string(b[1 : len(b)-1]))
	}
	return out
}

func (k *known) add(form string) {
	if len(form) < enough {
		k.short = append(k.short, form)
		return
	}
	n := int32(len(k.forms))
	k.forms = append(k.forms, form)
	for i := 0; i+gram <= len(form); i += step {
		g := [gram]byte([]byte(form[i : i+gram]))
		k.grams[g] = append(k.grams[g], place{n, int32(i)})
		k.begins[pair(form[i:])] = true
	}
}

func pair(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

// Mask hides known values, every part of them from twelve letters on, and then what looks
// like a secret.
func (m *Masker) Mask(s string) string {
	if m == nil {
		return Mask(s)
	}
	if k := m.known.Load(); k != nil {
		s = k.hide(s)
	}
	return Mask(s)
}

// MaskBytes is Mask for bytes; they are returned themselves when nothing is hidden.
func (m *Masker) MaskBytes(b []byte) []byte {
	s := string(b)
	out := m.Mask(s)
	if len(out) == len(s) && out == s {
		return b
	}
	return []byte(out)
}

func (k *known) hide(s string) string {
	var out strings.Builder
	done := 0
	for i := 0; i+gram <= len(s); {
		if !k.begins[pair(s[i:])] {
			i++
			continue
		}
		from, to := k.part(s, i, done, false)
		if from == to {
			i++
			continue
		}
		out.WriteString(s[done:from])
		out.WriteString(masked(s[from:to]))
		done, i = to, to
	}
	if done > 0 {
		out.WriteString(s[done:])
		s = out.String()
	}
	for _, v := range k.short {
		s = strings.ReplaceAll(s, v, masked(v))
	}
	return s
}

// part finds the longest part of a known value around the gram at i, not before low; empty when there is
// none of twelve letters, or, where it has to be sure, of half the value: keys of a vendor begin alike.
func (k *known) part(s string, i, low int, sure bool) (from, to int) {
	places := k.grams[[gram]byte([]byte(s[i:i+gram]))]
	from, to = i, i
	for _, p := range places {
		form, at := k.forms[p.form], int(p.at)
		a, z := i, i+gram
		for fa := at; a > low && fa > 0 && s[a-1] == form[fa-1]; fa-- {
			a--
		}
		for fz := at + gram; z < len(s) && fz < len(form) && s[z] == form[fz]; fz++ {
			z++
		}
		if z-a >= enough && (!sure || 2*(z-a) >= len(form)) {
			from, to = min(from, a), max(to, z)
		}
	}
	return from, to
}

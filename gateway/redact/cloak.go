package redact

import (
	"slices"
	"sort"
	"strings"
)

// Cloak masks what agents send: it puts placeholders in the place of what its rules find. It
// is safe for concurrent use.
type Cloak struct {
	rules Rules
	key   []byte
	begin [256][]string // the words by their first byte
}

// NewCloak makes a Cloak whose placeholders depend on the key, nil where the rules look for nothing.
func NewCloak(rules Rules, key []byte) *Cloak {
	if !rules.any() {
		return nil
	}
	return &Cloak{rules: rules, key: slices.Clone(key), begin: byBegin(rules.Words)}
}

// Mask masks the JSON body of a request. What it is not about stays byte for byte; where nothing is
// found the body itself comes back, and no vault.
func (c *Cloak) Mask(body []byte) ([]byte, *Vault) {
	if c == nil {
		return body, nil
	}
	b := readBody(string(body))
	v := c.vault()
	n := b.find(c)
	if n == 0 {
		return body, nil
	}
	b.fill(v)
	return b.write(v), v
}

// MaskText masks a text that comes to the request later, with what is known of it.
func (c *Cloak) MaskText(v *Vault, s string) (string, *Vault) {
	if c == nil {
		return s, v
	}
	finds := c.find(s, nil)
	if v != nil {
		finds = v.index(false).find(s, finds)
	}
	if len(finds) == 0 {
		return s, v
	}
	if v == nil {
		v = c.vault()
	}
	var out strings.Builder
	at := 0
	for _, f := range merged(finds) {
		out.WriteString(s[at:f.from])
		out.WriteString(v.put(f.of(s), f.kind))
		at = f.to
	}
	return out.String() + s[at:], v
}

func (c *Cloak) vault() *Vault {
	return &Vault{cloak: c, by: map[string]string{}, back: map[string]string{}}
}

// found is an index over what was found in a request: it stands masked also where nothing tells it
// from other words, as in what a model said of it.
type found struct {
	by     map[[4]byte][]entry // in order
	begins [256]bool
	short  []entry
}

// entry is a value that is looked for.
type entry struct {
	value string
	kind  Kind
}

// everywhere is how long a secret must be to be one wherever it stands.
const everywhere = 8

// index has the values that are themselves wherever they stand. all adds those that are found by what
// stands beside them, or by the rules once more: in what a vendor signed nothing else is looked for.
func (v *Vault) index(all bool) *found {
	x := &found{by: map[[4]byte][]entry{}}
	for value, p := range v.by {
		if kind := kindOf(p); all || kind == Secret && len(value) >= everywhere {
			x.add(entry{value, kind})
		}
	}
	for _, entries := range x.by {
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.value, b.value) })
	}
	return x
}

func kindOf(placeholder string) Kind {
	for k, name := range kinds {
		if strings.HasPrefix(placeholder[len(Prefix):], name+"_") {
			return Kind(k)
		}
	}
	return Secret
}

func (x *found) add(e entry) {
	if len(e.value) < 4 {
		x.short = append(x.short, e)
		return
	}
	k := [4]byte([]byte(e.value[:4]))
	x.by[k] = append(x.by[k], e)
	x.begins[k[0]] = true
}

// longestAt is the longest of the entries that stands at i. A log may hold thousands of tokens that all begin in
// the same way, so that those in question are looked up.
func longestAt(entries []entry, s string, i int) (entry, bool) {
	for at := s[i:]; len(entries) > 0; {
		n := sort.Search(len(entries), func(n int) bool { return entries[n].value > at })
		if n == 0 {
			break
		}
		e := entries[n-1]
		same := 0
		for same < min(len(e.value), len(at)) && e.value[same] == at[same] {
			same++
		}
		if same == len(e.value) && (same >= 2*everywhere || alone(s, i, i+same)) {
			return e, true
		}
		entries, at = entries[:n-1], at[:same] // a shorter one begins as both do
	}
	return entry{}, false
}

// find notes the values in a text.
func (x *found) find(s string, finds []find) []find {
	for i := 0; i+4 <= len(s); i++ {
		if !x.begins[s[i]] {
			continue
		}
		if e, ok := longestAt(x.by[[4]byte{s[i], s[i+1], s[i+2], s[i+3]}], s, i); ok {
			finds = append(finds, find{part{i, i + len(e.value)}, e.kind})
		}
	}
	for _, e := range x.short {
		finds = appearances(s, e, finds)
	}
	return finds
}

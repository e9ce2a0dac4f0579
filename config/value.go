package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text reads a string.
func text(d *decoder, n *node) (string, bool) { return n.text, d.is(n, isText) }

// truth reads true or false.
func truth(d *decoder, n *node) (bool, bool) { return n.truth, d.is(n, isTruth) }

// secret reads a string that is never shown.
func secret(d *decoder, n *node) (Secret, bool) {
	d.hide(n)
	s, ok := filled(d, n)
	return Secret(s), ok
}

// filled reads a string that holds something.
func filled(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	if strings.TrimSpace(n.text) == "" {
		d.bad(n, "is empty", "")
		return "", false
	}
	return n.text, true
}

// ptr reads a value that may be absent.
func ptr[V any](how reader[V]) reader[*V] {
	return func(d *decoder, n *node) (*V, bool) {
		v, ok := how(d, n)
		return &v, ok
	}
}

// whole reads a whole number from least to most.
func whole(least, most int) reader[int] {
	return func(d *decoder, n *node) (int, bool) {
		if !d.is(n, isWhole) {
			return 0, false
		}
		if n.whole >= int64(least) && n.whole <= int64(most) {
			return int(n.whole), true
		}
		if most == math.MaxInt32 {
			d.bad(n, fmt.Sprintf("must be %d or more", least), "")
		} else {
			d.bad(n, fmt.Sprintf("must be from %d to %d", least, most), "")
		}
		return 0, false
	}
}

// atLeast reads a whole number that no rule bounds above.
func atLeast(least int) reader[int] { return whole(least, math.MaxInt32) }

// amount reads a number that is not negative.
func amount(d *decoder, n *node) (float64, bool) {
	if n.kind != isWhole && !d.is(n, isReal) {
		return 0, false
	}
	if !(n.real >= 0) || math.IsInf(n.real, 1) {
		d.bad(n, "must be 0 or more", "")
		return 0, false
	}
	return n.real, true
}

// list reads a list whose items are read by how.
func list[V any](how reader[V]) reader[[]V] {
	return func(d *decoder, n *node) ([]V, bool) {
		if !d.is(n, isList) {
			d.hide(n)
			return nil, false
		}
		var all []V
		for _, k := range n.kids {
			if v, ok := how(d, k); ok {
				all = append(all, v)
			}
		}
		return all, true
	}
}

// oneOf reads one of words.
func oneOf(words ...string) reader[string] {
	return func(d *decoder, n *node) (string, bool) {
		if !d.is(n, isText) {
			return "", false
		}
		if slices.Contains(words, n.text) {
			return n.text, true
		}
		hint := DidYouMean(n.text, words)
		if hint == "" {
			hint = "write one of " + strings.Join(quoted(words), ", ")
		}
		d.bad(n, "does not take "+strconv.Quote(n.text), hint)
		return "", false
	}
}

// lower reads a word by how, whatever the case it is written in.
func lower(how reader[string]) reader[string] {
	return func(d *decoder, n *node) (string, bool) {
		small := *n
		small.text = strings.ToLower(n.text)
		return how(d, &small)
	}
}

// some reads a list of different values.
func some(how reader[string]) reader[[]string] {
	return func(d *decoder, n *node) ([]string, bool) {
		if !d.is(n, isList) {
			return nil, false
		}
		var all []string
		for _, k := range n.kids {
			v, ok := how(d, k)
			switch {
			case !ok:
			case slices.Contains(all, v):
				d.wrong(k.at, strconv.Quote(v)+" stands twice in "+n.name, "")
			default:
				all = append(all, v)
			}
		}
		return all, true
	}
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = strconv.Quote(w)
	}
	return all
}

// duration reads "90s" or seconds, at most most.
func duration(most time.Duration) reader[time.Duration] {
	return func(d *decoder, n *node) (time.Duration, bool) {
		var v time.Duration
		switch n.kind {
		case isWhole, isReal:
			if !(n.real >= 0 && n.real <= most.Seconds()) {
				v = -1
				break
			}
			v = time.Duration(n.real * float64(time.Second))
		case isText:
			var err error
			if v, err = time.ParseDuration(n.text); err != nil {
				d.bad(n, "is not a duration", `write "90s", "5m", "1h30m", or seconds without quotes`)
				return 0, false
			}
		case isTable, isList, isTruth, isDate:
			d.must(n, `a duration such as "90s", or seconds`)
			return 0, false
		}
		if v < 0 || v > most {
			d.bad(n, "must be from 0 to "+most.String(), "")
			return 0, false
		}
		return v, true
	}
}

// sizes are the units of a size. They count in 1024s, with and without an i.
var sizes = []struct {
	unit  string
	bytes int64
}{{"kib", 1 << 10}, {"kb", 1 << 10}, {"k", 1 << 10}, {"mib", 1 << 20}, {"mb", 1 << 20}, {"m", 1 << 20}, {"gib", 1 << 30}, {"gb", 1 << 30}, {"g", 1 << 30}, {"b", 1}}

// size reads "64MB" or bytes.
func size(least, most int64) reader[int64] {
	return func(d *decoder, n *node) (int64, bool) {
		v := float64(n.whole)
		switch n.kind {
		case isWhole:
		case isText:
			var ok bool
			if v, ok = parseSize(n.text); !ok {
				d.bad(n, "is not a size", `write "64MB", "512KB", "1GB", or bytes without quotes`)
				return 0, false
			}
		case isTable, isList, isReal, isTruth, isDate:
			d.must(n, `a size such as "64MB", or bytes`)
			return 0, false
		}
		if !(v >= float64(least) && v <= float64(most)) {
			d.bad(n, fmt.Sprintf("must be from %s to %s", sizeWords(least), sizeWords(most)), "")
			return 0, false
		}
		return int64(v), true
	}
}

func parseSize(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	times := int64(1)
	for _, u := range sizes {
		if number, ok := strings.CutSuffix(s, u.unit); ok {
			s, times = strings.TrimSpace(number), u.bytes
			break
		}
	}
	if strings.Trim(s, digits+".") != "" {
		return 0, false // no signs, exponents, infinities
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * float64(times), err == nil
}

func sizeWords(bytes int64) string {
	if bytes >= 1<<30 {
		return strconv.FormatInt(bytes>>30, 10) + "GB"
	}
	return strconv.FormatInt(bytes>>10, 10) + "KB"
}

// address reads a listen address.
func address(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	a, err := Address(n.text)
	if err != nil {
		d.bad(n, "is not an address to listen on: "+err.Error(), `write "`+DefaultListen+`"`)
		return "", false
	}
	return a, true
}

// theme reads a theme's name, or one for each background.
func theme(d *decoder, n *node) (Theme, bool) {
	switch n.kind {
	case isText:
		name, ok := filled(d, n)
		return Theme{Name: name}, ok
	case isTable:
		var t Theme
		if !fill(d, n, themeFields, &t) {
			return Theme{}, false
		}
		for _, f := range themeFields {
			if n.kid(f.key) == nil {
				d.bad(n, "names no theme for the "+f.key+" background", `write { dark = "…", light = "…" }`)
			}
		}
		return t, true
	case isList, isWhole, isReal, isTruth, isDate:
	}
	d.must(n, `a theme's name or { dark = "…", light = "…" }`)
	return Theme{}, false
}

// bindings reads one key or several.
func bindings(d *decoder, n *node) ([]string, bool) {
	if n.kind == isText {
		s, ok := filled(d, n)
		return []string{s}, ok
	}
	if n.kind != isList {
		d.must(n, "a key's name or a list of them")
		return nil, false
	}
	return some(filled)(d, n)
}

package config

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// field is one key of one table: how it is written, what it means, how it is read. The tables of fields are
// the schema; the reference page and the warning of what is not carried out are made from them too.
type field[T any] struct {
	key    string
	takes  string // what is written, for people
	def    string // what holds without it
	means  string
	read   func(d *decoder, n *node, to *T)
	value  func(from *T) any // what was read
	unmet  bool              // accepted, not carried out in this version
	served []any             // values of an unmet key that are what happens anyway
}

// reader reads one value, and reports what is wrong with it.
type reader[V any] func(d *decoder, n *node) (V, bool)

// row makes a field that is read by how into where.
func row[T, V any](key string, where func(*T) *V, how reader[V], words ...string) field[T] {
	f := field[T]{key: key, takes: words[0], def: words[1], means: words[2]}
	f.read = func(d *decoder, n *node, to *T) {
		if v, ok := how(d, n); ok {
			*where(to) = v
		}
	}
	f.value = func(from *T) any { return *where(from) }
	return f
}

// later marks a field as not carried out in this version, apart from the values served.
func (f field[T]) later(served ...any) field[T] {
	f.unmet, f.served = true, served
	return f
}

// unserved says whether from uses f in a way that is not carried out.
func (f field[T]) unserved(from *T) bool {
	if !f.unmet {
		return false
	}
	v := reflect.Indirect(reflect.ValueOf(f.value(from)))
	if !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return false
	}
	for _, s := range f.served {
		if v.Interface() == s {
			return false
		}
	}
	return true
}

// keys returns the names of fields.
func keys[T any](fields []field[T]) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.key
	}
	return all
}

// decoder reads one file's values into its config and collects what is wrong.
type decoder struct {
	c        *Config
	problems []complaint
	hidden   []span            // what must not be shown
	mentions []mention         // of providers, models and groups, looked up when all are read
	homes    map[string]string // which table a key belongs in
}

// complaint is a problem before its line is known to be fit to show.
type complaint struct {
	at         Pos
	text, hint string
}

func (d *decoder) wrong(at Pos, text, hint string) {
	d.problems = append(d.problems, complaint{at, text, hint})
}

// bad reports a value that is not what its key takes.
func (d *decoder) bad(n *node, text, hint string) { d.wrong(n.at, n.name+" "+text, hint) }

// must reports a value of another kind than want.
func (d *decoder) must(n *node, want string) {
	hint := ""
	switch {
	case n.kind == isText && (want == isTruth.String() || strings.Contains(want, "number")):
		hint = "write it without quotes"
	case n.kind == isText && strings.HasPrefix(want, "a list"):
		hint = "write it in [ ]"
	case want == isText.String() && (n.kind == isWhole || n.kind == isReal || n.kind == isTruth):
		hint = "write it in quotes"
	}
	d.bad(n, "must be "+want+", not "+n.kind.String(), hint)
}

// is says whether n is of the kind want, and reports it when not.
func (d *decoder) is(n *node, want kind) bool {
	if n.kind == want {
		return true
	}
	d.must(n, want.String())
	return false
}

// fill reads the table n into to.
func fill[T any](d *decoder, n *node, fields []field[T], to *T) bool {
	if !d.is(n, isTable) {
		d.hide(n)
		return false
	}
	for _, k := range n.kids {
		f := find(fields, k.key)
		if f == nil {
			d.unknown(k, keys(fields))
			continue
		}
		f.read(d, k, to)
	}
	return true
}

func find[T any](fields []field[T], key string) *field[T] {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

// unknown reports a key that its table does not have. What it holds may be anything, also a secret.
func (d *decoder) unknown(n *node, known []string) {
	d.hideDoubtful(n)
	hint := DidYouMean(n.key, known)
	if home := d.homes[n.key]; hint == "" && home != "" {
		hint = "it belongs in " + home
	}
	d.wrong(n.keyAt, "unknown key "+strconv.Quote(n.key), hint)
}

// hide keeps every string in n from being shown.
func (d *decoder) hide(n *node) {
	if n.kind == isText {
		d.hidden = append(d.hidden, n.span)
	}
	for _, k := range n.kids {
		d.hide(k)
	}
}

// doubtful matches names of what people keep secret.
var doubtful = regexp.MustCompile(`(?i)key|token|secret|value|pass|auth|cred|bearer|header`)

// hideDoubtful keeps the strings in n from being shown that are long enough for a secret or called like one.
func (d *decoder) hideDoubtful(n *node) {
	if n.kind == isText && len(n.text) >= 12 || doubtful.MatchString(n.key) {
		d.hide(n)
		return
	}
	for _, k := range n.kids {
		d.hideDoubtful(k)
	}
}

// each calls do for every entry of the table n whose key may be an id.
func (d *decoder) each(n *node, do func(id string, k *node)) {
	if !d.is(n, isTable) {
		d.hide(n)
		return
	}
	for _, k := range n.kids {
		if !idOK(k.key) {
			d.wrong(k.keyAt, "bad id "+strconv.Quote(k.key), "ids are small letters, digits and hyphens, and begin with a letter or digit")
		}
		do(k.key, k)
	}
}

func idOK(id string) bool {
	return id != "" && id[0] != '-' && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// reserved reports an id that stands for something else in a model's name.
func (d *decoder) reserved(id string, k *node) {
	if id == "magpie" || id == "group" {
		d.wrong(k.keyAt, "the id "+strconv.Quote(id)+" is reserved", "take another")
	}
}

package keys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
)

// Registry is the commands with the keys in force.
type Registry struct {
	commands []Command
	byID     map[ID]int
	byKey    map[Scope]map[string]ID
	prefix   map[Scope]map[string]bool // first keys of longer bindings
}

// Fault is one thing that is wrong with the keys of the settings.
type Fault struct {
	ID    string // the entry of [keys] that it is about
	Other string // the second entry of a conflict, "" when that is a default
	Text  string
	Hint  string
}

// Faults is all that is wrong with the keys of the settings.
type Faults []Fault //nolint:errname // it is a list, and named for what is in it

// Error tells every fault, one a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = "[keys] " + f.Text
		if f.Hint != "" {
			lines[i] += ": " + f.Hint
		}
	}
	return strings.Join(lines, "\n")
}

// New makes a registry from the built-in commands, with the person's own keys by command id
// in place of the defaults. readOnly leaves out all that changes the gateway. The error is Faults;
// the registry is then nil.
func New(own map[string][]string, readOnly bool) (*Registry, error) {
	r := &Registry{
		byID:   map[ID]int{},
		byKey:  map[Scope]map[string]ID{},
		prefix: map[Scope]map[string]bool{},
	}
	faults := unknown(own)
	for _, c := range commands {
		if ks, ok := own[string(c.ID)]; ok {
			var bad []string
			c.Keys, bad = normalAll(ks)
			for _, k := range bad {
				faults = append(faults, Fault{
					ID: string(c.ID), Text: fmt.Sprintf("%q of %s is no key", k, c.ID), Hint: `write it like "p", "ctrl+p", "space" or "y i"`,
				})
			}
		}
		r.byID[c.ID] = len(r.commands)
		r.commands = append(r.commands, c)
	}
	if faults = append(faults, r.index(own)...); len(faults) > 0 {
		return nil, faults
	}
	if readOnly {
		return r.readOnly(), nil
	}
	return r, nil
}

// readOnly is the registry without what changes the gateway. Leaving stays.
func (r *Registry) readOnly() *Registry {
	q := &Registry{byID: map[ID]int{}, byKey: map[Scope]map[string]ID{}, prefix: map[Scope]map[string]bool{}}
	for _, c := range r.commands {
		if c.Class == control.Reads || c.ID == Quit || c.ID == Interrupt {
			q.byID[c.ID] = len(q.commands)
			q.commands = append(q.commands, c)
		}
	}
	_ = q.index(nil) // what is a subset of keys without conflict has none
	return q
}

// Find gives the command of a key in a scope. A key after another is written with a space: "y i".
func (r *Registry) Find(s Scope, key string) (ID, bool) {
	id, ok := r.byKey[s][key]
	return id, ok
}

// Begins reports whether a key is the first of a longer binding in a scope.
func (r *Registry) Begins(s Scope, key string) bool { return r.prefix[s][key] }

// Command gives a command by its id; nil when this registry has it not.
func (r *Registry) Command(id ID) *Command {
	i, ok := r.byID[id]
	if !ok {
		return nil
	}
	return &r.commands[i]
}

// All lists the commands in the order of the help.
func (r *Registry) All() []Command { return slices.Clone(r.commands) }

// In lists the commands of one scope that are not everywhere.
func (r *Registry) In(s Scope) []Command {
	return r.where(func(c *Command) bool { return c.In != nil && slices.Contains(c.In, s) })
}

// Everywhere lists the commands that work in every scope.
func (r *Registry) Everywhere() []Command {
	return r.where(func(c *Command) bool { return c.In == nil })
}

// Footer lists the commands that the footer of a scope shows, first things first.
func (r *Registry) Footer(s Scope) []Command {
	cs := r.where(func(c *Command) bool { return c.Rank > 0 && c.worksIn(s) && len(c.Keys) > 0 })
	slices.SortStableFunc(cs, func(a, b Command) int { return cmp.Compare(a.Rank, b.Rank) })
	return cs
}

func (r *Registry) where(want func(*Command) bool) []Command {
	var cs []Command
	for i := range r.commands {
		if want(&r.commands[i]) {
			cs = append(cs, r.commands[i])
		}
	}
	return cs
}

func (c *Command) worksIn(s Scope) bool { return c.In == nil || slices.Contains(c.In, s) }

// index fills the tables of keys and tells each conflict once.
func (r *Registry) index(own map[string][]string) Faults {
	var faults Faults
	told := map[string]bool{}
	tell := func(a, b ID, format string, args ...any) {
		if _, mine := own[string(a)]; !mine {
			a, b = b, a
		}
		f := Fault{ID: string(a), Text: fmt.Sprintf(format, args...)}
		if _, mine := own[string(b)]; mine {
			f.Other = string(b)
		}
		if !told[f.Text] {
			told[f.Text] = true
			faults = append(faults, f)
		}
	}
	for _, s := range Scopes() {
		keys, starts := map[string]ID{}, map[string]ID{}
		r.byKey[s], r.prefix[s] = keys, map[string]bool{}
		for _, b := range r.bindings(s) {
			if other, taken := keys[b.key]; taken {
				if other != b.id {
					tell(b.id, other, "%q is a key of both %s and %s", Shown(b.key), other, b.id)
				}
				continue
			}
			keys[b.key] = b.id
			if first, _, two := strings.Cut(b.key, " "); two && first != "" {
				r.prefix[s][first] = true
				starts[first] = b.id
			}
		}
		for _, first := range slices.Sorted(maps.Keys(starts)) {
			if other, taken := keys[first]; taken {
				tell(other, starts[first], "%q is a key of %s and begins one of %s", Shown(first), other, starts[first])
			}
		}
	}
	return faults
}

// binding is a key and its command.
type binding struct {
	key string
	id  ID
}

// bindings lists the keys of a scope in the order of the commands.
func (r *Registry) bindings(s Scope) []binding {
	var all []binding
	for i := range r.commands {
		c := &r.commands[i]
		if !c.worksIn(s) {
			continue
		}
		for _, k := range c.Keys {
			all = append(all, binding{key: k, id: c.ID})
		}
	}
	return all
}

// unknown tells the ids of the settings that no command has.
func unknown(own map[string][]string) Faults {
	known := make([]string, len(commands))
	for i, c := range commands {
		known[i] = string(c.ID)
	}
	var faults Faults
	for _, id := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(known, id) {
			faults = append(faults, Fault{ID: id, Text: fmt.Sprintf("no command is called %q", id), Hint: config.DidYouMean(id, known)})
		}
	}
	return faults
}

package keys

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dev.magpie/gateway/control"
)

// Registry is the commands with the keys in force.
type Registry struct {
	commands []Command
	byID     map[ID]int
	byKey    map[Scope]map[string]ID
	prefix   map[Scope]map[string]bool // first keys of longer bindings
}

// New makes a registry from the built-in commands, with the person's own keys by command id
// in place of the defaults. readOnly leaves out all that changes the gateway. All that is wrong
// with the keys is told at once; the registry is then nil.
func New(own map[string][]string, readOnly bool) (*Registry, error) {
	r := &Registry{
		byID:   map[ID]int{},
		byKey:  map[Scope]map[string]ID{},
		prefix: map[Scope]map[string]bool{},
	}
	errs := unknown(own)
	for _, c := range commands {
		if readOnly && c.Class != control.Reads && c.ID != Quit && c.ID != Interrupt {
			continue
		}
		if ks, ok := own[string(c.ID)]; ok {
			var err error
			if c.Keys, err = normalAll(c.ID, ks); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		r.byID[c.ID] = len(r.commands)
		r.commands = append(r.commands, c)
	}
	errs = append(errs, r.index()...)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return r, nil
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
func (r *Registry) index() []error {
	var errs []error
	told := map[string]bool{}
	tell := func(format string, args ...any) {
		if words := fmt.Sprintf(format, args...); !told[words] {
			told[words] = true
			errs = append(errs, errors.New(words))
		}
	}
	for _, s := range Scopes() {
		r.byKey[s], r.prefix[s] = map[string]ID{}, map[string]bool{}
		starts := map[string]ID{}
		for i := range r.commands {
			c := &r.commands[i]
			if !c.worksIn(s) {
				continue
			}
			for _, k := range c.Keys {
				if other, taken := r.byKey[s][k]; taken && other != c.ID {
					tell("[keys] %q is a key of both %s and %s", Shown(k), other, c.ID)
				}
				r.byKey[s][k] = c.ID
				if first, _, more := strings.Cut(k, " "); more && first != "" {
					r.prefix[s][first] = true
					starts[first] = c.ID
				}
			}
		}
		for first, id := range starts {
			if other, taken := r.byKey[s][first]; taken {
				tell("[keys] %q is a key of %s and begins one of %s", Shown(first), other, id)
			}
		}
	}
	return errs
}

// unknown tells the ids of the settings that no command has.
func unknown(own map[string][]string) []error {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(own)) {
		if !slices.ContainsFunc(commands, func(c Command) bool { return string(c.ID) == id }) {
			errs = append(errs, fmt.Errorf("[keys] no command is called %q%s", id, suggest(id)))
		}
	}
	return errs
}

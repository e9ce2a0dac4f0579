package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Unserved names what the config asks for and this version accepts but does not carry out, in the order of the schema.
func (c *Config) Unserved() []string {
	all := unserved("", topFields, c)
	for i := range c.Providers {
		p := &c.Providers[i]
		at := "providers." + p.ID + "."
		all = append(all, unserved(at, providerFields, p)...)
		for j := range p.Keys {
			all = append(all, unserved(at+"keys."+p.Keys[j].Name+".", keyFields, &p.Keys[j])...)
		}
		for j := range p.Accounts {
			all = append(all, unserved(at+"accounts."+p.Accounts[j].Name+".", accountFields, &p.Accounts[j])...)
		}
	}
	for i := range c.Groups {
		all = append(all, unserved("groups."+c.Groups[i].ID+".", groupFields, &c.Groups[i])...)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[id]
		all = append(all, unserved("agents."+id+".", agentFields, &a)...)
	}
	all = append(all, unserved("screen.", screenFields, &c.Screen)...)
	return append(all, unserved("notify.", notifyFields, &c.Notify)...)
}

// Idle tells what the config asks for that can never happen: a group's rules by intent, or its effort, where
// no classifier is named to judge them. Such a rule never holds, and the request goes as if it was not there.
func (c *Config) Idle() []string {
	var all []string
	for i := range c.Groups {
		g := &c.Groups[i]
		if g.Off || g.Classifier != "" {
			continue
		}
		for n := range g.Rules {
			if g.Rules[n].Intent != "" {
				all = append(all, "rule "+strconv.Itoa(n+1)+" of group "+g.ID+" never holds: it asks for an intent, and the group has no classifier to tell it")
			}
		}
		if g.Effort == "auto" {
			all = append(all, "effort = \"auto\" of group "+g.ID+" changes nothing: the group has no classifier to say how hard to think")
		}
	}
	return all
}

func unserved[T any](prefix string, fields []field[T], from *T) []string {
	var all []string
	for _, f := range fields {
		if f.unserved(from) {
			all = append(all, prefix+f.key+setting(f.value(from)))
		}
	}
	return all
}

// setting returns " = value" for what is short, "" for lists and tables.
func setting(value any) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() == reflect.String {
		return " = " + strconv.Quote(clean(v.String())) // an address may have a key in its query
	}
	if v.Kind() == reflect.Bool {
		return " = " + strconv.FormatBool(v.Bool())
	}
	return ""
}

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

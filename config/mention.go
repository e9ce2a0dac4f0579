package config

import (
	"slices"
	"strconv"
	"strings"
)

// mention is a place where the file names a provider's model or a group.
type mention struct {
	at   Pos
	name string // how a problem calls the place
	text string
	ref  ref
}

// ref is `provider[@who]/model[:effort]` or `group/id`, taken apart.
type ref struct{ provider, who, model, group string }

// parseRef takes a member's name apart. The words say what is wrong with one that can't be.
func parseRef(s string) (r ref, words string) {
	if id, ok := strings.CutPrefix(s, "group/"); ok {
		if id == "" {
			return ref{}, "names no group"
		}
		return ref{group: id}, ""
	}
	before, model, ok := strings.Cut(s, "/")
	provider, who, tied := strings.Cut(before, "@")
	switch {
	case !ok || provider == "" || model == "" || model[0] == ':':
		return ref{}, "is not provider/model"
	case tied && who == "":
		return ref{}, "names no key or account after the @"
	case strings.ContainsAny(model, " \t\r\n"):
		return ref{}, "holds a blank"
	}
	return ref{provider: provider, who: who, model: model}, ""
}

// bare returns the model's id without an effort and a mark of its context's size.
func bare(model string) string {
	if at := strings.LastIndexByte(model, ':'); at > 0 && slices.Contains(levels, strings.ToLower(model[at+1:])) {
		model = model[:at]
	}
	if n := len(model) - len("[1m]"); n > 0 && strings.EqualFold(model[n:], "[1m]") {
		return model[:n]
	}
	return model
}

// mentioned reads a name of a model or group and keeps it until all providers are known.
func (d *decoder) mentioned(n *node) (ref, bool) {
	s, ok := filled(d, n)
	if !ok {
		return ref{}, false
	}
	r, words := parseRef(s)
	if words != "" {
		d.bad(n, words, "write `provider/model`, `provider@name/model` or `group/id`")
		return ref{}, false
	}
	d.mentions = append(d.mentions, mention{at: n.at, name: n.name, text: s, ref: r})
	return r, true
}

// member reads a group's member.
func member(d *decoder, n *node) (string, bool) {
	_, ok := d.mentioned(n)
	return n.text, ok
}

// target reads what must be a provider's model, and no group.
func target(d *decoder, n *node) (string, bool) {
	r, ok := d.mentioned(n)
	if ok && r.group != "" {
		d.bad(n, "names a group", "name a provider's model")
		return "", false
	}
	return n.text, ok
}

// fallback reads one of a provider's fallbacks.
func fallback(d *decoder, n *node) (string, bool) { return target(d, n) }

// model reads the name of a model; one without a / is found when it is asked for.
func model(d *decoder, n *node) (string, bool) {
	if n.kind == isText && !strings.Contains(n.text, "/") {
		return n.text, true
	}
	_, ok := d.mentioned(n)
	return n.text, ok
}

// lookUp reports mentions of what is not in the file.
func (d *decoder) lookUp() {
	providers := map[string]*Provider{}
	var ids, groups []string
	for i := range d.c.Providers {
		p := &d.c.Providers[i]
		providers[p.ID] = p
		ids = append(ids, p.ID)
	}
	for _, g := range d.c.Groups {
		groups = append(groups, g.ID)
	}
	for _, m := range d.mentions {
		if m.ref.group != "" {
			if !slices.Contains(groups, m.ref.group) && !d.found(m) {
				d.wrong(m.at, m.name+" names the group "+strconv.Quote(m.ref.group)+", which isn't in the file", DidYouMean(m.ref.group, groups))
			}
			continue
		}
		p := providers[m.ref.provider]
		if p != nil {
			d.lookInto(p, m)
			continue
		}
		hint := DidYouMean(m.ref.provider, ids)
		if hint == "" && slices.Contains(groups, m.ref.provider) {
			hint = "a group is written " + strconv.Quote("group/"+m.ref.provider)
		}
		d.wrong(m.at, m.name+" names the provider "+strconv.Quote(m.ref.provider)+", which isn't in the file", hint)
	}
}

// autoWord begins the ids of groups that are found once the vendors' lists are known.
const autoWord = "auto-"

// found says whether a mention names a group that is found, and reports one while there are none.
func (d *decoder) found(m mention) bool {
	if !strings.HasPrefix(m.ref.group, autoWord) {
		return false
	}
	if !d.c.AutoGroups {
		d.wrong(m.at, m.name+" names the group "+strconv.Quote(m.ref.group)+", and auto_groups is false", "leave auto_groups out, or make the group")
	}
	return true
}

// lookInto reports a mention of a key, account or model that p does not have.
func (d *decoder) lookInto(p *Provider, m mention) {
	if m.ref.who != "" {
		var names []string
		for _, k := range p.Keys {
			names = append(names, k.Name)
		}
		for _, a := range p.Accounts {
			names = append(names, a.Name)
		}
		same := func(name string) bool { return strings.EqualFold(name, m.ref.who) }
		if !slices.ContainsFunc(names, same) {
			d.wrong(m.at, m.name+" names "+strconv.Quote(m.ref.who)+", which is no key or account of "+strconv.Quote(p.ID), DidYouMean(m.ref.who, names))
		}
	}
	if len(p.Models) == 0 {
		return // whatever the vendor has
	}
	var ids []string
	for _, one := range p.Models {
		if one.ID == m.ref.model || one.ID == bare(m.ref.model) {
			return
		}
		ids = append(ids, one.ID)
	}
	d.wrong(m.at, m.name+" names "+strconv.Quote(bare(m.ref.model))+", which is not among the models of "+strconv.Quote(p.ID), DidYouMean(bare(m.ref.model), ids))
}

// maxNest is how deep groups may stand in groups.
const maxNest = 8

// loops reports groups that contain themselves, and groups nested too deep.
func (d *decoder) loops() {
	w := walk{d: d, groups: map[string]*Group{}, depth: map[string]int{}}
	for i := range d.c.Groups {
		w.groups[d.c.Groups[i].ID] = &d.c.Groups[i]
	}
	for i := range d.c.Groups {
		g := &d.c.Groups[i]
		if depth := w.down(g, nil); depth > maxNest {
			d.wrong(g.Pos, "the group "+strconv.Quote(g.ID)+" holds groups "+strconv.Itoa(depth)+" deep", "at most "+strconv.Itoa(maxNest)+" may stand in each other")
		}
	}
}

// walk goes through groups in groups, each once.
type walk struct {
	d      *decoder
	groups map[string]*Group
	depth  map[string]int // of those that were walked
}

// down returns how many groups stand in each other from g on, and reports where a way leads back.
func (w *walk) down(g *Group, above []string) int {
	if depth, ok := w.depth[g.ID]; ok {
		return depth
	}
	above = append(above, g.ID)
	deepest := 0
	for i, m := range g.Members {
		r, _ := parseRef(m)
		if r.group == "" {
			continue
		}
		if at := slices.Index(above, r.group); at >= 0 {
			way := strings.Join(append(slices.Clone(above[at:]), r.group), " > ")
			w.d.wrong(g.MemberPos[i], "a group cannot stand in itself: "+way, "take one of these members out")
			continue
		}
		if next := w.groups[r.group]; next != nil {
			deepest = max(deepest, w.down(next, above))
		}
	}
	w.depth[g.ID] = deepest + 1
	return deepest + 1
}

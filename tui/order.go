package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/tui/layout"
	"dev.magpie/tui/over"
)

// What the person chooses of providers and groups: each is kept by the gateway and can be taken back.

// mates are the names of a provider's accounts, in the order that they stand in.
func (m *model) mates(of string) []string {
	var names []string
	for i := range m.st.Accounts { // they are by place
		if a := &m.st.Accounts[i]; a.Provider == of {
			names = append(names, a.Name)
		}
	}
	return names
}

// movable says whether J and K have something to move, and whom: a group's member where a
// group is selected or open, else the account meant among its provider's.
func (m *model) movable() bool {
	if g, has := m.selectedGroup(); has && (m.front() == layout.Groups || m.inGroup()) {
		return len(g.Members) > 1
	}
	a, has := m.selectedAccount()
	return has && len(m.mates(a.Provider)) > 1
}

// reorder moves the account meant, or the member of a group that is chosen or next, later or earlier.
func (m *model) reorder(n int) tea.Cmd {
	if g, has := m.selectedGroup(); has && m.inGroup() {
		p, _ := m.picked()
		if p.Member < 0 {
			m.toast.Say("it is of no member that stands in the group's order", m.now)
			return nil
		}
		return m.moved("group/"+g.ID, g.Members, p.Member, n)
	}
	if g, has := m.selectedGroup(); has && m.front() == layout.Groups {
		at := nextMember(&g)
		return m.moved("group/"+g.ID, g.Members, at, n)
	}
	a, has := m.selectedAccount()
	if !has {
		return nil
	}
	names := m.mates(a.Provider)
	return m.moved(a.Provider, names, slices.Index(names, a.Name), n)
}

// moved has one of a list change places with the one n behind it.
func (m *model) moved(who string, list []string, at, n int) tea.Cmd {
	to := at + n
	switch {
	case at < 0 || len(list) == 0:
		return nil
	case to < 0:
		m.toast.Say(fmt.Sprintf("%s is the first of %s already", list[at], who), m.now)
		return nil
	case to >= len(list):
		m.toast.Say(fmt.Sprintf("%s is the last of %s already", list[at], who), m.now)
		return nil
	}
	next := slices.Clone(list)
	next[at], next[to] = next[to], next[at]
	return m.do(control.Command{Verb: control.Order, Who: who, Args: control.Args{Order: next}}, true)
}

// nextMember is the place of the member that a group's next is of.
func nextMember(g *trace.Group) int {
	provider, name, _ := strings.Cut(g.Next, "/")
	loose := -1
	for i, member := range g.Members {
		head, _, _ := strings.Cut(member, "/")
		id, who, tied := strings.Cut(head, "@")
		switch {
		case id != provider:
		case tied && strings.EqualFold(who, name):
			return i
		case !tied && loose < 0:
			loose = i
		}
	}
	return max(loose, 0)
}

// routings are the orders that the palette offers.
var routings = []string{"smart", "order", "rotate", "usage", "pace", "weight", "best"}

// choiceOrders are the palette's choices of providers and groups.
func (m *model) choiceOrders() []order {
	var all []order
	off := ""
	if m.o.ReadOnly {
		off = "read-only"
	}
	add := func(text, help string, c control.Command) {
		all = append(all, order{
			Entry: over.Entry{Text: text, Help: help, Off: off},
			run:   func(m *model, _ string) tea.Cmd { return m.do(c, true) },
		})
	}
	words := func(text, help string, run func(m *model, rest string) tea.Cmd) {
		all = append(all, order{Entry: over.Entry{Text: text, Help: help, Off: off}, run: run})
	}
	for i := range m.st.Accounts {
		a := m.st.Accounts[i]
		if names := m.mates(a.Provider); len(names) > 1 {
			add("first "+m.st.Name(a.ID), "first in the order of "+a.Provider, control.Command{Verb: control.Order, Who: a.Provider, Args: control.Args{Order: []string{a.Name}}})
		}
		if a.Kind != "account" {
			continue
		}
		words("cap "+m.st.Name(a.ID)+" <percent|off>", "how much of its windows may be used", capOf(a.ID))
	}
	for _, p := range m.providers() {
		for _, r := range routings {
			add("routing "+p+" "+r, "who goes first among its accounts", control.Command{Verb: control.Routing, Who: p, Args: control.Args{Value: r}})
		}
		if len(m.mates(p)) > 1 {
			words("order "+p+" <names>", "those named first, in this order", orderOf(p))
		}
	}
	for _, g := range m.st.Groups {
		if g.Auto {
			continue // there may be hundreds
		}
		who := "group/" + g.ID
		for _, r := range append(slices.Clone(routings), "manual") {
			add("routing "+g.ID+" "+r, "who goes first in the group", control.Command{Verb: control.Routing, Who: who, Args: control.Args{Value: r}})
		}
		words("order "+who+" <members>", "those named first, in this order", orderOf(who))
		for _, member := range g.Members {
			if g.Routing == "manual" {
				add("pick "+g.ID+" "+member, "the member that the group uses", control.Command{Verb: control.Pick, Who: who, Args: control.Args{Member: member}})
			}
		}
	}
	for _, mode := range []string{"auto", "session", "turn", "off"} {
		add("affinity "+mode, "whether conversations stay with who answered", control.Command{Verb: control.Affinity, Args: control.Args{Value: mode}})
	}
	for _, on := range []bool{true, false} {
		add("sink "+map[bool]string{true: "on", false: "off"}[on], "put whoever was rate limited at the back", control.Command{Verb: control.Sink, Args: control.Args{On: &on}})
	}
	words("hide <group>", "take a group away that was found", groupVerb(control.Hide))
	words("show <group>", "bring a group back that was taken away", groupVerb(control.Show))
	return all
}

// providers are the ids of those that have an account.
func (m *model) providers() []string {
	var ids []string
	for i := range m.st.Accounts {
		if id := m.st.Accounts[i].Provider; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func orderOf(who string) func(*model, string) tea.Cmd {
	return func(m *model, rest string) tea.Cmd {
		names := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ',' })
		return m.do(control.Command{Verb: control.Order, Who: who, Args: control.Args{Order: names}}, true)
	}
}

func groupVerb(verb control.Verb) func(*model, string) tea.Cmd {
	return func(m *model, rest string) tea.Cmd {
		return m.do(control.Command{Verb: verb, Who: strings.TrimSpace(rest)}, true)
	}
}

// capOf reads a cap as it is typed: a percentage or off, with the name of a window behind it where it is of that alone.
func capOf(id string) func(*model, string) tea.Cmd {
	return func(m *model, rest string) tea.Cmd {
		word, window, _ := strings.Cut(strings.TrimSpace(rest), " ")
		percent, err := strconv.Atoi(strings.TrimSuffix(word, "%"))
		switch {
		case word == "off":
			percent = 0
		case err != nil:
			m.toast.Say(fmt.Sprintf("a cap is a percentage or off, not %q", word), m.now)
			return nil
		}
		return m.do(control.Command{Verb: control.Cap, Who: id, Args: control.Args{Percent: &percent, Window: strings.TrimSpace(window)}}, true)
	}
}

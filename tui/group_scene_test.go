package tui

import (
	"fmt"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/layout"
)

// small is a size at which the least fits.
var small = []layout.Size{{W: 32, H: 10}}

// nestedGroups has groups in a group, one that nobody is ready of, one with a picked member.
func nestedGroups() trace.View {
	v := sceneView()
	v.Status.Groups = []trace.Group{
		{ID: "always-on", Routing: "smart", Members: []string{"claude@work-max/claude-sonnet-5-5:high", "claude@home-pro/claude-sonnet-5-5", "chatgpt/gpt-6.1-sol", "group/cheap", "sub2api/claude-sonnet-5-5"}, Ready: 2, Of: 6, Next: workMax},
		{ID: "cheap", Routing: "manual", Members: []string{"glm/glm-5.3", "openrouter/glm-5.3"}, Pick: "glm/glm-5.3", Ready: 0, Of: 2, Place: 1},
		{ID: "spare", Routing: "order", Members: []string{"openrouter/glm-5.3", "group/loop"}, Ready: 0, Of: 1, Place: 2},
		{ID: "loop", Routing: "order", Members: []string{"group/spare", "nobody/x"}, Ready: 0, Of: 1, Place: 3},
		{ID: "vision", Routing: "order", Members: []string{"glm/v"}, Of: 1, Off: true, Place: 4},
	}
	return v
}

// planOf is what the planner says of a scene's group.
func planOf(group string) trace.Route {
	r := trace.Route{Asked: "group/" + group, Resolved: trace.Resolved{Group: group}, Routing: "smart"}
	key := func(id, provider, who, model string, why trace.Reason) trace.Candidate {
		return trace.Candidate{ID: id, Provider: provider, Who: who, Kind: "key", Model: model, Why: why}
	}
	paused := key("openrouter/or-key", "openrouter", "or-key", "glm-5.3", trace.Reason{Code: trace.WhyPaused})
	paused.Out = "paused"
	capped := key("glm/glm-plan", "glm", "glm-plan", "glm-5.3", trace.Reason{Code: trace.WhyCapped, Share: 81, Limit: 80, Until: sceneNow.Add(68 * time.Hour)})
	capped.Out = "capped"
	switch group {
	case "always-on":
		until := at(15, 4, 0)
		sonnet := "claude-sonnet-5-5"
		codex := key(codex1, "chatgpt", "codex-1", "gpt-6.1-sol", trace.Reason{Code: trace.WhyResting, Kind: trace.Quota, Until: until})
		codex.Rest = &trace.Rest{Why: trace.Quota, Until: until}
		relay := key(relayA, "sub2api", "relay-a", sonnet, trace.Reason{Code: trace.WhyResting, Kind: trace.Rate, Until: sceneNow.Add(48 * time.Second)})
		relay.Rest = &trace.Rest{Why: trace.Rate, Until: sceneNow.Add(48 * time.Second)}
		first := key(workMax, "claude", "work-max", sonnet, trace.Reason{Code: trace.WhySooner, Share: 52, At: sceneNow.Add(67 * time.Hour)})
		first.Effort = "high"
		r.Order = []trace.Candidate{first, key(homePro, "claude", "home-pro", sonnet, trace.Reason{Code: trace.WhyLow, Share: 93}), codex, relay}
		r.Left = []trace.Candidate{capped, paused}
	case "cheap":
		r.Routing = "manual"
		paused.Out, paused.Why = "not-picked", trace.Reason{Code: trace.WhyNotPicked}
		r.Left = []trace.Candidate{capped, paused}
		r.Status, r.Error = 503, "nobody is ready for group cheap: 1 is past its cap"
	case "spare":
		r.Routing, r.Left = "order", []trace.Candidate{paused}
		r.Status, r.Error = 503, "nobody is ready for group spare: 1 paused"
	case "vision":
		r.Routing, r.Status, r.Error = "", 404, "group vision is switched off: take off = true out of [groups.vision]"
	case "crowd":
		for i := range 60 {
			c := key(fmt.Sprintf("relay/k%02d", i), "relay", fmt.Sprintf("k%02d", i), "m", trace.Reason{Code: trace.WhyListed, N: i + 1, By: "crowd"})
			r.Order = append(r.Order, c)
		}
	}
	return r
}

// sixty has a provider with sixty keys in one group.
func sixty() trace.View {
	v := sceneView()
	v.Status.Accounts = nil
	for i := range 60 {
		a := trace.Account{ID: fmt.Sprintf("relay/k%02d", i), Provider: "relay", Name: fmt.Sprintf("k%02d", i), Kind: "key", State: trace.Fine}
		if i%7 == 3 {
			a.State, a.Known, a.Used, a.Windows = trace.Low, true, 91, []trace.Window{window("7 days", 91, week, 50*time.Hour)}
		}
		v.Status.Accounts = append(v.Status.Accounts, a)
	}
	v.Status.Accounts = numbered(v.Status.Accounts)
	v.Status.Groups = []trace.Group{{ID: "crowd", Routing: "rotate", Members: []string{"relay/m"}, Ready: 60, Of: 60, Next: "relay/k00"}}
	return v
}

// openGroup opens a group's page, lets the planner answer, and presses keys on it.
func openGroup(id string, keys ...string) func(*model) {
	return func(m *model) {
		press(m, "4")
		m.groups.Cursor.Select(m.groups.Keys(m.view()), id, 4)
		press(m, "enter")
		m.focus = layout.Detail
		m.draw()
		m.handle(planMsg{group: id, route: planOf(id), at: m.now})
		m.draw()
		press(m, keys...)
	}
}

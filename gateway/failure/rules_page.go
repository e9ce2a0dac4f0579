package failure

import (
	"net/http"

	"dev.magpie/gateway/trace"
)

// firewallRow is not asked again: a block page doesn't pass within seconds.
const firewallRow = "firewall-page"

// redirectRow is not asked again either: it leads elsewhere for as long as its URL stands in the config.
const redirectRow = "redirect"

var (
	isFirewall = &Fact{"a known firewall's block page", func(r *reply) bool { return r.page.firewall != "" }}
	isMoved    = &Fact{"a redirect (301, 302, 303, 307, 308 with a Location)", func(r *reply) bool { return r.page.moved }}
	isPage     = &Fact{"a web page", func(r *reply) bool { return r.page.web }}
	noAnswer   = &Fact{"a 2xx that is no API's answer", func(r *reply) bool { return r.page.reason != "" && !r.page.web }}
)

// A web page is no API's answer, whatever its status; a body that is too large
// and a limit are told by the status alone, also by a proxy's page.
var pageRules = []Rule{
	{
		Name: firewallRow, When: When{Is: []*Fact{isFirewall}}, Then: trace.Other, Scope: whole,
		Says: "a challenge or block page: the key isn't bad",
	},
	{
		Name: redirectRow, When: When{Is: []*Fact{isMoved}}, Then: trace.Other, Scope: whole,
		Says: "never followed: the key would go along",
	},
	{
		Name: "page-too-large", When: When{Status: []int{http.StatusRequestEntityTooLarge}, Is: []*Fact{isPage}}, Then: trace.TooLarge, Bytes: true,
		Says: "a proxy's page about the body's size",
	},
	{
		Name: "page-rate", When: When{Status: []int{http.StatusTooManyRequests}, Is: []*Fact{isPage}}, Then: trace.Rate, Scope: whole,
		Says: "a proxy's page about the pace",
	},
	{
		Name: "web-page", When: When{Is: []*Fact{isPage}}, Then: trace.Other, Scope: whole,
		Says: "a sign-in page, an edge's error page",
	},
	{
		Name: "no-answer", When: When{Is: []*Fact{noAnswer}}, Then: trace.Other, Scope: whole,
		Says: "empty, or a JSON type that isn't JSON",
	},
}

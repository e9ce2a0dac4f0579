package config

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// groupFields are the keys of [groups.<id>].
var groupFields = []field[Group]{
	row("name", func(g *Group) *string { return &g.Name }, text, "text", "the table's own name", "What people are shown."),
	row("off", func(g *Group) *bool { return &g.Off }, truth, yesNo, "false", "Keep it, and serve it to nobody."),
	row("routing", func(g *Group) *string { return &g.Routing }, oneOf(orders...), "as at the top", "as at the top", "Who goes first.").later(routings...),
	row("affinity", func(g *Group) *string { return &g.Affinity }, oneOf(modes...), "as at the top", "as at the top", "As at the top."),
	row("sink", func(g *Group) **bool { return &g.Sink }, ptr(truth), yesNo, "as at the top", "As at the top."),
	row("members", func(g *Group) *[]string { return &g.Members }, some(member), memberWords, "[]", "Its models, in order. Groups stand in groups up to 8 deep."),
	row("pick", func(g *Group) *string { return &g.Pick }, filled, "one of the members", "the first", "The one used under `routing = \"manual\"`."),
	row("rules", func(g *Group) *[]Rule { return &g.Rules }, list(readRule), "list of tables", "[]", "Which member takes a turn that meets all of a rule's conditions; the first such rule holds."),
	row("classifier", func(g *Group) *string { return &g.Classifier }, model, modelWords, `""`, "The model that tells what a turn is about, for rules with `intent`."),
	row("effort", func(g *Group) *string { return &g.Effort }, lower(oneOf(append([]string{"auto"}, levels...)...)), `"auto", `+level, "as asked", "How hard its models think; `auto`: as the classifier says."),
	row("efforts", func(g *Group) *[]string { return &g.Efforts }, some(lower(oneOf(levels...))), "list of "+level, "what its members share", "The efforts that agents are offered."),
	row("context", func(g *Group) *int { return &g.Context }, atLeast(1), "a whole number", "the smallest member's", "The tokens that agents are told it takes."),
	row("first_token", func(g *Group) *time.Duration { return &g.FirstToken }, duration(longest), seconds, "0", "How long a member may take to say something before the next is asked; 0: as long as it takes."),
	row("slug", func(g *Group) *string { return &g.Slug }, slug, "small letters, digits, hyphens; 32 at most", `""`, "Serve `names` under `/g/<slug>/…` too.").later(),
	row("names", func(g *Group) *map[string][]string { return &g.Names }, names, "table of lists of members", "{}", "The model names served there, each with its members in order.").later(),
	row("policy", func(g *Group) *string { return &g.Policy }, oneOf("", "combo", "surface"), `"combo", "surface" or ""`, `""`, "Whose rules hold where ways of working differ.").later(),
	row("sticky", func(g *Group) *int { return &g.Sticky }, whole(0, 1000), "0 to 1000", "0", "Requests that stay with one member under `routing = \"rotate\"` before the next has its turn."),
}

// ruleFields are the keys of one entry of `rules`.
var ruleFields = []field[Rule]{
	row("use", func(r *Rule) *string { return &r.Use }, filled, "one of the members", "", "Must be there, with at least one of the others."),
	row("tokens", func(r *Rule) *int { return &r.Tokens }, atLeast(1), "a whole number", "", "The turn has so many tokens or more."),
	row("images", func(r *Rule) *bool { return &r.Images }, truth, yesNo, "", "The turn shows an image."),
	row("effort", func(r *Rule) *string { return &r.Effort }, lower(oneOf("on", "low", "medium", "high", "xhigh", "max")), "`on` `low` `medium` `high` `xhigh` or `max`", "", "The agent asks for so much thinking or more; `on`: any."),
	row("agents", func(r *Rule) *[]string { return &r.Agents }, some(filled), "list of agent ids", "", "One of these agents asks."),
	row("intent", func(r *Rule) *string { return &r.Intent }, intent, "text, 200 characters at most", "", "The classifier finds the turn to be about this; in a group without one the rule never holds."),
	row("compact", func(r *Rule) *bool { return &r.Compact }, truth, yesNo, "", "The agent shortens its conversation."),
}

func readGroups(d *decoder, n *node, c *Config) {
	slugs := map[string]string{}
	d.each(n, func(id string, k *node) {
		d.reserved(id, k)
		g := Group{ID: id, Pos: k.keyAt}
		if !fill(d, k, groupFields, &g) {
			return
		}
		g.MemberPos = places(k.kid("members"), g.Members)
		if pick := k.kid("pick"); pick != nil && g.Pick != "" {
			d.amongMembers(&g, pick, g.Pick)
		}
		if first, twice := slugs[g.Slug]; twice && g.Slug != "" {
			d.wrong(k.kid("slug").at, "the slug "+strconv.Quote(g.Slug)+" is taken by the group "+strconv.Quote(first), "")
		}
		slugs[g.Slug] = id
		if rules := k.kid("rules"); rules != nil {
			d.ruleMembers(&g, rules)
		}
		c.Groups = append(c.Groups, g)
	})
}

// ruleMembers reports rules that send a turn to what is no member.
func (d *decoder) ruleMembers(g *Group, rules *node) {
	for _, r := range rules.kids {
		if use := r.kid("use"); use != nil && use.kind == isText && use.text != "" {
			d.amongMembers(g, use, use.text)
		}
	}
}

func (d *decoder) amongMembers(g *Group, n *node, name string) {
	for _, m := range g.Members {
		if m == name {
			return
		}
	}
	d.bad(n, "names "+strconv.Quote(name)+", which is no member of "+strconv.Quote(g.ID), DidYouMean(name, g.Members))
}

func readRule(d *decoder, n *node) (Rule, bool) {
	r := Rule{Pos: n.at}
	if !fill(d, n, ruleFields, &r) {
		return r, false
	}
	if n.kid("use") == nil {
		d.wrong(n.at, "the rule has no use", "name the member that takes the turn")
	}
	given := 0
	for _, f := range ruleFields[1:] {
		if k := n.kid(f.key); k != nil && (k.kind != isTruth || k.truth) {
			given++
		}
	}
	if given == 0 {
		d.wrong(n.at, "the rule has no condition", "give it one of "+strings.Join(keys(ruleFields[1:]), ", "))
	}
	return r, true
}

var slugForm = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$`)

func slug(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	if n.text != "" && !slugForm.MatchString(n.text) {
		d.bad(n, "is not a slug", "small letters, digits and hyphens between them, 32 at most")
		return "", false
	}
	return n.text, true
}

func intent(d *decoder, n *node) (string, bool) {
	s, ok := filled(d, n)
	if ok && utf8.RuneCountInString(s) > 200 {
		d.bad(n, "is longer than 200 characters", "")
		return "", false
	}
	return s, ok
}

// names reads the model names of a group's own surface, each with its members.
func names(d *decoder, n *node) (map[string][]string, bool) {
	if !d.is(n, isTable) {
		return nil, false
	}
	all := map[string][]string{}
	for _, k := range n.kids {
		if len(k.key) > 128 || strings.ContainsAny(k.key, " \t\r\n") || k.key == "" {
			d.wrong(k.keyAt, "bad model name "+strconv.Quote(k.key), "128 characters at most, without blanks")
		}
		members, ok := some(target)(d, k)
		if ok && len(k.kids) == 0 {
			d.bad(k, "names no member", "")
		}
		if ok {
			all[k.key] = members
		}
	}
	return all, true
}

// places returns where the items of a list stand that were kept.
func places(n *node, kept []string) []Pos {
	if n == nil {
		return nil
	}
	var all []Pos
	for _, k := range n.kids {
		if i := len(all); i < len(kept) && k.text == kept[i] {
			all = append(all, k.at)
		}
	}
	return all
}

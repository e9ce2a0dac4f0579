package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/config"
	"dev.magpie/gateway/client"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
	"dev.magpie/tui/canvas"
)

const groupWords = "a group's id; magpie groups lists them"

func (p *process) groupsCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:   "groups",
		Short: "List the groups of the running gateway",
		Args:  arguments(0, 0, ""),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, _ []string) error {
			s, err := c.Status(ctx)
			if err != nil {
				return err
			}
			if o.json {
				return p.json(map[string]any{"groups": s.Groups}, nil)
			}
			return p.groupTable(s.Groups)
		}),
	})
}

func (p *process) groupTable(all []trace.Group) error {
	if len(all) == 0 {
		return p.printf("no group: magpie group set <id> --members … makes one\n")
	}
	t := newTable(
		column{head: "ID", gives: true, least: 24}, column{head: "ROUTING", rank: 1}, column{head: "READY", right: true},
		column{head: "NEXT", gives: true, least: 20}, column{head: "FROM", rank: 2}, column{head: "MEMBERS", gives: true, least: 16, rank: 3},
	)
	for i := range all {
		g := &all[i]
		t.row(g.ID, g.Routing, groupReady(g), g.Next, groupFrom(g), strings.Join(g.Members, " "))
	}
	return p.table(t)
}

// groupReady counts the keys and accounts that would be asked now, of how many.
func groupReady(g *trace.Group) string {
	if g.Of < g.Ready {
		return fmt.Sprint(g.Ready)
	}
	return fmt.Sprintf("%d/%d", g.Ready, g.Of)
}

// groupFrom says where a group comes from, and whether it is served.
func groupFrom(g *trace.Group) string {
	switch {
	case g.Auto && g.Off:
		return "away"
	case g.Auto:
		return "found"
	case g.Off:
		return "off"
	}
	return "config"
}

func (p *process) groupCommand(o *globals) *cobra.Command {
	return parent(&cobra.Command{
		Use:   "group",
		Short: "Look at one group, make it, change it, take it out",
	}, p.groupShowCommand(o), p.groupSetCommand(o), p.groupRmCommand(o), p.groupRestoreCommand(o), p.groupPickCommand(o))
}

func (p *process) groupShowCommand(o *globals) *cobra.Command {
	return listing(o, &cobra.Command{
		Use:               "show <id>",
		Short:             "Show a group's members, and who would be asked now",
		Args:              arguments(1, 1, groupWords),
		ValidArgsFunction: p.completeGroup(o),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			g, err := grouped(ctx, c, args[0])
			if err != nil {
				return err
			}
			r, err := c.Explain(ctx, client.Question{Model: "group/" + g.ID})
			if err != nil {
				return err
			}
			if o.json {
				return p.json(map[string]any{"group": g, "order": r.Order, "left": r.Left}, nil)
			}
			return p.group(&g, &r)
		}),
	})
}

// grouped finds a group by its id.
func grouped(ctx context.Context, c *client.Client, id string) (trace.Group, error) {
	s, err := c.Status(ctx)
	if err != nil {
		return trace.Group{}, err
	}
	id = groupID(id)
	known := make([]string, 0, len(s.Groups))
	for _, g := range s.Groups {
		if g.ID == id {
			return g, nil
		}
		known = append(known, g.ID)
	}
	words := fmt.Sprintf("there is no group %.60q", id)
	if hint := config.DidYouMean(id, known); hint != "" {
		words += ": " + hint
	}
	return trace.Group{}, failed("%s", words)
}

// groupID is the id that a person means by a group's name.
func groupID(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "group/"))
}

func (p *process) group(g *trace.Group, r *trace.Route) error {
	b := p.page()
	b.WriteString(canvas.Clean("group/"+g.ID) + ": " + map[string]string{
		"config": "of the config", "found": "found, for several providers have the model", "away": "taken away; magpie group restore brings it back", "off": "switched off in the config",
	}[groupFrom(g)] + "\n")
	b.entry("routing", 12, canvas.Clean(g.Routing))
	for i, m := range g.Members {
		name := ""
		if i == 0 {
			name = "members"
		}
		mark := ""
		if g.Pick == m {
			mark = "  picked"
		}
		b.entry(name, 12, canvas.Clean(m)+mark)
	}
	plan(b, r)
	if len(r.Order) == 0 && r.Error != "" {
		b.WriteByte('\n')
		b.paragraph(canvas.Clean(r.Error))
	}
	return p.put(b)
}

func (p *process) groupSetCommand(o *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "set <id>",
		Short: "Make a group, or change one, in the config",
		Long: "Changes only what its flags name: comments and order of the file stay. The change is checked and shown, and a running gateway " +
			"takes it by itself. A group that was found becomes the config's own, with the members that it has.",
		Example: "  magpie group set cheap --members glm/glm-5.3,ollama/qwen3 --routing order",
		Args:    arguments(1, 1, "a group's id"),
	}
	values := addSettings(c, groupSettings)
	c.ValidArgsFunction = p.completeGroup(o)
	c.RunE = p.interruptible(func(ctx context.Context, args []string) error {
		set, err := values()
		if err != nil {
			return err
		}
		return p.setGroup(ctx, o, groupID(args[0]), set)
	})
	return listing(o, c)
}

func (p *process) setGroup(ctx context.Context, o *globals, id string, set map[string]string) error {
	before, err := p.configText()
	if err != nil {
		return err
	}
	cfg, err := p.parsed(before)
	if err != nil {
		return err
	}
	there := slices.ContainsFunc(cfg.Groups, func(g config.Group) bool { return g.ID == id })
	words := "changed group " + id
	if !there {
		words = "made group " + id
		if set["members"] == "" {
			members, err := p.foundMembers(ctx, o, id)
			if err != nil {
				return err
			}
			set["members"] = config.Texts(members)
		}
	}
	if len(set) == 0 {
		return misused("name what to change: magpie group set %s --members …; see --help", id)
	}
	return p.changeConfig(before, change{edits: editsOf([]string{"groups", id}, groupSettings, set), words: words}, o.json)
}

// foundMembers are the members of a group that was found; any other that is made has to name its own.
func (p *process) foundMembers(ctx context.Context, o *globals, id string) ([]string, error) {
	if !provider.IsAuto(id) {
		return nil, misused("there is no group %q in the config yet: name its members with --members", id)
	}
	c, _, err := p.dial(ctx, p.address(o.listen))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	g, err := grouped(ctx, c, id)
	return g.Members, err
}

func (p *process) groupRmCommand(o *globals) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use:               "rm <id>",
		Short:             "Take a group out of the config, or one that was found away",
		Long:              "What is taken out of the config is asked for first. A group that was found is only kept from being served: magpie group restore brings it back.",
		Args:              arguments(1, 1, groupWords),
		ValidArgsFunction: p.completeGroup(o),
	}
	c.Flags().BoolVar(&yes, "yes", false, "don't ask")
	c.RunE = p.interruptible(func(ctx context.Context, args []string) error {
		id := groupID(args[0])
		before, err := p.configText()
		if err != nil {
			return err
		}
		cfg, err := p.parsed(before)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(cfg.Groups, func(g config.Group) bool { return g.ID == id }) {
			return p.changeConfig(before, change{
				edits: []config.Edit{{Table: []string{"groups", id}}}, ends: "take group " + id + " out of the config", yes: yes, words: "took group " + id + " out of the config",
			}, o.json)
		}
		if !provider.IsAuto(id) {
			return failed("there is no group %.60q in the config", id)
		}
		return p.tellGateway(ctx, o, control.Command{Verb: control.Hide, Who: id})
	})
	return listing(o, c)
}

func (p *process) groupRestoreCommand(o *globals) *cobra.Command {
	c := p.change(o, control.Show, &control.Args{}, &cobra.Command{
		Use:   "restore <id>",
		Short: "Bring a group back that was found and taken away",
		Args:  arguments(1, 1, groupWords),
	})
	c.ValidArgsFunction = p.completeGroup(o)
	return c
}

func (p *process) groupPickCommand(o *globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "pick <id> [<member>]",
		Short: "Pick the member that a group with manual routing uses",
		Long:  "Holds until it is taken back, also over a restart. Without a member the config's own pick holds again.",
		Args:  arguments(1, 2, groupWords+", and one of its members"),
	}
	c.ValidArgsFunction = p.completeGroup(o)
	c.RunE = p.interruptible(func(ctx context.Context, args []string) error {
		cmd := control.Command{Verb: control.Pick, Who: "group/" + groupID(args[0])}
		if len(args) > 1 {
			cmd.Args.Member = args[1]
		}
		return p.tellGateway(ctx, o, cmd)
	})
	return listing(o, c)
}

func (p *process) orderCommand(o *globals) *cobra.Command {
	reset := false
	c := &cobra.Command{
		Use:   "order <provider> <who>…",
		Short: "Put a provider's keys, or a group's members, in another order",
		Long: "Those not named follow in the config's order. Holds until it is taken back, also over a restart; the config stays as it is. " +
			"A group is written group/<id>.",
		Example: "  magpie order codex team me\n  magpie order group/cheap ollama/qwen3",
	}
	c.Flags().BoolVar(&reset, "reset", false, "go by the config's order again")
	c.Args = func(c *cobra.Command, args []string) error {
		least, most := 2, 1<<10
		if reset {
			least, most = 1, 1
		}
		return arguments(least, most, "a provider or group/<id>, and whom to put first")(c, args)
	}
	c.ValidArgsFunction = p.completeProvider(o)
	c.RunE = p.interruptible(func(ctx context.Context, args []string) error {
		return p.tellGateway(ctx, o, control.Command{Verb: control.Order, Who: args[0], Args: control.Args{Order: args[1:]}})
	})
	return listing(o, c)
}

// tellGateway has the running gateway carry a command out, and says what it did.
func (p *process) tellGateway(ctx context.Context, o *globals, cmd control.Command) error {
	c, _, err := p.dial(ctx, p.address(o.listen))
	if err != nil {
		return err
	}
	defer c.Close()
	return told(p.do(ctx, o, c, cmd))
}

package config

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// The words that keys of several tables take.
var (
	orders    = []string{"smart", "order", "rotate", "usage", "pace", "weight", "manual", "best", "zenith", "p2c", "random", "fusion"}
	routings  = []any{"smart", "order", "rotate", "usage", "pace", "weight", "manual", "best"} // of these, what is served
	modes     = []string{"auto", "session", "turn", "off"}
	protocols = []string{"chat", "responses", "messages", "gemini"}
	levels    = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"}
	inputs    = []string{"text", "image", "audio", "video", "file"}
	occasions = []string{"spent", "all-out", "renewed", "reset-available"}
)

const (
	level       = `"none", "minimal", "low", "medium", "high", "xhigh", "max" or "ultra"`
	yesNo       = "true or false"
	modelWords  = "`provider/model`, `group/id` or a model's bare id"
	memberWords = "list of `provider/model[:effort]`, `provider@name/model[:effort]` (one key or account alone) or `group/id`"
	seconds     = `"90s" or seconds`
	proxyWords  = `"http://host:port", "https://…", "socks5://…", "socks5h://…", "direct" or ""`
	longest     = 24 * time.Hour
)

// topFields are the keys that stand before the first table, and the tables.
var topFields = []field[Config]{
	row("listen", func(c *Config) *string { return &c.Listen }, address,
		`"host:port"`, `"127.0.0.1:3425"`, "Where agents ask. `--listen` and `MAGPIE_ADDR` go before it. A wider address alone lets no other machine in."),
	row("routing", func(c *Config) *string { return &c.Routing }, oneOf(orders...),
		"`smart` `order` `rotate` `usage` `pace` `weight` `manual` `best` `zenith` `p2c` `random` or `fusion`", `"smart"`,
		"Who goes first, for providers and groups that don't say.").later(routings...),
	row("affinity", func(c *Config) *string { return &c.Affinity }, oneOf(modes...),
		"`auto` `session` `turn` or `off`", `"auto"`, "Whether a conversation stays with who answered it."),
	row("sink", func(c *Config) *bool { return &c.Sink }, truth, yesNo, "false", "Put whoever was rate limited at the back."),
	row("redact", func(c *Config) *[]string { return &c.Redact }, some(oneOf("secrets", "personal", "words")),
		"list of `secrets` `personal` `words`", "[]", "What is masked before a vendor sees it: keys and passwords, what is about people, `redact_words`."),
	row("redact_words", func(c *Config) *[]string { return &c.RedactWords }, some(masked(filled)),
		"list of text", "[]", "What is masked under `words`, whatever its case is: names of projects, customers, people."),
	row("redact_rules", func(c *Config) *[]string { return &c.RedactRules }, some(masked(pattern)),
		"list of regular expressions", "[]", "What is masked under `secrets` too; where an expression has a group, the first one is what is masked. Syntax: Go's (RE2)."),
	row("theme", func(c *Config) *Theme { return &c.Theme }, placed(theme, func(c *Config) *Pos { return &c.ThemePos }),
		`a name, "auto", or { dark = "…", light = "…" }`, `"auto"`, "What the screen wears."),
	row("background", func(c *Config) *string { return &c.Background }, oneOf("", "dark", "light"),
		`"dark", "light" or ""`, `""`, "What the terminal's background is; empty: asked of the terminal."),
	row("public_url", func(c *Config) *string { return &c.PublicURL }, publicURL,
		"a URL", `""`, "What other machines are shown instead of the listen address. `MAGPIE_PUBLIC_URL` goes before it.").later(),
	row("cors_origins", func(c *Config) *[]string { return &c.CORSOrigins }, some(origin),
		"list of `scheme://host[:port]`", "[]", "Web pages and browser extensions that may ask, each with a gateway key."),
	row("share", func(c *Config) *bool { return &c.Share }, share,
		yesNo, "false", "Serve other machines. It needs gateway keys, which this version doesn't have: `true` is an error."),
	row("proxy", func(c *Config) *string { return &c.Proxy }, proxy,
		proxyWords, `""`, "How vendors are reached; empty: as the environment says (`HTTPS_PROXY`, `NO_PROXY`)."),
	row("body_limit", func(c *Config) *int64 { return &c.BodyLimit }, size(1<<10, 4<<30),
		`"64MB" or bytes`, `"64MB"`, "The largest request body, decompressed. Units count in 1024s."),
	row("auto_groups", func(c *Config) *bool { return &c.AutoGroups }, truth,
		yesNo, "true", "Make a group of every model that several providers have. Each is called `auto-<model>`; false while a group holds one is an error."),
	row("guess_vendor", func(c *Config) *bool { return &c.GuessVendor }, truth, yesNo, "false", "Ask the vendor whose models begin like a name that nothing serves: `claude-` is Anthropic's. Only a vendor of the config, and of a bare name."),
	row("describer", func(c *Config) *string { return &c.Describer }, model, modelWords, `""`, "The model that describes images to models that can't see."),
	row("searcher", func(c *Config) *string { return &c.Searcher }, model, modelWords, `""`, "The model that searches the web for models that can't.").later(),
	row("no_detect", func(c *Config) *bool { return &c.NoDetect }, truth, yesNo, "false", "Look for no keys in the environment, no local servers and no sign-ins."),
	row("max_attempts", func(c *Config) *int { return &c.MaxAttempts }, atLeast(0), "a whole number", "0", "How many candidates one request is tried on; 0: all of them."),
	row("header_timeout", func(c *Config) *time.Duration { return &c.HeaderTimeout }, duration(longest),
		seconds, "0", "How long a vendor may take to begin its reply; 0: 3 minutes while another candidate is left, 10 on the last."),
	row("stall_timeout", func(c *Config) *time.Duration { return &c.StallTimeout }, duration(longest),
		seconds, "0", "How long a stream may be silent; 0: 5 minutes."),
	{key: "providers", takes: "tables", def: "", means: "The vendors, each with its keys: `[providers.<id>]`.", read: readProviders},
	{key: "groups", takes: "tables", def: "", means: "Several models picked as one: `[groups.<id>]`.", read: readGroups},
	{key: "agents", takes: "tables", def: "", means: "Settings for one agent: `[agents.<id>]`.", read: readAgents},
	{key: "screen", takes: "a table", def: "", means: "The screen: `[screen]`.", read: func(d *decoder, n *node, c *Config) { fill(d, n, screenFields, &c.Screen) }},
	{key: "notify", takes: "a table", def: "", means: "Notices: `[notify]`.", read: func(d *decoder, n *node, c *Config) { fill(d, n, notifyFields, &c.Notify) }},
	{key: "keys", takes: "a table", def: "", means: "Keys of the screen, by command: `[keys]`.", read: readBindings},
}

var themeFields = []field[Theme]{
	row("dark", func(t *Theme) *string { return &t.Dark }, filled, "a theme's name", "", "For a dark background."),
	row("light", func(t *Theme) *string { return &t.Light }, filled, "a theme's name", "", "For a light background."),
}

var agentFields = []field[Agent]{
	row("effort", func(a *Agent) *string { return &a.Effort }, lower(oneOf(levels...)), level, "", "How hard its models think, where they can."),
	row("tiers", func(a *Agent) *map[string]string { return &a.Tiers }, tiers,
		"table of `opus` `sonnet` `haiku` `fable`", "", "The models that stand in for Claude's tiers: "+modelWords+". For `claude` they go before what is served under Claude's own ids."),
}

var screenFields = []field[Screen]{
	row("glyphs", func(s *Screen) *string { return &s.Glyphs }, oneOf("auto", "unicode", "ascii"), "`auto` `unicode` or `ascii`", `"auto"`, "The signs to draw with."),
	row("on_hangup", func(s *Screen) *string { return &s.OnHangup }, oneOf("serve", "quit"),
		"`serve` or `quit`", `"serve"`, "What the gateway does when the terminal closes: go on serving, or finish what is under way and end."),
	row("wide_at", func(s *Screen) *string { return &s.WideAt }, wideAt, `"110x28"`, `"110x28"`, "From which size on panes stand side by side."),
	row("mouse", func(s *Screen) *bool { return &s.Mouse }, truth, yesNo, "false", "Click and scroll.").later(),
	row("sync", func(s *Screen) *string { return &s.Sync }, oneOf("auto", "on", "off"), "`auto` `on` or `off`", `"auto"`, "Synchronized output; `auto`: outside tmux."),
	row("mask_accounts", func(s *Screen) *bool { return &s.MaskAccounts }, truth, yesNo, "false", "Show `acct-1…` instead of names."),
}

var notifyFields = []field[Notify]{
	row("when", func(n *Notify) *[]string { return &n.When }, some(oneOf(occasions...)), "list of `spent` `all-out` `renewed` `reset-available`", "[]", "What a notice is given for.").later(),
	row("command", func(n *Notify) *string { return &n.Command }, text, "a shell command", `""`, "Run for each notice instead of the terminal's own.").later(),
}

// placed reads a value by how and notes where it stands.
func placed[V any](how reader[V], where func(*Config) *Pos) reader[V] {
	return func(d *decoder, n *node) (V, bool) {
		*where(d.c) = n.at
		return how(d, n)
	}
}

// share reads whether other machines are served, which needs what this version lacks.
func share(d *decoder, n *node) (bool, bool) {
	if d.is(n, isTruth) && n.truth {
		d.bad(n, "can't be true: serving other machines needs gateway keys, and this version has none", "leave it out, and reach this machine through ssh")
	}
	return false, n.kind == isTruth
}

// masked reads a text that is not shown: it is what shall not be seen.
func masked(how reader[string]) reader[string] {
	return func(d *decoder, n *node) (string, bool) {
		d.hide(n)
		return how(d, n)
	}
}

// pattern reads a regular expression that does not match everything.
func pattern(d *decoder, n *node) (string, bool) {
	s, ok := filled(d, n)
	if !ok {
		return "", false
	}
	re, err := regexp.Compile(s)
	switch {
	case err != nil:
		why := ""
		var bad *syntax.Error // its code alone: the rest is what shall not be seen
		if errors.As(err, &bad) {
			why = ": " + bad.Code.String()
		}
		d.bad(n, "is no regular expression"+why, "")
		return "", false
	case re.MatchString(""):
		d.bad(n, "matches nothing at all, so it would match everywhere", "")
		return "", false
	}
	return s, true
}

var sizeOfScreen = regexp.MustCompile(`^[1-9][0-9]{0,3}x[1-9][0-9]{0,3}$`)

func wideAt(d *decoder, n *node) (string, bool) {
	if !d.is(n, isText) {
		return "", false
	}
	if !sizeOfScreen.MatchString(n.text) {
		d.bad(n, "is not columns x rows", `write "110x28"`)
		return "", false
	}
	return n.text, true
}

func readAgents(d *decoder, n *node, c *Config) {
	d.each(n, func(id string, k *node) {
		var a Agent
		if !fill(d, k, agentFields, &a) {
			return
		}
		if c.Agents == nil {
			c.Agents = map[string]Agent{}
		}
		c.Agents[id] = a
	})
}

func tiers(d *decoder, n *node) (map[string]string, bool) {
	known := []string{"opus", "sonnet", "haiku", "fable"}
	if !d.is(n, isTable) {
		return nil, false
	}
	all := map[string]string{}
	for _, k := range n.kids {
		if !slices.Contains(known, k.key) {
			d.unknown(k, known)
			continue
		}
		if v, ok := model(d, k); ok {
			all[k.key] = v
		}
	}
	return all, true
}

func readBindings(d *decoder, n *node, c *Config) {
	if !d.is(n, isTable) {
		return
	}
	if len(n.kids) > 0 {
		c.Keys, c.KeysPos = map[string][]string{}, map[string]Pos{}
	}
	for _, k := range n.kids {
		if keys, ok := bindings(d, k); ok {
			c.Keys[k.key], c.KeysPos[k.key] = keys, k.keyAt
		}
	}
}

package config

import (
	"strconv"
	"strings"
	"time"
)

// providerFields are the keys of [providers.<id>].
var providerFields = []field[Provider]{
	row("preset", func(p *Provider) *string { return &p.Preset }, text,
		"a name from `magpie presets`, or \"\"", "the table's own name", "The vendor, whose URLs and habits are filled in; empty: none, also where the table is named like one."),
	row("region", func(p *Provider) *string { return &p.Region }, text, "a name", `""`, "Which of the preset's places or plans."),
	row("name", func(p *Provider) *string { return &p.Name }, text, "text", "the table's own name", "What people are shown."),
	base("chat", "ends in the version, as `…/v1`"),
	base("responses", "ends in the version, as `…/v1`"),
	base("messages", "is the root, `/v1/messages` is added"),
	base("gemini", "ends in `…/v1beta`"),
	row("keys", func(p *Provider) *[]Key { return &p.Keys }, list(readKey), "list of tables", "[]", "The keys, in the order in which they are tried."),
	row("accounts", func(p *Provider) *[]Account { return &p.Accounts }, list(readAccount), "list of tables", "[]", "Programs' own sign-ins, in the order in which they are tried; of the preset `codex`, Codex CLI's, of `claude`, Claude Code's. Those of `copilot` and `gemini-cli` are shown and never asked."),
	row("models", func(p *Provider) *[]Model { return &p.Models }, list(readModel), "list of ids or tables", "[]", "The only models served; empty: whatever the vendor has."),
	row("routing", func(p *Provider) *string { return &p.Routing }, oneOf("smart", "order", "rotate", "usage", "pace", "weight", "best", "zenith", "p2c", "random"),
		"as at the top, without `manual` and `fusion`", "as at the top", "Which of its keys goes first.").later(routings...),
	row("affinity", func(p *Provider) *string { return &p.Affinity }, oneOf(modes...), "as at the top", "as at the top", "As at the top."),
	row("sink", func(p *Provider) **bool { return &p.Sink }, ptr(truth), yesNo, "as at the top", "As at the top."),
	row("fallback", func(p *Provider) *[]string { return &p.Fallback }, some(fallback), "list of `provider/model[:effort]`", "[]", "Asked when none of its keys answers, in this order."),
	row("proxy", func(p *Provider) *string { return &p.Proxy }, proxy, proxyWords, "as at the top", "How this vendor is reached."),
	row("headers", func(p *Provider) *map[string]string { return &p.Headers }, headers, "table of text", "{}", "Sent with each request, after the key's own header and instead of it where the name is the same."),
	row("balance_url", func(p *Provider) *string { return &p.BalanceURL }, web(true, true), "a URL", `""`, "Where the vendor tells what is left, asked with the key; `{key}` in it is the key. A relay's `…/v1/usage` tells windows too."),
	row("balance_path", func(p *Provider) *string { return &p.BalancePath }, text, "paths, numbers, `+ - * / ( )`", `""`, "Where in that reply the amount stands, such as `$data.left / 500000`; more than one as `paid: $a; gift: $b`; a `%` behind it: a share."),
	row("unmasked", func(p *Provider) *bool { return &p.Unmasked }, truth, yesNo, "false", "Send requests whole, whatever `redact` says. It counts where every base URL is on this machine or in a private network, and for no account."),
	row("searches", func(p *Provider) *bool { return &p.Searches }, truth, yesNo, "false", "The relay searches the web by itself, where it is asked on Messages or Responses."),
	row("unlisted", func(p *Provider) *bool { return &p.Unlisted }, truth, yesNo, "false", "Leave its models out of lists; served by full id and in groups."),
	row("off", func(p *Provider) *bool { return &p.Off }, truth, yesNo, "false", "Keep it, and ask it nothing."),
	row("catalog", func(p *Provider) *string { return &p.Catalog }, text, "names, with commas or blanks between them", `""`, "Whose names, efforts and prices hold for its models.").later(),
	row("price_rate", func(p *Provider) *float64 { return &p.PriceRate }, amount, "a number", "0", "Multiplies list prices; 0: as listed."),
	row("max_concurrency", func(p *Provider) **int { return &p.MaxConcurrency }, ptr(whole(0, 1000)), "0 to 1000", "no limit", "Requests at once on each key; 0: no limit."),
	row("max_rpm", func(p *Provider) *int { return &p.MaxRPM }, whole(0, 10000), "0 to 10000", "0", "Requests a minute on each key; 0: no limit."),
	row("queue_limit", func(p *Provider) *int { return &p.QueueLimit }, whole(0, 10000), "0 to 10000", "0", "Requests that may wait for a place; 0: any number."),
	row("queue_wait", func(p *Provider) *time.Duration { return &p.QueueWait }, duration(time.Hour), seconds+", up to 1h", "0", "How long they wait; 0: as long as it takes."),
	row("header_timeout", func(p *Provider) *time.Duration { return &p.HeaderTimeout }, duration(longest), seconds, "as at the top", "As at the top."),
	row("stall_timeout", func(p *Provider) *time.Duration { return &p.StallTimeout }, duration(longest), seconds, "as at the top", "As at the top."),
	row("retry", func(p *Provider) *int { return &p.Retry }, whole(0, 10), "0 to 10", "0", "Asks the same key again so often on a vendor's error.").later(),
	row("slots", func(p *Provider) *int { return &p.Slots }, whole(0, 1000), "0 to 1000", "0", "Requests under way until their reply begins, on each key; 0: no limit.").later(),
}

// keyFields are the keys of one entry of `keys`.
var keyFields = []field[Key]{
	row("name", func(k *Key) *string { return &k.Name }, who, "text without `/`", "`key1`, `key2` … by place", "What it is called."),
	row("value", func(k *Key) *Secret { return &k.Value }, secret, "the key itself", "", "One of the four must be there."),
	row("env", func(k *Key) *string { return &k.Env }, variable, "an environment variable's name", "", "Read from the environment at each start and reload."),
	row("file", func(k *Key) *string { return &k.File }, filled, "a path, `~/` is the home folder", "", "The first line of the file."),
	row("command", func(k *Key) *string { return &k.Command }, filled, "a shell command", "", "The first line it prints; it has 10 s, and is asked again when the vendor refuses the key."),
	row("off", func(k *Key) *bool { return &k.Off }, truth, yesNo, "false", "Keep it, and never use it."),
	row("weight", func(k *Key) *int { return &k.Weight }, whole(1, 1000), "1 to 1000", "1", "Its share under `routing = \"weight\"`."),
	row("protocol", func(k *Key) *string { return &k.Protocol }, oneOf(protocols...), "`chat` `responses` `messages` or `gemini`", "any", "The one API that it is for."),
	row("proxy", func(k *Key) *string { return &k.Proxy }, proxy, proxyWords, "the provider's", "How the vendor is reached with this key."),
	row("models", func(k *Key) *[]string { return &k.Models }, some(filled), "list of ids", "all", "The only models it is for."),
}

// accountFields are the keys of one entry of `accounts`.
var accountFields = []field[Account]{
	row("name", func(a *Account) *string { return &a.Name }, who, "text without `/`", "`account1`, `account2` … by place", "What it is called."),
	row("home", func(a *Account) *string { return &a.Home }, filled, "a folder, `~/` is the home folder", "the program's own", "Where the program keeps its sign-in."),
	row("off", func(a *Account) *bool { return &a.Off }, truth, yesNo, "false", "Keep it, and never use it."),
	row("cap", func(a *Account) *int { return &a.Cap }, whole(1, 99), "1 to 99", "none", "The percentage of every window at which it is left alone."),
	row("window_caps", func(a *Account) *map[string]int { return &a.WindowCaps }, windowCaps, "table of 1 to 100, by window", "{}", "The same for single windows; 100: no cap."),
	row("credits", func(a *Account) **bool { return &a.Credits }, ptr(truth), yesNo, "true", "Whether credits are spent when a window is used up."),
	row("auto_reset", func(a *Account) *bool { return &a.AutoReset }, truth, yesNo, "false", "Spend a reset when a week is used up and nobody else can answer, and one that would run out."),
	row("models", func(a *Account) *[]string { return &a.Models }, some(filled), "list of ids", "all", "The only models it is for."),
	row("proxy", func(a *Account) *string { return &a.Proxy }, proxy, proxyWords, "the provider's", "How the vendor is reached with this account."),
	row("max_concurrency", func(a *Account) **int { return &a.MaxConcurrency }, ptr(whole(0, 1000)), "0 to 1000", "the provider's", "Requests at once; 0: no limit."),
}

// modelFields are the keys of one entry of `models` that is a table.
var modelFields = []field[Model]{
	row("id", func(m *Model) *string { return &m.ID }, modelID, "the vendor's id", "", "Must be there."),
	row("apis", func(m *Model) *[]string { return &m.APIs }, some(oneOf(protocols...)), "list of `chat` `responses` `messages` `gemini`", "the provider's", "The APIs it is served on."),
	row("context", func(m *Model) *int { return &m.Context }, atLeast(1), "a whole number", "unknown", "Tokens it takes in all."),
	row("max_output", func(m *Model) *int { return &m.MaxOutput }, atLeast(1), "a whole number", "unknown", "Tokens it writes at most."),
	row("inputs", func(m *Model) *[]string { return &m.Inputs }, some(oneOf(inputs...)), "list of `text` `image` `audio` `video` `file`", "unknown", "What it can be shown."),
	row("efforts", func(m *Model) *[]string { return &m.Efforts }, some(lower(oneOf(levels...))), "list of "+level, "unknown", "How hard it can think."),
	row("price", func(m *Model) **Price { return &m.Price }, price, "table of `input` `output` `cache_read` `cache_write`", "unknown", "USD per million tokens."),
}

// priceFields are the keys of a model's price.
var priceFields = []field[Price]{
	row("input", func(p *Price) *float64 { return &p.Input }, amount, "USD", "0", "Tokens read."),
	row("output", func(p *Price) *float64 { return &p.Output }, amount, "USD", "0", "Tokens written."),
	row("cache_read", func(p *Price) *float64 { return &p.CacheRead }, amount, "USD", "0", "Tokens read from the vendor's cache."),
	row("cache_write", func(p *Price) *float64 { return &p.CacheWrite }, amount, "USD", "0", "Tokens put into it."),
}

// base makes the field of one API's base URL.
func base(api, form string) field[Provider] {
	read := web(true, false)
	return field[Provider]{
		key: api, takes: `a URL, or ""`, def: "the preset's",
		means: "Where the " + api + " API is spoken; the URL " + form + ". Empty: not spoken.",
		read: func(d *decoder, n *node, p *Provider) {
			v, ok := read(d, n)
			if !ok {
				return
			}
			if p.Bases == nil {
				p.Bases = map[string]string{}
			}
			p.Bases[api] = v
		},
	}
}

func readProviders(d *decoder, n *node, c *Config) {
	d.each(n, func(id string, k *node) {
		d.reserved(id, k)
		p := Provider{ID: id, Pos: k.keyAt, PresetPos: k.keyAt, RegionPos: k.keyAt, BalancePos: k.keyAt}
		if !fill(d, k, providerFields, &p) {
			return
		}
		if preset := k.kid("preset"); preset != nil && preset.kind == isText {
			p.PresetPos = preset.at
			p.NoPreset = preset.text == ""
		}
		if region := k.kid("region"); region != nil {
			p.RegionPos = region.at
		}
		if path := k.kid("balance_path"); path != nil {
			p.BalancePos = path.at
		}
		p.FallbackPos = places(k.kid("fallback"), p.Fallback)
		if p.NoPreset && !hasBase(k) {
			d.wrong(k.keyAt, "the provider "+strconv.Quote(id)+" has neither a preset nor a base URL", `give it chat, responses, messages or gemini`)
		}
		d.nameKeys(&p)
		d.models(&p)
		c.Providers = append(c.Providers, p)
	})
}

// hasBase says whether one of the four base URLs is written, be it a usable one or not, which is told already.
func hasBase(n *node) bool {
	for _, api := range protocols {
		if b := n.kid(api); b != nil && (b.kind != isText || b.text != "") {
			return true
		}
	}
	return false
}

// nameKeys names the nameless keys and accounts by their place and reports names that stand twice.
func (d *decoder) nameKeys(p *Provider) {
	seen := map[string]Pos{}
	take := func(name string, at Pos) {
		small := strings.ToLower(name)
		if first, ok := seen[small]; ok {
			d.wrong(at, "the name "+strconv.Quote(name)+" stands twice in "+strconv.Quote(p.ID)+", first in line "+strconv.Itoa(first.Line), "case doesn't count")
			return
		}
		seen[small] = at
	}
	for i := range p.Keys {
		k := &p.Keys[i]
		if k.Name == "" {
			k.Name = "key" + strconv.Itoa(i+1)
		}
		take(k.Name, k.Pos)
	}
	for i := range p.Accounts {
		a := &p.Accounts[i]
		if a.Name == "" {
			a.Name = "account" + strconv.Itoa(i+1)
		}
		take(a.Name, a.Pos)
	}
}

// models reports models that stand twice.
func (d *decoder) models(p *Provider) {
	seen := map[string]bool{}
	for _, m := range p.Models {
		if seen[m.ID] {
			d.wrong(m.Pos, "the model "+strconv.Quote(m.ID)+" stands twice in "+strconv.Quote(p.ID), "")
		}
		seen[m.ID] = true
	}
}

// readKey reads one entry of keys. Whatever in it isn't known to be harmless is not shown.
func readKey(d *decoder, n *node) (Key, bool) {
	for _, f := range n.kids {
		if find(keyFields, f.key) == nil {
			d.hide(f)
		}
	}
	k := Key{Pos: n.at, Weight: 1}
	if !fill(d, n, keyFields, &k) {
		return k, false
	}
	var given []string
	for _, f := range []string{"value", "env", "file", "command"} {
		if n.kid(f) != nil {
			given = append(given, f)
		}
	}
	switch len(given) {
	case 1:
	case 0:
		d.wrong(n.at, "the key has no secret", "give it one of value, env, file, command")
	default:
		d.wrong(n.kid(given[1]).keyAt, "the key has several secrets: "+strings.Join(given, ", "), "keep one of them")
	}
	return k, true
}

func readAccount(d *decoder, n *node) (Account, bool) {
	a := Account{Pos: n.at}
	return a, fill(d, n, accountFields, &a)
}

func readModel(d *decoder, n *node) (Model, bool) {
	m := Model{Pos: n.at}
	if n.kind == isText {
		id, ok := modelID(d, n)
		m.ID = id
		return m, ok
	}
	if n.kind != isTable {
		d.must(n, "a model's id or a table")
		return m, false
	}
	if !fill(d, n, modelFields, &m) {
		return m, false
	}
	if n.kid("id") == nil {
		d.wrong(n.at, "the model has no id", "")
		return m, false
	}
	return m, m.ID != ""
}

func price(d *decoder, n *node) (*Price, bool) {
	var p Price
	return &p, fill(d, n, priceFields, &p)
}

// modelID reads a vendor's id of a model.
func modelID(d *decoder, n *node) (string, bool) {
	s, ok := filled(d, n)
	if ok && strings.ContainsAny(s, " \t\r\n") {
		d.bad(n, "holds a blank", "")
		return "", false
	}
	return s, ok
}

// who reads the name of a key or account.
func who(d *decoder, n *node) (string, bool) {
	s, ok := filled(d, n)
	switch {
	case !ok:
	case strings.Contains(s, "/"):
		d.bad(n, "holds a /", "a name ends at the first / of provider/name")
		return "", false
	case s != strings.TrimSpace(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		d.bad(n, "begins or ends with a blank, or is more than one line", "")
		return "", false
	}
	return s, ok
}

// variable reads the name of an environment variable. People put the key itself there by mistake, so the
// value is not repeated.
func variable(d *decoder, n *node) (string, bool) {
	s, ok := filled(d, n)
	if !ok {
		return "", false
	}
	if strings.Trim(s, letters+digits+"_") != "" || strings.ContainsRune(digits, rune(s[0])) {
		d.hide(n)
		d.bad(n, "is not an environment variable's name", "a key itself is given as value")
		return "", false
	}
	return s, true
}

// windowCaps reads caps by window; the windows' names are kept in small letters.
func windowCaps(d *decoder, n *node) (map[string]int, bool) {
	if !d.is(n, isTable) {
		return nil, false
	}
	all := map[string]int{}
	for _, k := range n.kids {
		v, ok := whole(1, 100)(d, k)
		small := strings.ToLower(k.key)
		if _, twice := all[small]; twice {
			d.wrong(k.keyAt, "the window "+k.name+" stands twice", "case doesn't count")
			continue
		}
		if ok {
			all[small] = v
		}
	}
	return all, true
}

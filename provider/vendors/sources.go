package vendors

import (
	"net/url"
	"strings"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors/balance"
	"dev.magpie/provider/vendors/commandcode"
	"dev.magpie/provider/vendors/glm"
	"dev.magpie/provider/vendors/grok"
	"dev.magpie/provider/vendors/kimi"
	"dev.magpie/provider/vendors/minimax"
	"dev.magpie/provider/vendors/opencodego"
	"dev.magpie/provider/vendors/sub2api"
)

// Source is where a vendor tells what is left behind a key, and how that is read.
type Source struct {
	Name    string // of its row
	URL     string
	Windows bool // it tells windows, which routing weighs; without them only people ask
	// Header puts the key on the request.
	Header func(key string) provider.Header
	// Keys says of which keys it tells anything; nil = of all.
	Keys  func(key string) bool
	Parse func(body []byte, at time.Time) (provider.Reading, error)
}

// row is one line of the table of plans whose keys tell windows.
type row struct {
	name   string
	of     func(p *provider.Provider) bool
	url    func(p *provider.Provider) string
	header func(key string) provider.Header
	keys   func(key string) bool
	parse  func([]byte, time.Time) (provider.Reading, error)
}

var plans = []row{
	{"kimi", preset("kimi-code", "kimi-code-cn"), under("/usages"), bearer, nil, kimi.Parse},
	{"glm", coding("zhipu", "zai"), ofTeam(at("/api/monitor/usage/quota/limit")), bare, nil, glm.Parse},
	{"minimax", preset("minimax", "minimax-cn"), at("/v1/token_plan/remains"), bearer, planKey, minimax.Parse},
	{"opencode-go", preset("opencode-go"), under("/usage"), bearer, nil, opencodego.Parse},
	{"grok", host("cli-chat-proxy.grok.com"), at("/v1/billing?format=credits"), bearer, nil, grok.Parse},
	{"command-code", host("api.commandcode.ai"), at("/alpha/billing/credits"), bearer, nil, commandcode.Parse},
}

// SourceOf returns where a provider's keys are told of. It is decided by the config alone:
// nothing is ever asked to find out.
func SourceOf(p *provider.Provider) (Source, bool) {
	if sub2api.Is(p.BalanceURL) {
		s := Source{Name: "sub2api", URL: p.BalanceURL, Windows: true, Header: bearer, Parse: sub2api.Parse}
		if p.BalancePath != "" {
			s.Parse = withBalance(p)
		}
		return s, true
	}
	if p.BalanceURL != "" {
		b, err := balance.ByURL(p.BalanceURL, p.BalancePath)
		if err != nil {
			return Source{Name: "balance", URL: p.BalanceURL, Header: bearer, Parse: func([]byte, time.Time) (provider.Reading, error) { return provider.Reading{}, err }}, true
		}
		return money(b, "balance"), true
	}
	for i := range plans {
		if r := &plans[i]; r.of(p) {
			return Source{Name: r.name, URL: r.url(p), Windows: true, Header: r.header, Keys: r.keys, Parse: r.parse}, true
		}
	}
	if b, ok := balance.ByHost(home(p)); ok {
		b.URL = moved(b.URL, p)
		return money(b, "balance"), true
	}
	return Source{}, false
}

func money(b balance.Source, name string) Source {
	return Source{Name: name, URL: b.URL, Header: bearer, Parse: func(body []byte, _ time.Time) (provider.Reading, error) {
		s, err := b.Parse(body)
		return provider.Reading{Balance: s}, err
	}}
}

// withBalance reads windows, and as the balance what the person's own place says.
func withBalance(p *provider.Provider) func([]byte, time.Time) (provider.Reading, error) {
	return func(body []byte, at time.Time) (provider.Reading, error) {
		r, err := sub2api.Parse(body, at)
		if err != nil {
			return r, err
		}
		b, err := balance.ByURL(p.BalanceURL, p.BalancePath)
		if err != nil {
			return r, err
		}
		told, err := b.Parse(body)
		if err != nil && len(r.Windows) > 0 {
			return r, nil // what it tells counts more than a place that is not there
		}
		r.Balance = told
		return r, err
	}
}

func bearer(key string) provider.Header {
	return provider.Header{Name: "Authorization", Value: "Bearer " + key}
}

func bare(key string) provider.Header { return provider.Header{Name: "Authorization", Value: key} }

// planKey says whether a key of MiniMax belongs to a plan; others are paid as they go.
func planKey(key string) bool { return strings.HasPrefix(key, "sk-cp-") }

func preset(ids ...string) func(*provider.Provider) bool {
	return func(p *provider.Provider) bool {
		for _, id := range ids {
			if p.Preset == id {
				return true
			}
		}
		return false
	}
}

// coding is the region of a plan; keys at the others are paid as they go.
func coding(ids ...string) func(*provider.Provider) bool {
	is := preset(ids...)
	return func(p *provider.Provider) bool { return is(p) && p.Region == "coding" }
}

func host(name string) func(*provider.Provider) bool {
	return func(p *provider.Provider) bool {
		u, err := url.Parse(base(p))
		return err == nil && strings.EqualFold(u.Hostname(), name)
	}
}

// under is a path behind the base of Chat.
func under(path string) func(*provider.Provider) string {
	return func(p *provider.Provider) string { return base(p) + path }
}

// at is a path on the host of the base.
func at(path string) func(*provider.Provider) string {
	return func(p *provider.Provider) string {
		u, err := url.Parse(base(p))
		if err != nil {
			return ""
		}
		return u.Scheme + "://" + u.Host + path
	}
}

// ofTeam asks for the team's plan where the person's headers name a team.
func ofTeam(address func(*provider.Provider) string) func(*provider.Provider) string {
	return func(p *provider.Provider) string {
		for _, h := range p.Headers {
			if strings.EqualFold(h.Name, "Bigmodel-Organization") {
				return address(p) + "?type=2"
			}
		}
		return address(p)
	}
}

// base is the provider's base of Chat, else of the first API that it speaks.
func base(p *provider.Provider) string {
	for _, api := range wire.Protocols {
		if b := p.Bases[api]; b != "" && (api == wire.Chat || p.Bases[wire.Chat] == "") {
			return b
		}
	}
	return ""
}

// home is the address by which a vendor is known: its preset's, whatever the person put in its place.
func home(p *provider.Provider) string {
	if preset, _, ok := provider.FindPreset(p.Preset); ok {
		if r, ok := preset.Region(p.Region); ok && r.Chat != "" {
			return r.Chat
		}
	}
	return base(p)
}

// moved is the source's path on the host that the person put in the vendor's place.
func moved(address string, p *provider.Provider) string {
	from, err := url.Parse(address)
	to, err2 := url.Parse(base(p))
	if err != nil || err2 != nil || to.Host == "" {
		return address
	}
	from.Scheme, from.Host = to.Scheme, to.Host
	return from.String()
}

package provider

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// Door is one thing that an API can be asked for.
type Door string

// What an API can be asked for.
const (
	Generate   Door = "generate"   // an answer; for Gemini, one that is not streamed
	Stream     Door = "stream"     // Gemini's streamed answer; elsewhere the same as Generate
	Count      Door = "count"      // the tokens of a request
	Embeddings Door = "embeddings" // Chat's and Gemini's alone
	Batch      Door = "batch"      // Gemini's embeddings of several texts
	ModelList  Door = "models"     // what the vendor has
)

// Speaks reports whether the provider has a base for the API.
func (p *Provider) Speaks(api wire.Protocol) bool { return p.Bases[api] != "" }

// SpeaksFor reports whether the provider serves that model on the API: by its base, and by
// the APIs that the file, the fetched list or the preset gives for the model.
func (p *Provider) SpeaksFor(api wire.Protocol, model string, fetched *List) bool {
	if !p.Speaks(api) {
		return false
	}
	apis := p.apisOf(model, fetched)
	return len(apis) == 0 || slices.Contains(apis, api)
}

// apisOf returns the APIs that are known for a model, none when nothing is known.
func (p *Provider) apisOf(model string, fetched *List) []wire.Protocol {
	model = Unmarked(model)
	if i, ok := p.listed[model]; ok && len(p.Models[i].APIs) > 0 {
		return p.Models[i].APIs
	}
	if m, ok := fetched.Model(model); ok && len(m.APIs) > 0 {
		return m.APIs
	}
	if len(p.rules) == 0 {
		return nil
	}
	low := strings.ToLower(model)
	for _, r := range p.rules {
		if strings.Contains(low, r.Has) {
			return r.APIs
		}
	}
	return nil
}

// URL returns the whole address for one thing of an API, "" when the provider does not
// have it. The model matters to Gemini alone, whose paths name it.
func (p *Provider) URL(api wire.Protocol, door Door, model string) string {
	base := p.Bases[api]
	if base == "" {
		return ""
	}
	tail := doors[api][door]
	if tail == "" {
		return ""
	}
	if api == wire.Gemini && door != ModelList {
		return base + "/models/" + escapeModel(model) + tail
	}
	return base + tail
}

// doors is what each API adds to its base; Gemini puts the model between.
var doors = map[wire.Protocol]map[Door]string{
	wire.Chat: {
		Generate: "/chat/completions", Stream: "/chat/completions",
		Embeddings: "/embeddings", ModelList: "/models",
	},
	wire.Responses: {
		Generate: "/responses", Stream: "/responses",
		Count: "/responses/input_tokens", ModelList: "/models",
	},
	wire.Messages: {
		Generate: "/v1/messages", Stream: "/v1/messages",
		Count: "/v1/messages/count_tokens", ModelList: "/v1/models?limit=1000",
	},
	wire.Gemini: {
		Generate: ":generateContent", Stream: ":streamGenerateContent?alt=sse",
		Count: ":countTokens", Embeddings: ":embedContent", Batch: ":batchEmbedContents", ModelList: "/models?pageSize=1000",
	},
}

// escapeModel makes a model's id fit a path. Its slashes stay, unless it tries to climb out.
func escapeModel(model string) string {
	if !strings.Contains(model, "/") {
		return url.PathEscape(model)
	}
	parts := strings.Split(model, "/")
	for i, part := range parts {
		if part == "." || part == ".." {
			return url.PathEscape(model)
		}
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// ListURL returns where the vendor's model list is and in which API's shape, false when it has none.
func (p *Provider) ListURL() (address string, shape wire.Protocol, ok bool) {
	if p.NoList {
		return "", "", false
	}
	for _, api := range wire.Protocols {
		if !p.Speaks(api) {
			continue
		}
		if p.list != "" {
			return p.list, api, true
		}
		return p.URL(api, ModelList, ""), api, true
	}
	return "", "", false
}

// Header returns the request header that carries a key in this style.
func (s AuthStyle) Header(key string) (name, value string) {
	switch s {
	case AuthBearer:
		return "Authorization", "Bearer " + key
	case AuthXAPIKey:
		return "X-Api-Key", key
	case AuthGoogle:
		return "X-Goog-Api-Key", key
	case AuthAPIKey:
		return "Api-Key", key
	}
	return "Authorization", "Bearer " + key
}

// ownAuth is how each API carries a key where a preset says nothing.
func ownAuth(api wire.Protocol) AuthStyle {
	switch api {
	case wire.Chat, wire.Responses:
		return AuthBearer
	case wire.Messages:
		return AuthXAPIKey
	case wire.Gemini:
		return AuthGoogle
	}
	return AuthBearer
}

// tails are what people paste behind a base: the path that is added to it anyway.
var tails = map[wire.Protocol][]string{
	wire.Chat:      {"/chat/completions"},
	wire.Responses: {"/responses"},
	wire.Messages:  {"/v1/messages", "/v1"},
	wire.Gemini:    {"/models"},
}

// NormalBase brings a base address into the form that the rest works with: with a scheme,
// without a trailing slash or the part that its API adds.
func NormalBase(api wire.Protocol, raw string) (string, error) {
	s := strings.TrimSpace(raw)
	if !strings.Contains(s, "://") {
		s = defaultScheme(s) + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return "", errors.New("it cannot be read as a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("its scheme is %q, not http or https", u.Scheme)
	case u.Hostname() == "":
		return "", errors.New("it names no host")
	case u.User != nil:
		return "", errors.New("a name or password in it does not belong there: give the key under keys")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("it has a query or fragment")
	}
	s = strings.TrimRight(s, "/")
	for _, tail := range tails[api] {
		if cut, ok := strings.CutSuffix(s, tail); ok {
			return strings.TrimRight(cut, "/"), nil
		}
	}
	return s, nil
}

// defaultScheme is https, but http for this machine, where nobody has a certificate.
func defaultScheme(address string) string {
	if u, err := url.Parse("http://" + address); err == nil && isLoopback(u.Hostname()) {
		return "http://"
	}
	return "https://"
}

// allLoopback reports whether there are bases and every one is on this machine.
func allLoopback(bases map[wire.Protocol]string) bool {
	for _, b := range bases {
		u, err := url.Parse(b)
		if err != nil || !isLoopback(u.Hostname()) {
			return false
		}
	}
	return len(bases) > 0
}

func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

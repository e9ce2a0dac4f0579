package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// shape is what of a request is another for one candidate than as the agent sent it.
type shape struct {
	mend      mend
	wish      wish
	describes bool        // images are replaced by what the describer says of them
	anew      bool        // it is written anew, though the agent speaks the vendor's API
	edits     []wire.Edit // else what is written into the agent's bytes
}

// shape settles it for a try on an API.
func (t *try) shape(api wire.Protocol) {
	s, h := t.s, &t.h
	if !s.generates() {
		h.mend = s.mend(t.c)
		h.anew = h.mend.rewrites(s.a)
		return
	}
	h.wish = s.wishFor(s.at)
	h.mend = s.mend(t.c)
	h.mend.tool = h.mend.tool || s.g.unfit.has(t.p.ID, api, imageTool)
	if s.a.env.Images && !h.mend.images {
		m := t.p.Model(t.c.Model, s.lv.fetched()[t.p.ID])
		h.mend.images = len(m.Inputs) > 0 && !slices.Contains(m.Inputs, "image")
	}
	h.describes = h.mend.images && s.a.env.Images && s.describer() != ""
	if h.anew = h.mend.rewrites(s.a); h.anew || api != s.a.api {
		return
	}
	if h.wish.changes() && api == wire.Chat && t.p.Dialect.Switch != wire.SwitchEffort { // it has words of its own
		h.anew = true
		return
	}
	h.edits, h.anew = s.edits(h, t.c.Model)
}

// generates says whether a request asks for a model's reply.
func (s *service) generates() bool {
	return s.a.door == provider.Generate || s.a.door == provider.Stream
}

// describer is the model that describes images to others, "" for none. It is not asked about
// what it is itself asked.
func (s *service) describer() string {
	if s.a.inner != "" {
		return ""
	}
	return s.lv.cfg.Describer
}

// edits are what is written into the agent's own bytes; anew says that bytes can't say it.
func (s *service) edits(h *shape, model string) (edits []wire.Edit, anew bool) {
	if h.wish.changes() {
		more, ok := s.a.env.EditEffort(s.a.body, s.a.api, model, h.wish.level)
		if !ok && s.a.tail == "" {
			return nil, true
		}
		edits = append(edits, more...)
	}
	if h.mend.tool {
		more, _ := wire.DropImageTool(s.a.body)
		edits = append(edits, more...)
	}
	return edits, false
}

// shaped is the neutral form as this candidate gets it.
func (h *shape) shaped(s *service, asked *wire.Ask, to *wire.Target) (*wire.Ask, error) {
	if h.describes && has(asked, wire.KindImage) {
		var err error
		if asked, err = s.described(asked); err != nil {
			return nil, err
		}
	}
	asked = h.mend.apply(asked, to)
	if h.wish.changes() {
		asked = askFor(asked, h.wish.level)
	}
	return asked, nil
}

// imageTool is Codex's tool that makes images, among what a vendor's API may not know.
const imageTool = "tool:image_gen"

// optional are fields that a vendor may refuse by name: a refusal that names one is not about a tool.
var optional = []string{
	"store", "metadata", "service_tier", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "stream_options",
	"parallel_tool_calls", "verbosity", "thinking", "enable_thinking", "reasoning",
}

// unknownTool says whether a refusal may be because of Codex's image tool, which a vendor of
// another house does not know: a 400 that says of nothing else that it is wrong.
func (s *service) unknownTool(c *trace.Candidate, o *outcome) bool {
	if o.seen != http.StatusBadRequest && o.seen != http.StatusUnprocessableEntity || s.mends[c.ID].tool || !s.generates() {
		return false
	}
	switch o.verdict.Kind {
	case trace.Request, trace.Other, trace.Shape:
	case trace.Credit, trace.Quota, trace.Rate, trace.Auth, trace.Overloaded, trace.Refused, trace.TooLarge, trace.Slow, trace.Prompt,
		trace.Effort, trace.Proxy, trace.Verify, trace.Cancelled, trace.Model, trace.Network:
		return false
	}
	said := strings.ToLower(o.words)
	if slices.ContainsFunc(optional, func(f string) bool { return named1(said, f) }) {
		return false
	}
	p, acct := s.lv.cat.Provider(c.Provider), s.lv.cat.Account(provider.AccountID(c.ID))
	if p == nil || acct == nil || ownHouse(p, acct, s.asking) {
		return false
	}
	if s.asking == s.a.api {
		_, offered := wire.DropImageTool(s.a.body)
		return offered
	}
	asked, err := s.a.neutral()
	return err == nil && slices.ContainsFunc(asked.Tools, func(t wire.Tool) bool { return wire.IsImageTool(t.Name) })
}

// named1 says whether a field is named in words as a field is: between quotes, or before a colon.
func named1(said, field string) bool {
	for _, q := range []string{"'" + field + "'", `"` + field + `"`, "`" + field + "`", ": " + field, field + ":"} {
		if strings.Contains(said, q) {
			return true
		}
	}
	return false
}

// ownHouse says whether whoever is asked made that tool: a sign-in of ChatGPT, or OpenAI itself.
func ownHouse(p *provider.Provider, acct *provider.Account, api wire.Protocol) bool {
	if acct.Kind == provider.KindAccount && (p.Dialect.Vendor == "codex" || p.Dialect.Vendor == "openai") {
		return true
	}
	u, err := url.Parse(p.Bases[api])
	return err == nil && (u.Hostname() == "openai.com" || strings.HasSuffix(u.Hostname(), ".openai.com"))
}

package gateway

import (
	"net/http"
	"net/textproto"
	"strings"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// fixedHeaders are the agent's headers that belong to an API, not to a program.
var fixedHeaders = []string{"Content-Type", "Accept", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta"}

// ownHeaders are the headers by which a program tells its own vendor who it is. They go on
// only when the agent is that program.
var ownHeaders = map[string]struct{ names, prefixes []string }{
	"claude": {names: []string{"User-Agent", "X-App"}, prefixes: []string{"Anthropic-", "X-Stainless-", "X-Claude-Code-"}},
	"codex":  {names: []string{"User-Agent", "Originator", "Version", "Session-Id", "Session_id", "Conversation_id", "Thread-Id", "X-Client-Request-Id"}, prefixes: []string{"X-Codex-"}},
}

var jsonType = []string{"application/json"}

// neverOn are headers that never go on, whatever they begin with: keys, and what is ours.
func neverOn(name string) bool {
	switch name {
	case "Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie", "X-Magpie-Account", "X-Magpie-Session":
		return true
	}
	return false
}

// request builds what one candidate's vendor is sent. The agent's key is not in it: the
// headers begin empty.
func (t *try) request(secret config.Secret) (*http.Request, error) {
	s, a := t.s, t.s.a
	address, body := "", t.body
	if t.x != nil {
		address = t.p.URL(t.api, t.x.door, t.c.Model)
	} else {
		address = t.p.URL(a.api, a.door, t.c.Model)
		address, _, _ = strings.Cut(address, "?") // alt is the agent's to choose, or Gemini's array it is
		address += a.tail
		if a.query != "" {
			address += "?" + a.query
		}
	}
	req, err := http.NewRequestWithContext(t.ctx, http.MethodPost, address, body.Reader())
	if err != nil {
		return nil, err
	}
	req.ContentLength = body.Len()
	req.GetBody = nil // a try is one sending; the next one is a decision
	if t.x != nil && t.x.from != t.x.to {
		s.strangeHeaders(req.Header, t, secret)
	} else {
		s.headers(req.Header, t.p, t.acct, secret)
		t.spareBetas(req.Header)
		if t.own() {
			copyOwn(req.Header, s.a.header, ownHeaders[s.a.agent].names, ownHeaders[s.a.agent].prefixes)
		}
	}
	t.sign(req.Header)
	for _, h := range t.p.Headers {
		if strings.EqualFold(h.Name, "host") {
			req.Host = h.Value
			continue
		}
		req.Header.Set(h.Name, h.Value)
	}
	return req, nil
}

// strangeHeaders are those of a translated request: none of the agent's mean anything there.
func (s *service) strangeHeaders(to http.Header, t *try, secret config.Secret) {
	to["User-Agent"] = s.g.userAgent
	to["Content-Type"] = jsonType
	to["Accept"] = jsonType
	if t.x.door == provider.Stream {
		to["Accept"] = []string{"text/event-stream"}
	}
	if t.api == wire.Messages {
		to["Anthropic-Version"] = []string{"2023-06-01"}
	}
	if secret != "" {
		name, value := t.p.Auth[t.api].Header(secret.Reveal())
		to[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
}

// body is the agent's body with the candidate's model in it. Gemini names the model in the
// path; bodies for embeddings repeat it, and the vendor wants both to be the same.
func (s *service) body(p *provider.Provider, model string, edits []wire.Edit) wire.Body {
	a := s.a
	switch {
	case a.api == wire.Messages && !p.Claudes(model):
		return wire.SwapPlain(a.body, &a.env, model, edits...)
	case a.api != wire.Gemini:
		return wire.SwapModel(a.body, &a.env, model, edits...)
	case a.door == provider.Embeddings, a.door == provider.Batch:
		return wire.SwapEmbedModels(a.body, "models/"+model)
	}
	return wire.Edited(a.body, edits)
}

func (s *service) headers(to http.Header, p *provider.Provider, acct *provider.Account, secret config.Secret) {
	from := s.a.header
	for _, name := range fixedHeaders {
		if v := from[textproto.CanonicalMIMEHeaderKey(name)]; len(v) > 0 {
			to[textproto.CanonicalMIMEHeaderKey(name)] = v
		}
	}
	to["User-Agent"] = s.g.userAgent
	if own, ok := ownHeaders[s.a.agent]; ok && acct.Kind != provider.KindAccount {
		copyOwn(to, from, own.names, own.prefixes)
	}
	if len(to["Content-Type"]) == 0 {
		to["Content-Type"] = jsonType
	}
	if s.a.api == wire.Messages && len(to["Anthropic-Version"]) == 0 {
		to["Anthropic-Version"] = []string{"2023-06-01"}
	}
	if secret != "" {
		name, value := p.Auth[s.a.api].Header(secret.Reveal())
		to[textproto.CanonicalMIMEHeaderKey(name)] = []string{value}
	}
}

func copyOwn(to, from http.Header, names, prefixes []string) {
	for name, v := range from {
		if neverOn(name) {
			continue
		}
		for _, n := range names {
			if strings.EqualFold(name, n) {
				to[name] = v
			}
		}
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				to[name] = v
			}
		}
	}
}

package gateway

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/redact"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// cloak makes what masks the requests of a config, nil where it masks nothing.
func (g *Gateway) cloak(cfg *config.Config) *redact.Cloak {
	r := redact.Rules{
		Secrets: slices.Contains(cfg.Redact, "secrets"), Personal: slices.Contains(cfg.Redact, "personal"), Known: g.masker,
	}
	if slices.Contains(cfg.Redact, "words") {
		r.Words = cfg.RedactWords
	}
	if !r.Secrets && !r.Personal && len(r.Words) == 0 {
		return nil
	}
	for _, p := range cfg.RedactRules {
		if re, err := regexp.Compile(p); err == nil { // the config's own reading has told of any other
			r.Patterns = append(r.Patterns, re)
		}
	}
	return redact.NewCloak(r, g.redactKey())
}

// redactKey is what makes placeholders the same in each request and each run. Where the one that is kept
// can't be had, masking goes on with one for this run, and it is told what that costs.
func (g *Gateway) redactKey() []byte {
	g.maskKeys.Do(func() {
		if g.d.RedactKey == "" {
			g.maskKey = redact.NewKey()
			return
		}
		key, err := redact.KeyAt(g.d.RedactKey)
		if err != nil {
			key = redact.NewKey()
			g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: "placeholders are other ones after a restart, so vendors' caches are cold then: " + g.masker.Mask(err.Error())})
		}
		g.maskKey = key
	})
	return g.maskKey
}

// mask puts placeholders into the request, unless all who may be asked take it whole.
func (s *service) mask() {
	if s.lv.cloak == nil || s.lv.whole(&s.target, s.order) {
		return
	}
	s.a.firstWords() // what the conversation is remembered by is what the agent wrote
	body, vault := s.lv.cloak.Mask(s.a.body)
	if vault == nil {
		return
	}
	env, err := wire.Read(body, s.a.api)
	if err != nil { // a body that can be read can be read masked
		panic("a masked body can't be read: " + err.Error())
	}
	s.a.body, s.a.env, s.vault = body, env, vault
	s.a.asked, s.a.notAsked = nil, nil
	s.rec.masked(vault)
}

// masked is a text that comes to the request after it was masked.
func (s *service) masked(text string) string {
	if s.lv.cloak == nil || s.lv.whole(&s.target, s.order) {
		return text
	}
	out, vault := s.lv.cloak.MaskText(s.vault, text)
	if s.vault == nil && vault != nil {
		s.vault = vault
		s.out.mu.Lock()
		s.out.restore(vault, s.a)
		s.out.mu.Unlock()
	}
	s.rec.masked(vault)
	return out
}

// unpack has a reply to a masked request read as what it is: placeholders in it could not be seen. A vendor
// packs one unasked.
func (t *try) unpack() {
	if !packed(t.resp.Header) {
		return
	}
	plain, ok := upstream.Unpacked(t.resp.Body, strings.Join(t.resp.Header.Values("Content-Encoding"), ","))
	if !ok {
		return
	}
	t.resp.Body = unpacked{plain, t.resp.Body}
	t.resp.Header.Del("Content-Encoding")
	t.resp.Header.Del("Content-Length")
	t.resp.ContentLength = -1
}

// unpacked reads what a body holds, and closes the body.
type unpacked struct {
	io.Reader
	io.Closer
}

// whole says whether whatever a request may be tried on takes it unmasked.
func (l *live) whole(t *provider.Target, order []trace.Candidate) bool {
	if !l.catalog().SkipsRedaction(t) {
		return false
	}
	for i := range order {
		if p := l.cat.Provider(order[i].Provider); p == nil || !p.SkipsRedaction() {
			return false
		}
	}
	return true
}

// masked notes how much of the request was masked, and nothing of what.
func (rec *record) masked(v *redact.Vault) {
	if c := v.Counts(); c.Total() > 0 {
		rec.r.Masked = &trace.Masked{Secrets: c.Secrets, Personal: c.Personal, Words: c.Words}
	}
}

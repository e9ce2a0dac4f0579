package gateway

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// MediaSource gets what stands at a URL.
type MediaSource interface {
	Get(ctx context.Context, address string) (mime string, data []byte, err error)
}

// Bounds of what is fetched for one request.
const (
	mediaMost  = 16
	mediaBytes = 40 << 20
)

// fetched is what a URL of a request led to.
type fetched struct {
	media *wire.Media // nil: it could not be had
	why   string
}

// inline puts bytes in the place of URLs of images and documents, for an API that fetches
// nothing itself. What can't be had stays as it is.
func (s *service) inline(asked *wire.Ask) *wire.Ask {
	out := *asked
	out.Turns = nil
	for i := range asked.Turns {
		parts, changed := s.inlineParts(asked.Turns[i].Parts)
		if !changed {
			continue
		}
		if out.Turns == nil {
			out.Turns = slices.Clone(asked.Turns)
		}
		out.Turns[i].Parts = parts
	}
	if out.Turns == nil {
		return asked
	}
	return &out
}

func (s *service) inlineParts(parts []wire.Part) (out []wire.Part, changed bool) {
	out = parts
	set := func(i int, change func(p *wire.Part)) {
		if !changed {
			out, changed = slices.Clone(parts), true
		}
		change(&out[i])
	}
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Reply != nil:
			if in, ok := s.inlineParts(p.Reply.Parts); ok {
				r := *p.Reply
				r.Parts = in
				set(i, func(p *wire.Part) { p.Reply = &r })
			}
		case p.Media != nil && p.Media.Data == "" && fetchable(p.Media.URL) && (p.Kind == wire.KindImage || p.Kind == wire.KindFile):
			if got := s.fetch(p.Kind, p.Media); got.media != nil {
				set(i, func(p *wire.Part) { p.Media = got.media })
			}
		}
	}
	return out, changed
}

// fetchable says whether an address is one of the web, and not of Google's own store.
func fetchable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Hostname() != "generativelanguage.googleapis.com"
}

// fetch gets one medium, once for all tries of the request.
func (s *service) fetch(k wire.Kind, m *wire.Media) fetched {
	if got, ok := s.media[m.URL]; ok {
		return got
	}
	got := fetched{why: "so many are not fetched"}
	if len(s.media) < mediaMost && s.mediaBytes < mediaBytes {
		got = s.fetchNow(k, m)
	}
	if s.media == nil {
		s.media = map[string]fetched{}
	}
	s.media[m.URL] = got
	return got
}

func (s *service) fetchNow(k wire.Kind, m *wire.Media) fetched {
	mime, data, err := s.g.d.Media.Get(s.ctx, m.URL)
	if err != nil {
		return fetched{why: s.g.masker.Mask(err.Error())}
	}
	s.mediaBytes += len(data)
	text := base64.StdEncoding.EncodeToString(data)
	if found := wire.SniffMIME(text); found != "application/octet-stream" {
		mime = found
	}
	if k == wire.KindImage && !strings.HasPrefix(mime, "image/") || k == wire.KindFile && mime != "application/pdf" {
		return fetched{why: "what is there is no " + map[wire.Kind]string{wire.KindImage: "image", wire.KindFile: "PDF"}[k]}
	}
	whole := *m
	whole.MIME, whole.Data, whole.URL = mime, text, ""
	return fetched{media: &whole}
}

// unfetched says why what a refusal is about could not be had, "" where nothing was fetched in vain.
func (s *service) unfetched() string {
	for _, got := range s.media {
		if got.media == nil {
			return got.why
		}
	}
	return ""
}

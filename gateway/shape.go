package gateway

import (
	"slices"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// shape is what of a request is another for one candidate than as the agent sent it.
type shape struct {
	wish      wish
	describes bool        // images are replaced by what the describer says of them
	anew      bool        // it is written anew, though the agent speaks the vendor's API
	edits     []wire.Edit // else what is written into the agent's bytes
}

// thinking says whether a model may think about the request: also where not all of it is read.
func (a *ask) thinking() bool { return a.door == provider.Generate || a.door == provider.Stream }

// shape settles it for a try on an API.
func (t *try) shape(api wire.Protocol) {
	s, h := t.s, &t.h
	if !s.a.thinking() {
		return
	}
	h.wish = s.wishFor(s.at)
	if s.a.generates() {
		t.blind()
		if h.anew = s.rewrites(t.things); h.anew || api != s.a.api {
			return
		}
	}
	if !h.wish.changes() {
		return
	}
	var ok bool
	if api != wire.Chat || t.p.Dialect.Switch == wire.SwitchEffort { // else the vendor has words of its own for it
		h.edits, ok = s.a.env.EditEffort(s.a.body, s.a.api, t.c.Model, h.wish.level)
	}
	h.anew = !ok && s.a.generates()
}

// blind leaves the images out for a model that is known to see none, and settles whether
// they are described to it.
func (t *try) blind() {
	s, none := t.s, mend.Thing{What: mend.Images}
	if !s.a.env.Images {
		return
	}
	if !slices.Contains(t.things, none) {
		m := s.lv.model(t.p, t.c.Model)
		if len(m.Inputs) == 0 || slices.Contains(m.Inputs, "image") {
			return
		}
		t.things = append(slices.Clone(t.things), none)
	}
	t.h.describes = s.describer() != ""
}

// describer is the model that describes images to others, "" for none. It is not asked about
// what it is itself asked.
func (s *service) describer() string {
	if s.a.inner != "" {
		return ""
	}
	return s.lv.cfg.Describer
}

// shaped is the neutral form as this candidate gets it.
func (t *try) shaped(asked *wire.Ask, to *wire.Target) (*wire.Ask, error) {
	if t.h.describes && has(asked, wire.KindImage) {
		var err error
		if asked, err = t.s.described(asked); err != nil {
			return nil, err
		}
	}
	asked = spare(t.things, asked, to)
	if t.h.wish.changes() {
		asked = askFor(asked, t.h.wish.level)
	}
	return asked, nil
}

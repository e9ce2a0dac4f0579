package route

import (
	"slices"

	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// sight is whether a model sees images.
type sight uint8

const (
	unknown sight = iota
	sees
	blind
)

func sightOf(m *provider.Model) sight {
	switch {
	case len(m.Inputs) == 0:
		return unknown
	case slices.Contains(m.Inputs, "image"):
		return sees
	}
	return blind
}

// see leaves those out that can't see the image which the turn shows, unless a model
// describes it to them. In a group one that sees goes before any of which that isn't known,
// so that these are asked only where none is known to see.
func see(d *draft) {
	if !d.c.Images || d.c.Described || len(d.in) == 0 {
		return
	}
	known := make([]sight, len(d.in))
	only := false
	for i := range d.in {
		t := &d.in[i]
		m := t.of.Model(t.model, d.s.Lists[t.of.ID])
		known[i] = sightOf(&m)
		only = only || d.c.Target.Group != nil && known[i] == sees
	}
	stay := make([]seat, 0, len(d.in))
	for i := range d.in {
		t := d.in[i]
		if known[i] == sees || known[i] == unknown && !only {
			stay = append(stay, t)
			continue
		}
		t.why = trace.WhyBlind
		if known[i] == unknown {
			t.text = "or nobody knows, and others are known to"
		}
		d.out = append(d.out, t)
	}
	d.in = stay
}

// cantSee refuses a turn whose image nobody can be shown.
func cantSee(because []trace.Candidate, c Call, _ bool) *Refusal {
	return &Refusal{Status: 400, Code: CodeNoImages, Words: "the request shows an image, and " + asked(c) + " takes none: " +
		list(because, func(c trace.Candidate) string { return c.ID + " has " + c.Model }) +
		"; set describer in the config to a model that sees, and it describes images to those that don't"}
}

package provider

import (
	"strings"
)

// A name that nothing serves may still say whose model it is, by how it begins. That is a guess, made only where
// the config wants it: guess_vendor = true.

// guessed finds the vendor of a bare name that was refused because nothing is called so: the first provider of the file
// whose vendor's models begin like it, of several beginnings the longest. Where none is found the refusal says why.
func (c *Catalog) guessed(name string, t Target, refusal *Refusal) (Target, *Refusal) {
	if refusal == nil || refusal.Code != CodeModelNotFound || name == "" || strings.Contains(name, "/") || len(c.Providers) == 0 {
		return t, refusal
	}
	plain, level := splitLevel(name)
	p, beginning, why := c.vendorOf(plain)
	switch {
	case !c.Guess && p != nil:
		return t, refusal.and("guess_vendor = true would ask " + p.ID + ", for a name that begins with " + beginning)
	case !c.Guess:
		return t, refusal
	case p == nil:
		return t, refusal.and("its vendor can't be guessed: " + why)
	}
	return Target{Asked: name, Provider: p, Model: plain, Effort: level, Guessed: beginning}, nil
}

// and is the refusal with more to say.
func (r *Refusal) and(words string) *Refusal {
	more := *r
	more.Words += "; " + words
	return &more
}

// vendorOf is the provider whose vendor's models begin like the name, and the beginning; nil and why there is none.
func (c *Catalog) vendorOf(name string) (p *Provider, beginning, why string) {
	low := strings.ToLower(name)
	var off, closed *Provider
	for _, one := range c.Providers {
		b := beginningOf(one.begins, low)
		switch {
		case b == "":
		case one.Off:
			off = one
		case len(one.Models) > 0 && !one.lists(name):
			closed = one
		case len(b) > len(beginning), len(b) == len(beginning) && c.index.idle[p.ID] && !c.index.idle[one.ID]:
			p, beginning = one, b
		}
	}
	switch {
	case p != nil:
		return p, beginning, ""
	case closed != nil:
		return nil, "", "it begins like those of " + closed.ID + ", which serves only the models that its list in the config names"
	case off != nil:
		return nil, "", "it begins like those of " + off.ID + ", which is switched off"
	}
	var vendors []string
	for _, preset := range Presets() {
		if b := beginningOf(preset.Begins, low); b != "" {
			vendors = append(vendors, preset.ID)
			beginning = b
		}
	}
	if len(vendors) == 0 {
		return nil, "", "it begins like no vendor's models"
	}
	return nil, "", "a name that begins with " + beginning + " is one of " + someOf(vendors) + ", and no such provider is in the config"
}

// beginningOf is the longest of the beginnings with which a name begins, "" for none.
func beginningOf(begins []string, name string) string {
	best := ""
	for _, b := range begins {
		if len(b) > len(best) && strings.HasPrefix(name, b) {
			best = b
		}
	}
	return best
}

package provider

import (
	"net/netip"
	"net/url"
	"strings"

	"dev.magpie/gateway/wire"
)

// SkipsRedaction reports whether requests may go to the provider whole although they are masked
// elsewhere: the person wants it, and all of its addresses are on this machine or in a private
// network. An account's vendor is elsewhere, and another magpie sends on what it is sent.
func (p *Provider) SkipsRedaction() bool {
	if !p.Unmasked || p.Program != "" || p.Preset == magpiePreset {
		return false
	}
	for _, a := range p.Accounts {
		if a.Kind == KindAccount {
			return false
		}
	}
	return allNear(p.Bases)
}

// magpiePreset is the preset of another magpie.
const magpiePreset = "remote-magpie"

// SkipsRedaction reports whether whatever a request for the target could be tried on takes it whole:
// the provider and each fallback that there is, or each member of the group.
func (c *Catalog) SkipsRedaction(t *Target) bool {
	if t.Group != nil {
		n, all := c.membersSkip(t.Group, map[string]bool{})
		return n > 0 && all
	}
	if t.Provider == nil || !t.Provider.SkipsRedaction() {
		return false
	}
	for _, ref := range t.Provider.Fallback {
		if p := c.Provider(ref.Provider); p != nil && !p.Off && !p.SkipsRedaction() {
			return false
		}
	}
	return true
}

// membersSkip counts a group's members, those of groups in it too, and says whether all take
// requests whole.
func (c *Catalog) membersSkip(g *Group, seen map[string]bool) (n int, all bool) {
	if seen[g.ID] {
		return 0, true
	}
	seen[g.ID] = true
	for _, ref := range g.Members {
		if ref.Group != "" {
			inner := c.Group(ref.Group)
			if inner == nil {
				continue
			}
			more, ok := c.membersSkip(inner, seen)
			if n += more; !ok {
				return n, false
			}
			continue
		}
		n++
		if p := c.Provider(ref.Provider); p == nil || !p.SkipsRedaction() {
			return n, false
		}
	}
	return n, true
}

// allNear reports whether there are bases and every one is on this machine or in a private network.
func allNear(bases map[wire.Protocol]string) bool {
	for _, b := range bases {
		u, err := url.Parse(b)
		if err != nil || !isNear(u.Hostname()) {
			return false
		}
	}
	return len(bases) > 0
}

func isNear(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".local") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.Unmap().IsPrivate())
}

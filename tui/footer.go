package tui

import (
	"strings"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/theme"
)

// hint is a key and what it does, in the footer.
type hint struct{ key, words string }

// footer names the keys that matter most here. Whole hints leave where there is no room, the last ones
// first; the way to the help stays longest.
func (m *model) footer(c *canvas.Canvas) {
	hints := m.hints()
	gap := 3
	for len(hints) > 1 && footerWidth(c, hints, gap) > c.W()-1 {
		if gap == 3 {
			gap = 2
			continue
		}
		hints = dropHint(hints, m.keyOf(string(keys.Help)))
	}
	x := 1
	for _, h := range hints {
		x += c.Text(x, 0, c.W()-x, h.key, theme.Key) + 1
		x += c.Text(x, 0, c.W()-x, h.words, theme.Muted) + gap
	}
}

func footerWidth(c *canvas.Canvas, hints []hint, gap int) int {
	w := -gap
	for _, h := range hints {
		w += gap + c.Width(h.key) + 1 + c.Width(h.words)
	}
	return w
}

// dropHint leaves out the last hint but the one for help.
func dropHint(hints []hint, help string) []hint {
	at := len(hints) - 1
	if hints[at].key == help {
		at--
	}
	return append(hints[:at:at], hints[at+1:]...)
}

func (m *model) hints() []hint {
	scope := m.scope()
	if m.pending != "" {
		return m.pendingHints(scope)
	}
	switch scope {
	case keys.InHelp, keys.InRequest, keys.InAccount, keys.InGroup:
		return m.pageHints(scope)
	case keys.InAccounts, keys.InRequests, keys.InConvs, keys.InGroups, keys.InLog:
	}
	h := hinting{m: m}
	if m.opened.kind != nothingOpen {
		h.add(keys.Back, "")
	}
	for _, c := range m.reg.Footer(scope) {
		if c.ID == keys.Quit && m.opened.from != nil {
			continue
		}
		words := c.Hint
		if c.ID == keys.Open && scope != keys.InRequests {
			words = "open"
		}
		h.name(c.Keys[0], words)
		if c.ID == keys.Pause && m.facts().Rests {
			h.add(keys.Wake, "")
		}
	}
	return h.hints
}

// hinting gathers hints.
type hinting struct {
	m     *model
	hints []hint
}

// add names a command's first key, where it has one; words "" = the command's own.
func (h *hinting) add(id keys.ID, words string) {
	c := h.m.reg.Command(id)
	if c == nil || len(c.Keys) == 0 {
		return
	}
	if words == "" {
		words = c.Hint
	}
	h.name(c.Keys[0], words)
}

func (h *hinting) name(key, words string) {
	h.hints = append(h.hints, hint{key: shownKey(key), words: words})
}

// both names two keys that do the two halves of one thing.
func (h *hinting) both(one, other keys.ID, between, words string) {
	if a, b := h.m.keyOf(string(one)), h.m.keyOf(string(other)); a != "" && b != "" {
		h.hints = append(h.hints, hint{key: a + between + b, words: words})
	}
}

// pageHints are the keys of a page that is open.
func (m *model) pageHints(scope keys.Scope) []hint {
	h := hinting{m: m}
	h.add(keys.Back, "")
	switch scope {
	case keys.InHelp:
		h.add(keys.Filter, "search")
	case keys.InRequest:
		h.both(keys.Down, keys.Up, "/", "next")
		h.add(keys.ItsAccount, "")
		if y := m.keyOf(string(keys.CopyRow)); y != "" {
			h.hints = append(h.hints, hint{key: strings.Fields(y)[0], words: "copy"})
		}
		h.add(keys.Pause, "")
		h.add(keys.Help, "")
	case keys.InAccount:
		for _, id := range []keys.ID{keys.Pause, keys.Pin, keys.Wake, keys.Refresh, keys.Help} {
			h.add(id, "")
		}
	case keys.InGroup:
		h.add(keys.Open, "open")
		h.add(keys.Pause, "")
		h.add(keys.Pin, "")
		if m.movable() {
			h.both(keys.Later, keys.Earlier, " ", "order")
		}
		h.add(keys.ItsRequests, "")
		h.add(keys.Help, "")
	case keys.InAccounts, keys.InRequests, keys.InConvs, keys.InGroups, keys.InLog:
	}
	return h.hints
}

// pendingHints are the second keys after a first one.
func (m *model) pendingHints(scope keys.Scope) []hint {
	var hints []hint
	for _, c := range append(m.reg.In(scope), m.reg.Everywhere()...) {
		for _, k := range c.Keys {
			if first, second, two := strings.Cut(k, " "); two && first == m.pending {
				hints = append(hints, hint{key: m.pending + " " + shownKey(second), words: c.Hint})
			}
		}
	}
	return hints
}

func shownKey(key string) string { return keys.Shown(key) }

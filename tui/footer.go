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
	var hints []hint
	add := func(id keys.ID, words string) {
		c := m.reg.Command(id)
		if c == nil || len(c.Keys) == 0 {
			return
		}
		if words == "" {
			words = c.Hint
		}
		hints = append(hints, hint{key: shownKey(c.Keys[0]), words: words})
	}
	switch scope {
	case keys.InHelp:
		add(keys.Back, "")
		add(keys.Filter, "search")
	case keys.InRequest:
		add(keys.Back, "")
		if j, k := m.keyOf(string(keys.Down)), m.keyOf(string(keys.Up)); j != "" && k != "" {
			hints = append(hints, hint{key: j + "/" + k, words: "next"})
		}
		add(keys.ItsAccount, "")
		if y := m.keyOf(string(keys.CopyRow)); y != "" {
			hints = append(hints, hint{key: strings.Fields(y)[0], words: "copy"})
		}
		add(keys.Pause, "")
		add(keys.Help, "")
	case keys.InAccount:
		add(keys.Back, "")
		add(keys.Pause, "")
		add(keys.Pin, "")
		add(keys.Wake, "")
		add(keys.Refresh, "")
		add(keys.Help, "")
	case keys.InAccounts, keys.InRequests, keys.InConvs, keys.InGroups, keys.InLog:
		if m.opened.kind != nothingOpen {
			add(keys.Back, "")
		}
		for _, c := range m.reg.Footer(scope) {
			words := c.Hint
			if c.ID == keys.Open && scope != keys.InRequests {
				words = "open"
			}
			hints = append(hints, hint{key: shownKey(c.Keys[0]), words: words})
			if c.ID == keys.Pause && m.facts().Rests {
				add(keys.Wake, "")
			}
		}
	}
	return hints
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

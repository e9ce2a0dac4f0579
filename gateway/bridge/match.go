package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
)

// turn is what one side said, as far as two requests are compared by it. What agents leave out
// or spell anew is no part of it: thinking, cache marks, the ids of calls, blanks in replies.
type turn struct {
	user  bool
	parts []string // of the user: a hash of each
	said  string   // of the model, without blanks
	calls []string // of the model
}

func turnsOf(messages []message) []turn {
	turns := make([]turn, 0, len(messages))
	for i := range messages {
		m := &messages[i]
		t := turn{user: m.Role != "assistant"}
		for _, b := range m.Content {
			if t.user {
				t.hear(b)
			} else {
				t.say(b)
			}
		}
		turns = append(turns, t)
	}
	return turns
}

// hear takes in one block of the user's.
func (t *turn) hear(b block) {
	switch b.kind() {
	case "text":
		if s := strings.TrimSpace(b.text("text")); s != "" {
			t.parts = append(t.parts, hashed("text", s))
		}
	case "tool_result":
		var c content
		parts := []string{"result", b.text("is_error"), string(b["is_error"])}
		if len(b["content"]) > 0 && c.UnmarshalJSON(b["content"]) == nil {
			for _, in := range c {
				parts = append(parts, plainJSON(mustJSON(in)))
			}
		}
		t.parts = append(t.parts, hashed(parts...))
	default:
		t.parts = append(t.parts, hashed("other", plainJSON(mustJSON(b))))
	}
}

// say takes in one block of the model's.
func (t *turn) say(b block) {
	switch b.kind() {
	case "text":
		t.said += unspaced(b.text("text"))
	case "tool_use":
		t.calls = append(t.calls, callOf(b.text("name"), string(b["input"])))
	}
}

func callOf(name, input string) string { return hashed("call", name, plainJSON([]byte(input))) }

func unspaced(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) {
			return -1
		}
		return c
	}, s)
}

func hashed(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// fit is how well a request goes on from a run.
type fit uint8

const (
	never fit = iota
	alike     // but for one difference that agents are known to make
	exact
)

// compare says how a conversation goes on from what a run has been through: every turn the
// same, and one of the user's more. One difference is let pass: a part of the user's that is
// missing now, or a last reply of which only the beginning is left.
func compare(had, now []turn) fit {
	n := len(had)
	if n == 0 || len(now) != n+1 || !now[n].user || had[n-1].user {
		return never
	}
	missing, short := 0, false
	for i := range had {
		h, w := &had[i], &now[i]
		switch {
		case h.user != w.user || !slices.Equal(h.calls, w.calls):
			return never
		case h.user:
			gone, ok := without(h.parts, w.parts)
			if !ok {
				return never
			}
			missing += gone
		case h.said == w.said:
		case i == n-1 && w.said != "" && strings.HasPrefix(h.said, w.said):
			short = true
		default:
			return never
		}
	}
	switch {
	case missing == 0 && !short:
		return exact
	case missing == 1 && !short, missing == 0:
		return alike
	}
	return never
}

// without says how many of had are missing in now, one at most; false when they differ otherwise.
func without(had, now []string) (gone int, ok bool) {
	if len(had) == len(now) {
		return 0, slices.Equal(had, now)
	}
	if len(had) != len(now)+1 {
		return 0, false
	}
	i := 0
	for i < len(now) && had[i] == now[i] {
		i++
	}
	return 1, slices.Equal(had[i+1:], now[i:])
}

package wire

import "strings"

const (
	reminderOpen  = "<system-reminder>"
	reminderClose = "</system-reminder>"
)

// Reminder wraps what the system says in the middle of a conversation, for an API that
// knows no system there. Text that is wrapped already stays as it is.
func Reminder(text string) string {
	if strings.HasPrefix(text, reminderOpen) && strings.HasSuffix(strings.TrimRight(text, " \n"), reminderClose) {
		return text
	}
	return reminderOpen + "\n" + text + "\n" + reminderClose
}

// Remind makes the user say what the system says between turns, wrapped as reminders and at
// its place. Turns should have been paired: a reminder then stands behind the results of
// its turn. The turns that are given stay as they are.
func Remind(turns []Turn) []Turn {
	system := false
	for i := range turns {
		system = system || turns[i].Role == RoleSystem
	}
	if !system {
		return turns
	}
	out := make([]Turn, 0, len(turns))
	for _, t := range turns {
		if t.Role == RoleSystem {
			t = Turn{Role: RoleUser, Parts: reminders(t.Parts)}
		}
		if len(t.Parts) > 0 {
			out = joinTurn(out, t)
		}
	}
	return out
}

func reminders(parts []Part) []Part {
	out := make([]Part, 0, len(parts))
	for _, p := range parts {
		if p.Kind == KindText {
			if strings.TrimSpace(p.Text) == "" {
				continue
			}
			p.Text = Reminder(p.Text)
		}
		out = append(out, p)
	}
	return out
}

// joinTurn appends a turn, to the last one when the same side speaks.
func joinTurn(turns []Turn, t Turn) []Turn {
	n := len(turns) - 1
	if n < 0 || turns[n].Role != t.Role || t.Role == RoleSystem {
		return append(turns, t)
	}
	had := turns[n].Parts
	turns[n].Parts = append(had[:len(had):len(had)], t.Parts...) // a new array: the old one may be the asker's
	if len(t.Parts) > 0 {
		turns[n].Parts[len(had)].Begins = true
	}
	return turns
}

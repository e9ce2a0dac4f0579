package wire

import "testing"

func TestTheSystemIsHeardAtItsPlaceAsAReminder(t *testing.T) {
	const note = "<system-reminder>\nnote\n</system-reminder>"
	for name, c := range map[string]struct{ in, want string }{
		"behind the results of its turn":  {"U hi | A c:1 | U r:1=a | S note | A ok", "U hi | A c:1 | U r:1=a " + note + " | A ok"},
		"before what the user says next":  {"U hi | A ok | S note | U go", "U hi | A ok | U " + note + " go"},
		"between two turns of the user":   {"U hi | S note | U go", "U hi " + note + " go"},
		"at the end":                      {"U hi | A ok | S note", "U hi | A ok | U " + note},
		"between two turns of the model":  {"U hi | A x | S note | A y", "U hi | A x | U " + note + " | A y"},
		"nothing to say, nothing changed": {"U hi | A ok", "U hi | A ok"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sketch(Remind(drawn(c.in))); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAReminderIsWrappedOnce(t *testing.T) {
	once := Reminder("x")
	if once != "<system-reminder>\nx\n</system-reminder>" || Reminder(once) != once {
		t.Errorf("got %q, then %q", once, Reminder(once))
	}
}

func TestTurnsOfTheAskStayAsTheyAre(t *testing.T) {
	in := drawn("U hi | S note | U go")
	Remind(in)
	if got := sketch(in); got != "U hi | S note | U go" {
		t.Errorf("got %s", got)
	}
}

// Package theme turns theme files into pens: named roles, what each looks like,
// and the escape sequences that draw them at the terminal's colour depth.
package theme

// Role is what a piece of the screen is, as opposed to what it looks like. The
// canvas uses it as its pen.
type Role uint8

// The roles. A theme gives each of them a look.
const (
	None Role = iota // no pen: the terminal's own colours
	BG
	FG
	Muted
	Faint
	Accent
	Key
	Rule
	Title
	TitleFocus
	SelectBG
	SelectFG
	Fine
	Low
	Spent
	Resting
	Paused
	Held
	Pinned
	Live
	Failed
	Refused
	Bar
	BarOver
	BarEmpty
	Pace
	Toast
	Error
)

// Count is the number of roles with None.
const Count = int(Error) + 1

// Duty says how well a role must be told from the background.
type Duty uint8

// What a role is for, which decides the contrast that it needs.
const (
	DutyNone   Duty = iota // a background, or a line that carries nothing
	DutyFaint              // text that may be missed: 3 to 1
	DutyText               // text that must be read: 4.5 to 1
	DutyChosen             // text on the selected row's background: 4.5 to 1
)

// Info describes one role: its name in a theme file, what it is for in words, and its duty.
type Info struct {
	Name string
	Use  string
	Duty Duty
}

// infos is indexed by Role.
var infos = [Count]Info{
	None:       {"none", "text that no theme touches", DutyNone},
	BG:         {"bg", "the background; painted only with paint_bg, else it serves the contrast checks", DutyNone},
	FG:         {"fg", "ordinary text; the terminal's own colour unless paint_bg is set", DutyText},
	Muted:      {"muted", "text of second rank: units, times, labels", DutyText},
	Faint:      {"faint", "text that may be missed: hints, what is over", DutyFaint},
	Accent:     {"accent", "what stands out without being a state: names that lead somewhere", DutyText},
	Key:        {"key", "keys in the footer and in the help", DutyText},
	Rule:       {"rule", "lines between panes", DutyNone},
	Title:      {"title", "a pane's title", DutyText},
	TitleFocus: {"title_focus", "the title of the pane that has the keys", DutyText},
	SelectBG:   {"select_bg", "the background of the selected row", DutyNone},
	SelectFG:   {"select_fg", "ordinary text on the selected row", DutyChosen},
	Fine:       {"fine", "an account with room, a request that was answered", DutyText},
	Low:        {"low", "an account that is nearly used up", DutyText},
	Spent:      {"spent", "an account that is used up or out of credit", DutyText},
	Resting:    {"resting", "an account that rests after a failure, a request answered on a later try", DutyText},
	Paused:     {"paused", "an account that the person paused", DutyText},
	Held:       {"held", "an account past its cap", DutyText},
	Pinned:     {"pinned", "an account or conversation that is pinned", DutyText},
	Live:       {"live", "a request that is being answered", DutyText},
	Failed:     {"failed", "a request or a try that failed", DutyText},
	Refused:    {"refused", "a request that nobody was asked for", DutyText},
	Bar:        {"bar", "the used part of a bar", DutyFaint},
	BarOver:    {"bar_over", "the used part beyond an even pace", DutyFaint},
	BarEmpty:   {"bar_empty", "the part of a bar that is left", DutyNone},
	Pace:       {"pace", "the mark where an even pace would be", DutyFaint},
	Toast:      {"toast", "a short message over the footer", DutyText},
	Error:      {"error", "a message that something went wrong", DutyText},
}

// Describe tells what a role is called and for.
func (r Role) Describe() Info {
	if int(r) >= Count {
		return infos[None]
	}
	return infos[r]
}

// String is the role's name in a theme file.
func (r Role) String() string { return r.Describe().Name }

// Roles lists every role that a theme may set, in the order of the enumeration.
func Roles() []Role {
	rs := make([]Role, 0, Count-1)
	for r := BG; int(r) < Count; r++ {
		rs = append(rs, r)
	}
	return rs
}

// RoleNamed finds a role by its name in a theme file.
func RoleNamed(name string) (Role, bool) {
	for _, r := range Roles() {
		if infos[r].Name == name {
			return r, true
		}
	}
	return None, false
}

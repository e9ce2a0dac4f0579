package state

import (
	"fmt"
	"regexp"
	"strings"

	"dev.magpie/gateway/trace"
)

// generic matches names that say nothing: the one that a key gets when the config gives it none, and
// what everybody calls a key that is the only one.
var generic = regexp.MustCompile(`^(key\d+|main|default)$`)

// nameAccounts gives every account the shortest name that tells it from the others: its own; its
// provider's where it is that one's only account and its own says nothing or is not its alone; both where
// two still share one.
func nameAccounts(accounts []trace.Account, mask bool) map[string]string {
	names := make(map[string]string, len(accounts))
	shared, siblings, taken := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range accounts {
		shared[accounts[i].Name]++
		siblings[accounts[i].Provider]++
	}
	byProvider := func(a *trace.Account) bool {
		return a.Name == "" || a.Kind == "provider" || siblings[a.Provider] == 1 && (generic.MatchString(a.Name) || shared[a.Name] > 1)
	}
	for i := range accounts {
		if a := &accounts[i]; byProvider(a) {
			taken[a.Provider]++
		} else {
			taken[a.Name]++
		}
	}
	for i := range accounts {
		a := &accounts[i]
		switch {
		case mask:
			names[a.ID] = fmt.Sprintf("acct-%d", i+1)
		case byProvider(a):
			names[a.ID] = a.Provider
		case taken[a.Name] > 1 || numbered.MatchString(a.Name):
			names[a.ID] = a.Provider + "/" + a.Name
		default:
			names[a.ID] = a.Name
		}
	}
	return names
}

// numbered matches the name that a key gets when the config gives it none.
var numbered = regexp.MustCompile(`^key\d+$`)

// Name returns what an account is called on the screen.
func (s *State) Name(id string) string {
	if n, known := s.names[id]; known {
		return n
	}
	if s.mask && id != "" {
		return "acct-?"
	}
	provider, name, found := strings.Cut(id, "/")
	if !found || generic.MatchString(name) {
		return provider
	}
	return name
}

// Masks says whether accounts are shown under other names.
func (s *State) Masks() bool { return s.mask }

// Masked is a text of the gateway's in which accounts are called as on the screen, where their names are masked.
func (s *State) Masked(text string) string {
	if !s.mask {
		return text
	}
	for i := range s.Accounts {
		a := &s.Accounts[i]
		text = strings.ReplaceAll(text, a.ID, s.names[a.ID])
	}
	for i := range s.Accounts {
		if a := &s.Accounts[i]; len(a.Name) >= 2 {
			text = strings.ReplaceAll(text, a.Name, s.names[a.ID])
		}
	}
	return text
}

// Called is a text of the gateway's in which accounts are called as on the screen: "work rests" for
// "claude/work rests".
func (s *State) Called(text string) string {
	if s.mask {
		return s.Masked(text)
	}
	for i := range s.Accounts {
		id := s.Accounts[i].ID
		if name := s.names[id]; name != id && name != "" {
			text = rename(text, id, name)
		}
	}
	return text
}

// About is the account that a text of the gateway's tells of, the first where it names several; "" = none.
func (s *State) About(text string) string {
	about, first := "", len(text)
	for i := range s.Accounts {
		id := s.Accounts[i].ID
		if at := standing(text, id, 0); at >= 0 && at < first {
			about, first = id, at
		}
	}
	return about
}

// standing finds an id that stands alone in a text, or before a model; -1 = nowhere.
func standing(text, id string, from int) int {
	for id != "" {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(id)
		if (i == 0 || text[i-1] == ' ') && (from == len(text) || strings.ContainsRune(" ,:;/", rune(text[from]))) {
			return i
		}
	}
	return -1
}

// rename puts a name in the place of an id that stands alone, or before a model.
func rename(text, id, name string) string {
	for at := standing(text, id, 0); at >= 0; at = standing(text, id, at+len(name)) {
		text = text[:at] + name + text[at+len(id):]
	}
	return text
}

// Short is the tail of a conversation's id. The tail, because ids that begin with
// the time share their beginnings.
func Short(session string) string {
	kept := make([]rune, 0, len(session))
	for _, r := range session {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			kept = append(kept, r)
		}
	}
	if len(kept) > 4 {
		kept = kept[len(kept)-4:]
	}
	return strings.ToLower(string(kept))
}

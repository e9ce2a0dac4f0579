package claude

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Line is one line of the program's output as stream-json, as far as it is read.
type Line struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype"`
	Event   json.RawMessage `json:"event"`              // of stream_event: an event of the Messages API
	Parent  *string         `json:"parent_tool_use_id"` // set on what a subagent says
	Limit   *Event          `json:"rate_limit_info"`

	// Of a result.
	Failed    bool     `json:"is_error"`
	Result    string   `json:"result"`
	Errors    []string `json:"errors"`
	Status    int      `json:"api_error_status"`
	ErrorType string   `json:"api_error_type"`

	// Of the line that a run begins with.
	Servers []Server `json:"mcp_servers"`
}

// Server is how a run stands with one MCP server.
type Server struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// Words are what a failed result says of itself.
func (l *Line) Words() string {
	if l.Result != "" {
		return strings.ReplaceAll(l.Result, " (not your usage limit)", "") // words of a used-up allowance, which it is not
	}
	return strings.Join(l.Errors, "; ")
}

// Windows returns all that an event tells: the program's newer versions name every window.
func (e *Event) Windows(at time.Time) []provider.Window {
	var ws []provider.Window
	for kind, w := range e.All {
		w.Kind = kind
		if told, ok := w.Window(at); ok {
			ws = append(ws, told)
		}
	}
	if told, ok := e.Window(at); ok && !slices.ContainsFunc(ws, func(w provider.Window) bool { return w.Name == told.Name }) {
		ws = append(ws, told)
	}
	slices.SortFunc(ws, func(a, b provider.Window) int { return strings.Compare(a.Name, b.Name) })
	return ws
}

// claims are the windows' names in the headers of the vendor's replies.
var claims = map[string]string{
	"five_hour": "5h", "seven_day": "7d", "seven_day_opus": "7d_opus", "seven_day_sonnet": "7d_sonnet", "seven_day_overage_included": "7d_oi",
}

// Claims returns what an event tells by the names that the vendor's headers give the windows.
func (e *Event) Claims() map[string]Event {
	told := map[string]Event{}
	for kind, w := range e.All {
		if c := claims[kind]; c != "" {
			told[c] = w
		}
	}
	if c := claims[e.Kind]; c != "" {
		if _, ok := told[c]; !ok {
			told[c] = Event{Status: e.Status, Used: e.Used, Resets: e.Resets}
		}
	}
	return told
}

// ParseLine reads a line. What is no object is for people, and not ok; a value of another kind than
// it should be hides nothing of the rest.
func ParseLine(data []byte) (l Line, ok bool) {
	err := loose.Decode(data, &l)
	return l, err == nil
}

// Account is what the program says of its sign-in.
type Account struct {
	SignedIn bool
	Method   string // claude.ai for a subscription
	Email    string
	Plan     string
}

// ParseAccount reads what `claude auth status --json` prints.
func ParseAccount(out []byte) (Account, error) {
	var t struct {
		SignedIn loose.Bool `json:"loggedIn"`
		Method   loose.Text `json:"authMethod"`
		Email    loose.Text `json:"email"`
		Plan     loose.Text `json:"subscriptionType"`
	}
	if err := loose.Decode(out, &t); err != nil {
		return Account{}, err
	}
	if !t.SignedIn.Set {
		return Account{}, errors.New("it does not say whether anybody is signed in")
	}
	return Account{t.SignedIn.V, string(t.Method), string(t.Email), string(t.Plan)}, nil
}

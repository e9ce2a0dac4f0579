package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Workload is who may answer, and what is asked of them, as the file has it.
type Workload struct {
	Name     string    `toml:"name"`
	Seed     uint64    `toml:"seed"`
	Start    time.Time `toml:"start"`    // midnight of the first day; a Monday when it is left out
	Days     int       `toml:"days"`     // how long it runs
	Model    string    `toml:"model"`    // what the agents ask for, with --config; else everybody serves it
	Patience Span      `toml:"patience"` // how long a request that nobody answers is asked again
	History  string    `toml:"history"`  // a recorded history.db in the place of agents
	Weights  Weights   `toml:"weights"`
	Accounts []Account `toml:"accounts"`
	Keys     []Key     `toml:"keys"`
	Agents   []Agent   `toml:"agents"`

	recorded []Request
}

// Weights are what a token counts in an allowance.
type Weights struct {
	Input     float64 `toml:"input"` // not read from a cache: written to one
	CacheRead float64 `toml:"cache_read"`
	Output    float64 `toml:"output"`
}

// Account has an allowance, in windows that all hold.
type Account struct {
	ID      string   `toml:"id"` // provider/name
	Unknown bool     `toml:"unknown"`
	Windows []Window `toml:"windows"`
	Fails   []Fail   `toml:"fails"`
}

// Window is one allowance window. It begins with the first request after the last one ended.
type Window struct {
	Name   string  `toml:"name"`
	Span   Span    `toml:"span"`
	Limit  float64 `toml:"limit"`  // in weighted tokens
	Used   float64 `toml:"used"`   // in percent, at the start
	Resets *Span   `toml:"resets"` // after the start; nil = it has not begun
}

// Key is billed by the token.
type Key struct {
	ID       string `toml:"id"`
	Fallback bool   `toml:"fallback"` // of the accounts' provider; else it stands among them
	Price    Price  `toml:"price"`
	Fails    []Fail `toml:"fails"`
}

// Price is in USD per million tokens.
type Price struct {
	Input     float64 `toml:"input"` // not read from a cache: written to one
	CacheRead float64 `toml:"cache_read"`
	Output    float64 `toml:"output"`
}

// Fail is a time in which a vendor answers with an error.
type Fail struct {
	At     Span `toml:"at"` // after the start
	For    Span `toml:"for"`
	Status int  `toml:"status"` // 429, 500 to 504, 529
}

// Agent is who has conversations: each day so many, at work hours.
type Agent struct {
	Name          string  `toml:"name"`
	Count         int     `toml:"count"`         // so many like it; 0 = 1
	Weekdays      int     `toml:"weekdays"`      // works on the first so many days of each seven; 0 = all
	From          Span    `toml:"from"`          // of the day
	To            Span    `toml:"to"`            // of the day
	Conversations Range   `toml:"conversations"` // begun a day
	Turns         Range   `toml:"turns"`         // of the user, in one conversation
	Rounds        Range   `toml:"rounds"`        // of tools, in one turn
	Pause         SpanOf  `toml:"pause"`         // before the next turn
	Tool          SpanOf  `toml:"tool"`          // between two rounds: the reply and the tool
	Prefix        int64   `toml:"prefix"`        // tokens that each conversation begins with
	User          Range   `toml:"user"`          // tokens of a user's turn
	Result        Range   `toml:"result"`        // tokens of a tool's result
	Output        Range   `toml:"output"`        // tokens of a reply
	Context       int64   `toml:"context"`       // tokens at which a conversation is compacted; 0 = never
	Busy          []Burst `toml:"busy"`          // days with more to do
}

// Burst multiplies an agent's conversations on one day.
type Burst struct {
	Day   int     `toml:"day"` // from 1
	Times float64 `toml:"times"`
}

// Range is [least, most].
type Range [2]int64

// SpanOf is [least, most].
type SpanOf [2]Span

// Span is a duration written as such: "5h", "90s", "7d".
type Span time.Duration

// UnmarshalText reads a duration; days are written "7d" or "2d6h".
func (s *Span) UnmarshalText(b []byte) error {
	text, days := string(b), time.Duration(0)
	if d, rest, ok := strings.Cut(text, "d"); ok {
		n := 0
		if _, err := fmt.Sscanf(d, "%d", &n); err != nil || n < 0 {
			return fmt.Errorf("%q is no duration: write 7d, 5h, 90s", text)
		}
		days, text = time.Duration(n)*24*time.Hour, cmp.Or(rest, "0")
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no duration: write 7d, 5h, 90s", b)
	}
	*s = Span(days + d)
	return nil
}

func (s Span) d() time.Duration { return time.Duration(s) }

// day0 is where a workload begins that names no day.
var day0 = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

// Parse reads a workload. All that is wrong with it is told together.
func Parse(data []byte) (*Workload, error) {
	w := &Workload{}
	meta, err := toml.Decode(string(data), w)
	if err != nil {
		return nil, fmt.Errorf("read the workload: %w", err)
	}
	var wrong []error
	for _, k := range meta.Undecoded() {
		wrong = append(wrong, fmt.Errorf("%s is no key of a workload", k))
	}
	if w.Start.IsZero() {
		w.Start = day0
	}
	w.Start = w.Start.UTC()
	if w.Weights == (Weights{}) {
		w.Weights = Weights{Input: 1.25, CacheRead: 0.1, Output: 5}
	}
	wrong = append(wrong, w.check()...)
	return w, errors.Join(wrong...)
}

func (w *Workload) check() (wrong []error) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if w.Days < 1 || w.Days > 60 {
		bad("days: write 1 to 60")
	}
	if c := w.Weights; c.CacheRead < 0 || c.Input < c.CacheRead || c.Output < 0 {
		bad("weights: a token read from a cache may not count more than one that is not")
	}
	if len(w.Accounts)+len(w.Keys) == 0 {
		bad("nobody may answer: name accounts or keys")
	}
	if len(w.Agents) == 0 && w.History == "" {
		bad("nobody asks: name agents, or a history")
	}
	var ids []string
	for i := range w.Accounts {
		ids = append(ids, w.Accounts[i].ID)
		wrong = append(wrong, w.Accounts[i].check()...)
	}
	for i := range w.Keys {
		ids = append(ids, w.Keys[i].ID)
		wrong = append(wrong, w.Keys[i].check()...)
	}
	for i, id := range ids {
		if p, name, ok := strings.Cut(id, "/"); !ok || p == "" || name == "" || strings.Contains(name, "/") {
			bad("%q: an id is provider/name", id)
		}
		if slices.Contains(ids[:i], id) {
			bad("%s is there twice", id)
		}
	}
	for i := range w.Agents {
		wrong = append(wrong, w.Agents[i].check()...)
	}
	return wrong
}

func (a *Account) check() []error {
	wrong := checkFails(a.ID, a.Fails)
	for i := range a.Windows {
		if !a.Windows[i].whole() {
			wrong = append(wrong, fmt.Errorf("%s, window %q: it needs a span and a limit, and used (0 to 100) with resets (up to its span) where it has begun",
				a.ID, a.Windows[i].Name))
		}
	}
	return wrong
}

// whole says whether nothing is missing, or against the rest of it.
func (v *Window) whole() bool {
	if v.Span <= 0 || v.Limit <= 0 || v.Used < 0 || v.Used > 100 {
		return false
	}
	if v.Resets == nil {
		return v.Used == 0
	}
	return *v.Resets <= v.Span
}

func (k *Key) check() []error {
	wrong := checkFails(k.ID, k.Fails)
	if p := k.Price; p.CacheRead < 0 || p.Input < p.CacheRead || p.Output < 0 {
		wrong = append(wrong, fmt.Errorf("%s: a token read from a cache may not cost more than one that is not", k.ID))
	}
	return wrong
}

func checkFails(id string, fails []Fail) (wrong []error) {
	for _, f := range fails {
		switch f.Status {
		case 429, 500, 502, 503, 504, 529:
		default:
			wrong = append(wrong, fmt.Errorf("%s fails with %d: write 429, 500, 502, 503, 504 or 529", id, f.Status))
		}
		if f.For <= 0 {
			wrong = append(wrong, fmt.Errorf("%s: a failure needs for, how long it lasts", id))
		}
	}
	return wrong
}

func (a *Agent) check() (wrong []error) {
	for _, r := range []struct {
		key  string
		r    Range
		most int64
	}{
		{"conversations", a.Conversations, 1000},
		{"turns", a.Turns, 1000},
		{"rounds", a.Rounds, 1000},
		{"user", a.User, 1 << 20},
		{"result", a.Result, 1 << 20},
		{"output", a.Output, 1 << 20},
		{"pause", Range{int64(a.Pause[0]), int64(a.Pause[1])}, int64(7 * 24 * time.Hour)},
		{"tool", Range{int64(a.Tool[0]), int64(a.Tool[1])}, int64(24 * time.Hour)},
	} {
		if r.r[0] < 0 || r.r[1] < r.r[0] || r.r[1] > r.most {
			wrong = append(wrong, fmt.Errorf("agent %s, %s: write [least, most]", a.Name, r.key))
		}
	}
	if a.To <= a.From || a.To > Span(24*time.Hour) {
		wrong = append(wrong, fmt.Errorf("agent %s: from and to are times of one day, such as 9h and 18h", a.Name))
	}
	if a.Prefix < 0 || a.Context != 0 && a.Context <= a.Prefix {
		wrong = append(wrong, fmt.Errorf("agent %s: context holds more than prefix", a.Name))
	}
	return wrong
}

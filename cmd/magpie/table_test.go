package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/provider"
	"dev.magpie/tui/canvas"
)

// wide names that a person may give.
var wideNames = []string{"智谱·GLM 编码 🚀 计划", "👩‍👩‍👧‍👦-family-account-with-a-long-name", "é́té-été", strings.Repeat("x", 70), "plain"}

func manyRequests() []trace.Route {
	all := make([]trace.Route, 0, len(wideNames))
	for i, name := range wideNames {
		r := trace.Route{
			ID: int64(i + 1), Time: noon, Agent: "claude", Asked: "anthropic/" + name, Done: true, Status: 200, MS: 12_345, Cost: "0.031",
			Tokens: trace.Tokens{Input: 48_100, CacheRead: 40_000, Output: 2_000},
			Tries:  []trace.Try{{ID: "provider/" + name, Model: name, Status: 200, Done: true}},
			Order: []trace.Candidate{
				{ID: "provider/" + name, Model: name, Reason: "answered this conversation three minutes ago, 18.0k of it cached, and nobody else has as much of it"},
				{ID: "other/key", Model: "m", Known: true, Used: 31, Reason: "31% used"},
			},
		}
		all = append(all, r)
	}
	return all
}

// printed is what every kind of listing prints on a terminal of so many cells, 0 = into a pipe.
func printed(t *testing.T, cells int) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, print := range map[string]func(*process) error{
		"requests": func(p *process) error { return p.requests(manyRequests()) },
		"accounts": func(p *process) error {
			var all []trace.Account
			for i := range 60 {
				name := wideNames[i%len(wideNames)]
				all = append(all, trace.Account{ID: fmt.Sprintf("provider%d/%s", i, name), Name: name, State: trace.Fine, Known: true, Used: 12, Windows: []trace.Window{{Name: "5 hours", Used: 12}, {Name: "7 days", Used: 3}}, Error: "its file is not there"})
			}
			return p.accountsWhole(all)
		},
		"groups": func(p *process) error {
			return p.groupTable([]trace.Group{{ID: "auto-claude-sonnet-5-5-with-a-long-name", Routing: "rotate", Members: wideNames, Ready: 12, Of: 60, Next: "provider/" + wideNames[0]}})
		},
		"explain": func(p *process) error { r := manyRequests()[1]; return p.explain(&r, false) },
		"route":   func(p *process) error { r := manyRequests()[3]; return p.route(&r) },
		"trace": func(p *process) error {
			w := &tracer{p: p, printed: map[int64]bool{}}
			for _, r := range manyRequests() {
				if err := w.print(&r); err != nil {
					return err
				}
			}
			return nil
		},
		"presets": func(p *process) error { return p.presets(provider.Presets()) },
		"help":    func(p *process) error { return p.printf("%s", help(p.commands(), p.page().width)) },
		"nobody": func(p *process) error {
			p.complain("nobody answers at 127.0.0.1:3425: magpie serve starts the gateway, and magpie alone shows it as well")
			return p.accountsWhole(nil)
		},
	} {
		s := newShell(t)
		s.cells = func() int { return cells }
		if err := print(s.process); err != nil {
			t.Fatal(err)
		}
		out[name] = s.stdout.String() + s.stderr.String()
	}
	return out
}

func TestListingsFitTheTerminal(t *testing.T) {
	for _, cells := range []int{32, 40, 60, 80, 120, 200} {
		for name, text := range printed(t, cells) {
			for line := range strings.SplitSeq(text, "\n") {
				if w := canvas.Width(line); w > cells && longest(line)+6 < cells {
					t.Errorf("%s at %d: %d cells: %s", name, cells, w, line)
				}
			}
			if !utf8.ValidString(text) {
				t.Errorf("%s at %d: a name is cut within a letter", name, cells)
			}
		}
	}
}

func TestWhatGoesIntoAPipeIsCutNowhere(t *testing.T) {
	whole := printed(t, 0)
	for name, text := range whole {
		if strings.Contains(text, "…") {
			t.Errorf("%s is cut:\n%s", name, text)
		}
	}
	r := manyRequests()[3]
	if want := words.Line(r); !strings.Contains(whole["trace"], want+"\n") {
		t.Errorf("a request is a line: %s\n%s", want, whole["trace"])
	}
	for _, name := range wideNames {
		if !strings.Contains(whole["accounts"], canvas.Clean(name)) || !strings.Contains(whole["groups"], canvas.Clean(name)) {
			t.Errorf("no %s", name)
		}
	}
}

func TestColumnsLeaveBeforeNamesAreUnreadable(t *testing.T) {
	at := func(cells int) string { return strings.SplitN(printed(t, cells)["requests"], "\n", 2)[0] }
	for cells, want := range map[int]string{
		200: "TIME AGENT MODEL BY STATUS TOOK IN CACHE COST",
		60:  "TIME MODEL BY STATUS TOOK …",
		40:  "MODEL BY STATUS …",
	} {
		if got := strings.Join(strings.Fields(at(cells)), " "); got != want {
			t.Errorf("%d cells: %s, want %s", cells, got, want)
		}
	}
}

package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"dev.magpie/gateway/trace"
	"dev.magpie/tui/keys"
	"dev.magpie/tui/layout"
)

// exact says what is wrong with a frame's shape, "" when it fits its size.
func exact(m *model) string {
	frame, size := m.frame, m.size
	lines := strings.Split(frame, "\n")
	if len(lines) != size.H {
		return fmt.Sprintf("%d lines", len(lines))
	}
	for y, l := range lines {
		if w := m.set.Width(ansi.Strip(l)); w != size.W {
			return fmt.Sprintf("line %d is %d cells wide: %q", y, w, l)
		}
	}
	return ""
}

// showsSelection says whether the row that is selected can be seen.
func showsSelection(m *model, frame string) bool {
	front := m.front()
	body := m.screen.Body(front)
	v := m.view()
	rows := map[layout.Pane]int{
		layout.Accounts: len(m.st.Accounts), layout.Requests: len(m.requests.Rows(v)), layout.Conversations: len(m.talks.Rows(v)),
		layout.Groups: len(m.groups.Rows(v)), layout.Log: len(m.logs.Rows(v)),
	}[front]
	if rows == 0 || body.Empty() || m.screen.Kind == layout.Sliver || m.dialog != nil || m.palette != nil || m.help != nil {
		return true
	}
	return strings.Contains(ansi.Strip(frame), m.set.Cursor)
}

// TestEverySizeIsDrawnExactly draws the everyday screen at every size, and each other scene at a
// part of them, so that all of them together see every size.
func TestEverySizeIsDrawnExactly(t *testing.T) {
	t.Parallel()
	all := make([]*model, len(scenes))
	for i, s := range scenes {
		all[i] = sceneModel(t, s, layout.Size{W: 80, H: 24})
	}
	check := func(m *model, name string, size layout.Size) {
		m.resize(size)
		m.draw()
		if wrong := exact(m); wrong != "" {
			t.Fatalf("%s at %dx%d: %s", name, size.W, size.H, wrong)
		}
		if !showsSelection(m, m.frame) {
			t.Fatalf("%s at %dx%d: the selected row is out of view:\n%s", name, size.W, size.H, m.canvas.Plain())
		}
		if size.H >= 2 && size.W >= 12 && m.dialog == nil && m.palette == nil && m.filter == nil && strings.HasPrefix(m.canvas.Plain(), "\n") {
			t.Fatalf("%s at %dx%d has no header:\n%s", name, size.W, size.H, m.canvas.Plain())
		}
	}
	for w := 1; w <= 200; w++ {
		for h := 1; h <= 60; h++ {
			i := (w*7 + h*3) % len(all)
			check(all[i], scenes[i].name, layout.Size{W: w, H: h})
			if h%4 == w%4 {
				check(all[0], scenes[0].name, layout.Size{W: w, H: h})
			}
		}
	}
}

func TestAScreenWithoutRoomIsDrawnAgainWhenThereIsRoom(t *testing.T) {
	m := sceneModel(t, scenes[0], layout.Size{W: 100, H: 30})
	before := m.frame
	for _, size := range []layout.Size{{W: 20, H: 5}, {W: 10, H: 3}, {W: 1, H: 1}, {}, {W: 0, H: 9}, {W: 9}, {W: 100, H: 30}} {
		m.resize(size)
		m.draw()
	}
	if m.frame != before {
		t.Error("the frame is not what it was before the terminal was small")
	}
}

func drawnScene(t *rapid.T, tb testing.TB) *model {
	s := scenes[rapid.IntRange(0, len(scenes)-1).Draw(t, "scene")]
	t.Logf("scene %s", s.name)
	return sceneModel(tb, s, drawnSize(t, "size"))
}

func drawnSize(t *rapid.T, what string) layout.Size {
	return layout.Size{W: rapid.IntRange(1, 160).Draw(t, what+" w"), H: rapid.IntRange(1, 50).Draw(t, what+" h")}
}

func TestAFrameDependsOnItsSizeAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := drawnScene(r, t)
		size, before := m.size, m.frame
		m.resize(drawnSize(r, "other"))
		m.draw()
		m.resize(size)
		m.draw()
		if m.frame != before {
			r.Fatalf("going to another size and back changes the frame:\n%s", m.canvas.Plain())
		}
	})
}

func TestAFrameStandsUntilItSaysThatItChanges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := drawnScene(r, t)
		start := m.now.Add(time.Duration(rapid.Int64Range(0, int64(26*time.Hour)).Draw(r, "start")))
		m.now = start
		m.draw()
		before, next := m.canvas.Plain()+m.canvas.PenRuns(), m.clock.Next()
		if next.IsZero() {
			next = start.Add(1000 * time.Hour)
		}
		if !next.After(start) {
			r.Fatalf("the next change is told for %v, which is not to come", next)
		}
		// Parts of a window are no whole nanoseconds, so their changes are told a moment late.
		span := max(int64(next.Sub(start)-2*time.Millisecond), 0)
		m.now = start.Add(time.Duration(rapid.Int64Range(0, span).Draw(r, "later")))
		m.draw()
		if after := m.canvas.Plain() + m.canvas.PenRuns(); after != before {
			r.Fatalf("the frame changes between %v and %v, but said that it stands until %v:\n%s\n%s", start, m.now, next, before, after)
		}
	})
}

func TestAnyKeysLeaveTheScreenWhole(t *testing.T) {
	names := []string{
		"j", "k", "g", "G", "ctrl+d", "ctrl+u", "h", "l", "1", "2", "3", "4", "5", "tab", "shift+tab", "z", "enter", "esc", "q", "f", "/", ":",
		"?", "a", "y", "i", "p", "P", "w", "U", "t", "ctrl+l", "ctrl+z", "x", "Q", "d", "backspace", "state:failed", "é", "jjj", "\x1b]52;c;x", "up", "down",
	}
	rapid.Check(t, func(r *rapid.T) {
		m := drawnScene(r, t)
		m.g = newFake(sceneView())
		for range rapid.IntRange(1, 30).Draw(r, "keys") {
			m.now = m.now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(r, "pause")) * time.Millisecond)
			k := rapid.SampledFrom(names).Draw(r, "key")
			m.Update(keyMsg{KeyMsg: keyOf(k), at: m.now})
			if m.exit == ExitPanic {
				r.Fatalf("%q made it panic:\n%s", k, m.crash)
			}
			if m.exit != Running {
				return
			}
			if wrong := exact(m); wrong != "" {
				r.Fatalf("after %q: %s", k, wrong)
			}
			if !showsSelection(m, m.frame) {
				r.Fatalf("after %q the selected row is out of view:\n%s", k, m.canvas.Plain())
			}
		}
	})
}

func TestEveryCommandOfTheRegistryDoesSomething(t *testing.T) {
	reg, err := keys.New(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range reg.All() {
		if _, found := verbs[c.ID]; !found {
			t.Errorf("%s has a key and no deed", c.ID)
		}
	}
	for id := range verbs {
		if reg.Command(id) == nil {
			t.Errorf("%s has a deed and no key", id)
		}
	}
}

// crowded is as much as a screen ever holds: 500 requests and 20 keys without a window.
func crowded() trace.View {
	v := sceneView()
	v.Routes = nil
	for i := range 500 {
		v.Routes = append(v.Routes, sceneRows[2+i%14].route(int64(1000+i)))
	}
	for i := range 20 {
		v.Status.Accounts = append(v.Status.Accounts, trace.Account{
			ID: fmt.Sprintf("p%d/k", i), Provider: fmt.Sprintf("p%d", i), Name: "k", Kind: "key", State: trace.Fine, Place: 10 + i,
		})
	}
	return v
}

func BenchmarkFrame(b *testing.B) {
	for _, s := range []scene{scenes[0], {name: "crowded", view: crowded}} {
		for _, size := range frameSizes {
			b.Run(fmt.Sprintf("%s/%dx%d", s.name, size.W, size.H), func(b *testing.B) {
				m := sceneModel(b, s, size)
				b.ReportAllocs()
				for b.Loop() {
					m.draw()
				}
			})
		}
	}
}

func TestANarrowSplitShowsWhatItIsFor(t *testing.T) {
	m := sceneModel(t, scenes[1], layout.Size{W: 46, H: 30})
	text := m.canvas.Plain()
	for _, a := range m.st.Accounts {
		if !strings.Contains(text, m.st.Name(a.ID)) {
			t.Errorf("%s is missing", a.ID)
		}
	}
	rows := 0
	for line := range strings.SplitSeq(text, "\n") {
		for _, who := range []string{"work-max", "home-pro", "codex-1", "all failed", "none ready", "agent left"} {
			if strings.Contains(line, who) && strings.Contains(line, ":") && !strings.Contains(line, "─") {
				rows++
				break
			}
		}
	}
	if rows < 15 || !strings.Contains(text, "94% cached") || !strings.Contains(text, "$11.42") {
		t.Errorf("%d requests, or not the day's cost and cache:\n%s", rows, text)
	}
}

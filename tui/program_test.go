package tui

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"

	"dev.magpie/config"
	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// stamped gives keys their moment, as Run's filter does.
type stamped struct{ *model }

func (s stamped) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := s.model.Update(stamp(time.Now)(s.model, msg))
	return s, cmd
}

// program runs a screen as a whole program on a view that is told live.
func program(t *testing.T, g *fakeGateway) *teatest.TestModel {
	t.Helper()
	o := Options{
		Listen: "127.0.0.1:3425", Screen: config.Screen{Glyphs: "unicode"},
		Env: func(k string) string { return map[string]string{"TERM": "xterm-256color"}[k] },
	}
	m, err := newModel(t.Context(), g, o, true)
	if err != nil {
		t.Fatal(err)
	}
	view, changes, err := g.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.begin(view, changes)
	return teatest.NewTestModel(t, stamped{m}, teatest.WithInitialTermSize(80, 24))
}

// shows waits until the program has drawn a text.
func shows(t *testing.T, tm *teatest.TestModel, text string) {
	t.Helper()
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return bytes.Contains(out, []byte(text)) }, teatest.WithDuration(time.Minute))
}

func liveRoute(id int64) trace.Route {
	return trace.Route{
		ID: id, Time: time.Now(), Agent: "claude", Asked: "claude-sonnet-5-5", Order: []trace.Candidate{{ID: workMax, Model: "claude-sonnet-5-5"}},
		Tries: []trace.Try{{ID: workMax, Model: "claude-sonnet-5-5", Start: time.Now()}},
	}
}

func TestAWholeProgramStartsShowsPausesAndQuits(t *testing.T) {
	g := newFake(idleView())
	tm := program(t, g)
	shows(t, tm, "Point an agent here")

	g.bus.Publish(liveRoute(7))
	shows(t, tm, "» work-max")

	tm.Type("1")
	tm.Type("jp")
	shows(t, tm, "done: pause")
	if did := g.did(); len(did) != 1 || !reflect.DeepEqual(did[0], control.Command{Verb: control.Pause, Who: homePro}) {
		t.Errorf("it did %v", did)
	}

	tm.Type("q")
	shows(t, tm, "1 request is still being answered")
	over := liveRoute(7)
	over.Done, over.Status = true, 200
	g.bus.Publish(over)
	shows(t, tm, "nothing is being answered any more")

	quit := time.NewTicker(50 * time.Millisecond) // until the dialog takes keys
	defer quit.Stop()
	ended := make(chan tea.Model, 1)
	go func() { ended <- tm.FinalModel(t, teatest.WithFinalTimeout(time.Minute)) }()
	for {
		select {
		case m := <-ended:
			if s, ok := m.(stamped); !ok || s.exit != ExitDrain {
				t.Errorf("it ended as %+v", m)
			}
			return
		case <-quit.C:
			tm.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("d")})
		}
	}
}

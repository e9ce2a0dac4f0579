package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

func TestWhatNoCapIs(t *testing.T) {
	g, s := everyGateway(t), newShell(t)
	for _, line := range []string{
		"quota cap a/b 0.5", "quota cap a/b 150", "quota cap a/b -1", "quota cap a/b many", "quota cap a/b", "quota cap", "quota credits a/b", "quota credits a/b maybe",
		"quota auto-reset a/b 1", "quota history -n 0", "quota history --since soon", "quota wait", "quota wait work-max --timeout soon", "quota wait work-max --timeout 0s",
	} {
		code, _, errs := s.run(append(strings.Fields(line), "--listen", g.addr())...)
		if code != exitUsage || errs == "" {
			t.Errorf("%s: exit code %d, %q", line, code, errs)
		}
	}
	for _, asked := range g.all() {
		if strings.HasPrefix(asked, "POST") {
			t.Errorf("it was sent: %s", asked)
		}
	}
}

func TestWaitingEndsAsTheAccountDoes(t *testing.T) {
	spent := trace.Account{ID: "relay/a", Provider: "relay", Name: "a", Kind: "key", State: trace.Spent, Known: true, Used: 100, Windows: []trace.Window{window("7 days", 100, 50*time.Hour, 168*time.Hour)}}
	other, fine := spent, spent
	other.ID, other.Name, other.Provider = "glm/a", "a", "glm"
	fine.ID, fine.Name, fine.State, fine.Windows = "relay/b", "b", trace.Fine, []trace.Window{window("7 days", 10, 50*time.Hour, 168*time.Hour)}
	g := newCanned(t, map[string]any{"GET /v1/magpie/quotas": map[string]any{"accounts": []trace.Account{spent, other, fine}}})
	s := newShell(t)
	for _, c := range []struct {
		who, most string
		code      int
		says      string
	}{
		{"relay/b", "1h", 0, "relay/b is fine: 7 days 10%"},
		{"B", "1h", 0, "relay/b is fine"},
		{"relay", "1h", 0, "relay/b is fine"},
		{"relay/a", "1s", 1, "relay/a can't be asked after 1s: spent: 100% used"},
		{"glm", "1ms", 1, "glm/a can't be asked"},
		{"a", "1h", 2, `several are called "a": relay/a, glm/a`},
		{"nobody", "1h", 2, "nobody is called"},
	} {
		code, out, errs := s.run("quota", "wait", c.who, "--timeout", c.most, "--listen", g.addr())
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: exit code %d, %q %q", c.who, code, out, errs)
		}
	}
	if code, out, _ := s.run("quota", "wait", "relay/a", "--timeout", "1ms", "--json", "--listen", g.addr()); code != 1 || !strings.Contains(out, `"free": false`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, _, _ := s.run("quota", "wait", "relay/a", "--listen", nowhere); code != exitNoGateway {
		t.Errorf("without a gateway: exit code %d", code)
	}
	done := make(chan int)
	go func() {
		code, _, _ := s.run("quota", "wait", "relay/a", "--listen", g.addr())
		done <- code
	}()
	eventually(t, "heard the signal", func() bool { return s.send(syscall.SIGINT) })
	if code := <-done; code != exitInterrupted {
		t.Errorf("interrupted: exit code %d", code)
	}
}

func TestAResetIsShownAndAskedAbout(t *testing.T) {
	const words = "spend a reset of codex/me, and that can't be undone: it never runs out, 1 in hand; 7 days 100% used"
	g := newCanned(t, map[string]any{
		"POST /v1/magpie/preview": map[string]any{"class": "spends", "words": words, "token": "T-1"},
		"POST /v1/magpie/do":      map[string]any{"done": "spent a reset of codex/me: 2 windows began anew", "state": []trace.Account{}, "at": noon},
	})
	s := newShell(t)
	spent := func() int {
		n := 0
		for _, asked := range g.all() {
			if strings.Contains(asked, "/do ") && strings.Contains(asked, `"verb":"reset"`) && strings.Contains(asked, "T-1") {
				n++
			}
		}
		return n
	}
	if code, _, errs := s.run("quota", "reset", "me", "--listen", g.addr()); code != exitUsage || !strings.Contains(errs, "--yes") || spent() != 0 {
		t.Errorf("nobody to be asked: exit code %d, %q, spent %d", code, errs, spent())
	}
	code, out, errs := s.run("quota", "reset", "me", "--yes", "--listen", g.addr())
	if code != 0 || !strings.Contains(out, "2 windows began anew") || spent() != 1 {
		t.Errorf("exit code %d, %q %q, spent %d", code, out, errs, spent())
	}
}

func TestARefreshTellsWhoCanNotBeReadAndWhy(t *testing.T) {
	good := trace.Account{ID: "a/good", Kind: "key", State: trace.Fine}
	bad, worse := good, good
	bad.ID, bad.ReadError = "a/bad", "its vendor answers 502"
	worse.ID, worse.ReadError = "b/worse", "no token"
	for _, c := range []struct {
		done  string
		state []trace.Account
		out   string
	}{
		{"read 1 account, 2 can't be read", []trace.Account{good, bad, worse}, "read 1 account, 2 can't be read\na/bad: its vendor answers 502\nb/worse: no token\n"},
		{"a/bad can't be read: its vendor answers 502", []trace.Account{bad}, "a/bad can't be read: its vendor answers 502\n"},
		{"read 2 accounts", []trace.Account{good, good}, "read 2 accounts\n"},
	} {
		g, s := newCanned(t, map[string]any{"POST /v1/magpie/do": map[string]any{"done": c.done, "state": c.state}}), newShell(t)
		code, out, errs := s.run("quota", "refresh", "--listen", g.addr())
		if code != 0 || out != c.out || errs != "" {
			t.Errorf("%s: exit code %d, %q, %q", c.done, code, out, errs)
		}
		code, out, _ = s.run("quota", "refresh", "--json", "--listen", g.addr())
		if code != 0 || strings.Count(out, `"read_error"`) != strings.Count(c.out, "502")+strings.Count(c.out, "no token") || strings.Contains(out, "\na/bad: ") {
			t.Errorf("%s: exit code %d, %s", c.done, code, out)
		}
	}
}

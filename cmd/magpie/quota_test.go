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
	for _, asked := range g.asked {
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
		who  string
		code int
		says string
	}{
		{"relay/b", 0, "relay/b is fine: 7 days 10%"},
		{"B", 0, "relay/b is fine"},
		{"relay", 0, "relay/b is fine"},
		{"relay/a", 1, "relay/a can't be asked after 1s: spent: 100% used"},
		{"glm", 1, "glm/a can't be asked"},
		{"a", 2, `several are called "a": relay/a, glm/a`},
		{"nobody", 2, "nobody is called"},
	} {
		code, out, errs := s.run("quota", "wait", c.who, "--timeout", "1s", "--listen", g.addr())
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: exit code %d, %q %q", c.who, code, out, errs)
		}
	}
	if code, out, _ := s.run("quota", "wait", "relay/a", "--timeout", "1s", "--json", "--listen", g.addr()); code != 1 || !strings.Contains(out, `"free": false`) {
		t.Errorf("exit code %d, %s", code, out)
	}
	if code, _, _ := s.run("quota", "wait", "relay/a", "--listen", freePort(t)); code != exitNoGateway {
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

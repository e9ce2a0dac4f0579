package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/history"
	"dev.magpie/gateway/trace"
)

const oneDay = `
name = "a day"
days = 1
[[accounts]]
id = "plan/a"
windows = [{ name = "5 hours", span = "5h", limit = 300_000 }, { name = "7 days", span = "7d", limit = 400_000, used = 10, resets = "15h" }]
[[keys]]
id = "pay/k"
price = { input = 3, cache_read = 0.3, output = 15 }
`

const itsAgents = `
[[agents]]
name = "x"
from = "9h"
to = "17h"
conversations = [6, 6]
turns = [3, 5]
rounds = [1, 4]
pause = ["10s", "6m"]
tool = ["5s", "30s"]
prefix = 8_000
user = [50, 400]
result = [100, 2_000]
output = [50, 500]
`

// play runs simulate over a workload's text.
func play(t *testing.T, s *shell, text string, args ...string) (int, string, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "day.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.run(append([]string{"simulate", "--workload", path}, args...)...)
}

// oneLine takes the breaks out of what was wrapped.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestSimulateReadsWell(t *testing.T) {
	code, out, errs := play(t, newShell(t), oneDay+itsAgents)
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, stderr %q", code, errs)
	}
	golden(t, "simulate", out)
}

func TestSimulateTellsEverythingAsJSON(t *testing.T) {
	code, out, errs := play(t, newShell(t), oneDay+itsAgents, "--json")
	var rep struct {
		Workload string
		Requests int
		Bound    struct{ Wasted, Money, Cached float64 }
		Orders   []struct {
			Order                  string
			Asked, Answered        int
			Wasted, Money, Cached  float64
			Regret                 struct{ Wasted, Money, Cached float64 }
			Moves, Broken, Refused *int
		}
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v, %s", code, err, errs)
	}
	if rep.Workload != "a day" || len(rep.Orders) != 7 || rep.Requests == 0 {
		t.Fatalf("%s", out)
	}
	for _, o := range rep.Orders {
		if o.Asked != rep.Requests || o.Answered != o.Asked || o.Moves == nil || o.Regret.Money < 0 || o.Money-rep.Bound.Money != o.Regret.Money || o.Regret.Wasted < 0 || o.Regret.Cached < 0 {
			t.Errorf("%+v of %+v", o, rep.Bound)
		}
	}
}

func TestSimulateTakesAConfigsRouting(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "config.toml")
	text := "[providers.plan]\nchat = \"http://127.0.0.1:9/v1\"\naccounts = [{ name = \"a\" }]\n[providers.pay]\nchat = \"http://127.0.0.1:9/v1\"\nkeys = [{ name = \"k\", value = \"sk-abcdefgh-1\" }]\n" +
		"[groups.mine]\nrouting = \"rotate\"\nmembers = [\"plan/m\", \"pay/m\"]\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	code, out, errs := play(t, s, "model = \"group/mine\"\n"+oneDay+itsAgents, "--config", conf)
	lines := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		name, figures, _ := strings.Cut(line, " ")
		lines[name] = strings.TrimSpace(figures)
	}
	if code != 0 || lines["yours"] == "" || lines["yours"] != lines["rotate"] || lines["yours"] == lines["smart"] {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if code, _, errs = play(t, s, "model = \"group/other\"\n"+oneDay+itsAgents, "--config", conf); code != 2 || !strings.Contains(oneLine(errs), "the workload's model") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestSimulateTakesAHistory(t *testing.T) {
	dir := t.TempDir()
	h, err := history.Open(filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	for i := range 30 {
		h.Add(trace.Route{
			ID: int64(i + 1), Time: at.Add(time.Duration(i) * 20 * time.Second), Agent: "claude", Session: "s", Asked: "m", Done: true, Status: 200,
			Tokens: trace.Tokens{Input: int64(10_000 + 500*i), Output: 100, CacheRead: 9000},
		})
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "w.toml")
	if err := os.WriteFile(path, []byte("history = \"history.db\"\n"+oneDay), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	if code, out, errs := s.run("simulate", "--workload", path); code != 0 || !strings.Contains(out, "30 requests in ") {
		t.Errorf("exit code %d, %s\n%s", code, errs, out)
	}
	if code, _, errs := s.run("simulate", "--workload", filepath.Join(dir, "history.db")); code != 2 || !strings.Contains(errs, "name it as history") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

func TestFilesOfAWorkloadThatCanNotBeReadAreUsage(t *testing.T) {
	dir := t.TempDir()
	bad, bare := filepath.Join(dir, "config.toml"), filepath.Join(dir, "none.toml")
	if err := os.WriteFile(bad, []byte("ruting = \"smart\"\nlisten = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, conf, says string }{
		"no config":     {oneDay + itsAgents, bare, "there is no file " + bare},
		"a bad config":  {oneDay + itsAgents, bad, "config.toml:2:1"},
		"no history":    {"history = \"none.db\"\n" + oneDay, "", "none.db"},
		"a bad history": {"history = \"day.toml\"\n" + oneDay, "", "can't read the history"},
	} {
		args := []string{}
		if c.conf != "" {
			args = []string{"--config", c.conf}
		}
		code, out, errs := play(t, newShell(t), c.text, args...)
		if code != exitUsage || out != "" || !strings.Contains(strings.ReplaceAll(errs, "\n        ", " "), c.says) {
			t.Errorf("%s: exit code %d, %q, %q", name, code, out, errs)
		}
	}
}

func TestWhatIsWrongWithAWorkloadIsUsage(t *testing.T) {
	code, _, errs := play(t, newShell(t), "weeks = 3")
	if code != 2 || !strings.Contains(oneLine(errs), "weeks is no key of a workload") || !strings.Contains(errs, "days: write 1 to 60") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

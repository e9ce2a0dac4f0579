package standin_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/BurntSushi/toml"

	"dev.magpie/gateway/standin"
)

// watched is a demo that was played for a time.
type watched struct {
	heard []standin.Heard
	asked []time.Duration // since the start, by the relay
	calls map[string][]standin.Call
	start time.Time
}

// watch plays the demo against a relay in a bubble's time.
func watch(t *testing.T, n *standin.Net, d *standin.DemoRun, length time.Duration) watched {
	t.Helper()
	g, base, stop := newRelay(t, n, d.Config())
	defer stop()
	tr := n.Transport()
	defer tr.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	w := watched{calls: map[string][]standin.Call{}, start: time.Now()}
	var mu sync.Mutex
	err := d.PlayWith(ctx, standin.Crew{Base: base, Client: &http.Client{Transport: tr}, Tell: func(h standin.Heard) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			w.heard = append(w.heard, h)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range g.times() { // what was cut off at the end may still be on its way
		w.asked = append(w.asked, at.Sub(w.start))
	}
	for _, name := range []string{"anthropic", "openai", "gemini", "glm", "deepseek", "openrouter"} {
		w.calls[name] = d.Vendor(name).Calls()
	}
	return w
}

func TestTheFirstSecondsOfTheDemoShowEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := standin.PipeNet()
		d, err := standin.StageOn(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		w := watch(t, n, d, 13*time.Second)
		soon := func(vendor string, fits func(standin.Call) bool) bool {
			return slices.ContainsFunc(w.calls[vendor], func(c standin.Call) bool { return c.At.Sub(w.start) <= 10*time.Second && fits(c) })
		}
		by := func(key string, status int, step string) func(standin.Call) bool {
			return func(c standin.Call) bool {
				return c.Key == key && c.Status == status && strings.Contains(c.Step, step)
			}
		}
		for name, seen := range map[string]bool{
			"a key out of quota":            soon("anthropic", by("demo-anthropic-work-max", 429, "")),
			"another answers in its place":  soon("anthropic", by("demo-anthropic-home-pro", 200, "")),
			"a rate limit with a time":      soon("openai", by("demo-openai-main", 429, "rate retry-after=25s")),
			"the spare answers":             soon("openai", by("demo-openai-spare", 200, "")),
			"an overloaded one":             soon("gemini", by("demo-gemini-free", 503, "overloaded")),
			"a refusal after thinking":      soon("anthropic", by("demo-anthropic-home-pro", 200, "refuse after-thinking")),
			"the fallback answers it":       soon("openrouter", by("demo-openrouter-main", 200, "")),
			"a long stream":                 soon("glm", by("demo-glm-plan", 200, "events=75")),
			"one without credit":            soon("deepseek", by("demo-deepseek-trial", 402, "credit")),
			"one refused everywhere":        soon("gemini", by("demo-gemini-paid", 200, "refuse")),
			"the refused one is told":       slices.ContainsFunc(w.heard, func(h standin.Heard) bool { return strings.Contains(h.Err, "PROHIBITED_CONTENT") }),
			"the failed one is told":        slices.ContainsFunc(w.heard, func(h standin.Heard) bool { return strings.Contains(h.Body, "Insufficient Balance") }),
			"someone has an answer by then": slices.ContainsFunc(w.heard, func(h standin.Heard) bool { return h.Err == "" && h.Text != "" }),
		} {
			if !seen {
				t.Errorf("not seen: %s", name)
			}
		}
	})
}

func TestADayOfTheDemoIsCalmAndClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := standin.PipeNet()
		d, err := standin.StageOn(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		const length = 13 * time.Minute
		w := watch(t, n, d, length)
		perMinute := make([]int, int(length.Minutes()))
		for _, at := range w.asked {
			perMinute[min(int(at.Minutes()), len(perMinute)-1)]++
		}
		all := 0
		for m, got := range perMinute {
			if m > 0 && (got < 3 || got > 28) {
				t.Errorf("minute %d has %d requests", m, got)
			}
			all += got
		}
		if mean := float64(all) / length.Minutes(); mean < 10 || mean > 20 {
			t.Errorf("%.1f requests a minute: %v", mean, perMinute)
		}
		good := 0
		for _, h := range w.heard {
			if h.Err == "" {
				good++
			}
		}
		if share := float64(good) / float64(len(w.heard)); share < 0.85 || share == 1 {
			t.Errorf("%d of %d replies are good", good, len(w.heard))
		}
		for vendor, calls := range w.calls {
			if len(calls) == 0 {
				t.Errorf("%s was not asked", vendor)
			}
			for _, c := range calls {
				if c.Refused != "" || c.Leaks != nil {
					t.Errorf("%s, %s: %q %q", vendor, c.Key, c.Refused, c.Leaks)
				}
			}
		}
		if c := d.Vendor("anthropic").CallsOf("demo-anthropic-work-max"); len(c) == 0 || c[len(c)-1].Status != http.StatusOK {
			t.Error("the key out of quota doesn't come back")
		}
	})
}

func TestTheDemoIsTheSameEveryTime(t *testing.T) {
	var runs [2][]string
	for i := range runs {
		synctest.Test(t, func(t *testing.T) {
			n := standin.PipeNet()
			d, err := standin.StageOn(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			for _, h := range watch(t, n, d, 30*time.Second).heard {
				runs[i] = append(runs[i], h.Session+" "+h.Agent+" "+h.Err)
			}
			slices.Sort(runs[i])
		})
	}
	if len(runs[0]) == 0 || !slices.Equal(slices.Compact(runs[0]), slices.Compact(runs[1])) {
		t.Errorf("first %q\nthen %q", runs[0], runs[1])
	}
}

func TestTheDemoStandsOnLoopbackUntilItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d, err := standin.Demo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Providers map[string]map[string]any
	}
	meta, err := toml.Decode(d.Config(), &config)
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Providers) != 6 || !meta.IsDefined("groups", "always-on", "members") || strings.Contains(d.Config(), "}\"") {
		t.Errorf("the config is\n%s", d.Config())
	}
	base, _ := config.Providers["anthropic"]["messages"].(string)
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("Anthropic is at %q", base)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	s := &site{t: t, client: &http.Client{Transport: tr}, base: base}
	q := asking{method: http.MethodGet, path: "/v1/models", head: map[string]string{"x-api-key": "k1"}}
	if a := s.ask(q); a.status != http.StatusOK {
		t.Errorf("its models: %d %v %s", a.status, a.err, a.body)
	}
	cancel()
	d.Close()
	if a := s.ask(q); a.err == nil {
		t.Error("it stands after its end")
	}
}

func TestEveryBaseOfTheDemoIsItsOwn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d, err := standin.Demo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for line := range strings.Lines(d.Config()) {
		name, value, _ := strings.Cut(line, " = ")
		switch name {
		case "chat", "responses", "messages", "gemini":
			if v := strings.Trim(strings.TrimSpace(value), `"`); v != "" && !strings.HasPrefix(v, "http://127.0.0.1:") {
				t.Errorf("%s leaves the machine", strings.TrimSpace(line))
			}
		}
	}
}

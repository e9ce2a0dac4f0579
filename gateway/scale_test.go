package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/history"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// unlucky answers well in seven of ten requests, and in the others with one of its faults.
type unlucky struct {
	good   *standin.Vendor
	faults []*standin.Vendor

	mu   sync.Mutex
	rand *rand.Rand
	bad  atomic.Int64
}

// faultySteps are all the ways in which a vendor lets an agent down.
var faultySteps = []string{
	"429 rate", "429 rate retry-after=1s", "429 quota", "402 credit", "401 auth", "403 forbidden", "404 model", "500 server", "503 overloaded", "529 overloaded", "504 timeout",
	"400 bad", "400 too-long", "page 200", "page 403", "empty 200", "body 200 say=\"plain words\"", "error-first overloaded", "error-first rate", "error server after=1", "error server after=3",
	"cut after=0", "cut after=2", "fin after=1", "rst after=0", "rst after=3", "drop", "refuse at-once", "ok split=7", "ok crlf", "silence 50ms",
}

const wholeText = "the whole reply, from its first word to its last"

func newUnlucky(seed uint64) *unlucky {
	u := &unlucky{good: standin.New(standin.Options{Text: wholeText, Models: []string{"m"}, Keep: -1, Seed: seed}), rand: rand.New(rand.NewPCG(seed, 1))}
	for _, step := range faultySteps {
		v := standin.New(standin.Options{Text: wholeText, Models: []string{"m"}, Keep: -1, Seed: seed})
		v.Script(standin.AnyKey, standin.Must(step+" x*")...)
		u.faults = append(u.faults, v)
	}
	return u
}

func (u *unlucky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	v := u.good
	if u.rand.IntN(10) < 3 {
		v = u.faults[u.rand.IntN(len(u.faults))]
		u.bad.Add(1)
	}
	u.mu.Unlock()
	v.ServeHTTP(w, r)
}

// served is a gateway on a real port, with all that it keeps on disk.
type served struct {
	g    *gateway.Gateway
	base string
	hist *history.History
	bus  *trace.Bus
}

func serveReal(t testing.TB, toml string) *served {
	t.Helper()
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(toml))
	if err != nil {
		t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	if len(problems) > 0 {
		t.Fatal(problems[0].String())
	}
	dir := t.TempDir()
	store, err := state.Open(state.Options{Choices: filepath.Join(dir, "choices.json"), Rests: filepath.Join(dir, "rests.json"), Quotas: filepath.Join(dir, "quotas.json")}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	hist, err := history.Open(filepath.Join(dir, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	s := &served{hist: hist, bus: trace.NewBus(trace.Options{Start: time.Now()})}
	s.g = gateway.New(gateway.Deps{Config: cfg, Catalog: cat, State: store, Bus: s.bus, History: hist, Version: "test", NoFetch: true})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := s.g.Server()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	s.base = "http://" + l.Addr().String()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
		s.g.Close()
		_ = store.Close()
		_ = hist.Close()
	})
	return s
}

func TestEveryAgentGetsAWholeReplyOrAnHonestError(t *testing.T) {
	a, b := newUnlucky(1), newUnlucky(2)
	va, vb := httptest.NewServer(a), httptest.NewServer(b)
	defer va.Close()
	defer vb.Close()
	toml := strings.NewReplacer("{a}", va.URL, "{b}", vb.URL, "MODEL", "m", "b/other", "b/m",
		`keys = [{ name = "k", value = "sk-test-k1-000000000001" }]`, `keys = [{ name = "k1", value = "sk-test-k1-000000000001" }, { name = "k2", value = "sk-test-k3-000000000003" }]`,
		`keys = [{ name = "k", value = "sk-test-k2-000000000002" }]`, `keys = [{ name = "k1", value = "sk-test-k2-000000000002" }, { name = "k2", value = "sk-test-k4-000000000004" }]`).Replace(ab)
	s := serveReal(t, toml)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	askOnce(t, s, client, 0) // what is made once is no growth
	rest(t, client, va, vb)
	goroutines := runtime.NumGoroutine()

	const agents, filled = 48, 1000
	var mu sync.Mutex
	count := map[string]int{}
	crowd := func(from, to int) {
		var wg sync.WaitGroup
		next := make(chan int)
		for range agents {
			wg.Go(func() {
				for i := range next {
					how := askOnce(t, s, client, i)
					mu.Lock()
					count[how]++
					mu.Unlock()
				}
			})
		}
		for i := from; i < to; i++ {
			next <- i
		}
		close(next)
		wg.Wait()
	}
	crowd(0, filled) // what is kept of the last requests is full, and no growth either
	heap := liveHeap()
	crowd(filled, manyRequests)

	t.Logf("%v; faults: %d and %d", count, a.bad.Load(), b.bad.Load())
	if count["whole"] < manyRequests*8/10 || count["whole"]+count["error"] != manyRequests {
		t.Errorf("%v", count)
	}
	totals := s.g.Status().Totals
	if totals.Requests != int64(manyRequests)+1 || totals.InFlight != 0 || s.g.InFlight() != 0 {
		t.Errorf("totals %+v, %d under way", totals, s.g.InFlight())
	}
	rest(t, client, va, vb)
	settles := func(is func() bool) bool { // connections end and files are written in their own time
		for until := time.Now().Add(time.Minute); time.Now().Before(until); <-time.After(10 * time.Millisecond) {
			if is() {
				return true
			}
		}
		return false
	}
	if !settles(func() bool { return runtime.NumGoroutine() <= goroutines }) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d at the start\n%s", runtime.NumGoroutine(), goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if !settles(func() bool { return liveHeap()-heap <= 5<<20 }) {
		t.Errorf("the live heap grew by %d KB", (liveHeap()-heap)>>10)
	}
	if stat := s.hist.Stat(); stat.Error != "" {
		t.Errorf("the history: %+v", stat)
	}
}

// rest closes what agents and vendors keep open between two requests.
func rest(t *testing.T, client *http.Client, vendors ...*httptest.Server) {
	t.Helper()
	client.CloseIdleConnections()
	for _, v := range vendors {
		v.CloseClientConnections()
	}
}

// liveHeap is what is left after two collections.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// askOnce is one agent: it asks over one of the four APIs, streamed or whole, and says
// what it got.
func askOnce(t *testing.T, s *served, client *http.Client, i int) string {
	api, streamed := apis[i%4], i/4%2 == 0
	path, body := asking(api, "group/g", streamed)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return "broken"
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		t.Errorf("%s: %v", api, err)
		return "broken"
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v behind %q", api, err, reply)
		return "broken"
	}
	how, why := verdictOf(api, streamed, resp, reply)
	if why != "" {
		t.Errorf("%s, streamed %v, request %s: %s: %d %q", api, streamed, resp.Header.Get("X-Magpie-Request"), why, resp.StatusCode, reply)
	}
	return how
}

// verdictOf says whether a reply is whole or an honest error, and why it is neither.
func verdictOf(api string, streamed bool, resp *http.Response, reply []byte) (how, why string) {
	if resp.StatusCode != http.StatusOK {
		var e struct{ Error json.RawMessage }
		if resp.StatusCode < 400 || json.Unmarshal(bytes.Trim(reply, "[]"), &e) != nil || len(e.Error) == 0 {
			return "broken", "no error of an API"
		}
		return "error", ""
	}
	text := words(reply)
	if !streamed {
		if !json.Valid(reply) || !strings.Contains(text, wholeText) {
			return "broken", "a reply that is not whole"
		}
		return "whole", ""
	}
	failed := errorEvent(api, reply)
	ended := endOf(api, reply)
	switch {
	case failed && ended:
		return "broken", "an error and an end"
	case failed:
		return "error", ""
	case !ended:
		return "broken", "an end that is none"
	case text != wholeText:
		return "broken", fmt.Sprintf("half a reply that reads as whole: %q", text)
	}
	return "whole", ""
}

// endOf says whether a stream has its API's end.
func endOf(api string, reply []byte) bool {
	mark := map[string]string{"chat": "data: [DONE]", "messages": `"type":"message_stop"`, "responses": `"type":"response.completed"`, "gemini": `"finishReason":"STOP"`}[api]
	return bytes.Contains(reply, []byte(mark))
}

// errorEvent says whether a stream ends in its API's error event.
func errorEvent(api string, reply []byte) bool {
	mark := map[string]string{"chat": `data: {"error":`, "messages": "event: error", "responses": `"type":"response.failed"`, "gemini": `data: {"error":`}[api]
	return bytes.Contains(reply, []byte(mark)) || api == "responses" && bytes.Contains(reply, []byte("event: error"))
}

// words is the text of a reply: of a whole one all of it, of a stream its deltas in a row.
func words(reply []byte) string {
	if json.Valid(reply) {
		return string(reply)
	}
	var b strings.Builder
	for line := range strings.Lines(string(reply)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok {
			continue
		}
		var e struct {
			Type       string
			Delta      json.RawMessage
			Choices    []struct{ Delta struct{ Content string } }
			Candidates []struct {
				Content struct{ Parts []struct{ Text string } }
			}
		}
		if json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		for _, c := range e.Choices {
			b.WriteString(c.Delta.Content)
		}
		for _, c := range e.Candidates {
			for _, p := range c.Content.Parts {
				b.WriteString(p.Text)
			}
		}
		var text string
		var block struct{ Text string }
		switch {
		case e.Type == "response.output_text.delta" && json.Unmarshal(e.Delta, &text) == nil:
			b.WriteString(text)
		case e.Type == "content_block_delta" && json.Unmarshal(e.Delta, &block) == nil:
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

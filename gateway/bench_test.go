package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/gateway/history"
)

// These compare the gateway with net/http/httputil.ReverseProxy doing the same relay in the
// same run, taking turns, so that a noisy machine weighs on both alike. What they report is
// the ratio; the absolute times are the machine's.

// quickVendor answers as fast as net/http lets it.
func quickVendor(events int) http.Handler {
	whole := []byte(`{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` +
		strings.Repeat("word ", 150) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":150,"total_tokens":162}}`)
	event := []byte("data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"some words\"},\"finish_reason\":null}]}\n\n")
	end := []byte("data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if events == 0 {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
			_, _ = w.Write(whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		f := http.NewResponseController(w)
		for range events {
			_, _ = w.Write(event)
			_ = f.Flush()
		}
		_, _ = w.Write(end)
	})
}

// pair is a gateway and a bare proxy in front of one vendor, on loopback.
type pair struct {
	ours, bare string
	client     *http.Client
	hist       *history.History // of ours
}

func newPair(b testing.TB, vendor http.Handler) *pair {
	b.Helper()
	v := httptest.NewServer(vendor)
	b.Cleanup(v.Close)
	target, err := url.Parse(v.URL)
	if err != nil {
		b.Fatal(err)
	}
	tr := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1, Transport: tr,
	})
	b.Cleanup(proxy.Close)

	ours := serveReal(b, "[providers.a]\nchat = \""+v.URL+"/v1\"\nmessages = \""+v.URL+"\"\n"+benchKey)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	b.Cleanup(client.CloseIdleConnections)
	return &pair{ours: ours.base, bare: proxy.URL, client: client, hist: ours.hist}
}

const benchKey = "keys = [{ name = \"k\", value = \"sk-test-k1-000000000001\" }]\n"

func (p *pair) post(base, path string, body []byte) (first time.Duration, err error) {
	start := time.Now()
	resp, err := p.client.Post(base+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	one := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, one); err != nil {
		return 0, err
	}
	first = time.Since(start)
	_, err = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return first, err
}

// must posts until an answer came whole. The bare proxy aborts a reply now and then, when
// its vendor answers while the body is still being read; that is not ours to count.
func (p *pair) must(b testing.TB, base, path string, body []byte) (err error) {
	for range 5 {
		if _, err = p.post(base, path, body); err == nil || base == p.ours {
			return err
		}
		b.Log("the bare proxy:", err)
	}
	return err
}

// load sends n requests over c connections and returns how long that took.
func (p *pair) load(b testing.TB, base, path string, body []byte, n, c int) time.Duration {
	b.Helper()
	var wg sync.WaitGroup
	start := time.Now()
	for range c {
		wg.Go(func() {
			for range n / c {
				if err := p.must(b, base, path, body); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// compare runs both sides in turn and reports the median of the ratios bare/ours.
func (p *pair) compare(b *testing.B, rounds int, run func(base string) time.Duration) float64 {
	b.Helper()
	return inTurn(rounds, func() time.Duration { return run(p.bare) }, func() time.Duration { return run(p.ours) })
}

// inTurn runs two sides in turn and returns the median of the ratios of the first to the second.
func inTurn(rounds int, one, other func() time.Duration) float64 {
	one()
	other()
	var ratios []float64
	for i := range rounds {
		var a, b time.Duration
		if i%2 == 0 {
			a, b = one(), other()
		} else {
			b, a = other(), one()
		}
		ratios = append(ratios, float64(a)/float64(b))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

const smallBody = `{"model":"a/m","messages":[{"role":"system","content":"You are a helpful assistant that answers briefly."},{"role":"user","content":"Say a few words about magpies, please, and why they like shiny things."}],"temperature":0.2}`

func BenchmarkSmallRelayAgainstBareProxy(b *testing.B) {
	for _, conns := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d connections", conns), func(b *testing.B) {
			p := newPair(b, quickVendor(0))
			for b.Loop() {
				ratio := p.compare(b, 9, func(base string) time.Duration {
					return p.load(b, base, "/v1/chat/completions", []byte(smallBody), 800, conns)
				})
				b.ReportMetric(ratio, "of-bare-throughput")
			}
		})
	}
}

func BenchmarkStreamAgainstBareProxy(b *testing.B) {
	body := []byte(strings.Replace(smallBody, `{"model"`, `{"stream":true,"model"`, 1))
	for _, conns := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d connections", conns), func(b *testing.B) {
			p := newPair(b, quickVendor(200))
			for b.Loop() {
				ratio := p.compare(b, 9, func(base string) time.Duration {
					return p.load(b, base, "/v1/chat/completions", body, 96, conns)
				})
				b.ReportMetric(ratio, "of-bare-events/s")
			}
		})
	}
}

func BenchmarkAgentBodyAgainstBareProxy(b *testing.B) {
	for _, size := range []int{200 << 10, 2 << 20} {
		b.Run(fmt.Sprintf("%d KB", size>>10), func(b *testing.B) {
			p := newPair(b, quickVendor(3))
			body := agentBody(size)
			for b.Loop() {
				var bare, ours []time.Duration
				for range 40 {
					for _, side := range []struct {
						base string
						to   *[]time.Duration
					}{{p.bare, &bare}, {p.ours, &ours}} {
						first, err := p.post(side.base, "/v1/messages", body)
						if err != nil && side.base == p.bare {
							b.Log("the bare proxy:", err)
							continue
						}
						if err != nil {
							b.Fatal(err)
						}
						*side.to = append(*side.to, first)
					}
				}
				b.ReportMetric(float64(median(ours))/float64(median(bare)), "x-bare-first-byte")
				b.ReportMetric(float64(median(ours).Microseconds()), "us-ours")
			}
		})
	}
}

// moreAllocations is how many allocations a request takes more of the gateway than of the bare
// proxy: the median of some rounds. What the history still has to write of a round is a part
// of it: left to itself it is written during the next one, which may be the proxy's.
func (p *pair) moreAllocations(b testing.TB, body string) float64 {
	b.Helper()
	const n = 400
	round := func(base string) float64 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p.load(b, base, "/v1/chat/completions", []byte(body), n, 1)
		if err := p.hist.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs-before.Mallocs) / n
	}
	round(p.ours) // what both sides keep from then on: connections, room of their pools
	round(p.bare)
	var more []float64
	for range 5 {
		more = append(more, round(p.ours)-round(p.bare))
	}
	slices.Sort(more)
	return more[len(more)/2]
}

var allocationCases = []struct {
	name, body string
	most       float64
}{
	{"plain", smallBody, 36},
	{"with a level", strings.Replace(smallBody, `{"model"`, `{"reasoning_effort":"high","model"`, 1), 42},
}

func BenchmarkSmallRelayAllocations(b *testing.B) {
	for _, c := range allocationCases {
		b.Run(c.name, func(b *testing.B) {
			p := newPair(b, quickVendor(0))
			for b.Loop() {
				b.ReportMetric(p.moreAllocations(b, c.body), "allocs-more-than-bare")
			}
		})
	}
}

func TestASmallRelayTakesFewAllocationsMoreThanABareProxy(t *testing.T) {
	if raced {
		t.Skip("the race detector drops what pools hold at random, and has allocations of its own")
	}
	for _, c := range allocationCases {
		t.Run(c.name, func(t *testing.T) {
			if more := newPair(t, quickVendor(0)).moreAllocations(t, c.body); more > c.most {
				t.Errorf("%.1f more for each request, want %v at most", more, c.most)
			}
		})
	}
}

// agentBody is a request as coding agents send it, of about n bytes.
func agentBody(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"a/claude-x","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"You are a coding agent."}],"messages":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"`, i)
		for j := range 40 {
			fmt.Fprintf(&b, `\tif err := run(ctx, %d); err != nil {\n\t\treturn fmt.Errorf(\"step: %%w\", err) // naïve\n\t}\n`, j)
		}
		b.WriteString(`"}]}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

package standin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

func TestCallsAreRecordedAsTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k2", standin.RateLimited(0))
		s.ask(asking{api: wire.Messages, path: "/v1/messages?beta=true", body: bodies[wire.Messages], head: map[string]string{"X-Odd": "yes"}})
		s.ask(asking{api: wire.Chat, key: "k2", body: bodies[wire.Chat]})
		s.ask(asking{api: wire.Gemini, path: "/v1beta/models/gemini-3.8-flash%3AstreamGenerateContent?alt=sse", body: bodies[wire.Gemini]})
		c := s.vendor.Calls()
		if len(c) != 3 {
			t.Fatalf("%d calls", len(c))
		}
		if c[0].N != 1 || c[0].Method != http.MethodPost || c[0].Path != "/v1/messages" || c[0].RawQuery != "beta=true" || string(c[0].Body) != bodies[wire.Messages] ||
			c[0].Header.Get("X-Odd") != "yes" || c[0].Key != "k1" || c[0].API != wire.Messages || c[0].Op != standin.OpCreate || c[0].Model != "claude-sonnet-5" || c[0].Status != 200 {
			t.Errorf("the first: %+v", c[0])
		}
		if c[1].Key != "k2" || c[1].Status != 429 || c[1].Step != "429 rate" {
			t.Errorf("the second: %+v", c[1])
		}
		if !c[2].Stream || c[2].Model != "gemini-3.8-flash" || !strings.Contains(c[2].Path, "%3A") {
			t.Errorf("the third: %+v", c[2])
		}
		if !strings.HasPrefix(c[0].Remote, "127.0.0.1:") {
			t.Errorf("it came from %s", c[0].Remote)
		}
		if k2 := s.vendor.CallsOf("k2"); len(k2) != 1 || k2[0].N != 2 {
			t.Errorf("of k2: %v", k2)
		}
		s.vendor.Forget()
		s.ask(asking{api: wire.Chat, body: bodies[wire.Chat]})
		if c := s.vendor.Calls(); len(c) != 1 || c[0].N != 4 {
			t.Errorf("after Forget: %v", c)
		}
	})
}

func TestOnlySoManyCallsAreKept(t *testing.T) {
	for keep, want := range map[int][]int{2: {4, 5}, -1: nil, 0: {1, 2, 3, 4, 5}} {
		synctest.Test(t, func(t *testing.T) {
			s, stop := up(t, standin.Options{Keep: keep})
			defer stop()
			for range 5 {
				s.ask(asking{api: wire.Chat, body: bodies[wire.Chat]})
			}
			var got []int
			for _, c := range s.vendor.Calls() {
				got = append(got, c.N)
			}
			if !slices.Equal(got, want) {
				t.Errorf("keep %d: %v, want %v", keep, got, want)
			}
			if c, err := s.vendor.WaitCall(t.Context(), 1); err != nil || c.N != 1 {
				t.Errorf("waiting for the first: %v %v", c.N, err)
			}
		})
	}
}

func TestWaitCallWaitsForTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		done := make(chan answer)
		time.AfterFunc(3*time.Second, func() { done <- s.ask(asking{api: wire.Chat, body: bodies[wire.Chat]}) })
		start := time.Now()
		c, err := s.vendor.WaitCall(t.Context(), 1)
		if err != nil || c.N != 1 || time.Since(start) != 3*time.Second {
			t.Errorf("%v %v after %v", c.N, err, time.Since(start))
		}
		<-done
		<-c.Done()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.vendor.WaitCall(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a call that never comes: %v", err)
		}
	})
}

func TestACancelledRequestIsSeenWhereverItIs(t *testing.T) {
	for name, step := range map[string]string{
		"before the headers":    "silence forever after=headers",
		"before the content":    "silence forever after=content",
		"in the middle":         "silence forever after=2",
		"between slow pieces":   "ok gap=30s",
		"during the first wait": "ok first=1h",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, standin.Options{})
				defer stop()
				s.vendor.Script("k1", standin.Must(step)...)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				resp, err := s.client.Do(s.request(ctx, streamed(wire.Messages)))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				start := time.Now()
				c, err := s.vendor.WaitCall(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				<-c.Cancelled()
				if took := time.Since(start); took > time.Second {
					t.Errorf("seen after %v", took)
				}
			})
		})
	}
}

func TestAReplyReadToItsEndIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{})
		defer stop()
		s.vendor.Script("k1", standin.Must("cut", "rst", "drop", "ok")...)
		for range 4 {
			s.ask(streamed(wire.Messages))
		}
		for _, c := range s.vendor.Calls() {
			<-c.Done()
			select {
			case <-c.Cancelled():
				t.Errorf("call %d (%s) counts as cancelled", c.N, c.Step)
			default:
			}
		}
	})
}

func TestLeaksAreRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		options standin.Options
		asking
		want []string
	}{
		"nothing":                    {standin.Options{}, chat(hi), nil},
		"the gateway's key":          {standin.Options{}, chat(hi).with("Authorization", "Bearer magpie-codex"), []string{"the gateway's key in bearer"}},
		"two keys":                   {standin.Options{}, messages(hi).with("Authorization", "Bearer k1"), []string{"a second key in bearer"}},
		"the gateway's key besides":  {standin.Options{}, messages(hi).with("Authorization", "Bearer magpie"), []string{"the gateway's key in bearer"}},
		"a key in the URL":           {standin.Options{}, asking{api: wire.Gemini, path: paths[wire.Gemini] + "?key=abc", body: bodies[wire.Gemini]}, []string{"a key in the URL"}},
		"a key of another API":       {standin.Options{}, asking{api: wire.Chat, body: bodies[wire.Chat], head: map[string]string{"Authorization": "", "x-goog-api-key": "k"}}, []string{"a key in x-goog-api-key"}},
		"a header of the gateway":    {standin.Options{}, chat(hi).with("X-Magpie-Account", "home"), []string{"the header X-Magpie-Account"}},
		"a key for a local model":    {standin.Options{NoKey: true}, chat(hi), []string{"a key for a vendor that wants none, in bearer"}},
		"a secret in a header":       {standin.Options{Secrets: []string{"hush"}}, chat(hi).with("X-Odd", "hush-1"), []string{"a secret in the header X-Odd"}},
		"a secret in the body":       {standin.Options{Secrets: []string{"hush"}}, chat(`"messages":[{"role":"user","content":"hush"}]`), []string{"a secret in the body"}},
		"a secret in the query":      {standin.Options{Secrets: []string{"hush"}}, chat(hi).to("/v1/chat/completions?a=hush"), []string{"a secret in the URL"}},
		"a key, and a vendor of one": {standin.Options{Keys: []string{"k1"}}, chat(hi), nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := up(t, c.options)
				defer stop()
				s.ask(c.asking)
				if got := s.vendor.Calls()[0].Leaks; !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if got := len(s.vendor.Leaks()); got != min(1, len(c.want)) {
					t.Errorf("%d calls with leaks", got)
				}
			})
		})
	}
}

func TestOnlyTheKeysOfAListAreLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic", Keys: []string{"k1"}})
		defer stop()
		if a := s.ask(messages(hi)); a.status != http.StatusOK {
			t.Errorf("k1: %d %s", a.status, a.body)
		}
		q := messages(hi)
		q.key = "k2"
		if a := s.ask(q); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "invalid x-api-key") {
			t.Errorf("k2: %d %s", a.status, a.body)
		}
	})
}

func TestThePipeNetRefusesAnAddressNobodyListensAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := standin.PipeNet()
		if _, err := n.DialContext(t.Context(), "tcp", "127.0.0.1:9"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialled: %v", err)
		}
		l, err := n.Listen("vendor.example:443")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Listen("vendor.example:443"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listened twice: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := n.DialContext(ctx, "tcp", "vendor.example:443"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody accepts: %v", err)
		}
		go func() {
			c, err := n.DialContext(t.Context(), "tcp", "vendor.example:443")
			if err == nil {
				_ = c.Close()
			}
		}()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []fmt.Stringer{c.LocalAddr(), c.RemoteAddr()} {
			if !strings.HasPrefix(a.String(), "127.0.0.1:") {
				t.Errorf("an end at %s", a)
			}
		}
		_ = c.Close()
		_ = l.Close()
		if _, err := l.Accept(); err == nil {
			t.Error("a closed listener accepts")
		}
		if _, err := n.DialContext(t.Context(), "tcp", "vendor.example:443"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialled a closed one: %v", err)
		}
	})
}

func TestThePipeNetRunsOutOfNoPorts(t *testing.T) {
	n := standin.PipeNet()
	l, err := n.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer func() { _ = l.Close() }()
		for range 70_000 { // more than there are
			c, err := n.DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
		}
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if _, err := netip.ParseAddrPort(c.RemoteAddr().String()); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	}
}

func TestManyRequestsAtOnceConcurrentSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stop := up(t, standin.Options{Vendor: "anthropic", Busy: true})
		defer stop()
		s.vendor.Script(standin.AnyKey, standin.Must("429 rate x20", "error server after=1 x20", "ok gap=10ms x20")...)
		s.vendor.Windows(standin.AnyKey, windows(t, "5h:1%+0.1")...)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				q := streamed(wire.Messages)
				q.key = fmt.Sprint("k", i%7)
				s.ask(q)
			})
		}
		wg.Wait()
		statuses := map[int]int{}
		for _, c := range s.vendor.Calls() {
			<-c.Done()
			statuses[c.Status]++
		}
		if statuses[429] != 20 || statuses[200] != 80 {
			t.Errorf("%v", statuses)
		}
	})
}

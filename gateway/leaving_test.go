package gateway_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

func TestAnAgentThatLeavesCancelsTheVendorAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		lines []line
		body  string
		leave time.Duration
	}{
		"in the middle of a stream":  {[]line{{0, msgStart + msgText}, {time.Hour, msgStop}}, messagesStream("group/g"), 10 * time.Second},
		"while the reply is held":    {[]line{{0, msgStart}, {time.Hour, msgStop}}, messagesStream("group/g"), 5 * time.Second},
		"before the vendor answered": {[]line{{time.Hour, msgStart}}, messagesBody("group/g"), 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				b := &timeline{}
				r := newRig(t, abOf("m"), vendors{"a": &timeline{lines: c.lines, gone: gone}, "b": b})
				ctx, leave := context.WithCancel(t.Context())
				go func() {
					pass(c.leave)
					leave()
				}()
				if resp, err := r.send(ctx, http.MethodPost, "/v1/messages", c.body); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				start := time.Now()
				<-gone
				if d := time.Since(start); d > time.Second {
					t.Errorf("the vendor saw it after %s", d)
				}
				synctest.Wait()
				route := r.last()
				if route.Status != trace.Gone || b.calls.Load() != 0 || len(r.rests()) != 0 || route.Tries[0].Fail != trace.Cancelled {
					t.Errorf("status %d, b asked %d times, rests %v, %+v", route.Status, b.calls.Load(), r.rests(), route.Tries)
				}
			})
		})
	}
}

func TestAnAgentThatLeavesBetweenTwoTriesIsNotServedOn(t *testing.T) {
	for name, c := range map[string]struct {
		toml, step string
		leave      time.Duration
	}{
		"in the pause before a repeat":     {lone, "429 rate retry-after=7s x*", time.Second},
		"while the first key is failing":   {twoKeys, "500 server first=10s x*", time.Second},
		"while a late page is on its way":  {twoKeys, "page 200 first=10s x*", time.Second},
		"while the first key thinks it up": {twoKeys, "silence forever x*", 5 * time.Second},
	} {
		for _, streamed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := relay("from the other")
					v.Script(keyOne, standin.Must(c.step)...)
					r := newRig(t, c.toml, vendors{"a": v})
					path, body := asking("chat", "a/m", streamed)
					ctx, leave := withLeave(t)
					time.AfterFunc(c.leave, leave)
					if resp, err := r.send(ctx, http.MethodPost, path, body); err == nil {
						_, _ = io.Copy(io.Discard, resp.Body)
						_ = resp.Body.Close()
					}
					pass(time.Minute)
					synctest.Wait()
					route := r.last()
					if len(v.Calls()) != 1 || route.Status != trace.Gone || len(r.rests()) != 0 || r.g.InFlight() != 0 {
						t.Errorf("asked %d times, %d, rests %v, %d under way", len(v.Calls()), route.Status, r.rests(), r.g.InFlight())
					}
				})
			})
		}
	}
}

func TestAnAgentThatLeavesIsCountedForWhatItRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := strings.Replace(msgStart, `"input_tokens":5`, `"input_tokens":1234`, 1)
		r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, start + msgText}, {time.Hour, msgStop}}}})
		path, body := asking("messages", "a/m", true)
		ctx, leave := withLeave(t)
		time.AfterFunc(10*time.Second, leave)
		resp, err := r.send(ctx, http.MethodPost, path, body)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		synctest.Wait()
		if route := r.last(); route.Status != trace.Gone || route.Tokens.Input != 1234 || route.BytesOut == 0 {
			t.Errorf("%d, %+v", route.Status, route.Tokens)
		}
	})
}

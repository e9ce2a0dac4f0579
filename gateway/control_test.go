package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

const token = "Authorization: Bearer control-token"

func TestCommandsChangeTheNextPlan(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, twoKeys, vendors{"a": v})
	next := func(agent string) string {
		path, body := asking("chat", "a/m", false)
		r.ask(path, body, "Authorization: Bearer magpie-"+agent)
		route := r.told()
		return ordered(route.Order) + "|" + ordered(route.Left)
	}
	for i, step := range []struct{ command, agent, want string }{
		{"", "crush", "a/k1 a/k2|"},
		{`{"verb":"pause","who":"a/k1"}`, "crush", "a/k2|a/k1"},
		{`{"verb":"resume","who":"k1"}`, "crush", "a/k1 a/k2|"},
		{`{"verb":"pause","who":"A/K1","args":{"for":"2h"}}`, "crush", "a/k2|a/k1"},
		{`{"verb":"undo"}`, "crush", "a/k1 a/k2|"},
		{`{"verb":"pin","who":"a/k2"}`, "crush", "a/k2 a/k1|"},
		{`{"verb":"unpin","who":"a/k2"}`, "crush", "a/k1 a/k2|"},
		{`{"verb":"pin","who":"a/k2","args":{"only":true}}`, "crush", "a/k2|a/k1"},
		{`{"verb":"unpin"}`, "crush", "a/k1 a/k2|"},
		{`{"verb":"pin","who":"a/k2","args":{"agent":"pi"}}`, "crush", "a/k1 a/k2|"},
		{"", "pi", "a/k2 a/k1|"},
		{`{"verb":"pin","who":"a/k2","args":{"model":"n"}}`, "pi", "a/k1 a/k2|"},
		{`{"verb":"pin","who":"a/k2","args":{"model":"a/m"}}`, "pi", "a/k2 a/k1|"},
		{`{"verb":"unpin","who":"all"}`, "pi", "a/k1 a/k2|"},
	} {
		if step.command != "" {
			got := r.command(step.command)
			if !strings.Contains(got.body, `"done":"`) || !strings.Contains(got.body, `"state":`) {
				t.Errorf("%d: %s", i, got.body)
			}
		}
		if got := next(step.agent); got != step.want {
			t.Errorf("%d: after %s: %s, want %s", i, step.command, got, step.want)
		}
	}
}

func TestWakingEndsARestAndUndoBringsItBack(t *testing.T) {
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)})
	r.restNow("a/k1", trace.Credit, trace.ByCredit, time.Hour)
	r.restNow("a/k1/other", trace.Model, trace.ByModel, time.Hour)
	if got := r.command(`{"verb":"wake","who":"a/k1"}`); len(r.rests()) != 0 || !strings.Contains(got.body, "woke a/k1") {
		t.Errorf("%s, %v", got.body, r.rests())
	}
	if got := r.command(`{"verb":"wake","who":"a/k2"}`); !strings.Contains(got.body, "not resting") {
		t.Errorf("%s", got.body)
	}
	r.command(`{"verb":"undo"}`)
	if rest := r.rests()["a/k1"]; rest.Why != trace.Credit {
		t.Errorf("%v", r.rests())
	}
}

func TestEveryCandidatePausedIsA503(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("chat", false)
		r := newRig(t, twoKeys, vendors{"a": v})
		r.command(`{"verb":"pause","who":"a/k1"}`)
		r.command(`{"verb":"pause","who":"a/k2","args":{"for":"10m"}}`)
		for _, api := range apis {
			got := r.ask(asking(api, "a/m", false))
			words := errorWords(t, api, got.body)
			if got.status != 503 || got.header.Get("Retry-After") != "600" || v.asked() != 0 || !strings.Contains(words, "paused") {
				t.Errorf("%s: %d %s, Retry-After %q", api, got.status, got.body, got.header.Get("Retry-After"))
			}
			if api == "chat" && errorOf(t, api, got.body).Code != "all_paused" {
				t.Errorf("%s", got.body)
			}
		}
		r.command(`{"verb":"pause","who":"a/k2"}`)
		if got := r.ask(asking("chat", "a/m", false)); got.status != 503 || got.header.Get("Retry-After") != "" {
			t.Errorf("no pause ends by itself: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
		}
		r.command(`{"verb":"undo"}`)
		pass(10*time.Minute + time.Second)
		if got := r.ask(asking("chat", "a/m", false)); got.status != 200 || tried(r.told()) != "a/k2" {
			t.Errorf("after its pause: %d %s", got.status, got.body)
		}
	})
}

func TestCommandsThatCantBeCarriedOut(t *testing.T) {
	r := newRig(t, abOf("m"), vendors{"a": good("chat", false), "b": good("chat", false)})
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
		says   string
	}{
		"no verb":                      {`{}`, 400, "unknown_verb", "pause"},
		"one that is not here":         {`{"verb":"explode","who":"a"}`, 400, "unknown_verb", "resume"},
		"nobody of that name":          {`{"verb":"pause","who":"zz"}`, 404, "no_such_account", "a/k, b/k"},
		"several of that name":         {`{"verb":"pause","who":"k"}`, 404, "no_such_account", "a/k, b/k"},
		"a duration that is none":      {`{"verb":"pause","who":"a/k","args":{"for":"soon"}}`, 400, "bad_duration", "2h"},
		"a negative one":               {`{"verb":"pause","who":"a/k","args":{"for":"-2h"}}`, 400, "bad_duration", "2h"},
		"not JSON":                     {`pause a/k`, 400, "bad_request", "JSON"},
		"nothing":                      {``, 400, "bad_request", "JSON"},
		"too much":                     {`{"verb":"pause","who":"` + strings.Repeat("x", 70<<10) + `"}`, 400, "bad_request", "larger"},
		"an end without its preview":   {`{"verb":"cancel","args":{"request":5}}`, 409, "stale_token", "preview"},
		"an end with a made-up token":  {`{"verb":"cancel","args":{"request":5},"token":"x"}`, 409, "stale_token", "preview"},
		"a reload where nothing is to": {`{"verb":"reload"}`, 400, "bad_config", "no config file"},
		"a reading that nobody tells":  {`{"verb":"refresh","who":"a"}`, 409, "not_told", "left of a/k"},
		"pinning all":                  {`{"verb":"pin","who":"all"}`, 404, "no_such_account", "a/k"},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.ask("/v1/magpie/do", c.body, token)
			var e struct {
				Error struct {
					Code    string   `json:"code"`
					Message string   `json:"message"`
					Matches []string `json:"matches"`
				} `json:"error"`
			}
			strict(t, got.body, &e)
			if got.status != c.status || e.Error.Code != c.code || !strings.Contains(e.Error.Message, c.says) {
				t.Errorf("%d %.300s", got.status, got.body)
			}
			for _, a := range r.g.Status().Accounts {
				if a.Paused != nil || a.Pinned != nil {
					t.Errorf("%+v", a)
				}
			}
		})
	}
	for _, path := range []string{"/v1/magpie/do", "/v1/magpie/preview"} {
		for headers, status := range map[string]int{"Authorization: ": 401, "Authorization: Bearer wrong": 401, "Authorization: Bearer magpie": 401} {
			if got := r.ask(path, `{"verb":"pause","who":"a/k"}`, headers); got.status != status {
				t.Errorf("%s %s: %d %s", path, headers, got.status, got.body)
			}
		}
		if got := r.ask(path, `{"verb":"pause","who":"a/k"}`, token, "Origin: http://localhost:9"); got.status != 403 {
			t.Errorf("%s from a page: %d %s", path, got.status, got.body)
		}
	}
}

func TestAPreviewChangesNothing(t *testing.T) {
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)})
	got := r.ask("/v1/magpie/preview", `{"verb":"pause","who":"a/k1"}`, token)
	if got.status != 200 || !strings.Contains(got.body, `"class":"reversible"`) || r.g.Status().Accounts[0].Paused != nil {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// live asks for a stream that goes on and waits until its first text is there.
func (r *rig) live(t *testing.T, api string) (*http.Response, *bufio.Reader, int64) {
	t.Helper()
	path, body := asking(api, "group/g", true)
	resp, err := r.send(t.Context(), http.MethodPost, path, body)
	if err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(resp.Body)
	for {
		text, err := br.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "hel") {
			break
		}
	}
	id, err := strconv.ParseInt(resp.Header.Get("X-Magpie-Request"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return resp, br, id
}

func TestACancelledRequestEndsInAnErrorAndEndsItsVendor(t *testing.T) {
	for api, c := range commented {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				a := &timeline{lines: []line{{0, c.start + c.text}, {time.Hour, c.stop}}, gone: gone}
				b := &timeline{}
				r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
				resp, br, id := r.live(t, api)
				defer resp.Body.Close()
				ask := fmt.Sprintf(`{"verb":"cancel","args":{"request":%d}`, id)
				var effect struct {
					Class, Words, Token string
					Facts               []string
				}
				preview := r.ask("/v1/magpie/preview", ask+"}", token)
				strict(t, preview.body, &effect)
				if effect.Class != "ends" || effect.Token == "" || len(effect.Facts) == 0 {
					t.Fatalf("%s", preview.body)
				}
				if got := r.ask("/v1/magpie/do", fmt.Sprintf(`{"verb":"cancel","args":{"request":%d},"token":%q}`, id+1, effect.Token), token); got.status != 409 {
					t.Errorf("the token of another request: %d %s", got.status, got.body)
				}
				if got := r.ask("/v1/magpie/do", ask+`,"token":"`+effect.Token+`"}`, token); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				<-gone
				rest, err := io.ReadAll(br)
				if err != nil || !strings.Contains(string(rest), "a person ended this request") || strings.Contains(string(rest), c.stop) {
					t.Errorf("%v %q", err, rest)
				}
				synctest.Wait()
				route := r.last()
				if route.Status != 503 || route.Error == "" || b.calls.Load() != 0 || len(r.rests()) != 0 || route.Tries[0].Fail != trace.Cancelled {
					t.Errorf("%d %q, b asked %d times, rests %v, %+v", route.Status, route.Error, b.calls.Load(), r.rests(), route.Tries)
				}
				if got := r.ask("/v1/magpie/do", ask+`,"token":"`+effect.Token+`"}`, token); got.status != 409 {
					t.Errorf("a token that was used: %d %s", got.status, got.body)
				}
				if got := r.ask("/v1/magpie/preview", ask+"}", token); got.status != 404 {
					t.Errorf("a request that is over: %d %s", got.status, got.body)
				}
			})
		})
	}
}

func TestARequestCancelledBeforeItsReplyIsAnHonestError(t *testing.T) {
	for _, api := range apis {
		for _, streamed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, abOf("m"), vendors{"a": late(time.Hour, good(api, streamed)), "b": good(api, streamed)})
				done := make(chan answer, 1)
				go func() { done <- r.ask(asking(api, "group/g", streamed)) }()
				synctest.Wait()
				id := r.told().ID
				r.cancel(id)
				got := <-done
				if got.status != 503 || !strings.Contains(errorWords(t, api, got.body), "a person ended this request") {
					t.Errorf("%s: %d %s", api, got.status, got.body)
				}
				if route := r.told(); route.Status != 503 || len(r.rests()) != 0 || tried(route) != "a/k" {
					t.Errorf("%s: %+v", api, route)
				}
			})
		}
	}
}

func TestARequestCancelledInAPauseBetweenTwoTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("", "429 rate retry-after=7s x*")
		r := newRig(t, lone, vendors{"a": v})
		done := make(chan answer, 1)
		began := time.Now()
		go func() { done <- r.ask(asking("chat", "a/m", false)) }()
		synctest.Wait()
		pass(time.Second)
		r.cancel(r.told().ID)
		got := <-done
		if got.status != 503 || time.Since(began) > 2*time.Second || len(v.Calls()) != 1 {
			t.Errorf("%d %s after %s, asked %d times", got.status, got.body, time.Since(began), len(v.Calls()))
		}
	})
}

// cancel previews and ends a request.
func (r *rig) cancel(id int64) {
	r.t.Helper()
	var effect struct {
		Class, Words, Token string
		Facts               []string
	}
	strict(r.t, r.ask("/v1/magpie/preview", fmt.Sprintf(`{"verb":"cancel","args":{"request":%d}}`, id), token).body, &effect)
	r.command(fmt.Sprintf(`{"verb":"cancel","args":{"request":%d},"token":%q}`, id, effect.Token))
}

func TestAPreviewsTokenHoldsForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, chatRole + chatText}, {time.Hour, chatStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": &timeline{}})
		resp, _, id := r.live(t, "chat")
		defer resp.Body.Close()
		var effect struct {
			Class, Words, Token string
			Facts               []string
		}
		strict(t, r.ask("/v1/magpie/preview", fmt.Sprintf(`{"verb":"cancel","args":{"request":%d}}`, id), token).body, &effect)
		pass(61 * time.Second)
		if got := r.ask("/v1/magpie/do", fmt.Sprintf(`{"verb":"cancel","args":{"request":%d},"token":%q}`, id, effect.Token), token); got.status != 409 {
			t.Errorf("%d %s", got.status, got.body)
		}
		r.cancel(id)
	})
}

func TestExplainIsTheRealPlanAndSendsNothing(t *testing.T) {
	a, b := good("chat", false), good("chat", false)
	toml := strings.Replace(spread, "[groups.g]", "[groups.g]\n", 1)
	r := newRig(t, toml, vendors{"a": a, "b": b})
	r.restNow("a/k1", trace.Credit, trace.ByCredit, time.Hour)
	r.command(`{"verb":"pin","who":"b/k","args":{"agent":"crush"}}`)
	for _, c := range []struct{ model, agent, api string }{{"group/g", "crush", "chat"}, {"group/g", "pi", "chat"}, {"a/m", "pi", "messages"}, {"a@k2/m", "", "chat"}, {"a/m", "pi", "gemini"}, {"nope/m", "", "chat"}} {
		var explained trace.Route
		strict(t, r.ask("/v1/magpie/explain", fmt.Sprintf(`{"model":%q,"agent":%q,"api":%q}`, c.model, c.agent, c.api)).body, &explained)
		if a.asked()+b.asked() != 0 {
			t.Fatal("something was sent")
		}
		path, body := asking(c.api, c.model, false)
		got := r.ask(path, body, "Authorization: Bearer magpie-"+c.agent)
		real := r.told()
		a.calls, b.calls = nil, nil
		if fmt.Sprint(said(explained.Order)) != fmt.Sprint(said(real.Order)) || fmt.Sprint(said(explained.Left)) != fmt.Sprint(said(real.Left)) || explained.Resolved != real.Resolved || explained.Asked != real.Asked || explained.API != real.API {
			t.Errorf("%+v: explained %v %v, real %v %v", c, said(explained.Order), said(explained.Left), said(real.Order), said(real.Left))
		}
		if got.status >= 400 && explained.Status != got.status {
			t.Errorf("%+v: explained %d %s, real %d", c, explained.Status, explained.Error, got.status)
		}
		r.command(`{"verb":"wake","who":"all"}`)
		r.restNow("a/k1", trace.Credit, trace.ByCredit, time.Hour)
	}
	for body, status := range map[string]int{`{}`: 400, `{"model":"a/m","api":"soap"}`: 400, `nope`: 400, `{"model":"a/m","api":"chat","body":{"model":7}}`: 400} {
		if got := r.ask("/v1/magpie/explain", body); got.status != status || !strings.Contains(got.body, `"error":{"code":`) {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if routes := r.routes("").Routes; len(routes) > 6 {
		t.Errorf("a question stands in the trace: %d routes", len(routes))
	}
}

// said is what a plan says of each candidate.
func said(cs []trace.Candidate) []string {
	out := make([]string, len(cs))
	for i, c := range cs {
		out[i] = c.ID + " " + c.Model + " " + c.Out + " " + c.Reason
	}
	return out
}

func TestAReloadLeavesRequestsUnderWayAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &timeline{lines: []line{{0, chatRole + chatText}, {time.Minute, chatMore + chatStop}}}
		fresh := good("chat", false)
		var next atomic.Value
		var r *rig
		load := func() (*config.Config, *provider.Catalog, error) {
			toml := next.Load().(string)
			if toml == "bad" {
				return nil, nil, errors.New("config.toml:1:1: nonsense with sk-test-k1-000000000001")
			}
			cfg, cat := r.parse(toml)
			return cfg, cat, nil
		}
		r = newRig(t, abOf("m"), vendors{"a": old, "b": good("chat", false)}, func(d *gateway.Deps) { d.Load = load })
		base, stop, err := r.net.Serve(fresh)
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		next.Store("[providers.c]\nchat = \"" + base + "/v1\"\nkeys = [{ name = \"k\", value = \"sk-test-k9-000000000009\" }]\n[groups.g]\nrouting = \"order\"\nmembers = [\"c/m\"]\n")
		resp, br, _ := r.live(t, "chat")
		defer resp.Body.Close()
		if got := r.command(`{"verb":"reload"}`); !strings.Contains(got.body, "config") {
			t.Errorf("%s", got.body)
		}
		if got := r.ask(asking("chat", "group/g", false)); got.status != 200 || tried(r.told()) != "c/k" || fresh.asked() != 1 {
			t.Errorf("the new config: %d %s", got.status, got.body)
		}
		rest, err := io.ReadAll(br)
		if err != nil || !strings.HasSuffix(string(rest), chatStop) {
			t.Errorf("the request under way: %v %q", err, rest)
		}
		for _, route := range r.routes("").Routes {
			if route.Status != 200 {
				t.Errorf("%+v", route)
			}
		}
		next.Store("bad")
		if got := r.ask("/v1/magpie/do", `{"verb":"reload"}`, token); got.status != 400 || !strings.Contains(got.body, "nonsense") || strings.Contains(got.body, "k1-000000000001") {
			t.Errorf("a bad config: %d %s", got.status, got.body)
		}
		if got := r.ask(asking("chat", "group/g", false)); got.status != 200 || tried(r.told()) != "c/k" {
			t.Errorf("behind a bad config: %d %s", got.status, got.body)
		}
		if s := r.g.Status(); !strings.Contains(s.Config.Error, "nonsense") || len(s.Accounts) != 1 || s.Accounts[0].ID != "c/k" {
			t.Errorf("%+v", s.Config)
		}
	})
}

func TestADrainLetsRequestsUnderWayEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, chatRole + chatText}, {30 * time.Second, chatMore + chatStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
		resp, br, _ := r.live(t, "chat")
		defer resp.Body.Close()
		drained := make(chan error, 1)
		go func() { drained <- r.g.Drain(t.Context()) }()
		synctest.Wait()
		for _, api := range apis {
			got := r.ask(asking(api, "group/g", false))
			if got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(errorWords(t, api, got.body), "shutting down") {
				t.Errorf("%s: %d %s", api, got.status, got.body)
			}
		}
		if got := r.do(http.MethodGet, "/healthz", ""); got.status != 503 {
			t.Errorf("/healthz: %d", got.status)
		}
		if got := r.do(http.MethodGet, "/v1/magpie/status", ""); got.status != 200 || !strings.Contains(got.body, `"draining":true`) {
			t.Errorf("%d %s", got.status, got.body)
		}
		began := time.Now()
		rest, err := io.ReadAll(br)
		if err != nil || !strings.HasSuffix(string(rest), chatStop) {
			t.Errorf("%v %q", err, rest)
		}
		if err := <-drained; err != nil || time.Since(began) > 31*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestADrainEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, chatRole + chatText}, {time.Hour, chatStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
		resp, _, _ := r.live(t, "chat")
		defer resp.Body.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.g.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || r.g.InFlight() != 1 {
			t.Errorf("%v, %d under way", err, r.g.InFlight())
		}
	})
}

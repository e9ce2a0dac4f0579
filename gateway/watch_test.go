package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// told is one event of the trace as a reader gets it.
type told struct {
	name string
	id   uint64
	data string
}

// follow reads the trace from the gateway until stop; batches come in over the channel.
func (r *rig) follow(headers ...string) (<-chan told, func()) {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	resp, err := r.send(ctx, http.MethodGet, "/v1/magpie/trace", "", headers...)
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Accel-Buffering") != "no" {
		r.t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	events := make(chan told, 1000)
	go func() {
		defer close(events)
		defer resp.Body.Close()
		br := bufio.NewReaderSize(resp.Body, 1<<20)
		var e told
		for {
			text, err := br.ReadString('\n')
			if err != nil {
				return
			}
			text = strings.TrimSuffix(text, "\n")
			switch {
			case text == "":
				if e.name != "" {
					events <- e
				}
				e = told{}
			case strings.HasPrefix(text, ":"):
				events <- told{name: "comment"}
			case strings.HasPrefix(text, "event: "):
				e.name = text[7:]
			case strings.HasPrefix(text, "id: "):
				e.id, _ = strconv.ParseUint(text[4:], 10, 64)
			case strings.HasPrefix(text, "data: "):
				e.data = text[6:]
			}
		}
	}()
	return events, stop
}

// until reads events up to the first of a name.
func until(t *testing.T, events <-chan told, name string) (all []told) {
	t.Helper()
	for e := range events {
		all = append(all, e)
		if e.name == name {
			return all
		}
	}
	t.Fatalf("the trace ended without %s: %+v", name, all)
	return nil
}

func TestTheTraceBeginsWithEverythingAndGoesOnWithChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("402 credit")...)
		r := newRig(t, twoKeys+"[groups.g]\nrouting = \"order\"\nmembers = [\"a/m\"]\n", vendors{"a": v})
		r.ask(asking("chat", "a/m", false))
		events, stop := r.follow()
		defer stop()
		view := until(t, events, trace.EventReady)
		var status trace.Status
		strict(t, view[0].data, &status)
		if view[0].name != trace.EventStatus || status.Name != "magpie" || len(status.Accounts) != 2 || len(status.Groups) != 1 || status.Totals.Requests != 1 || status.Accounts[0].Rest == nil {
			t.Errorf("%+v", status)
		}
		var route trace.Route
		strict(t, view[1].data, &route)
		if view[1].name != trace.EventRoute || tried(route) != "a/k1 a/k2" || route.Order[0].Reason == "" {
			t.Errorf("%s %s", view[1].name, view[1].data)
		}
		r.ask(asking("chat", "a/m", false))
		pass(time.Second)
		var newest trace.Route
		for len(events) > 0 {
			e := <-events
			if e.name == trace.EventRoute {
				strict(t, e.data, &newest)
			}
			if e.id == 0 {
				t.Errorf("%s has no number", e.name)
			}
		}
		if !newest.Done || newest.Status != 200 || tried(newest) != "a/k2" {
			t.Errorf("the last state of the second request is %+v", newest)
		}
		r.command(`{"verb":"pause","who":"a/k2"}`)
		pass(time.Second)
		var names []string
		for len(events) > 0 {
			e := <-events
			names = append(names, e.name)
			if e.name == trace.EventAccount {
				var a trace.Account
				strict(t, e.data, &a)
				if a.ID != "a/k2" || a.Paused == nil || a.State != trace.Paused_ {
					t.Errorf("%+v", a)
				}
			}
			if e.name == trace.EventGroup {
				var g trace.Group
				strict(t, e.data, &g)
				if g.Next != "a/k1" {
					t.Errorf("%+v", g)
				}
			}
		}
		for _, want := range []string{trace.EventAccount, trace.EventGroup, trace.EventLog} {
			if !slices.Contains(names, want) {
				t.Errorf("no %s among %v", want, names)
			}
		}
	})
}

func TestAQuietTraceSendsAComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lone, vendors{"a": good("chat", false)})
		events, stop := r.follow()
		defer stop()
		until(t, events, trace.EventReady)
		began := time.Now()
		until(t, events, "comment")
		if d := time.Since(began); d > 15*time.Second+time.Millisecond {
			t.Errorf("a comment after %s", d)
		}
	})
}

func TestATraceIsResumedWhereItBrokeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lone, vendors{"a": good("chat", false)})
		events, stop := r.follow()
		ready := until(t, events, trace.EventReady)
		last := ready[len(ready)-1].id
		r.ask(asking("chat", "a/m", false))
		pass(time.Second)
		for len(events) > 0 {
			if e := <-events; e.id > 0 {
				last = e.id
			}
		}
		stop()
		synctest.Wait()
		r.ask(asking("chat", "a/m", false))
		missed := r.told()
		again, stopAgain := r.follow("Last-Event-ID: " + strconv.FormatUint(last, 10))
		defer stopAgain()
		pass(time.Second)
		var ids []int64
		for len(again) > 0 {
			e := <-again
			if e.name == trace.EventReset || e.name == trace.EventReady {
				t.Errorf("a resumed trace told %s", e.name)
			}
			if e.name == trace.EventRoute {
				var route trace.Route
				strict(t, e.data, &route)
				ids = append(ids, route.ID)
			}
		}
		if !slices.Equal(ids, []int64{missed.ID}) {
			t.Errorf("routes %v, missed was %d", ids, missed.ID)
		}
	})
}

func TestATraceThatCantBeResumedIsToldToBeginAnew(t *testing.T) {
	for _, last := range []string{"99999999999999", "nonsense", "-1", "1"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, lone, vendors{"a": good("chat", false)})
			for range 600 { // more than is remembered
				r.ask(asking("chat", "a/m", false))
			}
			events, stop := r.follow("Last-Event-ID: " + last)
			defer stop()
			view := until(t, events, trace.EventReady)
			if view[0].name != trace.EventReset || view[1].name != trace.EventStatus {
				t.Errorf("%s: begins with %s, %s", last, view[0].name, view[1].name)
			}
		})
	}
}

func TestTheStatusTellsItsAccountsAndWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, chatRole + chatText}, {time.Minute, chatStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)}, func(d *gateway.Deps) { d.PID = 42 })
		resp, _, _ := r.live(t, "chat")
		var raw map[string]json.RawMessage
		got := r.do(http.MethodGet, "/v1/magpie/status", "")
		if err := json.Unmarshal([]byte(got.body), &raw); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"name", "version", "pid", "demo", "started", "listen", "config", "totals", "accounts", "groups"} {
			if raw[name] == nil {
				t.Errorf("no %q in %s", name, got.body)
			}
		}
		var s trace.Status
		strict(t, got.body, &s)
		if s.PID != 42 || s.Totals.InFlight != 1 || s.Accounts[0].InFlight != 1 || s.Accounts[1].InFlight != 0 || s.Groups[0].Next != "a/k" || s.Groups[0].Ready != 2 || s.Groups[0].Of != 2 || strings.Join(s.Groups[0].Members, " ") != "a/m b/other" {
			t.Errorf("%+v", s)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		strict(t, r.do(http.MethodGet, "/v1/magpie/status", "").body, &s)
		if s.Totals.InFlight != 0 || s.Accounts[0].InFlight != 0 || s.Totals.Requests != 1 {
			t.Errorf("%+v", s.Totals)
		}
	})
}

func TestWindowsThatRepliesTellAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("chat", false)
		v.headers = []string{
			"x-codex-primary-used-percent: 42.5", "x-codex-primary-window-minutes: 300", "x-codex-primary-reset-after-seconds: 3600",
			"x-codex-secondary-used-percent: 91", "x-codex-secondary-window-minutes: 10080", "x-codex-secondary-reset-after-seconds: 86400",
		}
		r := newRig(t, lone, vendors{"a": v})
		r.ask(asking("chat", "a/m", false))
		a := r.g.Status().Accounts[0]
		if !a.Known || a.Used != 91 || a.State != trace.Low || len(a.Windows) != 2 || a.Windows[0].Resets == nil || a.Windows[0].SpanS != 5*3600 {
			t.Errorf("%+v", a)
		}
		r.ask(asking("chat", "a/m", false))
		if c := r.told().Order[0]; !c.Known || c.Used != 91 || c.Tier != "low" || len(c.Renews) == 0 {
			t.Errorf("%+v", c)
		}
	})
}

func TestARestThatEndsByItselfIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, twoKeys, vendors{"a": relay("ok", "429 rate")})
		r.ask(asking("chat", "a/m", false))
		events, stop := r.follow()
		defer stop()
		until(t, events, trace.EventReady)
		pass(61 * time.Second)
		back := false
		for len(events) > 0 {
			e := <-events
			if e.name != trace.EventAccount {
				continue
			}
			var a trace.Account
			strict(t, e.data, &a)
			back = back || a.ID == "a/k1" && a.Rest == nil && a.State == trace.Fine
		}
		if !back {
			t.Error("nobody was told that a/k1 is back")
		}
	})
}

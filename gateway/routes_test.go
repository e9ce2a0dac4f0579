package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// personal is a provider with keys of two people.
const personal = `
[providers.plan]
chat = "{a}/v1"
keys = [{ name = "Personal", value = "sk-test-k1-000000000001" }, { name = "Team", value = "sk-test-k2-000000000002" }]
`

// routesPage is what the routes call answers.
type routesPage struct {
	Seq    uint64        `json:"seq"`
	Totals trace.Totals  `json:"totals"`
	Routes []trace.Route `json:"routes"`
}

func (r *rig) routes(query string) routesPage {
	r.t.Helper()
	var p routesPage
	strict(r.t, r.do(http.MethodGet, "/v1/magpie/routes"+query, "").body, &p)
	return p
}

func TestTheTraceTellsTheRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must("429 rate retry-after=300s")...)
		r := newRig(t, personal, vendors{"a": v})
		waited := make(chan routesPage, 1)
		go func() { waited <- r.routes("?after=0&wait=30") }()
		synctest.Wait()
		r.ask("/v1/chat/completions", chatBody("plan/m"), "X-Session-Id: s-1", "User-Agent: opencode/1.18 x")
		if got := <-waited; len(got.Routes) != 1 || got.Seq == 0 {
			t.Fatalf("the waiter got %+v", got)
		}
		route := r.told()
		first := route.Order[0]
		if first.ID != "plan/Personal" || first.Who != "Personal" || first.Kind != "key" || route.Order[1].Who != "Team" || first.Reason == "" {
			t.Errorf("order %+v", route.Order)
		}
		one, two := route.Tries[0], route.Tries[1]
		if one.Status != 429 || one.Fail != trace.Rate || one.Rest == nil || one.Rest.By != trace.ByRetryAfter || one.Rest.Until.Sub(one.Rest.Since) != 5*time.Minute || !one.Done {
			t.Errorf("%+v", one)
		}
		if two.Status != 200 || two.Fail != "" || two.Rest != nil || !two.Done || two.ID != "plan/Team" {
			t.Errorf("%+v", two)
		}
		if kept := r.last(); kept.ID != route.ID || route.ID == 0 || route.ID < time.Now().Add(-time.Minute).UnixMilli() || route.Agent != "opencode" || route.Session != "s-1" {
			t.Errorf("the history has %d, the trace %d; %s %s", kept.ID, route.ID, route.Agent, route.Session)
		}
		r.ask("/v1/chat/completions", chatBody("plan/m"))
		second := r.told()
		if second.Order[0].Who != "Team" || second.Order[1].Rest == nil || second.Order[1].Rest.Status != 429 || len(second.Tries) != 1 || second.ID != route.ID+1 || second.Seq <= route.Seq {
			t.Errorf("%+v", second)
		}
		if got := r.routes("?after=0"); got.Totals != (trace.Totals{Requests: 2, Rerouted: 1}) || len(got.Routes) != 2 || got.Routes[0].Seq > got.Routes[1].Seq {
			t.Errorf("totals %+v, %d routes", got.Totals, len(got.Routes))
		}
	})
}

func TestALongPollEndsAtAChangeOrItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, personal, vendors{"a": relay("ok")})
		began := time.Now()
		if got := r.routes("?after=0&wait=20"); len(got.Routes) != 0 || got.Routes == nil || time.Since(began) != 20*time.Second {
			t.Errorf("%+v after %s", got, time.Since(began))
		}
		began = time.Now()
		if r.routes("?wait=3600"); time.Since(began) != time.Minute {
			t.Errorf("an hour's wait took %s", time.Since(began))
		}
		r.ask(asking("chat", "plan/m", false))
		now := r.routes("?after=0")
		if got := r.routes("?after=" + strconv.FormatUint(now.Seq, 10)); len(got.Routes) != 0 || got.Seq != now.Seq {
			t.Errorf("nothing is new: %+v", got)
		}
		// A number of before a restart counts as none.
		if got := r.routes("?after=" + strconv.FormatUint(now.Seq+1_000_000, 10)); len(got.Routes) != 1 {
			t.Errorf("%d routes", len(got.Routes))
		}
		for _, query := range []string{"?after=x", "?after=-1", "?wait=1.5", "?wait=soon"} {
			if got := r.do(http.MethodGet, "/v1/magpie/routes"+query, ""); got.status != 400 || !strings.Contains(got.body, `"code":"bad_request"`) {
				t.Errorf("%s: %d %s", query, got.status, got.body)
			}
		}
	})
}

func TestAConversationsRouteIsFoundBySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, personal, vendors{"a": relay("ok")})
		get := func(query string) (out struct {
			Route *trace.Route `json:"route"`
		},
		) {
			strict(t, r.do(http.MethodGet, "/v1/magpie/route?"+query, "").body, &out)
			return out
		}
		if got := get("session=s-1"); got.Route != nil {
			t.Errorf("%+v", got.Route)
		}
		done := make(chan *trace.Route, 1)
		go func() { done <- get("session=s-1&wait=30").Route }()
		synctest.Wait()
		r.ask("/v1/chat/completions", chatBody("plan/m"), "X-Session-Id: s-1")
		if got := <-done; got == nil || got.Session != "s-1" {
			t.Errorf("%+v", got)
		}
		r.ask("/v1/chat/completions", chatBody("plan/m"), "X-Magpie-Session: s-2", "X-Session-Id: s-1")
		if got := get("session=s-2"); got.Route == nil || !got.Route.Done {
			t.Errorf("X-Magpie-Session names it first: %+v", got.Route)
		}
		if got := r.do(http.MethodGet, "/v1/magpie/route", ""); got.status != 400 {
			t.Errorf("without a session: %d", got.status)
		}
	})
}

// What a route's JSON holds is relied on by scripts: names come, none goes.
func TestARoutesJSONKeepsItsNames(t *testing.T) {
	v := relay("ok")
	v.Script(keyOne, standin.Must("429 rate")...)
	r := newRig(t, personal, vendors{"a": v})
	r.ask(asking("chat", "plan/m", true))
	var page struct {
		Routes []map[string]json.RawMessage `json:"routes"`
	}
	if err := json.Unmarshal([]byte(r.do(http.MethodGet, "/v1/magpie/routes", "").body), &page); err != nil {
		t.Fatal(err)
	}
	has := func(of string, raw json.RawMessage, names ...string) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		for _, n := range names {
			if _, ok := m[n]; !ok {
				t.Errorf("%s has no %q: %s", of, n, raw)
			}
		}
	}
	route := page.Routes[0]
	whole, _ := json.Marshal(route)
	has("the route", whole, "seq", "id", "time", "agent", "session", "api", "asked", "resolved", "order", "left", "tries", "done", "status", "ms", "ttft_ms", "tokens", "served")
	has("resolved", route["resolved"], "provider", "model")
	has("tokens", route["tokens"], "input", "output", "reasoning", "cache_read", "cache_write")
	var order, tries, left []json.RawMessage
	for name, to := range map[string]*[]json.RawMessage{"order": &order, "tries": &tries, "left": &left} {
		if err := json.Unmarshal(route[name], to); err != nil || *to == nil {
			t.Fatalf("%s is no list: %s", name, route[name])
		}
	}
	has("a candidate", order[0], "id", "provider", "name", "who", "kind", "model", "routing", "known", "used", "reason")
	has("a try", tries[0], "id", "start", "ms", "status", "fail", "error", "rest")
	var first struct {
		Rest json.RawMessage `json:"rest"`
	}
	_ = json.Unmarshal(tries[0], &first)
	has("a rest", first.Rest, "key", "why", "by", "until", "failures", "status")
}

func TestNoListOfARouteIsNull(t *testing.T) {
	r := newRig(t, personal, vendors{"a": relay("ok")})
	for _, body := range []string{"", "{}", "not json", chatBody("nowhere/m"), chatBody("plan/m")} {
		r.ask("/v1/chat/completions", body)
	}
	r.ask("/v1/nothing", "{}")
	got := r.do(http.MethodGet, "/v1/magpie/routes", "").body
	for _, name := range []string{"order", "left", "tries"} {
		if strings.Contains(got, `"`+name+`":null`) {
			t.Errorf("%q is null in %s", name, got)
		}
	}
}

func TestFiveHundredRoutesAreKept(t *testing.T) {
	v := good("chat", false)
	r := newRig(t, lone, vendors{"a": v})
	for range 520 {
		r.ask(asking("chat", "a/m", false))
	}
	got := r.routes("")
	if len(got.Routes) != 500 || got.Totals.Requests != 520 || !slices.IsSortedFunc(got.Routes, func(a, b trace.Route) int { return int(a.Seq) - int(b.Seq) }) {
		t.Errorf("%d routes, totals %+v", len(got.Routes), got.Totals)
	}
}

func TestWhatAnAgentMadeVeryLongIsCutInTheTrace(t *testing.T) {
	r := newRig(t, lone, vendors{"a": good("chat", false)})
	long := strings.Repeat("x", 1<<20)
	r.ask("/v1/chat/completions", chatBody(long))
	r.ask("/v1/"+url.PathEscape(long[:64<<10]), "{}")
	r.ask("/v1beta/models/"+long[:64<<10]+":generateContent", geminiBody)
	got := r.do(http.MethodGet, "/v1/magpie/routes", "")
	if len(got.body) > 16<<10 {
		t.Errorf("%d bytes of trace for three requests", len(got.body))
	}
	if logs := r.logs.text(); len(logs) > 16<<10 {
		t.Errorf("%d bytes of log", len(logs))
	}
}

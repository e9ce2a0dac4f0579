package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
)

// growth lets the first key fail again and again, each time a moment after its rest ended,
// and returns how long it rested.
func growth(t *testing.T, step string, n int) []time.Duration {
	var lengths []time.Duration
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must(step+" x*")...)
		r := newRig(t, twoKeys, vendors{"a": v})
		for i := range n {
			r.ask(asking("chat", "a/m", false))
			rest := r.told().Tries[0].Rest
			if rest == nil || rest.Failures != i+1 {
				t.Fatalf("failure %d: %+v", i+1, rest)
			}
			lengths = append(lengths, rest.Until.Sub(rest.Since))
			pass(time.Until(rest.Until) + time.Millisecond)
		}
	})
	return lengths
}

func TestRestsGrowWhileNobodyAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		step string
		want []time.Duration
	}{
		"a rate limit": {`429 rate say="too many requests"`, minutes(1, 2, 4, 8, 16, 30, 30)},
		"a 500":        {"500 server", minutes(1, 2, 4, 8, 10, 10)},
		"a connection": {"drop", minutes(1, 2, 4, 8, 10, 10)},
		"an overload":  {"529 overloaded", minutes(0.25, 0.5, 1, 2, 2)},
		"a wrong key":  {"401 auth", minutes(5, 10, 20, 40, 60, 60)},
		"a named wait that is shorter than the backoff counts the first time alone": {"429 rate retry-after=90s", minutes(1.5, 2, 4, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := growth(t, c.step, len(c.want)); !slices.Equal(got, c.want) {
				t.Errorf("rests of %v, want %v", got, c.want)
			}
		})
	}
}

func minutes(all ...float64) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, m := range all {
		out[i] = time.Duration(m * float64(time.Minute))
	}
	return out
}

func TestARateLimitIsForgottenAfterHalfAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must(`429 rate say="too many requests" x*`)...)
		r := newRig(t, twoKeys, vendors{"a": v})
		var lengths []time.Duration
		for _, idle := range minutes(0, 29, 31) {
			pass(idle)
			r.ask(asking("chat", "a/m", false))
			rest := r.told().Tries[0].Rest
			lengths = append(lengths, rest.Until.Sub(rest.Since))
			pass(time.Until(rest.Until) + time.Millisecond)
		}
		if want := minutes(1, 2, 1); !slices.Equal(lengths, want) {
			t.Errorf("rests of %v, want %v", lengths, want)
		}
	})
}

func TestRequestsInOneBurstDoNotStretchARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := relay("ok")
		v.Script(keyOne, standin.Must(`429 rate say="too many requests" first=2s x*`)...)
		r := newRig(t, twoKeys, vendors{"a": v})
		path, body := asking("chat", "a/m", false)
		for range 5 {
			go func() {
				if resp, err := r.send(t.Context(), http.MethodPost, path, body); err == nil {
					_ = resp.Body.Close()
				}
			}()
		}
		pass(3 * time.Second)
		synctest.Wait()
		if rest := r.rests()["a/k1"]; rest.Failures != 1 || rest.Until.Sub(rest.Since) > time.Minute {
			t.Errorf("%+v", rest)
		}
	})
}

// week is a reply's headers that tell a window of seven days.
func week(share float64, resets time.Time) []string {
	return []string{
		"anthropic-ratelimit-unified-7d-utilization: " + strconv.FormatFloat(share, 'f', 2, 64),
		"anthropic-ratelimit-unified-7d-reset: " + strconv.FormatInt(resets.Unix(), 10),
	}
}

func TestAQuotaRestGoesByTheWindowsThatAreKnown(t *testing.T) {
	const day = 24 * time.Hour
	used := `{"error":{"message":"usage limit reached for your plan"}}`
	for name, c := range map[string]struct {
		share  float64 // of the week, 0 = not told
		status int
		body   string
		extra  string
		by     trace.RestBy
		rest   time.Duration
	}{
		"its week is full":                           {1, 429, used, "", trace.ByWindow, 3 * day},
		"its week is not":                            {0.4, 429, used, "", trace.ByQuota, 15 * time.Minute},
		"nothing is known":                           {0, 429, used, "", trace.ByQuota, 15 * time.Minute},
		"the body's own time goes first":             {1, 429, `{"error":{"message":"usage limit reached","resets_in_seconds":7200}}`, "", trace.ByResets, 2 * time.Hour},
		"a full week beats a short Retry-After":      {1, 429, used, "retry-after: 600", trace.ByWindow, 3 * day},
		"a short Retry-After where no week is full":  {0.4, 429, used, "retry-after: 600", trace.ByRetryAfter, 10 * time.Minute},
		"a pool's 503 says nothing of the key's own": {1, 503, `{"error":{"message":"No available accounts"}}`, "", trace.ByBackoff, time.Minute},
		"eight days are the most":                    {0, 429, `{"error":{"message":"usage limit reached","resets_in_seconds":2000000}}`, "", trace.ByResets, 8 * day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &canned{status: c.status, kind: "application/json", body: c.body}
				if c.share > 0 {
					a.headers = week(c.share, time.Now().Add(3*day))
				}
				if c.extra != "" {
					a.headers = append(a.headers, c.extra)
				}
				r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
				if got := r.ask(asking("chat", "group/g", false)); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				rest := r.told().Tries[0].Rest
				if rest == nil || rest.By != c.by || rest.Until.Sub(rest.Since) != c.rest {
					t.Fatalf("%+v", rest)
				}
				r.ask(asking("chat", "group/g", false))
				route := r.told()
				if tried(route) != "b/k" || ordered(route.Order) != "b/k a/k" {
					t.Errorf("the next: order %s, tried %s", ordered(route.Order), tried(route))
				}
				if c.share > 0 && (!route.Order[1].Known || route.Order[1].Used != c.share*100 || len(route.Order[1].Windows) != 1) {
					t.Errorf("its window is not told: %+v", route.Order[1])
				}
			})
		})
	}
}

func TestAResetInUnixTimeIsRead(t *testing.T) {
	unix := strconv.FormatInt(time.Now().Add(2*time.Hour).Unix(), 10)
	for name, c := range map[string]struct {
		status int
		body   string
		header string
		by     trace.RestBy
		rest   time.Duration
	}{
		"behind the limit":       {429, `{"error":{"message":"Claude AI usage limit reached|` + unix + `"}}`, "", trace.ByResets, 2 * time.Hour},
		"behind it, at 502":      {502, `{"error":{"message":"Claude AI usage limit reached|` + unix + `"}}`, "", trace.ByResets, 2 * time.Hour},
		"as resets_at":           {429, `{"error":{"type":"usage_limit_reached","message":"used up","resets_at":` + unix + `}}`, "", trace.ByResets, 2 * time.Hour},
		"seconds beat a time":    {429, `{"error":{"type":"usage_limit_reached","message":"used up","resets_at":1776672030,"resets_in_seconds":7200}}`, "", trace.ByResets, 2 * time.Hour},
		"a header: two hours":    {429, `{"error":{"message":"Too many requests"}}`, "x-ratelimit-reset: " + unix, trace.ByRetryAfter, 2 * time.Hour},
		"garbage in its place":   {429, `{"error":{"message":"usage limit reached|99999"}}`, "", trace.ByQuota, 15 * time.Minute},
		"a time that has passed": {429, `{"error":{"type":"usage_limit_reached","message":"used up","resets_at":1600000000}}`, "", trace.ByQuota, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			a := &canned{status: c.status, kind: "application/json", body: c.body}
			if c.header != "" {
				a.headers = []string{c.header}
			}
			r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
			r.ask(asking("chat", "group/g", false))
			rest := r.told().Tries[0].Rest
			if rest == nil || rest.Why != trace.Quota || rest.By != c.by {
				t.Fatalf("%+v", rest)
			}
			if d := rest.Until.Sub(rest.Since); d > c.rest+time.Second || d < c.rest-10*time.Minute {
				t.Errorf("rests %s, want %s", d, c.rest)
			}
		})
	}
}

func TestAReplyThatTellsOfARenewalLiftsAQuotaRest(t *testing.T) {
	// A lone key is tried even while it rests: its answer tells that the week began anew.
	synctest.Test(t, func(t *testing.T) {
		a := &canned{status: 429, kind: "application/json", body: `{"error":{"message":"usage limit reached"}}`, headers: week(1, time.Now().Add(72*time.Hour))}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
		r.ask(asking("chat", "group/g", false))
		if r.rests()["a/k"].By != trace.ByWindow {
			t.Fatalf("%v", r.rests())
		}
		a.headers = week(0.1, time.Now().Add(7*24*time.Hour))
		a.status, a.body = 500, `{"error":{"message":"internal"}}`
		r.ask(asking("chat", "a/m", false))
		if rest, still := r.rests()["a/k"]; still && rest.By == trace.ByWindow {
			t.Errorf("%+v", rest)
		}
	})
}

func TestAnOddResetHeaderIsReadOrPassedOver(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"X-Ratelimit-Reset-Tokens: 6m0s":                                6 * time.Minute,
		"ratelimit-reset: 2000-01-01T00:03:00Z":                         3 * time.Minute,
		"Retry-After: Sat, 01 Jan 2000 00:05:00 GMT":                    5 * time.Minute,
		"Retry-After: 90.5":                                             90*time.Second + 500*time.Millisecond,
		"Retry-After: -5":                                               time.Minute,
		"Retry-After: soon":                                             time.Minute,
		"Retry-After: 0":                                                time.Minute,
		"X-Ratelimit-Reset-Tokens: \xff\xfe":                            time.Minute,
		"Retry-After: 99999999999999999999":                             0, // bounded, whatever it is
		"X-Ratelimit-Reset-Requests: " + strings.Repeat("9", 400) + "s": time.Minute,
	} {
		t.Run(header[:min(len(header), 60)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &canned{status: 429, kind: "application/json", body: `{"error":{"message":"Too many requests"}}`, headers: []string{header}}
				r := newRig(t, abOf("m"), vendors{"a": a, "b": good("chat", false)})
				r.ask(asking("chat", "group/g", false))
				rest := r.told().Tries[0].Rest
				if rest == nil {
					t.Fatal("no rest")
				}
				d := rest.Until.Sub(rest.Since)
				if want != 0 && d != want || d > 8*24*time.Hour || d < 0 {
					t.Errorf("rests %s by %s, want %s", d, rest.By, want)
				}
			})
		})
	}
}

func TestAMissingModelRestsWithItsKeyAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := standin.New(standin.Options{Models: []string{"m", "n"}, Text: "ok"})
		v.Script(keyOne, standin.Must("404 model model=m x*")...)
		r := newRig(t, twoKeys, vendors{"a": v})
		r.ask(asking("chat", "a/m", false))
		rest := r.told().Tries[0].Rest
		if rest == nil || rest.Key != "a/k1/m" || rest.By != trace.ByModel || rest.Until.Sub(rest.Since) != 30*time.Minute {
			t.Fatalf("%+v", rest)
		}
		r.ask(asking("chat", "a/n", false))
		if route := r.told(); tried(route) != "a/k1" || route.Order[0].Rest != nil {
			t.Errorf("another model: tried %s, %+v", tried(route), route.Order[0].Rest)
		}
		r.ask(asking("chat", "a/m", false))
		if route := r.told(); tried(route) != "a/k2" || ordered(route.Order) != "a/k2 a/k1" {
			t.Errorf("the same model: tried %s", tried(route))
		}
	})
}

// freePool is a provider of OpenRouter's make with two free models.
const freePool = `
[providers.orf]
preset = "openrouter"
chat = "{a}/v1"
keys = [{ name = "main", value = "sk-test-k1-000000000001" }]
[groups.free]
routing = "order"
members = ["orf/x/a:free", "orf/x/b:free"]
`

func TestAFreeModelsSharedPoolRestsThatModelAlone(t *testing.T) {
	for name, c := range map[string]struct{ body, rest, next string }{
		"the pool's limit":    {`{"error":{"code":429,"message":"Provider returned error","metadata":{"limit_source":"upstream_provider_shared_pool","provider_name":"x"}}}`, "orf/main/x/a:free", "x/b:free"},
		"the account's limit": {`{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-min"}}`, "orf/main", "x/a:free"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := byModel{"x/a:free": cannedOf(429, c.body), "": good("chat", false)}
				r := newRig(t, freePool, vendors{"a": a})
				if got := r.ask(asking("chat", "group/free", false)); got.status != 200 {
					t.Fatalf("%d %s", got.status, got.body)
				}
				if rest := r.told().Tries[0].Rest; rest == nil || rest.Key != c.rest || rest.Why != trace.Rate {
					t.Fatalf("%+v", rest)
				}
				if sunk := r.store.Snapshot(r.cat, time.Now()).Standing["orf/main"].Sunk.Seq > 0; sunk != (name == "the account's limit") {
					t.Errorf("counts as limited: %v", sunk)
				}
				a["x/a:free"] = good("chat", false)
				got := r.ask(asking("chat", "group/free", false))
				route := r.told()
				if got.header.Get("X-Magpie-Model") != c.next || route.Order[0].Model != c.next {
					t.Errorf("%s answered, order %s", got.header.Get("X-Magpie-Model"), route.Order[0].Model)
				}
				for name := range got.header {
					if strings.HasPrefix(name, "X-Magpie-") && !slices.Contains([]string{"X-Magpie-Provider", "X-Magpie-Model", "X-Magpie-Request"}, name) {
						t.Errorf("an inner header reached the agent: %s", name)
					}
				}
			})
		})
	}
}

func TestASingleModelsRestLeavesTheAccountFine(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m", "n"}, Text: "ok"})
	v.Script(keyOne, standin.Must("404 model model=m x*")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	r.ask(asking("chat", "a/m", false))
	for _, a := range r.store.Accounts(r.cat, time.Now()) {
		if a.ID == "a/k1" && (a.State == trace.Resting || a.Rest != nil || len(a.Rests) != 1 || a.Rests[0].Key != "a/k1/m") {
			t.Errorf("%+v", a)
		}
	}
}

func TestRestsWithAKnownEndSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	open := func() *state.Store {
		s, err := state.Open(state.Options{Choices: filepath.Join(dir, "choices.json"), Rests: filepath.Join(dir, "rests.json"), Quotas: filepath.Join(dir, "quotas.json")}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct {
		status int
		body   string
		kept   bool
	}{
		"credit":     {402, `{}`, true},
		"a rate":     {429, `{"error":{"message":"Too many requests"}}`, false},
		"a reset":    {429, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":17778}}`, true},
		"a 500":      {500, `{}`, false},
		"a full one": {429, `{"error":{"message":"usage limit reached for your plan"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			first := open()
			toml := strings.ReplaceAll(abOf("m"), "name = \"k\"", fmt.Sprintf("name = %q", strings.ReplaceAll(name, " ", "-")))
			with := func(s *state.Store) func(*gateway.Deps) { return func(d *gateway.Deps) { d.State = s } }
			r := newRig(t, toml, vendors{"a": cannedOf(c.status, c.body), "b": good("chat", false)}, with(first))
			if got := r.ask(asking("chat", "group/g", false)); got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			second := open()
			defer second.Close()
			again := newRig(t, toml, vendors{"a": good("chat", false), "b": good("chat", false)}, with(second))
			again.ask(asking("chat", "group/g", false))
			if kept := again.told().Order[0].Provider == "b"; kept != c.kept {
				t.Errorf("kept over the restart: %v, want %v; order %s", kept, c.kept, ordered(again.told().Order))
			}
		})
	}
}

func TestAChoiceIsAnsweredOnceItIsOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "choices.json")
	on := func(d *gateway.Deps) {
		s, err := state.Open(state.Options{Choices: path}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // what could not be written is what this is about
		d.State = s
	}
	r := newRig(t, twoKeys, vendors{"a": good("chat", false)}, on)
	for i := range 20 {
		verb, want := "pause", true
		if i%2 == 1 {
			verb, want = "resume", false
		}
		got := r.command(`{"verb":"` + verb + `","who":"a/k1"}`)
		if strings.Contains(got.body, "this is not on disk yet") {
			continue // a busy disk is waited for two seconds
		}
		data, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(data), "a/k1") != want {
			t.Fatalf("%d: %s answered %s while the file has %s (%v)", i, verb, got.body, data, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := r.command(`{"verb":"pause","who":"a/k1"}`); got.status != 200 || !strings.Contains(got.body, "paused a/k1; this is not on disk") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestManyRequestsThatMeetOneTroubleRestAVendorOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-time.After(time.Second) // until all are under way
			w.WriteHeader(http.StatusInternalServerError)
		})
		r := newRig(t, abOf("m"), vendors{"a": down, "b": good("chat", false)})
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				if got := r.ask(asking("chat", "group/g", false)); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
		wg.Wait()
		for key, rest := range r.rests() {
			if rest.Failures != 1 || rest.Until.Sub(rest.Since) != time.Minute {
				t.Errorf("%s rests %s after %d failures", key, rest.Until.Sub(rest.Since), rest.Failures)
			}
		}
		if len(r.rests()) != 1 {
			t.Errorf("%v", r.rests())
		}
	})
}

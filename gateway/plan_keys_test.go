package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dev.magpie/gateway/trace"
)

// A key of a plan whose week is used up is no wrong key: it rests till what its plan tells of that
// week, is back once that tells of room, and the others answer meanwhile.
func TestAPlansKeyOutOfItsWindowRestsTillThatRenews(t *testing.T) {
	for name, c := range map[string]struct {
		provider string
		asked    string // where its plan is told
		usage    func(used int, resets time.Time) string
		status   int
		refusal  string
	}{
		"Kimi Code": {
			"preset = \"kimi-code\"\nchat = \"{a}/coding/v1\"", "/coding/v1/usages",
			func(used int, resets time.Time) string {
				return fmt.Sprintf(`{"usage":{"limit":"100","used":"%d","resetTime":%q}}`, used, resets.Format(time.RFC3339Nano))
			},
			403, `{"error":{"type":"permission_error","message":"You've reached your weekly (7-day) usage limit. Your quota will reset later."}}`,
		},
		"GLM": {
			"preset = \"zhipu\"\nregion = \"coding\"\nchat = \"{a}/v4\"", "/api/monitor/usage/quota/limit",
			func(used int, resets time.Time) string {
				return fmt.Sprintf(`{"success":true,"data":{"limits":[{"type":"TOKENS_LIMIT","unit":6,"percentage":%d,"nextResetTime":%d}]}}`, used, resets.UnixMilli())
			},
			429, `{"error":{"code":"1310","message":"Weekly/Monthly Limit Exhausted."}}`,
		},
		"MiniMax": {
			"preset = \"minimax\"\nchat = \"{a}/v1\"", "/v1/token_plan/remains",
			func(used int, resets time.Time) string {
				return fmt.Sprintf(`{"model_remains":[{"model_name":"general","current_interval_status":3,"current_weekly_status":1,"current_weekly_remaining_percent":%d,"weekly_end_time":%d}],"base_resp":{"status_code":0}}`, 100-used, resets.UnixMilli())
			},
			429, `{"error":{"type":"rate_limit_error","message":"usage limit exceeded, your weekly quota is used up"}}`,
		},
		"OpenCode Go": {
			"preset = \"opencode-go\"\nchat = \"{a}/zen/go/v1\"", "/zen/go/v1/usage",
			func(used int, resets time.Time) string {
				return fmt.Sprintf(`{"usage":{"weekly":{"status":"x","percent":%d,"resetsAt":%q}}}`, used, resets.Format(time.RFC3339))
			},
			429, `{"type":"error","error":{"type":"GoUsageLimitError","message":"Weekly limit reached"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			now(t, func(t *testing.T) {
				var used atomic.Int32
				var out atomic.Bool
				used.Store(100)
				resets := time.Now().Add(3 * day).Truncate(time.Second)
				v := relay("from the plan")
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					switch {
					case r.URL.Path == c.asked:
						_, _ = w.Write([]byte(c.usage(int(used.Load()), resets)))
					case out.Load() && r.Method == http.MethodPost:
						w.WriteHeader(c.status)
						_, _ = w.Write([]byte(c.refusal))
					default:
						r.URL.Path = "/v1/" + r.URL.Path[strings.LastIndexByte(r.URL.Path[:strings.LastIndexByte(r.URL.Path, '/')], '/')+1:]
						v.ServeHTTP(w, r)
					}
				})
				r := newRig(t, "[providers.a]\n"+c.provider+"\nkeys = [{ name = \"k\", value = \"sk-cp-test-0000000001\" }]\n"+
					"[providers.spare]\nchat = \"{spare}/v1\"\nkeys = [{ name = \"k\", value = \"sk-test-spare-00001\" }]\n[groups.g]\nrouting = \"order\"\nmembers = [\"a/m\", \"spare/m\"]\n",
					vendors{"a": h, "spare": relay("from spare")})
				if got := r.asks("group/g"); got != "a/k" {
					t.Fatalf("tried %s", got)
				}
				if a := r.account("a/k"); len(a.Windows) != 1 || a.Windows[0].Used != 100 {
					t.Fatalf("%+v, %q", a.Windows, a.ReadError)
				}
				out.Store(true)
				pass(time.Second)
				if got := r.asks("group/g"); got != "a/k spare/k" {
					t.Errorf("tried %s", got)
				}
				rest := r.rests()["a/k"]
				if rest.Why != trace.Quota || rest.By != trace.ByWindow || !rest.Until.Equal(resets) {
					t.Errorf("%+v, want until %v", rest, resets)
				}
				used.Store(10)
				out.Store(false)
				pass(time.Minute)
				if got := r.asks("group/g"); got != "spare/k" {
					t.Errorf("tried %s", got)
				}
				if got := r.asks("group/g"); got != "a/k" {
					t.Errorf("its plan has room again, and %s is tried", got)
				}
			})
		})
	}
}

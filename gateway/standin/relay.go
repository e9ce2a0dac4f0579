package standin

import (
	"cmp"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Relay is a stand-in of a relay that sells a share of its own accounts by key, as sub2api does:
// the owner of a key gives it limits in dollars for 5 hours, a day and 7 days, its usage is told
// at /v1/usage, and a key that has spent one is refused in the relay's words. What other users
// spend shows in no key's usage: it drains the accounts behind all of them.
type Relay struct {
	*Vendor
	cost float64 // dollars of one answer

	mu      sync.Mutex
	keys    map[string]*sharer
	drained int // the status of the refusals while no account is left, 0 = there are some
	broken  int // what /v1/usage answers instead, 0 = usage
	asked   map[string]int
}

// sharer is one key of a relay.
type sharer struct {
	wallet float64
	limits map[string]*spending // by window
}

// spending is one window of a key.
type spending struct {
	limit, used float64
	began       time.Time // zero = not started
}

// relaySpans are the windows that a relay knows, and the words with which it refuses a key that has spent one.
var relaySpans = []struct {
	window, refusal string
	span            time.Duration
}{
	{"5h", "api key 5小时限额已用完", 5 * time.Hour},
	{"1d", "api key 日限额已用完", 24 * time.Hour},
	{"7d", "api key 7天限额已用完", 7 * 24 * time.Hour},
}

// NewRelay makes a relay whose every answer costs so many dollars.
func NewRelay(o Options, cost float64) *Relay {
	o.Vendor = "sub2api"
	return &Relay{Vendor: New(o), cost: cost, keys: map[string]*sharer{}, asked: map[string]int{}}
}

// Limit gives a key a limit in dollars for "5h", "1d" or "7d"; 0 takes it away. What it has spent stays.
func (r *Relay) Limit(key, window string, usd float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window(key, window).limit = usd
}

// Spend counts dollars against every window of a key.
func (r *Relay) Spend(key string, usd float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spend(key, usd, time.Now())
}

// Reset forgets what a key has spent, as its owner can in the relay's panel.
func (r *Relay) Reset(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.sharer(key).limits {
		w.used, w.began = 0, time.Time{}
	}
}

// Wallet puts dollars behind a key that has no limits.
func (r *Relay) Wallet(key string, usd float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sharer(key).wallet = usd
}

// Drain has the accounts behind all keys used up by others: every request is refused with a
// status, 503 or 429. 0 brings them back.
func (r *Relay) Drain(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drained = status
}

// Break has /v1/usage answer with a status instead of usage; 0 mends it.
func (r *Relay) Break(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = status
}

// Asked is how often a key's usage was asked for.
func (r *Relay) Asked(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[key]
}

func (r *Relay) sharer(key string) *sharer {
	s := r.keys[key]
	if s == nil {
		s = &sharer{limits: map[string]*spending{}}
		r.keys[key] = s
	}
	return s
}

func (r *Relay) window(key, name string) *spending {
	s := r.sharer(key)
	w := s.limits[name]
	if w == nil {
		w = &spending{}
		s.limits[name] = w
	}
	return w
}

// roll ends the windows whose time is over.
func (r *Relay) roll(key string, now time.Time) {
	for _, s := range relaySpans {
		if w := r.window(key, s.window); !w.began.IsZero() && !now.Before(w.began.Add(s.span)) {
			w.used, w.began = 0, time.Time{}
		}
	}
}

func (r *Relay) spend(key string, usd float64, now time.Time) {
	r.roll(key, now)
	for _, s := range relaySpans {
		w := r.window(key, s.window)
		if w.began.IsZero() { // the relay's windows begin with its hour, or its day
			w.began = now.UTC().Truncate(min(s.span, 24*time.Hour))
			if s.span < 24*time.Hour {
				w.began = now.UTC().Truncate(time.Hour)
			}
		}
		w.used += usd
	}
	r.sharer(key).wallet -= usd
}

// refusal is what a key is told instead of an answer, "" for nothing.
func (r *Relay) refusal(key string, now time.Time) (status int, body string) {
	r.roll(key, now)
	for _, s := range relaySpans {
		if w := r.window(key, s.window); w.limit > 0 && w.used >= w.limit {
			return http.StatusTooManyRequests, openAIBody(s.refusal, "rate_limit_exceeded", "", "rate_limit_exceeded")
		}
	}
	switch r.drained {
	case 0:
		return 0, ""
	case http.StatusTooManyRequests:
		return r.drained, openAIBody("All available accounts are currently rate-limited", "rate_limit_error", "", "")
	}
	return r.drained, openAIBody("No available accounts", "api_error", "", "")
}

// ServeHTTP answers as the relay would.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	key := strings.TrimPrefix(cmp.Or(req.Header.Get("Authorization"), req.Header.Get("x-api-key")), "Bearer ")
	now := time.Now()
	r.mu.Lock()
	if strings.TrimRight(req.URL.Path, "/") == "/v1/usage" {
		r.asked[key]++
		status, body := http.StatusOK, string(marshal(r.usage(key, now)))
		if r.broken != 0 {
			status, body = r.broken, openAIBody("usage is not to be had now", "api_error", "", "")
		}
		r.mu.Unlock()
		answerJSON(w, status, body)
		return
	}
	status, body := 0, ""
	if req.Method == http.MethodPost {
		if status, body = r.refusal(key, now); status == 0 {
			r.spend(key, r.cost, now)
		}
	}
	r.mu.Unlock()
	if status != 0 {
		answerJSON(w, status, body)
		return
	}
	r.Vendor.ServeHTTP(w, req)
}

func answerJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // whoever asked may be gone
}

// usage is what /v1/usage tells of a key: its windows, or the wallet of one that has none.
func (r *Relay) usage(key string, now time.Time) map[string]any {
	r.roll(key, now)
	limits := []any{}
	for _, s := range relaySpans {
		w := r.window(key, s.window)
		if w.limit <= 0 {
			continue
		}
		one := map[string]any{"window": s.window, "limit": w.limit, "used": w.used, "remaining": max(0, w.limit-w.used), "window_start": nil}
		if !w.began.IsZero() {
			one["window_start"], one["reset_at"] = w.began.Format(time.RFC3339), w.began.Add(s.span).Format(time.RFC3339)
		}
		limits = append(limits, one)
	}
	if len(limits) == 0 {
		left := math.Round(r.sharer(key).wallet*100) / 100
		return map[string]any{"mode": "unrestricted", "isValid": true, "planName": "wallet", "remaining": left, "balance": left, "unit": "USD"}
	}
	return map[string]any{"mode": "quota_limited", "isValid": true, "status": "active", "rate_limits": limits}
}

package standin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// ChatGPT is the backend that Codex accounts ask. Replies are those of the vendor codex, by the
// account's id in place of a key; beside them it tells what is left, lists and spends resets,
// lists models by account, and renews tokens.
type ChatGPT struct {
	Vendor *Vendor // its scripts and calls go by the account's id

	mu       sync.Mutex
	accounts map[string]*chatAccount
	spent    []Redeemed
	asked    map[string]int // by path
	faults   map[string][]int
	answer   string // of the next request to spend a reset, "" = as it is
	serial   int
}

// ChatAccount is an account of the backend.
type ChatAccount struct {
	Email   string
	Plan    string   // "" = plus
	Windows []Window // "5h", "7d"
	Credits float64  // that may be spent when the windows are used up
	Held    bool     // its spending limit is reached
	Resets  []ChatReset
	Models  []string // that its plan has, nil = all
	Life    time.Duration
}

// ChatReset is one reset in hand.
type ChatReset struct {
	ID      string
	Expires time.Time // zero = never
	Spent   bool
}

// Redeemed is one request to spend a reset, and what it was told.
type Redeemed struct{ Account, Reset, Request, Code string }

type chatAccount struct {
	ChatAccount
	id       string
	access   string // the only token that is taken
	refresh  string
	lapsed   bool
	renewals int
	redeemed map[string]string // by a request's id: what it was told
}

// NewChatGPT makes a backend without accounts. Its options are a vendor's.
func NewChatGPT(o Options) *ChatGPT {
	o.Vendor, o.Root = "codex", backendRoot
	return &ChatGPT{Vendor: New(o), accounts: map[string]*chatAccount{}, asked: map[string]int{}, faults: map[string][]int{}}
}

const (
	backendRoot = "/backend-api/codex"
	usagePath   = "/backend-api/wham/usage"
	resetsPath  = "/backend-api/wham/rate-limit-reset-credits"
	consumePath = resetsPath + "/consume"
	tokenPath   = "/oauth/token"
)

// Add makes an account, and returns what Codex would write into its auth.json.
func (b *ChatGPT) Add(id string, a ChatAccount) (auth []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.Plan == "" {
		a.Plan = "plus"
	}
	if a.Life == 0 {
		a.Life = 10 * 24 * time.Hour
	}
	a.Resets = slices.Clone(a.Resets) // each spends its own
	one := &chatAccount{ChatAccount: a, id: id, redeemed: map[string]string{}}
	b.accounts[id] = one
	b.issue(one)
	b.Vendor.Windows(id, a.Windows...)
	b.Vendor.Credits(id, a.Credits > 0)
	return marshal(object{
		"auth_mode":    "chatgpt",
		"tokens":       object{"id_token": one.idToken(), "access_token": one.access, "refresh_token": one.refresh, "account_id": id},
		"last_refresh": time.Now().UTC().Format(time.RFC3339Nano), "kept_by_others": "as it was",
	})
}

func (b *ChatGPT) issue(a *chatAccount) {
	b.serial++
	a.access = jwt(object{"exp": time.Now().Add(a.Life).Unix(), "jti": b.serial})
	a.refresh = fmt.Sprintf("rt-standin-%s-%06d", a.id, b.serial)
}

func (a *chatAccount) idToken() string {
	return jwt(object{"email": a.Email, "https://api.openai.com/auth": object{"chatgpt_plan_type": a.Plan, "chatgpt_account_id": a.id}})
}

func jwt(claims object) string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"none"}`)) + "." + part(marshal(claims)) + "." + part([]byte("signature"))
}

// SignOut turns away the token that an account has; the one that it is renewed to is taken.
func (b *ChatGPT) SignOut(id string) { b.change(id, func(a *chatAccount) { a.access = "" }) }

// Lapse refuses to renew an account's token from now on.
func (b *ChatGPT) Lapse(id string) {
	b.change(id, func(a *chatAccount) { a.access, a.lapsed = "", true })
}

// Use sets what an account's windows stand at.
func (b *ChatGPT) Use(id string, windows ...Window) {
	b.Vendor.Windows(id, windows...)
	b.change(id, func(a *chatAccount) { b.Vendor.Credits(id, a.Credits > 0) })
}

// Give puts a reset into an account's hand.
func (b *ChatGPT) Give(id string, r ChatReset) {
	b.change(id, func(a *chatAccount) { a.Resets = append(a.Resets, r) })
}

// Take has a reset of an account spent by somebody else.
func (b *ChatGPT) Take(id, reset string) {
	b.change(id, func(a *chatAccount) {
		if i := slices.IndexFunc(a.Resets, func(r ChatReset) bool { return r.ID == reset }); i >= 0 {
			a.Resets[i].Spent = true
		}
	})
}

// Answer has the next request to spend a reset answered with this code, and nothing done.
func (b *ChatGPT) Answer(code string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answer = code
}

// Fail has the next requests to a path answered with these statuses.
func (b *ChatGPT) Fail(path string, statuses ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults[path] = statuses
}

func (b *ChatGPT) change(id string, f func(*chatAccount)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(b.accounts[id])
}

// Redeemed lists the requests to spend a reset.
func (b *ChatGPT) Redeemed() []Redeemed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.spent)
}

// Asked counts the requests to a path: usage, resets, consume, models, token.
func (b *ChatGPT) Asked(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[what]
}

var backendPaths = map[string]string{
	usagePath: "usage", resetsPath: "resets", consumePath: "consume", backendRoot + "/models": "models", tokenPath: "token",
}

// ServeHTTP answers as the backend would.
func (b *ChatGPT) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := backendPaths[r.URL.Path]
	b.mu.Lock()
	b.asked[what]++
	status := 0
	if f := b.faults[what]; len(f) > 0 {
		status, b.faults[what] = f[0], f[1:]
	}
	b.mu.Unlock()
	if status > 0 {
		sayJSON(w, status, object{"detail": "try again"})
		return
	}
	if what == "token" {
		b.renew(w, r)
		return
	}
	a := b.signedIn(r)
	if a == nil {
		sayJSON(w, http.StatusUnauthorized, object{"error": object{"code": "token_expired", "message": "Provided authentication token is expired. Please try signing in again."}})
		return
	}
	switch what {
	case "usage":
		sayJSON(w, http.StatusOK, b.usage(a))
	case "resets":
		sayJSON(w, http.StatusOK, b.resets(a))
	case "consume":
		b.consume(w, r, a)
	case "models":
		b.models(w, r, a)
	default:
		r.Header.Set("Authorization", "Bearer "+a.id)
		b.Vendor.ServeHTTP(w, r)
	}
}

// signedIn is whose token a request carries, nil for nobody's. The account is named beside it.
func (b *ChatGPT) signedIn(r *http.Request) *chatAccount {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.accounts {
		if token != "" && a.access == token && r.Header.Get("chatgpt-account-id") == a.id {
			return a
		}
	}
	return nil
}

func sayJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(marshal(v)) // whoever asked may be gone
}

func (b *ChatGPT) renew(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Grant   string `json:"grant_type"`
		Refresh string `json:"refresh_token"`
		Client  string `json:"client_id"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&ask) != nil || ask.Grant != "refresh_token" || ask.Client == "" {
		sayJSON(w, http.StatusBadRequest, object{"error": "invalid_request"})
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.accounts {
		if a.refresh == ask.Refresh && !a.lapsed {
			b.issue(a)
			a.renewals++
			sayJSON(w, http.StatusOK, object{"id_token": a.idToken(), "access_token": a.access, "refresh_token": a.refresh})
			return
		}
	}
	sayJSON(w, http.StatusUnauthorized, object{"error": object{"code": "refresh_token_reused"}})
}

func (b *ChatGPT) usage(a *chatAccount) object {
	now := time.Now()
	slots := []any{nil, nil}
	full := false
	for i, w := range b.Vendor.Left(a.id) {
		full = full || w.Used >= 100
		if i < len(slots) {
			slots[i] = object{
				"used_percent": w.Used, "limit_window_seconds": int(w.span().Seconds()),
				"reset_after_seconds": secondsTo(w.Resets), "reset_at": now.Add(w.Resets).Unix(),
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, r := range a.Resets {
		if r.inHand(now) {
			n++
		}
	}
	var kind any
	if full {
		kind = object{"type": "rate_limit_reached"}
	}
	return object{
		"plan_type":     a.Plan,
		"rate_limit":    object{"allowed": !full && !a.Held, "limit_reached": full, "primary_window": slots[0], "secondary_window": slots[1]},
		"credits":       object{"has_credits": a.Credits > 0, "unlimited": false, "balance": fmt.Sprintf("%.10f", a.Credits), "overage_limit_reached": false},
		"spend_control": object{"reached": a.Held}, "rate_limit_reached_type": kind,
		"rate_limit_reset_credits": object{"available_count": n}, "email": a.Email,
	}
}

func (r ChatReset) inHand(now time.Time) bool {
	return !r.Spent && (r.Expires.IsZero() || r.Expires.After(now))
}

func (b *ChatGPT) resets(a *chatAccount) object {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, n := list{}, 0
	for _, r := range a.Resets {
		o := object{"id": r.ID, "reset_type": "rate_limit", "status": "available", "expires_at": nil}
		if !r.Expires.IsZero() {
			o["expires_at"] = r.Expires.UTC().Format(time.RFC3339)
		}
		switch {
		case r.Spent:
			o["status"] = "redeemed"
		case !r.inHand(time.Now()):
			o["status"] = "expired"
		default:
			n++
		}
		all = append(all, o)
	}
	return object{"available_count": n, "credits": all}
}

// consume spends a reset. A request that was answered before is answered the same way.
func (b *ChatGPT) consume(w http.ResponseWriter, r *http.Request, a *chatAccount) {
	var ask struct {
		Reset   string `json:"credit_id"`
		Request string `json:"redeem_request_id"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&ask) != nil || len(ask.Request) != 36 || ask.Reset == "" {
		sayJSON(w, http.StatusUnprocessableEntity, object{"detail": "credit_id and redeem_request_id are needed"})
		return
	}
	used := slices.ContainsFunc(b.Vendor.Left(a.id), func(w Window) bool { return w.Used > 0 })
	b.mu.Lock()
	code, windows := b.answer, 0
	if b.answer = ""; code == "" {
		code = b.redeem(a, ask.Reset, ask.Request, used)
	} else {
		used = false
	}
	b.spent = append(b.spent, Redeemed{a.id, ask.Reset, ask.Request, code})
	b.mu.Unlock()
	if code == "reset" && used {
		windows = b.Vendor.Renew(a.id)
	}
	sayJSON(w, http.StatusOK, object{"code": code, "windows_reset": windows})
}

func (b *ChatGPT) redeem(a *chatAccount, reset, request string, used bool) (code string) {
	if a.redeemed[request] != "" {
		return "already_redeemed"
	}
	i := slices.IndexFunc(a.Resets, func(r ChatReset) bool { return r.ID == reset })
	switch {
	case i < 0 || !a.Resets[i].Spent && !a.Resets[i].inHand(time.Now()):
		return "no_credit"
	case a.Resets[i].Spent:
		return "already_redeemed"
	case !used:
		return "nothing_to_reset"
	}
	a.Resets[i].Spent = true
	a.redeemed[request] = "reset"
	return "reset"
}

// models lists an account's models. Who names no version of a client is told nothing.
func (b *ChatGPT) models(w http.ResponseWriter, r *http.Request, a *chatAccount) {
	if r.URL.Query().Get("client_version") == "" {
		sayJSON(w, http.StatusBadRequest, object{"detail": "client_version is required"})
		return
	}
	all := list{}
	for i, m := range b.Vendor.models {
		if m.embeds || a.Models != nil && !slices.Contains(a.Models, m.id) {
			continue
		}
		all = append(all, object{
			"slug": m.id, "display_name": m.id, "visibility": "list", "priority": i, "input_modalities": list{"text", "image"}, "context_window": m.context,
			"supported_reasoning_levels": list{object{"effort": "low"}, object{"effort": "high"}}, "base_instructions": Instructions(m.id),
		})
	}
	sayJSON(w, http.StatusOK, object{"models": all})
}

// Instructions are the backend's own for a model.
func Instructions(model string) string { return "You are a coding agent that runs on " + model + "." }

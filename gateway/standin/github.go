package standin

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// GitHub tells what is left of Copilot plans, and nothing else: whoever asks it for a reply, or
// calls itself one of Copilot's own programs, is an impostor.
type GitHub struct {
	mu        sync.Mutex
	accounts  map[string]*copilotAccount // by login
	serial    int
	asked     map[string]int // by login
	faults    []int
	body      string
	impostors []string
}

// CopilotUserPath is where GitHub tells what is left.
const CopilotUserPath = "/copilot_internal/user"

// CopilotPlan is what an account has. Quotas are by their vendor's name: chat, completions,
// premium_interactions; one that is not there has no limit.
type CopilotPlan struct {
	Plan, SKU string
	Quotas    map[string]CopilotQuota
	Resets    time.Time
}

// CopilotQuota is how much there is in a month, and how much of it is left.
type CopilotQuota struct{ Entitled, Left float64 }

type copilotAccount struct {
	CopilotPlan
	token string // the only one that is taken
}

// NewGitHub makes one that knows nobody.
func NewGitHub() *GitHub {
	return &GitHub{accounts: map[string]*copilotAccount{}, asked: map[string]int{}}
}

// Add makes an account and returns what an editor's Copilot would write into its apps.json.
func (g *GitHub) Add(login string, plan CopilotPlan) (apps []byte) {
	return marshal(object{"github.com:Iv1.standin": object{"user": login, "oauth_token": g.issue(login, plan), "githubAppId": "Iv1.standin"}})
}

// AddCLI makes an account and returns what Copilot CLI would write into its config.json.
func (g *GitHub) AddCLI(login string, plan CopilotPlan) (config []byte) {
	who := object{"host": "https://github.com", "login": login}
	return append([]byte("// This file is managed automatically.\n"), marshal(object{
		"lastLoggedInUser": who, "loggedInUsers": list{who}, "copilotTokens": object{"https://github.com:" + login: g.issue(login, plan)},
	})...)
}

func (g *GitHub) issue(login string, plan CopilotPlan) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.serial++
	a := &copilotAccount{plan, "gho_standin" + strings.Repeat("0", 20) + login + strings.Repeat("x", g.serial)}
	g.accounts[login] = a
	return a.token
}

// SignOut turns an account's token away from now on.
func (g *GitHub) SignOut(login string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accounts[login].token = ""
}

// Use sets what is left.
func (g *GitHub) Use(login string, plan CopilotPlan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accounts[login].CopilotPlan = plan
}

// Fail has the next requests answered with these statuses.
func (g *GitHub) Fail(statuses ...int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = statuses
}

// Say has all who are signed in told this, "" the truth again.
func (g *GitHub) Say(body string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.body = body
}

// Asked counts the requests with a login's token; those with a token that is not taken are "".
func (g *GitHub) Asked(login string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asked[login]
}

// Impostors lists the requests that a program of another house must not send.
func (g *GitHub) Impostors() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.impostors...)
}

// marksOfCopilot are headers by which Copilot's programs tell what they are.
var marksOfCopilot = []string{"Editor-Version", "Editor-Plugin-Version", "Copilot-Integration-Id", "X-Initiator", "Openai-Intent"}

// ServeHTTP answers as GitHub would.
func (g *GitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Method != http.MethodGet || r.URL.Path != CopilotUserPath {
		g.impostors = append(g.impostors, r.Method+" "+r.URL.Path)
		sayJSON(w, http.StatusNotFound, object{"message": "Not Found"})
		return
	}
	for _, name := range marksOfCopilot {
		if r.Header.Get(name) != "" {
			g.impostors = append(g.impostors, name)
		}
	}
	if agent := r.UserAgent(); !strings.HasPrefix(agent, "magpie/") {
		g.impostors = append(g.impostors, "User-Agent: "+agent)
	}
	login, a := g.signedIn(r)
	g.asked[login]++
	if len(g.faults) > 0 {
		status := g.faults[0]
		g.faults = g.faults[1:]
		sayJSON(w, status, object{"message": "try again"})
		return
	}
	switch {
	case a == nil:
		sayJSON(w, http.StatusUnauthorized, object{"message": "Bad credentials", "status": "401"})
	case g.body != "":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(g.body)) // whoever asked may be gone
	default:
		sayJSON(w, http.StatusOK, a.user(login))
	}
}

func (g *GitHub) signedIn(r *http.Request) (login string, a *copilotAccount) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "token ")
	for login, a := range g.accounts {
		if ok && token != "" && a.token == token {
			return login, a
		}
	}
	return "", nil
}

func (p *CopilotPlan) user(login string) object {
	snapshots := object{}
	for _, kind := range []string{"chat", "completions", "premium_interactions"} {
		q, ok := p.Quotas[kind]
		snapshots[kind] = object{"unlimited": !ok, "has_quota": ok, "entitlement": q.Entitled, "quota_remaining": q.Left, "remaining": q.Left, "quota_id": kind}
	}
	return object{
		"login": login, "copilot_plan": p.Plan, "access_type_sku": p.SKU, "chat_enabled": true, "quota_snapshots": snapshots,
		"quota_reset_date": p.Resets.UTC().Format(time.DateOnly), "quota_reset_date_utc": p.Resets.UTC().Format(time.RFC3339),
	}
}

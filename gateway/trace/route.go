package trace

import "time"

// Route is one request as told: changed in place, Seq bumped on each change.
// A published Route and its slices are never written again.
type Route struct {
	Seq      uint64      `json:"seq"`
	ID       int64       `json:"id"`
	Time     time.Time   `json:"time"`
	Agent    string      `json:"agent"`
	Session  string      `json:"session,omitempty"`
	API      string      `json:"api"` // chat, responses, messages, gemini
	Path     string      `json:"path,omitempty"`
	Stream   bool        `json:"stream"`
	Asked    string      `json:"asked"` // the model as asked
	Resolved Resolved    `json:"resolved"`
	Routing  string      `json:"routing,omitempty"`
	Effort   string      `json:"effort,omitempty"`
	Rule     *Rule       `json:"rule,omitempty"`
	Affinity *Affinity   `json:"affinity,omitempty"`
	Pinned   string      `json:"pinned,omitempty"` // the one that X-Magpie-Account or a pin --only names
	Order    []Candidate `json:"order"`
	Left     []Candidate `json:"left"`
	Tries    []Try       `json:"tries"`
	Done     bool        `json:"done"`
	Status   int         `json:"status"` // what the agent was told; 499 = agent gone
	Error    string      `json:"error,omitempty"`
	MS       int64       `json:"ms"`
	TTFTMS   int64       `json:"ttft_ms"`
	Tokens   Tokens      `json:"tokens"`
	Cost     string      `json:"cost,omitempty"` // USD, decimal; empty when a price is unknown
	Served   string      `json:"served,omitempty"`
	Masked   *Masked     `json:"masked,omitempty"` // what of the request was masked
	Inner    string      `json:"inner,omitempty"`  // what for the gateway asked it itself: describer, classifier
	Of       int64       `json:"of,omitempty"`     // the request that it was asked for
	BytesIn  int64       `json:"bytes_in,omitempty"`
	BytesOut int64       `json:"bytes_out,omitempty"`
}

// Masked counts the different things of a request that vendors read placeholders for.
type Masked struct {
	Secrets  int `json:"secrets"`
	Personal int `json:"personal"`
	Words    int `json:"words"`
}

// Resolved is what the asked name stands for: a provider's model, or a group.
type Resolved struct {
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Group    string `json:"group,omitempty"`
	Guessed  string `json:"guessed,omitempty"` // the beginning of the name by which its vendor was guessed
}

// Tokens counts one request. Input includes cache read and written, Output includes reasoning.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
}

// Candidate is one key or account with one model, at its place in a plan or left out of it.
type Candidate struct {
	ID        string      `json:"id"`       // provider/name, or provider alone
	Provider  string      `json:"provider"` // provider id
	Name      string      `json:"name"`     // the provider's name for people
	Who       string      `json:"who"`      // the key's or account's name alone
	Kind      string      `json:"kind"`     // account, key, provider
	Model     string      `json:"model"`
	Effort    string      `json:"effort,omitempty"`
	Routing   string      `json:"routing,omitempty"`
	Known     bool        `json:"known"`            // its allowance is known
	Learns    bool        `json:"learns,omitempty"` // it is not, and its reply will tell it
	Used      float64     `json:"used"`             // 0-100 of the fullest window that counts the model
	Windows   []Window    `json:"windows,omitempty"`
	Renews    []time.Time `json:"renews,omitempty"`
	Pace      float64     `json:"pace,omitempty"`
	Tier      string      `json:"tier,omitempty"` // fine, low, spent
	Rest      *Rest       `json:"rest,omitempty"`
	Fallback  bool        `json:"fallback,omitempty"`
	Aside     bool        `json:"aside,omitempty"`
	Sunk      *time.Time  `json:"sunk,omitempty"`
	Capped    int         `json:"capped,omitempty"`
	CapBack   *time.Time  `json:"cap_back,omitempty"`
	NoCredits bool        `json:"no_credits,omitempty"` // held for its credits alone
	Out       string      `json:"out,omitempty"`        // left out: the code of why
	Why       Reason      `json:"why"`                  // as a fact
	Reason    string      `json:"reason"`               // the same as a sentence; filled by words where the value leaves the process
}

// Window is one allowance window as last read.
type Window struct {
	Name    string     `json:"name"` // "5 hours", "7 days"
	Used    float64    `json:"used"` // 0-100
	Resets  *time.Time `json:"resets,omitempty"`
	SpanS   int64      `json:"span_s,omitempty"` // 0 = unknown
	Model   string     `json:"model,omitempty"`  // counts only models whose id contains this
	Amount  float64    `json:"amount,omitempty"`
	Limit   float64    `json:"limit,omitempty"`
	Unit    string     `json:"unit,omitempty"`
	Aside   bool       `json:"aside,omitempty"`   // using it up stops nothing
	Endless bool       `json:"endless,omitempty"` // it has no limit, and is aside
	Read    time.Time  `json:"read"`
}

// Rest says why and until when a candidate is put behind the others.
type Rest struct {
	Key      string    `json:"key"` // rest key or model rest id
	Why      Kind      `json:"why"`
	By       RestBy    `json:"by"`
	Status   int       `json:"status,omitempty"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Failures int       `json:"failures,omitempty"`
	Link     string    `json:"link,omitempty"`
	Print    string    `json:"print,omitempty"` // fingerprint of the secret it concerns
	Text     string    `json:"text,omitempty"`  // the vendor's words, cleaned and short
}

// RestBy says what a rest's length came from.
type RestBy string

// What a rest's length came from.
const (
	ByCredit     RestBy = "credit"
	ByResets     RestBy = "resets"
	ByWindow     RestBy = "window"
	ByRetryAfter RestBy = "retry-after"
	ByQuota      RestBy = "quota"
	ByCooldown   RestBy = "cooldown"
	ByBackoff    RestBy = "backoff"
	ByVerify     RestBy = "verify"
	ByAuth       RestBy = "auth"
	ByModel      RestBy = "model"
)

// Kept says whether a rest of this origin has a known end and so survives a restart.
func (b RestBy) Kept() bool {
	switch b {
	case ByCredit, ByResets, ByWindow, ByRetryAfter, ByQuota:
		return true
	case ByCooldown, ByBackoff, ByVerify, ByAuth, ByModel:
		return false
	}
	return false
}

// Try is one attempt at one candidate.
type Try struct {
	ID         string    `json:"id"` // the candidate's
	Model      string    `json:"model"`
	Effort     string    `json:"effort,omitempty"` // how hard the model was asked to think, as sent
	Picked     bool      `json:"picked,omitempty"` // by the turn's rule, group or classifier
	Fixed      bool      `json:"fixed,omitempty"`  // by the member
	Start      time.Time `json:"start"`
	MS         int64     `json:"ms"`
	TTFTMS     int64     `json:"ttft_ms,omitempty"`
	Status     int       `json:"status,omitempty"`
	Fail       Kind      `json:"fail,omitempty"`
	Error      string    `json:"error,omitempty"`
	Row        string    `json:"row,omitempty"` // the failure table's row that judged it
	Rest       *Rest     `json:"rest,omitempty"`
	Again      bool      `json:"again,omitempty"`      // the same candidate once more
	Queued     bool      `json:"queued,omitempty"`     // it waits for a slot now
	QueuedMS   int64     `json:"queued_ms,omitempty"`  // how long it waited for one; part of ms
	InsteadOf  string    `json:"instead_of,omitempty"` // the one whose lane was full and that gave way to it
	Reset      bool      `json:"reset,omitempty"`
	Translated *FromTo   `json:"translated,omitempty"`
	Done       bool      `json:"done"`
}

// Unasked says whether nobody was asked in it.
func (t *Try) Unasked() bool {
	switch t.Row {
	case RowFull, RowPausedSince, RowHeldSince, RowRestsSince:
		return true
	}
	return false
}

// FromTo names the APIs of a translated try.
type FromTo struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Lost []string `json:"lost,omitempty"`
}

// Affinity says what keeping a conversation where it was had to say.
type Affinity struct {
	Mode      string  `json:"mode"`                 // auto, session, turn, off
	Scope     string  `json:"scope,omitempty"`      // whose conversations are told apart: provider/model, or group/id
	Turn      int     `json:"turn,omitempty"`       // the user's turns so far
	Within    bool    `json:"within,omitempty"`     // the request brings a tool's result
	Last      string  `json:"last,omitempty"`       // who answered last
	CacheRead int64   `json:"cache_read,omitempty"` // tokens that the last reply read from the cache
	Kept      bool    `json:"kept"`
	Why       KeepWhy `json:"why"`
}

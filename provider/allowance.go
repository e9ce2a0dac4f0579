package provider

import "time"

// Window is one allowance window as last read.
type Window struct {
	Name    string        `json:"name"`             // "5 hours", "7 days"
	Used    float64       `json:"used"`             // 0-100
	Resets  time.Time     `json:"resets,omitzero"`  // zero = unknown
	Span    time.Duration `json:"span,omitempty"`   // 0 = unknown
	Model   string        `json:"model,omitempty"`  // counts only models whose id contains this, lower case
	Amount  float64       `json:"amount,omitempty"` // used, in Unit
	Limit   float64       `json:"limit,omitempty"`
	Unit    string        `json:"unit,omitempty"`
	Aside   bool          `json:"aside,omitempty"`   // using it up stops nothing
	Partial bool          `json:"partial,omitempty"` // from a reading that may leave other windows out
	Read    time.Time     `json:"read"`
}

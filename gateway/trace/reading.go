package trace

import "time"

// Reading is what was known to be left of one account at a time.
type Reading struct {
	Time    time.Time `json:"time"`
	Account string    `json:"account"`
	Plan    string    `json:"plan,omitempty"`
	Balance string    `json:"balance,omitempty"`
	Windows []Window  `json:"windows"`
}

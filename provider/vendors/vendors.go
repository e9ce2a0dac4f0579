// Package vendors lists, in one table, what is particular to each vendor's accounts: one
// folder a vendor, each with a reader of the allowance that its replies tell.
package vendors

import (
	"net/http"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/anthropic"
	"dev.magpie/provider/vendors/codex"
)

// Teller reads what one vendor's reply headers tell of the allowance of whoever was asked.
type Teller struct {
	Name string
	Read func(h http.Header, at time.Time) provider.Reading
}

// Tellers is every reader. Their headers do not overlap, so each is asked of every reply: a
// relay passes them on under another vendor's name.
var Tellers = []Teller{
	{"anthropic", anthropic.Read},
	{"codex", codex.Read},
}

// Read returns what the first vendor whose headers are there tells.
func Read(h http.Header, at time.Time) provider.Reading {
	var told provider.Reading
	for _, m := range Tellers {
		r := m.Read(h, at)
		if len(r.Windows) > 0 {
			return r
		}
		if told.Plan == "" && told.Credits == nil {
			told = r
		}
	}
	return told
}

// ReadHeaders returns the windows that a reply's headers tell, none for most replies, which
// costs no allocation.
func ReadHeaders(h http.Header, at time.Time) []provider.Window {
	return Read(h, at).Windows
}

// Package sub2api reads what a sub2api relay tells of one key: the windows that its owner gave
// it, or the wallet behind it.
package sub2api

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Path is what a balance URL's path is where it is such a relay's; no other key is ever asked.
const Path = "/v1/usage"

// Is says whether a balance URL is such a relay's.
func Is(balance string) bool {
	u, err := url.Parse(balance)
	return err == nil && strings.TrimRight(u.Path, "/") == Path
}

// spans are the windows that a relay knows, the shortest first.
var spans = []struct {
	word string
	span time.Duration
}{{"5h", 5 * time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}}

type usage struct {
	Mode      string       `json:"mode"`
	Plan      loose.Text   `json:"planName"`
	Remaining loose.Number `json:"remaining"`
	Limits    []limit      `json:"rate_limits"`
	Wallet    loose.Number `json:"balance"` // of a key that spends no plan
}

// noLimit is what remains of a plan without limits.
const noLimit = -1

type limit struct {
	Window loose.Text   `json:"window"`
	Limit  loose.Number `json:"limit"`
	Used   loose.Number `json:"used"`
	Left   loose.Number `json:"remaining"`
	Resets loose.Time   `json:"reset_at"`
}

// Parse reads a reply. A wallet has no windows; a key with windows and without a total of its
// own has as its balance what its fullest window has left.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u usage
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	r := provider.Reading{Plan: string(u.Plan)}
	left, found := 0.0, false
	for _, s := range spans {
		i := slices.IndexFunc(u.Limits, func(l limit) bool { return strings.EqualFold(string(l.Window), s.word) })
		if i < 0 || u.Limits[i].Limit.V <= 0 {
			continue
		}
		l := u.Limits[i]
		if !l.Used.Set && !l.Left.Set {
			continue // what is not told is not unused
		}
		used := max(0, l.Used.Or(l.Limit.V-l.Left.V))
		r.Windows = append(r.Windows, provider.Window{
			Name: provider.SpanName(s.span), Span: s.span, Used: loose.Percent(used / l.Limit.V * 100),
			Amount: used, Limit: l.Limit.V, Unit: "USD", Resets: l.Resets.Time, Read: at,
		})
		if rest := max(0, l.Limit.V-used); !found || rest < left {
			left, found = rest, true
		}
	}
	switch {
	case u.Remaining.Set && u.Remaining.V == noLimit && !u.Wallet.Set:
		r.Balance = "no limit"
	case u.Remaining.Set:
		r.Balance = dollars(u.Remaining.V)
	case found:
		r.Balance = dollars(left)
	case u.Mode == "":
		return provider.Reading{}, errors.New("its usage tells neither windows nor what remains")
	}
	return r, nil
}

// dollars writes an amount; more than anybody has is told as that.
func dollars(n float64) string {
	const most = 1e12
	if n < 0 {
		return fmt.Sprintf("-$%.2f", min(most, -n))
	}
	return fmt.Sprintf("$%.2f", min(most, n))
}

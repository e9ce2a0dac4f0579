// Package commandcode reads what a Command Code plan has left.
package commandcode

import (
	"errors"
	"fmt"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type window struct {
	Used   loose.Number `json:"used"`
	Cap    loose.Number `json:"cap"`
	Resets loose.Time   `json:"resetAt"`
}

type reply struct {
	Credits *struct {
		Plan      loose.Text   `json:"planId"`
		Monthly   loose.Number `json:"monthlyCredits"`
		Purchased loose.Number `json:"purchasedCredits"`
		Free      loose.Number `json:"freeCredits"`
	} `json:"credits"`
	Limits struct {
		FiveHour *window `json:"fiveHour"`
		Weekly   *window `json:"weekly"`
	} `json:"windowLimits"`
}

// Parse reads a reply: the windows, and as balance the sum of all credits.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its credits are no JSON object")
	}
	if u.Credits == nil {
		return provider.Reading{}, errors.New("its credits tell nothing")
	}
	r := provider.Reading{
		Plan:    string(u.Credits.Plan),
		Balance: fmt.Sprintf("%.2f credits", min(1e12, u.Credits.Monthly.V+u.Credits.Purchased.V+u.Credits.Free.V)),
	}
	for _, each := range []struct {
		w    *window
		name string
		span time.Duration
	}{{u.Limits.FiveHour, "5 hours", 5 * time.Hour}, {u.Limits.Weekly, "Weekly", 7 * 24 * time.Hour}} {
		if each.w == nil || each.w.Cap.V <= 0 || !each.w.Used.Set {
			continue
		}
		r.Windows = append(r.Windows, provider.Window{
			Name: each.name, Span: each.span, Used: loose.Percent(each.w.Used.V / each.w.Cap.V * 100), Resets: each.w.Resets.Time, Read: at,
		})
	}
	return r, nil
}

package codex

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

type usageReply struct {
	Plan      loose.Text `json:"plan_type"`
	RateLimit *struct {
		Allowed   loose.Bool   `json:"allowed"`
		Reached   loose.Bool   `json:"limit_reached"`
		Primary   *usageWindow `json:"primary_window"`
		Secondary *usageWindow `json:"secondary_window"`
	} `json:"rate_limit"`
	Extra []struct {
		Name      loose.Text `json:"limit_name"`
		Feature   loose.Text `json:"metered_feature"`
		RateLimit *struct {
			Primary   *usageWindow `json:"primary_window"`
			Secondary *usageWindow `json:"secondary_window"`
		} `json:"rate_limit"`
	} `json:"additional_rate_limits"`
	Credits *struct {
		Has       loose.Bool `json:"has_credits"`
		Unlimited loose.Bool `json:"unlimited"`
		Balance   loose.Text `json:"balance"`
		Overage   loose.Bool `json:"overage_limit_reached"`
	} `json:"credits"`
	Spend struct {
		Reached loose.Bool `json:"reached"`
	} `json:"spend_control"`
	ReachedType *struct {
		Type loose.Text `json:"type"`
	} `json:"rate_limit_reached_type"`
	Resets *struct {
		Available loose.Number `json:"available_count"`
	} `json:"rate_limit_reset_credits"`
}

type usageWindow struct {
	Used    loose.Number `json:"used_percent"`
	Seconds loose.Number `json:"limit_window_seconds"`
	After   loose.Number `json:"reset_after_seconds"`
	At      loose.Time   `json:"reset_at"`
}

// ParseUsage reads a whole reading of an account. Windows are named by their length: a plan may
// have its week in the first slot and nothing in the second.
func ParseUsage(body []byte, at time.Time) (provider.Reading, error) {
	var r usageReply
	if err := loose.Decode(body, &r); err != nil {
		return provider.Reading{}, errors.New("its usage is no JSON object")
	}
	if r.RateLimit == nil && r.Plan == "" {
		return provider.Reading{}, errors.New("its usage tells no limits")
	}
	u := provider.Reading{Plan: string(r.Plan)}
	if l := r.RateLimit; l != nil { // a plan may have none
		u.Held = r.held()
		add(&u, "", at, l.Primary, l.Secondary)
	}
	for _, x := range r.Extra {
		name := cmp.Or(x.Name, x.Feature)
		if x.RateLimit != nil && name != "" { // one that is nobody's would count for all models
			add(&u, string(name), at, x.RateLimit.Primary, x.RateLimit.Secondary)
		}
	}
	if c := r.Credits; c != nil {
		u.Credits = &provider.Credits{Has: c.Has.V, Unlimited: c.Unlimited.V, Balance: string(c.Balance)}
		u.Balance = creditWords(u.Credits)
	}
	if r.Resets != nil {
		u.Resets = &provider.Resets{Count: int(max(0, min(1000, r.Resets.Available.V)))}
	}
	return u, nil
}

// add takes in the windows of one limit; one with a name is of the models whose ids hold it.
func add(u *provider.Reading, name string, at time.Time, told ...*usageWindow) {
	for _, t := range told {
		if t == nil || !t.Used.Set {
			continue
		}
		w := provider.Window{Used: loose.Percent(t.Used.V), Read: at, Resets: t.At.Time}
		if s := t.Seconds.V; s > 0 && s < 1e9 {
			w.Span = time.Duration(s) * time.Second
		}
		if after := t.After; after.Set && after.V >= 0 && after.V < 1e9 && (w.Resets.IsZero() || over(w.Resets, after.V, at)) {
			w.Resets = at.Add(time.Duration(after.V) * time.Second).UTC()
		}
		if none(w, at) {
			continue
		}
		w.Name = provider.SpanName(w.Span)
		if name != "" {
			w.Name, w.Model = w.Name+" · "+name, strings.ReplaceAll(strings.ToLower(name), " ", "-")
		}
		u.Windows = append(u.Windows, w)
	}
}

// over says whether a time that has passed is none of a window that has so many seconds left:
// one of the two clocks is wrong, and how long it takes is true by either.
func over(resets time.Time, left float64, at time.Time) bool { return left > 0 && !resets.After(at) }

// none says whether a window stands for one that the plan does not have: the backend fills its
// slot with zeros.
func none(w provider.Window, at time.Time) bool {
	return w.Used == 0 && w.Span == 0 && !w.Resets.After(at)
}

// creditWords is how credits are shown: nothing where there are none, or no end of them.
func creditWords(c *provider.Credits) string {
	n, err := strconv.ParseFloat(c.Balance, 64)
	if err != nil || !c.Has || c.Unlimited || n <= 0 {
		return ""
	}
	s := strconv.FormatFloat(n, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + " credits"
}

// workspaces are the plans that a workspace pays for; those of small teams are not billed by use.
var workspaces = []string{
	"free_workspace", "team", "self_serve_business_prolite", "self_serve_business_usage_based", "business", "ent26",
	"enterprise_cbp_automation", "enterprise_cbp_usage_based", "enterprise", "hc", "education", "edu", "edu_plus", "edu_pro", "quorum", "k12",
}

// held says whether the backend answers nothing: a share used never says that alone.
func (r *usageReply) held() bool {
	l := r.RateLimit
	if l.Allowed.V || !l.Allowed.Set && !l.Reached.V {
		return false
	}
	c := r.Credits
	overage := c != nil && c.Overage.V
	switch {
	case r.Spend.Reached.V, overage:
		return true
	case c != nil && (c.Has.V || c.Unlimited.V):
		return false
	}
	plan := string(r.Plan)
	byUse := slices.Contains(workspaces, plan) && plan != "team" && plan != "self_serve_business_prolite"
	plain := r.ReachedType != nil && r.ReachedType.Type == "rate_limit_reached"
	return !byUse || c == nil || !c.Overage.Set || !plain
}

// ParseResets returns the resets that can be spent, the soonest to expire first, those that
// never do last.
func ParseResets(body []byte) ([]provider.Reset, error) {
	var r struct {
		Credits []struct {
			ID      loose.Text `json:"id"`
			Status  loose.Text `json:"status"`
			Expires loose.Time `json:"expires_at"`
		} `json:"credits"`
	}
	if err := loose.Decode(body, &r); err != nil {
		return nil, errors.New("its resets are no JSON object")
	}
	var all []provider.Reset
	for _, c := range r.Credits {
		if c.Status == "available" && c.ID != "" {
			all = append(all, provider.Reset{ID: string(c.ID), Expires: c.Expires.Time})
		}
	}
	slices.SortStableFunc(all, func(a, b provider.Reset) int {
		switch {
		case a.Expires.IsZero() && b.Expires.IsZero():
			return 0
		case a.Expires.IsZero():
			return 1
		case b.Expires.IsZero():
			return -1
		}
		return a.Expires.Compare(b.Expires)
	})
	return all, nil
}

// ParseOutcome reads what came of it and how many windows began anew. Without a word that is
// known nothing is taken to be spent.
func ParseOutcome(body []byte) (provider.Outcome, int, error) {
	var r struct {
		Code    loose.Text   `json:"code"`
		Windows loose.Number `json:"windows_reset"`
	}
	if err := loose.Decode(body, &r); err != nil {
		return "", 0, errors.New("the answer is no JSON object")
	}
	switch code := provider.Outcome(r.Code); code {
	case provider.DidReset, provider.Nothing, provider.NoCredit, provider.AlreadyWas:
		return code, int(max(0, min(100, r.Windows.V))), nil
	}
	return "", 0, errors.New("the answer does not say what came of it")
}

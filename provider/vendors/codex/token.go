package codex

import (
	"cmp"
	"encoding/base64"
	"strings"
	"time"

	"dev.magpie/provider/vendors/loose"
)

// early is how long before its end a token is renewed.
const early = 5 * time.Minute

// Claims are what a token tells of its owner. Tokens are read, never checked: they are the
// owner's own, and it is the vendor who checks them.
type Claims struct {
	Email   string
	Plan    string
	Account string
	Until   time.Time // the subscription's end, zero = not told
	Expires time.Time // the token's own end, zero = not told
}

// ParseToken reads the middle part of a JWT; the other two may be anything.
func ParseToken(token string) (Claims, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return Claims{}, false
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return Claims{}, false
	}
	var c struct {
		Email loose.Text `json:"email"`
		Exp   loose.Time `json:"exp"`
		Auth  struct {
			Plan    loose.Text `json:"chatgpt_plan_type"`
			Account loose.Text `json:"chatgpt_account_id"`
			Until   loose.Time `json:"chatgpt_subscription_active_until"`
		} `json:"https://api.openai.com/auth"`
		Profile struct {
			Email loose.Text `json:"email"`
		} `json:"https://api.openai.com/profile"` // where an access token has it
	}
	if loose.Decode(b, &c) != nil {
		return Claims{}, false
	}
	return Claims{
		Email: string(cmp.Or(c.Email, c.Profile.Email)), Plan: string(c.Auth.Plan), Account: string(c.Auth.Account), Until: c.Auth.Until.Time, Expires: c.Exp.Time,
	}, true
}

// seats are the plans whose accounts differ from a personal one of the same address.
var seats = map[string]string{"team": "Team", "business": "Business", "enterprise": "Enterprise", "edu": "Edu"}

// User is what an account is called: its address, with the plan where that makes it another
// account than the personal one.
func (c Claims) User() string {
	if seat := seats[c.Plan]; seat != "" {
		return c.Email + " · " + seat
	}
	return c.Email
}

// Stale says whether an access token has to be renewed before it is used; one that does not
// tell its end is taken for good.
func Stale(accessToken string, now time.Time) bool {
	c, ok := ParseToken(accessToken)
	return ok && !c.Expires.IsZero() && !now.Before(c.Expires.Add(-early))
}

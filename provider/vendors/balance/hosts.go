package balance

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dev.magpie/provider/vendors/loose"
)

// Source is where the money behind a key is told.
type Source struct {
	URL     string
	read    func(body []byte) (string, error)
	endless bool // its reply says so of a key without a limit
}

// Parse reads a reply of the source. A reply that says of itself that it failed is an error
// with the vendor's words, whatever its status.
func (s Source) Parse(body []byte) (string, error) {
	if words, failed := refused(body); failed {
		return "", errors.New(words)
	}
	if s.endless && endless(body) {
		return noLimit, nil
	}
	return s.read(body)
}

// noLimit is told of a key that may spend as much as there is.
const noLimit = "no limit"

// endless says whether a relay tells of a key that it has no limit: what is left of it then
// counts down from nothing.
func endless(body []byte) bool {
	var r struct {
		Data struct {
			Endless loose.Bool `json:"unlimited_quota"`
		} `json:"data"`
	}
	return loose.Decode(body, &r) == nil && r.Data.Endless.V
}

// ByHost is where the vendors of some hosts tell it.
func ByHost(base string) (Source, bool) {
	u, err := url.Parse(base)
	if err != nil {
		return Source{}, false
	}
	path, ok := hosts[strings.ToLower(u.Hostname())]
	if !ok {
		return Source{}, false
	}
	path.URL = "https://" + u.Host + path.URL
	return path, true
}

var hosts = map[string]Source{
	"api.deepseek.com":   {URL: "/user/balance", read: deepseek},
	"api.moonshot.cn":    {URL: "/v1/users/me/balance", read: must("¥data.available_balance")},
	"api.moonshot.ai":    {URL: "/v1/users/me/balance", read: must("$data.available_balance")},
	"openrouter.ai":      {URL: "/api/v1/credits", read: must("$data.total_credits - data.total_usage")},
	"api.stepfun.com":    {URL: "/v1/accounts", read: must("¥balance")},
	"api.stepfun.ai":     {URL: "/v1/accounts", read: must("$balance")},
	"aihubmix.com":       {URL: "/dashboard/billing/remain", read: aihubmix},
	"api.siliconflow.cn": {URL: "/v1/user/info", read: retired}, "api.siliconflow.com": {URL: "/v1/user/info", read: retired},
}

// keyPath is where new-api tells of a key alone.
const keyPath = "/api/usage/token"

// byPath is what an amount's place is where only the path of a balance URL is known.
var byPath = []struct{ path, expr string }{
	{"/v1/usage", "$remaining"},
	{"/api/v1/user/profile", "$data.balance"},
	{keyPath, "$data.total_available / 500000"},
	{"/api/user/self", "$data.quota / 500000"},
	{"/dashboard/billing/credit_grants", "$total_available"},
}

// ByURL is the source that a person's own URL and place make; without a place the path of the
// URL says what the relay behind it is.
func ByURL(address, path string) (Source, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Source{}, errors.New("balance_url is no URL")
	}
	endless := false
	if path == "" {
		for _, known := range byPath {
			if strings.HasSuffix(strings.TrimRight(u.Path, "/"), known.path) {
				path, endless = known.expr, known.path == keyPath
				break
			}
		}
	}
	if path == "" {
		return Source{}, errors.New("balance_path is not set, and nothing is known of replies at " + u.Path + ": name the field with the amount, like $data.balance")
	}
	e, err := Compile(path)
	if err != nil {
		return Source{}, err
	}
	return Source{URL: address, read: e.Eval, endless: endless}, nil
}

// WithKey puts the key where an address or a header names it as {key}, {apiKey} or {api_key}.
func WithKey(text, key string, inURL bool) string {
	if inURL {
		key = url.QueryEscape(key)
	}
	return strings.NewReplacer("{key}", key, "{apiKey}", key, "{api_key}", key).Replace(text)
}

func must(expr string) func([]byte) (string, error) {
	e, err := Compile(expr)
	if err != nil {
		panic(err)
	}
	return e.Eval
}

// refused says whether a reply tells that it failed, with its words.
func refused(body []byte) (string, bool) {
	var r struct {
		Success loose.Bool `json:"success"`
		Message loose.Text `json:"message"`
		Msg     loose.Text `json:"msg"`
	}
	if loose.Decode(body, &r) != nil || !r.Success.Set || r.Success.V {
		return "", false
	}
	return loose.Clip(cmp.Or(string(r.Message), string(r.Msg), "the balance was refused"), loose.Words), true
}

func retired([]byte) (string, error) {
	return "", errors.New("its vendor has taken this away: there is no API for the balance any more")
}

// purse is an amount in one currency.
type purse struct {
	Currency loose.Text   `json:"currency"`
	Total    loose.Number `json:"total_balance"`
}

// deepseek tells an amount in each currency: those with money first, then by their code.
func deepseek(body []byte) (string, error) {
	var r struct {
		Infos []purse `json:"balance_infos"`
	}
	if loose.Decode(body, &r) != nil || len(r.Infos) == 0 {
		return "", errors.New("the reply tells no balance")
	}
	slices.SortStableFunc(r.Infos, func(a, b purse) int {
		if empty := (a.Total.V <= 0); empty != (b.Total.V <= 0) {
			if empty {
				return 1
			}
			return -1
		}
		return strings.Compare(string(a.Currency), string(b.Currency))
	})
	var told []string
	for _, i := range r.Infos {
		told = append(told, money(string(i.Currency), i.Total.V))
	}
	return strings.Join(told, ", "), nil
}

// mostMoney is more than anybody has left.
const mostMoney = 1e12

func money(currency string, n float64) string {
	n = max(-mostMoney, min(mostMoney, n))
	sign := map[string]string{"CNY": "¥", "USD": "$", "EUR": "€", "GBP": "£"}[currency]
	if sign != "" && n < 0 {
		return "-" + sign + fmt.Sprintf("%.2f", -n)
	}
	if sign == "" {
		return fmt.Sprintf("%.2f %s", n, loose.Clip(currency, 12))
	}
	return fmt.Sprintf("%s%.2f", sign, n)
}

// aihubmix: a key that used less than nothing has no limit.
func aihubmix(body []byte) (string, error) {
	var r struct {
		Used loose.Number `json:"total_usage"`
		Data struct {
			Quota loose.Number `json:"quota"`
		} `json:"data"`
	}
	switch {
	case loose.Decode(body, &r) != nil:
		return "", errors.New("the reply is not JSON")
	case r.Used.V < 0:
		return noLimit, nil
	case r.Data.Quota.Set:
		return money("USD", r.Data.Quota.V/500000), nil
	case r.Used.Set:
		return money("USD", r.Used.V), nil
	}
	return "", errors.New("the reply tells no balance")
}

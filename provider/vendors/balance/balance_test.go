package balance_test

import (
	"strings"
	"testing"

	"dev.magpie/provider/vendors/balance"
)

const reply = `{"balance":"12.345","limit":200,"used":50,"name":"  Main\n key ","data":{"total_available":12500000,"items":[{"left":3},{"left":"4"}],"0":9},"nothing":null,"deep":{"a_b":1}}`

func TestExpressions(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{"balance", "12.35"},
		{"$balance", "$12.35"},
		{"¥ balance", "¥12.35"},
		{"€limit - used", "€150.00"},
		{"$used-limit", "-$150.00"},
		{"$used − limit", "-$150.00"},
		{"used / limit %", "25.0%"},
		{"$data.total_available / 500000", "$25.00"},
		{"data.items.0.left + data.items.1.left * 2", "11"},
		{"(data.items.0.left + data.items.1.left) * 2", "14"},
		{"-(used)", "-50"},
		{"10 - 2 - 3", "5"},
		{"100 / 10 / 2", "5"},
		{"data.0", "9"},
		{"name", "Main key"},
		{"main: $limit; gift: $used;", "main: $200.00, gift: $50.00"},
		{"used: used/limit%", "used: 25.0%"},
		{"deep.a_b", "1"},

		{"", "error: balance_path is empty"},
		{" ; ", "error: balance_path is empty"},
		{"missing", `error: nothing stands at "missing"`},
		{"data.items.2.left", `error: nothing stands at "data.items.2.left"`},
		{"data.items.x", "error: nothing stands"},
		{"nothing", "error: nothing stands"},
		{"limit.more", "error: nothing stands"},
		{"$data", `error: "data" holds no number`},
		{"name + 1", `error: "name" holds no number`},
		{"limit / (used - 50)", "error: it divides by nothing"},
		{"(limit", "error: balance_path \"(limit\": a bracket is not closed"},
		{"limit)", `unexpected ")"`},
		{"limit +", "a field or number is missing at its end"},
		{"a..b", "empty name between its dots"},
		{"a ? b", `unexpected "?"`},
		{strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), "too many brackets"},
	} {
		got := ""
		e, err := balance.Compile(tt.expr)
		if err == nil {
			got, err = e.Eval([]byte(reply))
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want && (!strings.HasPrefix(got, "error: ") || !strings.Contains(got, strings.TrimPrefix(tt.want, "error: "))) {
			t.Errorf("%q\n got %s\nwant %s", tt.expr, got, tt.want)
		}
	}
	e, err := balance.Compile("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval([]byte("<html>")); err == nil || err.Error() != "the reply is not JSON" {
		t.Errorf("a page: %v", err)
	}
}

func TestWhatHostsTell(t *testing.T) {
	for _, tt := range []struct{ base, url, reply, want string }{
		{
			"https://api.deepseek.com/v1", "https://api.deepseek.com/user/balance",
			`{"is_available":true,"balance_infos":[{"currency":"USD","total_balance":"0.00"},{"currency":"CNY","total_balance":"110.00"}]}`, "¥110.00, $0.00",
		},
		{"https://api.deepseek.com", "https://api.deepseek.com/user/balance", `{"balance_infos":[{"currency":"CNY","total_balance":"-0.25"}]}`, "-¥0.25"},
		{"https://api.moonshot.cn/v1", "https://api.moonshot.cn/v1/users/me/balance", `{"data":{"available_balance":49.58894}}`, "¥49.59"},
		{"https://api.moonshot.ai/v1", "https://api.moonshot.ai/v1/users/me/balance", `{"data":{"available_balance":-0.5}}`, "-$0.50"},
		{"https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/credits", `{"data":{"total_credits":100.5,"total_usage":25.75}}`, "$74.75"},
		{"https://api.stepfun.com/v1", "https://api.stepfun.com/v1/accounts", `{"balance":3}`, "¥3.00"},
		{"https://aihubmix.com/v1", "https://aihubmix.com/dashboard/billing/remain", `{"object":"list","total_usage":-0.000002}`, "no limit"},
		{"https://aihubmix.com/v1", "https://aihubmix.com/dashboard/billing/remain", `{"total_usage":7.5}`, "$7.50"},
		{"https://api.siliconflow.cn/v1", "https://api.siliconflow.cn/v1/user/info", `{"code":20092}`, "error: its vendor has taken this away"},
		{"https://api.deepseek.com", "https://api.deepseek.com/user/balance", `{"success":false,"message":"no such key"}`, "error: no such key"},
	} {
		s, ok := balance.ByHost(tt.base)
		if !ok || s.URL != tt.url {
			t.Errorf("%s: asked at %q", tt.base, s.URL)
			continue
		}
		got, err := s.Parse([]byte(tt.reply))
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want && (!strings.HasPrefix(tt.want, "error") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s\n got %s\nwant %s", tt.base, got, tt.want)
		}
	}
	if _, ok := balance.ByHost("https://relay.example/v1"); ok {
		t.Error("an unknown host has a balance")
	}
}

func TestAURLOfOnesOwn(t *testing.T) {
	for _, tt := range []struct{ url, path, reply, want string }{
		{"https://r.example/v1/usage/", "", `{"remaining":7.5}`, "$7.50"},
		{"https://r.example/api/v1/user/profile", "", `{"data":{"balance":1}}`, "$1.00"},
		{"https://r.example/api/usage/token", "", `{"data":{"total_available":500000}}`, "$1.00"},
		{"https://r.example/api/usage/token", "", `{"code":true,"data":{"total_granted":0,"total_used":900000,"total_available":-900000,"unlimited_quota":true}}`, "no limit"},
		{"https://r.example/api/usage/token", "", `{"code":true,"data":{"total_available":-500000,"unlimited_quota":false}}`, "-$1.00"},
		{"https://r.example/api/usage/token", "$data.total_used / 500000", `{"data":{"total_used":500000,"total_available":0,"unlimited_quota":true}}`, "$1.00"},
		{"https://r.example/api/user/self?x=1", "", `{"data":{"quota":250000}}`, "$0.50"},
		{"https://r.example/dashboard/billing/credit_grants", "", `{"total_available":4}`, "$4.00"},
		{"https://r.example/api/user/self", "¥data.quota", `{"data":{"quota":2}}`, "¥2.00"},
		{"https://r.example/other", "", "", "error: balance_path is not set"},
		{"https://r.example/other", "((", "", "error: balance_path"},
	} {
		s, err := balance.ByURL(tt.url, tt.path)
		got := ""
		if err == nil {
			got, err = s.Parse([]byte(tt.reply))
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tt.want && (!strings.HasPrefix(tt.want, "error") || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s %s\n got %s\nwant %s", tt.url, tt.path, got, tt.want)
		}
	}
}

func TestTheKeyInAnAddress(t *testing.T) {
	if got := balance.WithKey("https://r.example/{key}?k={apiKey}", "a/b c", true); got != "https://r.example/a%2Fb+c?k=a%2Fb+c" {
		t.Error(got)
	}
	if got := balance.WithKey("Token {api_key}", "a/b c", false); got != "Token a/b c" {
		t.Error(got)
	}
}

func FuzzExpressions(f *testing.F) {
	f.Add("main: $data.total_available / 500000; used/limit%", reply)
	f.Add("((1", `{}`)
	f.Fuzz(func(t *testing.T, expr, body string) {
		e, err := balance.Compile(expr)
		if err != nil {
			return
		}
		if got, err := e.Eval([]byte(body)); err == nil && len(got) > 200+8*len(expr)+400 {
			t.Errorf("%q tells %d bytes", expr, len(got))
		}
	})
}

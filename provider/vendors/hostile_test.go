package vendors_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
	"dev.magpie/provider/vendors/commandcode"
	"dev.magpie/provider/vendors/copilot"
	"dev.magpie/provider/vendors/geminicli"
	"dev.magpie/provider/vendors/glm"
	"dev.magpie/provider/vendors/grok"
	"dev.magpie/provider/vendors/kimi"
	"dev.magpie/provider/vendors/minimax"
	"dev.magpie/provider/vendors/opencodego"
	"dev.magpie/provider/vendors/sub2api"
)

// odd are values that stand where a vendor's own should.
var odd = []string{
	`null`, `true`, `-1`, `0`, `1e308`, `1e400`, `-1e308`, `"NaN"`, `"Infinity"`, `"12,5"`, `""`, `"` + strings.Repeat("x", 9<<10) + `"`, `"\u001b[2J\u0007"`, `[]`, `{}`, `[1]`, `{"a":1}`,
	`"1970-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `999999999999`, `-5e15`, `9e14`, strings.Repeat("[", 200) + strings.Repeat("]", 200),
}

// spoiled returns a reply once for each value in it, with that replaced.
func spoiled(t *testing.T, reply, with string) (all map[string]string) {
	t.Helper()
	all = map[string]string{}
	var paths []string
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for k, in := range v {
				walk(in, path+"\x00"+k)
			}
		case []any:
			for i, in := range v {
				walk(in, path+"\x00"+fmt.Sprint(i))
			}
		}
		if path != "" {
			paths = append(paths, path)
		}
	}
	parse := func() (v any) {
		in := json.NewDecoder(strings.NewReader(reply))
		in.UseNumber()
		if err := in.Decode(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	walk(parse(), "")
	const mark = `"SPOILED"`
	for _, path := range paths {
		root := parse()
		at := root
		keys := strings.Split(path, "\x00")[1:]
		for i, k := range keys {
			last := i == len(keys)-1
			switch v := at.(type) {
			case map[string]any:
				if last {
					v[k] = "SPOILED"
				}
				at = v[k]
			case []any:
				var n int
				_, _ = fmt.Sscan(k, &n)
				if last {
					v[n] = "SPOILED"
				}
				at = v[n]
			}
		}
		b, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.Join(keys, ".")] = string(bytes.Replace(b, []byte(mark), []byte(with), 1))
	}
	return all
}

// One value that is not as it should be spoils its own window at most: the others are told.
func TestAnOddValueHidesNothingOfTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		parse   func([]byte, time.Time) (provider.Reading, error)
		reply   string
		decides string // values of which all depends, "a b"
	}{
		"sub2api": {sub2api.Parse, `{"mode":"quota_limited","rate_limits":[{"window":"1d","limit":10,"used":4,"reset_at":"2026-03-05T00:00:00Z"},{"window":"7d","limit":"20","used":5},{"window":"5h","limit":2,"used":1}]}`, "rate_limits"},
		"kimi": {kimi.Parse, `{"usage":{"limit":"500","used":"125","resetTime":"2026-03-09T05:24:18.44Z"},"limits":[{"window":{"duration":300,"timeUnit":"TIME_UNIT_MINUTE"},"detail":{"limit":"100","remaining":"40","resetTime":"2026-03-04T11:00:00Z"}},
			{"window":{"duration":1,"timeUnit":"TIME_UNIT_DAY"},"detail":{"limit":5,"used":2}}]}`, "limits"},
		"glm":         {glm.Parse, glmPlan, "success data data.limits"},
		"minimax":     {minimax.Parse, `{"model_remains":[` + minimaxGeneral + "," + minimaxVideo + `],"base_resp":{"status_code":0,"status_msg":"success"}}`, "model_remains model_remains.0 base_resp.status_code"},
		"opencode go": {opencodego.Parse, `{"usage":{"rolling":{"percent":1,"resetsAt":"2026-03-04T14:00:00Z"},"weekly":{"percent":"55","resetsAt":"2026-03-08T00:00:00Z"},"monthly":{"percent":100,"resetsAt":"2026-04-01T00:00:00Z"}}}`, "usage"},
		"grok":        {grok.Parse, `{"config":{"creditUsagePercent":33,"currentPeriod":{"type":"USAGE_PERIOD_TYPE_WEEKLY","end":"2026-03-08T00:00:00Z"},"onDemandCap":{"val":20},"onDemandUsed":{"val":5}}}`, "config config.creditUsagePercent"},
		"copilot": {
			copilot.Parse, `{"copilot_plan":"individual","access_type_sku":"x","quota_reset_date_utc":"2026-04-01T00:00:00Z","quota_snapshots":{"chat":{"unlimited":false,"has_quota":true,"entitlement":50,"quota_remaining":"10"},
			"completions":{"entitlement":4000,"remaining":1000},"premium_interactions":{"entitlement":"1500","quota_remaining":1200}}}`, "quota_snapshots",
		},
		"copilot, without charge": {copilot.Parse, `{"monthly_quotas":{"chat":50,"completions":2000},"limited_user_quotas":{"chat":10,"completions":"2000"},"limited_user_reset_date":"2026-04-01"}`, "monthly_quotas limited_user_quotas"},
		"gemini cli":              {geminicli.Parse, `{"buckets":[{"modelId":"m1","remainingFraction":0.4,"resetTime":"2026-03-05T00:00:00Z"},{"modelId":"m2","remainingFraction":"1"}]}`, "buckets"},
		"command code": {
			commandcode.Parse, `{"credits":{"planId":"pro","monthlyCredits":10,"purchasedCredits":"2.5","freeCredits":0},"windowLimits":{"fiveHour":{"used":3,"cap":12,"resetAt":1772625600000},"weekly":{"used":3,"cap":9}}}`, "credits windowLimits",
		},
		"codex": {codex.ParseUsage, `{"plan_type":"pro","rate_limit":{"allowed":true,"limit_reached":false,"primary_window":{"used_percent":42,"limit_window_seconds":18000,"reset_after_seconds":3600,"reset_at":1772622000},
			"secondary_window":{"used_percent":87,"limit_window_seconds":604800,"reset_after_seconds":90000,"reset_at":1772712000}},"additional_rate_limits":[{"limit_name":"x","rate_limit":{"primary_window":{"used_percent":1,"limit_window_seconds":3600}}}],
			"credits":{"has_credits":false,"unlimited":false,"balance":"0","overage_limit_reached":false},"spend_control":{"reached":false},"rate_limit_reached_type":{"type":"x"},"rate_limit_reset_credits":{"available_count":2}}`, "rate_limit rate_limit.allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := c.parse([]byte(c.reply), at)
			if err != nil || len(whole.Windows) < 2 {
				t.Fatalf("%v %+v", err, whole)
			}
			for _, value := range odd {
				for path, reply := range spoiled(t, c.reply, value) {
					r, err := c.parse([]byte(reply), at)
					if strings.Contains(" "+c.decides+" ", " "+path+" ") {
						err = nil
						r.Windows = append(r.Windows, whole.Windows...)
					}
					if err != nil || len(r.Windows) < len(whole.Windows)-1 {
						t.Errorf("%s is %.40s: %v, %d windows of %d", path, value, err, len(r.Windows), len(whole.Windows))
					}
					tidy := r.Tidy(at)
					for _, w := range tidy.Windows {
						if !(w.Used >= 0 && w.Used <= 100) || w.Name == "" || len(w.Name) > 250 || strings.ContainsAny(w.Name, "\x1b\x07") || w.Resets.Year() > 2100 {
							t.Errorf("%s is %.40s: %+v", path, value, w)
						}
					}
					if _, err := json.Marshal(tidy); err != nil {
						t.Errorf("%s is %.40s: %v", path, value, err)
					}
					if len(tidy.Balance) > 250 || len(tidy.Plan) > 250 {
						t.Errorf("%s is %.40s: balance of %d, plan of %d", path, value, len(tidy.Balance), len(tidy.Plan))
					}
				}
			}
			double := strings.Replace(c.reply, `{`, `{"mode":"x","usage":null,"data":null,"quota_snapshots":null,"monthly_quotas":null,"buckets":null,"rate_limit":null,"model_remains":null,"credits":null,`, 1)
			if r, err := c.parse([]byte(double), at); err != nil || len(r.Windows) != len(whole.Windows) {
				t.Errorf("a name that stands twice: %v, %d windows", err, len(r.Windows))
			}
			for _, bad := range []string{"", " ", "null", "[]", "7", `"x"`, "true", "<html>", "{", "{}{}", c.reply + "x", strings.Repeat(`{"a":`, 20000)} {
				if r, err := c.parse([]byte(bad), at); err == nil {
					t.Errorf("%.20q tells %+v", bad, r)
				}
			}
		})
	}
}

// One odd value in what a program keeps of its sign-in hides neither another sign-in nor a panic: all
// that it can come to is another of its users, or a state of the account.
func TestAnOddValueInASignInHidesNothingOfTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		look       func(home string) looker
		decides    string // values without which nobody is signed in
		state      bool   // a state is all that is ever told
	}{
		"copilot, the program's": {
			"config.json", `{"lastLoggedInUser":{"host":"https://github.com","login":"cat"},"loggedInUsers":[{"host":"https://github.com","login":"cat"},{"host":"https://github.com","login":"dog"}],
			"copilotTokens":{"https://github.com:dog":"gho_dog","https://github.com:cat":"gho_cat"}}`, openCopilot, "copilotTokens", false,
		},
		"copilot, an editor's": {
			"apps.json", `{"github.com:a":{"user":"octo","oauth_token":"ghu_1","githubAppId":"a"},"github.com:b":{"user":"octo","oauth_token":"ghu_2"}}`, openCopilot, "", false,
		},
		"gemini cli": {
			"oauth_creds.json", `{"access_token":"a","refresh_token":"r","scope":"x","token_type":"Bearer","id_token":"e30.e30.x","expiry_date":1700000000000}`,
			func(home string) looker { return geminicli.Open([]string{home}) }, "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for _, value := range odd {
				for path, text := range spoiled(t, c.text, value) {
					if err := os.WriteFile(filepath.Join(home, c.file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
					got, err := c.look(home).Look()
					var state provider.SignInError
					switch decides := strings.Contains(" "+c.decides+" ", " "+path+" "); {
					case err != nil && (!errors.As(err, &state) || strings.Contains(err.Error(), "can't be read") || !c.state && !decides):
						t.Errorf("%s is %.40s: %v", path, value, err)
					case err == nil && (c.state || len(got.Access.Reveal()) > 4096 || strings.ContainsAny(got.Access.Reveal(), "\x1b\x07 ")):
						t.Errorf("%s is %.40s: %+v", path, value, got)
					}
				}
			}
		})
	}
}

type looker interface {
	Look() (provider.Credential, error)
}

func openCopilot(home string) looker {
	return copilot.Open(copilot.Options{Homes: []string{home}, Do: func(*http.Request) (*http.Response, error) { return nil, errors.New("nobody is asked") }})
}

func TestWhatAVendorSaysOfAnErrorIsShort(t *testing.T) {
	long := strings.Repeat("no ", 100<<10) + `\u001b[2J`
	for name, c := range map[string]func() error{
		"glm": func() error { _, err := glm.Parse([]byte(`{"success":false,"msg":"`+long+`"}`), at); return err },
		"minimax": func() error {
			_, err := minimax.Parse([]byte(`{"base_resp":{"status_code":1,"status_msg":"`+long+`"}}`), at)
			return err
		},
	} {
		if err := c(); err == nil || len(err.Error()) > 250 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %.40v", name, err)
		}
	}
}

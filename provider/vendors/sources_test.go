package vendors_test

import (
	"strings"
	"testing"

	"dev.magpie/config"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors"
)

func TestWhichKeysAreToldOfAndWhere(t *testing.T) {
	for _, tt := range []struct{ name, toml, want string }{
		{"a sub2api relay", `chat = "https://relay.example/v1"` + "\n" + `balance_url = "https://relay.example/v1/usage"`, "sub2api https://relay.example/v1/usage windows Authorization: Bearer K"},
		{"a balance somewhere else", `chat = "https://relay.example/v1"` + "\n" + `balance_url = "https://relay.example/api/usage/token"`, "balance https://relay.example/api/usage/token Authorization: Bearer K"},
		{"a relay of which nothing is known", `chat = "https://relay.example/v1"`, ""},
		{"Kimi Code", `preset = "kimi-code-cn"`, "kimi https://api.kimi.com/coding/v1/usages windows Authorization: Bearer K"},
		{"Kimi Code, in its place another", "preset = \"kimi-code\"\nchat = \"http://127.0.0.1:9/coding/v1\"", "kimi http://127.0.0.1:9/coding/v1/usages windows Authorization: Bearer K"},
		{"a GLM plan", "preset = \"zhipu\"\nregion = \"coding\"", "glm https://open.bigmodel.cn/api/monitor/usage/quota/limit windows Authorization: K"},
		{"a GLM plan elsewhere", "preset = \"zai\"\nregion = \"coding\"", "glm https://api.z.ai/api/monitor/usage/quota/limit windows Authorization: K"},
		{"a GLM team's plan", "preset = \"zhipu\"\nregion = \"coding\"\nheaders = { Bigmodel-Organization = \"o\", Bigmodel-Project = \"p\" }", "glm https://open.bigmodel.cn/api/monitor/usage/quota/limit?type=2 windows Authorization: K"},
		{"GLM, paid as it goes", `preset = "zhipu"`, ""},
		{"a MiniMax plan's key", "preset = \"minimax\"", "minimax https://api.minimax.io/v1/token_plan/remains windows of sk-cp- keys Authorization: Bearer K"},
		{"OpenCode Go", "preset = \"opencode-go\"", "opencode-go https://opencode.ai/zen/go/v1/usage windows Authorization: Bearer K"},
		{"OpenCode Zen", "preset = \"opencode-zen\"", ""},
		{"Grok", `chat = "https://cli-chat-proxy.grok.com/v1"`, "grok https://cli-chat-proxy.grok.com/v1/billing?format=credits windows Authorization: Bearer K"},
		{"Command Code", `chat = "https://api.commandcode.ai/v1"`, "command-code https://api.commandcode.ai/alpha/billing/credits windows Authorization: Bearer K"},
		{"DeepSeek", `preset = "deepseek"`, "balance https://api.deepseek.com/user/balance Authorization: Bearer K"},
		{"DeepSeek, in its place another", "preset = \"deepseek\"\nchat = \"http://127.0.0.1:9/v1\"", "balance http://127.0.0.1:9/user/balance Authorization: Bearer K"},
		{"OpenRouter", `preset = "openrouter"`, "balance https://openrouter.ai/api/v1/credits Authorization: Bearer K"},
		{"Anthropic", `preset = "anthropic"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := config.Parse("config.toml", []byte("[providers.x]\n"+tt.toml+"\nkeys = [{ value = \"sk-x\" }]\n"))
			if err != nil {
				t.Fatal(err)
			}
			cat, problems := provider.Build(cfg)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got := ""
			if s, ok := vendors.SourceOf(cat.Providers[0]); ok {
				got = s.Name + " " + s.URL
				if s.Windows {
					got += " windows"
				}
				if s.Keys != nil && s.Keys("sk-cp-1") && !s.Keys("sk-1") {
					got += " of sk-cp- keys"
				}
				h := s.Header("K")
				got += " " + h.Name + ": " + h.Value
			}
			if got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAPlaceOfOnesOwnStandsBesideTheWindows(t *testing.T) {
	p := &provider.Provider{BalanceURL: "https://relay.example/v1/usage", BalancePath: "$user.left"}
	s, _ := vendors.SourceOf(p)
	for reply, want := range map[string]string{
		`{"mode":"quota_limited","rate_limits":[{"window":"1d","limit":10,"used":5}],"user":{"left":3}}`: "1 day 50% span=24h 5 of 10 USD; balance $3.00",
		`{"mode":"quota_limited","rate_limits":[{"window":"1d","limit":10,"used":5}]}`:                   "1 day 50% span=24h 5 of 10 USD; balance $5.00",
		`{"mode":"unrestricted"}`: `error: nothing stands at "user.left" in the reply`,
	} {
		r, err := s.Parse([]byte(reply), at)
		got := drawn(r)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", reply, got, want)
		}
	}
	p.BalanceURL = "https://relay.example/other"
	p.BalancePath = "(("
	s, ok := vendors.SourceOf(p)
	if _, err := s.Parse([]byte("{}"), at); !ok || err == nil || !strings.Contains(err.Error(), "balance_path") {
		t.Errorf("a place that can't be read: %v", err)
	}
}

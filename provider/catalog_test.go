package provider_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

func TestEveryPresetIsDatedAndSound(t *testing.T) {
	id := regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	kinds := []provider.PresetKind{provider.Vendor, provider.Relay, provider.Local, provider.Subscription}
	seen := map[string]bool{"magpie": true, "group": true}
	presets := provider.Presets()
	for i := range presets {
		p := &presets[i]
		if !id.MatchString(p.ID) || seen[p.ID] {
			t.Errorf("id %q is not one, or stands twice", p.ID)
		}
		seen[p.ID] = true
		if _, err := time.Parse(time.DateOnly, p.Checked); err != nil || p.Source == "" {
			t.Errorf("%s: checked %q, source %q", p.ID, p.Checked, p.Source)
		}
		if p.Name == "" || p.Vendor == "" || !slices.Contains(kinds, p.Kind) || len(p.Regions) == 0 {
			t.Errorf("%s: name %q, vendor %q, kind %q, %d regions", p.ID, p.Name, p.Vendor, p.Kind, len(p.Regions))
		}
		if p.Kind == provider.Local && !p.KeyOptional {
			t.Errorf("%s: a server on this machine needs a key", p.ID)
		}
		for _, api := range []string{"chat", "responses", "messages", "gemini"} {
			if style := p.Auth[wire.Protocol(api)]; style != "" && !slices.Contains([]provider.AuthStyle{provider.AuthBearer, provider.AuthXAPIKey, provider.AuthGoogle, provider.AuthAPIKey}, style) {
				t.Errorf("%s: auth %q", p.ID, style)
			}
		}
		checkRegions(t, p)
	}
	for i := range presets {
		for _, a := range presets[i].Aliases {
			if _, ok := presets[i].Region(a.Region); seen[a.ID] || !ok {
				t.Errorf("%s: alias %q of region %q", presets[i].ID, a.ID, a.Region)
			}
			seen[a.ID] = true
		}
	}
}

func checkRegions(t *testing.T, p *provider.Preset) {
	seen := map[string]bool{}
	for _, r := range p.Regions {
		if seen[r.ID] || r.ID == "" && len(p.Regions) > 1 {
			t.Errorf("%s: region %q", p.ID, r.ID)
		}
		seen[r.ID] = true
		if (len(r.APIs()) == 0) != (p.NeedsBase || p.ReadOnly != "") {
			t.Errorf("%s %s speaks nothing", p.ID, r.ID)
		}
		for _, api := range r.APIs() {
			base := r.Base(api)
			if normal, err := provider.NormalBase(api, base); err != nil || normal != base {
				t.Errorf("%s %s: %s base %q is not in its normal form %q, %v", p.ID, r.ID, api, base, normal, err)
			}
			u, err := url.Parse(base)
			if err != nil || (u.Scheme == "http") != (p.Kind == provider.Local) {
				t.Errorf("%s %s: %s base %q, %v", p.ID, r.ID, api, base, err)
			}
		}
	}
}

// The presets that must be there, with one base each that tells a row apart.
func TestPresetsThere(t *testing.T) {
	want := map[string]string{ // "preset region api" → base
		"anthropic  messages":         "https://api.anthropic.com",
		"openai  responses":           "https://api.openai.com/v1",
		"google  gemini":              "https://generativelanguage.googleapis.com/v1beta",
		"google  chat":                "https://generativelanguage.googleapis.com/v1beta/openai",
		"deepseek  messages":          "https://api.deepseek.com/anthropic",
		"xai  messages":               "https://api.x.ai",
		"moonshot  chat":              "https://api.moonshot.ai/v1",
		"moonshot-cn  messages":       "https://api.moonshot.cn/anthropic",
		"kimi-code  chat":             "https://api.kimi.ai/coding/v1",
		"kimi-code-cn  messages":      "https://api.kimi.com/coding",
		"zhipu api chat":              "https://open.bigmodel.cn/api/paas/v4",
		"zhipu coding responses":      "https://open.bigmodel.cn/api/v1",
		"zai coding chat":             "https://api.z.ai/api/coding/paas/v4",
		"minimax  messages":           "https://api.minimax.io/anthropic",
		"minimax-cn  chat":            "https://api.minimaxi.com/v1",
		"stepfun plan messages":       "https://api.stepfun.ai/step_plan",
		"stepfun-cn api chat":         "https://api.stepfun.com/v1",
		"xiaomi plan-ams messages":    "https://token-plan-ams.xiaomimimo.com/anthropic",
		"xiaomi api responses":        "https://api.xiaomimimo.com/v1",
		"baidu-qianfan team messages": "https://qianfan.baidubce.com/anthropic/tokenplan/team",
		"tencent-cloud plan chat":     "https://api.lkeap.cloud.tencent.com/plan/v3",
		"huaweicloud api chat":        "https://api.modelarts-maas.com/openai/v1",
		"volcengine agent messages":   "https://ark.cn-beijing.volces.com/api/plan",
		"volcengine api messages":     "",
		"qwen  messages":              "https://dashscope-intl.aliyuncs.com/apps/anthropic",
		"qwen-cn  chat":               "https://dashscope.aliyuncs.com/compatible-mode/v1",
		"qwen-token-plan  chat":       "https://token-plan.maas.qianwenaiapi.com/compatible-mode/v1",
		"mistral  chat":               "https://api.mistral.ai/v1",
		"groq  responses":             "https://api.groq.com/openai/v1",
		"bedrock ap-south-1 messages": "https://bedrock-runtime.ap-south-1.amazonaws.com/anthropic",
		"ollama-cloud  messages":      "https://ollama.com",
		"openrouter  messages":        "https://openrouter.ai/api",
		"opencode-go  responses":      "https://opencode.ai/zen/go/v1",
		"opencode-zen  messages":      "https://opencode.ai/zen",
		"clinepass  chat":             "https://api.cline.bot/api/v1",
		"kilo  chat":                  "https://api.kilo.ai/api/openrouter",
		"commandcode  messages":       "https://api.commandcode.ai/provider",
		"together  chat":              "https://api.together.xyz/v1",
		"fireworks  chat":             "https://api.fireworks.ai/inference/v1",
		"siliconflow  chat":           "https://api.siliconflow.cn/v1",
		"nvidia  responses":           "",
		"modelscope  responses":       "https://api-inference.modelscope.cn/v1",
		"aihubmix  messages":          "https://aihubmix.com",
		"pipellm  chat":               "https://api.pipellm.ai/openai/v1",
		"302ai  messages":             "https://api.302.ai",
		"cherryin  responses":         "https://open.cherryin.ai/v1",
		"yylx app chat":               "https://app.yylx.io/v1",
		"ollama  chat":                "http://localhost:11434/v1",
		"lmstudio  chat":              "http://localhost:1234/v1",
		"llamacpp  chat":              "http://127.0.0.1:8080/v1",
		"omlx  responses":             "http://localhost:8000/v1",
		"codex  responses":            "https://chatgpt.com/backend-api/codex",
		"azure  chat":                 "",
		"remote-magpie  chat":         "",
		"sub2api  chat":               "",
	}
	for at, base := range want {
		part := strings.Split(at, " ")
		p, _, ok := provider.FindPreset(part[0])
		if !ok {
			t.Errorf("%s is not there", part[0])
			continue
		}
		r, ok := p.Region(part[1])
		if got := r.Base(wire.Protocol(part[2])); !ok || got != base {
			t.Errorf("%s: %q, want %q", at, got, base)
		}
	}
}

func TestSure(t *testing.T) {
	p, _, _ := provider.FindPreset("mistral")
	if p.Sure("env") || !p.Sure("regions") {
		t.Errorf("unsure of %v", p.Unsure)
	}
}

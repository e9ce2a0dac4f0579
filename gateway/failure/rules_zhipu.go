package failure

import (
	"fmt"
	"slices"
	"strings"

	"dev.magpie/gateway/trace"
)

// zhipu are the catalogue's words for the vendor of GLM.
var zhipu = []string{"zhipu", "zai"}

// glm asks for one of Zhipu's codes: four digits in a string, for any vendor,
// since relays pass them on; a bare number counts at Zhipu's own addresses.
func glm(codes ...int) []*Fact {
	parts := make([]string, len(codes))
	for i, c := range codes {
		parts[i] = fmt.Sprint(c)
	}
	return []*Fact{{
		"Zhipu code " + strings.Join(parts, " "),
		func(r *reply) bool { return r.glm != 0 && slices.Contains(codes, r.glm) },
	}}
}

var zhipuRules = []Rule{
	{
		Name: "glm-auth", When: When{Is: glm(1000, 1001, 1002, 1003, 1004)}, Then: trace.Auth, Scope: whole,
		Says: "key missing, wrong or expired",
	},
	{
		Name: "glm-account", When: When{Is: glm(1110, 1111, 1112, 1121)}, Then: trace.Auth, Scope: whole,
		Says: "account inactive, absent, locked, in violation",
	},
	{
		Name: "glm-balance", When: When{Is: glm(1113)}, Then: trace.Credit, Scope: model,
		Says: "arrears, or a model outside the plan: so the model alone",
	},
	{
		Name: "glm-request", When: When{Is: glm(1210, 1212, 1213, 1214, 1215)}, Then: trace.Request,
		Says: "parameter bad or missing, method not supported",
	},
	{
		Name: "glm-no-model", When: When{Is: glm(1211)}, Then: trace.Model, Scope: model,
		Says: "no such model",
	},
	{
		Name: "glm-no-right", When: When{Is: glm(1220, 1221, 1222, 1311)}, Then: trace.Model, Scope: model,
		Says: "no right to it, gone, or not in the plan",
	},
	{
		Name: "glm-process", When: When{Is: glm(1120, 1230, 1234)}, Then: trace.Other, Scope: whole,
		Says: "an error of their network or process",
	},
	{
		Name: "glm-too-long", When: When{Is: glm(1261)}, Then: trace.TooLarge,
		Says: "prompt too long",
	},
	{
		Name: "glm-unsafe", When: When{Is: glm(1301)}, Then: trace.Refused,
		Says: "unsafe content",
	},
	{
		Name: "glm-rate", When: When{Is: glm(1302, 1303)}, Then: trace.Rate, Scope: whole,
		Says: "concurrency or frequency: seconds, not the 5 hours' window",
	},
	{
		Name: "glm-day", When: When{Is: glm(1304)}, Then: trace.Quota, Scope: whole,
		Says: "the day's calls are used up",
	},
	{
		Name: "glm-busy", When: When{Is: glm(1305, 1312)}, Then: trace.Overloaded, Scope: whole,
		Says: "flow limit, model too busy",
	},
	{
		Name: "glm-window", When: When{Is: glm(1308, 1310)}, Then: trace.Quota, Scope: whole,
		Says: "5 hours', week's or month's limit, with its reset in Beijing time",
	},
	{
		Name: "glm-plan-ended", When: When{Is: glm(1309)}, Then: trace.Credit, Scope: whole,
		Says: "the Coding Plan expired",
	},
	{
		Name: "glm-fair-use", When: When{Is: glm(1313)}, Then: trace.Auth, Scope: whole,
		Says: "restricted for unfair use: its owner must act",
	},
}

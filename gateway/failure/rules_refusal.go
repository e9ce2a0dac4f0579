package failure

import (
	"net/http"

	"dev.magpie/gateway/trace"
)

var (
	isRefusal = &Fact{"a code of refusal (content_filter, content_policy_violation, …_policy, invalid_prompt that was flagged)", refuses}
	azureFilt = &Fact{"an inner content_filter_result", func(r *reply) bool { return r.find("content_filter_result", "content_filter_results") != nil }}
)

var refusalRules = []Rule{
	{
		Name: "refused", When: When{Is: []*Fact{isRefusal}}, Then: trace.Refused,
		Says: "for safety; another vendor may answer",
	},
	{
		Name: "azure-filtered", When: When{Status: []int{http.StatusBadRequest}, Is: []*Fact{azureFilt}}, Then: trace.Refused,
		Says: "Azure's content filter by its result alone",
	},
}

package gateway

import (
	"net/http"
	"slices"
	"strings"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// named finds the account that X-Magpie-Account names: an id, or a bare name. Among several of
// one name, the one that the asked model's provider has is meant, else the one that the request can go to.
func named(cat *provider.Catalog, who string, snap *route.Snapshot, call *route.Call) (provider.AccountID, *wire.Refusal) {
	found := cat.Find(who)
	if len(found) > 1 {
		found = meant(found, snap, call)
	}
	if len(found) == 1 {
		return found[0].ID, nil
	}
	list := found
	words := "X-Magpie-Account names " + quoteShort(who) + ", which several have: "
	if len(list) == 0 {
		list = cat.AllAccounts()
		words = "X-Magpie-Account names " + quoteShort(who) + ", which nobody has; there are: "
	}
	ids := make([]string, 0, len(list))
	for _, a := range list {
		ids = append(ids, string(a.ID))
	}
	return "", &wire.Refusal{Status: http.StatusNotFound, Code: "account_not_found", Words: words + strings.Join(ids, ", ")}
}

// meant narrows several of one name down to those that the request can mean.
func meant(found []*provider.Account, snap *route.Snapshot, call *route.Call) []*provider.Account {
	if p := call.Target.Provider; p != nil {
		for _, a := range found {
			if a.Provider == p.ID {
				return []*provider.Account{a}
			}
		}
	}
	plan := route.Plan(snap, *call)
	var can []*provider.Account
	for _, a := range found {
		is := func(c trace.Candidate) bool { return c.ID == string(a.ID) }
		if slices.ContainsFunc(plan.Order, is) || slices.ContainsFunc(plan.Left, is) {
			can = append(can, a)
		}
	}
	if len(can) == 0 {
		return found
	}
	return can
}

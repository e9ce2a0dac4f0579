package route

import (
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

// DecideKeeping makes a plan to be carried out in which a conversation stays with an account.
func DecideKeeping(s *Snapshot, c Call, id provider.AccountID) (trace.Plan, Effects) {
	d := draft{s: s, c: c, carry: true}
	for _, step := range steps {
		step(&d)
		for i := range d.in {
			if t := &d.in[i]; t.who.ID == id && len(d.charges) > 0 && d.plan.Order == nil {
				d.moveCharge(t)
			}
		}
	}
	return d.plan, d.effects
}

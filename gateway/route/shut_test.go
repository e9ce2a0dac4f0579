package route_test

import (
	"testing"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
)

// A vendor that says that it answers nothing is believed, however little is used.
func TestAnAccountWhoseVendorAnswersNothingGoesLast(t *testing.T) {
	for _, tt := range []struct{ name, routing, board, want string }{
		{"behind those that are spent", "smart", "a account shut 7d=42@3d, b account 7d=100@1h, c account 7d=95@1h, d account 7d=10@5d", "d c b a"},
		{"though no window was told", "smart", "a account shut, b account fine", "b a"},
		{"till its window renews", "smart", "a account shut 7d=42@-1h, b account 7d=99@1h", "a b"},
		{"till the full one renews", "smart", "a account shut 5h=100@-1h 7d=42@3d, b account 7d=99@1h", "a b"},
		{"not till one that is not full does", "smart", "a account shut 5h=10@-1h 7d=42@3d, b account 7d=99@1h", "b a"},
		{"least used", "usage", "a account shut 7d=42@3d, b account 7d=100@1h", "b a"},
		{"pace", "pace", "a account shut 7d=42@3d, b account 7d=100@1h, c account 7d=95@1h", "c b a"},
		{"best", "best", "a account shut 7d=42@3d, b account 7d=100@1h, c fine", "c b a"},
		{"as listed", "order", "a account shut 7d=42@3d, b account fine", "a b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := drawAs(t, `routing = "`+tt.routing+`"`, tt.board)
			p := route.Plan(&b.snap, b.call())
			if got := line(p); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.board, got, tt.want)
			}
			if c := p.Order[len(p.Order)-1]; c.Who == "a" && (c.Tier != "spent" || c.Used == 101 || c.Why.Code != trace.WhyShut) {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestAConversationLeavesAnAccountWhoseVendorAnswersNothing(t *testing.T) {
	b := drawAs(t, `preset = "anthropic"`, "a account shut 7d=42@3d, b account fine")
	c := b.call()
	c.Scope, c.Keep, c.Turn = "own/m", remembered(t, "a"), 2
	p := route.Plan(&b.snap, c)
	if got := line(p); got != "b a" || p.Affinity.Why != trace.KeepSpent {
		t.Errorf("%s, %+v", got, p.Affinity)
	}
	b = drawAs(t, `preset = "anthropic"`, "a account shut, b account fine")
	if p := route.Plan(&b.snap, b.call()); line(p) != "b a" || p.Order[1].Learns {
		t.Errorf("its reply tells nothing: %s", line(p))
	}
}

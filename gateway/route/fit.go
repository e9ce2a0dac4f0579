package route

import (
	"cmp"
	"slices"

	"dev.magpie/provider"
)

// fit puts a pool's keys that are made for one API in the order in which they suit the
// request, and marks those aside that are made for another API than the best.
func fit(d *draft) {
	for i := 0; i < len(d.in); {
		n, made := i, false
		for ; n < len(d.in) && d.in[n].unit == d.in[i].unit; n++ {
			made = made || d.in[n].who.Protocol != ""
		}
		if made {
			d.fitPool(d.in[i:n])
		}
		i = n
	}
}

func (d *draft) fitPool(pool []seat) {
	for _, t := range pool {
		if t.who.Kind == provider.KindKey {
			t.fit = t.of.Fit(t.who.Protocol, d.c.Protocol, t.model, d.s.Lists[t.of.ID])
		}
	}
	byFit := func(a, b seat) int { return cmp.Compare(a.fit, b.fit) }
	best := slices.MinFunc(pool, byFit).who.Protocol // the first of equal ones
	for _, t := range pool {
		t.aside = t.who.Protocol != best
	}
	slices.SortStableFunc(pool, func(a, b seat) int { return cmp.Or(cmp.Compare(rank(!a.aside), rank(!b.aside)), byFit(a, b)) })
}

// asideLast moves a group's aside keys behind all its others.
func asideLast(d *draft) {
	if d.c.Target.Group != nil && slices.ContainsFunc(d.in, func(t seat) bool { return t.aside }) {
		d.split(func(t *seat) bool { return !t.aside })
	}
}

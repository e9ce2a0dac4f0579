package gateway

import (
	"strconv"
	"testing"

	"dev.magpie/provider"
)

func TestAModelIsLookedUpOnceForEachSetOfLists(t *testing.T) {
	p := &provider.Provider{ID: "v"}
	lv := &live{cat: &provider.Catalog{Providers: []*provider.Provider{p}}}
	first := lv.model(p, "m")
	if first.ID != "m" || lv.model(p, "m") != first || lv.model(p, "n") == first {
		t.Errorf("%+v", first)
	}
	if n := testing.AllocsPerRun(100, func() { lv.model(p, "m") }); n > 0 {
		t.Errorf("%v allocations for one that is known", n)
	}
	lists := provider.Lists{"v": provider.NewList([]provider.Model{{ID: "m", Context: 9}})}
	lv.lists.Store(&lists)
	if got := lv.model(p, "m"); got.Context != 9 {
		t.Errorf("with another list: %+v", got)
	}
	g := &provider.Group{ID: "g", Members: []provider.Ref{{Provider: "v", Model: "m"}}}
	told := lv.group(g)
	lv.view.Store(&provider.Catalog{})
	if lv.group(g) == told {
		t.Error("the group is the same with other members")
	}
	for i := range 2 * bookMost {
		lv.model(p, strconv.Itoa(i))
	}
	if n := len(lv.book.models); n > bookMost {
		t.Errorf("%d models are kept", n)
	}
}

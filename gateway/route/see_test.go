package route_test

import (
	"strconv"
	"strings"
	"testing"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestImagesGoToThoseThatSee(t *testing.T) {
	models := map[string]string{"sees": `["text", "image"]`, "blind": `["text"]`, "unknown": ""}
	build := func(kinds ...string) (*provider.Catalog, string) {
		toml, members := "", []string{}
		for i, k := range kinds {
			id := k + strconv.Itoa(i)
			toml += "[providers." + id + "]\nchat = \"http://x.example/v1\"\nkeys = [{ name = \"k\", value = \"sk-1\" }]\nmodels = [{ id = \"m" + strconv.Itoa(i) + "x\""
			if models[k] != "" {
				toml += ", inputs = " + models[k]
			}
			toml += " }]\n"
			members = append(members, `"`+id+"/m"+strconv.Itoa(i)+`x"`)
		}
		return catalog(t, toml+"[groups.g]\nrouting = \"order\"\nmembers = ["+strings.Join(members, ", ")+"]\n"), ""
	}
	for _, c := range []struct {
		name  string
		kinds string
		order string
	}{
		{"only those that see", "blind unknown sees sees", "sees2 sees3"},
		{"none known to see: those of which it isn't known", "blind unknown", "unknown1"},
		{"none at all", "blind blind", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cat, _ := build(strings.Fields(c.kinds)...)
			call := route.Call{Target: provider.Target{Asked: "group/g", Group: cat.Group("g")}, Images: true}
			p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, call)
			if firsts(p) != c.order {
				t.Errorf("order %q, want %q", firsts(p), c.order)
			}
			for _, l := range p.Left {
				if l.Why.Code != trace.WhyBlind || l.Out != "blind" {
					t.Errorf("left %+v", l)
				}
			}
			if ref := route.Refuse(p, call); (ref == nil) != (c.order != "") || ref != nil && (ref.Status != 400 || ref.Code != route.CodeNoImages) {
				t.Errorf("%+v", ref)
			}
			call.Described = true
			if p := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, call); len(p.Order) != len(strings.Fields(c.kinds)) {
				t.Errorf("with a describer: %s", firsts(p))
			}
		})
	}
	t.Run("a provider alone", func(t *testing.T) {
		cat, _ := build("unknown", "blind")
		for id, n := range map[string]int{"unknown0": 1, "blind1": 0} {
			p := cat.Provider(id)
			call := route.Call{Target: provider.Target{Provider: p, Model: p.Models[0].ID}, Images: true}
			if plan := route.Plan(&route.Snapshot{Now: now, Catalog: cat}, call); len(plan.Order) != n {
				t.Errorf("%s: %+v", id, plan)
			}
		}
	})
}

// A fallback that is known to see takes no image from a model of which it is not known: it costs other money.
func TestAFallbackTakesNoImageFromAModelThatMaySee(t *testing.T) {
	cat := catalog(t, `
[providers.p]
chat = "http://p.example/v1"
keys = [{ name = "k", value = "sk-p" }]
models = ["any"]
fallback = ["q/eye"]
[providers.q]
chat = "http://q.example/v1"
keys = [{ name = "k", value = "sk-q" }]
models = [{ id = "eye", inputs = ["text", "image"] }]
`)
	s := route.Snapshot{Now: now, Catalog: cat}
	c := route.Call{Target: provider.Target{Asked: "p/any", Provider: cat.Provider("p"), Model: "any"}, Images: true}
	if got := full(route.Plan(&s, c)); got != "p/k/any q/k/eye" {
		t.Error(got)
	}
}

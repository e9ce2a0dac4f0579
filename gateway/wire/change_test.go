package wire_test

import (
	"testing"

	"dev.magpie/gateway/wire"
)

func TestABodyIsChangedInItsBytes(t *testing.T) {
	named := func(names ...string) func(string, wire.Value) bool {
		return func(key string, _ wire.Value) bool {
			for _, n := range names {
				if n == key {
					return true
				}
			}
			return false
		}
	}
	cut := func(body string, names []string, path ...string) string {
		return string(wire.Cut([]byte(body), named(names...), path...))
	}
	for _, c := range []struct{ what, got, want string }{
		{"the first member", cut(`{ "a" : 1, "b":2 }`, []string{"a"}), `{ "b":2 }`},
		{"the last member", cut(`{"a":1 , "b":[2] }`, []string{"b"}), `{"a":1 }`},
		{"one in the middle", cut(`{"a":1, "b":{"x":"}"},"c":3}`, []string{"b"}), `{"a":1,"c":3}`},
		{"several beside each other", cut(`{"a":1,"b":2,"c":3,"d":4}`, []string{"b", "c"}), `{"a":1,"d":4}`},
		{"all", cut(` {"a":1,"b":2}`, []string{"a", "b"}), ` {}`},
		{"each but one", cut(`{"a":1,"b":2,"c":3}`, []string{"a", "c"}), `{"b":2}`},
		{"none", cut(`{"a":1.50}`, []string{"z"}), `{"a":1.50}`},
		{"twice the same", cut(`{"a":1,"b":2,"a":3}`, []string{"a"}), `{"b":2}`},
		{"deeper", cut(`{"m":[{"r":"x","t":1},{"t":2},{"t":3, "r":null}],"r":5}`, []string{"r"}, "m", "*"), `{"m":[{"t":1},{"t":2},{"t":3}],"r":5}`},
		{"where a path leads nowhere", cut(`{"m":{"r":1}}`, []string{"r"}, "m", "*"), `{"m":{"r":1}}`},
		{"what is no JSON", cut(`{"a":1,"b"`, []string{"a"}), `{"a":1,"b"`},
		{"put over", string(wire.Put([]byte(`{"a": 1,"b":2}`), "a", []byte(`"x"`))), `{"a": "x","b":2}`},
		{"put behind", string(wire.Put([]byte(`{"a":1 }`), "b", []byte(`2`))), `{"a":1,"b":2 }`},
		{"put into nothing", string(wire.Put([]byte(`{"a":{ }}`), "b", []byte(`2`), "a")), `{"a":{"b":2 }}`},
		{"put into each", string(wire.Put([]byte(`[{"a":1},{}]`), "b", []byte(`2`), "*")), `[{"a":1,"b":2},{"b":2}]`},
		{"weeded", string(wire.Weed([]byte(`{"t":[1, 2 ,3,4]}`), func(v wire.Value) bool { n, _ := v.Int(); return n%2 == 0 }, "t")), `{"t":[1 ,3]}`},
		{"all weeded", string(wire.Weed([]byte(`{"t":[1]}`), func(wire.Value) bool { return true }, "t")), `{"t":[]}`},
		{"swapped", string(wire.Swap([]byte(`{"m":[{"role":"developer"},{"role":"user"}]}`), func(v wire.Value) []byte {
			if v.Text() == "developer" {
				return []byte(`"system"`)
			}
			return nil
		}, "m", "*", "role")), `{"m":[{"role":"system"},{"role":"user"}]}`},
		{"found", wire.Value(`{"m":[{"x":1},{"r":"y"}]}`).At("m", "*", "r").Text(), "y"},
		{"not found", wire.Value(`{"m":[{"x":1}]}`).At("m", "*", "r").Text(), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}

func FuzzAChangedBodyStaysJSON(f *testing.F) {
	f.Add(`{"a":1,"b":[{"a":2},{"c":"\u0041"}]}`, "a")
	f.Add(` {"a":{},"a":[]} `, "c")
	f.Fuzz(func(t *testing.T, body, key string) {
		if _, err := wire.ReadValue([]byte(body)); err != nil {
			return
		}
		is := func(k string, _ wire.Value) bool { return k == key }
		for _, got := range [][]byte{
			wire.Cut([]byte(body), is), wire.Cut([]byte(body), is, "b", "*"), wire.Put([]byte(body), "b", []byte(`{"x":[]}`)),
			wire.Weed([]byte(body), func(v wire.Value) bool { return v.Kind() == '{' }, "b"),
		} {
			if _, err := wire.ReadValue(got); err != nil {
				t.Errorf("%q without %q is %q: %v", body, key, got, err)
			}
		}
	})
}

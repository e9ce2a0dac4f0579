package route_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/route"
	"dev.magpie/gateway/trace"
)

// candidates reads "p/a:m p/b:m* q/c:n:high": who of which provider with which model, * rests.
func candidates(text string) []trace.Candidate {
	var list []trace.Candidate
	for word := range strings.FieldsSeq(text) {
		word, rests := strings.CutSuffix(word, "*")
		parts := strings.Split(word, ":")
		p, _, _ := strings.Cut(parts[0], "/")
		c := trace.Candidate{ID: parts[0], Provider: p, Model: parts[1]}
		if len(parts) > 2 {
			c.Effort = parts[2]
		}
		if rests {
			c.Rest = &trace.Rest{}
		}
		list = append(list, c)
	}
	return list
}

func text(list []trace.Candidate) string {
	var words []string
	for _, c := range list {
		word := c.ID + ":" + c.Model
		if c.Effort != "" {
			word += ":" + c.Effort
		}
		if c.Rest != nil {
			word += "*"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestMates(t *testing.T) {
	const order = "p/a:m q/x:m p/b:m:high p/c:m p/a:n p/d:m* p/e:m"
	list := candidates(order)
	var got []string
	for _, j := range route.Mates(list, 0) {
		got = append(got, list[j].ID)
	}
	if s := strings.Join(got, " "); s != "p/c p/e" {
		t.Errorf("mates of the first are of its provider, model and effort, another who, and do not rest; got %s", s)
	}
	if got := route.Mates(list, 3); len(got) != 1 || got[0] != 6 {
		t.Errorf("those before it were asked already: %v", got)
	}
	if got, want := text(route.MatesFirst(list, 0)), "p/c:m p/e:m q/x:m p/b:m:high p/a:n p/d:m*"; got != want {
		t.Errorf("first\n got %s\nwant %s", got, want)
	}
	if got, want := text(route.MatesLast(list, 0)), "q/x:m p/b:m:high p/a:n p/c:m p/d:m* p/e:m"; got != want {
		t.Errorf("last\n got %s\nwant %s", got, want)
	}
	if got := text(list); got != order {
		t.Errorf("the list that was given is changed: %s", got)
	}
	if got := route.MatesFirst(list, len(list)-1); len(got) != 0 {
		t.Errorf("after the last: %v", got)
	}
}

func TestLarger(t *testing.T) {
	rest := candidates("p/b:small p/c:big q/x:small q/y:big q/z:unknown")
	failed := candidates("p/a:small")[0]
	window := func(provider, model string) int {
		return map[string]int{"p small": 100, "p big": 1000, "q small": 200, "q big": 500}[provider+" "+model]
	}
	for _, tt := range []struct {
		name     string
		estimate int
		want     string
	}{
		{"too many bytes: any other model", 0, "p/c:big q/x:small q/y:big q/z:unknown"},
		{"too many tokens: a window known to be larger", 200, "p/c:big q/y:big"},
		{"none is large enough", 1000, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(route.Larger(rest, &failed, window, tt.estimate)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

package words

import (
	"testing"

	"dev.magpie/gateway/trace"
)

func TestRules(t *testing.T) {
	for want, r := range map[string]*trace.Rule{
		"": nil,
		"rule 2 of group g sends the turn to b/m: 50000 tokens or more, shows an image": {N: 2, Group: "g", Use: "b/m", When: []string{"tokens >= 50000", "images"}},
		"rule 1 of group g sent the turn to b/m as it began: asked by codex, claude":    {N: 1, Group: "g", Use: "b/m", Held: true, When: []string{"agents codex, claude"}},
		"rule 1 of group g moves the turn to b/m, as it outgrew its model's window":     {N: 1, Group: "g", Use: "b/m", Grown: true},
		"rule 1 of group g sends the turn to b/m: asks for reasoning, which is not ready, so c/m goes first": {
			N: 1, Group: "g", Use: "b/m", When: []string{"effort on"}, Unready: true, Instead: "c/m",
		},
		"rule 1 of group g sends the turn to b/m: shortens its conversation, which is not ready":           {N: 1, Group: "g", Use: "b/m", When: []string{"compact"}, Unready: true},
		"rules of group g wait: the turn was met in its middle, or its rule is another by now":             {Group: "g", Waits: true, Bare: true},
		"no rule of group g holds, c/sorter did not say what it is about: no answer within 20s":            {Group: "g", Bare: true, Classified: &trace.Classified{By: "c/sorter", Error: "no answer within 20s"}},
		"no rule of group g holds, c/sorter finds it to be about nothing that a rule names":                {Group: "g", Bare: true, Classified: &trace.Classified{By: "c/sorter", Intents: []string{"a"}}},
		"no rule of group g holds, c/sorter was asked how hard it is, the turn thinks high":                {Group: "g", Bare: true, Pick: "high", Classified: &trace.Classified{By: "c/sorter", Effort: "high"}},
		"rule 3 of group g sends the turn to b/m: about \"a plan\", c/sorter finds it to be about: a plan": {N: 3, Group: "g", Use: "b/m", When: []string{`intent "a plan"`}, Classified: &trace.Classified{By: "c/sorter", Intent: "a plan"}},
		"rule 1 of group g sends the turn to group/in: asks for effort high or more; no rule of group in holds": {
			N: 1, Group: "g", Use: "group/in", When: []string{"effort >= high"}, Inner: &trace.Rule{Group: "in"},
		},
	} {
		if got := Rule(r); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestEfforts(t *testing.T) {
	for _, c := range []struct {
		try   *trace.Try
		asked string
		want  string
	}{
		{nil, "", ""},
		{&trace.Try{}, "", ""},
		{&trace.Try{Effort: "high"}, "high", "high"},
		{&trace.Try{Effort: "high", Fixed: true}, "low", "high, as the member has it; the agent asked for low"},
		{&trace.Try{Effort: "high", Picked: true}, "on", "high, as the turn's group has it; the agent named no level"},
		{&trace.Try{Effort: "high"}, "", "high; the agent said nothing of it"},
	} {
		if got := Effort(c.try, c.asked); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

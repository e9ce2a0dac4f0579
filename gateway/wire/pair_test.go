package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sketch draws turns as one line: "U hi | A c:1 | U r:1=ok".
func sketch(turns []Turn) string {
	var lines []string
	for _, t := range turns {
		words := []string{map[Role]string{RoleUser: "U", RoleAssistant: "A", RoleSystem: "S"}[t.Role]}
		for _, p := range t.Parts {
			switch p.Kind {
			case KindCall:
				words = append(words, "c:"+p.Call.ID)
			case KindResult:
				words = append(words, "r:"+p.Reply.ID+"="+JoinText(p.Reply.Parts, ""))
			case KindThinking:
				words = append(words, "t:"+p.Text)
			default:
				words = append(words, p.Text)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, " | ")
}

// drawn reads what sketch draws.
func drawn(s string) []Turn {
	var turns []Turn
	for _, line := range strings.Split(s, " | ") {
		words := strings.Split(line, " ")
		t := Turn{Role: map[string]Role{"U": RoleUser, "A": RoleAssistant, "S": RoleSystem}[words[0]]}
		for _, w := range words[1:] {
			switch {
			case strings.HasPrefix(w, "c:"):
				t.Parts = append(t.Parts, Part{Kind: KindCall, Call: &Call{ID: w[2:], Name: "tool"}})
			case strings.HasPrefix(w, "r:"):
				id, text, _ := strings.Cut(w[2:], "=")
				t.Parts = append(t.Parts, Part{Kind: KindResult, Reply: &Result{ID: id, Parts: []Part{{Text: text}}}})
			case strings.HasPrefix(w, "t:"):
				t.Parts = append(t.Parts, Part{Kind: KindThinking, Text: w[2:]})
			default:
				t.Parts = append(t.Parts, Part{Text: w})
			}
		}
		turns = append(turns, t)
	}
	return turns
}

func TestCallsAndResultsAreBroughtTogether(t *testing.T) {
	const none = "[no result: interrupted]"
	for name, c := range map[string]struct{ in, want string }{
		"an orderly history stays as it is": {
			"U hi | A ok c:1 c:2 | U r:1=a r:2=b and? | A done", "U hi | A ok c:1 c:2 | U r:1=a r:2=b and? | A done",
		},
		"turns of one side in a row are one": {"U a | U b | A x | A y", "U a b | A x y"},
		"what the user says goes behind the results": {
			"U hi | A c:1 | U wait r:1=a", "U hi | A c:1 | U r:1=a wait",
		},
		"a late result is pulled up to its call": {
			"U hi | A c:1 | U wait | A sure | U r:1=a", "U hi | A c:1 | U r:1=a wait | A sure",
		},
		"text between a call and its result joins the turn, before the call": {
			"U hi | A c:1 | A text | U r:1=a", "U hi | A text c:1 | U r:1=a",
		},
		"reasoning behind a call keeps the order": {
			"U hi | A c:1 t:so text | U r:1=a", "U hi | A c:1 t:so text | U r:1=a",
		},
		"a result that never came is told as interrupted": {
			"U hi | A c:1 c:2 | U r:1=a stop", "U hi | A c:1 c:2 | U r:1=a r:2=" + none + " stop",
		},
		"a call at the very end gets one too": {"U hi | A c:1", "U hi | A c:1 | U r:1=" + none},
		"a call before another turn of the model's gets one between": {
			"U hi | A c:1 | S note | A go", "U hi | A c:1 | U r:1=" + none + " | S note | A go",
		},
		"a result behind what the system says is pulled up": {
			"U hi | A c:1 | S note | U r:1=a", "U hi | A c:1 | U r:1=a | S note",
		},
		"an id used again is paired within its round": {
			"U hi | A c:1 | U r:1=a | A c:1 | U r:1=b", "U hi | A c:1 | U r:1=a | A c:1 | U r:1=b",
		},
		"an id used again after an interruption goes to the later round": {
			"U hi | A c:1 | U stop | A c:1 | U r:1=b", "U hi | A c:1 | U r:1=" + none + " stop | A c:1 | U r:1=b",
		},
		"two calls of one id in a turn are answered in their order": {
			"U hi | A c:1 c:1 | U r:1=a r:1=b", "U hi | A c:1 c:1 | U r:1=a r:1=b",
		},
		"a second result of a call is left out": {
			"U hi | A c:1 | U r:1=a r:1=b", "U hi | A c:1 | U r:1=a",
		},
		"a result without a call becomes text": {
			"U hi | A ok | U r:9=a", "U hi | A ok | U [result of a tool call that is not in this conversation] a",
		},
		"a turn of late results alone is gone": {
			"U hi | A c:1 | U w | A x | U r:1=a | A y", "U hi | A c:1 | U r:1=a w | A x y",
		},
		"empty turns are left out": {"U hi | A | U there", "U hi there"},
	} {
		t.Run(name, func(t *testing.T) {
			in := drawn(c.in)
			if got := sketch(Pair(in)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(drawn(c.in), in); diff != "" {
				t.Errorf("the turns that are given stay as they are: %s", diff)
			}
		})
	}
}

func TestCallsOfOneIdAreToldApart(t *testing.T) {
	again := MakeID("call_", "again", "1", "1")
	for in, want := range map[string]string{
		"U hi | A c:1 | U r:1=a | A c:1 | U r:1=b": "U hi | A c:1 | U r:1=a | A c:" + again + " | U r:" + again + "=b",
		"U hi | A c:1 c:1 | U r:1=a r:1=b":         "U hi | A c:1 c:" + again + " | U r:1=a r:" + again + "=b",
		"U hi | A c:1 c:2 | U r:2=a r:1=b":         "U hi | A c:1 c:2 | U r:2=a r:1=b",
	} {
		turns := drawn(in)
		if got := sketch(PairApart(turns)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if diff := cmp.Diff(drawn(in), turns); diff != "" {
			t.Errorf("the turns that are given stay as they are: %s", diff)
		}
	}
}

func TestAResultTellsItsCall(t *testing.T) {
	turns := Pair(drawn("U hi | A c:1 | U r:1=a"))
	r := turns[2].Parts[0].Reply
	if r.Of == nil || r.Of.ID != "1" || r.Name != "tool" {
		t.Errorf("got %+v", r)
	}
}

// Whatever the history, afterwards all APIs take it: every call is answered once, in the
// turn right behind it and before anything else there.
func TestAnyHistoryComesOutPaired(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"hi", "c:1", "c:2", "r:1=a", "r:2=b", "r:3=c", "t:x"})
		var lines []string
		for i := range rapid.IntRange(0, 12).Draw(t, "turns") {
			line := rapid.SampledFrom([]string{"U", "A", "S"}).Draw(t, fmt.Sprint("role", i))
			for range rapid.IntRange(0, 4).Draw(t, "parts") {
				w := word.Draw(t, "part")
				if line[0] != 'A' && (w[0] == 'c' || w[0] == 't') || line[0] == 'A' && w[0] == 'r' {
					continue
				}
				line += " " + w
			}
			lines = append(lines, line)
		}
		in := drawn(strings.Join(lines, " | "))
		once := Pair(in)
		checkPaired(t, once)
		if a, b := sketch(once), sketch(Pair(once)); a != b {
			t.Fatalf("pairing twice changes nothing more:\n%s\n%s", a, b)
		}
	})
}

func checkPaired(t *rapid.T, turns []Turn) {
	for i, turn := range turns {
		if i > 0 && turn.Role == turns[i-1].Role && turn.Role != RoleSystem {
			t.Fatalf("two turns of one side in a row: %s", sketch(turns))
		}
		var calls, answers []string
		for _, p := range turn.Parts {
			if p.Kind == KindCall {
				calls = append(calls, p.Call.ID)
			}
			if p.Kind == KindResult && (i == 0 || turns[i-1].Role != RoleAssistant) {
				t.Fatalf("a result without a turn of calls before it: %s", sketch(turns))
			}
		}
		if len(calls) == 0 {
			continue
		}
		if i+1 == len(turns) || turns[i+1].Role != RoleUser {
			t.Fatalf("calls without a turn of results: %s", sketch(turns))
		}
		said := false
		for _, p := range turns[i+1].Parts {
			if p.Kind != KindResult {
				said = true
				continue
			}
			if said {
				t.Fatalf("a result behind something else: %s", sketch(turns))
			}
			answers = append(answers, p.Reply.ID)
		}
		if len(calls) != len(answers) {
			t.Fatalf("%d calls, %d results: %s", len(calls), len(answers), sketch(turns))
		}
	}
}

package standin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

func TestStepsReadAsTheyAreMeant(t *testing.T) {
	for line, want := range map[string]standin.Fault{
		"ok":                                    {},
		"429 rate retry-after=30":               {Do: standin.Refuse, Status: 429, Why: standin.WhyRate, Retry: 30 * time.Second},
		"429 quota words=codex resets=3h":       {Do: standin.Refuse, Status: 429, Why: standin.WhyQuota, Words: "codex", Resets: 3 * time.Hour},
		"402 credit":                            {Do: standin.Refuse, Status: 402, Why: standin.WhyCredit},
		"529":                                   {Do: standin.Refuse, Status: 529},
		"500 x3":                                {Do: standin.Refuse, Status: 500, Times: 3},
		"page 403":                              {Do: standin.Page, Status: 403},
		"page":                                  {Do: standin.Page, Status: 403},
		"empty 200":                             {Do: standin.Empty, Status: 200},
		"error-first overloaded":                {Do: standin.Error, Why: standin.WhyOverloaded, At: standin.AtHeaders},
		"error rate after=3":                    {Do: standin.Error, Why: standin.WhyRate, At: standin.AfterPieces, After: 3},
		"cut after=3":                           {Do: standin.Cut, At: standin.AfterPieces, After: 3},
		"cut after=end":                         {Do: standin.Cut, At: standin.AtEnd, After: 2},
		"rst after=2":                           {Do: standin.Reset, At: standin.AfterPieces, After: 2},
		"silence 20s":                           {Do: standin.Silence, At: standin.AtContent, Pause: 20 * time.Second},
		"silence forever after=headers":         {Do: standin.Silence, At: standin.AtHeaders, Pause: standin.UntilLeft},
		"refuse after-thinking":                 {Do: standin.Withhold, At: standin.AfterThink},
		"ok x*":                                 {Times: standin.Always},
		`ok text="a \"b\"\nc" model=m api=chat`: {Say: "a \"b\"\nc", When: standin.When{Model: "m", API: wire.Chat}},
		"ok usage=1200/1000/80 events=4":        {Usage: &standin.Usage{Input: 1200, Cached: 1000, Output: 80}, Events: 4},
		"ok huge=4MiB split=7/5ms":              {Huge: 4 << 20, Line: standin.Line{Split: 7, Pause: 5 * time.Millisecond}},
		"ok first=0.4s..2s gap=80ms":            {Pace: &standin.Pace{First: standin.Span{Min: 400 * time.Millisecond, Max: 2 * time.Second}, Gap: standin.Span{Min: 80 * time.Millisecond, Max: 80 * time.Millisecond}}},
		`ok call=read call="write={\"a\":1}"`:   {Calls: []standin.ToolCall{{Name: "read"}, {Name: "write", Args: `{"a":1}`}}},
		"ok windows=5h:91%/1h40m+0.8,7d:62%/3d": {Windows: []standin.Window{{Name: "5h", Used: 91, Resets: 100 * time.Minute, Grow: 0.8}, {Name: "7d", Used: 62, Resets: 72 * time.Hour}}},
		"429 retry-after=0.5":                   {Do: standin.Refuse, Status: 429, Retry: 500 * time.Millisecond},
	} {
		got, err := standin.Steps(line)
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestStepsThatCannotBeReadSayWhy(t *testing.T) {
	for line, want := range map[string]string{
		"nothing":             `no verb "nothing"`,
		"600":                 `no verb "600"`,
		"429 because":         `no reason "because"`,
		"ok colour=red":       `no mark "colour"`,
		"ok words=nobody":     `no words "nobody"`,
		"ok api=soap":         `no API "soap"`,
		"ok op=dance":         `no kind of request "dance"`,
		"silence":             "silence wants a time",
		"silence soon":        "invalid duration",
		"refuse tomorrow":     "at-once or after-thinking",
		"page soon":           `"soon" is no status`,
		"ok events=many":      `"many" is no number`,
		"ok usage=1":          "input/cached/output",
		"ok retry-after=soon": `"soon" is no time`,
		"ok header=alone":     "has no colon",
		"ok finish=never":     "none of [length]",
		`ok text="open`:       "a quote without its end",
		"cut after=-1":        `"-1" is no number`,
		"ok after=3":          "a verb that happens at a place",
		"refuse after=3":      "at-once or after-thinking",
	} {
		_, err := standin.Steps("# a comment", "", line)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "step ") {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestMustPanicsOnAMistake(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it didn't")
		}
	}()
	standin.Must("nonsense")
}

func TestEveryExampleOfTheReferenceReadsAndWritesItselfAgain(t *testing.T) {
	for _, example := range standin.Examples() {
		first, err := standin.Steps(example)
		if err != nil {
			t.Errorf("%s: %v", example, err)
			continue
		}
		again, err := standin.Steps(first[0].String())
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("%s became %s: %v\n%s", example, first[0], err, diff)
		}
	}
}

func TestAnyTwoMarksGoTogether(t *testing.T) {
	examples := standin.Examples()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom(examples).Draw(t, "step")
		for _, more := range rapid.SliceOfN(rapid.SampledFrom(examples), 0, 3).Draw(t, "marks") {
			if marks, ok := strings.CutPrefix(more, "ok "); ok {
				line += " " + marks
			}
		}
		first, err := standin.Steps(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		again, err := standin.Steps(first[0].String())
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Fatalf("%s became %s: %v\n%s", line, first[0], err, diff)
		}
	})
}

func TestAScriptFileHoldsStepsAndWindowsByKey(t *testing.T) {
	s, err := standin.ParseScript([]byte("Two keys.\n-- key work --\nwindows 5h:91%/1h40m 7d:62%\n429 rate retry-after=20\n# then\nok x*\n-- key * --\n529\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Steps["work"]) != 2 || len(s.Windows["work"]) != 2 || len(s.Steps[standin.AnyKey]) != 1 {
		t.Errorf("%+v", s)
	}
	for _, file := range []string{"-- file --\nok\n", "-- key a --\nnonsense\n", "-- key a --\nwindows x\n"} {
		if _, err := standin.ParseScript([]byte(file)); err == nil {
			t.Errorf("%q reads", file)
		}
	}
}

func TestPlansThatCannotBeReadSayWhy(t *testing.T) {
	for line, want := range map[string]string{
		"1s claude":                         "a time, an agent and a model",
		"soon claude m say=hi":              "no time",
		"1s clod m say=hi":                  "no agent",
		"1s claude m":                       "nothing is said",
		"1s claude m say=hi colour=red":     "no mark",
		"1s claude m say=hi pause=sometime": "no time",
	} {
		if _, err := standin.ParsePlan(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func FuzzSteps(f *testing.F) {
	for _, e := range standin.Examples() {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, line string) {
		first, err := standin.Steps(line)
		if err != nil {
			return
		}
		for _, one := range first {
			again, err := standin.Steps(one.String())
			if err != nil || len(again) != 1 || again[0].String() != one.String() {
				t.Errorf("%q became %q, then %v %v", line, one, again, err)
			}
		}
	})
}

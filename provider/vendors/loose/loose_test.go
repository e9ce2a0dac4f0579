package loose_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dev.magpie/provider/vendors/loose"
)

// One moment in every spelling that vendors use, and what is none.
func TestMoments(t *testing.T) {
	const want = "2026-03-04T11:00:00Z"
	for _, s := range []string{
		`"2026-03-04T11:00:00Z"`, `"2026-03-04T11:00:00.000000000Z"`, `"2026-03-04T19:00:00+08:00"`, `"2026-03-04T11:00:00"`, `"2026-03-04 11:00:00"`, `1772622000`, `"1772622000"`, `1772622000.0`, `1.772622e9`,
		`1772622000000`, `"1772622000000"`, `" 2026-03-04T11:00:00Z "`,
	} {
		var got loose.Time
		if err := json.Unmarshal([]byte(s), &got); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
	for _, s := range []string{
		`null`, `""`, `0`, `-1`, `true`, `"soon"`, `"NaN"`, `1e300`, `999999999999`, `9e14`, `"9999-12-31T00:00:00Z"`, `"1970-01-01T00:00:00Z"`, `"2026-13-45"`, `[]`, `{}`, `"` + strings.Repeat("9", 5000) + `"`,
	} {
		got := loose.Time{Time: time.Now()}
		if err := json.Unmarshal([]byte(s), &got); err != nil && s != "null" || !got.IsZero() && s != "null" {
			t.Errorf("%s is taken for %v", s, got)
		}
	}
}

func TestNumbersAndAnswers(t *testing.T) {
	for s, want := range map[string]loose.Number{
		`1`: {1, true}, `"1.5"`: {1.5, true}, `" 2 "`: {2, true}, `-3`: {-3, true}, `"1e3"`: {1000, true}, `1e400`: {}, `"NaN"`: {}, `"inf"`: {}, `""`: {}, `"12,5"`: {}, `true`: {}, `[]`: {}, `{}`: {},
	} {
		var got loose.Number
		if err := json.Unmarshal([]byte(s), &got); err != nil || got != want {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
	for s, want := range map[string]loose.Bool{
		`true`: {true, true}, `"true"`: {true, true}, `"False"`: {false, true}, `1`: {true, true}, `0`: {false, true}, `7`: {}, `"yes"`: {}, `[]`: {}, `{}`: {},
	} {
		var got loose.Bool
		if err := json.Unmarshal([]byte(s), &got); err != nil || got != want {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
}

func TestClip(t *testing.T) {
	for s, want := range map[string]string{"a\x1b[2J\nb ": "a[2J b", strings.Repeat("é", 50): strings.Repeat("é", 9) + "…", "\xff\xfex": "x", "": ""} {
		if got := loose.Clip(s, 10); got != want {
			t.Errorf("%.20q: %q", s, got)
		}
	}
}

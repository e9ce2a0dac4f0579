package canvas

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawn(w int, b Gauge) string {
	c := New(w, 1, Unicode())
	c.Bar(0, 0, w, b)
	return plain(c)
}

func TestBarsAreDrawnAsThePersonReadsThem(t *testing.T) {
	at := func(used, pace float64) Gauge { return Gauge{Used: used, Pace: pace, HasPace: true} }
	for _, c := range []struct {
		name string
		w    int
		b    Gauge
		want string
	}{
		{"half used, a little behind", 10, at(52, 55.3), "▰▰▰▰▰╎▱▱▱▱"},
		{"behind the clock", 10, at(31, 61), "▰▰▰▱▱▱╎▱▱▱"},
		{"nearly used up", 10, at(93, 86.3), "▰▰▰▰▰▰▰▰╎▱"},
		{"ahead of the clock", 10, at(74, 54.8), "▰▰▰▰▰╎▰▱▱▱"},
		{"all used", 10, at(100, 99), "▰▰▰▰▰▰▰▰▰▰"},
		{"more than all", 10, at(140, 50), "▰▰▰▰▰▰▰▰▰▰"},
		{"nothing used", 10, at(0, 20), "▱▱╎▱▱▱▱▱▱▱"},
		{"eight cells", 8, at(52, 55.3), "▰▰▰▰╎▱▱▱"},
		{"eight cells, ahead", 8, at(34, 22), "▰╎▰▱▱▱▱▱"},
		{"fourteen cells", 14, at(93, 86.3), "▰▰▰▰▰▰▰▰▰▰▰▰╎▱"},
		{"no pace", 10, Gauge{Used: 52}, "▰▰▰▰▰▱▱▱▱▱"},
		{"a trace is seen", 10, Gauge{Used: 0.1}, "▰▱▱▱▱▱▱▱▱▱"},
		{"nearly all is not all", 10, Gauge{Used: 99.9}, "▰▰▰▰▰▰▰▰▰▱"},
		{"the mark gives way to the only used cell", 10, at(3, 6), "▰╎▱▱▱▱▱▱▱▱"},
		{"the mark gives way to the only free cell", 10, at(97, 99), "▰▰▰▰▰▰▰▰╎▱"},
		{"a pace past the end", 10, at(50, 100), "▰▰▰▰▰▱▱▱▱╎"},
		{"three cells", 3, at(3, 6), "▰╎▱"},
		{"two cells have no room for a mark", 2, at(50, 50), "▰▱"},
		{"one cell would lie", 1, at(50, 50), ""},
		{"not a number", 4, Gauge{Used: math.NaN(), Pace: math.NaN(), HasPace: true}, "▱▱▱▱"},
	} {
		if got := drawn(c.w, c.b); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestABarIsNeverFullBeforeTheEndNorEmptyAfterTheStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(2, 40).Draw(t, "w")
		b := Gauge{
			Used:    rapid.Float64Range(0, 120).Draw(t, "used"),
			Pace:    rapid.Float64Range(0, 100).Draw(t, "pace"),
			HasPace: rapid.Bool().Draw(t, "has pace"),
		}
		got := drawn(w, b)
		if full := !strings.ContainsAny(got, "▱"); full != (b.Used >= 100) {
			t.Fatalf("%v: %s", b, got)
		}
		if empty := !strings.ContainsAny(got, "▰"); empty != (b.Used == 0) {
			t.Fatalf("%v: %s", b, got)
		}
		if strings.Count(got, "╎") > 1 || Width(got) != w {
			t.Fatalf("%v: %s", b, got)
		}
	})
}

func TestThePercentSaysAllOnlyOfAll(t *testing.T) {
	for used, want := range map[float64]string{0: "0%", 0.01: "1%", 52.4: "52%", 52.5: "53%", 99.6: "99%", 100: "100%", 130: "100%", -3: "0%"} {
		if got := (Gauge{Used: used}).Percent(); got != want {
			t.Errorf("%v: %s, want %s", used, got, want)
		}
	}
}

func TestAheadIsMoreThanFivePoints(t *testing.T) {
	for _, c := range []struct {
		b    Gauge
		want bool
	}{
		{Gauge{Used: 60, Pace: 55, HasPace: true}, false},
		{Gauge{Used: 60.1, Pace: 55, HasPace: true}, true},
		{Gauge{Used: 90, Pace: 5}, false},
		{Gauge{Used: 10, Pace: 50, HasPace: true}, false},
	} {
		if got := c.b.Ahead(); got != c.want {
			t.Errorf("%v: %v", c.b, got)
		}
	}
}

func TestUseBeyondThePaceHasItsOwnPen(t *testing.T) {
	c := New(10, 2, Unicode())
	c.Bar(0, 0, 10, Gauge{Used: 74, Pace: 54.8, HasPace: true})
	c.Bar(0, 1, 10, Gauge{Used: 58, Pace: 54.8, HasPace: true})
	want := "bar 5, pace 1, bar_over 1, bar_empty 3\nbar 5, pace 1, bar_empty 4\n"
	if got := c.PenRuns(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

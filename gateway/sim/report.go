package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Regret is how far an order stays behind the bound.
type Regret struct {
	Wasted float64 `json:"wasted"` // of the ended allowance
	Money  float64 `json:"money"`  // USD
	Cached float64 `json:"cached"` // of the input
	Late   int     `json:"late"`   // requests
}

// Regret is how far the result stays behind the bound.
func (r *Result) Regret(b Bound) Regret {
	return Regret{Wasted: r.Wasted() - b.Wasted, Money: r.Money - b.Money, Cached: b.Cached - r.Cached(), Late: r.Late() - b.Late}
}

// Told is a result as JSON tells it: with what follows from its figures.
type Told struct {
	Result
	Wasted float64 `json:"wasted"`
	Cached float64 `json:"cached"`
	Late   int     `json:"late"`
	Regret Regret  `json:"regret"`
}

// JSON is the report as `--json` prints it.
func (rep *Report) JSON() any {
	all := make([]Told, len(rep.Orders))
	for i := range rep.Orders {
		r := &rep.Orders[i]
		all[i] = Told{Result: *r, Wasted: r.Wasted(), Cached: r.Cached(), Late: r.Late(), Regret: r.Regret(rep.Bound)}
	}
	return map[string]any{"workload": rep.Workload, "days": rep.Days, "requests": rep.Requests, "bound": rep.Bound, "orders": all}
}

// Table is the report in 80 columns: of each figure what the order reached, and how far that
// is behind the bound.
func (rep *Report) Table() string {
	var b strings.Builder
	days := "a day"
	if rep.Days != 1 {
		days = strconv.Itoa(rep.Days) + " days"
	}
	fmt.Fprintf(&b, "%s\n%s requests in %s\n\n", rep.Workload, thousands(rep.Requests), days)
	line := func(cells ...string) {
		text := fmt.Sprintf("%-7s %6s %6s  %8s %7s  %6s %6s  %5s %6s  %6s", pad(cells)...)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	line("ORDER", "WASTED", "REGRET", "MONEY", "REGRET", "CACHED", "REGRET", "LATE", "REGRET", "MOVES")
	for i := range rep.Orders {
		r := &rep.Orders[i]
		g := r.Regret(rep.Bound)
		line(r.Order, percent(r.Wasted()), points(g.Wasted), money(r.Money), money(g.Money), percent(r.Cached()), points(g.Cached),
			thousands(r.Late()), thousands(g.Late), thousands(r.Moves))
	}
	line("bound", percent(rep.Bound.Wasted), "", money(rep.Bound.Money), "", percent(rep.Bound.Cached), "", thousands(rep.Bound.Late))
	return b.String()
}

func pad(cells []string) []any {
	all := make([]any, 10)
	for i := range all {
		all[i] = ""
		if i < len(cells) {
			all[i] = cells[i]
		}
	}
	return all
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + "%" }

func points(x float64) string { return strconv.FormatFloat(100*x+1e-9, 'f', 1, 64) }

func money(x float64) string { return "$" + strconv.FormatFloat(x+1e-9, 'f', 2, 64) }

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package words

import (
	"math"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
)

// Left says in one line what was read of an account: "5 hours 30%, 7 days 75% ($150 of $200), $50.00 left".
func Left(a *trace.Account) string {
	var parts []string
	for i := range a.Windows {
		w := &a.Windows[i]
		s := w.Name + " " + percent(w.Used)
		if w.Model != "" {
			s = w.Name + " of " + w.Model + " " + percent(w.Used)
		}
		if of := Amount(w); of != "" {
			s += " (" + of + ")"
		}
		if w.Endless {
			s = w.Name + ": " + NoLimit
		}
		parts = append(parts, s)
	}
	if a.Balance != "" {
		parts = append(parts, a.Balance+" left")
	}
	if len(parts) == 0 {
		return "it has no window and no balance"
	}
	return strings.Join(parts, ", ")
}

// NoLimit says that a window has no end.
const NoLimit = "no limit"

// Used is the share used of a window, where it has a limit.
func Used(w *trace.Window) string {
	if w.Endless {
		return NoLimit
	}
	return strconv.FormatFloat(w.Used, 'f', 0, 64) + "%"
}

// Amount is what a window counts, of what: "$150 of $200", "300 of 1,500"; "" of one that counts nothing.
func Amount(w *trace.Window) string {
	if w.Limit <= 0 {
		return ""
	}
	if w.Unit == "USD" {
		return usd(w.Amount) + " of " + usd(w.Limit)
	}
	s := amount(w.Amount) + " of " + amount(w.Limit)
	if w.Unit != "" {
		s += " " + w.Unit
	}
	return s
}

// usd writes dollars, and cents where there are any.
func usd(n float64) string {
	if whole := math.Round(n); math.Abs(n-whole) < 0.005 {
		return "$" + strconv.FormatFloat(whole, 'f', 0, 64)
	}
	return "$" + strconv.FormatFloat(n, 'f', 2, 64)
}

func amount(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) }

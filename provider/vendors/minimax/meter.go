// Package minimax reads what a key of a MiniMax token plan has left.
package minimax

import (
	"cmp"
	"errors"
	"math"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// general is the row whose use stops models; the others are of pictures and films.
const general = "general"

// Words of a row's status.
const (
	statusUsedUp    = 2
	statusUnlimited = 3
)

type row struct {
	Model       loose.Text   `json:"model_name"`
	Start       loose.Time   `json:"start_time"`
	End         loose.Time   `json:"end_time"`
	Left        loose.Number `json:"current_interval_remaining_percent"`
	Status      loose.Number `json:"current_interval_status"`
	Total       loose.Number `json:"current_interval_total_count"`
	Count       loose.Number `json:"current_interval_usage_count"`
	WeekStart   loose.Time   `json:"weekly_start_time"`
	WeekEnd     loose.Time   `json:"weekly_end_time"`
	WeekLeft    loose.Number `json:"current_weekly_remaining_percent"`
	WeekStatus  loose.Number `json:"current_weekly_status"`
	WeekTotal   loose.Number `json:"current_weekly_total_count"`
	WeekCounted loose.Number `json:"current_weekly_usage_count"`
}

type reply struct {
	Rows []row `json:"model_remains"`
	Base struct {
		Code loose.Number `json:"status_code"`
		Msg  loose.Text   `json:"status_msg"`
	} `json:"base_resp"`
}

// Parse reads a reply. A refused key is told with HTTP 200 and a code of its own.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("what remains of it is no JSON object")
	}
	if u.Base.Code.V != 0 {
		return provider.Reading{}, errors.New(cmp.Or(loose.Clip(string(u.Base.Msg), loose.Words), "what remains of it was refused"))
	}
	var r provider.Reading
	for i := range u.Rows {
		r.Windows = append(r.Windows, u.Rows[i].windows(at)...)
	}
	if len(r.Windows) == 0 {
		return provider.Reading{}, errors.New("its key has no token plan")
	}
	return r, nil
}

func (x *row) windows(at time.Time) []provider.Window {
	interval := share{x.Left, x.Status, x.Total, x.Count, x.Start.Time, x.End.Time}
	weekly := share{x.WeekLeft, x.WeekStatus, x.WeekTotal, x.WeekCounted, x.WeekStart.Time, x.WeekEnd.Time}
	if interval.unlimited() && weekly.unlimited() {
		return nil // not in the plan
	}
	var all []provider.Window
	for i, s := range []share{interval, weekly} {
		w, ok := s.window(at)
		if !ok {
			continue
		}
		if i == 1 {
			w.Span = 7 * 24 * time.Hour
		}
		w.Name = provider.SpanName(w.Span)
		if x.Model != general {
			w.Name, w.Aside = string(x.Model)+" · "+w.Name, true
		}
		all = append(all, w)
	}
	return all
}

// share is one window of a row.
type share struct {
	left, status, total, count loose.Number
	start, end                 time.Time
}

func (s share) unlimited() bool { return s.status.V == statusUnlimited }

func (s share) window(at time.Time) (provider.Window, bool) {
	w := provider.Window{Read: at, Resets: s.end}
	if !s.start.IsZero() && s.end.After(s.start) {
		w.Span = s.end.Sub(s.start)
	}
	switch {
	case s.unlimited():
		return w, false
	case s.status.V == statusUsedUp:
		w.Used = 100
	case s.left.Set:
		w.Used = loose.Percent(100 - s.left.V)
	default:
		return w, false
	}
	w.Amount, w.Limit = s.counted(w.Used)
	return w, true
}

// counted tells the count of a window. Vendors have meant what is left by what they call used:
// the reading that agrees with the percentage is taken, and none where neither does.
func (s share) counted(used float64) (amount, limit float64) {
	if s.total.V <= 0 || !s.count.Set {
		return 0, 0
	}
	for _, n := range []float64{s.count.V, s.total.V - s.count.V} {
		if n >= 0 && math.Abs(n/s.total.V*100-used) <= 1 {
			return n, s.total.V
		}
	}
	return 0, 0
}

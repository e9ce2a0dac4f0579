// Package glm reads what a key of a GLM Coding Plan has left.
package glm

import (
	"cmp"
	"errors"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Units of a limit's length.
const (
	unitHour  = 3
	unitMonth = 5
	unitWeek  = 6
)

type reply struct {
	Success loose.Bool `json:"success"`
	Msg     loose.Text `json:"msg"`
	Data    *struct {
		Level  loose.Text `json:"level"`
		Plan   loose.Text `json:"planName"`
		Limits []struct {
			Type       string       `json:"type"`
			Unit       loose.Number `json:"unit"`
			Number     loose.Number `json:"number"`
			Percentage loose.Number `json:"percentage"`
			Resets     loose.Time   `json:"nextResetTime"`
		} `json:"limits"`
	} `json:"data"`
}

// Parse reads a reply: windows of tokens, and the month's calls of tools, which stop no model.
// A key without a plan has an empty list.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u reply
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its quota is no JSON object")
	}
	if !u.Success.V || u.Data == nil {
		return provider.Reading{}, errors.New(cmp.Or(loose.Clip(string(u.Msg), loose.Words), "its quota tells nothing"))
	}
	r := provider.Reading{Plan: cmp.Or(string(u.Data.Level), string(u.Data.Plan))}
	for _, l := range u.Data.Limits {
		w := provider.Window{Used: loose.Percent(l.Percentage.V), Resets: l.Resets.Time, Read: at}
		switch {
		case !l.Percentage.Set:
			continue // what is not told is not unused
		case l.Type == "TIME_LIMIT":
			w.Name, w.Aside = "MCP · Month", true
		case l.Type != "TOKENS_LIMIT":
			continue
		case l.Unit.V == unitHour:
			w.Span = time.Duration(hours(l.Number.V)) * time.Hour
		case l.Unit.V == unitWeek:
			w.Span = 7 * 24 * time.Hour
		case l.Unit.V == unitMonth:
			w.Name = "Month"
		}
		w.Name = cmp.Or(w.Name, provider.SpanName(w.Span))
		r.Windows = append(r.Windows, w)
	}
	return r, nil
}

func hours(n float64) float64 {
	if n < 1 || n > 1e4 {
		return 5
	}
	return n
}

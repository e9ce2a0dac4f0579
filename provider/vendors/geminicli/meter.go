// Package geminicli reads what a Gemini CLI sign-in has left of each model.
package geminicli

import (
	"errors"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Parse reads a reply: a window for each model, which counts that model alone.
func Parse(body []byte, at time.Time) (provider.Reading, error) {
	var u struct {
		Buckets []struct {
			Model  loose.Text    `json:"modelId"`
			Left   *loose.Number `json:"remainingFraction"`
			Resets loose.Time    `json:"resetTime"`
		} `json:"buckets"`
	}
	if err := loose.Decode(body, &u); err != nil {
		return provider.Reading{}, errors.New("its quota is no JSON object")
	}
	var r provider.Reading
	for _, b := range u.Buckets {
		if b.Model == "" || strings.HasSuffix(string(b.Model), "_vertex") {
			continue
		}
		left := 0.0 // that is missing is nothing left
		if b.Left != nil {
			if left = b.Left.V; !b.Left.Set {
				continue // of one that can't be read nothing is known
			}
		}
		r.Windows = append(r.Windows, provider.Window{
			Name: string(b.Model), Model: strings.ToLower(string(b.Model)), Used: loose.Percent(100 * (1 - left)), Resets: b.Resets.Time, Read: at,
		})
	}
	return r, nil
}

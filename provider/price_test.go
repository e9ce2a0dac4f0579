package provider_test

import (
	"testing"

	"dev.magpie/provider"
)

func usd(f float64) *float64 { return &f }

func TestCost(t *testing.T) {
	claude := &provider.Price{Input: usd(3), Output: usd(15), CacheRead: usd(0.3), CacheWrite: usd(3.75)}
	stepped := &provider.Price{
		Input: usd(2), Output: usd(10), CacheRead: usd(0.1), CacheWrite: usd(2.5), Over: 272_000,
		Long: &provider.Price{Input: usd(4), Output: usd(15), CacheRead: usd(0.2), CacheWrite: usd(5)},
	}
	tests := []struct {
		name  string
		price *provider.Price
		rate  float64
		t     provider.Tokens
		usd   float64
		known bool
	}{
		{"input and output", claude, 1, provider.Tokens{Input: 1_000_000, Output: 100_000}, 4.5, true},
		{"input holds what was read and written", claude, 1, provider.Tokens{Input: 1_000_000, CacheRead: 800_000, CacheWrite: 100_000}, 0.3 + 0.24 + 0.375, true},
		{"an hour's write costs twice the input where no price is given", claude, 1, provider.Tokens{Input: 200_000, CacheWrite: 200_000, CacheWriteHour: 100_000}, 0.375 + 0.6, true},
		{"an hour's write at its price", &provider.Price{Input: usd(4), CacheWrite: usd(5), CacheWriteHour: usd(9)}, 1, provider.Tokens{Input: 1_000_000, CacheWrite: 1_000_000, CacheWriteHour: 1_000_000}, 9, true},
		{"the provider's rate multiplies", claude, 0.5, provider.Tokens{Input: 1_000_000}, 1.5, true},
		{"no rate is one", claude, 0, provider.Tokens{Input: 1_000_000}, 3, true},
		{"but not the person's own price", &provider.Price{Input: usd(3), Own: true}, 0.5, provider.Tokens{Input: 1_000_000}, 3, true},
		{"at the step the short price holds", stepped, 1, provider.Tokens{Input: 272_000, Output: 1_000_000}, 0.544 + 10, true},
		{"one token above it the long one, for every part", stepped, 1, provider.Tokens{Input: 272_001, Output: 1_000_000, CacheRead: 272_000}, 0.000004 + 15 + 0.0544, true},
		{"a price of nothing is known", &provider.Price{Input: usd(0), Output: usd(0)}, 1, provider.Tokens{Input: 5, Output: 5}, 0, true},
		{"no price", nil, 1, provider.Tokens{Input: 5}, 0, false},
		{"a part without a price that was used", &provider.Price{Input: usd(1), Output: usd(1)}, 1, provider.Tokens{Input: 5, CacheRead: 1}, 0, false},
		{"a part without a price that was not", &provider.Price{Input: usd(1)}, 1, provider.Tokens{Input: 1_000_000}, 1, true},
		{"more cached than there was input costs what was cached", claude, 1, provider.Tokens{Input: 10, CacheRead: 1_000_000}, 0.3, true},
		{"nothing used", claude, 1, provider.Tokens{}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, known := provider.Cost(provider.Model{Price: tt.price}, tt.rate, tt.t)
			if known != tt.known || !near(got, tt.usd) {
				t.Errorf("%v %v, want %v %v", got, known, tt.usd, tt.known)
			}
		})
	}
}

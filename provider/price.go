package provider

// Tokens is what one request used. Input holds cache read and written as well, and
// CacheWrite what was written to be kept an hour.
type Tokens struct {
	Input          int64
	Output         int64 // with reasoning
	CacheRead      int64
	CacheWrite     int64
	CacheWriteHour int64
}

// Cost estimates what a request costs in USD at list prices times the provider's rate. It is
// unknown when the price of any part that was used is; a price of nothing is known.
func Cost(m Model, rate float64, t Tokens) (usd float64, known bool) {
	if m.Price == nil {
		return 0, false
	}
	price := m.Price.at(t.Input)
	if m.Price.Own || rate <= 0 {
		rate = 1
	}
	short := max(0, t.CacheWrite-t.CacheWriteHour)
	parts := []struct {
		tokens int64
		price  *float64
	}{
		{max(0, t.Input-t.CacheRead-t.CacheWrite), price.Input},
		{t.Output, price.Output},
		{t.CacheRead, price.CacheRead},
		{short, price.CacheWrite},
		{t.CacheWriteHour, price.hour()},
	}
	for _, p := range parts {
		if p.tokens <= 0 {
			continue
		}
		if p.price == nil {
			return 0, false
		}
		usd += float64(p.tokens) * *p.price
	}
	return usd * rate / 1e6, true
}

// at returns the price of a request of so many input tokens.
func (p *Price) at(input int64) *Price {
	if p.Long != nil && p.Over > 0 && input > p.Over {
		return p.Long
	}
	return p
}

// hour is the price of what is written to be kept an hour: twice the input's where a vendor
// that prices writes at all does not give it.
func (p *Price) hour() *float64 {
	switch {
	case p.CacheWriteHour != nil:
		return p.CacheWriteHour
	case p.CacheWrite == nil || p.Input == nil:
		return nil
	}
	twice := 2 * *p.Input
	return &twice
}

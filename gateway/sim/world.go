package sim

import (
	"math"
	"time"

	"dev.magpie/provider"
)

// warmFor is how long a vendor keeps a prefix that nobody reads.
const warmFor = 5 * time.Minute

// grain is how finely weighted tokens and money are counted: whole numbers add up the same
// in any order.
const grain = 1000

// cost is what each kind of token costs, in thousandths of a weighted token, or of a
// millionth of a dollar.
type cost struct{ input, read, output int64 }

func costOf(input, read, output float64) cost {
	return cost{int64(math.Round(input * grain)), int64(math.Round(read * grain)), int64(math.Round(output * grain))}
}

// of is what a request costs that reads so many tokens from a cache.
func (c cost) of(r *Request, read int64) int64 {
	return read*c.read + (r.Input-read)*c.input + r.Output*c.output
}

// vendor is one account or key as its vendor keeps it.
type vendor struct {
	id      provider.AccountID
	windows []window
	money   bool // billed by the token
	price   cost
	fails   []Fail
	cache   map[int]prefix // by conversation
}

// window is one allowance window of an account.
type window struct {
	Window
	budget bool  // it is the account's budget
	limit  int64 // in thousandths of a weighted token
	used   int64
	ends   time.Duration // of the period that runs, 0 = none does

	useful int64 // of used, what a warm cache would not have saved
	left   int64 // what the period had left when it began, or at the start
}

// prefix is what a vendor has cached of a conversation.
type prefix struct {
	tokens int64
	at     time.Duration // when it was written or read last
}

// period is a period of a budget that ended.
type period struct {
	left         int64 // when it began, or at the start
	used, useful int64 // since then
}

// answer is what a vendor says to a request.
type answer struct {
	status int
	until  time.Duration // of a 429 for want of allowance: when there is some again
	read   int64         // tokens read from the cache
	spent  int64         // weighted tokens or money
}

// renew ends windows whose time has come, and tells of each period that ended.
func (v *vendor) renew(now time.Duration, end func(period)) {
	for i := range v.windows {
		w := &v.windows[i]
		if w.ends > 0 && now >= w.ends {
			if w.budget {
				end(w.period())
			}
			w.used, w.useful, w.left, w.ends = 0, 0, w.limit, 0
		}
	}
}

func (w *window) period() period {
	return period{left: w.left, used: w.used - (w.limit - w.left), useful: w.useful}
}

// warm is how many tokens of the request the vendor would read from its cache.
func (v *vendor) warm(r *Request, now time.Duration) int64 {
	p, ok := v.cache[r.Conv]
	if !ok || now-p.at > warmFor {
		return 0
	}
	return min(p.tokens, r.Shared)
}

// ask sends a request. least is what it would cost with the warmest of caches.
func (v *vendor) ask(r *Request, now time.Duration, weight cost, least int64) answer {
	for _, f := range v.fails {
		if now >= f.At.d() && now < f.At.d()+f.For.d() {
			return answer{status: f.Status}
		}
	}
	read := v.warm(r, now)
	a := answer{status: 200, read: read}
	if v.money {
		a.spent = v.price.of(r, read)
	} else {
		a.spent = weight.of(r, read)
		if full := v.full(a.spent, now); full > 0 {
			return answer{status: 429, until: full}
		}
	}
	for i := range v.windows {
		w := &v.windows[i]
		if w.ends == 0 {
			w.ends = now + w.Span.d()
		}
		w.used += a.spent
		w.useful += least
	}
	v.cache[r.Conv] = prefix{tokens: r.Input + r.Output, at: now}
	return a
}

// full is when the last window has room again that has none for so much; 0 = all have. What
// does not fit into a whole window never does.
func (v *vendor) full(spent int64, now time.Duration) time.Duration {
	var until time.Duration
	for i := range v.windows {
		w := &v.windows[i]
		switch {
		case w.used+spent <= w.limit:
		case w.ends > 0:
			until = max(until, w.ends)
		default:
			until = max(until, now+w.Span.d())
		}
	}
	return until
}

// read is what the vendor tells of its windows.
func (v *vendor) read(start time.Time, now time.Duration, to []provider.Window) []provider.Window {
	to = to[:0]
	for i := range v.windows {
		w := &v.windows[i]
		p := provider.Window{Name: w.Name, Span: w.Span.d(), Used: 100 * float64(w.used) / float64(w.limit), Read: start.Add(now)}
		if w.ends > 0 {
			p.Resets = start.Add(w.ends)
		}
		to = append(to, p)
	}
	return to
}

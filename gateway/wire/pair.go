package wire

import (
	"slices"
	"strconv"
)

// lostResult stands for a result that never came: all APIs refuse a call without one.
const lostResult = "[no result: interrupted]"

// Pair sets a history in the order that all APIs take: turns of one side in a row are one
// turn, every assistant's turn with calls is followed by a user's turn that begins with
// all results of them. A late result is pulled up to its call, one that never came is
// told as interrupted, a second one of a call is left out, and one whose call is not there
// becomes text. A result's Of and Name tell its call. The turns that are given stay as they are.
func Pair(turns []Turn) []Turn { return pair(turns, false) }

// PairApart is Pair for an API that refuses two calls of one id: a later one gets an id of its
// own, and so does its result.
func PairApart(turns []Turn) []Turn { return pair(turns, true) }

func pair(turns []Turn, apart bool) []Turn {
	p := pairing{turns: make([]Turn, 0, len(turns)+1)}
	for _, t := range turns {
		if len(t.Parts) > 0 {
			p.turns = joinTurn(p.turns, t)
		}
	}
	p.match()
	if apart {
		p.apart()
	}
	if len(p.calls) == 0 && len(p.fate) == 0 {
		return p.turns
	}
	return p.lay()
}

// pairing is a history while its calls and results are brought together.
type pairing struct {
	turns []Turn
	calls []openCall
	byID  map[string][]int // of calls, in the order in which they were made
	fate  map[place]int    // of results: the call that it answers, or one of the below
}

// openCall is a call and the result that was found for it.
type openCall struct {
	turn   int
	part   int
	call   *Call
	result *Result
	cache  *Cache
}

// place is where a part stands.
type place struct{ turn, part int }

const (
	orphan = -1 // a result whose call is not in the history
	second = -2 // a further result of a call that has one
)

// match walks once through the history and finds each result's call.
func (p *pairing) match() {
	p.byID, p.fate = map[string][]int{}, map[place]int{}
	for i := range p.turns {
		for j := range p.turns[i].Parts {
			part := &p.turns[i].Parts[j]
			switch {
			case part.Kind == KindCall && part.Call != nil:
				p.byID[part.Call.ID] = append(p.byID[part.Call.ID], len(p.calls))
				p.calls = append(p.calls, openCall{turn: i, part: j, call: part.Call})
			case part.Kind == KindResult && part.Reply != nil:
				p.fate[place{i, j}] = p.find(part)
			}
		}
	}
}

// find gives a result to the latest round that has a call of its id without one, and in
// that round to the first such call.
func (p *pairing) find(part *Part) int {
	same := p.byID[part.Reply.ID]
	if len(same) == 0 {
		return orphan
	}
	best := second
	for k := len(same) - 1; k >= 0; k-- {
		c := &p.calls[same[k]]
		if best >= 0 && c.turn != p.calls[best].turn {
			break
		}
		if c.result == nil {
			best = same[k]
		}
	}
	if best < 0 {
		return second
	}
	r := *part.Reply
	r.Of = p.calls[best].call
	if r.Name == "" {
		r.Name = r.Of.Name
	}
	p.calls[best].result, p.calls[best].cache = &r, part.Cache
	return best
}

// apart gives calls that have an id together ids of their own, by their number: the same history
// has the same ids.
func (p *pairing) apart() {
	mine := map[int]bool{} // turns whose parts are copies by now
	for id, same := range p.byID {
		for n, k := range same {
			if n == 0 || id == "" {
				continue
			}
			c := &p.calls[k]
			call := *c.call
			call.ID = MakeID("call_", "again", id, strconv.Itoa(n))
			c.call = &call
			if c.result != nil {
				c.result.ID, c.result.Of = call.ID, &call
			}
			if !mine[c.turn] {
				mine[c.turn], p.turns[c.turn].Parts = true, slices.Clone(p.turns[c.turn].Parts)
			}
			p.turns[c.turn].Parts[c.part].Call = &call
		}
	}
}

// lay writes the turns in their new order.
func (p *pairing) lay() []Turn {
	out := make([]Turn, 0, len(p.turns)+2)
	order := p.arrivals()
	at := 0
	for i, t := range p.turns {
		rest := p.rest(i)
		first := at
		for at < len(p.calls) && p.calls[at].turn == i {
			at++
		}
		if at == first {
			if len(rest) > 0 {
				out = joinTurn(out, Turn{Role: t.Role, Parts: rest})
			}
			continue
		}
		out = joinTurn(out, Turn{Role: t.Role, Parts: textFirst(rest)})
		out = append(out, Turn{Role: RoleUser, Parts: p.results(first, at, order[i])})
	}
	return out
}

// arrivals lists, for each turn with calls, those that were answered in the order of their results.
func (p *pairing) arrivals() map[int][]int {
	order := map[int][]int{}
	for i := range p.turns {
		for j := range p.turns[i].Parts {
			if c, ok := p.fate[place{i, j}]; ok && c >= 0 {
				order[p.calls[c].turn] = append(order[p.calls[c].turn], c)
			}
		}
	}
	return order
}

// results are those of one turn's calls: as they came, then those that never did.
func (p *pairing) results(first, end int, answered []int) []Part {
	parts := make([]Part, 0, end-first)
	for _, c := range answered {
		parts = append(parts, Part{Kind: KindResult, Reply: p.calls[c].result, Cache: p.calls[c].cache})
	}
	for c := first; c < end; c++ {
		if p.calls[c].result != nil {
			continue
		}
		call := p.calls[c].call
		parts = append(parts, Part{Kind: KindResult, Reply: &Result{
			ID: call.ID, Name: call.Name, Of: call, Error: true,
			Parts: []Part{{Kind: KindText, Text: lostResult}},
		}})
	}
	return parts
}

// rest is what a turn says besides results that found their call.
func (p *pairing) rest(turn int) []Part {
	parts := p.turns[turn].Parts
	results := false
	for j := range parts {
		results = results || parts[j].Kind == KindResult
	}
	if !results {
		return parts
	}
	out := make([]Part, 0, len(parts))
	for j := range parts {
		fate, ok := p.fate[place{turn, j}]
		switch {
		case !ok:
			out = append(out, parts[j])
		case fate == orphan:
			out = append(out, told(parts[j].Reply)...)
		}
	}
	return out
}

// told makes of a result without a call something that the user says.
func told(r *Result) []Part {
	head := "[result of a tool call that is not in this conversation]"
	if r.Name != "" {
		head = "[result of a call of " + r.Name + " that is not in this conversation]"
	}
	out := make([]Part, 0, len(r.Parts)+1)
	out = append(out, Part{Kind: KindText, Text: head})
	return append(out, r.Parts...)
}

// textFirst puts what was said behind a call before the first one, where all APIs take
// it. A turn with reasoning behind a call stays as it is: its seal may cover the order.
func textFirst(parts []Part) []Part {
	first, late := -1, false
	for i := range parts {
		switch {
		case parts[i].Kind == KindCall && first < 0:
			first = i
		case first >= 0 && parts[i].Kind == KindThinking:
			return parts
		case first >= 0 && parts[i].Kind != KindCall:
			late = true
		}
	}
	if !late {
		return parts
	}
	out := append(make([]Part, 0, len(parts)), parts[:first]...)
	for _, p := range parts[first:] {
		if p.Kind != KindCall {
			out = append(out, p)
		}
	}
	for _, p := range parts[first:] {
		if p.Kind == KindCall {
			out = append(out, p)
		}
	}
	return out
}

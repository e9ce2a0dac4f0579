package wire

// A body that goes on as it came may have to be changed in a place or two: these change it
// in its bytes. All but what is named stays as it is, down to the blanks. A path leads to
// the place by the keys of objects; "*" stands for every element of an array. Where a path
// leads nowhere, and in what is no JSON, nothing is changed, and the very same slice comes back.

// change is one walk over a body.
type change struct {
	c    cursor
	out  []byte
	from int // what was not taken over into out yet
}

// rewrite has do called at each value that path leads to.
func rewrite(body []byte, path []string, do func(*change)) []byte {
	e := change{c: cursor{b: body}}
	e.walk(path, do)
	if e.c.finish() != nil || e.out == nil {
		return body
	}
	return append(e.out, body[e.from:]...)
}

func (e *change) walk(path []string, do func(*change)) {
	switch {
	case len(path) == 0:
		do(e)
	case path[0] == "*":
		if e.c.peek() == '[' {
			e.c.array(func(int) { e.walk(path[1:], do) })
		}
	case e.c.peek() == '{':
		e.c.object(func(key []byte) {
			if string(key) == path[0] {
				e.walk(path[1:], do)
			}
		})
	}
}

// put puts something else in the place of a piece of the body.
func (e *change) put(at span, with []byte) {
	if e.out == nil {
		e.out = make([]byte, 0, len(e.c.b)+len(with))
	}
	e.out = append(append(e.out, e.c.b[e.from:at.start]...), with...)
	e.from = at.end
}

// piece is a member or an element, and whether it goes.
type piece struct {
	span
	goes bool
}

// cut takes the pieces of one object or array out that go, each with a comma of its.
func (e *change) cut(pieces []piece) {
	kept := -1 // where the last that stays ends
	for i := 0; i < len(pieces); i++ {
		if !pieces[i].goes {
			kept = pieces[i].end
			continue
		}
		from := i
		for i+1 < len(pieces) && pieces[i+1].goes {
			i++
		}
		switch {
		case kept >= 0:
			e.put(span{kept, pieces[i].end}, nil)
		case i+1 < len(pieces):
			e.put(span{pieces[from].start, pieces[i+1].start}, nil)
		default:
			e.put(span{pieces[from].start, pieces[i].end}, nil)
		}
	}
}

// members walks the object at the cursor: each member's place, its key's first.
func (e *change) members(each func(key string, at span, v Value)) {
	if e.c.peek() != '{' {
		return
	}
	e.c.object(func(key []byte) {
		start, from := cap(e.c.b)-cap(key)-1, e.c.i // key is a piece of b, behind its quote
		e.c.skip()
		if e.c.err == nil {
			each(knownKey(key), span{start, e.c.i}, Value(e.c.b[from:e.c.i]))
		}
	})
}

// Cut takes members out of the objects that path leads to: those for which drop says so.
func Cut(body []byte, drop func(key string, v Value) bool, path ...string) []byte {
	return rewrite(body, path, func(e *change) {
		var all []piece
		e.members(func(key string, at span, v Value) { all = append(all, piece{at, drop(key, v)}) })
		e.cut(all)
	})
}

// Weed takes elements out of the arrays that path leads to: those for which drop says so.
func Weed(body []byte, drop func(v Value) bool, path ...string) []byte {
	return rewrite(body, path, func(e *change) {
		if e.c.peek() != '[' {
			return
		}
		var all []piece
		e.c.array(func(int) {
			from := e.c.i
			e.c.skip()
			if e.c.err == nil {
				all = append(all, piece{span{from, e.c.i}, drop(Value(e.c.b[from:e.c.i]))})
			}
		})
		e.cut(all)
	})
}

// Put sets a member of the objects that path leads to; where there is none it comes last.
func Put(body []byte, key string, value []byte, path ...string) []byte {
	return rewrite(body, path, func(e *change) {
		if e.c.peek() != '{' {
			return
		}
		last, found := span{e.c.i + 1, e.c.i + 1}, false
		none := last
		e.members(func(k string, at span, v Value) {
			if k == key {
				found = true
				e.put(span{at.end - len(v), at.end}, value)
			}
			last = span{at.end, at.end}
		})
		if found || e.c.err != nil {
			return
		}
		with := append(append(Quote(key), ':'), value...)
		if last != none {
			with = append([]byte{','}, with...)
		}
		e.put(last, with)
	})
}

// Swap puts another value in the place of each that path leads to; nil leaves it.
func Swap(body []byte, with func(v Value) []byte, path ...string) []byte {
	return rewrite(body, path, func(e *change) {
		e.c.space()
		from := e.c.i
		e.c.skip()
		if e.c.err != nil {
			return
		}
		if b := with(Value(e.c.b[from:e.c.i])); b != nil {
			e.put(span{from, e.c.i}, b)
		}
	})
}

// At is the value that path leads to in a body, nothing where it leads nowhere. "*" is the
// first element that has the rest.
func (v Value) At(path ...string) Value {
	for i, key := range path {
		if key != "*" {
			v = v.Get(key)
			continue
		}
		var got Value
		v.Elements(func(e Value) {
			if got.None() {
				got = e.At(path[i+1:]...)
			}
		})
		return got
	}
	return v
}

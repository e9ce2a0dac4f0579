package trace

// entry is one value at its place in the order of change.
type entry[K comparable, V any] struct {
	key        K
	seq        uint64
	value      V
	prev, next *entry[K, V]
}

// shelf holds the newest value of each key, ordered by their last change. Its lock is
// the bus's.
type shelf[K comparable, V any] struct {
	at         map[K]*entry[K, V]
	head, tail *entry[K, V]
	spare      *entry[K, V]
}

// put finds or makes a key's entry, gives it a number and moves it behind all others.
func (s *shelf[K, V]) put(key K, seq uint64) (e *entry[K, V], fresh bool) {
	e = s.at[key]
	if e == nil {
		e, fresh = s.blank(), true
		e.key = key
		if s.at == nil {
			s.at = map[K]*entry[K, V]{}
		}
		s.at[key] = e
	} else {
		s.unlink(e)
	}
	e.seq = seq
	e.prev, e.next = s.tail, nil
	if s.tail != nil {
		s.tail.next = e
	} else {
		s.head = e
	}
	s.tail = e
	return e, fresh
}

func (s *shelf[K, V]) blank() *entry[K, V] {
	if e := s.spare; e != nil {
		s.spare = e.next
		e.next = nil
		return e
	}
	return &entry[K, V]{}
}

// drop takes a key out; its entry is the caller's until reuse.
func (s *shelf[K, V]) drop(key K) *entry[K, V] {
	e := s.at[key]
	delete(s.at, key)
	s.unlink(e)
	return e
}

// reuse keeps a dropped entry for the next new key.
func (s *shelf[K, V]) reuse(e *entry[K, V]) {
	*e = entry[K, V]{next: s.spare}
	s.spare = e
}

func (s *shelf[K, V]) unlink(e *entry[K, V]) {
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		s.head = e.next
	}
	if e.next != nil {
		e.next.prev = e.prev
	} else {
		s.tail = e.prev
	}
	e.prev, e.next = nil, nil
}

// after finds the first entry changed after seq, and how many there are.
func (s *shelf[K, V]) after(seq uint64) (first *entry[K, V], n int) {
	for e := s.tail; e != nil && e.seq > seq; e = e.prev {
		first = e
		n++
	}
	return first, n
}

// since copies all values changed after seq.
func (s *shelf[K, V]) since(seq uint64) []V {
	e, n := s.after(seq)
	if n == 0 {
		return nil
	}
	out := make([]V, 0, n)
	for ; e != nil; e = e.next {
		out = append(out, e.value)
	}
	return out
}

// queue is a first-in, first-out list of ids that does not allocate once it has grown.
type queue struct {
	ids  []int64
	from int
	n    int
}

func (q *queue) push(id int64) {
	if q.n == len(q.ids) {
		grown := make([]int64, max(64, 2*q.n))
		for i := range q.n {
			grown[i] = q.ids[(q.from+i)%q.n]
		}
		q.ids, q.from = grown, 0
	}
	q.ids[(q.from+q.n)%len(q.ids)] = id
	q.n++
}

func (q *queue) pop() int64 {
	id := q.ids[q.from]
	q.from = (q.from + 1) % len(q.ids)
	q.n--
	return id
}

// ring holds the newest log lines.
type ring struct {
	size  int
	lines []line
	n     uint64 // lines ever pushed
}

type line struct {
	seq uint64
	log Log
}

func (r *ring) push(l Log, seq uint64) {
	if len(r.lines) < r.size {
		r.lines = append(r.lines, line{seq, l})
	} else {
		r.lines[r.n%uint64(r.size)] = line{seq, l}
	}
	r.n++
}

// after copies the lines that were pushed as number n (from 0) and later, as far as they are kept.
func (r *ring) after(n uint64) []Log {
	n = max(n, r.n-uint64(len(r.lines)))
	if n >= r.n {
		return nil
	}
	out := make([]Log, 0, r.n-n)
	for ; n < r.n; n++ {
		out = append(out, r.lines[n%uint64(r.size)].log)
	}
	return out
}

// before counts the lines that were pushed up to seq.
func (r *ring) before(seq uint64) uint64 {
	n := r.n
	for kept := len(r.lines); kept > 0 && r.lines[(n-1)%uint64(r.size)].seq > seq; kept-- {
		n--
	}
	return n
}

package sim

// flow is a network of pipes from a source (node 0) to a sink (node 1), whose greatest flow
// is found by Dinic's way. Pipes from the source may be added after some of it flows: what
// flows already from others stays.
type flow struct {
	first []int // by node: its first pipe, -1 = none
	pipes []pipe
	level []int
	next  []int
}

// pipe leads to a node; the one at its number with the last bit turned leads back.
type pipe struct {
	to, after int
	room      int64
}

const (
	source = 0
	sink   = 1
	ample  = int64(1) << 60
)

func newFlow() *flow { return &flow{first: []int{-1, -1}} }

// node adds a node; they are numbered from 2.
func (f *flow) node() { f.first = append(f.first, -1) }

// pipe adds a pipe.
func (f *flow) pipe(from, to int, room int64) {
	f.pipes = append(f.pipes, pipe{to: to, after: f.first[from], room: room})
	f.first[from] = len(f.pipes) - 1
	f.pipes = append(f.pipes, pipe{to: from, after: f.first[to]})
	f.first[to] = len(f.pipes) - 1
}

// more lets flow what still can and returns how much that is.
func (f *flow) more() int64 {
	var sum int64
	for f.reach() {
		f.next = append(f.next[:0], f.first...)
		for {
			got := f.push(source, ample)
			if got == 0 {
				break
			}
			sum += got
		}
	}
	return sum
}

// reach levels the nodes by how far they are from the source; false when the sink is cut off.
func (f *flow) reach() bool {
	f.level = f.level[:0]
	for range f.first {
		f.level = append(f.level, -1)
	}
	f.level[source] = 0
	queue := []int{source}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for i := f.first[n]; i >= 0; i = f.pipes[i].after {
			if p := &f.pipes[i]; p.room > 0 && f.level[p.to] < 0 {
				f.level[p.to] = f.level[n] + 1
				queue = append(queue, p.to)
			}
		}
	}
	return f.level[sink] >= 0
}

func (f *flow) push(n int, most int64) int64 {
	if n == sink {
		return most
	}
	for ; f.next[n] >= 0; f.next[n] = f.pipes[f.next[n]].after {
		i := f.next[n]
		p := &f.pipes[i]
		if p.room <= 0 || f.level[p.to] != f.level[n]+1 {
			continue
		}
		if got := f.push(p.to, min(most, p.room)); got > 0 {
			f.pipes[i].room -= got
			f.pipes[i^1].room += got
			return got
		}
	}
	return 0
}

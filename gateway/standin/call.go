package standin

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"dev.magpie/gateway/wire"
)

// Call is one request as it reached the vendor.
type Call struct {
	N        int // from 1
	At       time.Time
	Method   string
	Path     string // as it came, escapes kept
	RawQuery string
	Header   http.Header
	Body     []byte // as it came
	Remote   string
	Key      string // the key that it carried, "" for none
	API      wire.Protocol
	Op       Op
	Model    string
	Stream   bool     // a streamed reply was asked for
	Step     string   // the script's step that answered it, "" for the default
	Refused  string   // what the vendor's own strictness told it, "" for nothing
	Leaks    []string // what should never have arrived
	Status   int      // the reply's status, 0 before there is one

	ended, left chan struct{}
}

// Done is closed when the vendor is through with the request.
func (c Call) Done() <-chan struct{} { return c.ended }

// Cancelled is closed when the client left before the reply was over.
func (c Call) Cancelled() <-chan struct{} { return c.left }

// bodyLimit bounds what is read of a request, a little above what any gateway lets in.
const bodyLimit = 96 << 20

// entry is a call that is still being written to.
type entry struct {
	mu      sync.Mutex
	call    Call
	readErr error
	once    sync.Once
}

// note changes the call under its lock.
func (e *entry) note(change func(*Call)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.call)
}

// read is the call as it stands.
func (e *entry) read() Call {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.call
	c.Leaks = slices.Clone(c.Leaks)
	return c
}

// end marks the call as over, and as left by the client if that is how it ended.
func (e *entry) end(left bool) {
	e.once.Do(func() {
		if left {
			close(e.call.left)
		}
		close(e.call.ended)
	})
}

// callLog remembers requests in the order in which they came.
type callLog struct {
	keep int

	mu    sync.Mutex
	n     int
	kept  []*entry
	grown chan struct{} // closed when a call is added; nil when nobody waits
}

// open reads a request and records it.
func (l *callLog) open(r *http.Request) *entry {
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	e := &entry{readErr: err, call: Call{
		At:       time.Now(),
		Method:   r.Method,
		Path:     r.URL.EscapedPath(),
		RawQuery: r.URL.RawQuery,
		Header:   r.Header.Clone(),
		Body:     body,
		Remote:   r.RemoteAddr,
		ended:    make(chan struct{}),
		left:     make(chan struct{}),
	}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	e.call.N = l.n
	l.kept = append(l.kept, e)
	switch {
	case l.keep < 0:
		l.kept = nil
	case l.keep > 0 && len(l.kept) > l.keep:
		l.kept = slices.Delete(l.kept, 0, len(l.kept)-l.keep)
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	return e
}

// Calls lists the remembered requests in the order in which they came, as they stand now.
func (v *Vendor) Calls() []Call {
	v.log.mu.Lock()
	kept := slices.Clone(v.log.kept)
	v.log.mu.Unlock()
	calls := make([]Call, len(kept))
	for i, e := range kept {
		calls[i] = e.read()
	}
	return calls
}

// CallsOf lists the remembered requests that carried the key.
func (v *Vendor) CallsOf(key string) []Call {
	return slices.DeleteFunc(v.Calls(), func(c Call) bool { return c.Key != key })
}

// Leaks lists the remembered requests that brought what should never have arrived.
func (v *Vendor) Leaks() []Call {
	return slices.DeleteFunc(v.Calls(), func(c Call) bool { return len(c.Leaks) == 0 })
}

// Refusals lists the remembered requests that the vendor's own strictness turned away.
func (v *Vendor) Refusals() []Call {
	return slices.DeleteFunc(v.Calls(), func(c Call) bool { return c.Refused == "" })
}

// Forget drops the remembered requests; their numbers run on.
func (v *Vendor) Forget() {
	v.log.mu.Lock()
	defer v.log.mu.Unlock()
	v.log.kept = nil
}

// WaitCall waits for the n-th request, counted from 1, and returns it as it stands
// on arrival. A request that has been forgotten is returned with its number alone.
func (v *Vendor) WaitCall(ctx context.Context, n int) (Call, error) {
	for {
		v.log.mu.Lock()
		if v.log.n >= n {
			defer v.log.mu.Unlock()
			for _, e := range v.log.kept {
				if c := e.read(); c.N == n {
					return c, nil
				}
			}
			return Call{N: n}, nil
		}
		if v.log.grown == nil {
			v.log.grown = make(chan struct{})
		}
		grown := v.log.grown
		v.log.mu.Unlock()
		select {
		case <-grown:
		case <-ctx.Done():
			return Call{}, ctx.Err()
		}
	}
}

package bridge

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/claude"
)

// Why a run is ended.
var (
	errMadeWay = errors.New("the run made way for another")
	errIdle    = errors.New("nobody went on with the run")
	errLeft    = errors.New("the agent left")
	errEnded   = errors.New("the run is over")
	errOdd     = errors.New("claude went on by itself")
)

// run is one process of the program, with the conversation that it leads.
type run struct {
	b       *Bridge
	account provider.AccountID
	home    string
	proxy   string
	model   string
	secret  string // in the address of its MCP server, and what it has to show there
	dir     string // of its own: what it works in, and its files
	names   map[string]string
	tools   []tool
	key     string
	alarm   *time.Timer // of an idle run

	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr tail
	begun  sync.Once     // stopping
	stops  chan struct{} // closed when it is to end
	over   chan struct{} // closed when the process is gone and all is cleared away

	mu      sync.Mutex
	why     error // why it was ended
	resumed bool  // it served a request before this one
	turns   []turn
	out     *reply         // that is under way
	saying  *turn          // the model's turn that is under way
	calls   []call         // that wait for results
	limits  *claude.Event  // as last told
	settled chan struct{}  // closed when the program has said that its turn is over
	results map[string]any // by the call's id, for the MCP server
	came    chan struct{}  // closed when results came
}

// call is a call of a tool whose result the agent brings.
type call struct {
	id, name, input string
}

func newRun(b *Bridge, a *Ask, q *query) *run {
	return &run{
		b: b, account: a.Account, home: a.Home, proxy: a.Proxy, model: a.Model, secret: secret(),
		names: q.names, tools: q.Tools, key: q.key,
		stops: make(chan struct{}), over: make(chan struct{}),
		results: map[string]any{}, came: make(chan struct{}),
	}
}

// fits says how a request goes on from an idle run.
func (r *run) fits(q *query) fit {
	if r.key != q.key {
		return never
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list, _ := q.results()
	if len(list) != len(r.calls) {
		return never
	}
	for _, b := range list {
		if len(b["content"]) > mostResult*9/10 {
			return never
		}
	}
	return compare(r.turns, q.turns)
}

// bound finds the results of the calls that wait, by their ids, else by their places.
func (r *run) bound(q *query) map[string]block {
	list, _ := q.results()
	found := map[string]block{}
	for _, b := range list {
		found[b.text("tool_use_id")] = b
	}
	byID := map[string]block{}
	for i, c := range r.calls {
		b, ok := found[c.id]
		if !ok {
			b = list[i]
		}
		byID[c.id] = b
	}
	return byID
}

// start starts the process and hands it the conversation. Nothing is left of a run that
// could not be started.
func (r *run) start(program string, q *query) (err error) {
	if r.dir, err = os.MkdirTemp(r.b.o.TempDir, "magpie-claude-"); err == nil {
		err = r.launch(program, q)
	}
	if err != nil {
		r.b.gone(r)
	}
	return err
}

// launch writes the run's files and starts the process.
func (r *run) launch(program string, q *query) error {
	address, err := r.b.mcp.remember(r)
	if err != nil {
		return err
	}
	files, err := r.files(q, address)
	if err != nil {
		return err
	}
	r.cmd = exec.Command(program, r.args(q, files)...) //nolint:gosec,noctx // the program that the person installed; it outlives the request
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = files.work, r.environ(q, files), &r.stderr
	r.cmd.WaitDelay = stopGrace // a grandchild may keep its output open
	ownGroup(r.cmd)
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.out, r.turns, r.saying = newReply(r), q.turns, &turn{}
	go r.watch()
	go r.read(out)
	if files.said == nil {
		return nil // it goes on with the conversation by itself
	}
	if err := r.tell(files.said); err != nil { // it ended at once, and reading tells why
		return nil //nolint:nilerr // see above
	}
	return nil
}

// watch ends the process when it is to end: first it may end by itself.
func (r *run) watch() {
	select {
	case <-r.over:
		return
	case <-r.stops:
	}
	_ = r.in.Close()
	interrupt(r.cmd)
	r.release(false)
	t := time.NewTimer(stopGrace)
	defer t.Stop()
	select {
	case <-r.over:
	case <-t.C:
		kill(r.cmd)
		r.release(true)
	}
}

// release lets go of a reply that the run waits to write on: an agent that reads nothing must
// not hold up its end. One that is whole but for its last words has until the last moment.
func (r *run) release(all bool) {
	r.mu.Lock()
	o, why := r.out, r.why
	open := o != nil && (all || !o.done)
	r.mu.Unlock()
	if open && !errors.Is(why, errEnded) {
		_ = o.out.CloseWithError(errors.New(r.ending(nil, why)))
	}
}

// longestLine bounds one line of the program's output.
const longestLine = 64 << 20

// read reads what the program writes until it ends.
func (r *run) read(out io.Reader) {
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 0, 64<<10), longestLine)
	for s.Scan() {
		r.hear(s.Bytes())
	}
	if s.Err() != nil {
		r.end(s.Err())
		_, _ = io.Copy(io.Discard, out)
	}
	err := r.cmd.Wait()
	kill(r.cmd) // what it started, if anything is left of it
	r.broke(err)
	r.b.gone(r)
}

// end has the run stop, without waiting for it.
func (r *run) end(why error) {
	r.begun.Do(func() {
		r.mu.Lock()
		r.why = why
		r.mu.Unlock()
		close(r.stops)
	})
}

// stop ends the run and waits until its process is gone.
func (r *run) stop(why error) {
	r.end(why)
	<-r.over
}

// goOn has an idle run serve the next request; false when it is over meanwhile.
func (r *run) goOn(ctx context.Context, q *query) (*http.Response, bool, error) {
	r.mu.Lock()
	settled, bound := r.settled, r.bound(q)
	r.mu.Unlock()
	if settled != nil {
		select {
		case <-settled:
		case <-r.over:
			return nil, false, nil
		case <-r.stops:
			return nil, false, nil
		case <-ctx.Done():
			r.end(errLeft)
			return nil, false, ctx.Err()
		}
	}
	out := r.open(q)
	if len(bound) > 0 {
		r.bring(bound, q)
	} else if err := r.tell(q.Messages[len(q.Messages)-1].Content); err != nil {
		r.stop(err)
		return nil, false, nil
	}
	resp, err := out.wait(ctx, r)
	if errors.Is(err, errEnded) {
		return nil, false, nil // it died before it said a word: another begins anew
	}
	return resp, true, err
}

// open makes a reply that what the program says next goes into.
func (r *run) open(q *query) *reply {
	out := newReply(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out, r.turns, r.saying, r.settled, r.resumed = out, q.turns, &turn{}, nil, true
	return out
}

// tell says something to the program.
func (r *run) tell(c content) error {
	line := mustJSON(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": c}})
	_, err := r.in.Write(append(line, '\n'))
	return err
}

// bring hands over the results that the program's calls wait for. What the user says besides
// stands behind the last of them.
func (r *run) bring(bound map[string]block, q *query) {
	_, others := q.results()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.calls {
		res := resultOf(bound[c.id])
		if i == len(r.calls)-1 {
			res.Content = append(res.Content, shownTo(others)...)
		}
		r.results[c.id] = res
	}
	r.calls = nil
	close(r.came)
	r.came = make(chan struct{})
}

func (r *run) clean() {
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailBytes; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

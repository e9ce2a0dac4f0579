package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dev.magpie/provider/vendors/claude"
)

// reply is one answer of a run on its way to an agent: the body of the response.
type reply struct {
	r     *run
	first chan *refusal // nil = it began
	in    *io.PipeReader
	out   *io.PipeWriter

	// Guarded by the run's lock.
	began bool
	done  bool // all of it is written, or about to be
	stop  string
	block map[int]*call // calls that are being told, by their block
	calls []call
}

func newReply(r *run) *reply {
	in, out := io.Pipe()
	return &reply{r: r, first: make(chan *refusal, 1), in: in, out: out, block: map[int]*call{}}
}

func (o *reply) Read(p []byte) (int, error) { return o.in.Read(p) }

// Close lets go of the reply. An agent that leaves in the middle ends the run: its model would
// speak on, for nobody.
func (o *reply) Close() error {
	o.r.mu.Lock()
	done := o.done
	o.r.mu.Unlock()
	if !done {
		o.r.end(errLeft)
	}
	return o.in.Close()
}

// wait waits until the reply begins or is refused. A run that was over before the reply was opened
// says nothing any more.
func (o *reply) wait(ctx context.Context, r *run) (*http.Response, error) {
	var ref *refusal
	select {
	case ref = <-o.first:
	case <-r.over:
		select {
		case ref = <-o.first:
		default:
			return nil, errEnded
		}
	case <-ctx.Done():
		r.end(errLeft)
		return nil, ctx.Err()
	}
	switch {
	case ref == nil:
		h := http.Header{"Content-Type": {"text/event-stream"}}
		r.tellLimits(h)
		return &http.Response{StatusCode: http.StatusOK, Header: h, Body: o, ContentLength: -1}, nil
	case ref.err != nil:
		return nil, ref.err
	}
	h := http.Header{}
	r.tellLimits(h)
	return ref.response(h), nil
}

// tellLimits puts what the run heard of the account's windows where the vendor's replies have it.
func (r *run) tellLimits(h http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limits == nil {
		return
	}
	for claim, w := range r.limits.Claims() {
		set := func(field, value string) { h.Set("Anthropic-Ratelimit-Unified-"+claim+"-"+field, value) }
		if w.Status != "" {
			set("Status", w.Status)
		}
		if w.Used.Set {
			set("Utilization", strconv.FormatFloat(w.Used.V, 'f', -1, 64))
		}
		if !w.Resets.IsZero() {
			set("Reset", strconv.FormatInt(w.Resets.Unix(), 10))
		}
	}
	if r.limits.Status == "rejected" {
		h.Set("Anthropic-Ratelimit-Unified-Status", "rejected")
		if !r.limits.Resets.IsZero() {
			h.Set("Anthropic-Ratelimit-Unified-Reset", strconv.FormatInt(r.limits.Resets.Unix(), 10))
		}
	}
}

// refusal is what the vendor, or the program, says instead of a reply.
type refusal struct {
	status int
	kind   string
	words  string
	err    error // instead of a response
}

func (ref *refusal) body() []byte {
	return mustJSON(map[string]any{"type": "error", "error": map[string]string{"type": ref.kind, "message": ref.words}})
}

func (ref *refusal) response(h http.Header) *http.Response {
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", "application/json")
	body := ref.body()
	return &http.Response{StatusCode: ref.status, Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
}

// hear takes one line of the program's output.
func (r *run) hear(data []byte) {
	l, ok := claude.ParseLine(data)
	if !ok {
		return // a line for people
	}
	switch {
	case l.Type == "stream_event" && l.Parent == nil:
		r.say(l.Event)
	case l.Type == "rate_limit_event" && l.Limit != nil:
		now := time.Now()
		r.mu.Lock()
		r.limits = l.Limit
		r.mu.Unlock()
		if ws := l.Limit.Windows(now); len(ws) > 0 {
			r.b.o.Told(r.account, ws, now)
		}
	case l.Type == "result":
		r.result(&l)
	case l.Type == "system" && l.Subtype == "init":
		for _, s := range l.Servers {
			if s.Name == serverName && s.Status == "failed" {
				r.fail(&refusal{status: http.StatusBadGateway, kind: "api_error", words: "Claude Code could not reach the server of the agent's tools"})
			}
		}
	}
}

// streamed is an event of the Messages API, as far as it is read.
type streamed struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Text  string          `json:"text"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Text    string `json:"text"`
		Partial string `json:"partial_json"`
		Stop    string `json:"stop_reason"`
	} `json:"delta"`
}

// say passes one event of the model's on.
func (r *run) say(raw json.RawMessage) {
	var ev streamed
	if json.Unmarshal(raw, &ev) != nil || ev.Type == "" || strings.ContainsAny(ev.Type, "\r\n") {
		return
	}
	if bytes.IndexByte(raw, '\r') >= 0 { // between two values: an event ends with a line
		raw = bytes.ReplaceAll(raw, []byte{'\r'}, []byte{' '})
	}
	r.mu.Lock()
	o := r.out
	if o == nil || o.done {
		r.mu.Unlock()
		if ev.Type == "message_start" { // nobody asked for it
			r.end(errOdd)
		}
		return
	}
	if ev.Type == "message_start" {
		if o.began {
			r.mu.Unlock()
			r.fail(&refusal{kind: "api_error", words: "Claude Code began its reply anew"})
			return
		}
		o.began = true
		o.first <- nil
	}
	if !o.began {
		r.mu.Unlock()
		return
	}
	raw = o.note(&ev, raw)
	ended := ev.Type == "message_stop"
	var keep time.Duration
	if ended {
		keep = r.finished(o)
	}
	r.mu.Unlock()
	if keep > 0 {
		r.b.rest(r, keep) // before the agent knows that it may go on
	}
	_, err := fmt.Fprintf(o.out, "event: %s\ndata: %s\n\n", ev.Type, raw)
	if ended {
		_ = o.out.Close()
	}
	if ended && keep == 0 || err != nil && !ended {
		r.end(errEnded)
	}
}

// note remembers what of an event later requests are compared with. It gives a tool its own
// name back.
func (o *reply) note(ev *streamed, raw json.RawMessage) json.RawMessage {
	r := o.r
	switch ev.Type {
	case "content_block_start":
		r.saying.said += unspaced(ev.Block.Text)
		if ev.Block.Type != "tool_use" {
			return raw
		}
		c := &call{id: ev.Block.ID, name: strings.TrimPrefix(ev.Block.Name, toolPrefix)}
		name := c.name
		if own, ok := r.names[c.name]; ok {
			name = own
		}
		o.block[ev.Index] = c
		return renamed(raw, name)
	case "content_block_delta":
		r.saying.said += unspaced(ev.Delta.Text)
		if c := o.block[ev.Index]; c != nil {
			c.input += ev.Delta.Partial
		}
	case "content_block_stop":
		if c := o.block[ev.Index]; c != nil {
			name := c.name
			if own, ok := r.names[name]; ok {
				name = own
			}
			r.saying.calls = append(r.saying.calls, callOf(name, c.input))
			o.calls = append(o.calls, *c)
		}
	case "message_delta":
		if ev.Delta.Stop != "" {
			o.stop = ev.Delta.Stop
		}
	}
	return raw
}

func renamed(raw json.RawMessage, name string) json.RawMessage {
	var ev map[string]json.RawMessage
	var b block
	if json.Unmarshal(raw, &ev) != nil || json.Unmarshal(ev["content_block"], &b) != nil {
		return raw
	}
	b["name"] = mustJSON(name)
	ev["content_block"] = mustJSON(b)
	return mustJSON(ev)
}

// finished settles how a run stands after a reply, and for how long it is kept: 0 = not.
func (r *run) finished(o *reply) time.Duration {
	o.done = true
	r.turns = append(r.turns[:len(r.turns):len(r.turns)], *r.saying)
	switch {
	case o.stop == "tool_use" && len(o.calls) > 0:
		r.calls = o.calls
		return r.b.o.Waits
	case o.stop == "end_turn" || o.stop == "stop_sequence":
		r.calls, r.settled = nil, make(chan struct{})
		return r.b.o.Ended
	}
	return 0 // cut off: what comes next would not be what the agent asks
}

// result is the end of the program's turn.
func (r *run) result(l *claude.Line) {
	r.mu.Lock()
	o := r.out
	open := o != nil && !o.done
	settled := r.settled
	if !open && settled != nil {
		r.settled = nil
	}
	r.mu.Unlock()
	if !open {
		if settled != nil {
			close(settled)
		}
		if l.Failed {
			r.end(errEnded)
		}
		return
	}
	if !l.Failed {
		r.fail(&refusal{status: http.StatusBadGateway, kind: "api_error", words: "Claude Code ended its turn without a reply"})
		return
	}
	ref := &refusal{status: l.Status, kind: l.ErrorType, words: r.b.o.Mask(clip(l.Words()))}
	if ref.status < 400 || ref.status > 599 {
		ref.status = http.StatusBadGateway
	}
	if ref.kind == "" {
		ref.kind = "api_error"
	}
	if ref.status == http.StatusUnauthorized {
		r.b.homes.doubt(r.home)
	}
	r.fail(ref)
}

// fail ends a reply that can't be had, honestly where a part of it is out, and the run.
func (r *run) fail(ref *refusal) {
	r.mu.Lock()
	o := r.out
	if o == nil || o.done {
		r.mu.Unlock()
		r.end(errEnded)
		return
	}
	o.done = true
	began := o.began
	if !began {
		o.first <- ref
	}
	r.mu.Unlock()
	if began {
		_, _ = fmt.Fprintf(o.out, "event: error\ndata: %s\n\n", ref.body())
		_ = o.out.Close()
	}
	r.end(errEnded)
}

// broke ends what was under way when the process ended.
func (r *run) broke(err error) {
	r.mu.Lock()
	o, why := r.out, r.why
	if r.settled != nil {
		close(r.settled)
		r.settled = nil
	}
	if o == nil || o.done {
		r.mu.Unlock()
		return
	}
	o.done = true
	words := r.ending(err, why)
	began := o.began
	if !began {
		o.first <- r.notBegun(words, why)
	}
	r.mu.Unlock()
	if began {
		_ = o.out.CloseWithError(errors.New(words))
	}
}

// notBegun is what is told of a process that ended before it said a word.
func (r *run) notBegun(words string, why error) *refusal {
	said := r.stderr.String()
	switch {
	case r.resumed || errors.Is(why, errShut):
		return &refusal{err: errEnded}
	case strings.Contains(said, "unknown option"):
		return &refusal{err: &UnreadyError{Words: "the installed claude program is too old: it knows not all that magpie asks of it (" + clip(r.b.o.Mask(said)) + "); update it with `claude update`"}}
	}
	return &refusal{status: http.StatusBadGateway, kind: "api_error", words: words}
}

// ending says in words how a process ended.
func (r *run) ending(err, why error) string {
	words := "Claude Code ended in the middle of the request"
	switch {
	case why != nil && !errors.Is(why, errEnded):
		words += ": " + why.Error()
	case err != nil:
		words += ": " + err.Error()
	}
	if said := strings.TrimSpace(r.b.o.Mask(r.stderr.String())); said != "" {
		words += ": " + clip(said)
	}
	return words
}

const mostWords = 600

// clip keeps the end of a text: what a program says last is why it ended.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "?")
	if len(s) > mostWords {
		s = "…" + strings.ToValidUTF8(s[len(s)-mostWords:], "")
	}
	return s
}

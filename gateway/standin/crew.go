package standin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// Crew is a set of scripted agents: each visit is one conversation of one program
// with a gateway, asked as the real program would.
type Crew struct {
	Base   string       // the gateway's root, such as http://127.0.0.1:3425
	Client *http.Client // nil = a plain one of its own
	Seed   uint64       // of sessions and pauses
	Plan   []Visit
	Tell   func(Heard) // told of each reply, nil = nobody; may be called from several goroutines
}

// Visit is one conversation.
type Visit struct {
	At    time.Duration // from the start
	Agent string        // a name of AgentNames
	Model string        // as the gateway names it
	API   wire.Protocol // "" = the program's own
	Say   []string      // what the person says, each after the answer to the one before
	Pause Span          // from an answer to what follows it
	Leave time.Duration // the person stops the program after that long; 0 = stays
	Retry int           // how often a failed request is sent again
}

// Heard is what came of one request.
type Heard struct {
	Visit   int // its place in the plan
	Agent   string
	Session string
	Status  int    // 0 = no answer came
	Text    string // what the reply says
	Calls   int    // the tools that it calls
	Err     string // the error, in a body or in the stream; "" for a good reply
	Body    string // of an error
}

// mostSteps bounds the requests for one thing that the person says.
const mostSteps = 8

// Play runs the plan and returns when every conversation is over or the context ends.
func (c Crew) Play(ctx context.Context) error {
	client := c.Client
	if client == nil {
		t := &http.Transport{}
		defer t.CloseIdleConnections()
		client = &http.Client{Transport: t}
	}
	for i, visit := range c.Plan {
		if _, ok := programs[visit.Agent]; !ok {
			return fmt.Errorf("visit %d: no agent %q", i+1, visit.Agent)
		}
	}
	var wg sync.WaitGroup
	for i, visit := range c.Plan {
		v := &visitor{crew: c, client: client, n: i, visit: visit, program: programs[visit.Agent], rand: rand.New(rand.NewPCG(c.Seed, uint64(i)))} //nolint:gosec // the same in every run
		v.begin()
		wg.Go(func() { v.run(ctx) })
	}
	wg.Wait()
	return ctx.Err()
}

// visitor holds one conversation.
type visitor struct {
	crew    Crew
	client  *http.Client
	n       int
	visit   Visit
	program program
	rand    *rand.Rand
	session string
	speech  speech
}

func (v *visitor) begin() {
	v.session = fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", v.rand.Uint32(), v.rand.Uint32()&0xffff, v.rand.Uint32()&0xfff, v.rand.Uint32()&0xfff, v.rand.Uint64()&0xffffffffffff)
	api := v.visit.API
	if api == "" {
		api = v.program.api
	}
	v.speech = newSpeech(api, v)
}

// run waits for the visit's time and talks.
func (v *visitor) run(ctx context.Context) {
	if !rest(ctx, v.visit.At) {
		return
	}
	if v.visit.Leave > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, v.visit.Leave)
		defer cancel()
	}
	for i, said := range v.visit.Say {
		if i > 0 && !rest(ctx, v.visit.Pause.draw(v.rand)) {
			return
		}
		v.speech.say(said)
		if !v.work(ctx) {
			return
		}
	}
}

// work sends requests until the reply calls no more tools, and tells whether it went well.
func (v *visitor) work(ctx context.Context) bool {
	for range mostSteps {
		h := v.ask(ctx)
		for again := 0; h.Err != "" && again < v.visit.Retry && ctx.Err() == nil; again++ {
			if !rest(ctx, time.Duration(1<<again)*time.Second) {
				return false
			}
			h = v.ask(ctx)
		}
		if h.Err != "" {
			return false
		}
		if h.Calls == 0 {
			return true
		}
		if !rest(ctx, v.visit.Pause.draw(v.rand)/4) {
			return false
		}
		v.speech.results(v.rand)
	}
	return true
}

// ask sends one request and reads its reply.
func (v *visitor) ask(ctx context.Context) Heard {
	h := Heard{Visit: v.n, Agent: v.visit.Agent, Session: v.session}
	path, body := v.speech.request(v.visit.Model)
	err := v.exchange(ctx, &h, path, body)
	if err != nil && h.Err == "" {
		h.Err = err.Error()
	}
	if v.crew.Tell != nil {
		v.crew.Tell(h)
	}
	return h
}

func (v *visitor) exchange(ctx context.Context, h *Heard, path string, body object) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.crew.Base+path, bytes.NewReader(marshal(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	v.program.mark(r.Header, v.session, v.visit.Model)
	v.speech.sign(r.Header, "magpie-"+v.visit.Agent)
	reply, err := v.client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close() //nolint:errcheck // the reply was read
	h.Status = reply.StatusCode
	if h.Status != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
		h.Body, h.Err = string(b), strconv.Itoa(h.Status)
		return err
	}
	said, err := v.speech.hear(reply.Body)
	h.Text, h.Calls = said.text, len(said.calls)
	switch {
	case err != nil:
		return err
	case said.err != "":
		return errors.New(said.err)
	case !said.over:
		return errors.New("the stream ended before the reply was over")
	}
	return nil
}

// rest waits, and tells whether the context still runs.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// events reads a stream and hands on the data of each event; what isn't JSON comes as nil.
func events(r io.Reader, each func(data object)) error {
	var s sse.Splitter
	buf := make([]byte, 16<<10)
	for {
		n, err := r.Read(buf)
		if bad := s.Feed(buf[:n]); bad != nil {
			return bad
		}
		for e := s.Next(); e != nil; e = s.Next() {
			if _, data := sse.Parse(e); len(data) > 0 {
				v, _ := parse(data) // [DONE] is no JSON
				each(obj(v))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

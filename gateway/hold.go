package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/sse"
)

// How long and how much of a stream is held back.
const (
	holdFor      = 15 * time.Second // nothing said yet
	holdThinking = 4 * time.Minute  // reasoning that a refusal could still follow, or a safety check
	holdBytes    = 1 << 20
)

// holdState is where the reply of one try stands.
type holdState uint8

const (
	holding holdState = iota // kept back: another may still answer
	passing                  // the agent reads it
	dropped                  // it failed while it was held
)

// hold is the reply of one streamed try on its way. It is guarded by reply.mu.
type hold struct {
	out    *reply
	resp   *http.Response
	c      *trace.Candidate
	reply  wire.Reply
	split  sse.Splitter
	held   []byte
	state  holdState
	last   bool         // nobody is left who might answer instead
	x      *translation // nil where the agent reads the vendor's own API
	calls  chat.Mender  // of a relayed Chat stream
	class  wire.Class   // what dropped it: Failed or Refused
	pastMS bool
	due    time.Time // when it passes without having said anything
	think  bool      // reasoning is held, for this model's vendor refuses after it
	first  func(now time.Time)
}

// thinksFirst says whether reasoning of the model is held: only where its vendor refuses
// after thinking. On the last candidate nobody else would be asked, so it passes; Gemini's
// stays, for a reply of hers may end in nothing.
func thinksFirst(model string, last bool) bool {
	m := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasPrefix(m, "gemini") {
		return true
	}
	if last {
		return false
	}
	return strings.HasPrefix(m, "claude") || strings.HasPrefix(m, "gpt-") || strings.Contains(m, "codex") ||
		len(m) > 1 && m[0] == 'o' && m[1] >= '1' && m[1] <= '9'
}

// feed takes what came from the vendor; false ends the try.
func (h *hold) feed(chunk []byte, now time.Time) error {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	if err := h.split.Feed(chunk); err != nil {
		return err
	}
	if h.state == passing {
		h.send(h.split.Events(h.reply.Note), now)
		return h.out.err
	}
	for ev := h.split.Next(); ev != nil; ev = h.split.Next() {
		if h.state == passing {
			h.reply.Note(ev)
			h.held = append(h.held, ev...)
			continue
		}
		h.judge(ev, now)
		if h.state == dropped {
			return nil
		}
	}
	if h.state == passing || len(h.held)+h.split.Pending() > holdBytes {
		h.pass(now)
	}
	return h.out.err
}

// judge decides by one held event whether the reply passes, goes on being held, or failed.
func (h *hold) judge(ev []byte, now time.Time) {
	class := h.reply.Judge(ev)
	h.held = append(h.held, ev...)
	switch class {
	case wire.Lead:
	case wire.Buffering:
		h.later(now)
	case wire.Thinking:
		if h.think {
			h.later(now)
			return
		}
		h.state = passing
	case wire.Failed, wire.Refused:
		if class == wire.Refused && h.x != nil && h.last { // the agent's own API has a word for it
			h.state = passing
			return
		}
		h.state, h.class, h.held = dropped, class, nil
	case wire.Content:
		h.state = passing
	}
}

// later lets the reply be held for longer, counted from the first event that said so.
func (h *hold) later(now time.Time) {
	if !h.pastMS {
		h.pastMS = true
		h.due = now.Add(holdThinking)
	}
}

// pass sends what was held, and from now on everything as it comes.
func (h *hold) pass(now time.Time) {
	h.state = passing
	if !h.out.passed {
		h.out.passed = true
		if h.x != nil {
			h.out.beginTranslated(h.resp, h.c, h.x, -1)
		} else {
			h.out.beginPass(h.resp, h.c, -1, eventType)
		}
		h.first(now)
	}
	if len(h.held) > 0 {
		h.send(h.held, now)
		h.held = nil
	}
}

func (h *hold) send(b []byte, now time.Time) {
	switch {
	case h.x != nil:
		b = h.x.carry(b)
	case h.out.api == wire.Gemini:
		b = quiet(b)
	case h.out.api == wire.Chat:
		b = indexed(&h.calls, b)
	}
	if len(b) == 0 {
		return
	}
	h.out.write(b, true)
	h.out.wrote = now
}

// cut is how a stream that broke off reads.
type cut struct {
	clean bool  // it ended, but not with its end
	err   error // what the transport said
}

// finish takes the end of the vendor's stream and says whether it was a whole reply.
func (h *hold) finish(err error, now time.Time) *cut {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	if h.state == dropped { // what came behind it is of no account
		return nil
	}
	if rest := h.split.Rest(); len(rest) > 0 && errors.Is(err, io.EOF) {
		h.tail(rest, now)
	}
	h.reply.Finish()
	if h.state == dropped {
		return nil
	}
	h.reply.Whole = h.reply.Whole || h.x != nil && h.reply.Stopped && errors.Is(err, io.EOF)
	if h.reply.Whole || h.reply.Fault != nil {
		if h.state == holding {
			h.pass(now)
		}
		if h.x != nil {
			h.out.write(h.x.end(), true)
		}
		return nil
	}
	h.drop()
	return &cut{clean: errors.Is(err, io.EOF), err: err}
}

// drop keeps what is held from ever passing: the watcher may be about to let it.
func (h *hold) drop() {
	if h.state == holding {
		h.state, h.held = dropped, nil
	}
}

// tail takes a last event whose blank line never came. Half of one that a broken stream
// left is no event: an agent could not read it.
func (h *hold) tail(rest []byte, now time.Time) {
	if _, data := sse.Parse(rest); !json.Valid(data) && string(data) != "[DONE]" {
		return
	}
	if h.state == passing {
		h.reply.Note(rest)
		if h.reply.Whole {
			h.send(rest, now)
		}
		return
	}
	h.judge(rest, now)
	switch {
	case h.state != passing:
	case h.reply.Whole:
		h.pass(now)
	default:
		h.state = holding
		h.held = h.held[:len(h.held)-len(rest)]
	}
}

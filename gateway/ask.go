package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dev.magpie/gateway/guard"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/upstream"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// ask is one request of an agent, read once.
type ask struct {
	api     wire.Protocol
	door    provider.Door
	tail    string // behind the door's own path: "/compact"
	summed  bool   // a compaction that no vendor makes itself: its model writes a summary
	query   string // what of the query goes on
	header  http.Header
	path    string
	method  string
	body    []byte
	env     wire.Envelope
	model   string
	stream  bool // the agent reads events
	agent   string
	session string // the conversation, as people know it
	talk    string // and as its agent does
	only    string // X-Magpie-Account
	start   time.Time
	look    bool   // it is only thought of
	inner   string // what for the gateway asks it itself, "" = an agent does
	of      int64  // the request that it is asked for

	words  string                      // a hash of what the conversation began with, once it is needed
	ruled  []*provider.Group           // whose rules have a say in it
	judged map[string]trace.Classified // what classifiers say of its turn, by group

	asked    *wire.Ask // in the neutral form, once a try needs it
	notAsked error
}

// entry is what a path tells of a request before its body is read.
type entry struct {
	api   wire.Protocol
	door  provider.Door
	tail  string
	model string // Gemini: from the path
}

// newAsk begins an ask with what the path and headers tell.
func newAsk(r *http.Request, e entry) *ask {
	a := &ask{
		api: e.api, door: e.door, tail: e.tail, model: e.model,
		header: r.Header, path: r.URL.Path, method: r.Method, start: time.Now(),
		agent: guard.Agent(r), session: guard.Session(r.Header),
		only: strings.TrimSpace(r.Header.Get("X-Magpie-Account")),
	}
	a.query = keptQuery(r)
	a.stream = e.door == provider.Stream
	return a
}

// keptQuery is the part of the query that is the vendor's: never a key.
func keptQuery(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	q := r.URL.Query()
	var kept []string
	for _, name := range []string{"beta", "alt"} {
		if v := q.Get(name); v != "" && len(v) <= 32 && !strings.ContainsAny(v, "&#= ") {
			kept = append(kept, name+"="+v)
		}
	}
	return strings.Join(kept, "&")
}

// read takes the body in: bounded, unpacked, walked once.
func (a *ask) read(r *http.Request, limit int64) *wire.Refusal {
	raw, err := upstream.ReadBody(r.Body, r.ContentLength, limit)
	if err != nil {
		return a.unread(err, limit)
	}
	if a.body, err = upstream.Decode(raw, strings.Join(r.Header.Values("Content-Encoding"), ","), limit); err != nil {
		return a.unread(err, limit)
	}
	a.env, err = wire.Read(a.body, a.api)
	if err != nil {
		return badBody(err)
	}
	if a.api != wire.Gemini {
		a.model = a.env.Model
		a.stream = a.env.Stream && a.door == provider.Generate
	}
	if a.model == "" {
		return &wire.Refusal{Status: http.StatusBadRequest, Param: "model", Words: "the request names no model: set \"model\" to one that GET /v1/models lists"}
	}
	a.named()
	return nil
}

// sessionInUser reads the session that Claude Code puts into metadata.user_id.
func sessionInUser(id string) string {
	const mark = `"session_id":"`
	if i := strings.Index(id, mark); i >= 0 {
		rest := id[i+len(mark):]
		if end := strings.IndexByte(rest, '"'); end > 0 && end <= 128 {
			return rest[:end]
		}
	}
	if i := strings.LastIndex(id, "_session_"); i >= 0 && len(id)-i <= 128 {
		return id[i+len("_session_"):]
	}
	return ""
}

func (a *ask) unread(err error, limit int64) *wire.Refusal {
	switch {
	case errors.Is(err, upstream.ErrTooLarge):
		return &wire.Refusal{Status: http.StatusRequestEntityTooLarge, Words: fmt.Sprintf(
			"the request body is larger than %s, the limit in bytes that body_limit in the config sets", megabytes(limit))}
	case errors.Is(err, upstream.ErrEncoding):
		return &wire.Refusal{Status: http.StatusUnsupportedMediaType, Words: err.Error() + ": send zstd, gzip, br, deflate or none"}
	case errors.Is(err, upstream.ErrBroken):
		return &wire.Refusal{Status: http.StatusBadRequest, Words: err.Error()}
	}
	return &wire.Refusal{Status: http.StatusBadRequest, Words: "the request body broke off: " + err.Error()}
}

func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	if n >= 1_000_000 && n%1_000_000 == 0 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d bytes", n)
}

func badBody(err error) *wire.Refusal {
	ref := &wire.Refusal{Status: http.StatusBadRequest, Words: "the request body can't be read: " + err.Error()}
	var field *wire.FieldError
	var syntax *wire.SyntaxError
	switch {
	case errors.As(err, &field):
		ref.Param, ref.Words = field.Field, field.Error()
	case errors.As(err, &syntax):
		ref.Words = "the request body is not valid JSON: " + syntax.Error()
	case errors.Is(err, wire.ErrEmpty), errors.Is(err, wire.ErrNotObject):
		ref.Words = err.Error()
	case errors.Is(err, wire.ErrDepth):
		ref.Words = "the request body " + err.Error()
	}
	return ref
}

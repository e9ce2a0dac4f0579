package gateway

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// counted answers a count of tokens from our own estimate where no vendor is to be asked:
// Gemini's always, and one that only models of another make could count. It says whether it did.
func (s *service) counted() bool {
	if s.a.api != wire.Gemini && len(s.order) > 0 {
		return false
	}
	s.estimate()
	return true
}

// noDoor are words by which a vendor says that it does not count at all.
var noDoor = []string{"not supported", "unsupported", "not implemented", "not available", "not found", "unknown", "invalid url"}

// uncounted says whether a failed count means that the vendor has no such door. That is no
// fault of the key, and the next one has none either.
func uncounted(o *outcome) bool {
	if o.verdict == nil || o.verdict.Kind == trace.Model {
		return false
	}
	switch o.seen {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusOK:
		return o.verdict.Page
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
		said := strings.ToLower(o.words)
		return strings.Contains(said, "count") && slices.ContainsFunc(noDoor, func(w string) bool { return strings.Contains(said, w) })
	}
	return false
}

// estimate answers a count in the asker's shape by bytes.
func (s *service) estimate() {
	s.sendCount(int64(max(1, s.a.env.Estimate())))
	s.rec.done(http.StatusOK, "", s.out.bytes())
}

// sendCount tells the agent how many tokens its request has.
func (s *service) sendCount(tokens int64) {
	n := strconv.FormatInt(tokens, 10)
	var body string
	switch s.a.api {
	case wire.Gemini:
		body = `{"totalTokens":` + n + `}`
	case wire.Responses:
		body = `{"object":"response.input_tokens","input_tokens":` + n + `}`
	case wire.Messages, wire.Chat:
		body = `{"input_tokens":` + n + `}`
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	h := s.out.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h["X-Magpie-Request"] = []string{s.out.id}
	s.out.begun, s.out.passed, s.out.status = true, true, http.StatusOK
	s.out.w.WriteHeader(http.StatusOK)
	s.out.write([]byte(body), false)
}

var errNoCount = errors.New("the vendor counts no tokens")

// noCount makes an outcome of a vendor that has no door for counting; nobody was asked.
func noCount() outcome {
	v := &trace.Verdict{Row: "no-count", Kind: trace.Other, Status: http.StatusNotFound, Words: errNoCount.Error()}
	return outcome{verdict: v, words: v.Words, status: v.Status, seen: v.Status, reply: vendorError{mine: true}}
}

// counting says whether the ask is for a count of tokens.
func (a *ask) counting() bool { return a.door == provider.Count }

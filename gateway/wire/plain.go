package wire

import "bytes"

// unusual are marks of whole replies that are read in full: refusals and errors.
var unusual = map[Protocol][][]byte{
	Chat:      {[]byte(`"content_filter"`)},
	Responses: {[]byte(`"content_filter"`)},
	Messages:  {[]byte(`"refusal"`), []byte(`"error"`)},
	Gemini:    {[]byte(`"SAFETY"`), []byte(`"PROHIBITED_CONTENT"`), []byte(`"BLOCKLIST"`), []byte(`"SPII"`), []byte(`"IMAGE_SAFETY"`), []byte(`"RECITATION"`), []byte(`_CALL"`), []byte(`"MALFORMED_RESPONSE"`), []byte(`"MISSING_THOUGHT_SIGNATURE"`), []byte(`"thought"`)},
}

// plain reads an ordinary whole reply in one walk that allocates next to nothing: ids and
// usage. It says no, and leaves the reply as it was, where there may be more to it.
func (r *Reply) plain(body []byte) bool {
	for _, word := range unusual[r.P] {
		if bytes.Contains(body, word) {
			return false
		}
	}
	w := plainWalk{c: cursor{b: body}, p: r.P}
	if w.c.peek() != '{' {
		return false
	}
	w.c.object(w.top)
	if w.c.finish() != nil || w.odd || !w.answered || r.P == Gemini && w.n[nOutput] == 0 { // that may say nothing
		return false
	}
	r.ID, r.Model, r.Usage, r.Counted, r.Whole = w.id, w.model, w.usage(), w.counted, true
	return true
}

// plainWalk collects what an ordinary reply tells.
type plainWalk struct {
	c         cursor
	p         Protocol
	id, model string
	counted   bool
	odd       bool // read it in full
	answered  bool // it has a field of an answer
	n         [8]int64
}

// Places of the numbers of usage, whatever each API calls them.
const (
	nInput = iota
	nOutput
	nCached
	nCacheHit
	nWritten
	nReasoning
	nTool
	nOther
)

// counts are the names of the numbers, in any of the four APIs.
func countOf(key []byte) int {
	switch string(key) {
	case "prompt_tokens", "input_tokens", "promptTokenCount":
		return nInput
	case "completion_tokens", "output_tokens", "candidatesTokenCount":
		return nOutput
	case "cached_tokens", "cache_read_input_tokens", "cachedContentTokenCount":
		return nCached
	case "prompt_cache_hit_tokens":
		return nCacheHit
	case "cache_write_tokens", "cache_creation_input_tokens":
		return nWritten
	case "reasoning_tokens", "thinking_tokens", "thoughtsTokenCount":
		return nReasoning
	case "toolUsePromptTokenCount":
		return nTool
	}
	return nOther
}

func (w *plainWalk) top(key []byte) {
	switch string(key) {
	case "id", "responseId":
		w.take(&w.id)
	case "model", "modelVersion":
		w.take(&w.model)
	case "usage", "usageMetadata":
		if w.c.peek() == '{' {
			w.counted = true
			w.c.object(w.count)
		}
	case "choices", "output", "content", "candidates":
		w.answered = w.answered || w.c.peek() != 'n' // of vendors who say "choices": null an error
	case "error", "incomplete_details", "promptFeedback":
		if w.c.peek() != 'n' {
			w.odd = true
		}
	}
}

func (w *plainWalk) take(to *string) {
	if s, ok := w.c.stringValue(); ok {
		*to = unquote(s.of(w.c.b))
	}
}

// count reads one member of usage; the details are members of its members.
func (w *plainWalk) count(key []byte) {
	at := countOf(key)
	switch w.c.peek() {
	case '{':
		w.c.object(w.count)
	default:
		if n, ok := w.c.intValue(); ok && at != nOther {
			w.n[at] = n
		}
	}
}

func (w *plainWalk) usage() Usage {
	n := &w.n
	u := Usage{Input: n[nInput] + n[nTool], Output: n[nOutput], Reasoning: n[nReasoning], CacheRead: max(n[nCached], n[nCacheHit]), CacheWrite: n[nWritten]}
	switch w.p {
	case Messages: // counts what was cached beside its input
		u.Input += u.CacheRead + u.CacheWrite
	case Gemini: // counts thoughts beside its output
		u.Output += u.Reasoning
	case Chat, Responses:
	}
	return u
}

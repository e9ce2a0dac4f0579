package gateway

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
)

// mend is what a request is sent without after its vendor refused it for that. Such a
// request is always written anew, also where the agent speaks the vendor's own API.
type mend struct {
	images   bool  // the model reads none: each becomes a note
	thinking bool  // of earlier turns: another made it
	tool     bool  // Codex's image tool: the vendor's API doesn't know it
	most     int64 // tokens of output that the model can put out, 0 = as asked
}

// blind are words by which a vendor says that a model reads no images.
var blind = []string{"not support", "unsupported", "not accept", "only text", "text only", "text-only", "not a multimodal", "not multimodal", "no endpoints found", "unknown variant", "invalid content type"}

// mendable says which mend a failure asks for by its words. sent is the body that was refused.
func mendable(o *outcome, sent []byte) (m mend) {
	switch o.seen {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
	default:
		return m
	}
	said := strings.ToLower(o.words)
	switch {
	case o.verdict.Row == "anthropic-thinking":
		m.thinking = true
	case strings.Contains(said, "image") && slices.ContainsFunc(blind, func(w string) bool { return strings.Contains(said, w) }):
		m.images = true
	case o.verdict.Kind != trace.TooLarge && namesMost.MatchString(said):
		m.most = mostOf(said, outputOf(sent))
	}
	return m
}

// outputOf is the most output that a request asks for, 0 = not said.
func outputOf(body []byte) int64 {
	v, err := wire.ReadValue(body)
	if err != nil {
		return 0
	}
	for _, field := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		if n, ok := v.Get(field).Int(); ok {
			return n
		}
	}
	n, _ := v.Get("generationConfig").Get("maxOutputTokens").Int()
	return n
}

var (
	namesMost = regexp.MustCompile(`max[ _](output[ _]|completion[ _]|new[ _])?tokens|maxoutputtokens`)
	digits    = regexp.MustCompile(`[0-9][0-9,]*`)
)

// mostOf is the most output that a refusal names: the largest number in it below what was
// sent. It is 0 where there is none.
func mostOf(said string, sent int64) (most int64) {
	for _, word := range digits.FindAllString(said, -1) {
		n, err := strconv.ParseInt(strings.ReplaceAll(word, ",", ""), 10, 64)
		if err == nil && n < sent && n > most {
			most = n
		}
	}
	if most < leastOutput {
		return 0
	}
	return most
}

// leastOutput is the least that a refusal is believed to offer: a smaller number means something else.
const leastOutput = 256

// has says whether a conversation has a part of that kind, also inside of results.
func has(a *wire.Ask, k wire.Kind) bool {
	for i := range a.Turns {
		for j := range a.Turns[i].Parts {
			p := &a.Turns[i].Parts[j]
			if p.Kind == k || p.Kind == wire.KindResult && p.Reply != nil && slices.ContainsFunc(p.Reply.Parts, func(in wire.Part) bool { return in.Kind == k }) {
				return true
			}
		}
	}
	return false
}

// with joins what two mends leave out.
func (m mend) with(n mend) mend {
	m.images, m.thinking, m.tool = m.images || n.images, m.thinking || n.thinking, m.tool || n.tool
	if n.most > 0 && (m.most == 0 || n.most < m.most) {
		m.most = n.most
	}
	return m
}

// mended says whether a refused request can be sent once more to the same candidate,
// written so that what it was refused for is not in it.
func (s *service) mended(c *trace.Candidate, o *outcome) bool {
	m := mendable(o, s.sent)
	if m == (mend{}) {
		m.tool = s.unknownTool(c, o)
	}
	before := s.mend(c)
	after := before.with(m)
	if after == before || s.a.counting() {
		return false
	}
	if m.images || m.thinking {
		asked, err := s.a.neutral()
		if err != nil || m.images && !has(asked, wire.KindImage) || m.thinking && !has(asked, wire.KindThinking) {
			return false
		}
	}
	if s.mends == nil {
		s.mends = map[string]mend{}
	}
	s.mends[c.ID] = after
	return true
}

// mend is what the candidate's request is sent without: as it was refused, or as its model is known.
func (s *service) mend(c *trace.Candidate) mend {
	m := s.mends[c.ID]
	if known := s.g.learned.Load(); known != nil {
		m = m.with((*known)[c.Provider+"/"+c.Model])
	}
	return m
}

// learn remembers of a model what made a mended request good, until the gateway ends.
func (s *service) learn(c *trace.Candidate) {
	m := s.mends[c.ID]
	if m.tool {
		s.g.unfit.note(c.Provider, s.asking, imageTool)
	}
	m.thinking, m.tool = false, false // of this conversation, or of all models, not of this one
	if m == (mend{}) {
		return
	}
	name := c.Provider + "/" + c.Model
	for {
		old := s.g.learned.Load()
		known := map[string]mend{name: m}
		if old != nil {
			maps.Copy(known, *old)
			known[name] = m.with((*old)[name])
		}
		if s.g.learned.CompareAndSwap(old, &known) {
			return
		}
	}
}

// rewrites says whether a request has to be written anew for its mend.
func (m mend) rewrites(a *ask) bool {
	if m.tool = false; m == (mend{}) || m == (mend{images: true}) && !a.env.Images {
		return false
	}
	asked, err := a.neutral()
	return err == nil && (m.images && has(asked, wire.KindImage) || m.thinking && has(asked, wire.KindThinking) || m.most > 0 && asked.Max != nil && *asked.Max > m.most)
}

// apply writes the mend into what a request is written from.
func (m mend) apply(asked *wire.Ask, to *wire.Target) *wire.Ask {
	if m.images {
		if to.Inputs == nil {
			to.Inputs = []string{"text", "audio", "video", "pdf", "file"}
		}
		to.Inputs = slices.DeleteFunc(slices.Clone(to.Inputs), func(in string) bool { return in == "image" })
	}
	if m.most > 0 && (to.Output == 0 || int64(to.Output) > m.most) {
		to.Output = int(m.most)
	}
	if !m.thinking && !m.tool {
		return asked
	}
	bare := *asked
	if m.tool {
		bare.Tools = slices.DeleteFunc(slices.Clone(asked.Tools), func(t wire.Tool) bool { return wire.IsImageTool(t.Name) })
		if len(bare.Tools) == 0 {
			bare.Choice = wire.Choice{}
		}
	}
	if !m.thinking {
		return &bare
	}
	bare.Turns = make([]wire.Turn, len(asked.Turns))
	for i, t := range asked.Turns {
		t.Parts = slices.DeleteFunc(slices.Clone(t.Parts), func(p wire.Part) bool { return p.Kind == wire.KindThinking })
		bare.Turns[i] = t
	}
	return &bare
}

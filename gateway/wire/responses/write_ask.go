package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

const (
	leastOutput = 16 // the least that the API takes for max_output_tokens
	userMost    = 64 // the longest safety_identifier, and cache key
)

const cachesItself = "the vendor caches by itself"

// askWriter writes one request.
type askWriter struct {
	a     *wire.Ask
	t     *wire.Target
	turns []wire.Turn
	lost  []wire.Loss
	err   error

	offered    int      // tools that were written
	hostedKept []string // of them those that the vendor runs
	current    int      // the turn that is answered now
	unmarked   int      // cache breakpoints that are still to be passed over, for only the last four count
}

// WriteAsk writes a request for a vendor that speaks Responses.
func (Codec) WriteAsk(a *wire.Ask, t wire.Target) ([]byte, []wire.Loss, error) {
	w := &askWriter{a: a, t: &t, turns: wire.Pair(a.Turns)}
	if err := a.OneReply(w.word("n")); err != nil {
		return nil, nil, err
	}
	w.prepare()
	o := newObject(make([]byte, 0, w.size()))
	model := t.Model
	if model == "" {
		model = a.Model
	}
	o.str("model", model)
	instructions := w.instructions()
	o.some("instructions", instructions)
	w.input(&o)
	w.tools(&o)
	w.limits(&o)
	w.reasoning(&o)
	w.text(&o)
	w.settings(&o)
	w.extras(&o)
	if w.err != nil {
		return nil, nil, w.err
	}
	return o.end(), w.lost, nil
}

// lose records what is left out, once.
func (w *askWriter) lose(what, why string) {
	for i := range w.lost {
		if w.lost[i].What == what {
			return
		}
	}
	w.lost = append(w.lost, wire.Loss{What: what, Why: why})
}

func (w *askWriter) refuse(field, words string) {
	if w.err == nil {
		w.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

// words are the names of fields, as the asker's API has them.
var words = map[string]map[wire.Protocol]string{
	"stop":        {wire.Chat: "stop", wire.Messages: "stop_sequences", wire.Gemini: "generationConfig.stopSequences"},
	"top_k":       {wire.Messages: "top_k", wire.Gemini: "generationConfig.topK"},
	"temperature": {wire.Gemini: "generationConfig.temperature"},
	"top_p":       {wire.Gemini: "generationConfig.topP"},
	"max":         {wire.Chat: "max_tokens", wire.Messages: "max_tokens", wire.Gemini: "generationConfig.maxOutputTokens", wire.Responses: "max_output_tokens"},
	"n":           {wire.Gemini: "generationConfig.candidateCount"},
	"presence":    {wire.Chat: "presence_penalty", wire.Gemini: "generationConfig.presencePenalty"},
	"frequency":   {wire.Chat: "frequency_penalty", wire.Gemini: "generationConfig.frequencyPenalty"},
	"seed":        {wire.Gemini: "generationConfig.seed"},
	"logprobs":    {wire.Gemini: "generationConfig.responseLogprobs"},
	"cache":       {wire.Chat: "prompt_cache_breakpoint", wire.Messages: "cache_control", wire.Responses: "prompt_cache_breakpoint"},
	"turns":       {wire.Chat: "messages", wire.Messages: "messages", wire.Gemini: "contents", wire.Responses: "input"},
	"effort":      {wire.Chat: "reasoning_effort", wire.Messages: "thinking", wire.Gemini: "generationConfig.thinkingConfig", wire.Responses: "reasoning"},
}

// word is a field's name in the asker's API.
func (w *askWriter) word(field string) string {
	if s := words[field][w.a.API]; s != "" {
		return s
	}
	return field
}

// prepare looks once at the turns: which is answered now, and how many cache breakpoints there are.
func (w *askWriter) prepare() {
	marks := 0
	for i := range w.turns {
		if w.turns[i].Role == wire.RoleUser {
			w.current = i
		}
		for j := range w.turns[i].Parts {
			if p := &w.turns[i].Parts[j]; p.Cache != nil && markable(p) {
				marks++
			}
		}
	}
	w.unmarked = max(0, marks-4)
}

// size guesses the length of the body, so that it is seldom moved.
func (w *askWriter) size() int {
	n := 4096
	for i := range w.turns {
		for j := range w.turns[i].Parts {
			n += partSize(&w.turns[i].Parts[j])
		}
	}
	for i := range w.a.System {
		n += len(w.a.System[i].Text)
	}
	for i := range w.a.Tools {
		t := &w.a.Tools[i]
		n += len(t.Description) + len(t.Schema) + len(t.Raw) + 96
	}
	return n + n/16
}

func partSize(p *wire.Part) int {
	n := len(p.Text) + 96
	if p.Media != nil {
		n += len(p.Media.Data) + len(p.Media.Text) + len(p.Media.URL)
	}
	if p.Call != nil {
		n += len(p.Call.Args) + len(p.Call.Input)
	}
	if p.Reply != nil {
		for i := range p.Reply.Parts {
			n += partSize(&p.Reply.Parts[i])
		}
	}
	if p.Seal != nil {
		n += len(p.Seal.Data)
	}
	return n
}

// instructions are what the system says before the first turn. An object that is asked
// for without a schema needs the word JSON somewhere.
func (w *askWriter) instructions() string {
	system := w.a.System
	if len(w.turns) == 0 && len(system) > 0 { // then it is what is asked
		last := system[len(system)-1]
		system = system[:len(system)-1]
		w.turns = []wire.Turn{{Role: wire.RoleUser, Parts: []wire.Part{last}}}
	}
	s := wire.JoinText(system, "\n\n")
	if f := w.a.Format; f != nil && f.Schema == nil && !hasJSON(s) && !w.saysJSON() {
		if s != "" {
			s += "\n\n"
		}
		s += "Answer in JSON."
	}
	return s
}

func hasJSON(s string) bool {
	return strings.Contains(s, "JSON") || strings.Contains(strings.ToLower(s), "json")
}

func (w *askWriter) saysJSON() bool {
	for i := range w.turns {
		for j := range w.turns[i].Parts {
			if hasJSON(w.turns[i].Parts[j].Text) {
				return true
			}
		}
	}
	return false
}

// limits write how long the reply may be, and how it is sampled.
func (w *askWriter) limits(o *object) {
	a, d := w.a, &w.t.Dialect
	if a.Max != nil {
		n := max(*a.Max, leastOutput)
		if w.t.Output > 0 && n > int64(w.t.Output) {
			n = int64(w.t.Output)
			w.lose(w.word("max"), "the model's own limit is lower")
		}
		if d.Refuses("max_output_tokens") {
			w.lose(w.word("max"), "the vendor refuses it")
		} else {
			o.int("max_output_tokens", n)
		}
	}
	samples := d.Samples(w.t.Model, w.level())
	w.sampling(o, "temperature", a.Temperature, samples)
	w.sampling(o, "top_p", a.TopP, samples)
	for _, no := range []struct {
		field string
		said  bool
	}{
		{"stop", len(a.Stop) > 0},
		{"top_k", a.TopK != nil},
		{"presence", a.Presence != ""},
		{"frequency", a.Frequency != ""},
		{"seed", a.Seed != ""},
		{"logprobs", a.Logprobs != nil},
	} {
		if no.said {
			w.lose(w.word(no.field), "")
		}
	}
}

func (w *askWriter) sampling(o *object, field string, n json.Number, samples bool) {
	switch {
	case n == "":
	case !samples:
		if n != "1" && n != "1.0" {
			w.lose(w.word(field), "the model takes none")
		}
	case w.t.Dialect.Refuses(field):
		w.lose(w.word(field), "the vendor refuses it")
	default:
		o.lit(field, string(n))
	}
}

// level is the effort as the model has it.
func (w *askWriter) level() string { return wire.NearestEffort(w.a.Level(), w.t.Efforts) }

// reasons says whether the model may reason, as far as is known.
func (w *askWriter) reasons() bool {
	if w.t.Efforts != nil {
		return len(w.t.Efforts) > 0
	}
	level := w.a.Level()
	return level != "" && level != "none" || !w.t.Dialect.Samples(w.t.Model, "")
}

// reasoning writes how much, and that it is to be told in short where the agent shows it.
func (w *askWriter) reasoning(o *object) {
	level := w.a.Level()
	if w.t.Efforts != nil && len(w.t.Efforts) == 0 {
		if level != "" && level != "none" {
			w.lose(w.word("effort"), "the model doesn't reason")
		}
		return
	}
	show := (w.a.Show == wire.ShowSummary || w.a.Show == wire.ShowUpdates) && level != "none"
	if w.a.Show == wire.ShowUnsaid && (w.a.API == wire.Messages || w.a.API == wire.Chat) { // there it comes with having asked for it
		show = level != "none" && (level != "" || w.a.Budget != nil)
	}
	in := newObject(nil)
	in.some("effort", w.level())
	if show {
		in.str("summary", "auto")
	}
	for _, f := range w.a.Extra {
		if name, ok := strings.CutPrefix(f.Name, "reasoning."); ok && w.a.API == wire.Responses {
			in.raw(name, f.Value)
		}
	}
	if in.comma {
		o.raw("reasoning", in.end())
	}
}

// text writes the format of the answer and how wordy it is.
func (w *askWriter) text(o *object) {
	in := newObject(nil)
	if f := w.a.Format; f != nil {
		in.raw("format", writeFormat(f))
	}
	if v := w.a.Verbosity; v != "" {
		if w.t.Dialect.Refuses("verbosity") {
			w.lose("verbosity", "the vendor refuses it")
		} else {
			in.str("verbosity", v)
		}
	}
	if in.comma {
		o.raw("text", in.end())
	}
}

func writeFormat(f *wire.Format) []byte {
	o := newObject(nil)
	if f.Schema == nil {
		o.str("type", "json_object")
		return o.end()
	}
	name := f.Name
	if name == "" {
		name = "response"
	}
	o.str("type", "json_schema")
	o.str("name", name)
	o.some("description", f.Description)
	o.raw("schema", f.Schema)
	o.truth("strict", f.Strict)
	return o.end()
}

// settings write what is no part of what is asked, but of how.
func (w *askWriter) settings(o *object) {
	a, d := w.a, &w.t.Dialect
	if w.reasons() && !d.Refuses("include") {
		o.lit("include", `["reasoning.encrypted_content"]`)
	}
	if !d.Refuses("store") {
		o.bool("store", a.API == wire.Responses && a.Store != nil && *a.Store)
	}
	if a.API != wire.Responses && a.Store != nil && *a.Store {
		w.lose("store", "nothing is stored through a translation")
	}
	if a.AutoCache {
		w.lose("cache_control", cachesItself)
	}
	o.bool("stream", true)
	w.optional(o, "prompt_cache_key", w.cacheKey())
	w.optional(o, "service_tier", a.Tier)
	user := a.User
	if len(user) > userMost {
		sum := sha256.Sum256([]byte(user))
		user = hex.EncodeToString(sum[:])
	}
	w.optional(o, "safety_identifier", user)
	if a.Metadata != nil {
		if d.Refuses("metadata") {
			w.lose("metadata", "the vendor refuses it")
		} else {
			o.raw("metadata", a.Metadata)
		}
	}
}

// optional writes a field that a vendor may refuse.
func (w *askWriter) optional(o *object, field, value string) {
	switch {
	case value == "":
	case w.t.Dialect.Refuses(field):
		w.lose(field, "the vendor refuses it")
	default:
		o.str(field, value)
	}
}

// cacheKey is the agent's own, or one made of its session.
func (w *askWriter) cacheKey() string {
	if w.a.CacheKey != "" && len(w.a.CacheKey) <= userMost {
		return w.a.CacheKey
	}
	seed := w.a.CacheKey
	if seed == "" {
		seed = w.t.Session
	}
	if seed == "" {
		return ""
	}
	return wire.MakeID("magpie-", seed)
}

// extras write what only this API can say, where the request came in it.
func (w *askWriter) extras(o *object) {
	for _, f := range w.a.Extra {
		switch {
		case w.a.API != wire.Responses:
			w.lose(f.Name, "")
		case strings.HasPrefix(f.Name, "reasoning.") || f.Name == "include":
		case w.t.Dialect.Refuses(f.Name):
			w.lose(f.Name, "the vendor refuses it")
		default:
			o.raw(f.Name, f.Value)
		}
	}
}

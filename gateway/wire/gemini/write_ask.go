package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// stopMost is how many stop strings the API takes.
const stopMost = 5

// writing is a request while it is written.
type writing struct {
	object
	a     *wire.Ask
	t     *wire.Target
	m     model
	lost  []wire.Loss
	err   *wire.FieldRefusal
	named []string // the functions that are declared, by the names that they go by
	words string   // what the system has to say besides: a format that the model doesn't take
}

func writeAsk(a *wire.Ask, t *wire.Target) (body []byte, lost []wire.Loss, err error) {
	if err := a.OneReply(oneOf(a.API, "n", "n", "n", "generationConfig.candidateCount")); err != nil {
		return nil, nil, err
	}
	w := &writing{a: a, t: t, m: readModel(t.Model)}
	w.b = make([]byte, 0, size(a))
	w.open("", '{')
	turns, system := w.turns()
	w.contents(turns)
	tools := w.tools()
	w.choice()
	format := w.format()
	w.system(system)
	w.b = append(w.b, tools...)
	w.config(format)
	w.rest()
	w.close('}')
	if w.err != nil {
		return nil, nil, w.err
	}
	return w.b, w.lost, nil
}

// size is about how long the request will be.
func size(a *wire.Ask) int {
	n := 1024
	for i := range a.System {
		n += len(a.System[i].Text) + 32
	}
	for i := range a.Turns {
		n += partsSize(a.Turns[i].Parts)
	}
	for i := range a.Tools {
		n += len(a.Tools[i].Description) + len(a.Tools[i].Schema) + 128
	}
	return n + n/16
}

func partsSize(parts []wire.Part) int {
	n := 32
	for i := range parts {
		p := &parts[i]
		n += len(p.Text) + 96
		if p.Media != nil {
			n += len(p.Media.Data) + len(p.Media.Text)
		}
		if p.Call != nil {
			n += len(p.Call.Args) + len(p.Call.Input)
		}
		if p.Reply != nil {
			n += partsSize(p.Reply.Parts)
		}
	}
	return n
}

func (w *writing) own() bool { return w.a.API == wire.Gemini }

func (w *writing) lose(what, why string) {
	for i := range w.lost {
		if w.lost[i].What == what {
			return
		}
	}
	w.lost = append(w.lost, wire.Loss{What: what, Why: why})
}

func (w *writing) refuse(field, words string) {
	if w.err == nil {
		w.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

// word is what a thing is called in the asker's API.
func (w *writing) word(chat, responses, messages, gemini string) string {
	return oneOf(w.a.API, chat, responses, messages, gemini)
}

func oneOf(p wire.Protocol, chat, responses, messages, gemini string) string {
	switch p {
	case wire.Chat:
		return chat
	case wire.Responses:
		return responses
	case wire.Messages:
		return messages
	case wire.Gemini:
		return gemini
	}
	return chat
}

// may says whether the vendor takes an optional field; one that it refuses is lost.
func (w *writing) may(field, what string) bool {
	if w.t.Dialect.Refuses(field) {
		w.lose(what, "the vendor refuses it")
		return false
	}
	return true
}

// system writes what stands before the conversation, one part a text.
func (w *writing) system(parts []wire.Part) {
	from := len(w.b)
	add := func(text string) {
		if text == "" {
			return
		}
		if len(w.b) == from {
			w.open("systemInstruction", '{')
			w.open("parts", '[')
		}
		w.textPart(text)
	}
	for i := range parts {
		if text, _ := wire.Spoken(&parts[i]); !wire.Billing(text) {
			add(text)
		}
	}
	add(w.words)
	if len(w.b) > from {
		w.close(']')
		w.close('}')
	}
}

func (w *writing) textPart(text string) {
	w.open("", '{')
	w.text("text", text)
	w.close('}')
}

// config writes generationConfig. Its schema was found before.
func (w *writing) config(f format) {
	from := len(w.b)
	w.open("generationConfig", '{')
	first := len(w.b)
	w.sampling()
	if f.mime != "" {
		w.text("responseMimeType", f.mime)
	}
	if f.schema != nil {
		w.raw(f.key, f.schema)
	}
	t := w.thinking()
	t.append(&w.object)
	w.made()
	if w.own() {
		w.extras("generationConfig.", true)
	}
	if len(w.b) == first {
		w.b = w.b[:from]
		return
	}
	w.close('}')
}

func (w *writing) sampling() {
	a := w.a
	number := func(field string, n json.Number, what string) {
		if n != "" && w.may(field, what) {
			w.raw(field, []byte(n))
		}
	}
	number("temperature", a.Temperature, w.word("temperature", "temperature", "temperature", "generationConfig.temperature"))
	number("topP", a.TopP, w.word("top_p", "top_p", "top_p", "generationConfig.topP"))
	if a.TopK != nil && w.may("topK", w.word("top_k", "top_k", "top_k", "generationConfig.topK")) {
		w.number("topK", *a.TopK)
	}
	if a.Max != nil && w.may("maxOutputTokens", w.word("max_tokens", "max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens")) {
		w.number("maxOutputTokens", w.most(*a.Max))
	}
	if stop := a.Stop; len(stop) > 0 && w.may("stopSequences", w.word("stop", "stop", "stop_sequences", "generationConfig.stopSequences")) {
		if len(stop) > stopMost {
			stop = stop[:stopMost]
			w.lose(w.word("stop", "stop", "stop_sequences", "generationConfig.stopSequences"), "only the first 5 stop strings are taken")
		}
		w.texts("stopSequences", stop)
	}
	w.seed()
	number("presencePenalty", a.Presence, w.word("presence_penalty", "presence_penalty", "presence_penalty", "generationConfig.presencePenalty"))
	number("frequencyPenalty", a.Frequency, w.word("frequency_penalty", "frequency_penalty", "frequency_penalty", "generationConfig.frequencyPenalty"))
}

// most is how many tokens are asked for: no more than the model can give.
func (w *writing) most(n int64) int64 {
	if top := int64(w.t.Output); top > 0 && n > top {
		return top
	}
	return n
}

func (w *writing) seed() {
	n := w.a.Seed
	if n == "" {
		return
	}
	what := w.word("seed", "seed", "seed", "generationConfig.seed")
	if _, err := strconv.ParseInt(string(n), 10, 32); err != nil {
		w.lose(what, "it must be a whole number of 32 bits")
		return
	}
	if w.may("seed", what) {
		w.raw("seed", []byte(n))
	}
}

// made asks a model that makes images for them, where the asker's tool of that is left out.
func (w *writing) made() {
	if !w.m.image {
		return
	}
	for i := range w.a.Tools {
		if w.a.Tools[i].Hosted == "image" {
			w.raw("responseModalities", []byte(`["TEXT","IMAGE"]`))
			return
		}
	}
}

// rest writes what stands at the top besides, and tells of what has no place.
func (w *writing) rest() {
	a := w.a
	if a.Tier == "flex" || a.Tier == "priority" {
		if w.may("serviceTier", w.word("service_tier", "service_tier", "service_tier", "serviceTier")) {
			w.text("serviceTier", a.Tier)
		}
	}
	if w.own() {
		w.extras("", true)
	}
	for _, n := range []struct {
		said bool
		what string
	}{
		{a.Logprobs != nil, w.word("logprobs", "top_logprobs", "logprobs", "generationConfig.responseLogprobs")},
		{a.Verbosity != "", w.word("verbosity", "text.verbosity", "verbosity", "verbosity")},
		{a.CacheKey != "", "prompt_cache_key"},
		{a.User != "", w.word("user", "user", "metadata.user_id", "user")},
		{a.Metadata != nil, "metadata"},
		{a.Store != nil && *a.Store, "store"},
		{a.OneCall, w.word("parallel_tool_calls", "parallel_tool_calls", "tool_choice.disable_parallel_tool_use", "parallel_tool_calls")},
		{cached(a), "cache_control"},
	} {
		if n.said {
			w.lose(n.what, "")
		}
	}
	if !w.own() {
		for _, f := range a.Extra {
			w.lose(f.Name, "")
		}
	}
}

// cached says whether the asker marked what is to be cached; Gemini sees to that itself.
func cached(a *wire.Ask) bool {
	if a.AutoCache {
		return true
	}
	for i := range a.System {
		if a.System[i].Cache != nil {
			return true
		}
	}
	for i := range a.Turns {
		for j := range a.Turns[i].Parts {
			if a.Turns[i].Parts[j].Cache != nil {
				return true
			}
		}
	}
	return false
}

// extras writes the fields that only this API can say, of one object of the request.
func (w *writing) extras(under string, keep bool) {
	for _, f := range w.a.Extra {
		name, ok := strings.CutPrefix(f.Name, under)
		if !ok || strings.Contains(name, ".") {
			continue
		}
		if keep && w.may(name, f.Name) {
			w.any(name, f.Value)
		}
	}
}

package messages

import (
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// writing is a request while it is written.
type writing struct {
	a    *wire.Ask
	t    wire.Target
	m    model
	lost []wire.Loss
	err  *wire.FieldRefusal

	system   []block
	turns    []turn
	tools    []tool
	choice   string // tool_choice as it is written
	thinks   bool   // thinking is asked for
	thinking string // the field as it is written
	effort   string
	format   []byte // output_config.format
	max      int64
	unsealed bool // reasoning was left out, and told of
}

func writeAsk(a *wire.Ask, t wire.Target) ([]byte, []wire.Loss, error) {
	w := writing{a: a, t: t, m: modelOf(t.Model)}
	if err := a.OneReply(w.word("n", "generationConfig.candidateCount")); err != nil {
		return nil, nil, err
	}
	w.setSystem()
	w.setTools()
	w.setThinking()
	w.setFormat()
	w.setTurns()
	w.setChoice()
	if w.err != nil {
		return nil, nil, w.err
	}
	w.setCaches()
	w.loseRest()
	return w.body(), w.lost, nil
}

func (w *writing) lose(what, why string) {
	w.lost = append(w.lost, wire.Loss{What: what, Why: why})
}

func (w *writing) refuse(field, words string) {
	if w.err == nil {
		w.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

// word is a field's name in the asker's words.
func (w *writing) word(most, gemini string) string {
	if w.a.API == wire.Gemini {
		return gemini
	}
	return most
}

// takes says whether the vendor takes an optional field.
func (w *writing) takes(field string) bool {
	return !slices.Contains(w.t.Dialect.Unsupported, field)
}

// own says that the request comes from this very API.
func (w *writing) own() bool { return w.a.API == wire.Messages }

func (w *writing) setSystem() {
	for i := range w.a.System {
		p := &w.a.System[i]
		if text, ok := wire.Spoken(p); ok && !blank(text) {
			w.system = append(w.system, block{kind: blockText, text: text, cache: p.Cache})
		}
	}
}

// instruct adds a line of ours to the system prompt, behind all that is the client's.
func (w *writing) instruct(text string) {
	w.system = append(w.system, block{kind: blockText, text: text})
}

// body writes the request. What changes seldom stands before what changes often.
func (w *writing) body() []byte {
	size := 1024
	for i := range w.turns {
		size += 64
		for j := range w.turns[i].blocks {
			size += w.turns[i].blocks[j].size()
		}
	}
	b := append(make([]byte, 0, size+size/8), `{"model":`...)
	b = wire.AppendQuoted(b, w.t.Model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, w.max, 10)
	b = append(b, `,"stream":true`...)
	b = w.appendTools(b)
	if len(w.system) > 0 {
		b = append(b, `,"system":`...)
		b = appendBlocks(b, w.system)
	}
	b = append(b, `,"messages":[`...)
	for i := range w.turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":"`...)
		b = append(b, w.turns[i].role...)
		b = append(b, `","content":`...)
		b = append(appendBlocks(b, w.turns[i].blocks), '}')
	}
	b = append(b, ']')
	return append(w.appendRest(b), '}')
}

func (w *writing) appendRest(b []byte) []byte {
	if w.thinking != "" {
		b = append(append(b, `,"thinking":`...), w.thinking...)
	}
	b = w.appendOutput(b)
	b = w.appendSampling(b)
	b = w.appendStop(b)
	if w.a.User != "" && w.takes("metadata") {
		b = append(b, `,"metadata":{"user_id":`...)
		b = append(wire.AppendQuoted(b, w.a.User), '}')
	}
	if tier := w.tier(); tier != "" {
		b = append(b, `,"service_tier":"`+tier+`"`...)
	}
	if !w.own() {
		return b
	}
	if w.a.AutoCache {
		b = append(b, `,"cache_control":{"type":"ephemeral"}`...)
	}
	for _, f := range w.a.Extra {
		if f.Name == "thinking" || strings.HasPrefix(f.Name, "output_config.") || !w.takes(f.Name) {
			continue
		}
		b = append(b, ',')
		b = append(wire.AppendQuoted(b, f.Name), ':')
		b = append(b, f.Value...)
	}
	return b
}

// appendOutput writes output_config: the effort, the format, and what else its own API said.
func (w *writing) appendOutput(b []byte) []byte {
	from := len(b)
	member := func(name string, value []byte) {
		if len(b) == from {
			b = append(b, `,"output_config":{`...)
		} else {
			b = append(b, ',')
		}
		b = append(wire.AppendQuoted(b, name), ':')
		b = append(b, value...)
	}
	if w.effort != "" {
		member("effort", wire.Quote(w.effort))
	}
	if w.format != nil {
		member("format", w.format)
	}
	if w.own() {
		for _, f := range w.a.Extra {
			name, ok := strings.CutPrefix(f.Name, "output_config.")
			if ok && (name != "effort" || w.effort == "") {
				member(name, f.Value)
			}
		}
	}
	if len(b) > from {
		b = append(b, '}')
	}
	return b
}

// appendStop writes the stop strings; one of blanks alone is refused.
func (w *writing) appendStop(b []byte) []byte {
	from := len(b)
	for _, s := range w.a.Stop {
		if blank(s) {
			continue
		}
		if len(b) == from {
			b = append(b, `,"stop_sequences":[`...)
		} else {
			b = append(b, ',')
		}
		b = wire.AppendQuoted(b, s)
	}
	if len(b) > from {
		b = append(b, ']')
	}
	return b
}

func (w *writing) tier() string {
	if !w.takes("service_tier") || !w.own() && !w.m.claude {
		return ""
	}
	switch w.a.Tier {
	case "auto":
		return "auto"
	case "default":
		return "standard_only"
	}
	return ""
}

// loseRest tells of what the API has no place for.
func (w *writing) loseRest() {
	a := w.a
	for _, n := range []struct {
		said         bool
		most, gemini string
	}{
		{a.Presence != "", "presence_penalty", "generationConfig.presencePenalty"},
		{a.Frequency != "", "frequency_penalty", "generationConfig.frequencyPenalty"},
		{a.Seed != "", "seed", "generationConfig.seed"},
		{a.Logprobs != nil, "logprobs", "generationConfig.responseLogprobs"},
		{a.Metadata != nil, "metadata", "metadata"},
		{a.Store != nil && *a.Store, "store", "store"},
		{a.Verbosity != "", "verbosity", "verbosity"},
		{a.CacheKey != "", "prompt_cache_key", "prompt_cache_key"},
		{a.Tier != "" && a.Tier != "auto" && a.Tier != "default", "service_tier", "serviceTier"},
	} {
		if n.said {
			w.lose(w.word(n.most, n.gemini), "")
		}
	}
	for _, s := range a.Stop {
		if blank(s) {
			w.lose("stop", "a stop string of blanks alone is refused")
			break
		}
	}
	for _, f := range a.Extra {
		if !w.own() || !w.takes(f.Name) {
			w.lose(f.Name, "")
		}
	}
}

// blank says that a text is of white space alone, which the API refuses as a block.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

package chat

import (
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// writing is a request while it is written.
type writing struct {
	out
	a      *wire.Ask
	t      *wire.Target
	d      *wire.Dialect
	level  string // of reasoning, "" = not said
	lost   []wire.Loss
	err    error
	system []string // what is added to the system's text
}

// stopMost is how many stop strings the API takes.
const stopMost = 4

func writeAsk(a *wire.Ask, t *wire.Target) ([]byte, []wire.Loss, error) {
	field := "n"
	if a.API == wire.Gemini {
		field = "generationConfig.candidateCount"
	}
	if err := a.OneReply(field); err != nil {
		return nil, nil, err
	}
	w := writing{a: a, t: t, d: &t.Dialect, level: a.Level()}
	w.b = make([]byte, 0, size(a))
	w.open('{')
	w.str("model", t.Model)
	w.plan()
	w.messages()
	w.tools()
	w.reasoning()
	w.format()
	w.sampling()
	w.limits()
	w.hints()
	w.extras()
	w.key("stream")
	w.b = append(w.b, "true"...)
	if !w.d.NoUsageOption && !w.d.Refuses("stream_options") {
		w.raw("stream_options", []byte(`{"include_usage":true}`))
	}
	w.close('}')
	if w.err != nil {
		return nil, nil, w.err
	}
	return w.b, w.lost, nil
}

// size is about how long the body will be.
func size(a *wire.Ask) int {
	n := 1024 + partsSize(a.System)
	for i := range a.Turns {
		n += partsSize(a.Turns[i].Parts)
	}
	for i := range a.Tools {
		t := &a.Tools[i]
		n += 128 + len(t.Description) + len(t.Schema)
	}
	return n + n/16
}

func partsSize(parts []wire.Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += 64 + len(p.Text)
		switch {
		case p.Media != nil:
			n += len(p.Media.Data) + len(p.Media.Text)
		case p.Call != nil:
			n += 64 + len(p.Call.Args) + len(p.Call.Input)
		case p.Reply != nil:
			n += partsSize(p.Reply.Parts)
		}
	}
	return n
}

// lose notes something that is left out, once.
func (w *writing) lose(what, why string) {
	for i := range w.lost {
		if w.lost[i].What == what {
			return
		}
	}
	w.lost = append(w.lost, wire.Loss{What: what, Why: why})
}

// refuse notes the first thing that can't be carried without lying.
func (w *writing) refuse(field, words string) {
	if w.err == nil {
		w.err = &wire.FieldRefusal{Field: field, Words: words}
	}
}

// may says whether an optional field may be written; one that the vendor refuses is lost.
func (w *writing) may(field string) bool {
	if w.d.Refuses(field) {
		w.lose(field, "the vendor refuses it")
		return false
	}
	return true
}

// plan settles what has to be told in the system's text: it stands before all else.
func (w *writing) plan() {
	f := w.a.Format
	if f == nil {
		return
	}
	switch {
	case f.Schema != nil && w.d.NoSchema:
		w.system = append(w.system, "Answer with one JSON object alone, that follows this JSON schema:\n"+string(f.Schema))
		w.lose("response_format.json_schema", "the vendor knows none: it is told in words")
	case f.Schema == nil && !saysJSON(w.a):
		w.system = append(w.system, "Answer in JSON.")
	}
}

// saysJSON says whether the word stands in what is said: vendors refuse json_object without it.
func saysJSON(a *wire.Ask) bool {
	if partsSayJSON(a.System) {
		return true
	}
	for i := range a.Turns {
		if partsSayJSON(a.Turns[i].Parts) {
			return true
		}
	}
	return false
}

func partsSayJSON(parts []wire.Part) bool {
	for i := range parts {
		p := &parts[i]
		if p.Kind == wire.KindResult && p.Reply != nil && partsSayJSON(p.Reply.Parts) {
			return true
		}
		if strings.Contains(p.Text, "JSON") || strings.Contains(p.Text, "json") || strings.Contains(p.Text, "Json") {
			return true
		}
	}
	return false
}

// format writes response_format.
func (w *writing) format() {
	f := w.a.Format
	if f == nil || !w.may("response_format") {
		return
	}
	if f.Schema == nil || w.d.NoSchema {
		w.raw("response_format", []byte(`{"type":"json_object"}`))
		return
	}
	w.key("response_format")
	w.open('{')
	w.str("type", "json_schema")
	w.key("json_schema")
	w.open('{')
	name := f.Name
	if name == "" {
		name = "response"
	}
	w.str("name", wire.ChatNames.Name(name))
	w.strIf("description", f.Description)
	w.raw("schema", f.Schema)
	if f.Strict != nil {
		w.truth("strict", *f.Strict)
	}
	w.close('}')
	w.close('}')
}

// sampling writes what steers the choice of words. Models that reason take none of it.
func (w *writing) sampling() {
	samples := w.d.Samples(w.t.Model, w.level)
	for _, f := range []struct {
		name  string
		value json.Number
	}{
		{"temperature", w.a.Temperature},
		{"top_p", w.a.TopP},
		{"presence_penalty", w.a.Presence},
		{"frequency_penalty", w.a.Frequency},
	} {
		switch {
		case f.value == "":
		case !samples:
			w.lose(f.name, "the model takes none while it reasons")
		case w.may(f.name):
			w.raw(f.name, []byte(f.value))
		}
	}
	if w.a.TopK != nil {
		w.lose("top_k", "")
	}
	if w.a.Seed != "" && w.may("seed") {
		w.raw("seed", []byte(w.a.Seed))
	}
	w.logprobs(samples)
}

func (w *writing) logprobs(samples bool) {
	n := w.a.Logprobs
	switch {
	case n == nil:
	case w.a.API != wire.Chat:
		w.lose("logprobs", "")
	case !samples:
		w.lose("logprobs", "the model takes none while it reasons")
	default:
		w.lose("logprobs", "a translated reply has no place for them")
	}
}

// limits writes how long the reply may be and where it stops.
func (w *writing) limits() {
	if n := w.a.Max; n != nil && *n > 0 {
		most := *n
		if out := int64(w.t.Output); out > 0 && most > out {
			w.lose("max_tokens", "the model's most is "+strconv.FormatInt(out, 10))
			most = out
		}
		name := w.d.TokenName(w.t.Model)
		if name == "" {
			name = "max_tokens"
		}
		w.num(name, most)
	}
	stop := w.a.Stop
	if len(stop) == 0 || !w.may("stop") {
		return
	}
	if len(stop) > stopMost {
		w.lose("stop", "at most 4 are taken")
		stop = stop[:stopMost]
	}
	w.key("stop")
	w.open('[')
	for _, s := range stop {
		w.item()
		w.b = wire.AppendQuoted(w.b, s)
	}
	w.close(']')
}

// hints writes what changes how a request is served, not what it asks.
func (w *writing) hints() {
	a := w.a
	if a.Verbosity != "" && w.may("verbosity") {
		w.str("verbosity", a.Verbosity)
	}
	switch {
	case a.Tier == "":
	case w.d.Tiers && w.may("service_tier"):
		w.str("service_tier", a.Tier)
	case !w.d.Tiers && a.Tier != "auto" && a.Tier != "default":
		w.lose("service_tier", "the vendor has none")
	}
	if key := w.cacheKey(); key != "" && w.may("prompt_cache_key") {
		w.str("prompt_cache_key", key)
	}
	if a.User != "" && w.may("user") {
		w.str("user", bounded(a.User))
	}
	if a.AutoCache {
		w.lose("cache_control", "")
	}
}

// keyMost is how long a user and a cache key may be.
const keyMost = 64

func (w *writing) cacheKey() string {
	switch {
	case len(w.a.CacheKey) > keyMost:
		return wire.MakeID("magpie-", w.a.CacheKey)
	case w.a.CacheKey != "":
		return w.a.CacheKey
	case w.d.CacheKeys && w.t.Session != "" && !w.d.Refuses("prompt_cache_key"):
		return wire.MakeID("magpie-", w.t.Session)
	}
	return ""
}

// extras writes what only this API can say, for those who asked in it.
func (w *writing) extras() {
	a := w.a
	own := a.API == wire.Chat
	if len(a.Metadata) > 0 {
		switch {
		case !own:
			w.lose("metadata", "")
		case w.may("metadata"):
			w.raw("metadata", a.Metadata)
		}
	}
	if a.Store != nil {
		switch {
		case !own && *a.Store:
			w.lose("store", "")
		case own && w.may("store"):
			w.truth("store", *a.Store)
		}
	}
	for _, f := range a.Extra {
		switch {
		case !own:
			w.lose(f.Name, "")
		case outOfReach(f.Name):
			w.lose(f.Name, "a translated reply has no place for it")
		case w.may(f.Name):
			w.raw(f.Name, f.Value)
		}
	}
}

// outOfReach names fields that ask for what events can't tell.
func outOfReach(field string) bool {
	switch field {
	case "modalities", "audio":
		return true
	}
	return false
}

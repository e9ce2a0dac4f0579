package gemini

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// asking is a request while it is read.
type asking struct {
	w   *wire.Walker
	a   *wire.Ask
	err *wire.FieldRefusal

	content int             // the number of contents so far
	model   bool            // the last content was the model's
	open    []openCall      // calls of the last round, for results without an id
	ids     map[string]bool // of all calls so far
}

func readAsk(body []byte) (*wire.Ask, error) {
	r := asking{w: wire.Walk(body), a: &wire.Ask{API: wire.Gemini}}
	if r.w.Kind() != '{' {
		return nil, &wire.FieldRefusal{Words: "the request body must be one JSON object"}
	}
	r.w.Object(r.member)
	if err := r.w.Err(); err != nil {
		return nil, &wire.FieldRefusal{Words: "the request body is not JSON: " + err.Error()}
	}
	if r.err == nil && len(r.a.Turns) == 0 {
		r.refuse("contents", "there is nothing in it; send at least one content with a part")
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.a, nil
}

func (r *asking) refuse(field, words string) {
	if r.err == nil {
		r.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

func (r *asking) extra(name string) {
	raw := r.w.Raw()
	if v := wire.Value(raw); v.None() || (v.Kind() == '[' || v.Kind() == '{') && len(v) == 2 {
		return
	}
	r.a.Extra = append(r.a.Extra, wire.Field{Name: name, Value: raw})
}

func (r *asking) member(key []byte) {
	a, w := r.a, r.w
	switch string(key) {
	case "contents":
		if w.Kind() == '{' {
			r.readContent()
			return
		}
		w.Array(r.readContent)
	case "systemInstruction", "system_instruction":
		r.system()
	case "tools":
		w.Array(r.tool)
	case "toolConfig", "tool_config":
		w.Object(r.toolConfig)
	case "generationConfig", "generation_config":
		w.Object(r.config)
	case "generateContentRequest", "generate_content_request": // of countTokens
		w.Object(r.member)
	case "cachedContent", "cached_content":
		if w.Text() != "" {
			r.refuse("cachedContent", "what is cached at Google is not known to this model; send it in contents")
		}
	case "serviceTier", "service_tier":
		a.Tier = tier(w.Text())
	case "store":
		yes := w.Bool()
		a.Store = &yes
	case "model":
		a.Model = strings.TrimPrefix(w.Text(), "models/")
	case "stream":
		a.Stream = w.Bool()
	case "safety_settings":
		r.extra("safetySettings")
	default:
		r.extra(string(key))
	}
}

// tier is Google's word for a tier in OpenAI's.
func tier(word string) string {
	switch word = strings.ToLower(word); word {
	case "standard":
		return "default"
	case "flex", "priority":
		return word
	}
	return ""
}

// system reads systemInstruction: a content, of which the texts count.
func (r *asking) system() {
	add := func(text string) {
		if text != "" {
			r.a.System = append(r.a.System, wire.Part{Text: text})
		}
	}
	if r.w.Kind() == '"' {
		add(r.w.Text())
		return
	}
	part := func() {
		r.w.Object(func(key []byte) {
			if string(key) == "text" {
				add(r.w.Text())
			}
		})
	}
	r.w.Object(func(key []byte) {
		if string(key) != "parts" {
			return
		}
		if r.w.Kind() == '{' {
			part()
			return
		}
		r.w.Array(part)
	})
}

// config reads a member of generationConfig.
func (r *asking) config(key []byte) {
	a, w := r.a, r.w
	switch string(key) {
	case "temperature":
		a.Temperature = w.Number()
	case "topP", "top_p":
		a.TopP = w.Number()
	case "topK", "top_k":
		a.TopK = integer(w)
	case "maxOutputTokens", "max_output_tokens":
		a.Max = integer(w)
	case "stopSequences", "stop_sequences":
		w.Array(func() {
			if s := w.Text(); s != "" {
				a.Stop = append(a.Stop, s)
			}
		})
	case "candidateCount", "candidate_count":
		a.N, _ = w.Int()
	case "seed":
		a.Seed = w.Number()
	case "presencePenalty", "presence_penalty":
		a.Presence = w.Number()
	case "frequencyPenalty", "frequency_penalty":
		a.Frequency = w.Number()
	case "responseLogprobs", "response_logprobs":
		if w.Bool() && a.Logprobs == nil {
			a.Logprobs = new(int64)
		}
	case "logprobs":
		a.Logprobs = integer(w)
	case "thinkingConfig", "thinking_config":
		w.Object(r.thinking)
	default:
		r.format(key)
	}
}

// format reads what generationConfig says of structured output.
func (r *asking) format(key []byte) {
	switch string(key) {
	case "responseMimeType", "response_mime_type":
		switch mime := r.w.Text(); mime {
		case "", "text/plain":
		case "application/json":
			if r.a.Format == nil {
				r.a.Format = &wire.Format{}
			}
		default:
			r.a.Extra = append(r.a.Extra, wire.Field{Name: "generationConfig.responseMimeType", Value: wire.Quote(mime)})
		}
	case "responseSchema", "response_schema":
		if schema := wire.FromOpenAPI(r.w.Raw()); wire.Value(schema).Kind() == '{' && (r.a.Format == nil || r.a.Format.Schema == nil) {
			r.a.Format = &wire.Format{Schema: schema}
		}
	case "responseJsonSchema", "response_json_schema", "_responseJsonSchema":
		if schema := r.w.Raw(); wire.Value(schema).Kind() == '{' {
			r.a.Format = &wire.Format{Schema: schema}
		}
	default:
		r.extra("generationConfig." + string(key))
	}
}

func (r *asking) thinking(key []byte) {
	switch string(key) {
	case "includeThoughts", "include_thoughts":
		r.a.Show = wire.ShowNone
		if r.w.Bool() {
			r.a.Show = wire.ShowSummary
		}
	case "thinkingBudget", "thinking_budget":
		r.a.Budget = integer(r.w)
	case "thinkingLevel", "thinking_level":
		r.a.Effort = wire.GeminiEffort(r.w.Text())
	}
}

func integer(w *wire.Walker) *int64 {
	n, ok := w.Int()
	if !ok {
		return nil
	}
	return &n
}

package responses

import (
	"bytes"
	"encoding/json"
	"slices"

	"dev.magpie/gateway/wire"
)

// askReader gathers a request.
type askReader struct {
	a     *wire.Ask
	tools toolList
	shell map[string]string // local shell calls by their item's id: what their outputs may name
	err   error             // the first field that can't be carried

	instructions, input, offered, choice json.RawMessage
}

// ReadAsk reads a request's body. What refers to things that only OpenAI has stored is refused.
func (Codec) ReadAsk(body []byte) (*wire.Ask, error) {
	return (&askReader{a: &wire.Ask{API: wire.Responses}}).ask(body)
}

// ReadCompact reads the body of a request to compact a conversation, by the path of its own.
func ReadCompact(body []byte) (*wire.Ask, error) {
	return (&askReader{a: &wire.Ask{API: wire.Responses, Alone: true}}).ask(body)
}

func (r *askReader) ask(body []byte) (*wire.Ask, error) {
	w := wire.Walk(body)
	if w.Kind() != '{' {
		return nil, &wire.FieldRefusal{Words: "the request body must be one JSON object"}
	}
	w.Object(func(key []byte) { r.top(key, w) })
	if err := w.Err(); err != nil {
		return nil, err
	}
	r.conversation()
	if r.err != nil {
		return nil, r.err
	}
	return r.a, nil
}

func (r *askReader) refuse(field, words string) {
	if r.err == nil {
		r.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

// stored says that a field refers to what the vendor stored.
func (r *askReader) stored(field string) {
	r.refuse(field, "nothing is stored for this model, so the request can't refer to it; send the whole conversation in input")
}

// conversation reads what needs the order instructions, tools, input, whatever that of the body is.
func (r *askReader) conversation() {
	if s := wire.Value(r.instructions).Text(); s != "" {
		// Raw tells instructions from a system message: a reply repeats them.
		r.a.System = append(r.a.System, wire.Part{Text: s, Raw: r.instructions})
	}
	r.tools.read(r.offered, "")
	switch wire.Value(r.input).Kind() {
	case '"':
		if s := wire.Value(r.input).Text(); s != "" {
			r.say(wire.RoleUser, wire.Part{Text: s})
		}
	case '[':
		r.items(r.input)
	case 'n':
		if len(r.a.System) == 0 {
			r.refuse("input", "it is missing; send a text or a list of items")
		}
	default:
		r.refuse("input", "it must be a text or a list of items")
	}
	if r.a.Alone && !r.a.Compact {
		r.compact()
	}
	r.settleSeals()
	r.a.Tools = r.tools.settle()
	r.a.Choice = readChoice(r.choice)
	if r.a.Compact {
		r.a.Tools, r.a.Choice, r.a.OneCall = nil, wire.Choice{}, false
	}
}

// top reads one member of the body.
func (r *askReader) top(key []byte, w *wire.Walker) {
	a := r.a
	if w.Kind() == 'n' { // null is not said, whatever the field
		w.Skip()
		return
	}
	switch string(key) {
	case "model":
		a.Model = w.Text()
	case "stream":
		a.Stream = w.Bool()
	case "instructions":
		r.instructions = w.Raw()
	case "input":
		r.input = w.Raw()
	case "tools":
		r.offered = w.Raw()
	case "tool_choice":
		r.choice = w.Raw()
	case "parallel_tool_calls":
		a.OneCall = w.Kind() == 'f'
		w.Skip()
	case "reasoning":
		r.reasoning(w)
	case "text":
		r.text(w)
	default:
		r.topMore(string(key), w)
	}
}

// topMore reads the members that say less of what is asked.
func (r *askReader) topMore(key string, w *wire.Walker) {
	a := r.a
	switch key {
	case "max_output_tokens":
		n, ok := w.Int()
		if !ok {
			r.refuse(key, "it must be a number")
		}
		if n > 0 {
			a.Max = &n
		}
	case "temperature":
		a.Temperature = r.number(key, w)
	case "top_p":
		a.TopP = r.number(key, w)
	case "prompt_cache_key":
		a.CacheKey = w.Text()
	case "service_tier":
		a.Tier = w.Text()
	case "safety_identifier":
		a.User = w.Text()
	case "user":
		if s := w.Text(); a.User == "" {
			a.User = s
		}
	case "metadata":
		if raw := w.Raw(); !bytes.Equal(bytes.Join(bytes.Fields(raw), nil), []byte("{}")) {
			a.Metadata = raw
		}
	case "store":
		yes := w.Bool()
		a.Store = &yes
	case "top_logprobs":
		if n, ok := w.Int(); ok && n > 0 {
			a.Logprobs = &n
		}
	case "include":
		r.include(w)
	case "previous_response_id", "conversation", "prompt":
		w.Skip()
		r.stored(key)
	case "background":
		if w.Bool() {
			r.refuse(key, "a reply can't be left to be fetched later; ask for it with stream")
		}
	default:
		r.extra(key, w.Raw())
	}
}

// extra keeps what only this API can say, unless it says what goes without saying.
func (r *askReader) extra(key string, raw json.RawMessage) {
	switch key {
	case "truncation":
		if string(raw) == `"disabled"` {
			return
		}
	case "stream_options", "client_metadata": // how to send, and who asks: no part of what is asked
		return
	}
	r.a.Extra = append(r.a.Extra, wire.Field{Name: key, Value: raw})
}

// include keeps what is to be told besides, but for sealed reasoning, which always is.
func (r *askReader) include(w *wire.Walker) {
	raw := w.Raw()
	var all []string
	if json.Unmarshal(raw, &all) != nil {
		return
	}
	if slices.Contains(all, "message.output_text.logprobs") && r.a.Logprobs == nil {
		r.a.Logprobs = new(int64)
	}
	for _, s := range all {
		if s != "reasoning.encrypted_content" && s != "message.output_text.logprobs" {
			r.extra("include", raw)
			return
		}
	}
}

func (r *askReader) number(key string, w *wire.Walker) json.Number {
	n := w.Number()
	if n == "" {
		r.refuse(key, "it must be a number")
	}
	return n
}

func (r *askReader) reasoning(w *wire.Walker) {
	w.Object(func(key []byte) {
		if w.Kind() == 'n' {
			w.Skip()
			return
		}
		switch string(key) {
		case "effort":
			r.a.Effort = w.Text()
		case "summary", "generate_summary":
			r.a.Show = wire.ShowSummary
			if w.Text() == "none" {
				r.a.Show = wire.ShowNone
			}
		default:
			r.a.Extra = append(r.a.Extra, wire.Field{Name: "reasoning." + string(key), Value: w.Raw()})
		}
	})
}

func (r *askReader) text(w *wire.Walker) {
	w.Object(func(key []byte) {
		switch string(key) {
		case "verbosity":
			r.a.Verbosity = w.Text()
		case "format":
			r.a.Format = readFormat(w)
		}
	})
}

// readFormat reads text.format; plain text is none.
func readFormat(w *wire.Walker) *wire.Format {
	kind, f := "", &wire.Format{}
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			kind = w.Text()
		case "name":
			f.Name = w.Text()
		case "description":
			f.Description = w.Text()
		case "schema":
			f.Schema = notNull(w.Raw())
		case "strict":
			f.Strict = readTruth(w)
		}
	})
	switch kind {
	case "json_object":
		return &wire.Format{}
	case "json_schema":
		return f
	}
	return nil
}

// readTruth reads true or false; null is nil.
func readTruth(w *wire.Walker) *bool {
	if k := w.Kind(); k != 't' && k != 'f' {
		w.Skip()
		return nil
	}
	yes := w.Bool()
	return &yes
}

func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

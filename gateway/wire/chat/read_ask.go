package chat

import (
	"encoding/json"

	"dev.magpie/gateway/wire"
)

// asked is a request while it is read.
type asked struct {
	a        *wire.Ask
	err      error
	messages []message
	most     *int64 // max_tokens, which max_completion_tokens goes before
	user     string // user, which safety_identifier goes before
	logprobs bool
	reason   reasoning
}

// refuse notes the first thing that breaks the API's rules.
func (r *asked) refuse(field, words string) {
	if r.err == nil {
		r.err = &wire.FieldRefusal{Field: field, Words: words}
	}
}

func readAsk(body []byte) (*wire.Ask, error) {
	r := asked{a: &wire.Ask{API: wire.Chat}}
	w := wire.Walk(body)
	if w.Kind() != '{' {
		return nil, &wire.FieldRefusal{Words: "the request body must be one JSON object"}
	}
	w.Object(func(key []byte) { r.field(w, key) })
	if err := w.Err(); err != nil {
		return nil, &wire.FieldRefusal{Words: "the request body is not JSON: " + err.Error()}
	}
	r.turns()
	if r.err != nil {
		return nil, r.err
	}
	r.settle()
	return r.a, nil
}

// settle decides between fields that say the same.
func (r *asked) settle() {
	a := r.a
	if a.Max == nil {
		a.Max = r.most
	}
	if a.User == "" {
		a.User = r.user
	}
	if r.logprobs && a.Logprobs == nil {
		a.Logprobs = new(int64)
	}
	if !r.logprobs {
		a.Logprobs = nil
	}
	r.reason.settle(a)
}

// field reads one member of the body.
func (r *asked) field(w *wire.Walker, key []byte) {
	if w.Kind() == 'n' {
		return
	}
	a := r.a
	switch string(key) {
	case "model":
		a.Model = w.Text()
	case "messages":
		r.readMessages(w)
	case "stream":
		a.Stream = w.Bool()
	case "stream_options":
		w.Object(func(key []byte) {
			if string(key) == "include_usage" {
				a.Usage = w.Bool()
			}
		})
	case "tools":
		r.tools(w)
	case "functions":
		r.functions(w)
	case "tool_choice", "function_call":
		r.choice(w)
	case "parallel_tool_calls":
		a.OneCall = w.Kind() == 'f'
	case "response_format":
		r.format(w)
	case "web_search_options":
		r.search(w)
	default:
		if !r.number(w, key) && !r.word(w, key) && !r.reason.field(w, key) {
			a.Extra = append(a.Extra, wire.Field{Name: string(key), Value: w.Raw()})
		}
	}
}

// number reads the fields that are numbers, and those beside them.
func (r *asked) number(w *wire.Walker, key []byte) bool {
	a := r.a
	switch string(key) {
	case "max_completion_tokens":
		a.Max = positive(w)
	case "max_tokens":
		r.most = positive(w)
	case "temperature":
		a.Temperature = w.Number()
	case "top_p":
		a.TopP = w.Number()
	case "top_k":
		a.TopK = positive(w)
	case "presence_penalty":
		a.Presence = w.Number()
	case "frequency_penalty":
		a.Frequency = w.Number()
	case "seed":
		a.Seed = w.Number()
	case "n":
		a.N, _ = w.Int()
	case "logprobs":
		r.logprobs = w.Bool()
	case "top_logprobs":
		if n, ok := w.Int(); ok {
			a.Logprobs = &n
		}
	default:
		return false
	}
	return true
}

// positive is a number of tokens; 0 counts as not said.
func positive(w *wire.Walker) *int64 {
	n, ok := w.Int()
	if !ok || n <= 0 {
		return nil
	}
	return &n
}

// word reads the fields that are strings, and those beside them.
func (r *asked) word(w *wire.Walker, key []byte) bool {
	a := r.a
	switch string(key) {
	case "stop":
		a.Stop = words(w)
	case "verbosity":
		a.Verbosity = w.Text()
	case "prompt_cache_key":
		a.CacheKey = w.Text()
	case "service_tier":
		a.Tier = w.Text()
	case "safety_identifier":
		a.User = w.Text()
	case "user":
		r.user = w.Text()
	case "metadata":
		a.Metadata = w.Raw()
	case "store":
		store := w.Bool()
		a.Store = &store
	default:
		return false
	}
	return true
}

// words reads a string, or an array of them.
func words(w *wire.Walker) []string {
	if w.Kind() == '"' {
		return []string{w.Text()}
	}
	var all []string
	w.Array(func() {
		if s := w.Text(); s != "" {
			all = append(all, s)
		}
	})
	return all
}

// format reads response_format.
func (r *asked) format(w *wire.Walker) {
	kind := ""
	var f wire.Format
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			kind = w.Text()
		case "json_schema":
			w.Object(func(key []byte) { readSchema(w, &f, key) })
		}
	})
	switch kind {
	case "json_schema":
		if f.Schema == nil {
			f.Schema = json.RawMessage("{}")
		}
		r.a.Format = &f
	case "json_object":
		r.a.Format = &wire.Format{}
	case "", "text":
	default:
		r.refuse("response_format.type", "response_format.type: "+quoted(kind)+" is none of text, json_object, json_schema")
	}
}

func readSchema(w *wire.Walker, f *wire.Format, key []byte) {
	switch string(key) {
	case "name":
		f.Name = w.Text()
	case "description":
		f.Description = w.Text()
	case "schema":
		f.Schema = object(w)
	case "strict":
		f.Strict = truth(w)
	}
}

// object takes an object as it is written; anything else is nothing.
func object(w *wire.Walker) json.RawMessage {
	if w.Kind() != '{' {
		return nil
	}
	return w.Raw()
}

// truth takes true or false; anything else is nothing.
func truth(w *wire.Walker) *bool {
	if k := w.Kind(); k != 't' && k != 'f' {
		return nil
	}
	yes := w.Bool()
	return &yes
}

func quoted(s string) string { return string(wire.Quote(s)) }

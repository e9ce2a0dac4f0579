package messages

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// billing begins the first system block of Claude Code: it differs from request to
// request, and tells a model nothing.
const billing = "x-anthropic-billing-header:"

// asking is a request while it is read.
type asking struct {
	w      *wire.Walker
	a      *wire.Ask
	err    *wire.FieldRefusal
	effort string
	off    bool // thinking is disabled
}

func readAsk(body []byte) (*wire.Ask, error) {
	r := asking{w: wire.Walk(body), a: &wire.Ask{API: wire.Messages}}
	seen := false
	r.w.Object(func(key []byte) {
		seen = true
		r.field(key)
	})
	if err := r.w.Err(); err != nil {
		return nil, err
	}
	if r.err == nil && !seen {
		r.refuse("messages", "the request must be a JSON object with messages")
	}
	if r.err != nil {
		return nil, r.err
	}
	r.settleThinking()
	r.settleChoice()
	return r.a, nil
}

func (r *asking) refuse(field, words string) {
	if r.err == nil {
		r.err = &wire.FieldRefusal{Field: field, Words: field + ": " + words}
	}
}

func (r *asking) field(key []byte) {
	w, a := r.w, r.a
	switch string(key) {
	case "model":
		a.Model = strings.TrimSpace(w.Text())
	case "stream":
		a.Stream = w.Bool()
	case "max_tokens":
		if n, ok := w.Int(); ok {
			a.Max = &n
		}
	case "system":
		r.system()
	case "messages":
		r.messages()
	case "tools":
		w.Array(func() { a.Tools = append(a.Tools, readTool(w.Raw())) })
	case "tool_choice":
		r.choice()
	case "thinking":
		r.thinking()
	case "output_config":
		r.outputConfig()
	case "output_format":
		a.Format = readFormat(wire.Value(w.Raw()))
	case "temperature":
		a.Temperature = w.Number()
	case "top_p":
		a.TopP = w.Number()
	case "top_k":
		if n, ok := w.Int(); ok {
			a.TopK = &n
		}
	default:
		r.rest(key)
	}
}

// rest reads the fields that say little.
func (r *asking) rest(key []byte) {
	w, a := r.w, r.a
	switch string(key) {
	case "stop_sequences":
		w.Array(func() {
			if s := w.Text(); s != "" {
				a.Stop = append(a.Stop, s)
			}
		})
	case "metadata":
		a.User = wire.Value(w.Raw()).Get("user_id").Text()
	case "service_tier":
		switch tier := w.Text(); tier {
		case "standard_only", "standard":
			a.Tier = "default"
		default:
			a.Tier = tier
		}
	case "cache_control":
		a.AutoCache = readCache(wire.Value(w.Raw())) != nil
	case "thread":
		if wire.Value(w.Raw()).Get("type").Text() == "continue" {
			r.err = &wire.FieldRefusal{
				Field: "thread", Code: "thread_unsupported_request",
				Words: "thread: this model's vendor keeps no threads; send the whole conversation",
			}
		}
	default:
		raw := w.Raw()
		if v := wire.Value(raw); v.None() || len(v) == 2 && (v.Kind() == '[' || v.Kind() == '{') {
			return
		}
		a.Extra = append(a.Extra, wire.Field{Name: string(key), Value: raw})
	}
}

// system reads the system prompt: a string or blocks of text.
func (r *asking) system() {
	switch r.w.Kind() {
	case '"':
		r.systemText(wire.Part{Text: r.w.Text()})
	case '[':
		r.w.Array(func() {
			v := wire.Value(r.w.Raw())
			r.systemText(wire.Part{Text: v.Get("text").Text(), Cache: readCache(v.Get("cache_control"))})
		})
	default:
		r.w.Skip()
	}
}

func (r *asking) systemText(p wire.Part) {
	if strings.HasPrefix(p.Text, billing) { // what stands behind that line, in a prompt of one piece, stays
		_, rest, _ := strings.Cut(p.Text, "\n")
		p.Text = strings.TrimLeft(rest, "\r\n")
	}
	if p.Text != "" {
		r.a.System = append(r.a.System, p)
	}
}

func (r *asking) messages() {
	if r.w.Kind() != '[' {
		r.w.Skip()
		r.refuse("messages", "must be a list of messages")
		return
	}
	r.w.Array(func() { r.message() })
}

func (r *asking) message() {
	if r.w.Kind() != '{' {
		r.w.Skip()
		r.refuse("messages", "every message must be an object with role and content")
		return
	}
	var t wire.Turn
	var content wire.Value
	effort := ""
	r.w.Object(func(key []byte) {
		switch string(key) {
		case "role":
			t.Role = wire.Role(r.w.Text())
		case "content":
			content = wire.Value(r.w.Raw())
		case "output_config":
			effort = wire.Value(r.w.Raw()).Get("effort").Text()
		}
	})
	switch t.Role {
	case wire.RoleUser, wire.RoleAssistant:
	case wire.RoleSystem:
		if effort != "" { // from here on
			r.effort = effort
		}
	default:
		r.refuse("messages.role", "must be user, assistant or system")
		return
	}
	if k := content.Kind(); k != '"' && k != '[' {
		r.refuse("messages.content", "must be a string or a list of blocks")
		return
	}
	r.turn(t, content)
}

// turn reads what a message says. What was compacted is a turn of the user: it tells the
// model what was said before.
func (r *asking) turn(t wire.Turn, content wire.Value) {
	if content.Kind() == '"' {
		if text := content.Text(); text != "" {
			t.Parts = []wire.Part{{Text: text}}
		}
		r.add(t)
		return
	}
	role := t.Role
	content.Elements(func(v wire.Value) {
		m := membersOf(v)
		if m.kind.Text() == "compaction" {
			r.add(t)
			r.add(wire.Turn{Role: wire.RoleUser, Parts: []wire.Part{{Text: m.content.Text()}}})
			t = wire.Turn{Role: role}
			return
		}
		t.Parts = m.read(t.Parts, v)
	})
	if role == wire.RoleAssistant {
		t.Parts = handOver(t.Parts)
	}
	r.add(t)
}

func (r *asking) add(t wire.Turn) {
	if len(t.Parts) > 0 {
		r.a.Turns = append(r.a.Turns, t)
	}
}

// handOver gives a seal that Gemini made to the call or text that it stood with: it came
// in the thinking block before it, where this API has a place.
func handOver(parts []wire.Part) []wire.Part {
	out := parts[:0]
	for i := range parts {
		p := parts[i]
		if p.Kind == wire.KindThinking && p.Seal != nil && p.Seal.API == wire.Gemini && i+1 < len(parts) {
			next := &parts[i+1]
			if next.Seal == nil && (next.Kind == wire.KindCall || next.Kind == wire.KindText) {
				next.Seal, p.Seal = p.Seal, nil
				if p.Text == "" {
					continue
				}
			}
		}
		out = append(out, p)
	}
	return out
}

func (r *asking) choice() {
	v := wire.Value(r.w.Raw())
	c := &r.a.Choice
	switch v.Get("type").Text() {
	case "auto":
		c.Mode = wire.ChoiceAuto
	case "any":
		c.Mode = wire.ChoiceRequired
	case "none":
		c.Mode = wire.ChoiceNone
	case "tool":
		c.Mode, c.Name = wire.ChoiceTool, v.Get("name").Text()
	}
	r.a.OneCall = v.Get("disable_parallel_tool_use").True()
}

// settleChoice tells a hosted tool that is named from the client's own of the same name.
func (r *asking) settleChoice() {
	c := &r.a.Choice
	if c.Mode != wire.ChoiceTool {
		return
	}
	for i := range r.a.Tools {
		if t := &r.a.Tools[i]; t.Name == c.Name {
			if t.Kind == wire.ToolHosted {
				c.Name, c.Hosted = "", t.Hosted
			}
			return
		}
	}
}

func (r *asking) thinking() {
	raw := r.w.Raw()
	v := wire.Value(raw)
	var budget int64
	switch v.Get("type").Text() {
	case "enabled":
		budget = -1
		if n, ok := v.Get("budget_tokens").Int(); ok && n > 0 {
			budget = n
		}
	case "adaptive":
		budget = -1
	case "disabled":
		r.off = true
	case "between_tools":
		r.off = true
		r.a.Extra = append(r.a.Extra, wire.Field{Name: "thinking", Value: raw})
	default:
		return
	}
	r.a.Budget = &budget
	switch v.Get("display").Text() {
	case "summarized":
		r.a.Show = wire.ShowSummary
	case "omitted":
		r.a.Show = wire.ShowNone
	case "updates":
		r.a.Show = wire.ShowUpdates
	}
}

func (r *asking) outputConfig() {
	wire.Value(r.w.Raw()).Members(func(key string, v wire.Value) {
		switch key {
		case "effort":
			if r.effort == "" {
				r.effort = v.Text()
			}
		case "format":
			r.a.Format = readFormat(v)
		default:
			if !v.None() {
				r.a.Extra = append(r.a.Extra, wire.Field{Name: "output_config." + key, Value: v.Raw()})
			}
		}
	})
}

// settleThinking brings level and budget together, whatever the order they came in. A
// budget in tokens says more than the level beside it.
func (r *asking) settleThinking() {
	switch {
	case r.effort == "":
	case r.off:
		r.a.Extra = append(r.a.Extra, wire.Field{Name: "output_config.effort", Value: wire.Quote(r.effort)})
	default:
		r.a.Effort = r.effort
	}
}

func readFormat(v wire.Value) *wire.Format {
	if v.Get("type").Text() != "json_schema" {
		return nil
	}
	return &wire.Format{Schema: v.Get("schema").Raw()}
}

func readCache(v wire.Value) *wire.Cache {
	if v.Kind() != '{' {
		return nil
	}
	return &wire.Cache{TTL: v.Get("ttl").Text()}
}

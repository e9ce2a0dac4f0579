package chat

import (
	"strconv"

	"dev.magpie/gateway/wire"
)

// message is one message as it came, before turns are made of them.
type message struct {
	role    string
	content []wire.Part
	thought string
	details []byte // reasoning_details as they came
	refusal string
	calls   []wire.Part
	id      string // tool_call_id
	name    string
	cache   *wire.Cache
}

func (r *asked) readMessages(w *wire.Walker) {
	if w.Kind() != '[' {
		r.refuse("messages", "messages must be an array")
		w.Skip()
		return
	}
	r.messages = make([]message, 0, 16)
	w.Array(func() {
		at := "messages[" + strconv.Itoa(len(r.messages)) + "]"
		if w.Kind() != '{' {
			r.refuse(at, at+" must be an object")
			w.Skip()
			return
		}
		var m message
		w.Object(func(key []byte) { r.member(w, &m, key, len(r.messages)) })
		r.messages = append(r.messages, m)
	})
}

// member reads one member of the nth message.
func (r *asked) member(w *wire.Walker, m *message, key []byte, n int) {
	if w.Kind() == 'n' {
		return
	}
	switch string(key) {
	case "role":
		m.role = w.Text()
	case "content":
		m.content = readContent(w)
	case "reasoning_content", "reasoning":
		if t := w.Text(); m.thought == "" {
			m.thought = t
		}
	case "reasoning_details":
		m.details = w.Raw()
	case "refusal":
		m.refusal = w.Text()
	case "tool_calls":
		w.Array(func() { m.calls = append(m.calls, readCall(w, n, len(m.calls))) })
	case "function_call":
		p := wire.Part{Kind: wire.KindCall, Call: &wire.Call{ID: madeID(n)}}
		w.Object(func(key []byte) { callMember(w, p.Call, key) })
		m.calls = append(m.calls, whole(p))
	case "tool_call_id":
		m.id = w.Text()
	case "name":
		m.name = w.Text()
	case "cache_control":
		m.cache = readCache(w)
	}
}

// madeID is the id of a call of the API's first years, which has none: its message's place.
func madeID(n int) string { return wire.MakeID("call_", "message "+strconv.Itoa(n)) }

// readCall reads the kth call of the nth message.
func readCall(w *wire.Walker, n, k int) wire.Part {
	p := wire.Part{Kind: wire.KindCall, Call: &wire.Call{}}
	w.Object(func(key []byte) {
		switch string(key) {
		case "id":
			p.Call.ID = w.Text()
		case "function":
			w.Object(func(key []byte) { callMember(w, p.Call, key) })
		case "custom":
			p.Call.Free = true
			w.Object(func(key []byte) { callMember(w, p.Call, key) })
		case "extra_content":
			p.Seal = readExtra(w)
		}
	})
	if p.Call.ID == "" {
		p.Call.ID = wire.MakeID("call_", "message "+strconv.Itoa(n), strconv.Itoa(k))
	}
	return whole(p)
}

// whole gives a function's call without arguments the empty object that it means.
func whole(p wire.Part) wire.Part {
	if !p.Call.Free && len(p.Call.Args) == 0 {
		p.Call.Args = []byte("{}")
	}
	return p
}

func callMember(w *wire.Walker, c *wire.Call, key []byte) {
	switch string(key) {
	case "name":
		c.Name = w.Text()
	case "arguments":
		if w.Kind() == '{' { // some agents forget that it is a string
			c.Args = w.Raw()
			return
		}
		if t := w.Text(); t != "" {
			c.Args = []byte(t)
		}
	case "input":
		c.Input = w.Text()
	}
}

// readExtra reads Gemini's signature of a call.
func readExtra(w *wire.Walker) *wire.Seal {
	var s *wire.Seal
	w.Object(func(key []byte) {
		if string(key) != "google" {
			return
		}
		w.Object(func(key []byte) {
			if string(key) == "thought_signature" {
				s = wire.ReadSeal(wire.Gemini, w.Text())
			}
		})
	})
	return s
}

// turns makes turns of the messages, and the system's part of those before the first of them.
func (r *asked) turns() {
	if len(r.messages) == 0 {
		r.refuse("messages", "messages is empty: say something")
		return
	}
	r.a.Turns = make([]wire.Turn, 0, len(r.messages))
	for n := range r.messages {
		m := &r.messages[n]
		switch m.role {
		case "system", "developer":
			r.system(m)
		case "user":
			r.say(wire.RoleUser, m.marked(m.content))
		case "assistant":
			r.say(wire.RoleAssistant, m.marked(m.spoken()))
		case "tool", "function":
			r.result(m)
		default:
			at := "messages[" + strconv.Itoa(n) + "].role"
			r.refuse(at, at+": "+quoted(m.role)+" is none of system, developer, user, assistant, tool, function")
		}
	}
}

func (r *asked) system(m *message) {
	parts := m.marked(m.content)
	for i := range parts {
		parts[i].Dev = m.role == "developer"
	}
	if len(r.a.Turns) == 0 {
		r.a.System = append(r.a.System, parts...)
		return
	}
	if len(parts) > 0 {
		r.a.Turns = append(r.a.Turns, wire.Turn{Role: wire.RoleSystem, Parts: parts})
	}
}

// marked gives a message's own cache mark to its last part, unless that has one.
func (m *message) marked(parts []wire.Part) []wire.Part {
	if n := len(parts) - 1; n >= 0 && m.cache != nil && parts[n].Cache == nil {
		parts[n].Cache = m.cache
	}
	return parts
}

// spoken is what an assistant's message says: reasoning, text, calls.
func (m *message) spoken() []wire.Part {
	parts := readThoughts(m.thought, m.details)
	parts = append(parts, m.content...)
	if m.refusal != "" {
		parts = append(parts, wire.Part{Kind: wire.KindRefusal, Text: m.refusal})
	}
	return append(parts, m.calls...)
}

// say appends a turn. What the user says behind results joins their turn.
func (r *asked) say(role wire.Role, parts []wire.Part) {
	if n := len(r.a.Turns) - 1; n >= 0 && role == wire.RoleUser && r.a.Turns[n].Role == role && onlyResults(r.a.Turns[n].Parts) {
		r.a.Turns[n].Parts = append(r.a.Turns[n].Parts, parts...)
		return
	}
	if len(parts) > 0 {
		r.a.Turns = append(r.a.Turns, wire.Turn{Role: role, Parts: parts})
	}
}

func onlyResults(parts []wire.Part) bool {
	return len(parts) > 0 && parts[len(parts)-1].Kind == wire.KindResult
}

// result reads a message of role tool or function.
func (r *asked) result(m *message) {
	res := &wire.Result{ID: m.id, Name: m.name, Parts: m.content}
	if res.ID == "" {
		res.ID = r.unanswered(m.name)
	}
	p := wire.Part{Kind: wire.KindResult, Reply: res, Cache: m.cache}
	for i := range res.Parts {
		if c := res.Parts[i].Cache; c != nil {
			p.Cache, res.Parts[i].Cache = c, nil
		}
	}
	if len(res.Parts) == 1 && res.Parts[0].Kind == wire.KindText {
		if parts := wire.Unwrap(res.Parts[0].Text); parts != nil {
			res.Parts = parts
		}
	}
	n := len(r.a.Turns) - 1
	if n >= 0 && r.a.Turns[n].Role == wire.RoleUser && onlyResults(r.a.Turns[n].Parts) {
		r.a.Turns[n].Parts = append(r.a.Turns[n].Parts, p)
		return
	}
	r.a.Turns = append(r.a.Turns, wire.Turn{Role: wire.RoleUser, Parts: []wire.Part{p}})
}

// unanswered is the id of the last assistant's first call of that name that has no result yet.
func (r *asked) unanswered(name string) string {
	done := map[string]bool{}
	for i := len(r.a.Turns) - 1; i >= 0; i-- {
		t := &r.a.Turns[i]
		for j := range t.Parts {
			if p := &t.Parts[j]; p.Kind == wire.KindResult {
				done[p.Reply.ID] = true
			}
		}
		if t.Role != wire.RoleAssistant {
			continue
		}
		for j := range t.Parts {
			p := &t.Parts[j]
			if p.Kind == wire.KindCall && !done[p.Call.ID] && (name == "" || p.Call.Name == name) {
				return p.Call.ID
			}
		}
		return ""
	}
	return ""
}

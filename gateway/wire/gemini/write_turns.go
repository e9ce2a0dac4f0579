package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// skipSignature is what Gemini takes in the place of a signature that is lost.
const skipSignature = "skip_thought_signature_validator"

// noteGone stands where nothing is left of what the user said.
const noteGone = "…"

// turns are the conversation as it goes on, and what the system says before it: a request
// that is of the system alone has its last text said by the user.
func (w *writing) turns() (turns []wire.Turn, system []wire.Part) {
	turns, system = wire.Remind(wire.Pair(w.a.Turns)), w.a.System
	if len(turns) == 0 && len(system) > 0 {
		n := len(system) - 1
		turns = []wire.Turn{{Role: wire.RoleUser, Parts: system[n:]}}
		return turns, system[:n]
	}
	return turns, system
}

// contents writes the conversation.
func (w *writing) contents(turns []wire.Turn) {
	w.open("contents", '[')
	last := wire.RoleAssistant
	current := current(turns)
	for i := range turns {
		t := &turns[i]
		if t.Role == wire.RoleAssistant {
			if i == 0 {
				w.said(noteGone) // a call may stand only behind something of the user
			}
			if w.modelTurn(t.Parts, i > current) {
				last = wire.RoleAssistant
			}
			continue
		}
		if i > 0 {
			inOrder(t.Parts, turns[i-1].Parts)
		}
		if w.userTurn(t.Parts, i >= current) {
			last = wire.RoleUser
		}
	}
	if last == wire.RoleAssistant { // a beginning of the reply means nothing to the API
		w.said("Continue.")
	}
	w.close(']')
}

// said writes a content with one text of the user.
func (w *writing) said(text string) {
	w.content("user")
	w.textPart(text)
	w.close(']')
	w.close('}')
}

// content begins a content.
func (w *writing) content(role string) {
	w.open("", '{')
	w.text("role", role)
	w.open("parts", '[')
}

// current is the turn that the current exchange begins with: the last that the user says
// something in, and not only what tools gave.
func current(turns []wire.Turn) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role != wire.RoleAssistant && !hasResult(turns[i].Parts) {
			return i
		}
	}
	return -1
}

func hasResult(parts []wire.Part) bool {
	for i := range parts {
		if parts[i].Kind == wire.KindResult {
			return true
		}
	}
	return false
}

// userTurn writes what the user says. Contents that stood apart stay apart, unless results
// are among them.
func (w *writing) userTurn(parts []wire.Part, now bool) bool {
	one := hasResult(parts)
	start, empty, some := len(w.b), 0, false
	begin := func() {
		start = len(w.b)
		w.content("user")
		empty = len(w.b)
	}
	end := func() {
		if len(w.b) == empty {
			w.b = w.b[:start]
			return
		}
		some = true
		w.close(']')
		w.close('}')
	}
	begin()
	if one {
		w.results(parts, now)
	}
	for i := range parts {
		if parts[i].Begins && !one && i > 0 {
			end()
			begin()
		}
		if parts[i].Kind != wire.KindResult {
			w.part(&parts[i], now)
		}
	}
	end()
	return some
}

// inOrder sets results in the order of their calls: without ids it is all that tells which
// is whose. Paired turns are nobody else's, so that they can be changed.
func inOrder(parts, called []wire.Part) {
	at := map[*wire.Call]int{}
	for i := range called {
		if called[i].Kind == wire.KindCall {
			at[called[i].Call] = len(at)
		}
	}
	n := 0
	for n < len(parts) && parts[n].Kind == wire.KindResult {
		n++
	}
	if len(at) < 2 || n < 2 {
		return
	}
	slices.SortStableFunc(parts[:n], func(a, b wire.Part) int { return at[a.Reply.Of] - at[b.Reply.Of] })
}

// results writes the results of a turn, and behind them the media that their own place
// can't hold.
func (w *writing) results(parts []wire.Part, now bool) {
	var loose []wire.Part
	for i := range parts {
		if r := parts[i].Reply; r != nil {
			loose = append(loose, w.result(r)...)
		}
	}
	for i := range loose {
		w.part(&loose[i], now)
	}
}

func (w *writing) result(r *wire.Result) (loose []wire.Part) {
	parts := r.Parts
	if len(parts) == 1 && parts[0].Kind == wire.KindText {
		if inner := wire.Unwrap(parts[0].Text); inner != nil {
			parts = inner
		}
	}
	w.open("", '{')
	w.open("functionResponse", '{')
	if !w.t.Dialect.NoCallIDs {
		w.textIf("id", r.ID)
	}
	w.text("name", names.Name(r.Name))
	w.response(r, wire.JoinText(parts, "\n"))
	from := len(w.b)
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Media == nil:
		case w.m.levels && p.Media.Data != "" && p.Media.Text == "" && w.t.Reads(p.Kind):
			if len(w.b) == from {
				w.open("parts", '[')
			}
			w.media(p)
		case p.Media.Text == "":
			loose = append(loose, *p)
		}
	}
	if len(w.b) > from {
		w.close(']')
	}
	w.close('}')
	w.close('}')
	return loose
}

// response writes what a call gave. An object that an agent of this API sent goes back as
// the object that it was.
func (w *writing) response(r *wire.Result, text string) {
	if w.own() && !r.Error && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && wrapped(text) {
		w.raw("response", []byte(text))
		return
	}
	key := "output"
	if r.Error {
		key = "error"
	}
	w.open("response", '{')
	w.text(key, text)
	w.close('}')
}

// wrapped says that an object would be read as itself.
func wrapped(text string) bool {
	n, only := 0, ""
	wire.Value(text).Members(func(key string, _ wire.Value) { n, only = n+1, key })
	return n > 1 || n == 1 && only != "output" && only != "result" && only != "error"
}

// modelTurn writes what the model said. now says that it is a step of the current
// exchange, whose first call must bear a signature.
func (w *writing) modelTurn(parts []wire.Part, now bool) bool {
	start := len(w.b)
	w.content("model")
	empty := len(w.b)
	held, called := "", false
	for i := range parts {
		p := &parts[i]
		if p.Kind == wire.KindThinking {
			if sign := w.thought(p); sign != "" {
				held = sign
			}
			continue
		}
		sign := w.signature(p.Seal)
		if sign == "" && (p.Kind == wire.KindCall || !callFollows(parts[i:])) {
			sign, held = held, ""
		}
		if p.Kind != wire.KindCall {
			w.spoken(p, sign)
			continue
		}
		if !called && sign == "" && now && w.m.levels {
			sign = skipSignature
		}
		called = true
		w.call(p, sign)
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return false
	}
	w.close(']')
	w.close('}')
	return true
}

func callFollows(parts []wire.Part) bool {
	for i := range parts {
		if parts[i].Kind == wire.KindCall {
			return true
		}
	}
	return false
}

// thought writes reasoning back to an agent's own API; from elsewhere only its signature
// goes on, with what comes next.
func (w *writing) thought(p *wire.Part) (held string) {
	sign := w.signature(p.Seal)
	if !w.own() {
		if p.Text != "" || sign == "" {
			w.lose("reasoning of earlier turns", "the API takes back its own alone")
		}
		return sign
	}
	w.open("", '{')
	w.text("text", p.Text)
	w.raw("thought", []byte("true"))
	w.textIf("thoughtSignature", sign)
	w.close('}')
	return ""
}

// signature is the vendor's own signature, "" for none, another's, or what is none.
func (w *writing) signature(s *wire.Seal) string {
	if !s.For(wire.Gemini, w.t.Dialect.Vendor) {
		return ""
	}
	if s.Data != skipSignature && !isBase64(s.Data) {
		return ""
	}
	return s.Data
}

// isBase64 says whether a text is base64 of either alphabet, padded or not.
func isBase64(s string) bool {
	s = strings.TrimRight(s, "=")
	if _, err := base64.RawStdEncoding.DecodeString(s); err == nil {
		return true
	}
	_, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil
}

// spoken writes a part of the model's that is no call.
func (w *writing) spoken(p *wire.Part, sign string) {
	if text, ok := wire.Spoken(p); ok && p.Kind != wire.KindOpaque {
		if text == "" && sign == "" {
			return
		}
		w.open("", '{')
		w.text("text", text)
		w.textIf("thoughtSignature", sign)
		w.close('}')
		return
	}
	w.part(p, false)
}

func (w *writing) call(p *wire.Part, sign string) {
	c := p.Call
	w.open("", '{')
	w.open("functionCall", '{')
	if !w.t.Dialect.NoCallIDs {
		w.textIf("id", c.ID)
	}
	w.text("name", names.Name(c.Name))
	w.raw("args", args(c))
	w.close('}')
	w.textIf("thoughtSignature", sign)
	w.close('}')
}

// args are a call's arguments as an object.
func args(c *wire.Call) []byte {
	if c.Free {
		return wire.FreeArgs(c.Input)
	}
	raw := bytes.TrimSpace(c.Args)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return []byte("{}")
	case raw[0] == '{' && json.Valid(raw):
		return raw
	}
	return wire.FreeArgs(string(c.Args))
}

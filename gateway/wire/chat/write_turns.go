package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"dev.magpie/gateway/wire"
)

// skipSeal is what Gemini takes in the place of a signature that was lost.
const skipSeal = "skip_thought_signature_validator"

// idMost is how long a call's id may be.
const idMost = 64

// bounded is who asks, as long as the field may be.
func bounded(user string) string {
	if len(user) <= keyMost {
		return user
	}
	sum := sha256.Sum256([]byte(user))
	return hex.EncodeToString(sum[:])
}

func callID(id string) string { return wire.KeepID(id, "call_", idMost) }

// messages writes the system's message and all turns.
func (w *writing) messages() {
	w.key("messages")
	w.open('[')
	w.head()
	turns := wire.Pair(w.a.Turns)
	now := currentTurn(turns)
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case wire.RoleSystem:
			w.systemTexts(t.Parts)
		case wire.RoleAssistant:
			w.assistant(t.Parts, i >= now)
		case wire.RoleUser:
			w.user(t.Parts, i >= now)
		}
	}
	if n := len(turns) - 1; n >= 0 && turns[n].Role == wire.RoleAssistant && w.a.API != wire.Chat {
		w.item()
		w.b = append(w.b, `{"role":"user","content":"Continue."}`...)
	}
	if w.b[len(w.b)-1] == '[' {
		w.refuse("messages", "there is nothing in the conversation to answer")
	}
	w.close(']')
}

// currentTurn is where the last thing that the user said stands: from there on nothing is old.
func currentTurn(turns []wire.Turn) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role != wire.RoleUser {
			continue
		}
		for j := range turns[i].Parts {
			if turns[i].Parts[j].Kind != wire.KindResult {
				return i
			}
		}
	}
	return 0
}

// billing begins a line that an agent puts first and that changes with every request.
const billing = "x-anthropic-billing-header:"

// head writes what stands before the first turn.
func (w *writing) head() {
	parts := make([]wire.Part, 0, len(w.a.System)+len(w.system))
	for _, p := range w.a.System {
		if !strings.HasPrefix(p.Text, billing) {
			parts = append(parts, p)
		}
	}
	for _, text := range w.system {
		parts = append(parts, wire.Part{Text: text})
	}
	w.systemTexts(parts)
}

// systemTexts writes one message, or several where the vendor tells developer from system.
func (w *writing) systemTexts(parts []wire.Part) {
	for len(parts) > 0 {
		n, dev := 1, w.d.DeveloperRole && parts[0].Dev
		for n < len(parts) && (w.d.DeveloperRole && parts[n].Dev) == dev {
			n++
		}
		role := "system"
		if dev {
			role = "developer"
		}
		w.texts(role, parts[:n], "\n\n")
		parts = parts[n:]
	}
}

// texts writes a message that is text alone; one without any is left out.
func (w *writing) texts(role string, parts []wire.Part, sep string) {
	text := wire.JoinText(parts, sep)
	if text == "" {
		return
	}
	w.item()
	w.open('{')
	w.str("role", role)
	if w.marked(parts) {
		w.parts(parts, true)
	} else {
		w.str("content", text)
	}
	w.close('}')
}

// marked says whether a part bears a cache mark that the vendor reads.
func (w *writing) marked(parts []wire.Part) bool {
	for i := range parts {
		if parts[i].Cache == nil {
			continue
		}
		if w.marks() {
			return true
		}
		w.lose("cache_control", "the vendor reads no cache marks")
	}
	return false
}

func (w *writing) marks() bool {
	return w.d.CacheMarks || wire.Headed(w.t.Model, w.d.CacheBreaks)
}

// mark writes a cache mark into the part or tool that is open.
func (w *writing) mark(c *wire.Cache) {
	switch {
	case c == nil:
	case w.d.CacheMarks && c.TTL != "":
		w.raw("cache_control", append(append([]byte(`{"type":"ephemeral","ttl":`), wire.Quote(c.TTL)...), '}'))
	case w.d.CacheMarks:
		w.raw("cache_control", []byte(`{"type":"ephemeral"}`))
	case wire.Headed(w.t.Model, w.d.CacheBreaks):
		w.raw("prompt_cache_breakpoint", []byte(`{"mode":"explicit"}`))
	default:
		w.lose("cache_control", "the vendor reads no cache marks")
	}
}

// assistant writes a turn of the model's.
func (w *writing) assistant(parts []wire.Part, current bool) {
	calls := 0
	texts := make([]wire.Part, 0, len(parts))
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case wire.KindCall:
			calls++
		case wire.KindThinking:
		case wire.KindRefusal:
			w.lose("refusal", "it is told as text")
			texts = append(texts, *p)
		case wire.KindText, wire.KindFile, wire.KindImage, wire.KindAudio, wire.KindVideo, wire.KindOpaque, wire.KindResult:
			texts = append(texts, w.plain(p))
		}
	}
	text := wire.JoinText(texts, "\n")
	if text == "" && calls == 0 {
		return
	}
	w.item()
	w.open('{')
	w.str("role", "assistant")
	switch {
	case text == "":
		w.raw("content", []byte("null"))
	case w.marked(texts):
		w.parts(texts, true)
	default:
		w.str("content", text)
	}
	w.thoughts(parts, calls > 0)
	if calls > 0 {
		w.calls(parts, current)
	}
	w.close('}')
}

// plain makes text of what the model can't have said in this API.
func (w *writing) plain(p *wire.Part) wire.Part {
	if text, ok := wire.Spoken(p); ok {
		if p.Kind == wire.KindOpaque {
			w.loseOpaque(p)
		}
		return wire.Part{Text: text, Cache: p.Cache, Cites: p.Cites}
	}
	w.lose("messages."+kindWord(p.Kind), "the model's own turns are text here")
	return wire.Part{Text: wire.Note(p.Kind), Cache: p.Cache}
}

func (w *writing) calls(parts []wire.Part, current bool) {
	w.key("tool_calls")
	w.open('[')
	first := true
	for i := range parts {
		p := &parts[i]
		if p.Kind != wire.KindCall || p.Call == nil {
			continue
		}
		w.item()
		w.call(p.Call)
		w.callSeal(p.Seal, current && first)
		w.close('}')
		first = false
	}
	w.close(']')
}

// call opens a call and writes all of it but its seal.
func (w *writing) call(c *wire.Call) {
	name := wire.ChatNames.Name(c.Name)
	w.open('{')
	w.str("id", callID(c.ID))
	if c.Free && w.d.CustomTools {
		w.str("type", "custom")
		w.key("custom")
		w.open('{')
		w.str("name", name)
		w.str("input", c.Input)
		w.close('}')
		return
	}
	args := c.Args
	if c.Free {
		args = wire.FreeArgs(c.Input)
	}
	w.str("type", "function")
	w.key("function")
	w.open('{')
	w.str("name", name)
	if len(args) == 0 {
		args = []byte("{}")
	}
	w.str("arguments", string(args))
	w.close('}')
}

// callSeal writes Gemini's signature of a call. The first call of each step of the current
// turn has to bear one.
func (w *writing) callSeal(s *wire.Seal, must bool) {
	if !wire.Headed(w.t.Model, w.d.CallSeals) {
		return
	}
	data := ""
	switch {
	case s.For(wire.Gemini, w.d.Vendor):
		data = s.Data
	case must:
		data = skipSeal
	default:
		return
	}
	w.key("extra_content")
	w.b = append(w.b, `{"google":{"thought_signature":`...)
	w.b = append(wire.AppendQuoted(w.b, data), "}}"...)
}

// user writes the results of a turn, then what the user says besides.
func (w *writing) user(parts []wire.Part, current bool) {
	said := make([]wire.Part, 0, len(parts))
	for i := range parts {
		if p := &parts[i]; p.Kind == wire.KindResult && p.Reply != nil {
			said = append(said, w.result(p)...)
		}
	}
	media := len(said)
	for i := range parts {
		p := &parts[i]
		if p.Kind == wire.KindResult || p.Kind == wire.KindThinking {
			continue
		}
		if p.Begins && len(said) > media {
			w.say(said, current)
			said, media = said[:0], 0
		}
		said = append(said, *p)
	}
	w.say(said, current)
}

// result writes a tool's message and gives back the media that have no place in it.
func (w *writing) result(p *wire.Part) []wire.Part {
	reply := *p.Reply
	reply.Parts = make([]wire.Part, 0, len(p.Reply.Parts))
	for i := range p.Reply.Parts {
		if part, ok := w.takes(&p.Reply.Parts[i], false); ok {
			reply.Parts = append(reply.Parts, part)
		}
	}
	text, media := wire.ResultText(&reply)
	w.item()
	w.open('{')
	w.str("role", "tool")
	w.str("tool_call_id", callID(p.Reply.ID))
	if p.Cache != nil && text != "" && w.d.CacheMarks {
		w.parts([]wire.Part{{Text: text, Cache: p.Cache}}, true)
	} else {
		if p.Cache != nil {
			w.lose("cache_control", "the vendor reads no cache marks there")
		}
		w.str("content", text)
	}
	w.close('}')
	return media
}

// say writes a user's message.
func (w *writing) say(parts []wire.Part, current bool) {
	kept := make([]wire.Part, 0, len(parts))
	for i := range parts {
		if p, ok := w.takes(&parts[i], current); ok {
			kept = append(kept, p)
		}
	}
	if wire.AllText(kept) && !w.opaque(kept) {
		w.texts("user", kept, "\n")
		return
	}
	w.item()
	w.open('{')
	w.str("role", "user")
	w.parts(kept, w.marked(kept))
	w.close('}')
}

func (w *writing) opaque(parts []wire.Part) bool {
	for i := range parts {
		if parts[i].Kind == wire.KindOpaque && w.a.API == wire.Chat {
			return true
		}
	}
	return false
}

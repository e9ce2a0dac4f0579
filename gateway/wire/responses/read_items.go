package responses

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// item is one item of an input or an output, as it came.
type item struct {
	Type, Role, ID, CallID, Name, Namespace, Status string
	Arguments, Input, Sealed, Execution, Label      string
	Result                                          string // of an image generation

	Content, Output, Outputs, Results, Summary json.RawMessage
	Action, Operation, Tools                   json.RawMessage
	raw                                        json.RawMessage
}

// readItem reads one item.
func readItem(raw json.RawMessage) item {
	it := item{raw: raw}
	w := wire.Walk(raw)
	w.Object(func(key []byte) {
		if text := it.text(key); text != nil {
			*text = w.Text()
			return
		}
		if value := it.value(key); value != nil {
			*value = notNull(w.Raw())
			return
		}
		if string(key) == "arguments" {
			it.Arguments = textOrRaw(w)
		}
	})
	return it
}

// text is where a member that is a string belongs, nil for another.
func (it *item) text(key []byte) *string {
	switch string(key) {
	case "type":
		return &it.Type
	case "role":
		return &it.Role
	case "id":
		return &it.ID
	case "call_id":
		return &it.CallID
	case "name":
		return &it.Name
	case "namespace":
		return &it.Namespace
	case "status":
		return &it.Status
	case "input":
		return &it.Input
	case "encrypted_content":
		return &it.Sealed
	case "execution":
		return &it.Execution
	case "server_label":
		return &it.Label
	case "result":
		return &it.Result
	}
	return nil
}

// value is where a member of any kind belongs, nil for another.
func (it *item) value(key []byte) *json.RawMessage {
	switch string(key) {
	case "content":
		return &it.Content
	case "output":
		return &it.Output
	case "outputs":
		return &it.Outputs
	case "results":
		return &it.Results
	case "summary":
		return &it.Summary
	case "action":
		return &it.Action
	case "operation":
		return &it.Operation
	case "tools":
		return &it.Tools
	}
	return nil
}

// textOrRaw takes a string's text, or any other value as it is written.
func textOrRaw(w *wire.Walker) string {
	if w.Kind() == '"' {
		return w.Text()
	}
	return string(notNull(w.Raw()))
}

// call is the id that a call and its output share.
func (it *item) call() string {
	if it.CallID != "" {
		return it.CallID
	}
	return it.ID
}

// say adds a part to the turn of its side.
func (r *askReader) say(role wire.Role, p wire.Part) {
	t := r.a.Turns
	if n := len(t) - 1; n >= 0 && t[n].Role == role {
		t[n].Parts = append(t[n].Parts, p)
		return
	}
	r.a.Turns = append(t, wire.Turn{Role: role, Parts: []wire.Part{p}})
}

// sayAll adds a message to the turn of its side, and marks where it begins.
func (r *askReader) sayAll(role wire.Role, parts []wire.Part) {
	if n := len(r.a.Turns) - 1; n >= 0 && r.a.Turns[n].Role == role && len(parts) > 0 {
		parts[0].Begins = true
	}
	for i := range parts {
		r.say(role, parts[i])
	}
}

// items reads the input.
func (r *askReader) items(raw json.RawMessage) {
	w := wire.Walk(raw)
	w.Array(func() {
		if w.Kind() == '"' {
			r.say(wire.RoleUser, wire.Part{Text: w.Text()})
			return
		}
		it := readItem(w.Raw())
		r.item(&it)
	})
}

func (r *askReader) item(it *item) {
	switch it.Type {
	case typeMessage, "":
		r.message(it)
	case typeReasoning:
		r.thought(it)
	case typeFunction:
		r.called(it, &wire.Call{Name: flat(it.Namespace, it.Name), Args: readArgs(it.Arguments)})
	case typeCustom:
		r.called(it, &wire.Call{Name: flat(it.Namespace, it.Name), Input: it.Input, Free: true})
	case "function_call_output", "custom_tool_call_output":
		r.say(wire.RoleUser, wire.Part{Kind: wire.KindResult, Reply: &wire.Result{ID: it.call(), Parts: readOutput(it.Output)}})
	case "additional_tools":
		r.tools.read(it.Tools, "")
	case typeCompacted, "compaction_summary":
		r.compacted(it)
	case "compaction_trigger":
		r.compact()
	case "item_reference":
		r.stored("item_reference")
	default:
		r.special(it)
	}
}

// readArgs are a call's arguments; what is no JSON object stays the text that it is.
func readArgs(s string) json.RawMessage {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

func (r *askReader) called(it *item, c *wire.Call) {
	c.ID = it.call()
	r.say(wire.RoleAssistant, wire.Part{Kind: wire.KindCall, Call: c})
}

func (r *askReader) message(it *item) {
	parts := readParts(it.Content)
	for i := range parts {
		if parts[i].Kind == wire.KindOpaque {
			parts[i].Raw = asItem(it.Role, parts[i].Raw)
		}
	}
	switch it.Role {
	case "assistant":
		r.sayAll(wire.RoleAssistant, parts)
	case "system", "developer":
		r.system(parts, it.Role == "developer")
	case "user", "":
		r.sayAll(wire.RoleUser, parts)
	default:
		r.refuse("input", "there is no role "+it.Role)
	}
}

// asItem makes of a part that isn't known a message of its own, for what is opaque is an item.
func asItem(role string, part json.RawMessage) json.RawMessage {
	if role == "" {
		role = "user"
	}
	o := newObject(make([]byte, 0, len(part)+64))
	o.str("type", typeMessage)
	o.str("role", role)
	o.raw("content", append(append([]byte{'['}, part...), ']'))
	return o.end()
}

// system keeps what is said before the conversation apart from what is said in it.
func (r *askReader) system(parts []wire.Part, dev bool) {
	for i := range parts {
		parts[i].Dev = dev
	}
	if len(r.a.Turns) == 0 {
		r.a.System = append(r.a.System, parts...)
		return
	}
	if len(parts) > 0 {
		r.a.Turns = append(r.a.Turns, wire.Turn{Role: wire.RoleSystem, Parts: parts})
	}
}

// thought reads a reasoning item. One that says nothing and isn't sealed is nothing.
func (r *askReader) thought(it *item) {
	text := thoughtText(it.Summary)
	if text == "" {
		text = thoughtText(it.Content)
	}
	seal := wire.ReadSeal(wire.Responses, it.Sealed)
	if seal != nil && seal.API == wire.Responses && seal.ID == "" {
		seal.ID = it.ID
	}
	if text == "" && seal == nil {
		return
	}
	r.say(wire.RoleAssistant, wire.Part{Kind: wire.KindThinking, Text: text, Seal: seal})
}

// thoughtText joins the parts of a summary, or of raw reasoning.
func thoughtText(raw json.RawMessage) string {
	var all []string
	w := wire.Walk(raw)
	w.Array(func() {
		w.Object(func(key []byte) {
			if string(key) == "text" {
				if s := w.Text(); s != "" {
					all = append(all, s)
				}
			}
		})
	})
	return strings.Join(all, thoughtGap)
}

// thoughtGap stands between the parts of one item's summary.
const thoughtGap = "\n\n"

// settleSeals gives Gemini's signatures, which went through the agent as reasoning of
// their own, back to the call or text that they were on.
func (r *askReader) settleSeals() {
	for i := range r.a.Turns {
		parts := r.a.Turns[i].Parts
		keep := parts[:0]
		for j := range parts {
			p := parts[j]
			if p.Kind == wire.KindThinking && p.Seal != nil && p.Seal.API == wire.Gemini && j+1 < len(parts) && parts[j+1].Seal == nil {
				parts[j+1].Seal, p.Seal = p.Seal, nil
			}
			if p.Kind != wire.KindThinking || p.Text != "" || p.Seal != nil {
				keep = append(keep, p)
			}
		}
		r.a.Turns[i].Parts = keep
	}
}

const (
	summaryMark   = "magpie-summary1."
	summaryLead   = "[What was said before, in short]\n"
	summaryPrompt = "Write a summary of this conversation so far, for yourself: it will stand in the conversation's place. " +
		"Tell what is asked, what was found out and done, which files and decisions matter, and what is left to do next. Answer with the summary alone."
	compactedNote = "[Earlier context was compacted elsewhere and can't be read here.]"
)

// compact asks for the summary that a compaction is.
func (r *askReader) compact() {
	r.a.Compact = true
	r.say(wire.RoleUser, wire.Part{Text: summaryPrompt})
}

// compacted reads a compaction: one of ours is plain text.
func (r *askReader) compacted(it *item) {
	if rest, ok := strings.CutPrefix(it.Sealed, summaryMark); ok {
		if text, err := base64.StdEncoding.DecodeString(rest); err == nil {
			r.say(wire.RoleUser, wire.Part{Text: summaryLead + string(text)})
			return
		}
	}
	r.say(wire.RoleUser, wire.Part{Kind: wire.KindOpaque, Raw: it.raw, Text: compactedNote})
}

// readOutput reads what a call gave: a text, or parts. A text that is itself the JSON of
// parts with an image is taken for them.
func readOutput(raw json.RawMessage) []wire.Part {
	switch v := wire.Value(raw); v.Kind() {
	case '"':
		s := v.Text()
		if s == "" {
			return nil
		}
		if parts := wire.Unwrap(s); parts != nil {
			return parts
		}
		return []wire.Part{{Text: s}}
	case '[':
		known := readParts(raw)
		return slices.DeleteFunc(known, func(p wire.Part) bool { return p.Kind == wire.KindOpaque })
	case 'n':
		return nil
	}
	return []wire.Part{{Text: string(raw)}}
}

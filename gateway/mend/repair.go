package mend

import (
	"bytes"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/messages"
)

// Repair brings a body into the form that the vendor's dialect takes, and tells what it
// changed. It returns body itself where there is nothing to do, and looks before it walks.
func Repair(api wire.Protocol, model string, d *wire.Dialect, body []byte) (out []byte, done []string) {
	return RepairAround(api, model, d, body, [2]int{})
}

// RepairAround is Repair of a body whose conversation is known to stand from one place to another: what
// can only stand outside of it is not looked for in it.
func RepairAround(api wire.Protocol, model string, d *wire.Dialect, body []byte, talk [2]int) (out []byte, done []string) {
	r := repair{body: body, d: d, from: talk[0], to: talk[1]}
	for _, field := range d.Unsupported {
		if r.names(field) {
			r.edit(field, func(b []byte) []byte { return cutField(b, strings.Split(field, ".")) })
		}
	}
	if !d.SearchesOn(api) {
		r.search(api)
	}
	switch api {
	case wire.Chat:
		r.chat(model)
	case wire.Responses:
		r.responses()
	case wire.Messages:
		r.messages(model)
	case wire.Gemini:
	}
	return r.body, r.done
}

type repair struct {
	body     []byte
	d        *wire.Dialect
	done     []string
	from, to int // where the conversation stands; 0, 0 = not known, or no more
}

// tops says whether a word that begins so may stand outside of the conversation.
func (r *repair) tops(begins string) bool {
	mark := []byte(`"` + begins)
	return bytes.Contains(r.body[:r.from], mark) || bytes.Contains(r.body[r.to:], mark)
}

// names says whether a key or word may stand in the body at all.
func (r *repair) names(word string) bool { return bytes.Contains(r.body, []byte(`"`+word+`"`)) }

// edit changes the body, and notes what was changed if anything was.
func (r *repair) edit(what string, do func([]byte) []byte) {
	out := do(r.body)
	if len(out) != len(r.body) || len(out) > 0 && &out[0] != &r.body[0] {
		r.body, r.done, r.from, r.to = out, append(r.done, what), 0, 0
	}
}

func (r *repair) chat(model string) {
	if !r.d.DeveloperRole && r.names("developer") {
		r.edit("role developer", func(b []byte) []byte {
			return wire.Swap(b, func(v wire.Value) []byte {
				if v.Text() == "developer" {
					return []byte(`"system"`)
				}
				return nil
			}, "messages", "*", "role")
		})
	}
	const field, other = "max_tokens", "max_completion_tokens"
	if r.d.TokenName(model) == other && r.tops(field+`"`) {
		r.edit(field, func(b []byte) []byte {
			n := wire.Value(b).Get(field)
			if n.Kind() != '0' {
				return b
			}
			if wire.Value(b).Get(other).None() {
				b = wire.Put(b, other, n)
			}
			return cutField(b, []string{field})
		})
	}
}

func (r *repair) responses() {
	if !r.d.OwnParts {
		r.strange()
	}
	v := wire.Value(r.body)
	if r.d.NoLoneChoice && r.tops(`tool_choice"`) && empties(v.Get("tools")) {
		r.edit("tool_choice", func(b []byte) []byte {
			return wire.Cut(b, func(key string, _ wire.Value) bool { return key == "tool_choice" || key == "parallel_tool_calls" })
		})
	}
	if r.d.LooksUp && r.names("reasoning") && !v.Get("store").True() {
		r.edit("reasoning of earlier turns", cutBare)
	}
	if bytes.Contains(r.body, []byte(`_call`)) {
		r.edit("tool results", pairItems)
	}
}

// ownParts are the members of items that OpenAI's own programs send to OpenAI.
var ownParts = []string{"internal_chat_message_metadata_passthrough", "encrypted_function_args"}

// strange takes out what only OpenAI itself knows.
func (r *repair) strange() {
	for _, part := range ownParts {
		if r.names(part) {
			r.edit(part, func(b []byte) []byte {
				return wire.Cut(b, func(key string, _ wire.Value) bool { return key == part }, "input", "*")
			})
		}
	}
	if r.names("configuration_update") {
		r.edit("configuration_update", func(b []byte) []byte {
			return wire.Weed(b, func(v wire.Value) bool { return v.Get("type").Text() == "configuration_update" }, "input")
		})
	}
	if r.tops(`include_obfuscation"`) {
		r.edit("stream_options.include_obfuscation", func(b []byte) []byte { return cutField(b, []string{"stream_options", "include_obfuscation"}) })
	}
}

func empties(v wire.Value) bool {
	none := true
	v.Elements(func(wire.Value) { none = false })
	return none
}

// idMost is how long an id of a call may be.
const idMost = 64

// item is what of an item of a conversation counts for its calls.
type item struct{ kind, id, call string }

func readItem(w *wire.Walker) (it item) {
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			it.kind = w.Text()
		case "id":
			it.id = w.Text()
		case "call_id":
			it.call = w.Text()
		}
	})
	return it
}

// readItems reads those items of a conversation that bear a call's id, and whether it goes
// on from what is stored, in one walk.
func readItems(body []byte) (items []item, goesOn bool) {
	w := wire.Walk(body)
	w.Object(func(key []byte) {
		switch string(key) {
		case "previous_response_id", "conversation":
			goesOn = goesOn || w.Kind() != 'n'
		case "input":
			if w.Kind() == '[' {
				w.Array(func() {
					if it := readItem(w); it.call != "" {
						items = append(items, it)
					}
				})
			}
		}
	})
	return items, goesOn
}

// prefix is what the id of an item of a kind begins with, "" where that does not matter.
func prefix(kind string) string {
	switch kind {
	case "function_call":
		return "fc"
	case "custom_tool_call":
		return "ctc"
	}
	return ""
}

// pairItems mends ids that a vendor refuses, and turns results into text whose call is not
// in the conversation.
func pairItems(body []byte) []byte {
	items, goesOn := readItems(body)
	called := make(map[string]bool, len(items))
	for _, it := range items {
		if prefix(it.kind) != "" {
			called[it.call] = true
		}
	}
	orphan := func(it item) bool {
		return !goesOn && (it.kind == "function_call_output" || it.kind == "custom_tool_call_output") && !called[it.call]
	}
	if !slices.ContainsFunc(items, func(it item) bool {
		p := prefix(it.kind)
		return len(it.call) > idMost || p != "" && it.id != "" && !strings.HasPrefix(it.id, p) || orphan(it)
	}) {
		return body
	}
	return wire.Swap(body, func(e wire.Value) []byte {
		it := readItem(wire.Walk(e))
		if orphan(it) {
			return asText(e)
		}
		out := []byte(e)
		if p := prefix(it.kind); p != "" && it.id != "" && !strings.HasPrefix(it.id, p) {
			out = wire.Put(out, "id", wire.Quote(wire.MakeID(p+"_", it.id)))
		}
		if len(it.call) > idMost {
			out = wire.Put(out, "call_id", wire.Quote(wire.KeepID(it.call, "call_", idMost)))
		}
		return out
	}, "input", "*")
}

// asText is a result as something that the user says: its call is lost.
func asText(e wire.Value) []byte {
	output := e.Get("output")
	parts := []byte(output)
	if output.Kind() != '[' {
		text := output.Text()
		if output.Kind() != '"' {
			text = string(output)
		}
		parts = append(append([]byte(`[{"type":"input_text","text":`), wire.Quote(text)...), "}]"...)
	}
	return append(append([]byte(`{"type":"message","role":"user","content":`), parts...), '}')
}

func (r *repair) messages(model string) {
	for _, field := range []string{"temperature", "top_p", "top_k"} {
		if r.tops(field+`"`) && !messages.Samples(model) {
			r.edit(field, func(b []byte) []byte { return cutField(b, []string{field}) })
		}
	}
	if !r.d.ThinkingOff || strings.Contains(strings.ToLower(model), "claude") {
		return
	}
	v := wire.Value(r.body)
	if v.Get("thinking").None() && v.Get("output_config").Get("effort").None() {
		r.edit("thinking", func(b []byte) []byte { return wire.Put(b, "thinking", []byte(`{"type":"disabled"}`)) })
	}
}

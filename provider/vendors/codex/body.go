package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// longest is how long the backend lets a call's id be.
const longest = 64

// mostTold is how much of a result without its call is told in its place.
const mostTold = 16000

// refusedFields are what the backend turns a request away for.
var refusedFields = []string{
	"max_output_tokens", "max_completion_tokens", "temperature", "top_p", "previous_response_id", "user", "safety_identifier",
}

// Shape makes a request of the Responses API one that the backend takes: always streamed and
// never stored, with the program's own instructions for the model in the place of the asker's,
// which go first in the input. Own is "" where they are not known. What the backend does not
// mind stays as it came, in its order.
func Shape(body []byte, own string) ([]byte, error) {
	fields, err := members(body)
	if err != nil {
		return nil, errors.New("the request is no JSON object")
	}
	items, err := input(field(fields, "input"))
	if err != nil {
		return nil, err
	}
	items = shapeItems(items)
	fields = slices.DeleteFunc(fields, func(f member) bool { return slices.Contains(refusedFields, f.name) })
	fields, items = instruct(fields, items, own)
	inner, err := list(items)
	if err != nil {
		return nil, err
	}
	fields = put(fields, "input", inner)
	fields = put(fields, "stream", json.RawMessage("true"))
	fields = put(fields, "store", json.RawMessage("false"))
	fields = put(fields, "tool_choice", json.RawMessage(`"auto"`))
	if field(fields, "parallel_tool_calls") == nil {
		fields = put(fields, "parallel_tool_calls", json.RawMessage("true"))
	}
	if field(fields, "text") == nil {
		fields = put(fields, "text", json.RawMessage(`{"verbosity":"medium"}`))
	}
	if tier := str(field(fields, "service_tier")); tier != "priority" {
		fields = slices.DeleteFunc(fields, func(f member) bool { return f.name == "service_tier" })
	}
	if fields, err = reason(fields); err != nil {
		return nil, err
	}
	if str(field(fields, "prompt_cache_key")) == "" {
		fields = set(fields, "prompt_cache_key", cacheKey(str(field(fields, "instructions")), items))
	}
	return object(fields)
}

// field returns a field's value, nil where it is missing or null.
func field(fields []member, name string) json.RawMessage {
	for _, f := range fields {
		if f.name == name && string(f.value) != "null" {
			return f.value
		}
	}
	return nil
}

func str(v json.RawMessage) string {
	var s string
	_ = json.Unmarshal(v, &s) // anything else is no text
	return s
}

// input reads the items; a text alone is one message of the user.
func input(v json.RawMessage) ([][]member, error) {
	if v == nil {
		return nil, nil
	}
	if len(v) > 0 && v[0] == '"' {
		return [][]member{message("user", "input_text", str(v))}, nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(v, &raw) != nil {
		return nil, errors.New("input is neither a text nor a list of items")
	}
	items := make([][]member, 0, len(raw))
	for i, r := range raw {
		item, err := members(r)
		if err != nil {
			return nil, fmt.Errorf("input[%d] is no object", i)
		}
		items = append(items, item)
	}
	return items, nil
}

func message(role, kind, text string) []member {
	m := set(nil, "type", "message")
	m = set(m, "role", role)
	part, err := object(set(set(nil, "type", kind), "text", text))
	if err != nil {
		return m
	}
	return put(m, "content", json.RawMessage("["+string(part)+"]"))
}

// shapeItems drops what refers to a store, and mends what the backend minds.
func shapeItems(items [][]member) [][]member {
	called := map[string]bool{}
	all := items[:0:0]
	for _, item := range items {
		if str(field(item, "type")) == "item_reference" {
			continue
		}
		item = slices.DeleteFunc(slices.Clone(item), func(f member) bool { return f.name == "id" })
		if str(field(item, "role")) == "system" {
			item = set(item, "role", "developer")
		}
		id := str(field(item, "call_id"))
		if len(id) > longest {
			sum := sha256.Sum256([]byte(id))
			id = hex.EncodeToString(sum[:])
			item = set(item, "call_id", id)
		}
		switch str(field(item, "type")) {
		case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
			called[id] = true
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
			if !called[id] {
				item = orphan(item)
			}
		}
		all = append(all, item)
	}
	return all
}

// orphan tells a result whose call is not there.
func orphan(item []member) []member {
	v := field(item, "output")
	text := str(v)
	if text == "" {
		text = string(v)
	}
	if r := []rune(text); len(r) > mostTold {
		text = string(r[:mostTold]) + "…"
	}
	return message("assistant", "output_text", "Result of an earlier tool call ("+str(field(item, "call_id"))+"):\n"+text)
}

// instruct puts the program's own instructions in the place of the asker's.
func instruct(fields []member, items [][]member, own string) ([]member, [][]member) {
	said := str(field(fields, "instructions"))
	if own == "" || said == own {
		return fields, items
	}
	if said != "" {
		items = append([][]member{message("developer", "input_text", said)}, items...)
	}
	return set(fields, "instructions", own), items
}

// reason asks for what a later turn has to bring back, unless none is thought.
func reason(fields []member) ([]member, error) {
	var inner []member
	if v := field(fields, "reasoning"); v != nil {
		var err error
		if inner, err = members(v); err != nil {
			return nil, errors.New("reasoning is no object")
		}
	}
	effort := str(field(inner, "effort"))
	if effort == "none" {
		return slices.DeleteFunc(fields, func(f member) bool { return f.name == "include" }), nil
	}
	if effort == "ultra" {
		inner = set(inner, "effort", "max")
	}
	if field(inner, "summary") == nil {
		inner = set(inner, "summary", "auto")
	}
	value, err := object(inner)
	if err != nil {
		return nil, err
	}
	fields = put(fields, "reasoning", value)
	var include []string
	_ = json.Unmarshal(field(fields, "include"), &include) // another form is replaced
	const sealed = "reasoning.encrypted_content"
	if !slices.Contains(include, sealed) {
		include = append(include, sealed)
	}
	value, err = json.Marshal(include)
	return put(fields, "include", value), err
}

// cacheKey names a conversation by what it begins with, in the form of a UUID.
func cacheKey(instructions string, items [][]member) string {
	h := sha256.New()
	h.Write([]byte(instructions))
	for _, item := range items {
		b, err := object(item)
		if err != nil {
			continue
		}
		h.Write([]byte{0})
		h.Write(b)
		if str(field(item, "role")) == "user" {
			break
		}
	}
	s := hex.EncodeToString(h.Sum(nil)[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

func list(items [][]member) (json.RawMessage, error) {
	out := []byte{'['}
	for i, item := range items {
		b, err := object(item)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(out, ']'), nil
}

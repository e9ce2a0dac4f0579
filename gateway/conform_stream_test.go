package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// normalised is a stream as a list of events in which cutting no longer matters, and what
// was wrong with its grammar.
type normalised struct {
	events   []any
	problems []string
}

func (n *normalised) problem(format string, args ...any) {
	n.problems = append(n.problems, fmt.Sprintf(format, args...))
}

func (n *normalised) last() map[string]any {
	if len(n.events) == 0 {
		return nil
	}
	m, _ := n.events[len(n.events)-1].(map[string]any)
	return m
}

// push joins text to the last event of that name, or adds one.
func (n *normalised) push(name, text string) {
	if m := n.last(); m != nil {
		if was, ok := m[name].(string); ok {
			m[name] = was + text
			return
		}
	}
	n.events = append(n.events, map[string]any{name: text})
}

// frame is one event as the SDKs read it.
type frame struct {
	name  string
	named bool
	data  string
}

var lineEnd = regexp.MustCompile(`\r\n|\n|\r`)

func frames(text string) []frame {
	var out []frame
	var f frame
	var data []string
	for _, line := range lineEnd.Split(text, -1) {
		if line == "" {
			if f.named || data != nil {
				f.data = strings.Join(data, "\n")
				out = append(out, f)
			}
			f, data = frame{}, nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line[0] == ':':
		case field == "event":
			f.name, f.named = value, true
		case field == "data":
			data = append(data, value)
		}
	}
	return out
}

func normalise(api, text string) normalised {
	var n normalised
	switch api {
	case "anthropic":
		n.anthropic(text)
	case "openai-responses":
		n.responses(text)
	case "openai-chat":
		n.chat(text)
	case "gemini":
		n.gemini(text)
	}
	return n
}

func decode(data string) (map[string]any, bool) {
	var d map[string]any
	return d, json.Unmarshal([]byte(data), &d) == nil
}

func word(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func inner(m map[string]any, key string) map[string]any {
	o, _ := m[key].(map[string]any)
	return o
}

func (n *normalised) anthropic(text string) {
	open, next := -1.0, 0.0
	started, ended := false, false
	pieces := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json", "signature_delta": "signature"}
	for _, f := range frames(text) {
		if !f.named {
			n.problem("an event without its event line")
		}
		d, ok := decode(f.data)
		if !ok {
			n.problem("no JSON: %s", f.data)
			continue
		}
		kind := word(d, "type")
		if f.name != kind {
			n.problem("event %s of type %s", f.name, kind)
		}
		if kind == "ping" {
			continue
		}
		if ended {
			n.problem("an event after message_stop: %s", kind)
		}
		at, _ := d["index"].(float64)
		switch kind {
		case "message_start":
			if started {
				n.problem("a second message_start")
			}
			started = true
		case "content_block_start":
			if open >= 0 || at != next {
				n.problem("block %v starts while %v is open, expected %v", at, open, next)
			}
			open = at
			next++
		case "content_block_delta", "content_block_stop":
			if open != at {
				n.problem("%s for %v while %v is open", kind, at, open)
			}
			if kind == "content_block_stop" {
				open = -1
			}
		case "message_delta":
			if _, ok := inner(d, "usage")["output_tokens"].(float64); open >= 0 || !ok {
				n.problem("message_delta while a block is open, or without usage")
			}
		case "message_stop":
			ended = true
		}
		if kind != "error" && !started {
			n.problem("%s before message_start", kind)
		}
		if kind == "content_block_delta" && n.joined(d, pieces) {
			continue
		}
		n.events = append(n.events, d)
	}
}

// joined puts a delta of Messages to the one before it, or leaves out an empty one.
func (n *normalised) joined(d map[string]any, pieces map[string]string) bool {
	delta := inner(d, "delta")
	k := pieces[word(delta, "type")]
	if k == "" {
		return false
	}
	if word(delta, k) == "" {
		return true
	}
	p := n.last()
	if k == "signature" || p == nil || word(p, "type") != "content_block_delta" || p["index"] != d["index"] || word(inner(p, "delta"), "type") != word(delta, "type") {
		return false
	}
	inner(p, "delta")[k] = word(inner(p, "delta"), k) + word(delta, k)
	return true
}

var terminal = regexp.MustCompile(`^(response\.(completed|failed|incomplete)|error)$`)

func (n *normalised) responses(text string) {
	seq, added := -1.0, 0.0
	first, ended := true, false
	open := map[any]any{}
	for _, f := range frames(text) {
		if f.data == "[DONE]" {
			continue
		}
		d, ok := decode(f.data)
		if !ok {
			n.problem("no JSON: %s", f.data)
			continue
		}
		kind := word(d, "type")
		if f.name != kind {
			n.problem("event %q of type %s", f.name, kind)
		}
		if kind == "keepalive" {
			continue
		}
		s, ok := d["sequence_number"].(float64)
		if !ok || seq >= 0 && s != seq+1 {
			n.problem("sequence number %v after %v on %s", d["sequence_number"], seq, kind)
		}
		seq = s
		if first && kind != "response.created" && kind != "error" {
			n.problem("the first event is %s", kind)
		}
		if ended {
			n.problem("an event after the terminal one: %s", kind)
		}
		first, ended = false, ended || terminal.MatchString(kind)
		n.items(d, kind, open, &added)
		delete(d, "sequence_number")
		delete(d, "obfuscation")
		if l, ok := d["logprobs"].([]any); ok && len(l) == 0 {
			delete(d, "logprobs")
		}
		if strings.HasSuffix(kind, ".delta") && n.joinedDelta(d) {
			continue
		}
		n.events = append(n.events, d)
	}
	if !ended {
		n.problem("no terminal event")
	}
}

func (n *normalised) items(d map[string]any, kind string, open map[any]any, added *float64) {
	at, has := d["output_index"]
	switch {
	case kind == "response.output_item.added":
		if at != *added {
			n.problem("output_index %v, expected %v", at, *added)
		}
		open[at] = inner(d, "item")["id"]
		*added++
	case kind == "response.output_item.done":
		id, ok := open[at]
		if !ok {
			n.problem("done for an item not added: %v", at)
		} else if own, has := inner(d, "item")["id"]; has && own != id {
			n.problem("the item's id changed at %v", at)
		}
		delete(open, at)
	case has && d["item_id"] != nil && open[at] != d["item_id"]:
		n.problem("%s: item %v is not the open one at %v", kind, d["item_id"], at)
	}
}

func (n *normalised) joinedDelta(d map[string]any) bool {
	text, ok := d["delta"].(string)
	if ok && text == "" {
		return true
	}
	p := n.last()
	if !ok || p == nil || p["type"] != d["type"] || p["item_id"] != d["item_id"] || p["content_index"] != d["content_index"] || p["summary_index"] != d["summary_index"] {
		return false
	}
	p["delta"] = word(p, "delta") + text
	return true
}

func (n *normalised) chat(text string) {
	var id any
	done, finished, role := false, false, false
	tools := map[any]bool{}
	for _, f := range frames(text) {
		if done {
			n.problem("data after [DONE]")
		}
		if f.data == "[DONE]" {
			done = true
			n.events = append(n.events, "[DONE]")
			continue
		}
		d, ok := decode(f.data)
		if !ok {
			n.problem("no JSON: %s", f.data)
			continue
		}
		if e := d["error"]; e != nil {
			n.events = append(n.events, map[string]any{"error": e})
			continue
		}
		if word(d, "object") != "chat.completion.chunk" {
			n.problem("object is %v", d["object"])
		}
		if id == nil {
			id = d["id"]
		} else if id != d["id"] {
			n.problem("the id changed")
		}
		choices, _ := d["choices"].([]any)
		for _, c := range choices {
			n.choice(c.(map[string]any), tools, &role, &finished)
		}
		if u := d["usage"]; u != nil {
			if len(choices) > 0 {
				n.problem("usage on a chunk with choices")
			}
			n.events = append(n.events, map[string]any{"usage": u})
		}
	}
	if !done {
		n.problem("no [DONE]")
	}
}

func (n *normalised) choice(c map[string]any, tools map[any]bool, role, finished *bool) {
	x := inner(c, "delta")
	if r := word(x, "role"); r != "" && !*role {
		n.events = append(n.events, map[string]any{"role": r})
		*role = true
	}
	reasoning := word(x, "reasoning_content")
	if _, has := x["reasoning_content"]; !has {
		reasoning = word(x, "reasoning")
	}
	for _, p := range []struct{ name, text string }{{"reasoning", reasoning}, {"content", word(x, "content")}, {"refusal", word(x, "refusal")}} {
		if p.text != "" {
			n.push(p.name, p.text)
		}
	}
	calls, _ := x["tool_calls"].([]any)
	for _, t := range calls {
		n.call(t.(map[string]any), tools)
	}
	if why := word(c, "finish_reason"); why != "" {
		if *finished {
			n.problem("a second finish_reason")
		}
		*finished = true
		n.events = append(n.events, map[string]any{"finish_reason": why})
	}
}

func (n *normalised) call(t map[string]any, tools map[any]bool) {
	at := t["index"]
	name := word(inner(t, "function"), "name") + word(inner(t, "custom"), "name")
	if !tools[at] {
		tools[at] = true
		if word(t, "id") == "" || name == "" || word(t, "type") == "" {
			n.problem("the first delta of call %v lacks id, type or name", at)
		}
		n.events = append(n.events, map[string]any{"tool_call": map[string]any{"index": at, "id": t["id"], "type": t["type"], "name": name}})
	}
	args := word(inner(t, "function"), "arguments") + word(inner(t, "custom"), "input")
	if args == "" {
		return
	}
	if a := inner(n.last(), "tool_args"); a != nil && a["index"] == at {
		a["arguments"] = word(a, "arguments") + args
		return
	}
	n.events = append(n.events, map[string]any{"tool_args": map[string]any{"index": at, "arguments": args}})
}

func (n *normalised) gemini(text string) {
	var list []map[string]any
	if strings.HasPrefix(strings.TrimLeft(text, " \r\n\t"), "[") {
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			n.problem("the array is no JSON: %v", err)
			return
		}
	} else {
		for _, l := range lineEnd.Split(text, -1) {
			if l != "" && !strings.HasPrefix(l, "data:") {
				n.problem("a line that is not data: %.60s", l)
			}
		}
		if !strings.HasSuffix(text, "\n\n") && !strings.HasSuffix(text, "\r\n\r\n") {
			n.problem("no blank line at the end")
		}
		for _, f := range frames(text) {
			d, ok := decode(f.data)
			if !ok {
				n.problem("no JSON: %s", f.data)
			}
			list = append(list, d)
		}
	}
	var usage any
	for _, d := range list {
		if e := d["error"]; e != nil {
			n.events = append(n.events, map[string]any{"error": e})
			continue
		}
		n.candidate(d)
		if u := d["usageMetadata"]; u != nil {
			usage = u
		}
	}
	if usage != nil {
		n.events = append(n.events, map[string]any{"usage": usage})
	}
}

func (n *normalised) candidate(d map[string]any) {
	candidates, _ := d["candidates"].([]any)
	var c map[string]any
	if len(candidates) > 0 {
		c, _ = candidates[0].(map[string]any)
	}
	content := inner(c, "content")
	parts, _ := content["parts"].([]any)
	for _, one := range parts {
		p, _ := one.(map[string]any)
		switch {
		case p["functionCall"] != nil:
			ev := map[string]any{"functionCall": p["functionCall"]}
			if s := p["thoughtSignature"]; s != nil {
				ev["thoughtSignature"] = s
			}
			n.events = append(n.events, ev)
		case p["inlineData"] != nil:
			n.events = append(n.events, map[string]any{"inlineData": p["inlineData"]})
		case word(p, "text") != "" && p["thought"] == true:
			n.push("thought", word(p, "text"))
		case word(p, "text") != "":
			n.push("text", word(p, "text"))
		}
	}
	if len(parts) > 0 && word(content, "role") != "model" {
		n.problem("content.role is %v", content["role"])
	}
	for _, key := range []string{"promptFeedback"} {
		if v := d[key]; v != nil {
			n.events = append(n.events, map[string]any{key: v})
		}
	}
	if why := word(c, "finishReason"); why != "" {
		n.events = append(n.events, map[string]any{"finishReason": why})
	}
}

// lower is headers as cases name them.
func lower(h map[string][]string) map[string]any {
	out := map[string]any{}
	for k := range maps.Keys(h) {
		out[strings.ToLower(k)] = h[k][0]
	}
	return out
}

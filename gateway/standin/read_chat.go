package standin

import (
	"fmt"
	"slices"
	"strings"
)

// readChat reads a Chat Completions request, or one for embeddings.
func (v *Vendor) readChat(a *ask) *problem {
	a.model = str(a.tree["model"])
	if a.op == OpEmbed {
		if f := embedRequest.check(a.tree, v.house.easy); f != nil {
			return v.openAIFlaw(f)
		}
		_, p := v.known(a)
		return p
	}
	a.stream = yes(a.tree["stream"])
	a.usage = yes(obj(a.tree["stream_options"])["include_usage"])
	a.readChatTools()
	a.readChatTurns()
	a.readChatFormat()
	a.thinking = v.house.reasoning != "" && chatThinks(a.tree) || v.house.thinkBack && a.thinks()
	if f := chatRequest(v.house).check(a.tree, v.house.easy); f != nil {
		return v.openAIFlaw(f)
	}
	m, p := v.known(a)
	if p != nil {
		return p
	}
	return firstProblem(v.chatLimits(a, m), chatNames(a), v.chatPairs(a), a.chatOptions())
}

// chatThinks tells whether a Chat request asks for thinking, in any of the vendors' ways.
func chatThinks(tree object) bool {
	kind := str(obj(tree["thinking"])["type"])
	effort := str(tree["reasoning_effort"])
	reasoning := obj(tree["reasoning"])
	switch {
	case kind == "disabled", effort == "none":
		return false
	case kind != "", effort != "":
		return true
	}
	return reasoning != nil && str(reasoning["effort"]) != "none"
}

func (a *ask) readChatTools() {
	for _, t := range arr(a.tree["tools"]) {
		o := obj(t)
		if str(o["type"]) == "custom" {
			a.tools = append(a.tools, tool{name: str(obj(o["custom"])["name"]), freeform: true})
			continue
		}
		f := obj(o["function"])
		a.tools = append(a.tools, tool{name: str(f["name"]), schema: obj(f["parameters"])})
	}
	switch c := a.tree["tool_choice"].(type) {
	case string:
		a.choice.mode = map[string]string{"none": "none", "required": "any"}[c]
	case object:
		a.choice = choice{mode: "any", name: pick(str(obj(c["function"])["name"]), str(obj(c["custom"])["name"]))}
		if str(c["type"]) == "allowed_tools" {
			a.choice.mode = map[string]string{"required": "any"}[str(obj(c["allowed_tools"])["mode"])]
		}
	}
	if limit, ok := num(a.tree["max_completion_tokens"]); ok {
		a.limit = limit
	} else if limit, ok := num(a.tree["max_tokens"]); ok {
		a.limit = limit
	}
}

func (a *ask) readChatTurns() {
	for _, m := range arr(a.tree["messages"]) {
		o := obj(m)
		t := turn{role: str(o["role"])}
		switch t.role {
		case "developer":
			t.role = "system"
		case "tool":
			t.role = "user"
			t.parts = append(t.parts, content{kind: "result", id: str(o["tool_call_id"]), text: joined(o["content"])})
			a.turns = append(a.turns, t)
			continue
		}
		t.parts = append(t.parts, content{kind: "text", text: joined(o["content"])})
		for _, c := range arr(o["tool_calls"]) {
			t.parts = append(t.parts, chatCall(obj(c)))
		}
		a.turns = append(a.turns, t)
	}
}

func chatCall(o object) content {
	f := obj(o["function"])
	if f == nil {
		f = obj(o["custom"])
	}
	return content{kind: "call", id: str(o["id"]), name: str(f["name"]), text: pick(str(f["arguments"]), str(f["input"]))}
}

func (a *ask) readChatFormat() {
	format := obj(a.tree["response_format"])
	switch str(format["type"]) {
	case "json_object":
		a.json = true
	case "json_schema":
		a.json, a.schema = true, obj(format["json_schema"])["schema"]
	}
}

// chatLimits are the rules about numbers.
func (v *Vendor) chatLimits(a *ask, m model) *problem {
	_, old := num(a.tree["max_tokens"])
	_, both := num(a.tree["max_completion_tokens"])
	switch {
	case old && both:
		return bad("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.").at("max_tokens", "invalid_parameter_combination")
	case old && m.fixed && v.house.words == "openai":
		return bad("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.").at("max_tokens", "unsupported_parameter")
	}
	if m.fixed && v.house.words == "openai" && str(a.tree["reasoning_effort"]) != "none" {
		for _, name := range []string{"temperature", "top_p"} {
			if n := a.tree[name]; n != nil && fmt.Sprint(n) != "1" {
				return bad(fmt.Sprintf("Unsupported value: '%s' does not support %v with this model. Only the default (1) value is supported.", name, n)).at(name, "unsupported_value")
			}
		}
	}
	if m.output > 0 && a.limit > m.output {
		return bad(fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", a.limit, m.output, a.limit)).at("max_tokens", "invalid_value")
	}
	if stops := arr(a.tree["stop"]); len(stops) > 4 {
		return bad("Invalid 'stop': array too long. Expected an array with maximum length 4.").at("stop", "array_above_max_length")
	}
	return nil
}

// chatNames are the rules about the names of tools.
func chatNames(a *ask) *problem {
	for i, t := range a.tools {
		at := fmt.Sprintf("tools[%d].function.name", i)
		if t.freeform {
			at = fmt.Sprintf("tools[%d].custom.name", i)
		}
		if p := longName(at, t.name, 64); p != nil {
			return p
		}
	}
	return nil
}

// chatPairs holds calls and results together: each call is answered right after it,
// and each result answers one.
func (v *Vendor) chatPairs(a *ask) *problem {
	open, at := []string(nil), 0
	for i, m := range arr(a.tree["messages"]) {
		o := obj(m)
		role := str(o["role"])
		if role == "tool" {
			id := str(o["tool_call_id"])
			j := slices.Index(open, id)
			if j < 0 {
				return bad("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.").at(fmt.Sprintf("messages.[%d].role", i), "")
			}
			open = slices.Delete(open, j, j+1)
			continue
		}
		if len(open) > 0 {
			return unanswered(open, at)
		}
		for _, c := range arr(o["tool_calls"]) {
			open, at = append(open, str(obj(c)["id"])), i
		}
		if len(open) > 0 && v.house.thinkBack && a.thinking && o[v.house.reasoning] == nil {
			return bad("The `reasoning_content` in the thinking mode must be passed back to the API.")
		}
	}
	if len(open) > 0 {
		return unanswered(open, at)
	}
	return nil
}

// thinks tells whether a vendor that thinks unless told otherwise does.
func (a *ask) thinks() bool { return str(obj(a.tree["thinking"])["type"]) != "disabled" }

func unanswered(ids []string, at int) *problem {
	return bad("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: "+strings.Join(ids, ", ")).at(fmt.Sprintf("messages.[%d].role", at), "")
}

// chatOptions are the rules between fields.
func (a *ask) chatOptions() *problem {
	switch {
	case a.tree["stream_options"] != nil && !a.stream:
		return bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.").at("stream_options", "invalid_value")
	case a.tree["tool_choice"] != nil && len(a.tools) == 0 && a.tree["tool_choice"] != "none":
		return bad("'tool_choice' is only allowed when 'tools' are specified.").at("tool_choice", "invalid_value")
	case a.tree["parallel_tool_calls"] != nil && len(a.tools) == 0:
		return bad("'parallel_tool_calls' is only allowed when 'tools' are specified.").at("parallel_tool_calls", "invalid_value")
	}
	return nil
}

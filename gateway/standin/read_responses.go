package standin

import (
	"fmt"
	"slices"
	"strings"
)

// readResponses reads a Responses request.
func (v *Vendor) readResponses(a *ask) *problem {
	a.model = str(a.tree["model"])
	a.stream = yes(a.tree["stream"])
	a.system = str(a.tree["instructions"])
	keep, given := a.tree["store"].(bool)
	a.store = keep || !given
	a.readResponsesTools(a.tree["tools"], "")
	a.readResponsesChoice()
	a.readResponsesTurns()
	a.readResponsesFormat()
	if f := responsesRequest.check(a.tree, v.house.easy); f != nil {
		return v.openAIFlaw(f)
	}
	m, p := v.known(a)
	if p != nil {
		return p
	}
	return firstProblem(v.backendRules(a), v.responsesLimits(a, m), responsesNames(a), v.responsesBefore(a), responsesPairs(a), v.responsesSeals(a))
}

func (a *ask) readResponsesTools(tools any, namespace string) {
	for _, t := range arr(tools) {
		o := obj(t)
		switch str(o["type"]) {
		case "namespace":
			a.readResponsesTools(o["tools"], str(o["name"]))
		case "function":
			a.tools = append(a.tools, tool{name: str(o["name"]), namespace: namespace, schema: obj(o["parameters"])})
		case "custom":
			a.tools = append(a.tools, tool{name: str(o["name"]), namespace: namespace, freeform: true})
		case "local_shell":
			a.tools = append(a.tools, tool{name: "local_shell"})
		default:
			a.tools = append(a.tools, tool{name: str(o["type"]), hosted: true})
		}
	}
}

func (a *ask) readResponsesChoice() {
	switch c := a.tree["tool_choice"].(type) {
	case string:
		a.choice.mode = map[string]string{"none": "none", "required": "any"}[c]
	case object:
		a.choice = choice{mode: "any", name: str(c["name"])}
		if str(c["type"]) == "allowed_tools" {
			a.choice.mode = map[string]string{"required": "any"}[str(c["mode"])]
		}
	}
	a.limit, _ = num(a.tree["max_output_tokens"])
	reasoning := obj(a.tree["reasoning"])
	a.thinking = reasoning != nil && str(reasoning["effort"]) != "none"
	a.hidden = str(reasoning["summary"]) == ""
}

func (a *ask) readResponsesTurns() {
	if s, ok := a.tree["input"].(string); ok {
		a.turns = append(a.turns, turn{role: "user", parts: []content{{kind: "text", text: s}}})
		return
	}
	for _, item := range arr(a.tree["input"]) {
		a.compact = false
		o := obj(item)
		switch kind := str(o["type"]); kind {
		case "", "message":
			role := str(o["role"])
			if role == "developer" {
				role = "system"
			}
			a.add(role, content{kind: "text", text: joined(o["content"])})
		case "function_call", "custom_tool_call", "local_shell_call":
			a.add("assistant", content{kind: "call", id: str(o["call_id"]), name: str(o["name"]), text: pick(str(o["arguments"]), str(o["input"]))})
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			a.add("user", content{kind: "result", id: str(o["call_id"]), text: joined(o["output"])})
		case "reasoning":
			a.add("assistant", content{kind: "thinking"})
		case "additional_tools":
			a.readResponsesTools(o["tools"], "")
		case "compaction_trigger":
			a.compact = true
		}
	}
}

// add puts a part behind the last turn of the role, or begins one.
func (a *ask) add(role string, c content) {
	if n := len(a.turns); n > 0 && a.turns[n-1].role == role {
		a.turns[n-1].parts = append(a.turns[n-1].parts, c)
		return
	}
	a.turns = append(a.turns, turn{role: role, parts: []content{c}})
}

func (a *ask) readResponsesFormat() {
	format := obj(obj(a.tree["text"])["format"])
	switch str(format["type"]) {
	case "json_object":
		a.json = true
	case "json_schema":
		a.json, a.schema = true, format["schema"]
	}
}

// backendRules are what the ChatGPT backend adds to the API.
func (v *Vendor) backendRules(a *ask) *problem {
	if !v.house.backend || a.op != OpCreate {
		return nil
	}
	detail := ""
	switch {
	case !a.stream:
		detail = "Stream must be set to true"
	case a.store:
		detail = "Store must be set to false"
	}
	for _, name := range []string{"max_output_tokens", "max_completion_tokens", "temperature", "top_p", "previous_response_id", "user", "safety_identifier"} {
		if a.tree[name] != nil {
			detail = "Unsupported parameter: " + name
		}
	}
	for _, item := range arr(a.tree["input"]) {
		if str(obj(item)["role"]) == "system" {
			detail = "System messages are not allowed"
		}
	}
	if detail == "" {
		return nil
	}
	return &problem{status: 400, why: WhyBad, words: detail, detail: string(marshal(object{"detail": detail}))}
}

func (v *Vendor) responsesLimits(a *ask, m model) *problem {
	if n, ok := num(a.tree["max_output_tokens"]); ok && n < 16 {
		return bad(fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", n)).at("max_output_tokens", "integer_below_min_value")
	}
	if m.fixed && v.house.words == "openai" && a.thinking {
		for _, name := range []string{"temperature", "top_p"} {
			if n := a.tree[name]; n != nil && fmt.Sprint(n) != "1" {
				return bad("Unsupported parameter: '"+name+"' is not supported with this model.").at(name, "unsupported_parameter")
			}
		}
	}
	if a.op == OpCreate && a.tree["input"] == nil && a.tree["prompt"] == nil && a.tree["previous_response_id"] == nil {
		return bad("Missing required parameter: 'input'.").at("input", "missing_required_parameter")
	}
	return nil
}

func responsesNames(a *ask) *problem {
	for i, t := range arr(a.tree["tools"]) {
		name, named := obj(t)["name"].(string)
		if !named {
			continue
		}
		if p := longName(fmt.Sprintf("tools[%d].name", i), name, 128); p != nil {
			return p
		}
	}
	for i, item := range arr(a.tree["input"]) {
		o := obj(item)
		if id := str(o["call_id"]); len(id) > 64 {
			at := fmt.Sprintf("input[%d].call_id", i)
			return bad(fmt.Sprintf("Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", at, len(id))).at(at, "string_above_max_length")
		}
		if p := itemID(o, i); p != nil {
			return p
		}
	}
	return nil
}

// idHeads are how the ids of input items begin.
var idHeads = map[string]string{
	"message": "msg", "function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs",
}

func itemID(o object, i int) *problem {
	kind := str(o["type"])
	if kind == "" && o["role"] != nil {
		kind = "message"
	}
	head, id := idHeads[kind], str(o["id"])
	if head == "" || id == "" || strings.HasPrefix(id, head) {
		return nil
	}
	at := fmt.Sprintf("input[%d].id", i)
	return bad("Invalid '"+at+"': '"+id+"'. Expected an ID that begins with '"+head+"'.").at(at, "invalid_value")
}

// responsesBefore looks up what the request says went before.
func (v *Vendor) responsesBefore(a *ask) *problem {
	id := str(a.tree["previous_response_id"])
	if id == "" {
		return nil
	}
	before, ok := v.stored.find(storedID{a.key, id})
	if !ok {
		return bad("Previous response with id '"+id+"' not found.").at("previous_response_id", "previous_response_not_found")
	}
	a.turns = append(slices.Clone(before.turns), a.turns...)
	return nil
}

// responsesPairs holds calls and outputs together by their call ids.
func responsesPairs(a *ask) *problem {
	called, answered := map[string]bool{}, map[string]bool{}
	for _, t := range a.turns {
		for _, p := range t.parts {
			switch p.kind {
			case "call":
				called[p.id] = true
			case "result":
				if !called[p.id] {
					return bad("No tool call found for function call output with call_id "+p.id+".").at("input", "")
				}
				answered[p.id] = true
			}
		}
	}
	for _, t := range a.turns {
		for _, p := range t.parts {
			if p.kind == "call" && !answered[p.id] {
				return bad("No tool output found for function call "+p.id+".").at("input", "")
			}
		}
	}
	return nil
}

// responsesSeals checks what was sealed: the vendor reads its own alone.
func (v *Vendor) responsesSeals(a *ask) *problem {
	for i, item := range arr(a.tree["input"]) {
		o := obj(item)
		kind := str(o["type"])
		if kind == "item_reference" && !a.store {
			return notStored(str(o["id"]))
		}
		if kind != "reasoning" && kind != "compaction" {
			continue
		}
		sealed := str(o["encrypted_content"])
		if sealed == "" {
			if id := str(o["id"]); id != "" && !v.stored.knows(storedID{a.key, id}) {
				return notStored(id)
			}
			continue
		}
		if _, ok := v.open(a, sealed); !ok {
			p := bad("The encrypted content "+shortened(sealed)+" could not be verified. Reason: Encrypted content could not be decrypted or parsed.").at(fmt.Sprintf("input[%d].encrypted_content", i), "invalid_encrypted_content")
			return p
		}
	}
	return nil
}

func notStored(id string) *problem {
	p := bad("Item with id '"+id+"' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.").at("input", "")
	p.status = 404
	return p
}

func shortened(s string) string {
	if len(s) <= 12 {
		return s
	}
	return s[:8] + "..." + s[len(s)-4:]
}

package standin

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The versions of the Messages API.
const (
	firstVersion = "2023-06-01"
	newVersion   = "2026-10-21"
)

// readMessages reads a Messages request, or one for a count.
func (v *Vendor) readMessages(a *ask, h http.Header) *problem {
	a.model = str(a.tree["model"])
	a.stream = yes(a.tree["stream"])
	a.system = joined(a.tree["system"])
	a.limit, _ = num(a.tree["max_tokens"])
	a.readMessagesTools()
	a.readMessagesTurns()
	a.readMessagesThinking()
	version := h.Get("anthropic-version")
	if p := versioned(version); p != nil {
		return p
	}
	want := messagesRequest
	if a.op == OpCount {
		want = messagesCount
	}
	if f := want.check(a.tree, v.house.easy); f != nil {
		return messagesFlaw(f)
	}
	if p := withBeta(a.tree, h.Values("anthropic-beta"), v.house.easy); p != nil {
		return p
	}
	m, p := v.known(a)
	if p != nil {
		return p
	}
	return firstProblem(
		sampling(a.tree, m, version), versionRules(a.tree, version), messagesLimits(a, m), messagesNames(a), marks4(a.tree),
		v.thread(a), messagesTurns(a, m), messagesPairs(a), v.messagesSeals(a), messagesEnd(a, m),
	)
}

func versioned(version string) *problem {
	switch version {
	case firstVersion, newVersion:
		return nil
	case "":
		return bad("anthropic-version: header is required")
	}
	return bad("anthropic-version: \"" + version + "\" is not a valid version")
}

func (a *ask) readMessagesTools() {
	for _, t := range arr(a.tree["tools"]) {
		o := obj(t)
		kind := str(o["type"])
		hosted := strings.HasPrefix(kind, "web_search_") || strings.HasPrefix(kind, "web_fetch_") || strings.HasPrefix(kind, "code_execution_") || strings.HasPrefix(kind, "tool_search_") || kind == "mcp_toolset"
		a.tools = append(a.tools, tool{name: str(o["name"]), schema: obj(o["input_schema"]), hosted: hosted})
	}
	c := obj(a.tree["tool_choice"])
	a.choice = choice{mode: map[string]string{"none": "none", "any": "any", "tool": "any"}[str(c["type"])], name: str(c["name"])}
	format := obj(obj(a.tree["output_config"])["format"])
	if format != nil {
		a.json, a.schema = true, format["schema"]
	}
}

func (a *ask) readMessagesThinking() {
	t := obj(a.tree["thinking"])
	kind := str(t["type"])
	a.thinking = kind == "enabled" || kind == "adaptive"
	a.hidden = str(t["display"]) != "summarized" && str(t["display"]) != "updates" && (kind == "adaptive" || t["display"] != nil)
}

func (a *ask) readMessagesTurns() {
	if a.tree["cache_control"] != nil || marked(a.tree["system"]) || marked(a.tree["tools"]) {
		a.cached = 0
	}
	for i, m := range arr(a.tree["messages"]) {
		o := obj(m)
		t := turn{role: str(o["role"])}
		if s, ok := o["content"].(string); ok {
			t.parts = append(t.parts, content{kind: "text", text: s})
		}
		for _, b := range arr(o["content"]) {
			t.parts = append(t.parts, messagesPart(obj(b)))
		}
		if marked(o["content"]) || a.tree["cache_control"] != nil {
			a.cached = i + 1
		}
		a.turns = append(a.turns, t)
	}
}

// marked tells whether one of the blocks has a cache mark.
func marked(blocks any) bool {
	return slices.ContainsFunc(arr(blocks), func(b any) bool { return obj(b)["cache_control"] != nil })
}

func messagesPart(b object) content {
	switch kind := str(b["type"]); kind {
	case "text":
		return content{kind: "text", text: str(b["text"])}
	case "tool_use":
		return content{kind: "call", id: str(b["id"]), name: str(b["name"]), text: string(marshal(b["input"]))}
	case "tool_result":
		return content{kind: "result", id: str(b["tool_use_id"]), text: joined(b["content"])}
	case "thinking", "redacted_thinking":
		return content{kind: "thinking", text: str(b["thinking"])}
	}
	return content{kind: "image"}
}

// messagesFlaw words a flaw as Anthropic does.
func messagesFlaw(f *flaw) *problem {
	path := dotted(f.path)
	if f.name != "" {
		path = dotted(append(f.path[:len(f.path):len(f.path)], f.name))
	}
	switch f.kind {
	case unknownField:
		return bad(path + ": Extra inputs are not permitted")
	case missingField:
		return bad(path + ": Field required")
	case wrongType:
		return bad(path + ": Input should be a valid " + strings.TrimPrefix(strings.TrimPrefix(f.want, "an "), "a "))
	case tooShort:
		return bad("messages: at least one message is required")
	case wrongWord:
	}
	if strings.HasSuffix(path, ".type") {
		return bad(strings.TrimSuffix(path, ".type") + ": Input tag '" + f.got + "' found using 'type' does not match any of the expected tags: " + f.want)
	}
	return bad(path + ": Input should be " + f.want)
}

// withBeta refuses fields of a beta that isn't named.
func withBeta(tree object, named []string, easy bool) *problem {
	if easy {
		return nil
	}
	all := strings.Join(named, ",")
	for _, field := range slices.Sorted(maps.Keys(betas)) {
		if tree[field] != nil && !strings.Contains(all, betas[field]) {
			return bad(field + ": Extra inputs are not permitted")
		}
	}
	return nil
}

// sampling holds the rules for temperature, top_p and top_k.
func sampling(tree object, m model, version string) *problem {
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		n, given := tree[name]
		if !given {
			continue
		}
		switch {
		case version == newVersion:
			return bad(name + ": this field is not supported in anthropic-version " + newVersion)
		case m.fixed && fmt.Sprint(n) != "1" && n != nil:
			return bad("`" + name + "` is deprecated for this model.")
		}
	}
	if n, ok := tree["temperature"]; ok && str(obj(tree["thinking"])["type"]) == "enabled" && fmt.Sprint(n) != "1" && n != nil {
		return bad("`temperature` may only be set to 1 when thinking is enabled.")
	}
	if tree["temperature"] != nil && tree["top_p"] != nil {
		return bad("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	}
	return nil
}

// versionRules are what the newer version refuses besides.
func versionRules(tree object, version string) *problem {
	if version != newVersion {
		return nil
	}
	for i, m := range arr(tree["messages"]) {
		o := obj(m)
		for j, b := range arr(o["content"]) {
			block := obj(b)
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch {
			case str(o["role"]) == "assistant" && str(block["type"]) == "document":
				return bad(at + ": document blocks are not supported in assistant messages")
			case str(o["role"]) == "user" && len(arr(block["citations"])) > 0:
				return bad(at + ".citations: citations are not supported on user text")
			}
		}
	}
	return nil
}

func messagesLimits(a *ask, m model) *problem {
	if m.output > 0 && a.limit > m.output {
		return bad(fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", a.limit, m.output, m.id))
	}
	if a.limit < 0 {
		return bad("max_tokens: Input should be greater than or equal to 0")
	}
	t := obj(a.tree["thinking"])
	budget, given := num(t["budget_tokens"])
	switch {
	case str(t["type"]) == "enabled" && m.fixed:
		return bad("thinking.type: \"enabled\" is not supported for this model. Use \"adaptive\" instead.")
	case str(t["type"]) == "enabled" && (!given || budget < 1024):
		return bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case given && a.op == OpCreate && budget >= a.limit:
		return bad("`max_tokens` must be greater than `thinking.budget_tokens`.")
	case a.thinking && a.choice.mode == "any":
		return bad("Thinking may not be enabled when tool_choice forces tool use.")
	}
	for i, s := range arr(a.tree["stop_sequences"]) {
		if strings.TrimSpace(str(s)) == "" {
			return bad(fmt.Sprintf("stop_sequences: each stop sequence must contain non-whitespace (%d)", i))
		}
	}
	return nil
}

func messagesNames(a *ask) *problem {
	seen := map[string]bool{}
	for i, t := range a.tools {
		at := fmt.Sprintf("tools.%d.custom.name", i)
		switch {
		case t.name == "":
			continue
		case len(t.name) > 128:
			return bad(at + ": String should have at most 128 characters")
		case !plainName(t.name, "_-"):
			return bad(at + ": String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
		case seen[t.name]:
			return bad("tools: Tool names must be unique.")
		case t.schema["oneOf"] != nil || t.schema["anyOf"] != nil || t.schema["allOf"] != nil:
			return bad(fmt.Sprintf("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", i))
		}
		seen[t.name] = true
	}
	if len(a.tools) == 0 && a.tree["tool_choice"] != nil {
		return bad("tool_choice: Tool choice is only allowed when tools are given")
	}
	return nil
}

// marks4 counts the cache marks: four are the most.
func marks4(tree object) *problem {
	n := 0
	if tree["cache_control"] != nil {
		n++
	}
	count := func(blocks any) {
		for _, b := range arr(blocks) {
			if obj(b)["cache_control"] != nil {
				n++
			}
		}
	}
	count(tree["system"])
	count(tree["tools"])
	for _, m := range arr(tree["messages"]) {
		count(obj(m)["content"])
	}
	if n > 4 {
		return bad(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n))
	}
	return nil
}

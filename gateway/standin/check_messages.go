package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// thread takes a conversation up where the vendor remembers it.
func (v *Vendor) thread(a *ask) *problem {
	t := obj(a.tree["thread"])
	if str(t["type"]) != "continue" {
		return nil
	}
	id := str(t["previous_message_id"])
	before, ok := v.stored.find(storedID{a.key, id})
	if !ok {
		return &problem{status: http.StatusNotFound, why: WhyModel, code: "thread_not_found", words: "thread: no thread with message " + id}
	}
	a.turns = append(slices.Clone(before.turns), a.turns...)
	return nil
}

// messagesTurns are the rules about roles and empty text.
func messagesTurns(a *ask, m model) *problem {
	for i, t := range a.turns {
		switch {
		case t.role == "system" && !m.midTurns:
			return bad("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		case t.role == "system" && (i == 0 || a.turns[i-1].role == "system"):
			return bad(fmt.Sprintf("messages.%d: a system message must follow a user message", i))
		case i == 0 && t.role == "assistant":
			return bad("messages: first message must use the \"user\" role")
		case len(t.parts) == 0 && (t.role != "assistant" || i < len(a.turns)-1):
			return bad(fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i))
		}
		for j, p := range t.parts {
			if p.kind != "text" {
				continue
			}
			if p.text == "" {
				return bad("messages: text content blocks must be non-empty")
			}
			if strings.TrimSpace(p.text) == "" && len(t.parts) == 1 {
				return bad(fmt.Sprintf("messages.%d.content.%d: text content blocks must contain non-whitespace text", i, j))
			}
		}
	}
	for _, b := range arr(a.tree["system"]) {
		if str(obj(b)["text"]) == "" {
			return bad("system: text content blocks must be non-empty")
		}
	}
	return nil
}

// grouped joins neighbouring turns of one role, as the API does.
func grouped(turns []turn) []turn {
	var all []turn
	for _, t := range turns {
		if n := len(all); n > 0 && all[n-1].role == t.role {
			all[n-1].parts = append(slices.Clone(all[n-1].parts), t.parts...)
			continue
		}
		all = append(all, t)
	}
	return all
}

// messagesPairs holds calls and results together: every result of a turn stands in
// the next user turn, before anything else.
func messagesPairs(a *ask) *problem {
	turns := grouped(a.turns)
	var asked []string
	for i, t := range turns {
		if t.role == "system" {
			continue
		}
		if t.role == "user" {
			if p := answered(asked, t, i); p != nil {
				return p
			}
			asked = nil
			continue
		}
		asked = nil
		for _, p := range t.parts {
			if p.kind == "call" {
				asked = append(asked, p.id)
			}
		}
	}
	if len(asked) > 0 {
		return unansweredUses(asked, len(turns)-1)
	}
	return nil
}

func answered(asked []string, t turn, i int) *problem {
	left := slices.Clone(asked)
	others := false
	for j, p := range t.parts {
		if p.kind != "result" {
			others = true
			continue
		}
		k := slices.Index(left, p.id)
		if k < 0 {
			return bad(fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, p.id))
		}
		if others {
			return unansweredUses(left, i-1)
		}
		left = slices.Delete(left, k, k+1)
	}
	if len(left) > 0 {
		return unansweredUses(left, i-1)
	}
	return nil
}

func unansweredUses(ids []string, i int) *problem {
	return bad(fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids, ", ")))
}

// messagesSeals checks the signatures of thinking: the vendor knows its own alone.
func (v *Vendor) messagesSeals(a *ask) *problem {
	for i, m := range arr(a.tree["messages"]) {
		for j, b := range arr(obj(m)["content"]) {
			block := obj(b)
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch str(block["type"]) {
			case "thinking":
				said, ok := v.open(a, str(block["signature"]))
				if shown := str(block["thinking"]); !ok || shown != "" && shown != said {
					return bad(at + ": Invalid `signature` in `thinking` block")
				}
			case "redacted_thinking":
				if _, ok := v.open(a, str(block["data"])); !ok {
					return bad(at + ": Invalid `data` in `redacted_thinking` block")
				}
			case "tool_use":
				if id := str(block["id"]); !plainName(id, "_-") {
					return bad(at + ".id: String should match pattern '^[a-zA-Z0-9_-]+$'")
				}
			}
		}
	}
	return nil
}

// messagesEnd are the rules about the last turn.
func messagesEnd(a *ask, m model) *problem {
	turns := grouped(a.turns)
	if len(turns) == 0 {
		return nil
	}
	last := turns[len(turns)-1]
	if last.role == "assistant" {
		if !m.prefill {
			return bad("This model does not support assistant message prefill. The conversation must end with a user message.")
		}
		if n := len(last.parts); n > 0 && strings.TrimRight(last.parts[n-1].text, " \n\t") != last.parts[n-1].text {
			return bad("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	if str(obj(a.tree["thinking"])["type"]) != "enabled" {
		return nil
	}
	for i := len(turns) - 1; i >= 0; i-- {
		if t := turns[i]; t.role == "assistant" && len(t.parts) > 0 {
			if t.parts[0].kind != "thinking" && hasCall(t) {
				return bad(fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", i, map[bool]string{true: "tool_use", false: "text"}[t.parts[0].kind == "call"]))
			}
			return nil
		}
	}
	return nil
}

func hasCall(t turn) bool {
	return slices.ContainsFunc(t.parts, func(p content) bool { return p.kind == "call" })
}

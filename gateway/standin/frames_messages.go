package standin

import "encoding/json"

// Messages as it is written.

// messagesFrames is a reply as a Messages stream.
func messagesFrames(a *ask, r *reply) []frame {
	start := messagesWhole(a, &reply{id: r.id, model: r.model, usage: Usage{Input: r.usage.Input, Cached: r.usage.Cached, Written: r.usage.Written, Output: 1}})
	start["stop_reason"] = nil
	frames := []frame{
		event(lead, object{"type": "message_start", "message": start}),
		event(lead, object{"type": "ping"}),
	}
	index := 0
	block := func(open object, deltas []frame) {
		beatOf := link
		if len(deltas) == 0 || deltas[0].beat == thought {
			beatOf = lead
		}
		frames = append(frames, event(beatOf, object{"type": "content_block_start", "index": index, "content_block": open}))
		frames = append(frames, deltas...)
		frames = append(frames, event(link, object{"type": "content_block_stop", "index": index}))
		index++
	}
	change := func(b beat, d object) frame {
		return event(b, object{"type": "content_block_delta", "index": index, "delta": d})
	}
	if r.think != "" {
		var deltas []frame
		for _, t := range cut(r.think, 0) {
			if !a.hidden {
				deltas = append(deltas, change(thought, object{"type": "thinking_delta", "thinking": t}))
			}
		}
		block(object{"type": "thinking", "thinking": "", "signature": ""}, append(deltas, change(link, object{"type": "signature_delta", "signature": r.seal})))
	}
	if len(r.pieces) > 0 {
		var deltas []frame
		for _, t := range r.pieces {
			deltas = append(deltas, change(piece, object{"type": "text_delta", "text": t}))
		}
		block(object{"type": "text", "text": ""}, deltas)
	}
	for _, c := range r.calls {
		deltas := []frame{change(piece, object{"type": "input_json_delta", "partial_json": ""})}
		for _, t := range slicesOf(c.args) {
			deltas = append(deltas, change(piece, object{"type": "input_json_delta", "partial_json": t}))
		}
		block(object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}, "caller": object{"type": "direct"}}, deltas)
	}
	return append(frames,
		event(tail, object{"type": "message_delta", "delta": object{"stop_reason": messagesStop(r), "stop_sequence": nil, "stop_details": stopDetails(r)}, "usage": messagesUsage(r)}),
		event(tail, object{"type": "message_stop"}),
	)
}

// typed writes an event's data with its type in front, as the vendors do.
func typed(kind string, data object) []byte {
	delete(data, "type")
	rest := marshal(data)
	head := `{"type":"` + kind + `"`
	if len(data) > 0 {
		head += ","
	}
	return append([]byte(head), rest[1:]...)
}

// event is a frame whose event name is its type.
func event(b beat, data object) frame {
	name := str(data["type"])
	return frame{b, name, typed(name, data)}
}

func messagesStop(r *reply) string {
	return map[string]string{finishStop: "end_turn", finishCalls: "tool_use", finishLength: "max_tokens", finishRefused: "refusal"}[r.finish]
}

func stopDetails(r *reply) any {
	if r.finish != finishRefused {
		return nil
	}
	return object{"type": "refusal", "category": nil, "explanation": "The request was declined."}
}

func messagesUsage(r *reply) object {
	u := r.usage
	return object{
		"input_tokens":                max(0, u.Input-u.Cached-u.Written),
		"cache_creation_input_tokens": u.Written,
		"cache_read_input_tokens":     u.Cached,
		"cache_creation":              object{"ephemeral_5m_input_tokens": u.Written, "ephemeral_1h_input_tokens": 0},
		"output_tokens":               u.Output,
		"output_tokens_details":       object{"thinking_tokens": u.Reasoning},
		"server_tool_use":             nil,
		"service_tier":                "standard",
	}
}

// messagesWhole is a reply as one Messages value.
func messagesWhole(a *ask, r *reply) object {
	blocks := list{}
	if r.think != "" {
		shown := r.think
		if a.hidden {
			shown = ""
		}
		blocks = append(blocks, object{"type": "thinking", "thinking": shown, "signature": r.seal})
	}
	if t := r.text(); t != "" {
		blocks = append(blocks, object{"type": "text", "text": t, "citations": nil})
	}
	for _, c := range r.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.args), "caller": object{"type": "direct"}})
	}
	return object{
		"id": r.id, "type": "message", "role": "assistant", "model": r.model, "content": blocks, "container": nil, "diagnostics": nil,
		"stop_reason": messagesStop(r), "stop_sequence": nil, "stop_details": stopDetails(r), "usage": messagesUsage(r),
	}
}

package standin

// Chat Completions as it is written.

// chunk is one chunk of a Chat stream.
func chunk(a *ask, r *reply, choices list, usage any) []byte {
	c := object{"id": r.id, "object": "chat.completion.chunk", "created": r.created, "model": r.model, "system_fingerprint": "fp_standin", "choices": choices}
	if a.usage {
		c["usage"] = usage
	}
	return marshal(c)
}

// delta is a chunk with one change.
func delta(a *ask, r *reply, change object, finish any) []byte {
	return chunk(a, r, list{object{"index": 0, "delta": change, "logprobs": nil, "finish_reason": finish}}, nil)
}

// chatFrames is a reply as a Chat stream.
func (v *Vendor) chatFrames(a *ask, r *reply) []frame {
	frames := []frame{{lead, "", delta(a, r, object{"role": "assistant", "content": "", "refusal": nil}, nil)}}
	for _, t := range cut(r.think, 0) {
		frames = append(frames, frame{thought, "", delta(a, r, object{v.house.reasoning: t}, nil)})
	}
	for _, t := range r.pieces {
		frames = append(frames, frame{piece, "", delta(a, r, object{"content": t}, nil)})
	}
	for i, c := range r.calls {
		kind, name, body := "function", "name", "arguments"
		if c.freeform {
			kind, body = "custom", "input"
		}
		frames = append(frames, frame{piece, "", delta(a, r, object{"tool_calls": list{object{"index": i, "id": c.id, "type": kind, kind: object{name: c.name, body: ""}}}}, nil)})
		for _, t := range slicesOf(c.args) {
			frames = append(frames, frame{piece, "", delta(a, r, object{"tool_calls": list{object{"index": i, kind: object{body: t}}}}, nil)})
		}
	}
	frames = append(frames, frame{tail, "", delta(a, r, object{}, chatFinish(r))})
	if a.usage {
		frames = append(frames, frame{tail, "", chunk(a, r, list{}, chatUsage(r))})
	}
	return append(frames, frame{tail, "", []byte("[DONE]")})
}

func chatFinish(r *reply) string {
	return map[string]string{finishStop: "stop", finishCalls: "tool_calls", finishLength: "length", finishRefused: "content_filter"}[r.finish]
}

func chatUsage(r *reply) object {
	u := r.usage
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
}

// chatWhole is a reply as one Chat value.
func (v *Vendor) chatWhole(_ *ask, r *reply) object {
	m := object{"role": "assistant", "content": null(r.text()), "refusal": nil, "annotations": list{}}
	if r.think != "" {
		m[v.house.reasoning] = r.think
	}
	var calls list
	for _, c := range r.calls {
		if c.freeform {
			calls = append(calls, object{"id": c.id, "type": "custom", "custom": object{"name": c.name, "input": c.args}})
			continue
		}
		calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return object{
		"id": r.id, "object": "chat.completion", "created": r.created, "model": r.model, "system_fingerprint": "fp_standin", "service_tier": "default",
		"choices": list{object{"index": 0, "message": m, "logprobs": nil, "finish_reason": chatFinish(r)}},
		"usage":   chatUsage(r),
	}
}

// slicesOf cuts arguments into the pieces that they stream in.
func slicesOf(args string) []string {
	var all []string
	for runes := []rune(args); len(runes) > 0; {
		n := min(24, len(runes))
		all = append(all, string(runes[:n]))
		runes = runes[n:]
	}
	return all
}

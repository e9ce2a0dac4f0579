package standin

import "time"

// Responses as it is written.

// responsesFrames is a reply as a Responses stream.
func (v *Vendor) responsesFrames(a *ask, r *reply) []frame {
	s := &responsesStream{}
	if told := v.limitsTold(a.key); told != nil {
		s.frames = append(s.frames, frame{lead, "codex.rate_limits", typed("codex.rate_limits", told)})
	}
	base := responsesWhole(a, r, list{})
	base["status"], base["usage"], base["incomplete_details"], base["completed_at"] = "in_progress", nil, nil, nil
	s.event(lead, "response.created", object{"response": base})
	s.event(lead, "response.in_progress", object{"response": base})
	items := responsesItemsOf(a, r)
	for i, it := range items {
		s.item(i, obj(it), r)
	}
	end := map[string]string{"completed": "response.completed", "incomplete": "response.incomplete"}
	last := responsesWhole(a, r, items)
	s.event(tail, end[str(last["status"])], object{"response": last})
	return s.frames
}

// limitsTold is what the backend tells of its windows ahead of a reply.
func (v *Vendor) limitsTold(key string) object {
	if !v.house.backend {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.meterOf(key)
	if m == nil {
		return nil
	}
	return m.limitsEvent(time.Now())
}

// responsesStream numbers the events.
type responsesStream struct {
	frames []frame
	n      int // of the events that are numbered
}

func (s *responsesStream) event(b beat, kind string, data object) {
	data["sequence_number"] = s.n
	s.n++
	s.frames = append(s.frames, frame{b, kind, typed(kind, data)})
}

// item streams one output item.
func (s *responsesStream) item(i int, it object, r *reply) {
	id := it["id"]
	at := func(more object) object {
		more["item_id"], more["output_index"] = id, i
		return more
	}
	switch str(it["type"]) {
	case "reasoning":
		s.open(lead, i, it, object{"summary": list{}})
		if summary := arr(it["summary"]); len(summary) > 0 {
			s.summary(at, r)
		}
	case "message":
		s.open(link, i, it, object{"content": list{}})
		s.message(at, it, r)
	case "function_call":
		s.open(link, i, it, object{"arguments": ""})
		for _, t := range slicesOf(str(it["arguments"])) {
			s.event(piece, "response.function_call_arguments.delta", at(object{"delta": t}))
		}
		s.event(link, "response.function_call_arguments.done", at(object{"arguments": it["arguments"], "name": it["name"]}))
	case "custom_tool_call":
		s.open(link, i, it, object{"input": ""})
		for _, t := range slicesOf(str(it["input"])) {
			s.event(piece, "response.custom_tool_call_input.delta", at(object{"delta": t}))
		}
		s.event(link, "response.custom_tool_call_input.done", at(object{"input": it["input"]}))
	case "compaction":
		s.open(link, i, it, object{"encrypted_content": ""})
	}
	s.event(link, "response.output_item.done", object{"output_index": i, "item": it})
}

// open adds an item as it stands at first.
func (s *responsesStream) open(b beat, i int, it, empty object) {
	at := object{}
	for k, v := range it {
		at[k] = v
	}
	for k, v := range empty {
		at[k] = v
	}
	if at["status"] != nil {
		at["status"] = "in_progress"
	}
	s.event(b, "response.output_item.added", object{"output_index": i, "item": at})
}

func (s *responsesStream) summary(at func(object) object, r *reply) {
	s.event(lead, "response.reasoning_summary_part.added", at(object{"summary_index": 0, "part": object{"type": "summary_text", "text": ""}}))
	for _, t := range cut(r.think, 0) {
		s.event(thought, "response.reasoning_summary_text.delta", at(object{"summary_index": 0, "delta": t}))
	}
	s.event(link, "response.reasoning_summary_text.done", at(object{"summary_index": 0, "text": r.think}))
	s.event(link, "response.reasoning_summary_part.done", at(object{"summary_index": 0, "part": object{"type": "summary_text", "text": r.think}}))
}

func (s *responsesStream) message(at func(object) object, it object, r *reply) {
	part := object{"type": "output_text", "text": "", "annotations": list{}, "logprobs": list{}}
	s.event(link, "response.content_part.added", at(object{"content_index": 0, "part": part}))
	for _, t := range r.pieces {
		s.event(piece, "response.output_text.delta", at(object{"content_index": 0, "delta": t, "logprobs": list{}}))
	}
	s.event(link, "response.output_text.done", at(object{"content_index": 0, "text": r.text(), "logprobs": list{}}))
	s.event(link, "response.content_part.done", at(object{"content_index": 0, "part": arr(it["content"])[0]}))
}

// responsesItemsOf are a reply's output items.
func responsesItemsOf(a *ask, r *reply) list {
	items := list{}
	tail := r.id[len("resp_"):]
	if r.sealed != "" {
		return list{object{"id": "cmp_" + tail, "type": "compaction", "encrypted_content": r.sealed}}
	}
	if r.think != "" {
		summary := list{}
		if !a.hidden {
			summary = list{object{"type": "summary_text", "text": r.think}}
		}
		it := object{"id": "rs_" + tail, "type": "reasoning", "summary": summary}
		if wantsSeals(a) {
			it["encrypted_content"] = r.seal
		}
		items = append(items, it)
	}
	if t := r.text(); t != "" {
		items = append(items, object{"id": "msg_" + tail, "type": "message", "status": "completed", "role": "assistant", "content": list{object{"type": "output_text", "text": t, "annotations": list{}, "logprobs": list{}}}})
	}
	for _, c := range r.calls {
		it := object{"id": c.item, "type": "function_call", "status": "completed", "call_id": c.id, "name": c.name, "arguments": c.args}
		if c.freeform {
			it = object{"id": c.item, "type": "custom_tool_call", "status": "completed", "call_id": c.id, "name": c.name, "input": c.args}
		}
		if c.namespace != "" {
			it["namespace"] = c.namespace
		}
		items = append(items, it)
	}
	return items
}

// wantsSeals tells whether sealed reasoning was asked for.
func wantsSeals(a *ask) bool {
	for _, w := range arr(a.tree["include"]) {
		if str(w) == "reasoning.encrypted_content" {
			return true
		}
	}
	return false
}

// responsesWhole is a reply as one Responses value; what the request said is said again.
func responsesWhole(a *ask, r *reply, items list) object {
	status, why := "completed", any(nil)
	switch r.finish {
	case finishLength:
		status, why = "incomplete", object{"reason": "max_output_tokens"}
	case finishRefused:
		status, why = "incomplete", object{"reason": "content_filter"}
	}
	u := r.usage
	v := object{
		"id": r.id, "object": "response", "created_at": r.created, "completed_at": r.created, "status": status, "background": false,
		"error": nil, "incomplete_details": why, "model": r.model, "output": items, "store": a.store,
		"usage": object{
			"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.Cached},
			"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning}, "total_tokens": u.Input + u.Output,
		},
	}
	for name, usual := range map[string]any{
		"instructions": nil, "max_output_tokens": nil, "max_tool_calls": nil, "metadata": object{}, "parallel_tool_calls": true, "previous_response_id": nil,
		"prompt_cache_key": nil, "reasoning": object{"effort": nil, "summary": nil}, "safety_identifier": nil, "service_tier": "default", "temperature": 1.0,
		"text": object{"format": object{"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": list{}, "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "user": nil,
	} {
		v[name] = usual
		if said := a.tree[name]; said != nil {
			v[name] = said
		}
	}
	return v
}

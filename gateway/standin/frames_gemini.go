package standin

import "encoding/json"

// Gemini as it is written.

// geminiFrames is a reply as a Gemini stream.
func geminiFrames(a *ask, r *reply) []frame {
	if r.finish == finishRefused && r.think == "" {
		return []frame{{tail, "", marshal(geminiWhole(a, r))}}
	}
	var frames []frame
	if a.thinking {
		for _, t := range cut(r.think, 0) {
			frames = append(frames, frame{thought, "", geminiChunk(r, list{object{"text": t, "thought": true}}, nil)})
		}
	}
	for _, t := range r.pieces {
		frames = append(frames, frame{piece, "", geminiChunk(r, list{object{"text": t}}, nil)})
	}
	for _, p := range geminiCalls(r) {
		frames = append(frames, frame{piece, "", geminiChunk(r, list{p}, nil)})
	}
	last := object{"text": ""}
	if len(r.calls) == 0 && r.seal != "" {
		last["thoughtSignature"] = r.seal
	}
	return append(frames, frame{tail, "", geminiChunk(r, list{last}, geminiFinish(r))})
}

func geminiChunk(r *reply, parts list, finish any) []byte {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if finish != nil {
		candidate["finishReason"] = finish
	}
	return marshal(geminiValue(r, object{"candidates": list{candidate}}))
}

// geminiValue adds what every Gemini value has.
func geminiValue(r *reply, v object) object {
	v["usageMetadata"], v["modelVersion"], v["responseId"] = geminiUsage(r), r.model, r.id
	return v
}

// geminiCalls are the call parts; the first carries the signature.
func geminiCalls(r *reply) list {
	var all list
	for i, c := range r.calls {
		p := object{"functionCall": object{"name": c.name, "args": json.RawMessage(c.args), "id": c.id}}
		if i == 0 {
			p["thoughtSignature"] = r.callSeal
		}
		all = append(all, p)
	}
	return all
}

func geminiFinish(r *reply) string {
	return map[string]string{finishStop: "STOP", finishCalls: "STOP", finishLength: "MAX_TOKENS", finishRefused: "SAFETY"}[r.finish]
}

func geminiUsage(r *reply) object {
	u := r.usage
	m := object{
		"promptTokenCount": u.Input, "candidatesTokenCount": u.Output - u.Reasoning, "totalTokenCount": u.Input + u.Output,
		"promptTokensDetails": list{object{"modality": "TEXT", "tokenCount": u.Input}},
	}
	if u.Cached > 0 {
		m["cachedContentTokenCount"] = u.Cached
	}
	if u.Reasoning > 0 {
		m["thoughtsTokenCount"] = u.Reasoning
	}
	return m
}

// geminiWhole is a reply as one Gemini value.
func geminiWhole(a *ask, r *reply) object {
	if r.finish == finishRefused && r.think == "" {
		return geminiValue(r, object{"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT"}})
	}
	parts := list{}
	if r.think != "" && a.thinking {
		parts = append(parts, object{"text": r.think, "thought": true})
	}
	if t := r.text(); t != "" {
		p := object{"text": t}
		if r.seal != "" && len(r.calls) == 0 {
			p["thoughtSignature"] = r.seal
		}
		parts = append(parts, p)
	}
	parts = append(parts, geminiCalls(r)...)
	candidate := object{"content": object{"parts": parts, "role": "model"}, "finishReason": geminiFinish(r), "index": 0}
	if r.finish == finishRefused {
		delete(candidate, "content")
	}
	return geminiValue(r, object{"candidates": list{candidate}})
}

package standin

import (
	"dev.magpie/gateway/wire"
)

// errorFrames is an error inside a stream, in the words of a step.
func (v *Vendor) errorFrames(a *ask, f Fault, o occasion) []frame {
	whole, _ := v.wording(f)
	refused := v.refuse(Fault{Why: whole.why, Words: f.Words, Retry: f.Retry, Resets: f.Resets, Body: f.Body}, o)
	body, err := parse(refused.body)
	if err != nil {
		return []frame{{tail, "error", refused.body}}
	}
	e := obj(body)
	if e == nil || e["error"] == nil {
		e = object{"error": body}
	}
	switch a.api {
	case wire.Messages:
		return []frame{{tail, "error", marshal(e)}}
	case wire.Responses:
		return []frame{failedResponse(a, f, whole.why, words(e), o)}
	case wire.Chat, wire.Gemini:
	}
	return []frame{{tail, "", marshal(e)}}
}

// failedResponse is Responses' way: a response that failed, or a bare error event.
func failedResponse(a *ask, f Fault, why Why, said string, o occasion) frame {
	code := errorNames[why].code
	if code == "" {
		code = "invalid_prompt"
	}
	if f.Form == "event" {
		return frame{tail, "error", typed("error", object{"code": code, "message": said, "param": nil, "sequence_number": 2})}
	}
	r := responsesWhole(a, &reply{id: "resp_" + o.id, model: a.model, created: o.now.Unix()}, list{})
	r["status"], r["usage"], r["error"] = "failed", nil, object{"code": code, "message": said}
	return frame{tail, "response.failed", typed("response.failed", object{"sequence_number": 2, "response": r})}
}

// words is the message of an error body.
func words(body object) string {
	switch e := body["error"].(type) {
	case string:
		return e
	case object:
		return pick(str(e["message"]), pick(str(e["msg"]), str(e["detail"])))
	}
	return ""
}

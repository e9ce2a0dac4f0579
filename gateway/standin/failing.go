package standin

import (
	"time"

	"dev.magpie/gateway/wire"
)

// errorFrames is an error inside a stream, in the words of a step, after so many events.
func (x *exchange) errorFrames(a *ask, f Fault, after int) []frame {
	o := x.occasion(a)
	whole, _ := x.v.wording(f)
	refused := x.v.refuse(Fault{Why: whole.why, Words: f.Words, Retry: f.Retry, Resets: f.Resets, Body: f.Body}, o)
	name := ""
	if a.api == wire.Messages {
		name = "error"
	}
	body, err := parse(refused.body)
	e := obj(body)
	switch {
	case err != nil:
		return []frame{{tail, name, refused.body}}
	case a.api == wire.Responses:
		return []frame{x.failedResponse(a, f, refused.body, after)}
	case e["error"] == nil:
		return []frame{{tail, name, marshal(object{"error": body})}}
	}
	return []frame{{tail, name, refused.body}}
}

// failedResponse is Responses' way: a response that failed, or a bare error event.
func (x *exchange) failedResponse(a *ask, f Fault, body []byte, after int) frame {
	whole, _ := x.v.wording(f)
	v, _ := parse(body) // its caller parsed it
	said := pick(words(obj(v)), string(body))
	code := pick(errorNames[whole.why].code, "invalid_prompt")
	if f.Form == "event" {
		return frame{tail, "error", typed("error", object{"code": code, "message": said, "param": nil, "sequence_number": after})}
	}
	r := responsesWhole(a, &reply{id: x.v.makeID("resp_", x.n, "reply"), model: a.model, created: time.Now().Unix()}, list{})
	r["status"], r["usage"], r["error"] = "failed", nil, object{"code": code, "message": said}
	return frame{tail, "response.failed", typed("response.failed", object{"sequence_number": after, "response": r})}
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

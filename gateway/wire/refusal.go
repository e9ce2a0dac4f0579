package wire

import (
	"fmt"
	"strconv"
	"time"
)

// Refusal is what an agent is told instead of a reply. Each API writes it in its own shape.
type Refusal struct {
	Status     int
	Code       string        // the API's own word for it, "" = none
	Param      string        // the field at fault, "" = none
	Words      string        // what, where, and what to do next
	RetryAfter time.Duration // 0 = not told
	Detail     string        // Messages: error.details.error_code
	Theirs     bool          // a vendor of another API said it: it is told as this API's vendors would
	Busy       bool          // with Theirs: the vendor has too much to do
	Request    string        // Messages: the name of the request, "" = not told
}

// Seconds is Retry-After as whole seconds, rounded up; 0 when there is none.
func (r *Refusal) Seconds() int64 {
	if r.RetryAfter <= 0 {
		return 0
	}
	return int64((r.RetryAfter + time.Second - 1) / time.Second)
}

// errorType is the word that OpenAI and Anthropic share for a status.
func errorType(status int, p Protocol) string {
	switch status {
	case 400, 405, 415, 422, 426:
		return "invalid_request_error"
	case 401:
		return "authentication_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		if p == Messages {
			return "request_too_large"
		}
		return "invalid_request_error"
	case 429:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

// kind is the type of the error: what magpie says itself by one rule for all, what a vendor
// said of another API by the words of p's own makers.
func (r *Refusal) kind(p Protocol) string {
	if !r.Theirs {
		return errorType(r.Status, p)
	}
	if p == Messages {
		switch r.Status {
		case 402:
			return "billing_error"
		case 408, 504:
			return "timeout_error"
		case 409:
			return "conflict_error"
		case 503:
			if r.Busy {
				return "overloaded_error"
			}
		}
		return errorType(r.Status, p)
	}
	switch {
	case r.Status == 402:
		return "insufficient_quota"
	case r.Status == 404:
		return "invalid_request_error"
	case r.Status == 408:
		return "timeout"
	case r.Status == 409:
		return "conflict"
	case r.Status >= 500:
		return "server_error"
	}
	return errorType(r.Status, p)
}

// code is the word for the error, of OpenAI's where a vendor of another API had none.
func (r *Refusal) code() string {
	if r.Code != "" || !r.Theirs {
		return r.Code
	}
	switch r.Status {
	case 401:
		return "invalid_api_key"
	case 402:
		return "insufficient_quota"
	case 404:
		return "model_not_found"
	case 429:
		return "rate_limit_exceeded"
	case 503, 529:
		if r.Busy {
			return "server_is_overloaded"
		}
	}
	return ""
}

// geminiStatus is Google's word for a status.
func geminiStatus(status int) string {
	switch status {
	case 400, 405, 413, 415, 422:
		return "INVALID_ARGUMENT"
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 408, 504:
		return "DEADLINE_EXCEEDED"
	case 409:
		return "ABORTED"
	case 402, 429:
		return "RESOURCE_EXHAUSTED"
	case 499:
		return "CANCELLED"
	case 500:
		return "INTERNAL"
	case 501:
		return "UNIMPLEMENTED"
	case 502, 503, 529:
		return "UNAVAILABLE"
	}
	return "UNKNOWN"
}

// Body writes the refusal in p's shape, without escaping <, > and &.
func (r *Refusal) Body(p Protocol) []byte {
	b := make([]byte, 0, len(r.Words)+128)
	switch p {
	case Messages:
		b = append(b, `{"type":"error","error":{"type":"`...)
		b = append(b, r.kind(p)...)
		b = append(b, `","message":`...)
		b = appendQuoted(b, r.Words)
		if r.Code != "" {
			b = append(b, `,"code":`...)
			b = appendQuoted(b, r.Code)
		}
		if r.Detail != "" {
			b = append(b, `,"details":{"error_code":`...)
			b = append(appendQuoted(b, r.Detail), '}')
		}
		b = append(b, '}')
		if r.Request != "" {
			b = append(b, `,"request_id":`...)
			b = appendQuoted(b, r.Request)
		}
		return append(b, '}')
	case Gemini:
		b = fmt.Appendf(b, `{"error":{"code":%d,"message":`, r.Status)
		b = appendQuoted(b, r.Words)
		b = append(b, `,"status":"`...)
		b = append(b, geminiStatus(r.Status)...)
		return append(b, `"}}`...)
	case Chat, Responses:
	}
	b = append(b, `{"error":{"message":`...)
	b = appendQuoted(b, r.Words)
	b = append(b, `,"type":"`...)
	b = append(b, r.kind(p)...)
	b = append(b, `","param":`...)
	b = quotedOrNull(b, r.Param)
	b = append(b, `,"code":`...)
	b = quotedOrNull(b, r.code())
	return append(b, "}}"...)
}

func quotedOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendQuoted(b, s)
}

// Event writes the refusal as the last event of a stream that has begun in p. reply is
// what was told of the reply so far, for the ids that such an event repeats; begun says
// that events of it are out already.
func (r *Refusal) Event(p Protocol, reply *Facts, begun bool) []byte {
	switch p {
	case Messages:
		b := []byte("event: error\ndata: ")
		return append(append(b, r.Body(p)...), "\n\n"...)
	case Responses:
		return r.responsesEvent(reply, begun)
	case Gemini, Chat:
	}
	b := []byte("data: ")
	return append(append(b, r.Body(p)...), "\n\n"...)
}

// responsesEvent has the error inside of the response, where the agent looks for it. A
// stream of which nothing is out begins with the response that then fails.
func (r *Refusal) responsesEvent(reply *Facts, begun bool) []byte {
	code := r.Code
	if code == "" {
		code = "server_error"
		if r.Status == 429 {
			code = "rate_limit_exceeded"
		}
	}
	f := Facts{ID: "resp_magpie", Sequence: -1}
	if begun {
		f = *reply
	}
	var b []byte
	if !begun {
		f.Sequence++
		b = f.responseEvent(b, "response.created", "in_progress", "null")
	}
	fault := append([]byte(`{"code":`), Quote(code)...)
	fault = append(append(fault, `,"message":`...), Quote(r.Words)...)
	f.Sequence++
	return f.responseEvent(b, "response.failed", "failed", string(fault)+"}")
}

func (f *Facts) responseEvent(b []byte, name, status, fault string) []byte {
	b = append(b, "event: "+name+"\ndata: {\"type\":\""+name+"\",\"sequence_number\":"...)
	b = strconv.AppendInt(b, f.Sequence, 10)
	b = append(b, `,"response":{"id":`...)
	b = appendQuoted(b, f.ID)
	b = append(b, `,"object":"response","status":"`+status+`","error":`+fault+`,"model":`...)
	b = appendQuoted(b, f.Model)
	return append(b, ",\"output\":[],\"usage\":null}}\n\n"...)
}

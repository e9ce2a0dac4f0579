package standin

import (
	"net/http"

	"dev.magpie/gateway/wire"
)

// problem is an error before it has an API's shape.
type problem struct {
	status int // 0 = the vendor's own words for the reason are to be used
	why    Why
	words  string
	param  string // OpenAI's param
	code   string // OpenAI's code; Anthropic's details.error_code
	kind   string // type or status word, "" = the reason's usual one
	detail string // whole body of a vendor with a shape of its own
	id     string
}

// bad is a 400 in words.
func bad(words string) *problem {
	return &problem{status: http.StatusBadRequest, why: WhyBad, words: words}
}

// at names the parameter and the code of an OpenAI error.
func (p *problem) at(param, code string) *problem {
	p.param, p.code = param, code
	return p
}

// errorNames are what each API calls a reason: OpenAI's type and code, Anthropic's type, Google's status.
var errorNames = map[Why]struct{ kind, code, anthropic, google string }{
	WhyRate:       {"rate_limit_error", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"},
	WhyQuota:      {"usage_limit_reached", "usage_limit_reached", "rate_limit_error", "RESOURCE_EXHAUSTED"},
	WhyCredit:     {"insufficient_quota", "insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED"},
	WhyAuth:       {"invalid_request_error", "invalid_api_key", "authentication_error", "UNAUTHENTICATED"},
	WhyForbidden:  {"permission_error", "", "permission_error", "PERMISSION_DENIED"},
	WhyOverloaded: {"service_unavailable_error", "server_is_overloaded", "overloaded_error", "UNAVAILABLE"},
	WhyServer:     {"server_error", "server_error", "api_error", "INTERNAL"},
	WhyTimeout:    {"server_error", "timeout", "timeout_error", "DEADLINE_EXCEEDED"},
	WhyModel:      {"invalid_request_error", "model_not_found", "not_found_error", "NOT_FOUND"},
	WhyTooLong:    {"invalid_request_error", "context_length_exceeded", "invalid_request_error", "INVALID_ARGUMENT"},
	WhyTooLarge:   {"invalid_request_error", "", "request_too_large", "INVALID_ARGUMENT"},
	WhySafety:     {"invalid_request_error", "content_policy_violation", "invalid_request_error", "INVALID_ARGUMENT"},
	WhyBad:        {"invalid_request_error", "", "invalid_request_error", "INVALID_ARGUMENT"},
}

// shapeError writes a problem in the API's shape.
func shapeError(api wire.Protocol, p problem) []byte {
	if p.detail != "" {
		return []byte(p.detail)
	}
	names := errorNames[p.why]
	switch api {
	case wire.Messages:
		return typed("error", object{"error": messagesError(p), "request_id": p.id})
	case wire.Gemini:
		return marshal(object{"error": object{"code": p.status, "message": p.words, "status": pick(p.kind, names.google)}})
	case wire.Chat, wire.Responses:
	}
	return marshal(object{"error": openAIError(p)})
}

func messagesError(p problem) object {
	e := object{"type": pick(p.kind, errorNames[p.why].anthropic), "message": p.words}
	if p.code != "" {
		e["details"] = object{"error_code": p.code}
	}
	return e
}

func openAIError(p problem) object {
	names := errorNames[p.why]
	return object{"message": p.words, "type": pick(p.kind, names.kind), "param": null(p.param), "code": null(pick(p.code, names.code))}
}

func pick(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// null is a string, or JSON's null for "".
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

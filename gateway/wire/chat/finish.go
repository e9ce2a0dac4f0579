package chat

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// finishOf is what a finish_reason means, vendors' own words included. Some say that the
// reply broke off.
func finishOf(word string) (wire.FinishWhy, *wire.Refusal) {
	switch word {
	case "length", "max_tokens", "model_length", "repetition_truncation":
		return wire.FinishLength, nil
	case "model_context_window_exceeded":
		return wire.FinishWindow, nil
	case "tool_calls", "function_call", "tool_use":
		return wire.FinishCalls, nil
	case "content_filter", "sensitive", "safety", "refusal":
		return wire.FinishWithheld, nil
	case "stop_sequence":
		return wire.FinishString, nil
	case "pause_turn":
		return wire.FinishPause, nil
	case "insufficient_system_resource":
		return "", &wire.Refusal{Status: 503, Code: word, Words: "the vendor ran out of capacity in the middle of the reply"}
	case "error", "network_error", "abort", "cancelled":
		return "", &wire.Refusal{Status: 502, Code: word, Words: "the vendor broke off in the middle of the reply (" + word + ")"}
	}
	return wire.FinishStop, nil
}

// readFault reads an error: an object, or a string.
func readFault(raw []byte) *wire.Refusal {
	var e struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Param   string          `json:"param"`
		Code    json.RawMessage `json:"code"`
		Status  json.RawMessage `json:"status"`
	}
	f := &wire.Refusal{Status: 502}
	if json.Unmarshal(raw, &e) != nil {
		if json.Unmarshal(raw, &f.Words) != nil || f.Words == "" {
			f.Words = string(raw)
		}
		return f
	}
	f.Words, f.Code, f.Param = e.Message, e.Type, e.Param
	if f.Words == "" {
		f.Words = string(raw)
	}
	code := wire.Value(e.Code)
	if t := code.Text(); t != "" {
		f.Code = t
	}
	f.Status = statusOf(f.Code, e.Type)
	for _, v := range []wire.Value{code, wire.Value(e.Status)} {
		if n, ok := v.Int(); ok && n >= 400 && n < 600 {
			f.Status = int(n)
		}
	}
	return f
}

// statusOf is the status that an error would have had before the stream began.
func statusOf(words ...string) int {
	for _, w := range words {
		w = strings.ToLower(w)
		switch {
		case strings.Contains(w, "rate_limit"), strings.Contains(w, "quota"), w == "429":
			return 429
		case strings.Contains(w, "overloaded"), strings.Contains(w, "unavailable"):
			return 503
		case strings.Contains(w, "context_length"), strings.Contains(w, "invalid"), strings.Contains(w, "bad_request"):
			return 400
		case strings.Contains(w, "authentication"):
			return 401
		case strings.Contains(w, "permission"):
			return 403
		case strings.Contains(w, "not_found"):
			return 404
		}
	}
	return 502
}

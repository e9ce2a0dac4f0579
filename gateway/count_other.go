package gateway

import (
	"encoding/json"
	"net/http"

	"dev.magpie/gateway/upstream"
	"dev.magpie/gateway/wire"
)

// notCounted are the fields that a vendor's door for counting does not take.
var notCounted = map[wire.Protocol][]string{
	wire.Messages:  {"max_tokens", "stream", "metadata", "service_tier", "stop_sequences", "temperature", "top_p", "top_k"},
	wire.Responses: {"stream", "store", "include", "max_output_tokens", "metadata", "service_tier", "prompt_cache_key", "temperature", "top_p", "safety_identifier"},
}

// countBody makes the body of a count out of a translated request.
func countBody(api wire.Protocol, body []byte, model string) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	if api == wire.Gemini { // system and tools count only in here
		all["model"] = wire.Quote("models/" + model)
		return json.Marshal(map[string]any{"generateContentRequest": all})
	}
	for _, f := range notCounted[api] {
		delete(all, f)
	}
	return json.Marshal(all)
}

// countReply reads what a vendor counted and tells the agent, in its own shape.
func (t *try) countReply(first []byte) outcome {
	body := append(append([]byte(nil), first...), upstream.ReadSome(t.resp.Body, errorBytes)...)
	var n struct {
		Input *int64 `json:"input_tokens"`
		Total *int64 `json:"totalTokens"`
	}
	if err := json.Unmarshal(body, &n); err != nil || n.Input == nil && n.Total == nil {
		return t.noAnswer(body)
	}
	if n.Input == nil {
		n.Input = n.Total
	}
	t.s.sendCount(*n.Input)
	return outcome{status: http.StatusOK, passed: true}
}

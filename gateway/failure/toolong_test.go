package failure_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// TestTooLongInVendorsWords: the ways in which vendors say that a conversation no
// longer fits.
func TestTooLongInVendorsWords(t *testing.T) {
	for _, words := range []string{
		"prompt is too long: 212000 tokens > 200000 maximum",
		"Input is too long for requested model.",
		"Your input exceeds the context window of this model.",
		"The request exceeds the available context size. try increasing the context size or enable context shift",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
		"too many input tokens",
		"Too many prompt tokens: 300000",
		"输入内容的上下文长度超过限制",
		"上下文过长，请减少输入",
		"The input token count (1186139) exceeds the maximum number of tokens allowed (1048576).",
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
		"Please reduce the length of the messages.",
		"Your request is over the maximum allowed input length of 4096",
		"the prompt is longer than the model's context length (8192)",
		"the request is greater than the context length of 4096",
		"prompt token count of 130531 exceeds the limit of 128000",
		"invalid params, context window exceeds limit",
		"Invalid request: Your request exceeded model token limit: 262144",
		"Requested tokens exceed the configured context size of 8192",
		"Prompt exceeds max length",
		"error: context_window_exceeded",
		"The conversation exceeded max context length",
		"Range of input length should be [1, 98304]",
		"token limit exceeded: 140000",
		"context_length_exceeded",
		"tokens exceed the model's maximum context",
		"model_max_prompt_tokens_exceeded",
		"input content length exceeds the limit of 100000",
		"CONTENT_LENGTH_EXCEEDS_THRESHOLD",
		"input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
		"The prompt is too large for the context window",
	} {
		for _, status := range []int{400, 413, 422} {
			v := failure.Classify(reply(status, message(words)))
			if status == 422 && strings.Contains(words, "`max_tokens`") {
				continue // Anthropic says so at a 400
			}
			if v.Kind != trace.TooLarge || v.Code != "context_length_exceeded" || v.Status != 400 || v.Next || v.Scope != trace.ScopeNone {
				t.Errorf("%d %q: row %s says %s, agent %d, code %q", status, words, v.Row, v.Kind, v.Status, v.Code)
			}
		}
		if v := failure.Classify(reply(429, message(words))); v.Kind == trace.TooLarge {
			t.Errorf("a 429 is never too long: %q", words)
		}
	}
}

// TestNotTooLong: the reply's length alone, and the pace.
func TestNotTooLong(t *testing.T) {
	for _, words := range []string{
		"max_tokens is too large: 200000. The maximum context length is 128000",
		"max_output_tokens exceeds the context window",
		"max_completion_tokens: too many tokens",
		"too many tokens per minute, the maximum context length doesn't matter",
		"Too many tokens, please wait before trying again.",
		"too many input tokens, try again later",
		"too many tokens: throttled",
		"input token count per day exceeds the maximum: TPD",
		"the prompt is not a string",
		"context is required",
	} {
		if v := failure.Classify(reply(400, message(words))); v.Kind == trace.TooLarge {
			t.Errorf("%q: row %s says too long", words, v.Row)
		}
	}
}

// TestTooLongWords: the words that each API's clients look for.
func TestTooLongWords(t *testing.T) {
	vllm := "This model's maximum context length is 262144 tokens. However, you requested 262462 tokens (230462 in the messages, 32000 in the completion)."
	for _, c := range []struct{ name, protocol, words, want string }{
		{"only max_tokens is the excess", "messages", vllm, "input length and `max_tokens` exceed context limit: 230462 + 32000 > 262144"},
		{"the messages are the excess", "messages", strings.Replace(vllm, "230462 in", "270000 in", 1), "prompt is too long: 270000 tokens > 262144 maximum"},
		{"OpenAI", "messages", "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.", "prompt is too long: 140000 tokens > 128000 maximum"},
		{"Gemini", "messages", "The input token count (1186139) exceeds the maximum number of tokens allowed (1048576).", "prompt is too long: 1186139 tokens > 1048576 maximum"},
		{"Copilot", "messages", "prompt token count of 130531 exceeds the limit of 128000", "prompt is too long: 130531 tokens > 128000 maximum"},
		{"no figures", "messages", "Input is too long for requested model.", "prompt is too long: Input is too long for requested model."},
		{"no words", "messages", "", "prompt is too long for the model's context window"},
		{"Anthropic's own", "messages", "prompt is too long: 212000 tokens > 200000 maximum", "prompt is too long: 212000 tokens > 200000 maximum"},
		{"Anthropic's own, max_tokens", "messages", "input length and `max_tokens` exceed context limit: 1 + 2 > 3", "input length and `max_tokens` exceed context limit: 1 + 2 > 3"},
		{"chat keeps the vendor's", "chat", vllm, vllm},
		{"responses keeps the vendor's", "responses", "Input is too long", "Input is too long"},
		{"gemini without words", "gemini", " ", "The conversation is too long for the model's context window."},
	} {
		if got := failure.TooLongWords(c.protocol, c.words); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

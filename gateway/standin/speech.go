package standin

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"

	"dev.magpie/gateway/wire"
)

// speech is one conversation in one API, as the agent keeps it.
type speech interface {
	say(text string)                              // the person's words
	results(r *rand.Rand)                         // the results of the last reply's calls
	request(model string) (path string, b object) // the next request
	sign(h http.Header, key string)               // the key, where the API wants it
	hear(r io.Reader) (saying, error)             // reads a streamed reply into the history
}

// saying is what a reply said.
type saying struct {
	text  string
	calls []saidCall
	over  bool   // the reply came to its end
	err   string // an error inside the stream
}

// saidCall is one call in it.
type saidCall struct{ id, name, args string }

// newSpeech begins a conversation.
func newSpeech(api wire.Protocol, v *visitor) speech {
	base := spoken{program: v.program, name: v.visit.Agent, session: v.session}
	switch api {
	case wire.Responses:
		return &responsesSpeech{spoken: base}
	case wire.Messages:
		return &messagesSpeech{spoken: base}
	case wire.Gemini:
		return &geminiSpeech{spoken: base}
	case wire.Chat:
	}
	return &chatSpeech{spoken: base}
}

// spoken is what the conversations of every API have.
type spoken struct {
	program program
	name    string
	session string
	history list
	calls   []saidCall // of the last reply
}

func (s *spoken) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// firstError is the message of an error that a stream's event may hold.
func firstError(e object) string {
	switch err := e["error"].(type) {
	case string:
		return err
	case object:
		return pick(str(err["message"]), string(marshal(err)))
	}
	return ""
}

// chatSpeech speaks Chat Completions.
type chatSpeech struct{ spoken }

func (s *chatSpeech) say(text string) {
	s.history = append(s.history, object{"role": "user", "content": text})
}

func (s *chatSpeech) results(r *rand.Rand) {
	for _, c := range s.calls {
		s.history = append(s.history, object{"role": "tool", "tool_call_id": c.id, "content": output(r)})
	}
}

func (s *chatSpeech) request(model string) (string, object) {
	tools := list{}
	for _, t := range s.program.tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t, "description": toolSchemas[t].about, "parameters": toolSchema(t)}})
	}
	return "/v1/chat/completions", object{
		"model": model, "stream": true, "stream_options": object{"include_usage": true}, "tools": tools, "tool_choice": "auto",
		"messages": append(list{object{"role": "system", "content": systemPrompt(s.name)}}, s.history...),
	}
}

func (s *chatSpeech) hear(r io.Reader) (saying, error) {
	out, think := saying{}, ""
	var calls []saidCall
	err := events(r, func(e object) {
		out.err = pick(out.err, firstError(e))
		for _, c := range arr(e["choices"]) {
			d := obj(obj(c)["delta"])
			out.text += str(d["content"])
			think += pick(str(d["reasoning_content"]), str(d["reasoning"]))
			for _, t := range arr(d["tool_calls"]) {
				calls = chatFragment(calls, obj(t))
			}
			if obj(c)["finish_reason"] != nil {
				out.over = true
			}
		}
	})
	out.calls, s.calls = calls, calls
	if !out.over {
		return out, err
	}
	m := object{"role": "assistant", "content": null(out.text)}
	if think != "" {
		m["reasoning_content"] = think
	}
	var made list
	for _, c := range calls {
		made = append(made, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
	}
	if made != nil {
		m["tool_calls"] = made
	}
	s.history = append(s.history, m)
	return out, err
}

// chatFragment puts a fragment of a call where its index says.
func chatFragment(calls []saidCall, t object) []saidCall {
	i, _ := num(t["index"])
	for len(calls) <= i {
		calls = append(calls, saidCall{})
	}
	f := obj(t["function"])
	calls[i].id = pick(calls[i].id, str(t["id"]))
	calls[i].name = pick(calls[i].name, str(f["name"]))
	calls[i].args += str(f["arguments"])
	return calls
}

// responsesSpeech speaks Responses.
type responsesSpeech struct{ spoken }

func (s *responsesSpeech) say(text string) {
	s.history = append(s.history, object{"type": "message", "role": "user", "content": list{object{"type": "input_text", "text": text}}})
}

func (s *responsesSpeech) results(r *rand.Rand) {
	for _, c := range s.calls {
		s.history = append(s.history, object{"type": "function_call_output", "call_id": c.id, "output": output(r)})
	}
}

func (s *responsesSpeech) request(model string) (string, object) {
	tools := list{}
	for _, t := range s.program.tools {
		tools = append(tools, object{"type": "function", "name": t, "description": toolSchemas[t].about, "parameters": toolSchema(t), "strict": false})
	}
	head := object{"type": "message", "role": "developer", "content": list{object{"type": "input_text", "text": systemPrompt(s.name)}}}
	return "/v1/responses", object{
		"model": model, "stream": true, "input": append(list{head}, s.history...), "tools": tools, "tool_choice": "auto", "parallel_tool_calls": true,
		"reasoning": object{"effort": "medium", "summary": "auto"}, "store": false, "include": list{"reasoning.encrypted_content"}, "prompt_cache_key": s.session,
	}
}

func (s *responsesSpeech) hear(r io.Reader) (saying, error) {
	out := saying{}
	s.calls = nil
	err := events(r, func(e object) {
		switch str(e["type"]) {
		case "response.output_text.delta":
			out.text += str(e["delta"])
		case "response.output_item.done":
			s.keep(obj(e["item"]))
		case "response.completed":
			out.over = true
		case "response.failed", "response.incomplete":
			response := obj(e["response"])
			out.err = pick(firstError(response), pick(str(obj(response["incomplete_details"])["reason"]), "failed"))
		case "error":
			out.err = pick(str(e["message"]), pick(firstError(e), "error"))
		}
	})
	out.calls = s.calls
	return out, err
}

// keep puts an item into the history the way Codex does: without its id.
func (s *responsesSpeech) keep(it object) {
	delete(it, "id")
	if str(it["type"]) == "function_call" {
		s.calls = append(s.calls, saidCall{str(it["call_id"]), str(it["name"]), str(it["arguments"])})
	}
	s.history = append(s.history, it)
}

// geminiSpeech speaks Gemini.
type geminiSpeech struct{ spoken }

func (s *geminiSpeech) sign(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }

func (s *geminiSpeech) say(text string) {
	s.history = append(s.history, object{"role": "user", "parts": list{object{"text": text}}})
}

func (s *geminiSpeech) results(r *rand.Rand) {
	parts := list{}
	for _, c := range s.calls {
		parts = append(parts, object{"functionResponse": object{"name": c.name, "id": c.id, "response": object{"output": output(r)}}})
	}
	s.history = append(s.history, object{"role": "user", "parts": parts})
}

func (s *geminiSpeech) request(model string) (string, object) {
	tools := list{}
	for _, t := range s.program.tools {
		tools = append(tools, object{"name": t, "description": toolSchemas[t].about, "parametersJsonSchema": toolSchema(t)})
	}
	return "/v1beta/models/" + strings.ReplaceAll(model, "/", "%2F") + ":streamGenerateContent?alt=sse", object{
		"contents": s.history, "systemInstruction": object{"role": "user", "parts": list{object{"text": systemPrompt(s.name)}}},
		"tools":            list{object{"functionDeclarations": tools}},
		"generationConfig": object{"temperature": 1, "topP": 0.95, "topK": 64, "thinkingConfig": object{"includeThoughts": true}},
	}
}

func (s *geminiSpeech) hear(r io.Reader) (saying, error) {
	out, parts := saying{}, list{}
	s.calls = nil
	err := events(r, func(e object) {
		out.err = pick(out.err, firstError(e))
		if f := obj(e["promptFeedback"]); f != nil {
			out.err = "blocked: " + str(f["blockReason"])
		}
		for _, c := range arr(e["candidates"]) {
			for _, p := range arr(obj(obj(c)["content"])["parts"]) {
				parts = s.keep(parts, obj(p), &out)
			}
			switch end := str(obj(c)["finishReason"]); end {
			case "":
			case "STOP", "MAX_TOKENS":
				out.over = true
			default:
				out.err = "ended by " + end
			}
		}
	})
	out.calls = s.calls
	if out.over && len(parts) > 0 {
		s.history = append(s.history, object{"role": "model", "parts": parts})
	}
	return out, err
}

// keep adds a part to the turn the way Gemini CLI does: thought text is dropped.
func (s *geminiSpeech) keep(parts list, p object, out *saying) list {
	if yes(p["thought"]) {
		return parts
	}
	if call := obj(p["functionCall"]); call != nil {
		s.calls = append(s.calls, saidCall{id: str(call["id"]), name: str(call["name"])})
		return append(parts, p)
	}
	out.text += str(p["text"])
	if str(p["text"]) == "" && p["thoughtSignature"] == nil {
		return parts
	}
	return append(parts, p)
}

package standin

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
)

// messagesSpeech speaks Messages.
type messagesSpeech struct{ spoken }

func (s *messagesSpeech) sign(h http.Header, key string) {
	s.spoken.sign(h, key)
	h.Set("Anthropic-Version", firstVersion)
}

func (s *messagesSpeech) say(text string) {
	s.history = append(s.history, object{"role": "user", "content": list{object{"type": "text", "text": text}}})
}

func (s *messagesSpeech) results(r *rand.Rand) {
	blocks := list{}
	for _, c := range s.calls {
		blocks = append(blocks, object{"type": "tool_result", "tool_use_id": c.id, "content": output(r)})
	}
	s.history = append(s.history, object{"role": "user", "content": blocks})
}

func (s *messagesSpeech) request(model string) (string, object) {
	tools := list{}
	for _, t := range s.program.tools {
		tools = append(tools, object{"name": t, "description": toolSchemas[t].about, "input_schema": toolSchema(t)})
	}
	mark := object{"type": "ephemeral"}
	user := string(marshal(object{"device_id": strings.Repeat("0", 64), "account_uuid": "", "session_id": s.session}))
	return "/v1/messages?beta=true", object{
		"model": model, "max_tokens": 32000, "stream": true, "messages": s.marked(mark), "tools": tools, "metadata": object{"user_id": user},
		"system": list{
			object{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.332; cc_entrypoint=cli;"},
			object{"type": "text", "text": systemPrompt(s.name), "cache_control": mark},
		},
		"thinking": object{"type": "adaptive", "display": "summarized"}, "output_config": object{"effort": "medium"},
	}
}

// marked is the history with the cache mark on its last block, as Claude Code moves it each turn.
func (s *messagesSpeech) marked(mark object) list {
	all := append(list{}, s.history...)
	if len(all) == 0 {
		return all
	}
	last := obj(all[len(all)-1])
	blocks := append(list{}, arr(last["content"])...)
	if len(blocks) == 0 {
		return all
	}
	block := object{"cache_control": mark}
	for k, v := range obj(blocks[len(blocks)-1]) {
		block[k] = v
	}
	blocks[len(blocks)-1] = block
	all[len(all)-1] = object{"role": last["role"], "content": blocks}
	return all
}

func (s *messagesSpeech) hear(r io.Reader) (saying, error) {
	out := saying{}
	var blocks []*heardBlock
	err := events(r, func(e object) {
		i, _ := num(e["index"])
		switch str(e["type"]) {
		case "content_block_start":
			blocks = append(blocks, &heardBlock{block: obj(e["content_block"])})
		case "content_block_delta":
			if i < len(blocks) {
				blocks[i].add(obj(e["delta"]))
			}
		case "message_delta":
			if str(obj(e["delta"])["stop_reason"]) == "refusal" {
				out.err = "the model refused"
			}
		case "message_stop":
			out.over = true
		case "error":
			out.err = pick(firstError(e), "error")
		}
		if e["type"] == nil {
			out.err = pick(out.err, firstError(e))
		}
	})
	s.calls = nil
	turn := list{}
	for _, b := range blocks {
		turn = append(turn, b.whole())
		switch str(b.block["type"]) {
		case "text":
			out.text += b.text
		case "tool_use":
			s.calls = append(s.calls, saidCall{str(b.block["id"]), str(b.block["name"]), b.args})
		}
	}
	out.calls = s.calls
	if out.over && out.err == "" && len(turn) > 0 {
		s.history = append(s.history, object{"role": "assistant", "content": turn})
	}
	return out, err
}

// heardBlock is one block as it comes.
type heardBlock struct {
	block                 object
	text, args, signature string
}

func (b *heardBlock) add(d object) {
	b.text += str(d["text"]) + str(d["thinking"])
	b.args += str(d["partial_json"])
	b.signature += str(d["signature"])
}

// whole is the block as it goes back with the next request.
func (b *heardBlock) whole() object {
	switch str(b.block["type"]) {
	case "thinking":
		return object{"type": "thinking", "thinking": b.text, "signature": b.signature}
	case "tool_use":
		input, err := parse([]byte(pick(b.args, "{}")))
		if err != nil {
			input = object{}
		}
		return object{"type": "tool_use", "id": b.block["id"], "name": b.block["name"], "input": input}
	}
	return object{"type": "text", "text": b.text}
}

package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/wire"
)

// A vendor may end its stream without the blank line behind its last event.
func TestALastEventWithoutItsBlankLineIsTranslated(t *testing.T) {
	v := newBabel(t, spoken(2, "some words"))
	for api, events := range v.streams {
		last := len(events) - 1
		if api == wire.Chat {
			last-- // what ends the reply, not the mark behind it
		}
		events[last] = bytes.TrimRight(events[last], "\n")
		v.streams[api] = events[:last+1]
	}
	c := newFourDoors(t, v)
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			path, body := door(from, at)
			resp, err := c.client.Post(c.ours+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(got), `"error":{`) || strings.Contains(string(got), "event: error") {
				t.Errorf("%s on %s: %d %v %s", from, at, resp.StatusCode, err, got)
			}
		}
	}
}

// A vendor of Messages has said all once it has said why it stops: message_stop tells nothing more.
func TestAMessagesReplyMayEndWithoutItsLastEvent(t *testing.T) {
	said := eventsOf("messages",
		`message_start {"message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`content_block_start {"index":0,"content_block":{"type":"text","text":""}}`, `content_block_delta {"index":0,"delta":{"type":"text_delta","text":"said"}}`)
	stopped := said + eventsOf("messages", `content_block_stop {"index":0}`, `message_delta {"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}}`)
	for name, c := range map[string]struct{ path, body, events, want string }{
		"Chat streamed":      {"/v1/chat/completions", chatStream("m"), "role said finish length usage 5/3/0 [DONE]", ""},
		"Responses streamed": {"/v1/responses", responsesStream("m"), "+message o0 output_text.delta o0 c0 said -message incomplete", ""},
		"Gemini streamed":    {"/v1beta/models/m:streamGenerateContent?alt=sse", geminiBody, "said finish MAX_TOKENS usage <nil>/<nil>/<nil>", ""},
		"Chat":               {"/v1/chat/completions", chatBody("m"), "", `{"choices":[{"finish_reason":"length","message":{"content":"said"}}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`},
		"Responses":          {"/v1/responses", responsesBody("m"), "", `{"status":"incomplete","usage":{"input_tokens":5,"output_tokens":3}}`},
		"Gemini":             {"/v1beta/models/m:generateContent", geminiBody, "", `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			cross(t, crossing{api: "messages", model: "m", path: c.path, body: c.body, reply: stopped, events: c.events, want: c.want})
		})
		t.Run(name+" cut", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cr := crossing{api: "messages", model: "m", reply: said}
				r := newRig(t, cr.provided(), vendors{"v": &crossed{c: &cr}})
				if got := r.ask(c.path, c.body); !strings.Contains(got.body, "ended before it was complete") {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		})
	}
}

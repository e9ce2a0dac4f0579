package gateway_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/trace"
)

// line is one moment of a vendor's stream: a pause, then bytes.
type line struct {
	after time.Duration
	text  string
}

// timeline is a vendor whose stream goes by a drawn line of time; it closes gone when its
// request is cancelled.
type timeline struct {
	lines []line
	cut   bool // the connection breaks off at the end
	gone  chan struct{}
	calls atomic.Int32
}

func (v *timeline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.calls.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, l := range v.lines {
		select {
		case <-time.After(l.after):
		case <-r.Context().Done():
			if v.gone != nil {
				close(v.gone)
			}
			return
		}
		if l.text == "" { // headers alone
			w.(http.Flusher).Flush()
			continue
		}
		_, _ = io.WriteString(w, l.text)
		w.(http.Flusher).Flush()
	}
	if v.cut {
		panic(http.ErrAbortHandler)
	}
}

// Events of the four APIs.
const (
	msgStart   = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
	msgThink   = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"let me see\"}}\n\n"
	msgText    = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"hel\"}}\n\n"
	msgMore    = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"lo\"}}\n\n"
	msgStop    = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	msgRefuse  = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":{\"output_tokens\":7}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	msgBusy    = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n"
	chatRole   = "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
	chatText   = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"}}]}\n\n"
	chatMore   = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n"
	chatThink  = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n"
	chatStop   = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	respStart  = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-x\",\"output\":[]}}\n\n"
	respText   = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":1,\"delta\":\"hel\"}\n\n"
	respMore   = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":2,\"delta\":\"lo\"}\n\n"
	respStop   = "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":3,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}}\n\n"
	respThink  = "event: response.reasoning_summary_text.delta\ndata: {\"type\":\"response.reasoning_summary_text.delta\",\"sequence_number\":1,\"delta\":\"hm\"}\n\n"
	respRefuse = "event: response.incomplete\ndata: {\"type\":\"response.incomplete\",\"sequence_number\":2,\"response\":{\"id\":\"resp_1\",\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"content_filter\"}}}\n\n"
	gemThink   = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hm\",\"thought\":true}],\"role\":\"model\"}}]}\n\n"
	gemText    = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hello\"}],\"role\":\"model\"}}]}\n\n"
	gemStop    = "data: {\"candidates\":[{\"content\":{\"parts\":[],\"role\":\"model\"},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":2}}\n\n"
	gemRefuse  = "data: {\"candidates\":[{\"finishReason\":\"SAFETY\"}]}\n\n"
	comment    = ": keepalive\n"
)

// ab is a group of two vendors, a before b.
const ab = `
[providers.a]
chat = "{a}/v1"
responses = "{a}/v1"
messages = "{a}"
gemini = "{a}/v1beta"
keys = [{ name = "k", value = "sk-test-k1-000000000001" }]
[providers.b]
chat = "{b}/v1"
responses = "{b}/v1"
messages = "{b}"
gemini = "{b}/v1beta"
keys = [{ name = "k", value = "sk-test-k2-000000000002" }]
[groups.g]
routing = "order"
members = ["a/MODEL", "b/other"]
`

func abOf(model string) string { return strings.ReplaceAll(ab, "MODEL", model) }

// seen is a stream as its agent reads it, each line with the moment it came.
type seen struct {
	status  int
	header  http.Header
	headers time.Duration // when the headers came
	lines   []line        // after: since the request
	err     error
}

func (s seen) text() string {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text)
	}
	return b.String()
}

// at is when the first line that holds text came, -1 for never.
func (s seen) at(text string) time.Duration {
	for _, l := range s.lines {
		if strings.Contains(l.text, text) {
			return l.after
		}
	}
	return -1
}

func (s seen) count(text string) (n int) {
	for _, l := range s.lines {
		if l.text == text {
			n++
		}
	}
	return n
}

// watch asks and notes when each line came.
func (r *rig) watch(path, body string) seen {
	r.t.Helper()
	start := time.Now()
	resp, err := r.send(r.t.Context(), http.MethodPost, path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	s := seen{status: resp.StatusCode, header: resp.Header, headers: time.Since(start)}
	br := bufio.NewReader(resp.Body)
	for {
		text, err := br.ReadString('\n')
		if text != "" {
			s.lines = append(s.lines, line{time.Since(start), text})
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
			return s
		}
	}
}

func TestClaudesThinkingIsHeldUntilARefusalCouldNoLongerFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, msgStart}, {time.Second, msgThink}, {25 * time.Second, msgRefuse}}}
		b := &timeline{lines: []line{{time.Second, msgStart + msgText + msgStop}}}
		r := newRig(t, abOf("claude-x"), vendors{"a": a, "b": b})
		got := r.watch("/v1/messages", messagesStream("group/g"))
		route := r.last()
		if got.status != 200 || strings.Contains(got.text(), "let me see") || strings.Contains(got.text(), "refusal") || !strings.Contains(got.text(), "hel") {
			t.Errorf("%d %s", got.status, got.text())
		}
		if len(route.Tries) != 2 || route.Tries[0].Fail != trace.Refused || route.Tries[0].Rest != nil {
			t.Errorf("%+v", route.Tries)
		}
		if n := got.count(comment); n == 0 {
			t.Error("an agent that waits past 15 s reads a comment")
		}
	})
}

func TestThinkingHeldForFourMinutesPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{0, msgStart}, {time.Second, msgThink}, {4*time.Minute + 30*time.Second, msgText + msgStop}}}
		b := &timeline{}
		r := newRig(t, abOf("claude-x"), vendors{"a": a, "b": b})
		got := r.watch("/v1/messages", messagesStream("group/g"))
		if at := got.at("let me see"); at != 4*time.Minute+time.Second {
			t.Errorf("thinking passed after %s", at)
		}
		if b.calls.Load() != 0 {
			t.Error("b was asked")
		}
	})
}

func TestThinkingThenTextIsTheVendorsByteForByte(t *testing.T) {
	whole := msgStart + msgThink + msgText + msgMore + msgStop
	a := &timeline{lines: []line{{0, msgStart}, {0, msgThink}, {0, msgText}, {0, msgMore + msgStop}}}
	b := &timeline{}
	r := newRig(t, abOf("claude-x"), vendors{"a": a, "b": b})
	if got := r.watch("/v1/messages", messagesStream("group/g")); got.text() != whole || b.calls.Load() != 0 {
		t.Errorf("%q, b asked %d times", got.text(), b.calls.Load())
	}
}

func TestOtherVendorsThinkingPassesAsItComes(t *testing.T) {
	for _, model := range []string{"glm-5.3", "deepseek-reasoner", "kimi-k2"} {
		synctest.Test(t, func(t *testing.T) {
			a := &timeline{lines: []line{{0, chatRole}, {time.Second, chatThink}, {5 * time.Second, chatThink}, {5 * time.Second, chatText + chatStop}}}
			r := newRig(t, abOf(model), vendors{"a": a, "b": &timeline{}})
			got := r.watch("/v1/chat/completions", chatStream("group/g"))
			if at := got.at("reasoning_content"); at != time.Second {
				t.Errorf("%s: thinking reached the agent after %s", model, at)
			}
		})
	}
}

func TestOnTheLastCandidateThinkingStreams(t *testing.T) {
	for name, c := range map[string]struct {
		model, path, body string
		lines             []line
		mark              string
		want              time.Duration
	}{
		"Claude's": {"claude-x", "/v1/messages", messagesStream("a/claude-x"), []line{{0, msgStart}, {time.Second, msgThink}, {9 * time.Second, msgText + msgStop}}, "let me see", time.Second},
		"GPT's":    {"gpt-5.4", "/v1/responses", responsesStream("a/gpt-5.4"), []line{{0, respStart}, {time.Second, respThink}, {9 * time.Second, respText + respStop}}, "hm", time.Second},
		"Gemini's is held": {
			"gemini-3", "/v1beta/models/a/gemini-3:streamGenerateContent?alt=sse", geminiBody, []line{{0, gemThink}, {9 * time.Second, gemText + gemStop}}, "hm", 9 * time.Second,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, lone, vendors{"a": &timeline{lines: c.lines}})
			if at := r.watch(c.path, c.body).at(c.mark); at != c.want {
				t.Errorf("%s: thinking came after %s, want %s", name, at, c.want)
			}
		})
	}
}

func TestARefusalAfterThinkingFailsOver(t *testing.T) {
	for name, c := range map[string]struct {
		model, path, body string
		a, b              string
		none              []string
	}{
		"Messages":  {"claude-x", "/v1/messages", messagesStream("group/g"), msgStart + msgThink + msgRefuse, msgStart + msgText + msgMore + msgStop, []string{"let me see", "refusal"}},
		"Responses": {"gpt-5.4", "/v1/responses", responsesStream("group/g"), respStart + respThink + respRefuse, respStart + respText + respMore + respStop, []string{"hm", "content_filter"}},
		"Gemini": {
			"gemini-3", "/v1beta/models/group%2Fg:streamGenerateContent?alt=sse", geminiBody, gemThink + gemRefuse, gemText + gemStop, []string{"hm", "SAFETY"},
		},
		"Chat": {
			"gpt-5.4", "/v1/chat/completions", chatStream("group/g"), chatRole + chatThink + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n",
			chatRole + chatText + chatStop,
			[]string{"hm", "content_filter"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, abOf(c.model), vendors{"a": &timeline{lines: []line{{0, c.a}}}, "b": &timeline{lines: []line{{0, c.b}}}})
			got := r.watch(c.path, c.body)
			if got.status != 200 || got.text() != c.b {
				t.Errorf("%d %q", got.status, got.text())
			}
			for _, word := range c.none {
				if strings.Contains(got.text(), word) {
					t.Errorf("the agent read %q of a", word)
				}
			}
			route := r.last()
			if len(route.Tries) != 2 || route.Tries[0].Fail != trace.Refused || route.Tries[0].Rest != nil || route.Tries[1].Fail != "" {
				t.Errorf("%+v", route.Tries)
			}
		})
	}
}

func TestARefusalThatNobodyTakesOverIsAnError(t *testing.T) {
	r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, msgStart + msgRefuse}}}})
	got := r.ask("/v1/messages", messagesStream("a/m"))
	if got.status != 400 || !strings.Contains(got.body, "refusal") || !strings.Contains(got.body, "m of a") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if len(r.rests()) != 0 {
		t.Error("a refusal rested someone")
	}
}

func TestAnErrorAsTheFirstEventGoesToTheNext(t *testing.T) {
	pieces := []line{{0, "event: err"}, {50 * time.Millisecond, "or\ndata: {\"error\":{\"code\":\"13"}, {50 * time.Millisecond, "05\",\"message\":\"busy\"}}\n\n"}}
	for name, lines := range map[string][]line{
		"whole":           {{0, msgBusy}},
		"cut over writes": pieces,
		"after a comment": append([]line{{0, ": queued\n\n"}}, pieces...),
		"after a ping":    {{0, "event: ping\ndata: {\"type\":\"ping\"}\n\n"}, {time.Second, msgBusy}},
		"after its start": {{0, msgStart}, {time.Second, msgBusy}},
		"with CRLF":       {{0, strings.ReplaceAll(msgBusy, "\n", "\r\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &timeline{lines: []line{{0, msgStart + msgText + msgStop}}}
				r := newRig(t, abOf("m"), vendors{"a": &timeline{lines: lines}, "b": b})
				got := r.watch("/v1/messages", messagesStream("group/g"))
				route := r.last()
				if got.status != 200 || got.text() != msgStart+msgText+msgStop || route.Tries[0].Fail != trace.Overloaded {
					t.Errorf("%d %q %+v", got.status, got.text(), route.Tries)
				}
			})
		})
	}
}

func TestOnceAByteIsOutNobodyElseSpeaks(t *testing.T) {
	for name, c := range map[string]struct {
		path, body string
		lines      []line
		cut        bool
		want       string // what the agent reads behind the text
	}{
		"Messages cut":             {"/v1/messages", messagesStream("group/g"), []line{{0, msgStart + msgText}}, true, "event: error\ndata: {\"type\":\"error\""},
		"Messages ended too early": {"/v1/messages", messagesStream("group/g"), []line{{0, msgStart + msgText}}, false, "ended before it was complete"},
		"Chat cut":                 {"/v1/chat/completions", chatStream("group/g"), []line{{0, chatRole + chatText}}, true, "data: {\"error\":{"},
		"Chat ended too early":     {"/v1/chat/completions", chatStream("group/g"), []line{{0, chatRole + chatText}}, false, "ended before it was complete"},
		"Responses cut":            {"/v1/responses", responsesStream("group/g"), []line{{0, respStart + respText}}, true, "\"sequence_number\":2,\"response\":{\"id\":\"resp_1\""},
		"Responses ended early":    {"/v1/responses", responsesStream("group/g"), []line{{0, respStart + respText}}, false, "event: response.failed"},
		"Gemini cut":               {"/v1beta/models/group%2Fg:streamGenerateContent?alt=sse", geminiBody, []line{{0, gemText}}, true, "data: {\"error\":{\"code\":502"},
		"half an event at the end": {"/v1/chat/completions", chatStream("group/g"), []line{{0, chatRole + chatText + "data: {\"choices\":[{\"del"}}, true, "data: {\"error\":{"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &timeline{lines: []line{{0, msgStart + msgText + msgStop}}}
			r := newRig(t, abOf("m"), vendors{"a": &timeline{lines: c.lines, cut: c.cut}, "b": b})
			got := r.watch(c.path, c.body)
			if !strings.Contains(got.text(), c.want) || b.calls.Load() != 0 {
				t.Errorf("%q, b asked %d times", got.text(), b.calls.Load())
			}
			if strings.Contains(got.text(), "EOF") || strings.Contains(got.text(), "\"del\n") {
				t.Errorf("bare EOF, or half an event: %q", got.text())
			}
			route := r.last()
			if route.Status < 500 || route.Error == "" || len(route.Tries) != 1 || route.Tries[0].Fail == "" {
				t.Errorf("status %d, error %q, tries %+v", route.Status, route.Error, route.Tries)
			}
		})
	}
}

func TestACutBeforeAnyContentFailsOver(t *testing.T) {
	for name, a := range map[string]*timeline{
		"cut after its start":   {lines: []line{{0, msgStart}}, cut: true},
		"ended after its start": {lines: []line{{0, msgStart}}},
		"cut after a ping":      {lines: []line{{0, "event: ping\ndata: {\"type\":\"ping\"}\n\n"}}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &timeline{lines: []line{{0, msgStart + msgText + msgStop}}}
			r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
			if got := r.watch("/v1/messages", messagesStream("group/g")); got.text() != msgStart+msgText+msgStop {
				t.Errorf("%q", got.text())
			}
		})
	}
}

func TestAChatStreamMayEndWithoutItsMark(t *testing.T) {
	text := chatRole + chatText + "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, text}}}})
	if got := r.watch("/v1/chat/completions", chatStream("a/m")); got.text() != text || r.last().Status != 200 {
		t.Errorf("%q, %d", got.text(), r.last().Status)
	}
}

func TestTheAgentIsKeptAlive(t *testing.T) {
	for name, c := range map[string]struct {
		path, body       string
		held, mid        []line
		hel, lo, the_end string
	}{
		"Chat": {
			"/v1/chat/completions", chatStream("a/m"),
			[]line{{0, chatRole}, {40 * time.Second, chatText + chatMore + chatStop}},
			[]line{{0, chatRole + chatText}, {40 * time.Second, chatMore + chatStop}},
			"hel", "\"lo\"", "[DONE]",
		},
		"Messages": {
			"/v1/messages", messagesStream("a/m"),
			[]line{{0, msgStart}, {40 * time.Second, msgText + msgMore + msgStop}},
			[]line{{0, msgStart + msgText}, {40 * time.Second, msgMore + msgStop}},
			"hel", "\"lo\"", "message_stop",
		},
		"Responses": {
			"/v1/responses", responsesStream("a/m"),
			[]line{{0, respStart}, {40 * time.Second, respText + respMore + respStop}},
			[]line{{0, respStart + respText}, {40 * time.Second, respMore + respStop}},
			"hel", "\"lo\"", "response.completed",
		},
	} {
		t.Run(name+" while held", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": &timeline{lines: c.held}})
				got := r.watch(c.path, c.body)
				if got.headers != 15*time.Second || got.at(comment) != 15*time.Second || got.at(c.hel) != 40*time.Second || got.at(c.the_end) < 0 {
					t.Errorf("headers %s, comment %s, text %s\n%s", got.headers, got.at(comment), got.at(c.hel), got.text())
				}
				if n := got.count(comment); n != 2 {
					t.Errorf("%d comments in 40 s", n)
				}
			})
		})
		t.Run(name+" in the middle", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": &timeline{lines: c.mid}})
				got := r.watch(c.path, c.body)
				if got.at(c.hel) != 0 || got.at(comment) != 15*time.Second || got.at(c.lo) != 40*time.Second {
					t.Errorf("hel %s, comment %s, lo %s\n%s", got.at(c.hel), got.at(comment), got.at(c.lo), got.text())
				}
				if ct := got.header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") || got.header.Get("Content-Length") != "" || got.header.Get("Cache-Control") != "no-cache" {
					t.Errorf("headers %v", got.header)
				}
			})
		})
	}
}

func TestGeminiIsNeverSentAComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, gemText}, {100 * time.Second, gemStop}}}})
		got := r.watch("/v1beta/models/a/m:streamGenerateContent?alt=sse", geminiBody)
		if got.text() != gemText+gemStop {
			t.Errorf("%q", got.text())
		}
	})
}

func TestASilentHeldCandidateGivesWayInOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &timeline{lines: []line{{40 * time.Second, msgStart + msgBusy}}}
		b := &timeline{lines: []line{{time.Second, msgStart + msgText + msgMore + msgStop}}}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
		got := r.watch("/v1/messages", messagesStream("group/g"))
		if !strings.HasPrefix(got.text(), comment) || strings.Contains(got.text(), "busy") ||
			strings.Count(got.text(), "message_start\n") != 1 || !strings.HasSuffix(got.text(), msgStop) {
			t.Errorf("%q", got.text())
		}
	})
}

func TestAfterAKeepaliveAFinalErrorIsAnEvent(t *testing.T) {
	for name, c := range map[string]struct{ path, body, want string }{
		"Chat":      {"/v1/chat/completions", chatStream("a/m"), "data: {\"error\":{\"message\":"},
		"Messages":  {"/v1/messages", messagesStream("a/m"), "event: error\ndata: {\"type\":\"error\",\"error\":{"},
		"Responses": {"/v1/responses", responsesStream("a/m"), "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":1,"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					pass(20 * time.Second)
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, `{"error":{"message":"temperature is wrong","type":"invalid_request_error"}}`)
				})
				r := newRig(t, lone, vendors{"a": v})
				got := r.watch(c.path, c.body)
				if got.status != 200 || !strings.Contains(got.text(), c.want) || !strings.Contains(got.text(), "temperature is wrong") {
					t.Errorf("%d %q", got.status, got.text())
				}
				if r.last().Status != 400 {
					t.Errorf("the route tells %d", r.last().Status)
				}
			})
		})
	}
}

func TestAVendorThatStaysSilentIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		a := &timeline{lines: []line{{0, msgStart + msgText}, {time.Hour, msgStop}}, gone: gone}
		r := newRig(t, abOf("m"), vendors{"a": a, "b": &timeline{}})
		got := r.watch("/v1/messages", messagesStream("group/g"))
		if !strings.Contains(got.text(), "sent nothing for 5m0s") || !strings.Contains(got.text(), "event: error") {
			t.Errorf("%q", got.text())
		}
		<-gone
	})
}

func TestASlowMemberGivesWayToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		toml := strings.Replace(abOf("m"), "[groups.g]", "[groups.g]\nfirst_token = 5", 1)
		a := &timeline{lines: []line{{0, msgStart}, {20 * time.Second, msgText + msgStop}}}
		b := &timeline{lines: []line{{time.Second, msgStart + msgText + msgStop}}}
		r := newRig(t, toml, vendors{"a": a, "b": b})
		got := r.watch("/v1/messages", messagesStream("group/g"))
		first := r.last().Tries[0]
		if got.at("hel") != 6*time.Second || first.Fail != trace.Slow || first.Status != 504 || first.Rest != nil {
			t.Errorf("text after %s, try %+v", got.at("hel"), first)
		}
	})
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What the subscription's sign-in and its vendor say.
const (
	bridgeToken  = "sk-ant-oat01-stand-in-0000000001"
	bridgeConfig = "[providers.claude]\naccounts = [{ name = \"me\", home = %q }]\n"
	bridgeModel  = "claude-sonnet-5"
	bridgeRule   = "You are a weather agent: answer with the tool's own words."
)

// anthropic is the vendor behind the real claude program: its model calls a tool twice at once,
// and then says a last word with what they gave.
type anthropic struct {
	mu     sync.Mutex
	faults []error
	asked  []anthropicAsk
	stray  []string // who else was asked
}

type anthropicAsk struct {
	Model    string
	System   json.RawMessage
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	Tools []struct {
		Name        string
		Description string
	}
	session string
}

func (v *anthropic) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf(format, args...))
}

func (v *anthropic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		v.stray = append(v.stray, r.Method+" "+r.URL.Path)
		http.NotFound(w, r)
		return
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+bridgeToken {
		v.fault("the program's vendor was shown %q", got)
	}
	var a anthropicAsk
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		v.fault("the program's request: %v", err)
	}
	a.session = r.Header.Get("X-Claude-Code-Session-Id")
	v.asked = append(v.asked, a)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	for claim, share := range map[string]string{"5h": "0.42", "7d": "0.81"} {
		h.Set("anthropic-ratelimit-unified-"+claim+"-utilization", share)
		h.Set("anthropic-ratelimit-unified-"+claim+"-status", "allowed")
		h.Set("anthropic-ratelimit-unified-"+claim+"-reset", strconv.FormatInt(time.Now().Add(2*time.Hour).Unix(), 10))
	}
	h.Set("anthropic-ratelimit-unified-status", "allowed")
	h.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
	v.answer(w, &a)
}

func (v *anthropic) answer(w io.Writer, a *anthropicAsk) {
	event := func(name, data string) { _, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data) }
	n := len(v.asked)
	event("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":1}}}`, n, a.Model, 50*(n-1)))
	block := func(i int, start, kind, field, value string) {
		event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start))
		quoted, _ := json.Marshal(value)
		event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, i, kind, field, quoted))
		event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	stop := "end_turn"
	results := v.results(a)
	switch {
	case len(results) > 0:
		block(0, `{"type":"text","text":""}`, "text_delta", "text", "The tools say: "+strings.Join(results, "; "))
	case len(a.Tools) > 0:
		stop = "tool_use"
		block(0, `{"type":"text","text":""}`, "text_delta", "text", "Let me look.")
		for i, city := range []string{"Rome", "Oslo"} {
			block(i+1, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d_%d","name":%q,"input":{}}`, n, i, a.Tools[0].Name), "input_json_delta", "partial_json", `{"city":"`+city+`"}`)
		}
	default:
		block(0, `{"type":"text","text":""}`, "text_delta", "text", "There is no tool.")
	}
	event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":20}}`)
	event("message_stop", `{"type":"message_stop"}`)
}

// results are the words of the tools' results in a request, in their order.
func (v *anthropic) results(a *anthropicAsk) (words []string) {
	for _, m := range a.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			var parts []struct{ Text string }
			var word string
			if json.Unmarshal(b.Content, &word) == nil {
				words = append(words, word)
			} else if json.Unmarshal(b.Content, &parts) == nil {
				for _, p := range parts {
					words = append(words, p.Text)
				}
			}
		}
	}
	return words
}

// bridged has a Chat agent's tool loop served by the real claude program, whose vendor is a
// stand-in: the program is found through a script that points it there.
func bridged(ctx context.Context, o options) (err error) {
	v := &anthropic{}
	at := httptest.NewServer(v)
	defer at.Close()
	dir, err := os.MkdirTemp(o.keep, "magpie-bridge-")
	if err != nil {
		return err
	}
	s := &stage{dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), bin: filepath.Join(dir, "bin")}
	if o.keep == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	home := filepath.Join(dir, "subscription")
	if err := errors.Join(s.folders(), os.Mkdir(s.bin, 0o700), os.Mkdir(home, 0o700)); err != nil {
		return err
	}
	script := "#!/bin/sh\nANTHROPIC_BASE_URL='" + at.URL + "' exec '" + o.bins["claude"] + "' \"$@\"\n"
	signIn := `{"claudeAiOauth":{"accessToken":"` + bridgeToken + `","refreshToken":"sk-ant-ort01-stand-in","expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`
	if err := errors.Join(
		os.WriteFile(filepath.Join(s.bin, "claude"), []byte(script), 0o700), //nolint:gosec // it has to be run
		os.WriteFile(filepath.Join(home, ".credentials.json"), []byte(signIn), 0o600),
	); err != nil {
		return err
	}
	gw, err := s.serve(ctx, o.magpie, fmt.Sprintf(bridgeConfig, home), func(models []string) bool {
		return slices.Contains(models, "claude/"+bridgeModel) || slices.Contains(models, bridgeModel)
	})
	if err != nil {
		return err
	}
	fault := s.chatLoop(ctx, v)
	windows := s.seesWindows(ctx)
	told, watched := s.routes(ctx)
	err = errors.Join(fault, windows, watched, gw.stop())
	wrong, stray := v.seen()
	err = errors.Join(err, wrong)
	for _, r := range told {
		if r.Status != http.StatusOK {
			err = errors.Join(err, fmt.Errorf("%s ended with %d: %s", r.Path, r.Status, r.Error))
		}
	}
	left, _ := filepath.Glob(filepath.Join(s.temp(), "magpie-claude-*"))
	if len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("files of runs are left: %v", left))
	}
	if err != nil {
		err = fmt.Errorf("%w\nmagpie: %s\nother requests: %q", err, lastOf(gw.out.String(), 2000), stray)
	}
	return err
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// chatLoop is the agent: it asks, runs both tools, and brings what they gave; then it asks on,
// and at last in a conversation whose run is not there.
func (s *stage) chatLoop(ctx context.Context, v *anthropic) error {
	messages := []any{
		map[string]string{"role": "system", "content": bridgeRule},
		map[string]string{"role": "user", "content": "What is the weather in Rome and Oslo?"},
	}
	long := strings.Repeat("x", 200_000) // more than the program lets its own servers say
	said, calls, err := s.chat(ctx, messages)
	switch {
	case err != nil:
		return err
	case len(calls) != 2 || calls[0].Function.Name != "get.weather" || !strings.Contains(calls[1].Function.Arguments, "Oslo"):
		return fmt.Errorf("the agent got %q and the calls %+v", said, calls)
	}
	messages = append(messages, map[string]any{"role": "assistant", "content": said, "tool_calls": calls},
		map[string]string{"role": "tool", "tool_call_id": calls[0].ID, "content": "sun in Rome " + long},
		map[string]string{"role": "tool", "tool_call_id": calls[1].ID, "content": "snow in Oslo"})
	want := "The tools say: sun in Rome " + long + "; snow in Oslo"
	if said, _, err = s.chat(ctx, messages); err != nil || said != want {
		return errors.Join(err, fmt.Errorf("the last word has %d bytes, wanted %d: %.200q", len(said), len(want), said))
	}
	again := append(slices.Clone(messages), map[string]string{"role": "assistant", "content": said}, map[string]string{"role": "user", "content": "And now?"})
	if said, _, err = s.chat(ctx, again); err != nil || said != want {
		return errors.Join(err, fmt.Errorf("the next turn: %.200q", said))
	}
	if n := v.sessions(); n != 1 {
		return fmt.Errorf("one conversation took %d runs", n)
	}
	messages[1] = map[string]string{"role": "user", "content": "What is the weather there?"}
	if said, _, err = s.chat(ctx, messages); err != nil || said != want {
		return errors.Join(err, fmt.Errorf("a tool loop without its run: %.200q", said))
	}
	return v.heldTo()
}

// seen are the faults of what it was asked, and who else was asked.
func (v *anthropic) seen() (faults error, stray []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return errors.Join(v.faults...), slices.Clone(v.stray)
}

func (v *anthropic) sessions() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := map[string]bool{}
	for i := range v.asked {
		all[v.asked[i].session] = true
	}
	return len(all)
}

// heldTo judges what the program asked its vendor.
func (v *anthropic) heldTo() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var faults []error
	for i := range v.asked {
		a := &v.asked[i]
		if a.Model != bridgeModel || !bytes.Contains(a.System, []byte(bridgeRule)) {
			faults = append(faults, fmt.Errorf("request %d is for %s with the system prompt %.300s", i, a.Model, a.System))
		}
		if len(a.Tools) != 1 || !strings.HasPrefix(a.Tools[0].Name, "mcp__magpie__") || len(a.Tools[0].Description) < 5000 {
			faults = append(faults, fmt.Errorf("request %d shows %d tools: %.200v", i, len(a.Tools), a.Tools))
		}
	}
	return errors.Join(faults...)
}

// chat asks the gateway as an agent of the Chat API does, streamed.
func (s *stage) chat(ctx context.Context, messages []any) (said string, calls []chatCall, err error) {
	body, err := json.Marshal(map[string]any{
		"model": "claude/" + bridgeModel, "stream": true, "messages": messages,
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "get.weather", "description": strings.Repeat("the weather of a city ", 300), "parameters": json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}}},
	})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		told, _ := io.ReadAll(resp.Body)
		return "", nil, fmt.Errorf("%s: %s", resp.Status, told)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 8<<20)
	done := false
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string     `json:"content"`
					Calls   []chatCall `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", nil, err
		}
		for _, c := range chunk.Choices {
			said += c.Delta.Content
			for _, call := range c.Delta.Calls {
				for len(calls) <= call.Index {
					calls = append(calls, chatCall{Index: len(calls), Type: "function"})
				}
				to := &calls[call.Index]
				to.ID += call.ID
				to.Function.Name += call.Function.Name
				to.Function.Arguments += call.Function.Arguments
			}
		}
	}
	if !done {
		return said, calls, errors.Join(lines.Err(), errors.New("the stream has no end"))
	}
	return said, calls, nil
}

// seesWindows waits until the status tells of the windows that the program heard of.
func (s *stage) seesWindows(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		var told json.RawMessage
		err := s.get(ctx, "/v1/magpie/status", &told)
		if err == nil && bytes.Contains(told, []byte(`"5 hours"`)) && bytes.Contains(told, []byte(`"7 days"`)) && bytes.Contains(told, []byte("81")) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("the status tells no windows: %s", told))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

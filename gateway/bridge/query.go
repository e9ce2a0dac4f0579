package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"dev.magpie/gateway/wire"
)

// body is what is read of a request in the Messages API's form.
type body struct {
	System   json.RawMessage `json:"system"`
	Messages []message       `json:"messages"`
	Tools    []tool          `json:"tools"`
	Choice   struct {
		Type string `json:"type"`
		One  bool   `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	Max      int64 `json:"max_tokens"`
	Thinking struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"`
	Output struct {
		Effort string `json:"effort"`
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Thread json.RawMessage `json:"thread"`
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// block is one piece of a message. It is kept as it came, but for what is changed in it.
type block map[string]json.RawMessage

// content are blocks; a string stands for one of text.
type content []block

func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		*c = content{{"type": json.RawMessage(`"text"`), "text": data}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(c))
}

func (b block) text(key string) string {
	var s string
	if json.Unmarshal(b[key], &s) != nil {
		return ""
	}
	return s
}

func (b block) kind() string { return b.text("type") }

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

// query is a request as a run serves it.
type query struct {
	body
	system string
	names  map[string]string // the tools' own names, by those that the program sees
	shown  map[string]string // and the other way round
	key    string            // of all that a run can't change
	turns  []turn
}

// readBody reads a request; what the program can't be asked is refused in the vendor's words.
func readBody(data []byte) (*query, *refusal) {
	q := &query{}
	if err := json.Unmarshal(data, &q.body); err != nil {
		return nil, &refusal{status: 400, kind: "invalid_request_error", words: "the request can't be read: " + err.Error()}
	}
	if why := q.unsayable(); why != "" {
		return nil, &refusal{status: 400, kind: "invalid_request_error", words: why}
	}
	q.setMessages()
	q.setSystem()
	q.setNames()
	q.turns = turnsOf(q.Messages)
	return q, nil
}

// Check tells what of a request in the Messages API's form the program can't be told, and
// refuses one that can't be served without it.
func Check(data []byte) (lost []wire.Loss, err error) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, err
	}
	if why := b.unsayable(); why != "" {
		field, _, _ := strings.Cut(why, ":")
		return nil, &wire.FieldRefusal{Field: field, Words: why}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	const why = "Claude Code has no place for it"
	for _, name := range []string{"temperature", "top_p", "top_k", "stop_sequences", "service_tier", "container", "mcp_servers"} {
		if v := fields[name]; len(v) > 0 && string(v) != "null" && string(v) != "[]" {
			lost = append(lost, wire.Loss{What: name, Why: why})
		}
	}
	for _, t := range b.Tools {
		if !t.own() {
			lost = append(lost, wire.Loss{What: "tools." + t.Name, Why: "it is run by the vendor; Claude Code is shown the agent's own tools alone"})
		}
	}
	if len(b.Output.Format.Schema) > 0 {
		lost = append(lost, wire.Loss{What: "output_config.format", Why: "it is asked for in the system prompt"})
	}
	if b.Choice.One {
		lost = append(lost, wire.Loss{What: "tool_choice.disable_parallel_tool_use", Why: why})
	}
	return lost, nil
}

// unsayable says why a request can't be served by the program, "" when it can.
func (b *body) unsayable() string {
	n := len(b.Messages)
	switch {
	case n == 0:
		return "messages: there is none"
	case len(b.Thread) > 0 && string(b.Thread) != "null":
		return "thread: Claude Code keeps no threads of another agent; send all messages"
	case b.Choice.Type == "any" || b.Choice.Type == "tool":
		return "tool_choice: Claude Code can't be made to call a tool; ask with auto"
	case b.Messages[n-1].Role == "assistant":
		return "messages: Claude Code can't go on with a reply that was begun; the last message has to be the user's"
	}
	return ""
}

// own says whether a tool is the agent's to run.
func (t *tool) own() bool { return t.Type == "" || t.Type == "custom" }

// setMessages joins messages of one side, has the user say what the system says in between,
// and takes off cache marks: the program sets its own.
func (q *query) setMessages() {
	var out []message
	for _, m := range q.Messages {
		for i, b := range m.Content {
			delete(b, "cache_control")
			if b.kind() == "text" && m.Role == "system" {
				b["text"] = wire.Quote(wire.Reminder(b.text("text")))
			}
			if b.kind() == "tool_result" && len(b["content"]) > 0 {
				m.Content[i]["content"] = unmarked(b["content"])
			}
		}
		if m.Role == "system" {
			m.Role = "user"
		}
		if n := len(out) - 1; n >= 0 && out[n].Role == m.Role {
			out[n].Content = append(out[n].Content, m.Content...)
			continue
		}
		out = append(out, m)
	}
	q.Messages = out
}

func unmarked(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"cache_control"`)) {
		return raw
	}
	var c content
	if json.Unmarshal(raw, &c) != nil {
		return raw
	}
	for _, b := range c {
		delete(b, "cache_control")
	}
	return mustJSON(c)
}

func (q *query) setSystem() {
	var c content
	if len(q.System) > 0 && json.Unmarshal(q.System, &c) == nil {
		parts := make([]string, 0, len(c))
		for _, b := range c {
			if t := b.text("text"); t != "" && !strings.HasPrefix(t, "x-anthropic-billing-header:") {
				parts = append(parts, t)
			}
		}
		q.system = strings.Join(parts, "\n\n")
	}
	if len(q.Output.Format.Schema) > 0 {
		q.system += "\n\nAnswer with one JSON value that fits this schema, and with nothing else:\n" + string(q.Output.Format.Schema)
	}
}

// setNames gives each tool the name under which the program sees it.
func (q *query) setNames() {
	q.names, q.shown = map[string]string{}, map[string]string{}
	if q.Choice.Type == "none" {
		q.Tools = nil
	}
	kept := q.Tools[:0]
	for _, t := range q.Tools {
		if !t.own() || t.Name == "" || q.shown[t.Name] != "" {
			continue
		}
		name := plainName(t.Name)
		for n := 2; q.names[name] != ""; n++ {
			name = fmt.Sprintf("%s_%d", plainName(t.Name), n)
		}
		q.names[name], q.shown[t.Name] = t.Name, name
		kept = append(kept, t)
	}
	q.Tools = kept
}

const longestName = 100

func plainName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), longestName)]
}

// settings is a hash of all that is settled when a run starts.
func (q *query) settings(a *Ask) string {
	all := []string{string(a.Account), a.Home, a.Proxy, a.Model, q.effort(), q.thinks(), q.Choice.Type, fmt.Sprint(q.Max), q.system}
	for i := range q.Tools {
		t := &q.Tools[i]
		all = append(all, t.Name, t.Description, plainJSON(t.Schema))
	}
	return hashed(all...)
}

func (q *query) effort() string { return q.Output.Effort }

// thinks is how the run thinks: "off", a number of tokens, or "" where that is the model's.
func (q *query) thinks() string {
	switch {
	case q.Thinking.Type == "disabled":
		return "off"
	case q.Thinking.Type == "enabled" && q.Thinking.Budget > 0:
		return fmt.Sprint(q.Thinking.Budget)
	}
	return ""
}

// results are the tools' results of the last message, by the calls' ids and in order.
func (q *query) results() (list []block, others []block) {
	for _, b := range q.Messages[len(q.Messages)-1].Content {
		if b.kind() == "tool_result" {
			list = append(list, b)
		} else {
			others = append(others, b)
		}
	}
	return list, others
}

func mustJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// plainJSON is a value in one spelling.
func plainJSON(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return string(mustJSON(v))
}

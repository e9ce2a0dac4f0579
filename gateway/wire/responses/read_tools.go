package responses

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// toolList gathers the tools that a request offers, wherever it does.
type toolList struct{ all []wire.Tool }

// tool is one tool as it came.
type tool struct {
	Type, Name, Description, Execution      string
	Parameters, Tools, Format, Filters, Loc json.RawMessage
	Environment                             json.RawMessage
	Strict                                  *bool
	raw                                     json.RawMessage
}

// read takes a list of tools, in a namespace or in none.
func (l *toolList) read(raw json.RawMessage, namespace string) {
	w := wire.Walk(raw)
	w.Array(func() {
		t := readTool(w.Raw())
		if t.Type == "namespace" {
			l.read(t.Tools, t.Name)
			return
		}
		if out, ok := t.neutral(); ok {
			out.Namespace, out.Local = namespace, ""
			if namespace != "" {
				out.Name, out.Local = flat(namespace, t.Name), t.Name
			}
			l.all = append(l.all, out)
		}
	})
}

func readTool(raw json.RawMessage) tool {
	t := tool{raw: raw}
	w := wire.Walk(raw)
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			t.Type = w.Text()
		case "name":
			t.Name = w.Text()
		case "description":
			t.Description = w.Text()
		case "execution":
			t.Execution = w.Text()
		case "parameters":
			t.Parameters = notNull(w.Raw())
		case "tools":
			t.Tools = w.Raw()
		case "format":
			t.Format = w.Raw()
		case "filters":
			t.Filters = w.Raw()
		case "user_location":
			t.Loc = notNull(w.Raw())
		case "environment":
			t.Environment = w.Raw()
		case "strict":
			t.Strict = readTruth(w)
		}
	})
	return t
}

// hostedTools are the tools that the vendor runs, by the beginning of their type.
var hostedTools = []struct{ head, word string }{
	{"web_search", "web_search"},
	{"code_interpreter", "code"},
	{"image_generation", "image"},
	{"file_search", "file_search"},
	{"mcp", "mcp"},
	{"computer", "computer"},
	{"tool_search", "tool_search"},
	{"shell", "code"}, // in the vendor's container
}

func hostedWord(kind string) string {
	for _, h := range hostedTools {
		if strings.HasPrefix(kind, h.head) {
			return h.word
		}
	}
	return kind
}

func (t *tool) neutral() (wire.Tool, bool) {
	out := wire.Tool{Name: t.Name, Description: t.Description}
	switch t.Type {
	case "function", "":
		out.Schema, out.Strict = t.Parameters, t.Strict
		return out, t.Name != ""
	case "custom":
		out.Kind, out.Grammar = wire.ToolFree, readGrammar(t.Format)
		return out, t.Name != ""
	}
	if b := t.built(); b != nil {
		out.Name, out.Built, out.Raw = b.name, b.name, t.raw
		out.Schema = b.schema
		if out.Description == "" {
			out.Description = b.description
		}
		if b.schema == nil {
			out.Schema = t.Parameters
		}
		return out, true
	}
	out.Kind, out.Raw, out.Hosted = wire.ToolHosted, t.raw, hostedWord(t.Type)
	if out.Hosted == "web_search" {
		out.Search = &wire.Search{Location: t.Loc}
		wire.Value(t.Filters).Get("allowed_domains").Elements(func(v wire.Value) {
			out.Search.Allowed = append(out.Search.Allowed, v.Text())
		})
		wire.Value(t.Filters).Get("blocked_domains").Elements(func(v wire.Value) {
			out.Search.Blocked = append(out.Search.Blocked, v.Text())
		})
	}
	return out, true
}

// built says which of the agent's own tools it is, nil for none: a shell in the vendor's
// container and a search on the vendor's side are not run by the agent.
func (t *tool) built() *built {
	if t.Type == "tool_search" && t.Execution != "client" {
		return nil
	}
	if t.Type == "shell" && strings.HasPrefix(wire.Value(t.Environment).Get("type").Text(), "container") {
		return nil
	}
	return builtBy(func(b *built) bool { return b.name == t.Type })
}

// readGrammar reads what a freeform tool's input must follow; plain text is nil.
func readGrammar(raw json.RawMessage) *wire.Grammar {
	v := wire.Value(raw)
	if v.Get("type").Text() != "grammar" {
		return nil
	}
	return &wire.Grammar{Syntax: v.Get("syntax").Text(), Definition: v.Get("definition").Text()}
}

// settle gives the tools, each name once: of equal names the first counts, and one that
// stands outside of any namespace before one inside.
func (l *toolList) settle() []wire.Tool {
	if len(l.all) == 0 {
		return nil
	}
	direct := make(map[string]bool, len(l.all))
	for i := range l.all {
		if l.all[i].Namespace == "" && l.all[i].Kind != wire.ToolHosted {
			direct[l.all[i].Name] = true
		}
	}
	seen := make(map[string]bool, len(l.all))
	out := l.all[:0]
	for _, t := range l.all {
		name := t.Name
		if t.Kind == wire.ToolHosted {
			name = "\x00" + string(t.Raw) // its raw form tells it, for an agent may offer several servers
		} else if t.Namespace != "" && direct[name] {
			continue
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, t)
		}
	}
	return out
}

// readChoice reads tool_choice.
func readChoice(raw json.RawMessage) wire.Choice {
	v := wire.Value(raw)
	switch v.Kind() {
	case '"':
		switch v.Text() {
		case "auto":
			return wire.Choice{Mode: wire.ChoiceAuto}
		case "none":
			return wire.Choice{Mode: wire.ChoiceNone}
		case "required", "any":
			return wire.Choice{Mode: wire.ChoiceRequired}
		}
		return wire.Choice{}
	case '{':
	default:
		return wire.Choice{}
	}
	kind, name := v.Get("type").Text(), chosen(v)
	switch {
	case kind == "function" || kind == "custom":
		return wire.Choice{Mode: wire.ChoiceTool, Name: name}
	case kind == "allowed_tools":
		return readAllowed(v)
	case builtBy(func(b *built) bool { return b.name == kind }) != nil:
		return wire.Choice{Mode: wire.ChoiceTool, Name: kind}
	}
	return wire.Choice{Mode: wire.ChoiceTool, Hosted: hostedWord(kind)}
}

// chosen is the flat name in a tool choice.
func chosen(v wire.Value) string {
	return flat(v.Get("namespace").Text(), v.Get("name").Text())
}

func readAllowed(v wire.Value) wire.Choice {
	c := wire.Choice{Mode: wire.ChoiceAuto, Allowed: []string{}}
	if v.Get("mode").Text() == "required" {
		c.Mode = wire.ChoiceRequired
	}
	v.Get("tools").Elements(func(t wire.Value) {
		name := chosen(t)
		if name == "" {
			name = t.Get("type").Text()
		}
		c.Allowed = append(c.Allowed, name)
	})
	return c
}

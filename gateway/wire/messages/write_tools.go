package messages

import (
	"encoding/json"
	"slices"

	"dev.magpie/gateway/wire"
)

// tool is a tool as it is written.
type tool struct {
	name   string // the asker's
	hosted string // of one that the vendor runs
	t      wire.Tool
	cache  *wire.Cache
}

// setTools takes over the tools that the vendor can be offered. Of two of one name the first counts.
func (w *writing) setTools() {
	if !w.takes("tools") {
		if len(w.a.Tools) > 0 {
			w.lose("tools", "the vendor takes none")
		}
		return
	}
	seen := make(map[string]bool, len(w.a.Tools))
	for i := range w.a.Tools {
		t := w.a.Tools[i]
		switch t.Kind {
		case wire.ToolHosted:
			if !w.hosts(&t) {
				w.lose("tools."+t.Hosted, "")
				continue
			}
		case wire.ToolFree:
			t = wire.FreeFunction(t)
		case wire.ToolFunction:
		}
		if t.Kind == wire.ToolFunction && (t.Name == "" || seen[t.Name] || !w.allowed(t.Name)) {
			continue
		}
		seen[t.Name] = true
		w.tools = append(w.tools, tool{name: t.Name, hosted: t.Hosted, t: t, cache: t.Cache})
	}
}

// hosts says whether a tool that a vendor runs can be had of this one.
func (w *writing) hosts(t *wire.Tool) bool {
	if w.own() && t.Raw != nil {
		return true
	}
	return t.Hosted == "web_search" && w.t.Dialect.SearchesOn(wire.Messages)
}

// allowed says whether the choice leaves a tool; the API has no list of its own for that.
func (w *writing) allowed(name string) bool {
	return w.a.Choice.Allowed == nil || slices.Contains(w.a.Choice.Allowed, name)
}

// setChoice says how the model may choose. A model that can't be forced is left free.
func (w *writing) setChoice() {
	if len(w.tools) == 0 || !w.takes("tool_choice") {
		return
	}
	c := w.a.Choice
	kind, name := "", ""
	switch c.Mode {
	case wire.ChoiceUnsaid:
	case wire.ChoiceAuto:
		kind = "auto"
	case wire.ChoiceNone:
		w.choice = `{"type":"none"}`
		return
	case wire.ChoiceRequired:
		kind = "any"
	case wire.ChoiceTool:
		kind, name = w.named(c)
	}
	if kind == "any" || kind == "tool" {
		switch {
		case !w.m.forced:
			w.lose("tool_choice", "the model can't be forced to call a tool")
			kind = "auto"
		case w.thinks && w.m.claude:
			w.lose("tool_choice", "the model can't be forced to call a tool while it thinks")
			kind = "auto"
		}
	}
	if kind == "" && !w.a.OneCall {
		return
	}
	if kind == "" {
		kind = "auto"
	}
	b := append([]byte(`{"type":"`), kind...)
	b = append(b, '"')
	if kind == "tool" {
		b = wire.AppendQuoted(append(b, `,"name":`...), name)
	}
	if w.a.OneCall {
		b = append(b, `,"disable_parallel_tool_use":true`...)
	}
	w.choice = string(append(b, '}'))
}

// named finds the one tool that is to be called. One that was left out leaves the model free.
func (w *writing) named(c wire.Choice) (kind, name string) {
	for i := range w.tools {
		t := &w.tools[i]
		if c.Name != "" && t.name == c.Name || c.Hosted != "" && t.hosted == c.Hosted {
			if t.hosted != "" && t.name == "" {
				return "tool", t.hosted
			}
			return "tool", wire.MessagesNames.Name(t.name)
		}
	}
	w.lose("tool_choice", "the tool that it names is left out")
	return "auto", ""
}

func (w *writing) appendTools(b []byte) []byte {
	if len(w.tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range w.tools {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.appendTool(b, &w.tools[i])
	}
	b = append(b, ']')
	if w.choice != "" {
		b = append(append(b, `,"tool_choice":`...), w.choice...)
	}
	return b
}

func (w *writing) appendTool(b []byte, t *tool) []byte {
	if w.own() && t.t.Raw != nil {
		return append(b, t.t.Raw...)
	}
	if t.hosted != "" {
		return append(appendCache(appendSearch(b, t.t.Search), t.cache), '}')
	}
	b = append(b, `{"name":`...)
	b = wire.AppendQuoted(b, wire.MessagesNames.Name(t.name))
	if t.t.Description != "" {
		b = wire.AppendQuoted(append(b, `,"description":`...), t.t.Description)
	}
	b = append(b, `,"input_schema":`...)
	b = append(b, toolSchema(t.t.Schema)...)
	if t.t.Strict != nil && *t.t.Strict && w.m.format {
		b = append(b, `,"strict":true`...)
	}
	return append(appendCache(b, t.cache), '}')
}

// appendSearch writes the web search that the vendor runs, without its closing brace.
func appendSearch(b []byte, s *wire.Search) []byte {
	b = append(b, `{"type":"web_search_20250305","name":"web_search"`...)
	if s == nil {
		return b
	}
	// The API takes one of the two lists.
	if len(s.Allowed) > 0 {
		b = appendStrings(append(b, `,"allowed_domains":`...), s.Allowed)
	} else if len(s.Blocked) > 0 {
		b = appendStrings(append(b, `,"blocked_domains":`...), s.Blocked)
	}
	if len(s.Location) > 0 {
		b = append(append(b, `,"user_location":`...), s.Location...)
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendQuoted(b, s)
	}
	return append(b, ']')
}

var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

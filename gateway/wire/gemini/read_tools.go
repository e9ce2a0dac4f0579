package gemini

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// hosted are the tools that Google runs, by their names here and in the neutral form.
var hosted = map[string]string{
	"googleSearch": "web_search", "google_search": "web_search", "googleSearchRetrieval": "web_search",
	"google_search_retrieval": "web_search", "enterpriseWebSearch": "web_search",
	"urlContext": "web_fetch", "url_context": "web_fetch",
	"codeExecution": "code", "code_execution": "code",
	"fileSearch": "file_search", "file_search": "file_search",
	"mcpServers": "mcp", "mcp_servers": "mcp",
	"computerUse": "computer", "computer_use": "computer",
}

// tool reads one element of tools: any number of functions and of hosted tools.
func (r *asking) tool() {
	r.w.Object(func(key []byte) {
		switch name := string(key); name {
		case "functionDeclarations", "function_declarations":
			r.w.Array(r.function)
		default:
			word, ok := hosted[name]
			if !ok {
				word = name
			}
			raw := r.w.Raw()
			t := wire.Tool{Kind: wire.ToolHosted, Hosted: word, Raw: member(name, raw)}
			if word == "web_search" {
				t.Search = search(raw)
			}
			r.a.Tools = append(r.a.Tools, t)
		}
	})
}

// member is an object of one member.
func member(name string, value json.RawMessage) json.RawMessage {
	b := append(wire.AppendQuoted(make([]byte, 0, len(name)+len(value)+8), name), ':')
	return append(append(append([]byte{'{'}, b...), value...), '}')
}

func search(raw json.RawMessage) *wire.Search {
	v := wire.Value(raw)
	out := v.Get("excludeDomains")
	if out.None() {
		out = v.Get("exclude_domains")
	}
	if out.Kind() != '[' {
		return nil
	}
	s := &wire.Search{}
	out.Elements(func(e wire.Value) { s.Blocked = append(s.Blocked, e.Text()) })
	return s
}

func (r *asking) function() {
	t := wire.Tool{Kind: wire.ToolFunction}
	r.w.Object(func(key []byte) {
		switch string(key) {
		case "name":
			t.Name = r.w.Text()
		case "description":
			t.Description = r.w.Text()
		case "parameters":
			if raw := r.w.Raw(); t.Schema == nil && wire.Value(raw).Kind() == '{' {
				t.Schema = wire.FromOpenAPI(raw)
			}
		case "parametersJsonSchema", "parameters_json_schema":
			if raw := r.w.Raw(); wire.Value(raw).Kind() == '{' {
				t.Schema = raw
			}
		}
	})
	if t.Name == "" {
		r.refuse("tools", "a function has no name")
		return
	}
	r.a.Tools = append(r.a.Tools, t)
}

func (r *asking) toolConfig(key []byte) {
	switch string(key) {
	case "functionCallingConfig", "function_calling_config":
		r.choice()
	default:
		r.extra("toolConfig." + string(key))
	}
}

// choice reads the mode and the names that it allows; one name that must be called is a
// choice of that tool.
func (r *asking) choice() {
	mode, allowed := "", []string(nil)
	r.w.Object(func(key []byte) {
		switch string(key) {
		case "mode":
			mode = strings.ToUpper(r.w.Text())
		case "allowedFunctionNames", "allowed_function_names":
			r.w.Array(func() { allowed = append(allowed, r.w.Text()) })
		}
	})
	c := &r.a.Choice
	switch mode {
	case "NONE":
		c.Mode = wire.ChoiceNone
		return
	case "ANY":
		c.Mode = wire.ChoiceRequired
		if len(allowed) == 1 {
			c.Mode, c.Name = wire.ChoiceTool, allowed[0]
			return
		}
	case "AUTO", "VALIDATED":
		c.Mode = wire.ChoiceAuto
	}
	c.Allowed = allowed
}

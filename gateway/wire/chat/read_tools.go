package chat

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// tools reads the tools on offer.
func (r *asked) tools(w *wire.Walker) {
	w.Array(func() {
		if t, ok := readTool(w); ok {
			r.a.Tools = append(r.a.Tools, t)
		}
	})
}

// functions reads the tools of the API's first years.
func (r *asked) functions(w *wire.Walker) {
	w.Array(func() {
		var t wire.Tool
		w.Object(func(key []byte) { toolMember(w, &t, key) })
		if t.Name != "" {
			r.a.Legacy = true
			r.a.Tools = append(r.a.Tools, t)
		}
	})
}

func readTool(w *wire.Walker) (wire.Tool, bool) {
	var t wire.Tool
	kind := ""
	raw := w.Raw()
	in := wire.Walk(raw)
	in.Object(func(key []byte) {
		switch string(key) {
		case "type":
			kind = in.Text()
		case "function", "custom":
			if in.Kind() == '{' {
				in.Object(func(key []byte) { toolMember(in, &t, key) })
			}
		default:
			toolMember(in, &t, key)
		}
	})
	switch kind {
	case "custom":
		t.Kind = wire.ToolFree
	case "function", "":
		t.Grammar = nil
	default:
		return wire.Tool{Kind: wire.ToolHosted, Hosted: hostedWord(kind), Raw: raw}, true
	}
	return t, t.Name != ""
}

// hostedWord is the common word for a vendor's own tool.
func hostedWord(kind string) string {
	if strings.HasPrefix(kind, "web_search") {
		return "web_search"
	}
	return kind
}

// toolMember reads one member of a tool, be it inside of function or custom or beside them.
func toolMember(w *wire.Walker, t *wire.Tool, key []byte) {
	switch string(key) {
	case "name":
		t.Name = w.Text()
	case "description":
		t.Description = w.Text()
	case "parameters":
		t.Schema = object(w)
	case "strict":
		t.Strict = truth(w)
	case "format":
		w.Object(func(key []byte) { grammarMember(w, t, key) })
	case "cache_control":
		t.Cache = readCache(w)
	}
}

// grammarMember reads a grammar, nested as this API has it or flat.
func grammarMember(w *wire.Walker, t *wire.Tool, key []byte) {
	switch string(key) {
	case "grammar":
		w.Object(func(key []byte) { grammarMember(w, t, key) })
	case "syntax":
		grammar(t).Syntax = w.Text()
	case "definition":
		grammar(t).Definition = w.Text()
	}
}

func grammar(t *wire.Tool) *wire.Grammar {
	if t.Grammar == nil {
		t.Grammar = &wire.Grammar{}
	}
	return t.Grammar
}

// search reads web_search_options, which are a tool of the vendor's.
func (r *asked) search(w *wire.Walker) {
	if w.Kind() != '{' {
		return
	}
	t := wire.Tool{Kind: wire.ToolHosted, Hosted: "web_search", Search: &wire.Search{}}
	t.Raw = w.Raw()
	in := wire.Walk(t.Raw)
	in.Object(func(key []byte) {
		switch string(key) {
		case "user_location":
			t.Search.Location = location(in)
		case "filters":
			in.Object(func(key []byte) {
				if string(key) == "allowed_domains" {
					t.Search.Allowed = words(in)
				}
			})
		}
	})
	r.a.Tools = append(r.a.Tools, t)
}

// choice reads tool_choice, and function_call of the API's first years.
func (r *asked) choice(w *wire.Walker) {
	c := &r.a.Choice
	if w.Kind() == '"' {
		c.Mode = choiceMode(w.Text())
		return
	}
	kind := ""
	w.Object(func(key []byte) {
		switch string(key) {
		case "type":
			kind = w.Text()
		case "name":
			c.Name = w.Text()
		case "function", "custom":
			w.Object(func(key []byte) {
				if string(key) == "name" {
					c.Name = w.Text()
				}
			})
		case "allowed_tools":
			w.Object(func(key []byte) { r.allowed(w, key) })
		case "mode", "tools":
			r.allowed(w, key)
		}
	})
	switch kind {
	case "allowed_tools":
	case "function", "custom", "tool", "":
		if c.Name != "" {
			c.Mode = wire.ChoiceTool
		}
	case "auto", "none", "required", "any":
		c.Mode = choiceMode(kind)
	default:
		c.Mode, c.Hosted = wire.ChoiceTool, hostedWord(kind)
	}
}

func (r *asked) allowed(w *wire.Walker, key []byte) {
	c := &r.a.Choice
	switch string(key) {
	case "mode":
		c.Mode = choiceMode(w.Text())
	case "tools":
		c.Allowed = []string{}
		w.Array(func() {
			if t, ok := readTool(w); ok && t.Name != "" {
				c.Allowed = append(c.Allowed, t.Name)
			}
		})
	}
}

func choiceMode(word string) wire.ChoiceMode {
	switch word {
	case "auto":
		return wire.ChoiceAuto
	case "none":
		return wire.ChoiceNone
	case "required", "any":
		return wire.ChoiceRequired
	}
	return wire.ChoiceUnsaid
}

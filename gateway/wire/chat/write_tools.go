package chat

import (
	"slices"

	"dev.magpie/gateway/wire"
)

// tools writes the tools on offer and how the model may choose among them.
func (w *writing) tools() {
	offered, raw := w.offered()
	if len(offered) == 0 && len(raw) == 0 {
		return
	}
	choice := w.choice(offered)
	if choice.only != "" {
		offered = slices.DeleteFunc(offered, func(t wire.Tool) bool { return t.Name != choice.only })
	}
	if choice.allowed != nil {
		offered = slices.DeleteFunc(offered, func(t wire.Tool) bool { return !slices.Contains(choice.allowed, t.Name) })
	}
	if len(offered) == 0 && len(raw) == 0 {
		return
	}
	w.key("tools")
	w.open('[')
	for i := range offered {
		w.item()
		w.tool(&offered[i])
	}
	for _, r := range raw {
		w.item()
		w.b = append(w.b, r...)
	}
	w.close(']')
	if choice.json != nil && w.may("tool_choice") {
		w.raw("tool_choice", choice.json)
	}
	if w.a.OneCall && w.may("parallel_tool_calls") {
		w.truth("parallel_tool_calls", false)
	}
}

// offered are the tools that the vendor can be told of, each name once; raw are a Chat
// client's own that are no functions.
func (w *writing) offered() (tools []wire.Tool, raw [][]byte) {
	seen := make(map[string]bool, len(w.a.Tools))
	tools = make([]wire.Tool, 0, len(w.a.Tools))
	for _, t := range w.a.Tools {
		if t.Kind == wire.ToolHosted {
			raw = w.hosted(&t, raw)
			continue
		}
		if t.Name == "" || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		if t.Kind == wire.ToolFree && !w.d.CustomTools {
			t = wire.FreeFunction(t)
		}
		tools = append(tools, t)
	}
	return tools, raw
}

// hosted tells of a tool that a vendor runs, or loses it.
func (w *writing) hosted(t *wire.Tool, raw [][]byte) [][]byte {
	options := t.Hosted == "web_search" && len(t.Raw) > 0 && wire.Value(t.Raw).Get("type").None()
	switch {
	case w.a.API == wire.Chat && !options:
		return append(raw, t.Raw)
	case t.Hosted == "web_search" && w.d.SearchesOn(wire.Chat):
		w.search(t)
	default:
		what := "tools." + t.Hosted
		if options {
			what = "web_search_options"
		}
		w.lose(what, "the vendor has none of its own")
	}
	return raw
}

// search writes web_search_options.
func (w *writing) search(t *wire.Tool) {
	w.key("web_search_options")
	w.open('{')
	if size := wire.Value(t.Raw).Get("search_context_size").Text(); w.a.API == wire.Chat {
		w.strIf("search_context_size", size)
	}
	if t.Search != nil && len(t.Search.Location) > 0 {
		w.key("user_location")
		w.b = append(w.b, `{"type":"approximate","approximate":`...)
		w.open('{')
		wire.Value(t.Search.Location).Members(func(key string, v wire.Value) {
			if key != "type" && v.Text() != "" {
				w.str(key, v.Text())
			}
		})
		w.close('}')
		w.close('}')
	}
	if t.Search != nil && (t.Search.Allowed != nil || t.Search.Blocked != nil) {
		w.lose("web_search.domains", "")
	}
	w.close('}')
}

func (w *writing) tool(t *wire.Tool) {
	w.open('{')
	if t.Kind == wire.ToolFree {
		w.custom(t)
	} else {
		w.function(t)
	}
	if w.d.CacheMarks {
		w.mark(t.Cache)
	} else if t.Cache != nil { // breakpoints stand on parts alone
		w.lose("cache_control", "the vendor reads no cache marks on tools")
	}
	w.close('}')
}

func (w *writing) function(t *wire.Tool) {
	w.str("type", "function")
	w.key("function")
	w.open('{')
	w.str("name", wire.ChatNames.Name(t.Name))
	w.strIf("description", t.Description)
	schema := t.Schema
	if len(schema) == 0 || w.a.API != wire.Chat { // who asks in this API said it as it takes it
		schema = wire.NamedProperties(schema)
	}
	w.raw("parameters", schema)
	if t.Strict != nil && *t.Strict && w.may("strict") {
		w.truth("strict", true)
	}
	w.close('}')
}

func (w *writing) custom(t *wire.Tool) {
	w.str("type", "custom")
	w.key("custom")
	w.open('{')
	w.str("name", wire.ChatNames.Name(t.Name))
	w.strIf("description", t.Description)
	if g := t.Grammar; g != nil {
		w.key("format")
		w.b = append(w.b, `{"type":"grammar","grammar":`...)
		w.open('{')
		w.str("syntax", g.Syntax)
		w.str("definition", g.Definition)
		w.close('}')
		w.close('}')
	}
	w.close('}')
}

// chosen is a tool choice as the vendor can be told it.
type chosen struct {
	json    []byte   // nil = left out
	only    string   // the one tool that stays
	allowed []string // the tools that stay, nil = all
}

func (w *writing) choice(offered []wire.Tool) chosen {
	c := w.a.Choice
	known := func(name string) bool {
		return slices.ContainsFunc(offered, func(t wire.Tool) bool { return t.Name == name })
	}
	switch {
	case c.Mode == wire.ChoiceTool && !known(c.Name):
		w.lose("tool_choice", "the tool that it names is not on offer")
		return chosen{json: []byte(`"auto"`)}
	case c.Mode == wire.ChoiceTool && w.d.NoNamed:
		w.lose("tool_choice", "the vendor can't be told one: only that tool is offered")
		return chosen{json: []byte(`"auto"`), only: c.Name}
	case c.Mode == wire.ChoiceTool:
		return chosen{json: w.named(c.Name, offered)}
	}
	mode := c.Mode
	if mode == wire.ChoiceRequired && w.d.NoRequired {
		w.lose("tool_choice", "the vendor knows no required")
		mode = wire.ChoiceAuto
	}
	if c.Allowed != nil && w.d.AllowedTools && slices.ContainsFunc(c.Allowed, known) {
		return chosen{json: w.allowed(mode, offered, known)}
	}
	if mode == wire.ChoiceUnsaid {
		return chosen{allowed: c.Allowed}
	}
	return chosen{json: wire.Quote(string(mode)), allowed: c.Allowed}
}

// named is the choice of one tool.
func (w *writing) named(name string, offered []wire.Tool) []byte {
	var o out
	o.open('{')
	w.name(&o, name, offered)
	o.close('}')
	return o.b
}

// name writes the type of a tool and its name as a choice has them.
func (w *writing) name(o *out, name string, offered []wire.Tool) {
	kind := "function"
	for i := range offered {
		if offered[i].Name == name && offered[i].Kind == wire.ToolFree {
			kind = "custom"
		}
	}
	o.str("type", kind)
	o.key(kind)
	o.open('{')
	o.str("name", wire.ChatNames.Name(name))
	o.close('}')
}

// allowed narrows the choice to what of the allowed is on offer.
func (w *writing) allowed(mode wire.ChoiceMode, offered []wire.Tool, known func(string) bool) []byte {
	if mode == wire.ChoiceUnsaid {
		mode = wire.ChoiceAuto
	}
	var o out
	o.b = append(o.b, `{"type":"allowed_tools","allowed_tools":`...)
	o.open('{')
	o.str("mode", string(mode))
	o.key("tools")
	o.open('[')
	for _, name := range w.a.Choice.Allowed {
		if !known(name) {
			continue
		}
		o.item()
		o.open('{')
		w.name(&o, name, offered)
		o.close('}')
	}
	o.close(']')
	o.close('}')
	o.close('}')
	return o.b
}

package responses

import (
	"encoding/json"
	"slices"

	"dev.magpie/gateway/wire"
)

// tools writes what is on offer, and says what could not be.
func (w *askWriter) tools(o *object) {
	from, kept := len(o.b), 0
	comma := o.comma
	o.key("tools")
	o.b = append(o.b, '[')
	for i := 0; i < len(w.a.Tools); {
		t := &w.a.Tools[i]
		n := w.run(i)
		before := len(o.b)
		if kept > 0 {
			o.b = append(o.b, ',')
		}
		at := len(o.b)
		if n > 1 || t.Namespace != "" && w.own() {
			o.b = w.namespace(o.b, w.a.Tools[i:i+n])
		} else {
			o.b = w.tool(o.b, t)
		}
		if len(o.b) == at {
			o.b = o.b[:before]
		} else {
			kept++
		}
		i += n
	}
	o.b = append(o.b, ']')
	if kept == 0 {
		o.b, o.comma = o.b[:from], comma
		return
	}
	w.offered = kept
	w.choice(o)
	switch {
	case !w.a.OneCall:
	case w.t.Dialect.Refuses("parallel_tool_calls"):
		w.lose("parallel_tool_calls", "the vendor refuses it")
	default:
		o.bool("parallel_tool_calls", false)
	}
}

// own says that the request came in this API and the vendor knows all of it.
func (w *askWriter) own() bool { return w.a.API == wire.Responses && !w.t.Dialect.FunctionsOnly }

// run is how many tools from i on stand in one namespace that can be written as one.
func (w *askWriter) run(i int) int {
	ns := w.a.Tools[i].Namespace
	if ns == "" || !w.own() {
		return 1
	}
	n := 1
	for i+n < len(w.a.Tools) && w.a.Tools[i+n].Namespace == ns {
		n++
	}
	return n
}

func (w *askWriter) namespace(b []byte, tools []wire.Tool) []byte {
	o := newObject(b)
	o.str("type", "namespace")
	o.str("name", tools[0].Namespace)
	o.key("tools")
	o.b = append(o.b, '[')
	for i := range tools {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		t := tools[i]
		t.Name = t.Local
		o.b = w.tool(o.b, &t)
	}
	o.b = append(o.b, ']')
	return o.end()
}

// tool writes one tool; nothing for one that is left out.
func (w *askWriter) tool(b []byte, t *wire.Tool) []byte {
	if w.narrowed(t) {
		return b
	}
	if t.Kind == wire.ToolHosted {
		return w.hosted(b, t)
	}
	if t.Built != "" && w.own() {
		return append(b, t.Raw...)
	}
	name := wire.ResponsesNames.Name(t.Name)
	if t.Kind == wire.ToolFree && !w.t.Dialect.FunctionsOnly {
		return freeTool(b, t, name)
	}
	f := *t
	if t.Kind == wire.ToolFree {
		f = wire.FreeFunction(f)
	}
	o := newObject(b)
	o.str("type", "function")
	o.str("name", name)
	o.some("description", f.Description)
	if f.Schema == nil || w.a.API != wire.Responses { // who asks in this API said it as it takes it
		f.Schema = wire.NamedProperties(f.Schema)
	}
	o.raw("parameters", f.Schema)
	// Left out it would mean: strict, if the schema can be read so.
	o.bool("strict", f.Strict != nil && *f.Strict)
	return o.end()
}

// narrowed says that a tool isn't allowed, at a vendor that can't be told so.
func (w *askWriter) narrowed(t *wire.Tool) bool {
	if w.a.Choice.Allowed == nil || !w.t.Dialect.FunctionsOnly {
		return false
	}
	return !slices.Contains(w.a.Choice.Allowed, t.Name) && (t.Hosted == "" || !slices.Contains(w.a.Choice.Allowed, t.Hosted))
}

func freeTool(b []byte, t *wire.Tool, name string) []byte {
	o := newObject(b)
	o.str("type", "custom")
	o.str("name", name)
	o.some("description", t.Description)
	if g := t.Grammar; g != nil {
		f := newObject(nil)
		f.str("type", "grammar")
		f.str("syntax", g.Syntax)
		f.str("definition", g.Definition)
		o.raw("format", f.end())
	}
	return o.end()
}

// hosted writes a tool that the vendor runs: as it came in this API, a web search for
// every vendor that searches, else not at all.
func (w *askWriter) hosted(b []byte, t *wire.Tool) []byte {
	switch {
	case w.own() && (t.Hosted != "web_search" || w.t.Dialect.SearchesOn(wire.Responses)):
		w.hostedKept = append(w.hostedKept, t.Hosted)
		return append(b, t.Raw...)
	case t.Hosted == "web_search" && w.t.Dialect.SearchesOn(wire.Responses):
		w.hostedKept = append(w.hostedKept, t.Hosted)
		return search(b, t.Search)
	}
	w.lose("tools."+t.Hosted, "the vendor doesn't run it")
	return b
}

func search(b []byte, s *wire.Search) []byte {
	o := newObject(b)
	o.str("type", "web_search")
	if s == nil {
		return o.end()
	}
	if len(s.Allowed) > 0 || len(s.Blocked) > 0 {
		f := newObject(nil)
		f.names("allowed_domains", s.Allowed)
		f.names("blocked_domains", s.Blocked)
		o.raw("filters", f.end())
	}
	o.raw("user_location", s.Location)
	return o.end()
}

// names writes a list of texts; none is left out.
func (o *object) names(name string, all []string) {
	if len(all) == 0 {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, s := range all {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = wire.AppendQuoted(o.b, s)
	}
	o.b = append(o.b, ']')
}

// choice writes tool_choice. One that names a tool that was left out is auto.
func (w *askWriter) choice(o *object) {
	c := w.a.Choice
	if c.Allowed != nil {
		w.allowed(o, c)
		return
	}
	switch c.Mode {
	case wire.ChoiceUnsaid:
	case wire.ChoiceAuto, wire.ChoiceNone, wire.ChoiceRequired:
		o.str("tool_choice", string(c.Mode))
	case wire.ChoiceTool:
		w.named(o, c)
	}
}

func (w *askWriter) named(o *object, c wire.Choice) {
	t := w.byName(c.Name)
	switch {
	case slices.Contains(w.hostedKept, c.Hosted):
		o.raw("tool_choice", w.hostedChoice(c.Hosted))
	case t == nil:
		o.str("tool_choice", "auto")
	default:
		o.key("tool_choice")
		o.b = w.toolName(o.b, t)
	}
}

// hostedChoice names a hosted tool by the type under which it is on offer.
func (w *askWriter) hostedChoice(word string) json.RawMessage {
	o := newObject(nil)
	if !w.own() {
		o.str("type", word) // a web search, for nothing else is kept
		return o.end()
	}
	for i := range w.a.Tools {
		if w.a.Tools[i].Hosted == word {
			v := wire.Value(w.a.Tools[i].Raw)
			o.raw("type", v.Get("type").Raw())
			if word == "mcp" {
				o.raw("server_label", v.Get("server_label").Raw())
			}
			break
		}
	}
	return o.end()
}

// toolName writes a tool as a choice names it.
func (w *askWriter) toolName(b []byte, t *wire.Tool) []byte {
	o := newObject(b)
	if t.Built != "" && w.own() {
		o.str("type", t.Built)
		return o.end()
	}
	kind := "function"
	if t.Kind == wire.ToolFree && !w.t.Dialect.FunctionsOnly {
		kind = "custom"
	}
	o.str("type", kind)
	if t.Namespace != "" && w.own() {
		o.str("name", wire.ResponsesNames.Name(t.Local))
		o.str("namespace", t.Namespace)
		return o.end()
	}
	o.str("name", wire.ResponsesNames.Name(t.Name))
	return o.end()
}

// allowed narrows the tools by name; where a vendor knows no such thing the narrowing is
// done in what is on offer.
func (w *askWriter) allowed(o *object, c wire.Choice) {
	mode := "auto"
	if c.Mode == wire.ChoiceRequired {
		mode = "required"
	}
	if w.t.Dialect.FunctionsOnly {
		o.str("tool_choice", mode)
		return
	}
	o.key("tool_choice")
	in := newObject(o.b)
	in.str("type", "allowed_tools")
	in.str("mode", mode)
	in.key("tools")
	in.b = append(in.b, '[')
	first := true
	for _, name := range c.Allowed {
		t := w.byName(name)
		if t == nil {
			continue
		}
		if !first {
			in.b = append(in.b, ',')
		}
		first = false
		in.b = w.toolName(in.b, t)
	}
	in.b = append(in.b, ']')
	o.b = in.end()
}

// byName finds a tool that isn't hosted by its flat name.
func (w *askWriter) byName(name string) *wire.Tool { return toolBy(w.a, name) }

func toolBy(a *wire.Ask, name string) *wire.Tool {
	for i := range a.Tools {
		if a.Tools[i].Name == name && a.Tools[i].Kind != wire.ToolHosted {
			return &a.Tools[i]
		}
	}
	return nil
}

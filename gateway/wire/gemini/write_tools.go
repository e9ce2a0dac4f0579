package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// names is the rule for functions' names.
var names = wire.GeminiNames

// tools writes the tools apart, with a comma before them, and notes which functions there are.
func (w *writing) tools() []byte {
	o := object{b: make([]byte, 0, 256)}
	o.b = append(o.b, `,"tools":[`...)
	from := len(o.b)
	w.functions(&o)
	for i := range w.a.Tools {
		if t := &w.a.Tools[i]; t.Kind == wire.ToolHosted {
			w.hosted(&o, t)
		}
	}
	if len(o.b) == from {
		return nil
	}
	return append(o.b, ']')
}

func (w *writing) functions(o *object) {
	for i := range w.a.Tools {
		t := &w.a.Tools[i]
		if t.Kind == wire.ToolHosted {
			continue
		}
		name := names.Name(t.Name)
		if slices.Contains(w.named, name) {
			continue // the API refuses a second one of a name
		}
		if len(w.named) == 0 {
			o.open("", '{')
			o.open("functionDeclarations", '[')
		}
		w.named = append(w.named, name)
		w.function(o, t, name)
	}
	if len(w.named) > 0 {
		o.close(']')
		o.close('}')
	}
}

func (w *writing) function(o *object, t *wire.Tool, name string) {
	if t.Kind == wire.ToolFree {
		f := wire.FreeFunction(*t)
		t = &f
	}
	if t.Strict != nil && *t.Strict {
		w.lose("tools.strict", "")
	}
	o.open("", '{')
	o.text("name", name)
	o.textIf("description", t.Description)
	if schema := wire.ObjectSchema(t.Schema); !takesNothing(schema) {
		key, out, lost := w.schema("parameters", "parametersJsonSchema", schema)
		if len(lost) > 0 {
			w.lose("tools."+t.Name+" schema: "+strings.Join(lost, ", "), "the API's schemas don't have it")
		}
		if out != nil {
			o.raw(key, out)
		}
	}
	o.close('}')
}

// takesNothing says that a schema is of an object that has nothing in it.
func takesNothing(schema json.RawMessage) bool {
	v := wire.Value(schema)
	if p := v.Get("properties"); p.Kind() == '{' {
		some := false
		p.Members(func(string, wire.Value) { some = true })
		if some {
			return false
		}
	}
	more := v.Get("additionalProperties")
	return more.Kind() != '{' && !more.True()
}

// schema reduces a schema to what the vendor takes, and tells under which key it goes.
func (w *writing) schema(openAPI, json string, in json.RawMessage) (key string, out json.RawMessage, lost []string) {
	if w.t.Dialect.OpenAPI {
		out, lost = wire.OpenAPISchema(in)
		return openAPI, out, lost
	}
	out, lost = wire.GeminiSchema(in)
	return json, out, lost
}

// hosted writes a tool that Google runs, where the vendor runs it too. Before Gemini 3
// none may stand beside functions: those win.
func (w *writing) hosted(o *object, t *wire.Tool) {
	what := "tools." + t.Hosted
	if w.own() {
		if len(t.Raw) > 2 {
			o.next()
			o.b = append(o.b, t.Raw...)
		}
		return
	}
	key := ""
	switch t.Hosted {
	case "web_search":
		key = "googleSearch"
	case "web_fetch":
		key = "urlContext"
	case "image":
		if w.m.image {
			return
		}
	}
	switch {
	case key == "" || !w.t.Dialect.Grounds:
		w.lose(what, "the vendor does not run it")
		return
	case len(w.named) > 0 && !w.m.levels:
		w.lose(what, "the model takes it only where there are no functions")
		return
	}
	o.open("", '{')
	o.open(key, '{')
	if s := t.Search; s != nil && key == "googleSearch" {
		if len(s.Blocked) > 0 {
			o.texts("excludeDomains", s.Blocked)
		}
		if len(s.Allowed) > 0 {
			w.lose(what+".allowed_domains", "")
		}
		if s.Location != nil {
			w.lose(what+".user_location", "")
		}
	}
	o.close('}')
	o.close('}')
}

// choice writes toolConfig.
func (w *writing) choice() {
	from := len(w.b)
	w.open("toolConfig", '{')
	first := len(w.b)
	if mode, allowed := w.mode(); mode != "" {
		w.open("functionCallingConfig", '{')
		w.text("mode", mode)
		if len(allowed) > 0 {
			w.texts("allowedFunctionNames", allowed)
		}
		w.close('}')
	}
	if w.own() {
		w.extras("toolConfig.", true)
	}
	if len(w.b) == first {
		w.b = w.b[:from]
		return
	}
	w.close('}')
}

// mode is how functions may be called, "" = not said. A choice of what isn't on offer
// leaves it to the model.
func (w *writing) mode() (mode string, allowed []string) {
	c := &w.a.Choice
	if len(w.named) == 0 {
		return "", nil
	}
	for _, name := range c.Allowed {
		if sent := names.Name(name); slices.Contains(w.named, sent) {
			allowed = append(allowed, sent)
		}
	}
	switch c.Mode {
	case wire.ChoiceNone:
		return "NONE", nil
	case wire.ChoiceRequired:
		return "ANY", allowed
	case wire.ChoiceTool:
		if sent := names.Name(c.Name); c.Name != "" && slices.Contains(w.named, sent) {
			return "ANY", []string{sent}
		}
		return "AUTO", nil
	case wire.ChoiceAuto, wire.ChoiceUnsaid:
		if len(allowed) > 0 {
			return "VALIDATED", allowed
		}
	}
	if c.Mode == wire.ChoiceAuto {
		return "AUTO", nil
	}
	return "", nil
}

// format is structured output as generationConfig asks for it.
type format struct {
	mime, key string
	schema    json.RawMessage
}

// format finds how structured output is asked for. Before Gemini 3 it can't be beside
// functions: then the system asks for it in words.
func (w *writing) format() (f format) {
	want := w.a.Format
	if want == nil {
		return f
	}
	if len(w.named) > 0 && w.m.gemini && !w.m.levels || w.t.Dialect.Refuses("responseMimeType") {
		w.words = "Answer with JSON and nothing else: no words around it, no code fence."
		if want.Schema != nil {
			w.words += " It must follow this JSON Schema:\n" + string(want.Schema)
		}
		w.lose(w.word("response_format", "text.format", "output_config.format", "generationConfig.responseSchema"), "asked for in words: the model takes no format beside functions")
		return f
	}
	f.mime = "application/json"
	if want.Schema == nil {
		return f
	}
	var lost []string
	f.key, f.schema, lost = w.schema("responseSchema", "responseJsonSchema", want.Schema)
	if len(lost) > 0 {
		w.lose("output schema: "+strings.Join(lost, ", "), "the API's schemas don't have it")
	}
	return f
}

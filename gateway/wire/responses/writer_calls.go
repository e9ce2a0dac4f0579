package responses

import (
	"strconv"

	"dev.magpie/gateway/wire"
)

// call begins a call, as the tool is that the agent has under that name.
func (w *writer) call(e *wire.Event) {
	w.close()
	c := &openCall{index: e.Index, name: e.Call.Name, local: e.Call.Name}
	if e.Call.ID != "" {
		c.id = callID(e.Call.ID)
	} else {
		c.id = wire.MakeID("call_", w.o.ID, strconv.Itoa(e.Index), c.name)
	}
	kind := openFunction
	t := toolBy(w.a, c.name)
	if t != nil && t.Namespace != "" {
		c.local, c.namespace = t.Local, t.Namespace
	}
	switch {
	case t != nil && t.Built != "":
		kind, c.built = openBuilt, t.Built
	case t != nil && t.Kind == wire.ToolFree:
		kind = openCustom
		if !e.Call.Free {
			c.decoder = &wire.FreeDecoder{}
		}
	case e.Call.Free:
		kind = openCustom
	}
	prefix := "fc_"
	if kind == openCustom {
		prefix = "ctc_"
	}
	w.open = openItem{kind: kind, id: w.itemID(prefix), call: c}
	if kind != openBuilt {
		w.itemEvent("response.output_item.added", w.callItem("in_progress"))
	}
}

// callItem is the call that is open, with the arguments that it has so far.
func (w *writer) callItem(status string) []byte {
	m := &w.open
	o := newObject(make([]byte, 0, len(m.text)+192))
	o.str("id", m.id)
	kind, field := typeFunction, "arguments"
	if m.kind == openCustom {
		kind, field = typeCustom, "input"
	}
	o.str("type", kind)
	o.str("status", status)
	o.str("call_id", m.call.id)
	o.str("name", m.call.local)
	o.some("namespace", m.call.namespace)
	o.quotedInner(field, m.text)
	return o.end()
}

// args writes a piece of a call's arguments, or of its input.
func (w *writer) args(s string) {
	c := w.open.call
	if c == nil || s == "" {
		return
	}
	c.some = true
	if w.open.kind == openBuilt {
		c.raw = append(c.raw, s...)
		return
	}
	if c.decoder != nil {
		s = c.decoder.Add(s)
	}
	w.argsDelta(s)
}

func (w *writer) argsDelta(s string) {
	if s == "" {
		return
	}
	var added []byte
	w.open.text, added = inner(w.open.text, s)
	name := "response.function_call_arguments.delta"
	if w.open.kind == openCustom {
		name = "response.custom_tool_call_input.delta"
	}
	o := w.bodyEvent(name)
	o.quotedInner("delta", added)
	w.end(o)
}

// whole takes a call that is told as a whole: what came in pieces counts before it.
func (w *writer) whole(c *wire.Call) {
	at := w.open.call
	if at == nil || c == nil || at.some {
		return
	}
	switch {
	case w.open.kind == openCustom && c.Free:
		at.decoder = nil
		w.args(c.Input)
	case c.Free:
		w.args(string(wire.FreeArgs(c.Input)))
	default:
		w.args(string(c.Args))
	}
}

// closeCall ends the call that is open.
func (w *writer) closeCall(status string) {
	m := &w.open
	c := m.call
	if m.kind == openBuilt {
		w.closeBuilt(status)
		return
	}
	if c.decoder != nil {
		w.argsDelta(c.decoder.End())
	}
	name, field := "response.function_call_arguments.done", "arguments"
	if m.kind == openCustom {
		name, field = "response.custom_tool_call_input.done", "input"
	} else if len(m.text) == 0 {
		w.argsDelta("{}")
	}
	o := w.bodyEvent(name)
	if m.kind != openCustom {
		o.str("name", c.local)
	}
	o.quotedInner(field, m.text)
	w.end(o)
	w.doneItem(w.callItem(status))
}

// closeBuilt tells a call of a client-run tool: its own item has its arguments taken apart.
func (w *writer) closeBuilt(status string) {
	c := w.open.call
	args := readArgs(string(c.raw))
	id := w.itemID(builtPrefix(c.built))
	w.itemEvent("response.output_item.added", builtItem(c.built, id, c.id, "in_progress", args))
	w.doneItem(builtItem(c.built, id, c.id, status, args))
}

func builtPrefix(name string) string {
	switch name {
	case "local_shell":
		return "lsh_"
	case "shell":
		return "sh_"
	case "apply_patch":
		return "apc_"
	}
	return "tsc_"
}

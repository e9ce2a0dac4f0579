package responses

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// built is a tool that the agent runs and that is known by its type alone. To all others
// it is the function that stands here.
type built struct {
	name, call, output string
	description        string
	schema             json.RawMessage
}

var builtTools = []built{
	{
		name: "local_shell", call: "local_shell_call", output: "local_shell_call_output",
		description: "Runs a command on the user's machine and returns its output.",
		schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"},"description":"The program and its arguments"},` +
			`"timeout_ms":{"type":"integer"},"workdir":{"type":"string"}},"required":["command"]}`),
	},
	{
		name: "shell", call: "shell_call", output: "shell_call_output",
		description: "Runs shell commands, one after another, and returns their output.",
		schema: json.RawMessage(`{"type":"object","properties":{"commands":{"type":"array","items":{"type":"string"}},` +
			`"timeout_ms":{"type":"integer"},"max_output_length":{"type":"integer"}},"required":["commands"]}`),
	},
	{
		name: "apply_patch", call: "apply_patch_call", output: "apply_patch_call_output",
		description: "Creates, updates or deletes one file. diff holds lines that begin with a blank, + or -, under @@ headings.",
		schema: json.RawMessage(`{"type":"object","properties":{"operation":{"type":"object","properties":{` +
			`"type":{"type":"string","enum":["create_file","update_file","delete_file"]},"path":{"type":"string"},"diff":{"type":"string"}},` +
			`"required":["type","path"]}},"required":["operation"]}`),
	},
	{name: "tool_search", call: "tool_search_call", output: "tool_search_output"},
}

func builtBy(match func(b *built) bool) *built {
	for i := range builtTools {
		if match(&builtTools[i]) {
			return &builtTools[i]
		}
	}
	return nil
}

// special reads the items of client-run tools, and those that only OpenAI understands.
func (r *askReader) special(it *item) {
	if b := builtBy(func(b *built) bool { return b.call == it.Type }); b != nil {
		r.builtCall(it, b)
		return
	}
	if b := builtBy(func(b *built) bool { return b.output == it.Type }); b != nil {
		r.builtOutput(it, b)
		return
	}
	role := wire.RoleAssistant
	if strings.HasSuffix(it.Type, "_output") || it.Role == "user" {
		role = wire.RoleUser
	}
	r.say(role, wire.Part{Kind: wire.KindOpaque, Raw: it.raw, Text: note(it)})
}

func (r *askReader) builtCall(it *item, b *built) {
	if b.name == "tool_search" && it.Execution == "server" {
		return // what it found is in the tools
	}
	if it.ID != "" && it.CallID != "" {
		if r.shell == nil {
			r.shell = map[string]string{}
		}
		r.shell[it.ID] = it.CallID
	}
	c := &wire.Call{ID: it.call(), Name: b.name, Args: builtArgs(it, b)}
	r.say(wire.RoleAssistant, wire.Part{Kind: wire.KindCall, Call: c, Raw: it.raw})
}

// builtArgs are a call's arguments as its function would have them.
func builtArgs(it *item, b *built) json.RawMessage {
	switch b.name {
	case "local_shell":
		return shellArgs(it.Action)
	case "shell":
		return readArgs(string(it.Action))
	case "apply_patch":
		if it.Operation == nil {
			return json.RawMessage("{}")
		}
		return append(append(json.RawMessage(`{"operation":`), it.Operation...), '}')
	}
	return readArgs(it.Arguments)
}

// shellArgs are a local shell's action as arguments.
func shellArgs(action json.RawMessage) json.RawMessage {
	v := wire.Value(action)
	o := newObject(make([]byte, 0, len(action)+16))
	o.raw("command", v.Get("command").Raw())
	o.raw("timeout_ms", v.Get("timeout_ms").Raw())
	o.raw("workdir", v.Get("working_directory").Raw())
	return o.end()
}

func (r *askReader) builtOutput(it *item, b *built) {
	if b.name == "tool_search" {
		r.tools.read(it.Tools, "")
		if it.Execution == "server" {
			return
		}
	}
	id := it.call()
	if alias, ok := r.shell[id]; ok {
		id = alias
	}
	res := &wire.Result{ID: id, Name: b.name, Raw: it.raw}
	switch b.name {
	case "shell":
		res.Parts = textParts(shellOutput(it.Output))
	case "tool_search":
		res.Parts = textParts(foundTools(it.Tools))
	default:
		res.Parts = readOutput(it.Output)
		res.Error = it.Status == "failed" && b.name == "apply_patch"
	}
	r.say(wire.RoleUser, wire.Part{Kind: wire.KindResult, Reply: res})
}

func textParts(s string) []wire.Part {
	if s == "" {
		return nil
	}
	return []wire.Part{{Text: s}}
}

// shellOutput tells what the commands printed and how they ended.
func shellOutput(raw json.RawMessage) string {
	v := wire.Value(raw)
	if v.Kind() == '"' {
		return v.Text()
	}
	var b strings.Builder
	v.Elements(func(e wire.Value) {
		for _, s := range [...]string{e.Get("stdout").Text(), e.Get("stderr").Text()} {
			b.WriteString(s)
			if s != "" && !strings.HasSuffix(s, "\n") {
				b.WriteByte('\n')
			}
		}
		switch end := e.Get("outcome"); end.Get("type").Text() {
		case "exit":
			if n, ok := end.Get("exit_code").Int(); ok {
				b.WriteString("exit code " + strconv.FormatInt(n, 10) + "\n")
			}
		case "timeout":
			b.WriteString("timed out\n")
		}
	})
	return b.String()
}

// foundTools names what a search for tools found: they are on offer from here on.
func foundTools(raw json.RawMessage) string {
	var l toolList
	l.read(raw, "")
	var b strings.Builder
	for _, t := range l.settle() {
		b.WriteString(t.Name)
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "no tools found"
	}
	return "These tools can be called now:\n" + b.String()
}

const noteMost = 2000

// note is what others may read of an item that OpenAI's own tools made: a short word, and
// only when it holds what was found.
func note(it *item) string {
	switch it.Type {
	case typeImage:
		if it.Result != "" {
			return "[An image was made here.]"
		}
	case "web_search_call":
		v := wire.Value(it.Action)
		if v.Get("sources").Kind() == '[' && len(v.Get("sources")) > 2 {
			return "[The web was searched here: " + v.Get("query").Text() + "]"
		}
	case "code_interpreter_call":
		var logs strings.Builder
		wire.Value(it.Outputs).Elements(func(e wire.Value) { logs.WriteString(e.Get("logs").Text()) })
		if logs.Len() > 0 {
			return "[Code was run here and printed:\n" + shorten(logs.String()) + "]"
		}
	case "file_search_call":
		var found strings.Builder
		wire.Value(it.Results).Elements(func(e wire.Value) {
			found.WriteString(e.Get("filename").Text() + ": " + e.Get("text").Text() + "\n")
		})
		if found.Len() > 0 {
			return "[Files were searched here and gave:\n" + shorten(found.String()) + "]"
		}
	case "mcp_call":
		if out := wire.Value(it.Output).Text(); out != "" {
			return "[The tool " + it.Name + " of " + it.Label + " was called here and gave:\n" + shorten(out) + "]"
		}
	case "computer_call_output":
		return "[A picture of the screen stood here.]"
	}
	return ""
}

// shorten keeps a text's beginning.
func shorten(s string) string {
	if len(s) <= noteMost {
		return s
	}
	return strings.ToValidUTF8(s[:noteMost], "") + " …"
}

// builtItem writes a call of a client-run tool as its own item. id is left out when empty.
func builtItem(name, id, call, status string, args json.RawMessage) []byte {
	b := builtBy(func(b *built) bool { return b.name == name })
	v := wire.Value(args)
	o := newObject(make([]byte, 0, len(args)+160))
	o.some("id", id)
	o.str("type", b.call)
	o.str("call_id", call)
	switch name {
	case "local_shell":
		o.raw("action", shellAction(v))
	case "shell":
		if v.Get("commands").Kind() != '[' {
			v = wire.Value(commands(v))
		}
		o.raw("action", oneLine(v.Raw()))
		o.lit("environment", `{"type":"local"}`)
	case "apply_patch":
		op := v.Get("operation")
		if op.Kind() != '{' {
			op = v
		}
		o.raw("operation", oneLine(op.Raw()))
	case "tool_search":
		o.str("execution", "client")
		o.raw("arguments", oneLine(args))
	}
	o.str("status", status)
	return o.end()
}

// shellAction is a local shell's action of a call's arguments; a command in one text is
// given to a shell.
func shellAction(v wire.Value) []byte {
	o := newObject(nil)
	o.str("type", "exec")
	command := v.Get("command")
	if command.Kind() == '"' {
		o.names("command", []string{"bash", "-lc", command.Text()})
	} else {
		o.raw("command", oneLine(orList(command)))
	}
	o.raw("timeout_ms", v.Get("timeout_ms").Raw())
	o.raw("working_directory", oneLine(v.Get("workdir").Raw()))
	o.lit("env", "{}")
	return o.end()
}

func orList(v wire.Value) json.RawMessage {
	if v.Kind() != '[' {
		return json.RawMessage("[]")
	}
	return v.Raw()
}

// commands makes a list of what a model that knows the other shell says.
func commands(v wire.Value) []byte {
	o := newObject(nil)
	if c := v.Get("command"); c.Kind() == '"' {
		o.names("commands", []string{c.Text()})
	} else {
		o.lit("commands", "[]")
	}
	return o.end()
}

// oneLine takes the line breaks out of JSON, for it may stand in an event. What is no JSON
// is an empty object.
func oneLine(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return json.RawMessage("{}")
	}
	return b.Bytes()
}

package standin

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Loop has an agent do one piece of work: its first request with tools is answered
// by a call that writes a file, with whichever of the agent's tools can do so; once
// a tool's result is in the conversation, the answer is the final text.
type Loop struct {
	Path    string // of the file
	Content string
	Final   string // the text after it; "" = the vendor's own
	Each    bool   // in each turn of the user's, not in the first alone
}

// writers are the tools that can write a file, best first: the agents' own, then
// their shells.
var writers = []struct {
	name string
	args func(Loop) object // nil: named by the schema's properties
	text func(Loop) string // of a freeform tool
}{
	{name: "Write"},
	{name: "write_file"},
	{name: "write"},
	{name: "create"},
	{name: "create_file"},
	{name: "exec_command", args: func(l Loop) object { return object{"cmd": l.shell()} }},
	{name: "shell", args: func(l Loop) object { return object{"command": list{"bash", "-c", l.shell()}} }},
	{name: "shell_command", args: func(l Loop) object { return object{"command": l.shell()} }},
	{name: "local_shell", args: func(l Loop) object { return object{"command": list{"bash", "-c", l.shell()}} }},
	{name: "Bash", args: func(l Loop) object { return object{"command": l.shell()} }},
	{name: "bash", args: func(l Loop) object { return object{"command": l.shell()} }},
	{name: "run_shell_command", args: func(l Loop) object { return object{"command": l.shell()} }},
	{name: "exec", text: Loop.program},
	{name: "apply_patch", text: Loop.patch},
	{name: "ApplyPatch", text: Loop.patch},
}

// call picks the tool that writes the file; the zero call when none can.
func (l *Loop) call(open []tool) ToolCall {
	for _, w := range writers {
		i := slices.IndexFunc(open, func(t tool) bool { return t.name == w.name && t.freeform == (w.text != nil) })
		switch {
		case i < 0:
			continue
		case w.text != nil:
			return ToolCall{Name: w.name, Args: w.text(*l)}
		case w.args != nil:
			return ToolCall{Name: w.name, Args: string(marshal(fillIn(open[i].schema, w.args(*l))))}
		}
		if args := l.file(open[i].schema); args != nil {
			return ToolCall{Name: w.name, Args: string(marshal(fillIn(open[i].schema, args)))}
		}
	}
	return ToolCall{}
}

// file fits the path and the content to the names that a tool gives them.
func (l *Loop) file(schema object) object {
	args := object{}
	props := obj(schema["properties"])
	for _, name := range []string{"file_path", "filePath", "path", "absolute_path", "filename"} {
		if props[name] != nil {
			args[name] = l.Path
			break
		}
	}
	for _, name := range []string{"content", "file_text", "contents", "text"} {
		if props[name] != nil {
			args[name] = l.Content
			break
		}
	}
	if len(args) < 2 {
		return nil
	}
	return args
}

// shell is the command that writes the file.
func (l Loop) shell() string {
	return "mkdir -p \"$(dirname " + quoteShell(l.Path) + ")\" && printf %s " + quoteShell(l.Content) + " > " + quoteShell(l.Path)
}

func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// program is the same for a tool that runs JavaScript with the other tools in reach.
func (l Loop) program() string {
	cmd, _ := json.Marshal(l.shell()) // a string can always be said
	return fmt.Sprintf("const result = await tools.exec_command({cmd: %s});\ntext(result.output ?? result);\n", cmd)
}

// patch is the same for a tool that applies patches.
func (l Loop) patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + l.Path + "\n")
	for line := range strings.Lines(l.Content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// fillIn adds what a schema requires besides.
func fillIn(schema, args object) object {
	props := obj(schema["properties"])
	for _, r := range arr(schema["required"]) {
		if name := str(r); args[name] == nil {
			args[name] = sample(props[name], name)
		}
	}
	return args
}

// busyCalls is how many calls a model at work makes for what it was told: none to three.
func busyCalls(said string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(said)) // a hash takes everything
	return int(h.Sum32() % 4)
}

// busyTool picks the tool for the n-th of them.
func busyTool(open []tool, n int) string {
	if len(open) == 0 {
		return ""
	}
	return open[n%len(open)].name
}

// samples are values for the properties that tools often have.
var samples = map[string]string{
	"file_path": "internal/config/loader.go", "filePath": "internal/config/loader.go", "path": "internal/config/loader.go", "absolute_path": "internal/config/loader.go",
	"command": "go test ./internal/config/...", "cmd": "go test ./internal/config/...", "pattern": "func Load", "query": "func Load",
	"content": "package config\n", "description": "Look at the loader", "reasoning": "A small task.", "title": defaultTitle,
}

// sample makes a value that a schema allows: required properties only, the first of
// several choices.
func sample(schema any, name string) any {
	s := obj(schema)
	if c, ok := s["const"]; ok {
		return c
	}
	if choices := arr(s["enum"]); len(choices) > 0 {
		return choices[0]
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if choices := arr(s[union]); len(choices) > 0 {
			return sample(choices[0], name)
		}
	}
	kind := s["type"]
	if kinds := arr(kind); len(kinds) > 0 {
		kind = kinds[0]
	}
	switch strings.ToLower(str(kind)) {
	case "string":
		return sampleText(s, name)
	case "integer", "number":
		if n, ok := num(s["minimum"]); ok {
			return n
		}
		return 1
	case "boolean":
		return false
	case "array":
		least, _ := num(s["minItems"])
		items := list{}
		for range max(least, 0) {
			items = append(items, sample(s["items"], name))
		}
		return items
	case "null":
		return nil
	}
	out := object{}
	props := obj(s["properties"])
	for _, r := range arr(s["required"]) {
		out[str(r)] = sample(props[str(r)], str(r))
	}
	return out
}

func sampleText(s object, name string) string {
	text := samples[name]
	if text == "" {
		text = "A small task."
	}
	if most, ok := num(s["maxLength"]); ok && most < len(text) {
		text = text[:max(most, 0)]
	}
	return text
}

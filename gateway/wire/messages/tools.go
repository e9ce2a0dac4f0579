package messages

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// builtTool is a tool that a client runs and whose schema the model knows by heart.
type builtTool struct {
	head        string // of its type
	built       string
	description string
	schema      string
}

// builtTools are those tools with what they take, for models that don't know them.
var builtTools = []builtTool{
	{
		"bash_", "bash", "Runs a command in a bash session that lasts from call to call.",
		`{"type":"object","properties":{"command":{"type":"string","description":"The command to run. Required unless restart is true."},"restart":{"type":"boolean","description":"True starts the session anew."}}}`,
	},
	{
		"text_editor_", "text_editor", "Views, creates and edits text files.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"]},"path":{"type":"string","description":"Of the file or folder."},"file_text":{"type":"string","description":"For create: the whole text."},"old_str":{"type":"string","description":"For str_replace: the text to replace; it must occur exactly once."},"new_str":{"type":"string","description":"For str_replace: what takes its place."},"insert_line":{"type":"integer","description":"For insert: the line behind which to insert, 0 for the beginning."},"insert_text":{"type":"string","description":"For insert: the text."},"view_range":{"type":"array","items":{"type":"integer"},"description":"For view: the first and the last line, -1 for the end."}},"required":["command","path"]}`,
	},
	{
		"memory_", "memory", "Keeps notes in files under /memories that last from conversation to conversation.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},"path":{"type":"string"},"view_range":{"type":"array","items":{"type":"integer"}},"file_text":{"type":"string"},"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"},"old_path":{"type":"string"},"new_path":{"type":"string"}},"required":["command"]}`,
	},
}

// hostedTools are the tools that a vendor runs, by the heads of their types.
var hostedTools = []struct{ head, hosted string }{
	{"web_search_", "web_search"},
	{"web_fetch_", "web_fetch"},
	{"code_execution_", "code"},
	{"computer_", "computer"},
	{"tool_search_tool_", "tool_search"},
	{"mcp_toolset", "mcp"},
}

func readTool(raw json.RawMessage) wire.Tool {
	v := wire.Value(raw)
	kind := v.Get("type").Text()
	t := wire.Tool{Name: v.Get("name").Text(), Cache: readCache(v.Get("cache_control"))}
	if kind == "" || kind == "custom" {
		t.Description, t.Schema = v.Get("description").Text(), v.Get("input_schema").Raw()
		if s := v.Get("strict"); !s.None() {
			strict := s.True()
			t.Strict = &strict
		}
		return t
	}
	t.Raw = raw
	for _, b := range builtTools {
		if strings.HasPrefix(kind, b.head) {
			t.Built, t.Description, t.Schema = b.built, b.description, json.RawMessage(b.schema)
			return t
		}
	}
	t.Kind, t.Hosted = wire.ToolHosted, kind
	for _, h := range hostedTools {
		if strings.HasPrefix(kind, h.head) {
			t.Hosted = h.hosted
		}
	}
	if t.Hosted == "web_search" {
		t.Search = readSearch(v)
	}
	return t
}

func readSearch(v wire.Value) *wire.Search {
	s := &wire.Search{Location: v.Get("user_location").Raw()}
	v.Get("allowed_domains").Elements(func(e wire.Value) { s.Allowed = append(s.Allowed, e.Text()) })
	v.Get("blocked_domains").Elements(func(e wire.Value) { s.Blocked = append(s.Blocked, e.Text()) })
	return s
}

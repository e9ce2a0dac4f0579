package standin

import "strings"

// What Messages takes.

var messagesText = closed([]string{"text"}, map[string]*shape{"type": text, "text": text, "cache_control": cacheMark, "citations": {kinds: isArray | isNull}})

var messagesImage = closed([]string{"source"}, map[string]*shape{"type": text, "cache_control": cacheMark, "source": tagged("type", map[string]*shape{
	"base64": closed([]string{"media_type", "data"}, map[string]*shape{"type": text, "media_type": word("image/jpeg", "image/png", "image/gif", "image/webp"), "data": text}),
	"url":    closed([]string{"url"}, fieldsOf(text, "type", "url")),
	"file":   closed([]string{"file_id"}, fieldsOf(text, "type", "file_id")),
})})

var messagesDocument = closed([]string{"source"}, map[string]*shape{"type": text, "cache_control": cacheMark, "source": openMap, "title": maybe, "context": maybe, "citations": mapOrNot})

var resultBlocks = &shape{kinds: isObject, tag: "type", kindOf: map[string]*shape{
	"text": messagesText, "image": messagesImage, "document": messagesDocument, "search_result": openMap, "tool_reference": openMap,
}}

// messagesBlocks are the kinds of content blocks. What the vendor's own tools leave
// behind is taken as it is.
var messagesBlocks = &shape{kinds: isObject, tag: "type", also: serverBlock, kindOf: map[string]*shape{
	"text":              messagesText,
	"image":             messagesImage,
	"document":          messagesDocument,
	"search_result":     openMap,
	"tool_use":          closed([]string{"id", "name", "input"}, map[string]*shape{"type": text, "id": text, "name": text, "input": openMap, "cache_control": cacheMark, "caller": mapOrNot}),
	"tool_result":       closed([]string{"tool_use_id"}, map[string]*shape{"type": text, "tool_use_id": text, "content": each(resultBlocks).orText(), "is_error": flag, "cache_control": cacheMark}),
	"thinking":          closed([]string{"thinking", "signature"}, fieldsOf(text, "type", "thinking", "signature")),
	"redacted_thinking": closed([]string{"data"}, fieldsOf(text, "type", "data")),
}}

func serverBlock(kind string) bool {
	switch kind {
	case "server_tool_use", "mcp_tool_use", "container_upload", "compaction", "fallback", "tool_reference":
		return true
	}
	return strings.HasSuffix(kind, "_tool_result")
}

var messagesTools = each(&shape{kinds: isObject, tag: "type", also: clientTool, kindOf: map[string]*shape{"": ownTool, "custom": ownTool}}).orNull()

var ownTool = closed([]string{"name", "input_schema"}, map[string]*shape{
	"type": text, "name": text, "description": text, "input_schema": closed([]string{"type"}, nil), "cache_control": cacheMark, "strict": flag,
	"defer_loading": flag, "eager_input_streaming": flag, "allowed_callers": textList.orNull(), "input_examples": {kinds: isArray | isNull},
})

// clientTool are the tools that Anthropic defines: a name and a date.
func clientTool(kind string) bool {
	name, date, ok := strings.Cut(kind, "_20")
	return kind == "mcp_toolset" || ok && name != "" && len(date) == 6
}

var messagesRequest = closed([]string{"model", "messages", "max_tokens"}, with(
	fieldsOf(number, "temperature", "top_p", "top_k"),
	fieldsOf(flag, "stream"),
	fieldsOf(maybe, "service_tier", "inference_geo", "speed", "user_profile_id"),
	fieldsOf(mapOrNot, "context_management", "diagnostics", "compaction", "billing_policy", "output_format"),
	map[string]*shape{
		"model":          text,
		"max_tokens":     {kinds: isNumber},
		"system":         each(messagesText).orText(),
		"messages":       some(tagged("role", map[string]*shape{"user": messagesTurn, "assistant": messagesTurn, "system": messagesTurn})),
		"tools":          messagesTools,
		"tool_choice":    tagged("type", map[string]*shape{"auto": choiceShape, "any": choiceShape, "none": choiceShape, "tool": choiceShape}).orNull(),
		"metadata":       closed(nil, map[string]*shape{"user_id": maybe}).orNull(),
		"thinking":       tagged("type", map[string]*shape{"enabled": thinkingShape, "adaptive": thinkingShape, "disabled": thinkingShape, "between_tools": thinkingShape}).orNull(),
		"output_config":  closed(nil, map[string]*shape{"effort": maybe, "format": messagesFormat, "task_budget": mapOrNot}).orNull(),
		"stop_sequences": textList.orNull(),
		"cache_control":  cacheMark,
		"container":      {kinds: isString | isObject | isNull},
		"mcp_servers":    {kinds: isArray | isNull},
		"fallbacks":      {kinds: isArray | isNull},
		"safeguards":     {kinds: isArray | isNull},
		"thread":         tagged("type", map[string]*shape{"create": closed(nil, fieldsOf(text, "type")), "continue": closed([]string{"previous_message_id"}, fieldsOf(text, "type", "previous_message_id"))}).orNull(),
	},
))

var (
	messagesTurn   = closed([]string{"content"}, map[string]*shape{"role": text, "content": each(messagesBlocks).orText(), "output_config": mapOrNot})
	choiceShape    = closed(nil, map[string]*shape{"type": text, "name": text, "disable_parallel_tool_use": flag})
	thinkingShape  = closed(nil, map[string]*shape{"type": text, "budget_tokens": {kinds: isNumber}, "display": maybe, "block_binding": mapOrNot})
	messagesFormat = tagged("type", map[string]*shape{"json_schema": closed([]string{"schema"}, map[string]*shape{"type": text, "schema": openMap})}).orNull()
)

// betas are the fields that are there only with a beta named in anthropic-beta.
var betas = map[string]string{
	"thread":             "message-threads-",
	"context_management": "context-management-",
	"mcp_servers":        "mcp-client-",
}

// messagesCount is the request for a count: the prompt without what belongs to a reply.
var messagesCount = closed([]string{"model", "messages"}, without(messagesRequest.fields, "max_tokens", "stream", "metadata", "service_tier", "stop_sequences", "temperature", "top_p", "top_k"))

// without is a field table with some names left out.
func without(fields map[string]*shape, names ...string) map[string]*shape {
	rest := with(fields)
	for _, n := range names {
		delete(rest, n)
	}
	return rest
}

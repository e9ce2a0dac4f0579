package standin

// What Responses takes.

var responsesIn = tagged("type", map[string]*shape{
	"input_text":  closed([]string{"text"}, with(fieldsOf(text, "type", "text"), map[string]*shape{"prompt_cache_breakpoint": mapOrNot})),
	"input_image": closed(nil, with(fieldsOf(maybe, "type", "image_url", "file_id", "detail"), map[string]*shape{"prompt_cache_breakpoint": mapOrNot})),
	"input_file":  closed(nil, fieldsOf(maybe, "type", "file_id", "file_url", "file_data", "filename", "detail")),
	"input_audio": openMap,
})

var responsesOut = tagged("type", map[string]*shape{
	"output_text": closed([]string{"text"}, map[string]*shape{"type": text, "text": text, "annotations": {kinds: isArray | isNull}, "logprobs": {kinds: isArray | isNull}}),
	"refusal":     closed([]string{"refusal"}, fieldsOf(text, "type", "refusal")),
})

// itemOf is an input item with the fields that any may have and its own.
func itemOf(need []string, own map[string]*shape) *shape {
	return closed(need, with(fieldsOf(maybe, "type", "id", "status"), map[string]*shape{"internal_chat_message_metadata_passthrough": anything}, own))
}

var responsesMessage = &shape{kinds: isObject, tag: "role", kindOf: map[string]*shape{
	"user":      messageItem(each(responsesIn)),
	"system":    messageItem(each(responsesIn)),
	"developer": messageItem(each(responsesIn)),
	"assistant": messageItem(each(responsesOut)),
}}

func messageItem(content *shape) *shape {
	return itemOf([]string{"content"}, map[string]*shape{"role": text, "content": content.orText(), "phase": maybe})
}

var toolOutput = each(responsesIn).orText()

// responsesItems are the kinds of input items. Those that hosted tools leave behind
// are taken as they are.
var responsesItems = &shape{kinds: isObject, tag: "type", also: hostedItem, kindOf: map[string]*shape{
	"":                        responsesMessage, // a message may leave its type out
	"message":                 responsesMessage,
	"reasoning":               itemOf([]string{"summary"}, map[string]*shape{"summary": each(closed([]string{"text"}, fieldsOf(text, "type", "text"))), "content": {kinds: isArray | isNull}, "encrypted_content": maybe}),
	"function_call":           itemOf([]string{"call_id", "name", "arguments"}, map[string]*shape{"call_id": text, "name": text, "arguments": text, "namespace": maybe}),
	"function_call_output":    itemOf([]string{"call_id", "output"}, map[string]*shape{"call_id": text, "output": toolOutput}),
	"custom_tool_call":        itemOf([]string{"call_id", "name", "input"}, map[string]*shape{"call_id": text, "name": text, "input": text, "namespace": maybe}),
	"custom_tool_call_output": itemOf([]string{"call_id", "output"}, map[string]*shape{"call_id": text, "output": toolOutput, "name": maybe}),
	"local_shell_call":        openMap,
	"local_shell_call_output": openMap,
	"additional_tools":        itemOf([]string{"tools"}, map[string]*shape{"role": text, "tools": responsesTools}),
	"compaction":              itemOf([]string{"encrypted_content"}, map[string]*shape{"encrypted_content": text}),
	"compaction_trigger":      openMap,
	"item_reference":          openMap,
}}

func hostedItem(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "computer_call", "computer_call_output", "image_generation_call", "code_interpreter_call",
		"mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "shell_call", "shell_call_output",
		"apply_patch_call", "apply_patch_call_output", "tool_search_call", "tool_search_output", "configuration_update", "program", "program_output":
		return true
	}
	return false
}

var responsesFunction = closed([]string{"name"}, map[string]*shape{
	"type": text, "name": text, "description": maybe, "parameters": mapOrNot, "strict": flag, "defer_loading": flag, "output_schema": anything, "allowed_callers": anything,
})

var responsesCustom = closed([]string{"name"}, map[string]*shape{"type": text, "name": text, "description": maybe, "format": openMap, "defer_loading": flag})

var responsesTools = each(&shape{kinds: isObject, tag: "type", also: hostedTool, kindOf: map[string]*shape{
	"function":  responsesFunction,
	"custom":    responsesCustom,
	"namespace": closed([]string{"name", "tools"}, map[string]*shape{"type": text, "name": text, "description": maybe, "tools": each(tagged("type", map[string]*shape{"function": responsesFunction, "custom": responsesCustom}))}),
}})

func hostedTool(kind string) bool {
	switch kind {
	case "web_search", "web_search_preview", "file_search", "computer", "computer_use_preview", "code_interpreter", "image_generation",
		"mcp", "local_shell", "shell", "apply_patch", "tool_search", "programmatic_tool_calling":
		return true
	}
	return false
}

var responsesFormat = tagged("type", map[string]*shape{
	"text":        closed(nil, fieldsOf(text, "type")),
	"json_object": closed(nil, fieldsOf(text, "type")),
	"json_schema": closed([]string{"name", "schema"}, map[string]*shape{"type": text, "name": text, "description": maybe, "schema": openMap, "strict": flag}),
}).orNull()

// responsesRequest is the whole request.
var responsesRequest = closed([]string{"model"}, with(
	fieldsOf(number, "temperature", "top_p", "top_logprobs", "max_output_tokens", "max_tool_calls"),
	fieldsOf(flag, "parallel_tool_calls", "store", "stream", "background"),
	fieldsOf(maybe, "instructions", "previous_response_id", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "truncation", "user"),
	fieldsOf(mapOrNot, "metadata", "moderation", "prompt", "prompt_cache_options", "client_metadata", "stream_options"),
	map[string]*shape{
		"model":              text,
		"input":              each(responsesItems).orText(),
		"tools":              responsesTools.orNull(),
		"tool_choice":        {kinds: isString | isObject | isNull},
		"include":            textList.orNull(),
		"conversation":       {kinds: isString | isObject | isNull},
		"context_management": {kinds: isArray | isNull},
		"reasoning":          closed(nil, fieldsOf(maybe, "effort", "summary", "generate_summary", "context", "mode")).orNull(),
		"text":               closed(nil, map[string]*shape{"format": responsesFormat, "verbosity": maybe}).orNull(),
	},
))

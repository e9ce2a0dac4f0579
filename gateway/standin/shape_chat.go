package standin

// What Chat Completions takes.

var cacheMark = closed([]string{"type"}, map[string]*shape{"type": text, "ttl": text}).orNull()

var chatParts = tagged("type", map[string]*shape{
	"text":        closed([]string{"text"}, map[string]*shape{"type": text, "text": text, "prompt_cache_breakpoint": mapOrNot}),
	"image_url":   closed([]string{"image_url"}, map[string]*shape{"type": text, "image_url": closed([]string{"url"}, fieldsOf(text, "url", "detail")), "prompt_cache_breakpoint": mapOrNot}),
	"input_audio": closed([]string{"input_audio"}, map[string]*shape{"type": text, "input_audio": closed([]string{"data", "format"}, fieldsOf(text, "data", "format"))}),
	"file":        closed([]string{"file"}, map[string]*shape{"type": text, "file": closed(nil, fieldsOf(text, "filename", "file_data", "file_id"))}),
	"refusal":     closed([]string{"refusal"}, fieldsOf(text, "type", "refusal")),
})

var chatText = tagged("type", map[string]*shape{"text": chatParts.kindOf["text"]})

var chatCalls = each(tagged("type", map[string]*shape{
	"function": closed([]string{"id", "function"}, map[string]*shape{"id": text, "type": text, "function": closed([]string{"name", "arguments"}, fieldsOf(text, "name", "arguments")), "extra_content": openMap}),
	"custom":   closed([]string{"id", "custom"}, map[string]*shape{"id": text, "type": text, "custom": closed([]string{"name", "input"}, fieldsOf(text, "name", "input"))}),
})).orNull()

// chatMessages is the shape of messages for a vendor that knows some roles and may
// want its thinking back in a field.
func chatMessages(roles []string, reasoning string) *shape {
	name := map[string]*shape{"role": text, "name": maybe}
	assistant := with(name, map[string]*shape{
		"content": each(chatParts).orText().orNull(), "refusal": maybe, "tool_calls": chatCalls, "function_call": mapOrNot,
		"audio": mapOrNot, "annotations": {kinds: isArray | isNull},
	})
	if reasoning != "" {
		assistant[reasoning] = maybe
		assistant["reasoning_details"] = &shape{kinds: isArray | isNull}
	}
	instruction := closed([]string{"content"}, with(name, map[string]*shape{"content": each(chatText).orText()}))
	all := map[string]*shape{
		"system":    instruction,
		"developer": instruction,
		"user":      closed([]string{"content"}, with(name, map[string]*shape{"content": some(chatParts).orText()})),
		"assistant": closed(nil, assistant),
		"tool":      closed([]string{"content", "tool_call_id"}, with(name, map[string]*shape{"content": each(chatText).orText(), "tool_call_id": text})),
		"function":  closed([]string{"content", "name"}, with(name, map[string]*shape{"content": maybe})),
	}
	known := map[string]*shape{}
	for _, r := range roles {
		known[r] = all[r]
	}
	return &shape{kinds: isObject, tag: "role", kindOf: known, firm: true}
}

var chatTools = each(tagged("type", map[string]*shape{
	"function": closed([]string{"function"}, map[string]*shape{"type": text, "function": closed([]string{"name"}, map[string]*shape{"name": text, "description": maybe, "parameters": mapOrNot, "strict": flag})}),
	"custom":   closed([]string{"custom"}, map[string]*shape{"type": text, "custom": closed([]string{"name"}, map[string]*shape{"name": text, "description": maybe, "format": openMap})}),
})).orNull()

var chatFormat = tagged("type", map[string]*shape{
	"text":        closed(nil, fieldsOf(text, "type")),
	"json_object": closed(nil, fieldsOf(text, "type")),
	"json_schema": closed([]string{"json_schema"}, map[string]*shape{"type": text, "json_schema": closed([]string{"name"}, map[string]*shape{"name": text, "description": maybe, "schema": openMap, "strict": flag})}),
}).orNull()

// chatRequest is the whole request.
func chatRequest(h house) *shape {
	return closed([]string{"model", "messages"}, with(
		fieldsOf(number, "frequency_penalty", "presence_penalty", "temperature", "top_p", "n", "seed", "top_logprobs", "max_tokens", "max_completion_tokens"),
		fieldsOf(flag, "logprobs", "parallel_tool_calls", "store", "stream"),
		fieldsOf(maybe, "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "safety_identifier", "service_tier", "user", "verbosity"),
		fieldsOf(mapOrNot, "audio", "logit_bias", "metadata", "moderation", "prediction", "prompt_cache_options", "web_search_options"),
		map[string]*shape{
			"model":           text,
			"messages":        some(chatMessages(h.roles, h.reasoning)),
			"stream_options":  closed(nil, fieldsOf(flag, "include_usage", "include_obfuscation")).orNull(),
			"tools":           chatTools,
			"tool_choice":     {kinds: isString | isObject | isNull},
			"function_call":   {kinds: isString | isObject | isNull},
			"functions":       {kinds: isArray | isNull},
			"modalities":      textList.orNull(),
			"response_format": chatFormat,
			"stop":            each(text).orText().orNull(),
		},
	))
}

// embedRequest is OpenAI's request for embeddings.
var embedRequest = closed([]string{"model", "input"}, map[string]*shape{
	"model": text, "input": {kinds: isString | isArray}, "dimensions": number, "encoding_format": word("float", "base64").orNull(), "user": maybe,
})

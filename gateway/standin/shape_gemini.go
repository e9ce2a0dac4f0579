package standin

// What Gemini takes. Names are the camel-case ones; snake case is read as the same.

var geminiBlob = closed([]string{"mimeType", "data"}, fieldsOf(text, "mimeType", "data", "displayName"))

var geminiPart = closed(nil, map[string]*shape{
	"text":                text,
	"inlineData":          geminiBlob,
	"fileData":            closed([]string{"fileUri"}, fieldsOf(text, "mimeType", "fileUri", "displayName")),
	"functionCall":        closed([]string{"name"}, map[string]*shape{"name": text, "args": mapOrNot, "id": maybe}),
	"functionResponse":    closed([]string{"name", "response"}, map[string]*shape{"name": text, "response": openMap, "id": maybe, "parts": {kinds: isArray | isNull}, "scheduling": maybe, "willContinue": flag}),
	"executableCode":      openMap,
	"codeExecutionResult": openMap,
	"toolCall":            openMap,
	"toolResponse":        openMap,
	"thought":             flag,
	"thoughtSignature":    text,
	"videoMetadata":       openMap,
	"mediaResolution":     anything,
	"partMetadata":        openMap,
})

var geminiContent = closed([]string{"parts"}, map[string]*shape{"role": maybe, "parts": each(geminiPart)})

// openAPISchema is the subset of schemas that parameters and responseSchema take.
func openAPISchema() *shape {
	s := closed(nil, with(
		fieldsOf(anything, "type", "default", "example", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength"),
		fieldsOf(maybe, "format", "title", "description", "pattern"),
		map[string]*shape{"nullable": flag, "enum": textList, "required": textList, "propertyOrdering": textList},
	)).orNull()
	s.fields["items"] = s
	s.fields["anyOf"] = each(s)
	s.fields["properties"] = &shape{kinds: isObject | isNull, items: s}
	return s
}

var geminiSchema = openAPISchema()

var geminiTools = each(closed(nil, with(
	fieldsOf(openMap, "googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext", "googleMaps", "computerUse", "fileSearch", "enterpriseWebSearch"),
	map[string]*shape{
		"mcpServers": {kinds: isArray | isNull},
		"functionDeclarations": each(closed([]string{"name"}, map[string]*shape{
			"name": text, "description": maybe, "parameters": geminiSchema, "parametersJsonSchema": anything, "response": geminiSchema, "responseJsonSchema": anything, "behavior": maybe,
		})),
	},
))).orNull()

var geminiConfig = closed(nil, with(
	fieldsOf(number, "temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "presencePenalty", "frequencyPenalty", "logprobs", "seed"),
	fieldsOf(flag, "responseLogprobs", "enableEnhancedCivicAnswers"),
	fieldsOf(maybe, "responseMimeType", "mediaResolution"),
	fieldsOf(mapOrNot, "speechConfig", "imageConfig", "responseFormat"),
	map[string]*shape{
		"stopSequences":      textList,
		"responseSchema":     geminiSchema,
		"responseJsonSchema": anything,
		"responseModalities": textList,
		"thinkingConfig":     closed(nil, map[string]*shape{"includeThoughts": flag, "thinkingBudget": number, "thinkingLevel": maybe}).orNull(),
	},
)).orNull()

var geminiRequest = closed([]string{"contents"}, map[string]*shape{
	"contents":          each(geminiContent),
	"systemInstruction": closed([]string{"parts"}, map[string]*shape{"role": maybe, "parts": each(geminiPart)}).orNull(),
	"tools":             geminiTools,
	"toolConfig":        closed(nil, map[string]*shape{"functionCallingConfig": closed(nil, map[string]*shape{"mode": maybe, "allowedFunctionNames": textList}), "retrievalConfig": openMap, "includeServerSideToolInvocations": flag}).orNull(),
	"safetySettings":    {kinds: isArray | isNull},
	"generationConfig":  geminiConfig,
	"cachedContent":     maybe,
	"model":             maybe,
	"store":             flag,
	"serviceTier":       maybe,
})

var geminiCount = closed(nil, map[string]*shape{"contents": each(geminiContent), "generateContentRequest": closed([]string{"model", "contents"}, geminiRequest.fields)})

var geminiEmbed = closed([]string{"content"}, map[string]*shape{"model": maybe, "content": geminiContent, "taskType": maybe, "title": maybe, "outputDimensionality": number, "embedContentConfig": openMap})

var geminiBatch = closed([]string{"requests"}, map[string]*shape{"requests": some(closed([]string{"model", "content"}, geminiEmbed.fields))})

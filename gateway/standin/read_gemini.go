package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// readGemini reads a Gemini request: for a reply, a count or embeddings.
func (v *Vendor) readGemini(a *ask, d door, r *http.Request) *problem {
	a.tree = obj(camel(a.tree))
	a.stream = d.verb == "streamGenerateContent"
	a.array = a.stream && r.URL.Query().Get("alt") != "sse"
	want, tree := geminiRequest, a.tree
	switch {
	case a.op == OpEmbed && d.verb == "batchEmbedContents":
		want = geminiBatch
	case a.op == OpEmbed:
		want = geminiEmbed
	case a.op == OpCount:
		want = geminiCount
		if inner := obj(tree["generateContentRequest"]); inner != nil {
			tree = inner
		}
	}
	flaw := want.check(a.tree, v.house.easy)
	a.tree = tree
	a.readGeminiTurns()
	a.readGeminiConfig()
	if flaw != nil {
		return geminiFlaw(flaw)
	}
	m, p := v.known(a)
	if p != nil || a.op == OpEmbed {
		return p
	}
	return firstProblem(geminiRoles(a), geminiNames(a), geminiLimits(a, m), geminiPairs(a), v.geminiSeals(a, m))
}

// asIs are the names whose values are not the API's own and stay as they came.
var asIs = []string{"args", "response", "parametersJsonSchema", "responseJsonSchema", "default", "example", "labels"}

// camel turns the names of an object from snake case, which the API takes too.
func camel(v any) any {
	switch v := v.(type) {
	case list:
		out := make(list, len(v))
		for i, one := range v {
			out[i] = camel(one)
		}
		return out
	case object:
		out := object{}
		for name, value := range v {
			name = camelName(name)
			switch {
			case slices.Contains(asIs, name):
			case name == "properties":
				inner := object{}
				for n, one := range obj(value) {
					inner[n] = camel(one)
				}
				value = inner
			default:
				value = camel(value)
			}
			out[name] = value
		}
		return out
	}
	return v
}

func camelName(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

func (a *ask) readGeminiTurns() {
	for _, p := range arr(obj(a.tree["systemInstruction"])["parts"]) {
		a.system += str(obj(p)["text"])
	}
	for _, c := range arr(a.tree["contents"]) {
		o := obj(c)
		t := turn{role: "user"}
		if str(o["role"]) == "model" {
			t.role = "assistant"
		}
		for _, p := range arr(o["parts"]) {
			t.parts = append(t.parts, geminiContentOf(obj(p)))
		}
		a.turns = append(a.turns, t)
	}
	for _, t := range arr(a.tree["tools"]) {
		o := obj(t)
		for _, f := range arr(o["functionDeclarations"]) {
			d := obj(f)
			schema := obj(d["parametersJsonSchema"])
			if schema == nil {
				schema = obj(d["parameters"])
			}
			a.tools = append(a.tools, tool{name: str(d["name"]), schema: schema})
		}
	}
}

func geminiContentOf(p object) content {
	call, result := obj(p["functionCall"]), obj(p["functionResponse"])
	switch {
	case call != nil:
		return content{kind: "call", id: str(call["id"]), name: str(call["name"]), text: string(marshal(call["args"]))}
	case result != nil:
		return content{kind: "result", id: str(result["id"]), name: str(result["name"]), text: string(marshal(result["response"]))}
	case yes(p["thought"]):
		return content{kind: "thinking", text: str(p["text"])}
	case p["text"] != nil:
		return content{kind: "text", text: str(p["text"])}
	}
	return content{kind: "image"}
}

func (a *ask) readGeminiConfig() {
	c := obj(a.tree["generationConfig"])
	a.limit, _ = num(c["maxOutputTokens"])
	a.json = str(c["responseMimeType"]) == "application/json"
	a.schema = c["responseJsonSchema"]
	if a.schema == nil {
		a.schema = c["responseSchema"]
	}
	a.thinking = yes(obj(c["thinkingConfig"])["includeThoughts"])
	calling := obj(obj(a.tree["toolConfig"])["functionCallingConfig"])
	a.choice.mode = map[string]string{"NONE": "none", "ANY": "any"}[strings.ToUpper(str(calling["mode"]))]
	if names := arr(calling["allowedFunctionNames"]); len(names) > 0 && a.choice.mode == "any" {
		a.choice.name = str(names[0])
	}
}

// geminiFlaw words a flaw as Google does.
func geminiFlaw(f *flaw) *problem {
	path := bracketed(f.path)
	at := ""
	if path != "" {
		at = " at '" + path + "'"
	}
	switch f.kind {
	case unknownField:
		return bad("Invalid JSON payload received. Unknown name \"" + f.name + "\"" + at + ": Cannot find field.")
	case missingField:
		return bad("* GenerateContentRequest." + bracketed(append(f.path[:len(f.path):len(f.path)], f.name)) + ": " + f.name + " is not specified\n")
	case wrongType:
		return bad("Invalid value" + at + " (" + f.want + "), " + f.got)
	case wrongWord, tooShort:
	}
	return bad("Invalid value" + at)
}

func geminiRoles(a *ask) *problem {
	if len(a.turns) == 0 {
		return bad("* GenerateContentRequest.contents: contents is not specified\n")
	}
	for i, c := range arr(a.tree["contents"]) {
		o := obj(c)
		switch str(o["role"]) {
		case "user", "model", "function", "":
		default:
			return bad("Please use a valid role: user, model.")
		}
		if len(arr(o["parts"])) == 0 {
			return bad(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i))
		}
		for j, p := range arr(o["parts"]) {
			if f := obj(obj(p)["functionResponse"]); f != nil && str(f["name"]) == "" {
				return bad(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[%d].function_response.name: Name cannot be empty.\n", i, j))
			}
			if len(obj(p)) == 0 {
				return bad(fmt.Sprintf("* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field\n", i, j))
			}
		}
	}
	return nil
}

func geminiNames(a *ask) *problem {
	for i, t := range a.tools {
		first := t.name != "" && (t.name[0] == '_' || plainName(t.name[:1], "") && (t.name[0] < '0' || t.name[0] > '9'))
		if !first || len(t.name) > 64 || !plainName(t.name, "_.:-") {
			return bad(fmt.Sprintf("* GenerateContentRequest.tools[0].function_declarations[%d].name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", i))
		}
	}
	return nil
}

func geminiLimits(a *ask, m model) *problem {
	c := obj(a.tree["generationConfig"])
	thinking := obj(c["thinkingConfig"])
	switch {
	case m.output > 0 && a.limit > m.output:
		return bad(fmt.Sprintf("Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", a.limit, m.output+1))
	case len(arr(c["stopSequences"])) > 5:
		return bad("The number of stop sequences must be at most 5.")
	case thinking["thinkingLevel"] != nil && thinking["thinkingBudget"] != nil:
		return bad("You can only set one of thinking budget and thinking level.")
	}
	return nil
}

// geminiPairs holds calls and responses together: as many responses right after as there were calls.
func geminiPairs(a *ask) *problem {
	for i, t := range a.turns {
		calls, results := countParts(t)
		before := 0
		if i > 0 {
			before, _ = countParts(a.turns[i-1])
		}
		switch {
		case results > 0 && before == 0:
			return bad("Please ensure that function response turn comes immediately after a function call turn.")
		case before > 0 && results != before:
			return bad("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		case calls > 0 && i == 0:
			return bad("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case calls > 0 && i == len(a.turns)-1:
			return bad("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		}
	}
	return nil
}

func countParts(t turn) (calls, results int) {
	for _, p := range t.parts {
		switch p.kind {
		case "call":
			calls++
		case "result":
			results++
		}
	}
	return calls, results
}

// skipWord is the documented way round the signatures.
const skipWord = "skip_thought_signature_validator"

// geminiSeals checks signatures: the vendor knows its own alone, and newer models want
// one on the first call of each step of the current turn.
func (v *Vendor) geminiSeals(a *ask, m model) *problem {
	contents := arr(a.tree["contents"])
	current := 0
	for i, c := range contents {
		for _, p := range arr(obj(c)["parts"]) {
			if obj(p)["text"] != nil && str(obj(c)["role"]) != "model" {
				current = i
			}
		}
	}
	for i, c := range contents {
		first := true
		for j, p := range arr(obj(c)["parts"]) {
			o := obj(p)
			seal := str(o["thoughtSignature"])
			if _, ok := v.open(a, seal); seal != "" && seal != skipWord && !ok {
				return bad("Corrupted thought signature.")
			}
			call := obj(o["functionCall"])
			if call == nil {
				continue
			}
			if first && seal == "" && m.calls && i > current {
				return bad(fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d.", str(call["name"]), j+1))
			}
			first = false
		}
	}
	return nil
}

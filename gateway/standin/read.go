package standin

import (
	"net/http"
	"strings"

	"dev.magpie/gateway/wire"
)

// read turns a request into an ask, or into what the vendor says against it.
func (v *Vendor) read(r *http.Request, d door, body []byte) (*ask, *problem) {
	a := &ask{api: d.api, key: d.key, op: d.op, model: d.model, body: body, cached: -1}
	if r.Method != http.MethodPost {
		return a, nil
	}
	value, err := parse(body)
	tree, ok := value.(object)
	if err != nil || !ok {
		return a, unparsed(d.api)
	}
	a.tree = tree
	var p *problem
	switch d.api {
	case wire.Chat:
		p = v.readChat(a)
	case wire.Responses:
		p = v.readResponses(a)
	case wire.Messages:
		p = v.readMessages(a, r.Header)
	case wire.Gemini:
		p = v.readGemini(a, d, r)
	}
	if p != nil && !v.opts.Lenient {
		return a, p
	}
	return a, nil
}

// unparsed is what an API says to a body that isn't a JSON object.
func unparsed(api wire.Protocol) *problem {
	switch api {
	case wire.Messages:
		return bad("The request body is not valid JSON")
	case wire.Gemini:
		return bad("Invalid JSON payload received. Unexpected token.")
	case wire.Chat, wire.Responses:
	}
	return bad("We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The API expects a JSON payload, but what was sent was not valid JSON.)")
}

// known finds the model, or says that there is none of that name.
func (v *Vendor) known(a *ask) (model, *problem) {
	m, ok := v.model(a.model)
	if ok || v.opts.Lenient {
		return m, nil
	}
	return m, &problem{why: WhyModel, words: "no model " + a.model}
}

// openAIFlaw words a flaw as OpenAI does, or as the vendors built like DeepSeek do.
func (v *Vendor) openAIFlaw(f *flaw) *problem {
	path := bracketed(f.path)
	named := path
	if f.name != "" {
		named = bracketed(append(f.path[:len(f.path):len(f.path)], f.name))
	}
	switch f.kind {
	case unknownField:
		return bad("Unknown parameter: '"+named+"'.").at(named, "unknown_parameter")
	case missingField:
		return bad("Missing required parameter: '"+named+"'.").at(named, "missing_required_parameter")
	case wrongType:
		return bad("Invalid type for '"+path+"': expected "+f.want+", but got "+f.got+" instead.").at(path, "invalid_type")
	case tooShort:
		return bad("Invalid '"+path+"': empty array. Expected an array with minimum length 1, but got an empty array instead.").at(path, "empty_array")
	case wrongWord:
	}
	if v.house.easy {
		return bad("Failed to deserialize the JSON body into the target type: " + path + ": unknown variant `" + f.got + "`, expected one of " + f.want)
	}
	return bad("Invalid value: '"+f.got+"'. Supported values are: "+f.want+".").at(path, "invalid_value")
}

// longName is OpenAI's word against a tool's name.
func longName(param, name string, most int) *problem {
	if len(name) > most {
		return bad("Invalid '"+param+"': string too long. Expected a string with maximum length "+itoa(most)+", but got a string with length "+itoa(len(name))+" instead.").at(param, "string_above_max_length")
	}
	if name == "" {
		return bad("Invalid '"+param+"': empty string. Expected a string with minimum length 1, but got an empty string instead.").at(param, "empty_string")
	}
	if !plainName(name, "_-") {
		return bad("Invalid '"+param+"': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.").at(param, "invalid_value")
	}
	return nil
}

// plainName tells a name of letters, digits and the extra signs.
func plainName(name, extra string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(extra, r) {
			return false
		}
	}
	return name != ""
}

// joined is the text of a value that is a string or a list of parts.
func joined(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	all := ""
	for _, p := range arr(v) {
		all += str(obj(p)["text"])
	}
	return all
}

package standin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// door is what a request asks for, by its path, method and key.
type door struct {
	api    wire.Protocol
	op     Op
	model  string // Gemini's path names it
	verb   string // of a Gemini path
	id     string // of a stored response
	method string // the only one that the path takes
	key    string // who asks
}

// enter reads the path. The problem is the vendor's answer to one that it doesn't have.
func (v *Vendor) enter(r *http.Request) (door, *problem) {
	d := v.find(r)
	switch {
	case d.op == OpNone:
		return d, noPath(r)
	case d.op == OpCreate && d.api == wire.Responses && r.Method == http.MethodGet && r.Header.Get("Upgrade") != "":
		return d, &problem{status: http.StatusUpgradeRequired, why: WhyBad, words: "WebSocket connections are not served here"}
	case d.method == http.MethodGet && d.op == OpStored && r.Method == http.MethodDelete:
		return d, nil
	case r.Method != d.method:
		return d, &problem{status: http.StatusMethodNotAllowed, why: WhyBad, code: "method_not_supported", words: fmt.Sprintf("Not allowed to %s on %s. (HINT: Perhaps you meant to use a different HTTP method?)", r.Method, r.URL.Path)}
	}
	return d, nil
}

func noPath(r *http.Request) *problem {
	return &problem{status: http.StatusNotFound, why: WhyBad, kind: "", words: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)}
}

// find looks the path up among the APIs that the vendor speaks.
func (v *Vendor) find(r *http.Request) door {
	if d := v.findMessages(r); d.op != OpNone {
		return d
	}
	if d := v.findGemini(r); d.op != OpNone {
		return d
	}
	if d := v.findOpenAI(r); d.op != OpNone {
		return d
	}
	return door{api: v.tongue(r)}
}

func (v *Vendor) findMessages(r *http.Request) door {
	if !v.speaks(wire.Messages) {
		return door{}
	}
	d := door{api: wire.Messages, method: http.MethodPost}
	switch r.URL.Path {
	case "/v1/messages":
		d.op = OpCreate
	case "/v1/messages/count_tokens":
		d.op = OpCount
	}
	return d
}

// geminiVerbs are the verbs of a model's path.
var geminiVerbs = map[string]Op{
	"generateContent": OpCreate, "streamGenerateContent": OpCreate, "countTokens": OpCount,
	"embedContent": OpEmbed, "batchEmbedContents": OpEmbed,
}

func (v *Vendor) findGemini(r *http.Request) door {
	if !v.speaks(wire.Gemini) {
		return door{}
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/v1beta/")
	if !ok {
		if path, ok = strings.CutPrefix(r.URL.Path, "/v1/"); !ok || v.tongue(r) != wire.Gemini {
			return door{}
		}
	}
	name, ok := strings.CutPrefix(path, "models/")
	switch colon := strings.LastIndexByte(name, ':'); {
	case path == "models":
		return door{api: wire.Gemini, op: OpModels, method: http.MethodGet}
	case !ok || name == "":
		return door{}
	case colon >= 0:
		verb := name[colon+1:]
		return door{api: wire.Gemini, op: geminiVerbs[verb], model: name[:colon], verb: verb, method: http.MethodPost}
	}
	return door{api: wire.Gemini, op: OpModel, model: name, method: http.MethodGet}
}

func (v *Vendor) findOpenAI(r *http.Request) door {
	path, ok := strings.CutPrefix(r.URL.Path, v.opts.Root+"/")
	if !ok {
		return door{}
	}
	if id, ok := strings.CutPrefix(path, "models/"); ok {
		return door{api: v.tongue(r), op: OpModel, model: id, method: http.MethodGet}
	}
	if path == "models" {
		return door{api: v.tongue(r), op: OpModels, method: http.MethodGet}
	}
	if v.speaks(wire.Chat) {
		switch path {
		case "chat/completions":
			return door{api: wire.Chat, op: OpCreate, method: http.MethodPost}
		case "embeddings":
			return door{api: wire.Chat, op: OpEmbed, method: http.MethodPost}
		}
	}
	if v.speaks(wire.Responses) {
		return findResponses(path)
	}
	return door{}
}

func findResponses(path string) door {
	d := door{api: wire.Responses, method: http.MethodPost}
	id, under := strings.CutPrefix(path, "responses/")
	switch {
	case path == "responses":
		d.op = OpCreate
	case path == "responses/input_tokens":
		d.op = OpCount
	case path == "responses/compact":
		d.op = OpCompact
	case under:
		d.op, d.id, d.method = OpStored, id, http.MethodGet
	}
	return d
}

// tongue is the API whose shape an ambiguous path is answered in: as the headers
// tell, else the vendor's first.
func (v *Vendor) tongue(r *http.Request) wire.Protocol {
	likely := wire.Chat
	switch {
	case r.Header.Get("x-goog-api-key") != "" || r.URL.Query().Has("key"):
		likely = wire.Gemini
	case r.Header.Get("anthropic-version") != "" || r.Header.Get("x-api-key") != "":
		likely = wire.Messages
	}
	if v.speaks(likely) {
		return likely
	}
	if likely == wire.Chat && v.speaks(wire.Responses) {
		return wire.Responses
	}
	if len(v.house.apis) == 0 {
		return wire.Chat
	}
	return v.house.apis[0]
}

// credential is one key that a request carried.
type credential struct{ form, value string }

// credentials lists every key of a request.
func credentials(r *http.Request) []credential {
	var all []credential
	for _, form := range []string{"x-api-key", "x-goog-api-key", "api-key"} {
		if value := r.Header.Get(form); value != "" {
			all = append(all, credential{form, value})
		}
	}
	if value := r.Header.Get("Authorization"); value != "" {
		token, ok := strings.CutPrefix(value, "Bearer ")
		if !ok {
			token = value
		}
		all = append(all, credential{"bearer", token})
	}
	if value := r.URL.Query().Get("key"); value != "" {
		all = append(all, credential{"query", value})
	}
	return all
}

// forms are the places where an API takes a key.
func (v *Vendor) forms(api wire.Protocol) []string {
	forms := []string{"bearer"}
	switch api {
	case wire.Messages:
		forms = []string{"x-api-key", "bearer"}
	case wire.Gemini:
		forms = []string{"x-goog-api-key"}
	case wire.Chat, wire.Responses:
	}
	if v.house.apiKey {
		forms = append(forms, "api-key")
	}
	if v.opts.Lenient {
		forms = append(forms, "x-api-key", "x-goog-api-key", "api-key", "bearer", "query")
	}
	return forms
}

// admit finds the key of a request, and what the vendor says to a wrong one.
func (v *Vendor) admit(r *http.Request, api wire.Protocol) (string, *problem) {
	if v.opts.NoKey {
		return "", nil
	}
	all, forms := credentials(r), v.forms(api)
	i := slices.IndexFunc(all, func(c credential) bool { return slices.Contains(forms, c.form) })
	if i < 0 {
		key := ""
		if len(all) > 0 {
			key = all[0].value
		}
		return key, noKey(api, all)
	}
	key := all[i].value
	if v.opts.Keys != nil && !slices.Contains(v.opts.Keys, key) || isGatewayKey(key) && !v.opts.Lenient {
		return key, &problem{why: WhyAuth, words: "the key is not let in"}
	}
	return key, nil
}

// noKey is what an API says to a request without a key in the right place.
func noKey(api wire.Protocol, all []credential) *problem {
	p := &problem{status: http.StatusUnauthorized, why: WhyAuth}
	switch {
	case api == wire.Messages:
		p.words = "x-api-key header is required"
	case api == wire.Gemini && slices.ContainsFunc(all, func(c credential) bool { return c.form == "bearer" }):
		p.words = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."
	case api == wire.Gemini:
		p.status, p.why = http.StatusForbidden, WhyForbidden
		p.words = "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
	default:
		p.words, p.code = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).", "missing_api_key"
	}
	return p
}

// isGatewayKey tells a key that is meant for the gateway and must not go on to a vendor.
func isGatewayKey(key string) bool { return strings.HasPrefix(key, "magpie") }

// leaks lists what a request brought that should never have left the gateway.
func (v *Vendor) leaks(r *http.Request, body []byte, api wire.Protocol) []string {
	var found []string
	all := credentials(r)
	for i, c := range all {
		switch {
		case v.opts.NoKey:
			found = append(found, "a key for a vendor that wants none, in "+c.form)
		case c.form == "query":
			found = append(found, "a key in the URL")
		case isGatewayKey(c.value):
			found = append(found, "the gateway's key in "+c.form)
		case i > 0:
			found = append(found, "a second key in "+c.form)
		case !slices.Contains(v.forms(api), c.form):
			found = append(found, "a key in "+c.form)
		}
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Magpie-") {
			found = append(found, "the header "+name)
		}
	}
	for _, secret := range v.opts.Secrets {
		if where := carries(r, body, secret); where != "" {
			found = append(found, "a secret in "+where)
		}
	}
	slices.Sort(found)
	return found
}

// carries tells where a request has the word, "" for nowhere.
func carries(r *http.Request, body []byte, word string) string {
	if strings.Contains(r.URL.String(), word) {
		return "the URL"
	}
	for name, values := range r.Header {
		for _, value := range values {
			if strings.Contains(value, word) {
				return "the header " + name
			}
		}
	}
	if strings.Contains(string(body), word) {
		return "the body"
	}
	return ""
}

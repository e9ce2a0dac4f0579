package redact

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// zone says what the strings of a part of a request are.
type zone uint8

const (
	talk   zone = iota // the API's own fields, with what people and models said in some of them
	data               // what belongs to a tool: all of its strings
	schema             // tools and formats: descriptions alone
)

// piece is a string of a body that may be masked.
type piece struct {
	at     part   // in the body, or in the text that it is inside
	text   string // what it says
	inside *piece // the string that holds it as JSON, nil = the body
	field  string // the member of a tool's data that it is the value of
	signed bool   // a vendor's signature is over it
	finds  []find
}

// body is a request that is masked.
type body struct {
	s      string
	pieces []*piece
}

// kept are the fields of the APIs whose strings the vendor needs as they are.
var kept = map[string]bool{
	"model": true, "id": true, "type": true, "role": true, "name": true, "status": true, "format": true, "media_type": true, "mime_type": true, "mimeType": true,
	"detail": true, "effort": true, "phase": true, "object": true, "signature": true, "thoughtSignature": true, "thought_signature": true, "data": true,
	"file_data": true, "b64_json": true, "url": true, "image_url": true, "file_url": true, "fileUri": true, "file_uri": true, "uri": true, "server_url": true,
	"prompt_cache_key": true, "service_tier": true, "stop": true, "stop_sequences": true, "stopSequences": true, "cachedContent": true, "mcp_servers": true,
	"tool_choice": true, "toolConfig": true, "tool_config": true, "include": true, "responseId": true, "callId": true, "authorization": true, "container": true,
	"reasoning_effort": true, "verbosity": true, "truncation": true, "prompt_cache_retention": true, "search_context_size": true, "speed": true, "inference_geo": true,
	"cache_control": true, "context_management": true, "taskType": true, "encoding_format": true, "modalities": true, "safetySettings": true, "safety_settings": true,
}

// told are the fields of tools and formats whose strings are what somebody wrote, and not what a model has to match.
var told = map[string]bool{"description": true, "default": true, "example": true, "examples": true}

// schemas are the fields that describe tools and formats.
var schemas = map[string]bool{
	"tools": true, "functions": true, "response_format": true, "generationConfig": true, "generation_config": true, "output_config": true, "output_format": true,
}

// readBody finds the strings of a request.
func readBody(s string) *body {
	b := &body{s: s}
	w := &walk{s: s}
	b.value(w, spot{key: "", depth: 0})
	return b
}

// spot is where a value stands.
type spot struct {
	key    string
	zone   zone
	depth  int
	inside *piece
	signed bool
	plain  bool // what is called data is a text
}

func (b *body) value(w *walk, p spot) {
	switch w.next() {
	case '{':
		p.plain = p.key == "source" && p.zone == talk && typeOf(*w) == "text"
		w.object(func(key string) {
			if to, ok := p.member(key, w.next()); ok {
				b.value(w, to)
			}
		})
	case '[':
		w.array(func() {
			to := p
			to.depth++
			b.value(w, to)
		})
	case '"':
		b.str(w, p)
	default:
		w.skip()
	}
}

// member says where the value of a member stands, and whether it is looked at.
func (p spot) member(key string, kind byte) (spot, bool) {
	to := spot{key: key, zone: p.zone, depth: p.depth + 1, inside: p.inside, signed: p.signed}
	switch p.zone {
	case data:
		return to, true
	case schema:
		return to, kind != '"' || told[key]
	case talk:
	}
	switch {
	case key == "data" && p.plain:
	case kept[key], strings.HasSuffix(key, "_id") && key != "user_id", strings.HasPrefix(key, "encrypted_"):
		return to, false
	case key == "user_id" && p.key == "metadata":
		return to, false
	case schemas[key], key == "text" && kind == '{' && p.depth == 0:
		to.zone = schema
	case key == "input" && kind == '{', key == "arguments" && kind == '{', key == "args" && kind == '{', key == "response" && kind == '{', key == "variables" && kind == '{', key == "action" && kind == '{':
		to.zone = data
	case key == "thinking", key == "reasoning_details":
		to.signed = true
	}
	return to, true
}

// typeOf is the type that the object says it is.
func typeOf(w walk) (t string) {
	w.object(func(key string) {
		if key == "type" {
			t = w.text()
		}
	})
	return t
}

// str takes a string. What a tool is called with may be JSON in it.
func (b *body) str(w *walk, p spot) {
	at := w.str()
	if w.bad || at.from == at.to || p.zone == schema && !told[p.key] {
		return
	}
	raw := at.of(w.s)
	if binary(raw) {
		return
	}
	one := &piece{at: at, text: decoded(raw), inside: p.inside, signed: p.signed}
	if p.zone == data {
		one.field = p.key
	}
	if p.zone == talk && p.key == "arguments" && p.inside == nil {
		n := len(b.pieces)
		in := &walk{s: one.text}
		b.value(in, spot{key: p.key, zone: data, inside: one})
		if in.next() == 0 && !in.bad && strings.HasPrefix(strings.TrimLeft(one.text, " \t\r\n"), "{") {
			return
		}
		b.pieces = b.pieces[:n] // a text like others
	}
	b.pieces = append(b.pieces, one)
}

// binary says whether a string is the bytes of an image or a file.
func binary(raw string) bool {
	n := strings.Index(raw[:min(len(raw), 128)], ";base64,")
	if n < 0 || !strings.HasPrefix(raw, "data:") || strings.ContainsAny(raw[:n], " \\") {
		return false
	}
	for i := n + len(";base64,"); i < len(raw); i++ {
		if b := raw[i]; !alnum(b) && strings.IndexByte(`+/=-_%\`, b) < 0 {
			return false // a text that begins with an image
		}
	}
	return true
}

// find looks for what is to be masked and says how much there is.
func (b *body) find(c *Cloak) (n int) {
	for _, p := range b.pieces {
		if p.signed {
			continue
		}
		if c.rules.Secrets && p.field != "" && fieldSecret(p.field, p.text) {
			p.finds = append(p.finds, find{part{0, len(p.text)}, Secret})
		}
		p.finds = c.find(p.text, p.finds)
		n += len(p.finds)
	}
	return n
}

// fill notes what was found, and finds it where only its value tells it.
func (b *body) fill(v *Vault) {
	for _, p := range b.pieces {
		p.finds = whole(p.text, merged(p.finds))
		for _, f := range p.finds {
			v.put(f.of(p.text), f.kind)
		}
	}
	plain := v.index(false)
	var signed *found
	for _, p := range b.pieces {
		n, x := len(p.finds), plain
		if p.signed {
			if signed == nil {
				signed = v.index(true)
			}
			x = signed
		}
		if p.finds = x.find(p.text, p.finds); len(p.finds) > n {
			p.finds = whole(p.text, merged(p.finds))
		}
	}
}

// whole leaves out what holds half a letter, which could not come back.
func whole(s string, finds []find) []find {
	return slices.DeleteFunc(finds, func(f find) bool { return strings.ContainsRune(f.of(s), utf8.RuneError) })
}

// write puts the placeholders in.
func (b *body) write(v *Vault) []byte {
	out := make([]byte, 0, len(b.s)+len(b.s)/16)
	at := 0
	var outer ruler // of the string that holds others, gone over once
	var within *piece
	for _, p := range b.pieces {
		if len(p.finds) == 0 {
			continue
		}
		host, shift := b.s, 0
		if p.inside != nil {
			host = p.inside.text
			if within != p.inside {
				within, outer = p.inside, ruler{raw: p.inside.at.of(b.s)}
			}
			shift = p.inside.at.from
		}
		inner := ruler{raw: p.at.of(host)}
		for _, f := range p.finds {
			from := p.at.from + inner.place(f.from)
			to := p.at.from + inner.place(f.to)
			if p.inside != nil {
				from = shift + outer.place(from)
				to = shift + outer.place(to)
			}
			out = append(out, b.s[at:from]...)
			out = append(out, v.put(f.of(p.text), f.kind)...)
			at = to
		}
	}
	return append(out, b.s[at:]...)
}

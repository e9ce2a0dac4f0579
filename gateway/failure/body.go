package failure

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// said is what a reply says, drawn once out of any of the shapes in which
// vendors and relays wrap their errors.
type said struct {
	codes  []string // types, codes, status words and reasons, lower-case, each once
	words  []string // messages
	best   string   // the innermost of them
	depth  int      // how deep best stood
	param  string   // the field that the vendor names
	status int      // an HTTP status within the body, 0 = none
	glm    int      // a four-digit code of Zhipu's, 0 = none
	roots  []*node  // the body's JSON and any JSON found in its strings
	layers []*node  // the objects that describe the error
}

const (
	maxLayers = 12
	maxWords  = 12
	maxWord   = 4 << 10
)

// Where the field of an error object is looked for.
var (
	codeKeys = []string{
		"type", "code", "status", "reason", "error_code", "errcode", "err_code", "error_type",
		"__type", "limit_source", "ret_code", "status_code",
	}
	wordKeys = []string{
		"message", "msg", "error_msg", "error_message", "errmsg", "err_msg", "error_description",
		"detail", "description", "status_msg", "faultstring", "title", "raw",
	}
	layerKeys = []string{
		"error", "errors", "err", "response", "innererror", "inner_error", "metadata", "details",
		"data", "base_resp", "fault", "cause", "detail", "message", "result", "failure",
	}
)

// hear reads the body. vendor tells whether bare numbers may be Zhipu's codes.
func hear(body []byte, vendor string) said {
	var s said
	body = eventData(body)
	root := parse(body)
	if root == nil {
		s.plain(body)
		return s
	}
	s.roots = append(s.roots, root)
	s.layer(root, 0)
	if len(s.words) == 0 {
		s.say(strings.Join(root.leaves(maxWords, nil), " · "), 0)
	}
	s.zhipu(vendor)
	return s
}

// eventData gives the data lines of an SSE event, or the body as it is, without leading blanks.
func eventData(body []byte) []byte {
	b := skipBlank(body)
	if !bytes.HasPrefix(b, []byte("event:")) && !bytes.HasPrefix(b, []byte("data:")) && !bytes.HasPrefix(b, []byte(":")) {
		return b
	}
	var data [][]byte
	for line := range bytes.Lines(b[:min(len(b), readBytes)]) {
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, rest)
		} else if len(line) == 0 && len(data) > 0 {
			break
		}
	}
	return bytes.Join(data, []byte("\n"))
}

// plain takes a body that is no JSON.
func (s *said) plain(body []byte) {
	b := body[:min(len(body), readBytes)]
	if markup(b) {
		s.say(Title(b), 0)
		return
	}
	s.message(strings.ToValidUTF8(string(b), "\ufffd"), 0)
}

// layer reads one JSON value that describes the error.
func (s *said) layer(n *node, depth int) {
	if n == nil || depth > 6 || len(s.layers) >= maxLayers {
		return
	}
	switch n.kind {
	case array:
		for _, k := range n.kids[:min(len(n.kids), 4)] {
			s.layer(k, depth+1)
		}
	case text:
		s.message(n.str, depth)
	case object:
		s.layers = append(s.layers, n)
		s.fields(n, depth)
	case nothing, number, boolean:
	}
}

func (s *said) fields(n *node, depth int) {
	for i, k := range n.kids {
		if i >= len(n.keys) {
			break
		}
		key := strings.ToLower(n.keys[i])
		switch {
		case key == "error" && k.kind == text:
			s.errorString(k.str, depth)
		case key == "param" || key == "loc":
			s.field(k)
		case slices.Contains(codeKeys, key) && (k.kind == text || k.kind == number):
			s.code(k)
		case slices.Contains(wordKeys, key) && k.kind == text:
			s.message(k.str, depth)
		case key == "metadata" && n.child("error") != nil: // the agent's own, beside the error
		case slices.Contains(layerKeys, key) && (k.kind == object || k.kind == array):
			s.layer(k, depth+1)
		case strings.HasSuffix(key, "exception") && k.kind == object: // an AWS event stream
			s.add(key)
			s.layer(k, depth+1)
		}
	}
}

// errorString takes an "error" that is a string: a code or a message.
func (s *said) errorString(v string, depth int) {
	if v != "" && len(v) <= 64 && !strings.ContainsAny(v, " \t\n{") {
		s.add(v)
	}
	s.message(v, depth)
}

func (s *said) code(n *node) {
	v := strings.TrimSpace(n.str)
	if v == "" || len(v) > 200 || strings.EqualFold(v, "error") {
		return
	}
	s.add(v)
	if c, err := strconv.Atoi(v); err == nil && s.status == 0 && c >= 400 && c < 600 {
		s.status = c
	}
	if n.kind == text && glmCode.MatchString(v) {
		s.glm, _ = strconv.Atoi(v)
	}
}

func (s *said) add(code string) {
	code = strings.ToLower(code)
	if _, after, ok := strings.Cut(code, "#"); ok && after != "" { // com.amazonaws…#ThrottlingException
		code = after
	}
	if !slices.Contains(s.codes, code) && len(s.codes) < 4*maxLayers {
		s.codes = append(s.codes, code)
	}
}

// field takes the field that the vendor names: a path, or a list of its steps.
func (s *said) field(n *node) {
	if s.param != "" || n == nil {
		return
	}
	if n.kind == array {
		var steps []string
		for _, k := range n.kids {
			if v := k.value(); v != "" && v != "body" {
				steps = append(steps, v)
			}
		}
		s.param = strings.Join(steps, ".")
		return
	}
	s.param = n.value()
}

// message takes a message, and the JSON that a relay may have put into it.
func (s *said) message(v string, depth int) {
	i := strings.IndexAny(v, "{[")
	if i < 0 || depth >= 6 || len(s.roots) >= maxLayers {
		s.say(v, depth)
		return
	}
	inner := v[i:]
	if strings.HasPrefix(inner, "{'") { // Python's way of printing one
		inner = strings.ReplaceAll(inner, "'", `"`)
	}
	root := parse([]byte(inner))
	if !describes(root) {
		s.say(v, depth)
		return
	}
	s.roots = append(s.roots, root)
	s.say(strings.TrimRight(v[:i], " \t\r\n:-"), depth)
	had := len(s.words)
	s.layer(root, depth+1)
	if len(s.words) == had { // the JSON told nothing: the whole is the message
		s.say(v, depth)
	}
}

// describes reports whether JSON within a message may be an error.
func describes(n *node) bool {
	if n == nil || len(n.kids) == 0 {
		return false
	}
	return n.kind == object || n.kind == array && n.kids[0].kind == object
}

// say keeps a message; of those equally deep the first is the best.
func (s *said) say(v string, depth int) {
	v = strings.Join(strings.Fields(cut(v, maxWord)), " ")
	if v == "" || len(s.words) >= maxWords || slices.Contains(s.words, v) {
		return
	}
	s.words = append(s.words, v)
	if s.best == "" || depth > s.depth {
		s.best, s.depth = v, depth
	}
}

var (
	glmCode    = regexp.MustCompile(`^1[0-3]\d\d$`)
	glmInWords = regexp.MustCompile(`^\[(1[0-3]\d\d)\]`)
)

// zhipu finds Zhipu's code where it doesn't stand as a string.
func (s *said) zhipu(vendor string) {
	if s.glm != 0 || !slices.Contains(zhipu, vendor) {
		return
	}
	for _, c := range s.codes {
		if glmCode.MatchString(c) {
			s.glm, _ = strconv.Atoi(c)
			return
		}
	}
	for _, w := range s.words {
		if m := glmInWords.FindStringSubmatch(w); m != nil {
			s.glm, _ = strconv.Atoi(m[1])
			return
		}
	}
}

// cut shortens v to at most n bytes without halving a rune.
func cut(v string, n int) string {
	if len(v) <= n {
		return v
	}
	return strings.ToValidUTF8(v[:n], "")
}

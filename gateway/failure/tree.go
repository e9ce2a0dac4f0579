package failure

import (
	"bytes"
	"encoding/json"
	"strings"
)

// What of a body is read. An error that says nothing within these says nothing.
const (
	readBytes = 64 << 10
	readNodes = 4000
	readDepth = 24
)

type nodeKind byte

const (
	nothing nodeKind = iota
	object
	array
	text
	number
	boolean
)

// node is one JSON value. A body that is cut or has rubbish behind it still
// gives what could be read.
type node struct {
	kind nodeKind
	str  string // of text and number
	keys []string
	kids []*node
}

// parse reads the JSON value that b begins with, as far as it goes; nil when b
// is none.
func parse(b []byte) *node {
	b = skipBlank(b)
	if len(b) == 0 || !strings.ContainsRune(`{["`, rune(b[0])) {
		return nil
	}
	p := parser{dec: json.NewDecoder(bytes.NewReader(b[:min(len(b), readBytes)]))}
	p.dec.UseNumber()
	return p.root()
}

type parser struct {
	dec   *json.Decoder
	stack []*node
	nodes int
}

func (p *parser) root() *node {
	var top *node
	for {
		tok, err := p.dec.Token()
		if err != nil {
			return top
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			p.stack = p.stack[:len(p.stack)-1]
		} else if n := p.take(tok); n != nil && top == nil {
			top = n
		}
		if p.nodes++; len(p.stack) == 0 || p.nodes > readNodes || len(p.stack) > readDepth {
			return top
		}
	}
}

// take puts a token at its place and returns the new value, nil for a key.
func (p *parser) take(tok json.Token) *node {
	parent := p.top()
	if s, ok := tok.(string); ok && parent != nil && parent.kind == object && len(parent.keys) == len(parent.kids) {
		parent.keys = append(parent.keys, s)
		return nil
	}
	n := value(tok)
	if parent != nil {
		parent.kids = append(parent.kids, n)
	}
	if n.kind == object || n.kind == array {
		p.stack = append(p.stack, n)
	}
	return n
}

func (p *parser) top() *node {
	if len(p.stack) == 0 {
		return nil
	}
	return p.stack[len(p.stack)-1]
}

func value(tok json.Token) *node {
	switch t := tok.(type) {
	case json.Delim:
		if t == '{' {
			return &node{kind: object}
		}
		return &node{kind: array}
	case string:
		return &node{kind: text, str: t}
	case json.Number:
		return &node{kind: number, str: t.String()}
	case bool:
		return &node{kind: boolean}
	}
	return &node{}
}

// child is the value under name, whatever its case; nil when there is none.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for i, k := range n.keys {
		if i < len(n.kids) && strings.EqualFold(k, name) {
			return n.kids[i]
		}
	}
	return nil
}

// find returns the first value under one of the names, the outermost first.
func (n *node) find(depth int, names ...string) *node {
	if n == nil || depth < 0 {
		return nil
	}
	for _, name := range names {
		if v := n.child(name); v != nil && v.kind != nothing {
			return v
		}
	}
	for i, k := range n.kids {
		if n.kind == object && i < len(n.keys) && echoes[strings.ToLower(n.keys[i])] {
			continue
		}
		if v := k.find(depth-1, names...); v != nil {
			return v
		}
	}
	return nil
}

// echoes are keys under which a vendor repeats what was asked: their words are
// the agent's, not the vendor's.
var echoes = map[string]bool{
	"input": true, "ctx": true, "request": true, "body": true, "params": true,
	"messages": true, "tools": true, "content": true, "prompt": true, "url": true,
}

// gather collects the text under every key of that name.
func (n *node) gather(depth int, name string, out []string) []string {
	if n == nil || depth < 0 {
		return out
	}
	for i, k := range n.kids {
		if i < len(n.keys) && strings.EqualFold(n.keys[i], name) && k.str != "" {
			out = append(out, k.str)
		}
		out = k.gather(depth-1, name, out)
	}
	return out
}

// leaves gathers what is written in n, apart from echoes.
func (n *node) leaves(limit int, out []string) []string {
	if n == nil || len(out) >= limit {
		return out
	}
	if n.kind == text {
		return append(out, n.str)
	}
	for i, k := range n.kids {
		if n.kind == object && i < len(n.keys) && echoes[strings.ToLower(n.keys[i])] {
			continue
		}
		out = k.leaves(limit, out)
	}
	return out
}

// value is n as text: a string or a number, else "".
func (n *node) value() string {
	if n == nil {
		return ""
	}
	return n.str
}

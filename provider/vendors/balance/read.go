package balance

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// node is a piece of a sum.
type node interface {
	eval(reply any) (float64, error)
}

type number float64

func (n number) eval(any) (float64, error) { return float64(n), nil }

// field is a path of names and places.
type field []string

func (f field) eval(reply any) (float64, error) {
	v, err := f.find(reply)
	if err != nil {
		return 0, err
	}
	text := ""
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, nil
	}
	return 0, fmt.Errorf("%q holds no number", strings.Join(f, "."))
}

func (f field) find(reply any) (any, error) {
	at := reply
	for _, name := range f {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[name]
			if !ok {
				return nil, f.missing()
			}
			at = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, f.missing()
			}
			at = v[i]
		default:
			return nil, f.missing()
		}
	}
	if at == nil {
		return nil, f.missing()
	}
	return at, nil
}

func (f field) missing() error {
	return fmt.Errorf("nothing stands at %q in the reply", strings.Join(f, "."))
}

// binary is a sum, difference, product or quotient.
type binary struct {
	op   byte
	a, b node
}

func (x binary) eval(reply any) (float64, error) {
	a, err := x.a.eval(reply)
	if err != nil {
		return 0, err
	}
	b, err := x.b.eval(reply)
	if err != nil {
		return 0, err
	}
	switch x.op {
	case '+':
		return a + b, nil
	case '-':
		return a - b, nil
	case '*':
		return a * b, nil
	}
	if b == 0 {
		return 0, errors.New("it divides by nothing")
	}
	return a / b, nil
}

// reader reads a sum from left to right.
type reader struct {
	text string
	at   int
}

// deepest is how many brackets may stand in brackets.
const deepest = 50

func (r *reader) blanks() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
		r.at++
	}
}

// next takes one of the operators if it stands there.
func (r *reader) next(ops string) byte {
	r.blanks()
	if strings.HasPrefix(r.text[r.at:], "−") && strings.Contains(ops, "-") {
		r.at += len("−")
		return '-'
	}
	if r.at < len(r.text) && strings.IndexByte(ops, r.text[r.at]) >= 0 {
		r.at++
		return r.text[r.at-1]
	}
	return 0
}

func (r *reader) sum(depth int) (node, error) {
	return r.chain("+-", depth, r.product)
}

func (r *reader) product(depth int) (node, error) {
	return r.chain("*/", depth, r.atom)
}

func (r *reader) chain(ops string, depth int, part func(int) (node, error)) (node, error) {
	a, err := part(depth)
	for err == nil {
		op := r.next(ops)
		if op == 0 {
			return a, nil
		}
		var b node
		b, err = part(depth)
		a = binary{op, a, b}
	}
	return nil, err
}

func (r *reader) atom(depth int) (node, error) {
	if depth > deepest {
		return nil, errors.New("too many brackets stand in each other")
	}
	switch {
	case r.next("(") != 0:
		n, err := r.sum(depth + 1)
		if err == nil && r.next(")") == 0 {
			err = errors.New("a bracket is not closed")
		}
		return n, err
	case r.next("-") != 0:
		n, err := r.atom(depth + 1)
		return binary{'-', number(0), n}, err
	}
	word := r.word()
	if word == "" {
		if r.at == len(r.text) {
			return nil, errors.New("a field or number is missing at its end")
		}
		return nil, fmt.Errorf("unexpected %q", string([]rune(r.text[r.at:])[:1]))
	}
	if n, err := strconv.ParseFloat(word, 64); err == nil && word[0] >= '0' && word[0] <= '9' {
		return number(n), nil
	}
	path := field(strings.Split(word, "."))
	for _, name := range path {
		if name == "" {
			return nil, fmt.Errorf("%q has an empty name between its dots", word)
		}
	}
	return path, nil
}

// word takes a number or a path.
func (r *reader) word() string {
	r.blanks()
	from := r.at
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		if c != '.' && c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			break
		}
		r.at += size
	}
	return r.text[from:r.at]
}

package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// object and list are JSON as it is read and written here.
type (
	object = map[string]any
	list   = []any
)

// marshal writes a value compactly, with <, > and & as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("standin: a value that JSON can't say: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// parse reads one JSON value, numbers as they are spelled.
func parse(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("something follows the value")
	}
	return v, nil
}

func obj(v any) object { o, _ := v.(object); return o }
func arr(v any) list   { l, _ := v.(list); return l }
func str(v any) string { s, _ := v.(string); return s }
func yes(v any) bool   { b, _ := v.(bool); return b }

// num is a whole number, and whether there is one.
func num(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

func itoa(n int) string { return strconv.Itoa(n) }

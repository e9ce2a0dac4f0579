package wire

import (
	"bytes"
	"encoding/json"
)

// Value is one JSON value as it stands in a body: looked into without being decoded as a
// whole, so that numbers keep their spelling and objects the order of their keys.
type Value []byte

// ReadValue checks that body is one JSON value.
func ReadValue(body []byte) (Value, error) {
	c := cursor{b: body}
	c.space()
	from := c.i
	c.skip()
	to := c.i
	if err := c.finish(); err != nil {
		return nil, err
	}
	return Value(body[from:to]), nil
}

// Kind is '{', '[', '"', 't' and 'f' of a truth, '0' of a number, 'n' of null and of nothing.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 'n'
	}
	switch v[0] {
	case '{', '[', '"', 't', 'f', 'n':
		return v[0]
	}
	return '0'
}

// None says that there is nothing, or null.
func (v Value) None() bool { return v.Kind() == 'n' }

// Text is a string's text, "" of anything else.
func (v Value) Text() string {
	if v.Kind() != '"' || len(v) < 2 {
		return ""
	}
	return unquote(v[1 : len(v)-1])
}

// Int is a number as an integer; ok is false for anything else.
func (v Value) Int() (n int64, ok bool) {
	c := cursor{b: v}
	return c.intValue()
}

// True says that the value is true.
func (v Value) True() bool { return v.Kind() == 't' }

// Number is a number as it is spelled, "" of anything else.
func (v Value) Number() json.Number {
	if v.Kind() != '0' {
		return ""
	}
	return json.Number(v)
}

// Raw is the value's bytes; nil when there is none. They are the body's own.
func (v Value) Raw() json.RawMessage {
	if v.None() {
		return nil
	}
	return json.RawMessage(v[:len(v):len(v)])
}

// Members calls each for every member of an object, in their order; of anything else for none.
func (v Value) Members(each func(key string, v Value)) {
	if v.Kind() != '{' {
		return
	}
	c := cursor{b: v}
	c.object(func(key []byte) {
		from := c.i
		c.skip()
		if c.err != nil {
			return
		}
		name := knownKey(key)
		each(name, Value(c.b[from:c.i]))
	})
}

// Elements calls each for every element of an array, in their order; of anything else for none.
func (v Value) Elements(each func(v Value)) {
	if v.Kind() != '[' {
		return
	}
	c := cursor{b: v}
	c.array(func(int) {
		from := c.i
		c.skip()
		if c.err == nil {
			each(Value(c.b[from:c.i]))
		}
	})
}

// Get is an object's member, nothing when there is none. The last of equal keys counts.
func (v Value) Get(key string) Value {
	var got Value
	if v.Kind() != '{' {
		return nil
	}
	c := cursor{b: v}
	c.object(func(k []byte) {
		if string(k) != key && (bytes.IndexByte(k, '\\') < 0 || unquote(k) != key) {
			return
		}
		from := c.i
		c.skip()
		got = Value(c.b[from:c.i])
	})
	if c.err != nil {
		return nil
	}
	return got
}

// knownKey decodes a key; those that are most of all keys cost no memory.
func knownKey(key []byte) string {
	switch string(key) {
	case "type":
		return "type"
	case "role":
		return "role"
	case "content":
		return "content"
	case "text":
		return "text"
	case "name":
		return "name"
	case "id":
		return "id"
	case "input":
		return "input"
	}
	return unquote(key)
}

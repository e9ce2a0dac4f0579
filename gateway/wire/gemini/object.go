package gemini

import (
	"bytes"
	"strconv"

	"dev.magpie/gateway/wire"
)

// object is JSON that is written piece by piece.
type object struct{ b []byte }

// next goes to the next member or element.
func (o *object) next() {
	if n := len(o.b); n > 0 {
		if c := o.b[n-1]; c != '{' && c != '[' {
			o.b = append(o.b, ',')
		}
	}
}

func (o *object) key(name string) {
	o.next()
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

// open begins a member that is an object or an array; without a name it is an element.
func (o *object) open(name string, bracket byte) {
	if name == "" {
		o.next()
	} else {
		o.key(name)
	}
	o.b = append(o.b, bracket)
}

func (o *object) close(bracket byte) { o.b = append(o.b, bracket) }

func (o *object) text(name, value string) {
	o.key(name)
	o.b = wire.AppendQuoted(o.b, value)
}

func (o *object) textIf(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) number(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// raw writes a value as it is spelled.
func (o *object) raw(name string, value []byte) {
	o.key(name)
	o.b = append(o.b, bytes.TrimSpace(value)...)
}

// any writes a member whose name may need escapes.
func (o *object) any(name string, value []byte) {
	o.next()
	o.b = append(wire.AppendQuoted(o.b, name), ':')
	o.b = append(o.b, bytes.TrimSpace(value)...)
}

func (o *object) texts(name string, values []string) {
	o.open(name, '[')
	for _, v := range values {
		o.next()
		o.b = wire.AppendQuoted(o.b, v)
	}
	o.close(']')
}

package responses

import (
	"encoding/json"
	"strconv"

	"dev.magpie/gateway/wire"
)

// object writes a JSON object, member by member, without a copy.
type object struct {
	b     []byte
	comma bool
}

// newObject begins an object behind what b holds.
func newObject(b []byte) object { return object{b: append(b, '{')} }

func (o *object) key(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) str(name, value string) {
	o.key(name)
	o.b = wire.AppendQuoted(o.b, value)
}

// some is str of what isn't empty.
func (o *object) some(name, value string) {
	if value != "" {
		o.str(name, value)
	}
}

// strOrNull is str, with null for nothing.
func (o *object) strOrNull(name, value string) {
	if value == "" {
		o.lit(name, "null")
		return
	}
	o.str(name, value)
}

func (o *object) int(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

func (o *object) bool(name string, yes bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, yes)
}

// truth is bool of what was said.
func (o *object) truth(name string, yes *bool) {
	if yes != nil {
		o.bool(name, *yes)
	}
}

// lit writes a value that is JSON already.
func (o *object) lit(name, value string) {
	o.key(name)
	o.b = append(o.b, value...)
}

// raw writes a value as it came; none is left out.
func (o *object) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		o.key(name)
		o.b = append(o.b, value...)
	}
}

// orNull is raw, with null for nothing.
func (o *object) orNull(name string, value json.RawMessage) {
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	o.raw(name, value)
}

func (o *object) end() []byte {
	o.b = append(o.b, '}')
	return o.b
}

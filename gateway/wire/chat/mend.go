package chat

import (
	"bytes"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// Mender gives the calls of a relayed stream the index that some vendors leave out and
// that clients insist on. The zero value is ready; it follows one stream.
type Mender struct {
	ids []string // of the calls so far, in their order
}

// Mend returns the event as it goes on: the same bytes unless an index was missing.
func (m *Mender) Mend(event []byte) []byte {
	if !bytes.Contains(event, []byte(`"tool_calls"`)) {
		return event
	}
	_, data := sse.Parse(event)
	v, err := wire.ReadValue(data)
	if err != nil {
		return event
	}
	var missing []hole
	v.Get("choices").Elements(func(choice wire.Value) {
		choice.Get("delta").Get("tool_calls").Elements(func(call wire.Value) {
			index := m.index(call)
			if call.Kind() == '{' && call.Get("index").Kind() != '0' {
				missing = append(missing, hole{call, index})
			}
		})
	})
	if len(missing) == 0 {
		return event
	}
	return fill(data, missing)
}

// hole is a call without its index.
type hole struct {
	call  wire.Value
	index int
}

// index is a call's place: that of its id, one more for a new id, the last without any.
func (m *Mender) index(call wire.Value) int {
	if n, ok := call.Get("index").Int(); ok {
		for int64(len(m.ids)) <= n && n < 1000 {
			m.ids = append(m.ids, "")
		}
		return int(n)
	}
	id := call.Get("id").Text()
	if id == "" && len(m.ids) > 0 && call.Get("function").Get("name").Text() == "" {
		return len(m.ids) - 1
	}
	for i := range m.ids {
		if id != "" && m.ids[i] == id {
			return i
		}
	}
	m.ids = append(m.ids, id)
	return len(m.ids) - 1
}

// fill writes the event anew with an index in each hole. The holes are pieces of data.
func fill(data []byte, missing []hole) []byte {
	o := out{b: append(make([]byte, 0, len(data)+16*len(missing)+8), "data: "...)}
	for _, h := range missing {
		at := bytes.Index(data, h.call)
		if at < 0 {
			continue
		}
		o.b = append(o.b, data[:at]...)
		data = data[at+len(h.call):]
		o.open('{')
		o.num("index", int64(h.index))
		h.call.Members(func(key string, v wire.Value) {
			if key != "index" {
				o.raw(key, v)
			}
		})
		o.close('}')
	}
	return append(append(o.b, data...), "\n\n"...)
}

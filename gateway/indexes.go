package gateway

import (
	"bytes"

	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/sse"
)

// indexed gives the calls of a relayed Chat stream the index that some vendors leave out.
// b is of whole events; it comes back as it is where no call lacks one.
func indexed(m *chat.Mender, b []byte) []byte {
	if !bytes.Contains(b, []byte(`"tool_calls"`)) {
		return b
	}
	var out []byte
	same := 0 // so many bytes of b stand in the result as they are
	for from := 0; from < len(b); {
		end := sse.End(b, from, from)
		if end < 0 {
			end = len(b)
		}
		ev := b[from:end]
		if mended := m.Mend(ev); &mended[0] != &ev[0] {
			out = append(append(out, b[same:from]...), mended...)
			same = end
		}
		from = end
	}
	if same == 0 {
		return b
	}
	return append(out, b[same:]...)
}

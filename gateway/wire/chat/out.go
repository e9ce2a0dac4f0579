package chat

import (
	"bytes"
	"strconv"

	"dev.magpie/gateway/wire"
)

// out is JSON that is written piece by piece.
type out struct{ b []byte }

func (w *out) open(c byte)  { w.b = append(w.b, c) }
func (w *out) close(c byte) { w.b = append(w.b, c) }

// item goes to the next element of an array.
func (w *out) item() {
	if c := w.b[len(w.b)-1]; c != '[' && c != '{' {
		w.b = append(w.b, ',')
	}
}

func (w *out) key(name string) {
	w.item()
	w.b = append(wire.AppendQuoted(w.b, name), ':')
}

func (w *out) str(name, value string) {
	w.key(name)
	w.b = wire.AppendQuoted(w.b, value)
}

func (w *out) strIf(name, value string) {
	if value != "" {
		w.str(name, value)
	}
}

func (w *out) num(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *out) truth(name string, yes bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, yes)
}

// raw writes a value as it is spelled.
func (w *out) raw(name string, value []byte) {
	w.key(name)
	w.b = append(w.b, bytes.TrimSpace(value)...)
}

// list writes elements that are joined already; none is nothing.
func (w *out) list(name string, elements []byte) {
	if len(elements) == 0 {
		return
	}
	w.key(name)
	w.open('[')
	w.b = append(w.b, elements...)
	w.close(']')
}

// Package gemini reads and writes Gemini's generateContent: for agents that speak it, and
// for vendors that do. The model and whether the reply is streamed stand in the URL, not in
// the body: who calls sets them in the ask, and reads them from it.
package gemini

import (
	"io"

	"dev.magpie/gateway/wire"
)

// Codec is generateContent. The zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// ReadAsk reads a request's body. A model or stream flag in it is taken too.
func (Codec) ReadAsk(body []byte) (*wire.Ask, error) { return readAsk(body) }

// WriteAsk writes a request for a target, without model and stream: they go into the URL.
func (Codec) WriteAsk(a *wire.Ask, t wire.Target) (body []byte, lost []wire.Loss, err error) {
	return writeAsk(a, &t)
}

// NewReader makes a reader of a reply; asked is the request that was written.
func (Codec) NewReader(asked *wire.Ask) wire.Reader { return newReader(asked) }

// NewWriter makes a writer of a reply to a client whose request was asked.
func (Codec) NewWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) wire.Writer {
	return newWriter(w, asked, o)
}

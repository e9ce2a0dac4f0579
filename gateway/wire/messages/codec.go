// Package messages reads and writes the Messages API: for agents that speak it, and for
// vendors that do.
package messages

import (
	"io"

	"dev.magpie/gateway/wire"
)

// Codec is the Messages API. The zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// ReadAsk reads a request's body.
func (Codec) ReadAsk(body []byte) (*wire.Ask, error) { return readAsk(body) }

// WriteAsk writes a request for a target, always streamed.
func (Codec) WriteAsk(a *wire.Ask, t wire.Target) (body []byte, lost []wire.Loss, err error) {
	return writeAsk(a, t)
}

// NewReader makes a reader of a vendor's reply to the request that was written from asked.
func (Codec) NewReader(asked *wire.Ask) wire.Reader { return newReader(asked) }

// NewWriter makes a writer of replies for a client whose request was asked.
func (Codec) NewWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) wire.Writer {
	return newWriter(w, asked, o)
}

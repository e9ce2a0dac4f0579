// Package chat reads and writes Chat Completions, OpenAI's first API and the one that most
// vendors speak. What vendors differ in comes as a wire.Dialect; what they get wrong in
// their streams is read as it is meant.
package chat

import (
	"io"

	"dev.magpie/gateway/wire"
)

// Codec is Chat Completions. The zero value is ready.
type Codec struct{}

var _ wire.Codec = Codec{}

// ReadAsk reads a request's body.
func (Codec) ReadAsk(body []byte) (*wire.Ask, error) { return readAsk(body) }

// WriteAsk writes a request for a target, streamed and with usage.
func (Codec) WriteAsk(a *wire.Ask, t wire.Target) (body []byte, lost []wire.Loss, err error) {
	return writeAsk(a, &t)
}

// NewReader makes a reader of a reply; asked is the request that was written.
func (Codec) NewReader(asked *wire.Ask) wire.Reader { return newReader(asked) }

// NewWriter makes a writer of a reply to a client whose request was asked.
func (Codec) NewWriter(w io.Writer, asked *wire.Ask, o wire.WriterOptions) wire.Writer {
	return newWriter(w, asked, o)
}

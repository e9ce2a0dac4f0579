package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// atFirst is how much room a body gets before any of it has come. One that is announced as
// larger gets more as it comes: whoever announces much and sends nothing takes up little.
const atFirst = 4 << 20

// ReadBody reads all of r, at most limit bytes; length is what the sender announced, -1 for
// unknown. More is ErrTooLarge.
func ReadBody(r io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, ErrTooLarge
	}
	if length >= 0 {
		return readAnnounced(r, length)
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return buf.Bytes(), fmt.Errorf("read the body: %w", err)
	case n > limit:
		return nil, ErrTooLarge
	}
	return buf.Bytes(), nil
}

// readAnnounced reads a body of a length that is known.
func readAnnounced(r io.Reader, length int64) ([]byte, error) {
	b := make([]byte, min(length, atFirst))
	for n := 0; int64(n) < length; {
		if n == len(b) {
			b = append(make([]byte, 0, min(length, 4*int64(n))), b...)
			b = b[:cap(b)]
		}
		k, err := io.ReadFull(r, b[n:])
		if n += k; errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return b[:n], fmt.Errorf("read the body: %w", err)
		}
	}
	return b, nil
}

// ReadSome reads at most limit bytes of r and leaves the rest.
func ReadSome(r io.Reader, limit int64) []byte {
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil && len(b) == 0 {
		return nil
	}
	return b
}

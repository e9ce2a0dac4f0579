package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ReadBody reads all of r, at most limit bytes; length is what the sender announced, -1 for
// unknown. More is ErrTooLarge.
func ReadBody(r io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, ErrTooLarge
	}
	if length >= 0 {
		b := make([]byte, length)
		n, err := io.ReadFull(r, b)
		if err == nil || errors.Is(err, io.EOF) && length == 0 {
			return b, nil
		}
		return b[:n], fmt.Errorf("read the body: %w", err)
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

// ReadSome reads at most limit bytes of r and leaves the rest.
func ReadSome(r io.Reader, limit int64) []byte {
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil && len(b) == 0 {
		return nil
	}
	return b
}

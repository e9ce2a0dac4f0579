package upstream

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Errors of a packed body.
var (
	ErrTooLarge = errors.New("the body is larger than the limit")
	ErrEncoding = errors.New("the body's content-encoding is not known")
	ErrBroken   = errors.New("the body can't be unpacked")
)

// maxLayers bounds how often a body may be packed.
const maxLayers = 2

// Decode unpacks body: what contentEncoding names (zstd, gzip, br, deflate, up to two
// layers), or what its first bytes show when it names nothing. limit bounds the result.
func Decode(body []byte, contentEncoding string, limit int64) ([]byte, error) {
	layers := split(contentEncoding)
	if len(layers) > maxLayers {
		return nil, fmt.Errorf("%w: more than %d layers", ErrEncoding, maxLayers)
	}
	for i := len(layers) - 1; i >= 0; i-- {
		out, err := unpack(body, layers[i], limit)
		if err != nil {
			return nil, err
		}
		body = out
	}
	if len(layers) > 0 {
		return body, nil
	}
	if name := shown(body); name != "" {
		return unpack(body, name, limit)
	}
	return body, nil
}

// Unpacked reads a body as it comes that contentEncoding says is packed. ok is false, and r itself
// comes back, where that is nothing known.
func Unpacked(r io.Reader, contentEncoding string) (_ io.Reader, ok bool) {
	layers := split(contentEncoding)
	if len(layers) > maxLayers {
		return r, false
	}
	plain := r
	for i := len(layers) - 1; i >= 0; i-- {
		if plain = opened(plain, layers[i]); plain == nil {
			return r, false
		}
	}
	return plain, true
}

// opened unpacks one layer, nil for one that is not known. What is broken fails when it is read.
func opened(r io.Reader, name string) io.Reader {
	switch name {
	case "zstd":
		return &lateReader{open: func() (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(8<<20))
		}}
	case "gzip", "x-gzip":
		return &lateReader{open: func() (io.Reader, error) { return gzip.NewReader(r) }}
	case "br":
		return brotli.NewReader(r)
	case "deflate":
		return &lateReader{open: func() (io.Reader, error) {
			b := bufio.NewReader(r)
			if head, err := b.Peek(2); err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
				return zlib.NewReader(b)
			}
			return flate.NewReader(b), nil
		}}
	}
	return nil
}

// lateReader opens what it reads at the first read: that reads of the vendor already.
type lateReader struct {
	open func() (io.Reader, error)
	r    io.Reader
	err  error
}

func (l *lateReader) Read(p []byte) (int, error) {
	if l.r == nil && l.err == nil {
		l.r, l.err = l.open()
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.r.Read(p)
}

func split(header string) []string {
	var out []string
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.ToLower(strings.TrimSpace(part)); part != "" && part != "identity" {
			out = append(out, part)
		}
	}
	return out
}

// shown tells a packed body by its first bytes; no JSON text begins so.
func shown(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		return "gzip"
	}
	return ""
}

func unpack(body []byte, name string, limit int64) ([]byte, error) {
	src := bytes.NewReader(body)
	var r io.Reader
	var err error
	switch name {
	case "zstd":
		var d *zstd.Decoder
		d, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 8<<20))))
		if err == nil {
			defer d.Close()
			r = d
		}
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(src)
	case "br":
		r = brotli.NewReader(src)
	case "deflate":
		r = inflate(body)
	default:
		return nil, fmt.Errorf("%w: %.40q", ErrEncoding, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w as %s: %w", ErrBroken, name, err)
	}
	var out bytes.Buffer
	out.Grow(min(len(body)*4, 1<<20))
	n, err := io.Copy(&out, io.LimitReader(r, limit+1))
	switch {
	case n > limit:
		return nil, ErrTooLarge
	case err != nil:
		return nil, fmt.Errorf("%w as %s: %w", ErrBroken, name, err)
	}
	return out.Bytes(), nil
}

// inflate reads deflate both ways in which it is sent: with zlib's head, and bare.
func inflate(body []byte) io.Reader {
	if r, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		return r
	}
	return flate.NewReader(bytes.NewReader(body))
}

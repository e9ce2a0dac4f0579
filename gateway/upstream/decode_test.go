package upstream

import (
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

func pack(t testing.TB, name string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "zstd":
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	case "gzip":
		w = gzip.NewWriter(&out)
	case "br":
		w = brotli.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "bare deflate":
		f, err := flate.NewWriter(&out, flate.BestSpeed)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const text = `{"model":"gpt-x","input":"hi"}`

func TestPackedBodiesAreUnpacked(t *testing.T) {
	plain := []byte(text)
	for _, c := range []struct {
		name, header string
		body         []byte
	}{
		{"no encoding", "", plain},
		{"identity", "identity", plain},
		{"zstd", "zstd", pack(t, "zstd", plain)},
		{"gzip", "gzip", pack(t, "gzip", plain)},
		{"upper case", "GZIP", pack(t, "gzip", plain)},
		{"br", "br", pack(t, "br", plain)},
		{"deflate with zlib's head", "deflate", pack(t, "deflate", plain)},
		{"deflate bare", "deflate", pack(t, "bare deflate", plain)},
		{"two layers", "gzip, zstd", pack(t, "zstd", pack(t, "gzip", plain))},
		{"zstd without the header", "", pack(t, "zstd", plain)},
		{"gzip without the header", "", pack(t, "gzip", plain)},
	} {
		got, err := Decode(c.body, c.header, 1<<20)
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestPackedBodiesThatCantBeTaken(t *testing.T) {
	bomb := bytes.Repeat([]byte("x"), 1<<20)
	for _, c := range []struct {
		name, header string
		body         []byte
		want         error
	}{
		{"an unknown encoding", "snappy", []byte(text), ErrEncoding},
		{"three layers", "gzip, gzip, gzip", nil, ErrEncoding},
		{"JSON called zstd", "zstd", []byte(text), ErrBroken},
		{"JSON called gzip", "gzip", []byte(text), ErrBroken},
		{"cut zstd", "zstd", pack(t, "zstd", []byte(strings.Repeat(text, 100)))[:20], ErrBroken},
		{"a zstd bomb", "zstd", pack(t, "zstd", bomb), ErrTooLarge},
		{"a gzip bomb", "gzip", pack(t, "gzip", bomb), ErrTooLarge},
		{"a br bomb", "br", pack(t, "br", bomb), ErrTooLarge},
	} {
		if got, err := Decode(c.body, c.header, 1<<16); !errors.Is(err, c.want) {
			t.Errorf("%s: %d bytes, %v, want %v", c.name, len(got), err, c.want)
		}
	}
}

func TestReadBodyKeepsItsBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		body   string
		length int64
		want   error
	}{
		{"as announced", "abc", 3, nil},
		{"empty as announced", "", 0, nil},
		{"not announced", "abc", -1, nil},
		{"announced too long", "abc", 11, ErrTooLarge},
		{"too long unannounced", "abcdefghijk", -1, ErrTooLarge},
		{"shorter than announced", "abc", 5, io.ErrUnexpectedEOF},
	} {
		got, err := ReadBody(strings.NewReader(c.body), c.length, 10)
		if !errors.Is(err, c.want) || c.want == nil && string(got) != c.body {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// stingy says that there is much and gives a part of it.
type stingy struct{ left int }

func (s *stingy) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	n := min(s.left, len(p), 1000)
	s.left -= n
	return n, nil
}

func TestABodyThatIsAnnouncedTakesUpWhatCame(t *testing.T) {
	const announced = 60 << 20
	for _, sent := range []int{0, 1, 4 << 20, 5<<20 + 7} {
		got, err := ReadBody(&stingy{sent}, announced, 64<<20)
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != sent || cap(got) > max(atFirst, 4*sent) {
			t.Errorf("%d sent: %d bytes in %d, %v", sent, len(got), cap(got), err)
		}
	}
	got, err := ReadBody(&stingy{announced}, announced, 64<<20)
	if err != nil || len(got) != announced {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(text), "zstd")
	f.Add(pack(f, "gzip", []byte(text)), "gzip")
	f.Fuzz(func(t *testing.T, body []byte, enc string) {
		if out, err := Decode(body, enc, 1<<16); err == nil && len(out) > 1<<16 && len(out) != len(body) {
			t.Fatal("more than the limit")
		}
	})
}

package upstream_test

import (
	"bytes"
	"compress/flate"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"dev.magpie/gateway/upstream"
)

// flusher packs what is written, and gives what it has of it.
type flusher interface {
	io.WriteCloser
	Flush() error
}

func TestAPackedReplyIsReadAsItComes(t *testing.T) {
	for name, pack := range map[string]func(w io.Writer) flusher{
		"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"x-gzip":  func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"br":      func(w io.Writer) flusher { return brotli.NewWriter(w) },
		"zstd":    func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z },
		"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
		" DEFLATE, identity": func(w io.Writer) flusher {
			z, _ := flate.NewWriter(w, flate.BestSpeed)
			return z
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			more := make(chan struct{})
			go func() {
				z := pack(w)
				_, _ = io.WriteString(z, "data: one\n\n")
				_ = z.Flush()
				<-more
				_, _ = io.WriteString(z, "data: two\n\n")
				_ = z.Close()
				_ = w.Close()
			}()
			plain, ok := upstream.Unpacked(r, name)
			if !ok {
				t.Fatal("it is not known")
			}
			first := make([]byte, len("data: one\n\n"))
			if _, err := io.ReadFull(plain, first); err != nil || string(first) != "data: one\n\n" {
				t.Fatalf("%q %v", first, err)
			}
			close(more)
			if rest, err := io.ReadAll(plain); err != nil || string(rest) != "data: two\n\n" {
				t.Errorf("%q %v", rest, err)
			}
		})
	}
}

func TestWhatIsNotKnownStaysPacked(t *testing.T) {
	r := strings.NewReader("x")
	for _, enc := range []string{"rot13", "gzip, gzip, gzip", "gzip, rot13"} {
		if got, ok := upstream.Unpacked(r, enc); ok || got != io.Reader(r) {
			t.Errorf("%s is read as %T", enc, got)
		}
	}
}

func TestABrokenPackFails(t *testing.T) {
	for _, enc := range []string{"gzip", "zstd", "br", "deflate"} {
		plain, ok := upstream.Unpacked(bytes.NewReader([]byte("no such thing, whatever it is")), enc)
		if !ok {
			t.Fatal(enc)
		}
		if b, err := io.ReadAll(plain); err == nil {
			t.Errorf("%s read %q", enc, b)
		}
	}
}

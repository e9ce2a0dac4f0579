package gateway_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"dev.magpie/gateway"
)

// Frames of HTTP/2, as far as a vendor needs them that leaves its connections.
const (
	h2Data, h2Headers, h2Reset, h2Settings, h2Away = 0, 1, 3, 4, 7

	h2Ack, h2EndStream, h2EndHeaders = 1, 1, 4
)

func h2Frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[5:], stream)
	return append(b, payload...)
}

// recycler is a vendor over HTTP/2 that answers its first requests by leave, and those after them well.
type recycler struct {
	first int32
	leave func(c net.Conn, stream uint32)

	asked, conns atomic.Int32
}

func (v *recycler) serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		v.conns.Add(1)
		go v.talk(c)
	}
}

func (v *recycler) talk(c net.Conn) {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	_, _ = c.Write(h2Frame(h2Settings, 0, 0, nil))
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(c, payload); err != nil {
			return
		}
		stream := binary.BigEndian.Uint32(head[5:])
		switch {
		case head[3] == h2Settings && head[4]&h2Ack == 0:
			_, _ = c.Write(h2Frame(h2Settings, h2Ack, 0, nil))
		case head[3] == h2Data && head[4]&h2EndStream != 0:
			if v.asked.Add(1) <= v.first {
				v.leave(c, stream)
				continue
			}
			json := append([]byte{0x88, 0x0f, 0x10, 16}, "application/json"...) // :status 200, content-type
			_, _ = c.Write(append(h2Frame(h2Headers, h2EndHeaders, stream, json), h2Frame(h2Data, h2EndStream, stream, []byte(ok("chat", "hello")))...))
		}
	}
}

func TestARequestThatAnHTTP2VendorDidNotTakeIsSentAnew(t *testing.T) {
	away := func(last uint32) func(c net.Conn, stream uint32) {
		return func(c net.Conn, _ uint32) {
			_, _ = c.Write(h2Frame(h2Away, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), 0)))
		}
	}
	refuse := func(c net.Conn, stream uint32) {
		_, _ = c.Write(h2Frame(h2Reset, 0, stream, []byte{0, 0, 0, 7})) // REFUSED_STREAM
	}
	for name, c := range map[string]struct {
		first int32
		leave func(c net.Conn, stream uint32)
		asked int32
		fails string
	}{
		"gone away":                 {1, away(0), 2, ""},
		"gone away twice":           {2, away(0), 3, ""},
		"refused":                   {1, refuse, 2, ""},
		"refused again and again":   {3, refuse, 4, "network "},
		"gone away after taking it": {1, func(c net.Conn, stream uint32) { away(stream)(c, stream); _ = c.Close() }, 2, "network "},
	} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			v := &recycler{first: c.first, leave: c.leave}
			go v.serve(ln)
			toml := "[providers.a]\nchat = \"http://vendor.test/v1\"\nkeys = [{ name = \"k1\", value = \"" + keyOne + "\" }, { name = \"k2\", value = \"" + keyTwo + "\" }]\n"
			r := newRig(t, toml, nil, func(d *gateway.Deps) {
				d.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, network, ln.Addr().String())
				}
			})
			if err := gateway.SpeakHTTP2(r.g); err != nil {
				t.Fatal(err)
			}
			got := r.ask("/v1/chat/completions", chatBody("a/m"))
			if got.status != http.StatusOK || got.body != ok("chat", "hello") || v.asked.Load() != c.asked || failKinds(r.last()) != c.fails {
				t.Errorf("%d %s, asked %d times, fails %q", got.status, got.body, v.asked.Load(), failKinds(r.last()))
			}
		})
	}
}

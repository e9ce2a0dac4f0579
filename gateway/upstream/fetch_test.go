package upstream_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"dev.magpie/gateway/upstream"
)

// fetcher reaches a server on this machine under a name that is looked up as a public
// address, and counts the connections that it makes.
func fetcher(t *testing.T, h http.Handler, addr string) (f *upstream.Fetcher, dialled *[]string) {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	dialled = &[]string{}
	return &upstream.Fetcher{
		Dial: func(ctx context.Context, network, to string) (net.Conn, error) {
			*dialled = append(*dialled, to)
			return (&net.Dialer{}).DialContext(ctx, network, srv.Listener.Addr().String())
		},
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host == "inside.example.com" {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr(addr)}, nil
		},
		TLS: &tls.Config{RootCAs: roots},
	}, dialled
}

func TestAPublicURLIsFetched(t *testing.T) {
	var header http.Header
	f, dialled := fetcher(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "https://www.example.com/a.png", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "image/PNG; x=y")
		_, _ = w.Write([]byte("png"))
	}), "93.184.216.34")
	for _, u := range []string{"https://example.com/a.png", "https://example.com/moved"} {
		mime, data, err := f.Get(t.Context(), u)
		if err != nil || mime != "image/png" || string(data) != "png" {
			t.Errorf("%s: %q %q %v", u, mime, data, err)
		}
	}
	for _, name := range []string{"Authorization", "Cookie", "Referer"} {
		if header.Get(name) != "" {
			t.Errorf("%s: %s", name, header.Get(name))
		}
	}
	for _, d := range *dialled {
		if d != "93.184.216.34:443" {
			t.Errorf("dialled %s", d)
		}
	}
}

func TestWhatIsInsideIsNotFetched(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/in":
			http.Redirect(w, r, "https://169.254.169.254/latest/meta-data", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/large":
			_, _ = w.Write(make([]byte, upstream.FetchBytes+1))
		case "/gone":
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte("secret"))
		}
	})
	for _, host := range []string{
		"127.0.0.1", "[::1]", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.100.100.100", "0.0.0.0", "[::ffff:127.0.0.1]", "[fe80::1]", "[fd00::1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "224.0.0.1", "198.18.0.1", "255.255.255.255", "inside.example.com",
	} {
		f, dialled := fetcher(t, ok, "93.184.216.34")
		if _, data, err := f.Get(t.Context(), "https://"+host+"/x"); err == nil || len(*dialled) > 0 {
			t.Errorf("%s: %q, dialled %v", host, data, *dialled)
		}
	}
	for u, want := range map[string]string{
		"http://example.com/x": "only https", "https://u:p@example.com/x": "password", "file:///etc/passwd": "can't be read", "https://example.com/in": "public",
		"https://example.com/plain": "only https", "https://example.com/loop": "too often", "https://example.com/large": "larger", "https://example.com/gone": "404",
	} {
		f, _ := fetcher(t, ok, "93.184.216.34")
		if _, data, err := f.Get(t.Context(), u); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "example.com/") {
			t.Errorf("%s: %d bytes, %v", u, len(data), err)
		}
	}
	f, dialled := fetcher(t, ok, "127.0.0.1")
	if _, _, err := f.Get(t.Context(), "https://example.com/x"); err == nil || len(*dialled) > 0 {
		t.Errorf("a name of this machine: %v, dialled %v", err, *dialled)
	}
}

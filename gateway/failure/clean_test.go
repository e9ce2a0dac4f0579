package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"dev.magpie/gateway/failure"
	"dev.magpie/gateway/trace"
)

// TestErrorsHoldNoSecrets: neither the address's query and userinfo, nor keys.
func TestErrorsHoldNoSecrets(t *testing.T) {
	refused := errors.New("dial tcp 203.0.113.1:443: connect: connection refused")
	_, badURL := url.Parse(fmt.Sprintf("http://user:%[1]s@host:port/x?key=%[1]s", "CANARY"))
	for _, err := range []error{
		&url.Error{Op: "Post", URL: "https://user:CANARY@api.example.com/v1/models/x:generateContent?key=CANARY&alt=sse#CANARY", Err: refused},
		fmt.Errorf("ask: %w", &url.Error{Op: "Post", URL: "https://api.example.com/?key=CANARY", Err: refused}),
		fmt.Errorf(`proxyconnect tcp: dial "http://CANARY:CANARY@proxy.local:3128": %w`, refused),
		errors.New("socks5://u:p@ss/CANARY@127.0.0.1:1080 refused"),
		badURL,
		fmt.Errorf("header Authorization: Bearer CANARYCANARY: %w", refused),
		errors.New("key sk-ant-api03-CANARYCANARY was refused"),
		errors.New("API key not valid: AIzaCANARYCANARYCANARY"),
		errors.New("token ghp_CANARYCANARY and eyJhbGciOi.CANARY.CANARY"),
		errors.New("api_key=CANARYCANARY password: CANARYX"),
	} {
		if s := failure.CleanErr(err); strings.Contains(s, "CANARY") || s == "" {
			t.Errorf("%q", s)
		}
	}
	s := failure.CleanErr(&url.Error{Op: "Post", URL: "https://u:p@api.example.com/v1/x?key=CANARY", Err: refused})
	if want := `Post "https://api.example.com/v1/x": dial tcp 203.0.113.1:443: connect: connection refused`; s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if s := failure.CleanErr(nil); s != "" {
		t.Errorf("nil says %q", s)
	}
}

// TestWordsAreFitToBeShown: the vendor's message, short, without markup, control
// characters or keys.
func TestWordsAreFitToBeShown(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"folded", message("  a\n\tb  c "), "a b c"},
		{"no markup", message("<b>bold</b> <script>alert(1)</script> text"), "bold text"},
		{"no escapes", message("\x1b[31mred\x07"), "[31mred"},
		{"masked", message("Incorrect API key provided: sk-proj-abcdefghijkl."), "Incorrect API key provided: sk-p…."},
		{"a string", `{"error":"down for repairs"}`, "down for repairs"},
		{"a detail", `{"detail":"Bad Request"}`, "Bad Request"},
		{"a JSON string", `"just words"`, "just words"},
		{"plain", "just words", "just words"},
		{"the innermost", `{"message":"outer","error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}`, "inner"},
		{"msg", `{"code":7,"msg":"seven"}`, "seven"},
		{"problem", `{"title":"Busy","detail":"come back","status":503}`, "Busy"},
		{"leaves, when no field is known", `{"x":{"y":"why"},"input":"asked"}`, "why"},
		{"empty", `{}`, ""},
	} {
		if v := failure.Classify(reply(500, c.body)); v.Words != c.want {
			t.Errorf("%s: %q, want %q", c.name, v.Words, c.want)
		}
	}
	long := failure.Classify(reply(500, message(strings.Repeat("語", 1000)))).Words
	if n := utf8.RuneCountInString(long); n != 300 || !strings.HasSuffix(long, "…") {
		t.Errorf("%d runes", n)
	}
}

// TestErrorsOfTheTransportTellNothingOfThePersonsNetwork: an agent's text goes far.
func TestErrorsOfTheTransportTellNothingOfThePersonsNetwork(t *testing.T) {
	at := func(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }
	for want, err := range map[string]error{
		"dial tcp: lookup api.example.com: no such host": &net.OpError{
			Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.example.com", Server: "10.0.0.1:53", IsNotFound: true},
		},
		"dial tcp: lookup api.example.com: i/o timeout": &net.OpError{
			Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "read udp 10.0.0.5:40417->10.0.0.1:53: i/o timeout", Name: "api.example.com", Server: "10.0.0.1:53", IsTimeout: true},
		},
		"dial tcp: lookup api.example.com: network is unreachable":                errors.New("dial tcp: lookup api.example.com on [fe80::1%eth0]:53: dial udp [fe80::1%eth0]:53: connect: network is unreachable"),
		"dial tcp: lookup api.example.com: connection refused":                    errors.New("dial tcp: lookup api.example.com on 127.0.0.53:53: read udp 127.0.0.1:5353->127.0.0.53:53: read: connection refused"),
		"dial tcp: lookup api.example.com: server misbehaving":                    errors.New("dial tcp: lookup api.example.com on 10.0.0.1:53: server misbehaving"),
		"socks connect tcp p.example:1080->x:443: dial tcp: lookup p.example: no": errors.New("socks connect tcp p.example:1080->x:443: dial tcp: lookup p.example on 10.0.0.1:53: no"),
		"read tcp 203.0.113.1:443: connection reset by peer": &net.OpError{
			Op: "read", Net: "tcp", Source: at("10.0.0.5:40417"), Addr: at("203.0.113.1:443"), Err: errors.New("connection reset by peer"),
		},
		"dial tcp 203.0.113.1:443: connect: connection refused": errors.New("dial tcp 203.0.113.1:443: connect: connection refused"),
	} {
		if got := failure.CleanErr(err); got != want {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
	}
}

// TestTransportErrors: which kind each is, and what the agent is told.
func TestTransportErrors(t *testing.T) {
	for _, c := range []struct {
		phase  failure.Phase
		err    error
		kind   trace.Kind
		status int
		passes bool
	}{
		{failure.PhaseDial, errors.New("dial tcp 203.0.113.1:443: connect: connection refused"), trace.Network, 502, true},
		{failure.PhaseDial, errors.New("dial tcp: lookup api.example.com: no such host"), trace.Network, 502, true},
		{failure.PhaseDial, errors.New("tls: handshake failure"), trace.Network, 502, true},
		{failure.PhaseDial, errors.New("proxyconnect tcp: dial tcp 127.0.0.1:9: connection refused"), trace.Proxy, 502, true},
		{failure.PhaseDial, &url.Error{Op: "Post", URL: "https://x", Err: errors.New("Proxy Authentication Required")}, trace.Proxy, 502, true},
		{failure.PhaseDial, errors.New("socks connect tcp 127.0.0.1:1080->x:443: unknown error host unreachable"), trace.Proxy, 502, true},
		{failure.PhaseHeader, fmt.Errorf("Post: %w", context.Canceled), trace.Cancelled, 499, false},
		{failure.PhaseStream, context.Canceled, trace.Cancelled, 499, false},
		{failure.PhaseHeader, fmt.Errorf("Post: %w", context.DeadlineExceeded), trace.Network, 504, true},
		{failure.PhaseHeader, slowError{errors.New("timeout awaiting response headers")}, trace.Network, 504, true},
		{failure.PhaseHeader, errors.New("EOF"), trace.Network, 502, true},
		{failure.PhaseHeader, errors.New("read tcp 10.0.0.1:1->10.0.0.2:443: read: connection reset by peer"), trace.Network, 502, true},
	} {
		v := failure.Classify(failure.Seen{Phase: c.phase, Err: c.err, At: noon})
		if v.Kind != c.kind || v.Status != c.status || v.Passes != c.passes {
			t.Errorf("%s %v: row %s says %s, %d, passes %v", c.phase, c.err, v.Row, v.Kind, v.Status, v.Passes)
		}
		_, rests := failure.RestFor(v, failure.Past{}, noon.Add(1), noon)
		if want := c.kind == trace.Network; rests != want {
			t.Errorf("%v: rests %v", c.err, rests)
		}
	}
}

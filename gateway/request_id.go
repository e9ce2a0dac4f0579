package gateway

import (
	"cmp"
	"net/http"

	"dev.magpie/gateway/wire"
)

// Anthropic's errors name the request that they are about, in the body and in a header: people
// are asked for that name when they complain. It is the vendor's, so that its own support finds
// the request; a vendor that named none leaves ours, by which the trace finds it.
const (
	requestHeader = "Request-Id"
	requestField  = "request_id"
)

// ownRequest is our name for a request.
func ownRequest(id string) string {
	if id == "" {
		return ""
	}
	return "req_magpie_" + id
}

// namedBy is by which name a vendor's reply goes, "" for none.
func (g *Gateway) namedBy(h http.Header, body []byte) string {
	id := cmp.Or(h.Get(requestHeader), wire.Value(body).Get(requestField).Text(), h.Get("X-"+requestHeader))
	return headerValue(g.masker.Mask(id))
}

// nameRequest puts the request's name into the headers of an error for an agent of Messages,
// and returns it: the one that stands there, else the vendor's, else ours; "" where the
// request has none.
func nameRequest(h http.Header, vendors string) string {
	id := cmp.Or(h.Get(requestHeader), vendors, ownRequest(h.Get("X-Magpie-Request")))
	if id != "" {
		h[requestHeader] = []string{id}
	}
	return id
}

// naming returns the body of a vendor's error with the request's name where it has none.
func naming(body []byte, id string) []byte {
	if id == "" || wire.Value(body).Get(requestField).Text() != "" {
		return body
	}
	return wire.Put(body, requestField, wire.Quote(id))
}

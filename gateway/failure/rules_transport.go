package failure

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"dev.magpie/gateway/trace"
)

// What the transport said instead of an answer.
var (
	proxyWords = phrases("the proxy's", "proxyconnect", "socks connect", "proxy authentication required")
	dialWords  = phrases("the dialer's", "proxyconnect", "socks connect")

	agentLeft = &Fact{"the agent left (context canceled)", func(r *reply) bool { return errors.Is(r.Err, context.Canceled) }}
	viaProxy  = &Fact{"the dialer's words are a proxy's (proxyconnect, socks connect)", func(r *reply) bool {
		return r.Err != nil && proxyWords.in(strings.ToLower(r.Err.Error()))
	}}
	ownWords  = phrases("this machine's", "too many open files", "no buffer space available", "cannot allocate memory")
	ownLimits = &Fact{"an error of the connection that tells of this machine's limits (open files, buffers, memory)", func(r *reply) bool {
		return r.Err != nil && r.Phase == PhaseDial && ownWords.in(strings.ToLower(r.Err.Error()))
	}}
	proxyText = &Fact{"a 502 of the dialer's words", func(r *reply) bool {
		return r.Status == http.StatusBadGateway && dialWords.in(r.text)
	}}
	timedOut  = &Fact{"the time ran out", (*reply).timedOut}
	mid       = &Fact{"a stream that broke", func(r *reply) bool { return r.Err != nil && r.Phase == PhaseStream && len(r.Body) == 0 }}
	transport = &Fact{"an error of the connection", func(r *reply) bool { return r.Err != nil && len(r.Body) == 0 }}
)

// timedOut reports whether the transport gave up waiting.
func (r *reply) timedOut() bool {
	if r.Err == nil {
		return false
	}
	var t interface{ Timeout() bool }
	return errors.Is(r.Err, context.DeadlineExceeded) || errors.As(r.Err, &t) && t.Timeout()
}

var transportRules = []Rule{
	{
		Name: "agent-left", When: When{Is: []*Fact{agentLeft}}, Then: trace.Cancelled,
		Says: "the agent hung up",
	},
	{
		Name: "proxy", When: When{Is: []*Fact{viaProxy}}, Then: trace.Proxy,
		Says: "the way there is broken, not the vendor",
	},
	{
		Name: "proxy-text", When: When{Is: []*Fact{proxyText}}, Then: trace.Proxy,
		Says: "the same, as another gateway tells it",
	},
	{
		Name: "stream-broke", When: When{Is: []*Fact{mid}}, Then: trace.Network, Scope: whole,
		Says: "the reply was cut off",
	},
	{
		Name: "own-limits", When: When{Is: []*Fact{ownLimits}}, Then: trace.Network,
		Says: "this machine has no room for another connection; the vendor was not asked",
	},
	{
		Name: "network-timeout", When: When{Is: []*Fact{transport, timedOut}}, Then: trace.Network, Scope: whole,
		Says: "no connection or no answer in time",
	},
	{
		Name: "network", When: When{Is: []*Fact{transport}}, Then: trace.Network, Scope: whole,
		Says: "refused, not found, TLS, reset, closed",
	},
}

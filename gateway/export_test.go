package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/wire/sse"
)

// Line is one line of the HTTP surface.
type Line struct{ Method, Path, Serves string }

// Surface lists what agents ask and what people and their tools do, from the tables that
// the router is made of.
func Surface() (agents, people []Line, bases, geminiBases []string) {
	for _, d := range doors {
		agents = append(agents, Line{http.MethodPost, prefixes[0] + d.path, d.serves})
	}
	for _, v := range geminiVerbs {
		agents = append(agents, Line{http.MethodPost, geminiPrefixes[0] + "/models/{model}:" + v.verb, v.serves})
	}
	g := &Gateway{}
	for _, rt := range g.lists() {
		agents = append(agents, Line{rt.Method, prefixes[0] + rt.Path, rt.Serves})
	}
	for _, rt := range g.control() {
		people = append(people, Line{rt.Method, rt.Path, rt.Serves})
	}
	return agents, people, prefixes, geminiPrefixes
}

// VerbLine is one verb of the control API.
type VerbLine struct{ Verb, Class string }

// Verbs lists the verbs that are carried out.
func Verbs() []VerbLine {
	out := make([]VerbLine, 0, len(verbs))
	for v, what := range verbs {
		out = append(out, VerbLine{string(v), string(what.class)})
	}
	slices.SortFunc(out, func(a, b VerbLine) int { return strings.Compare(a.Verb, b.Verb) })
	return out
}

// Constants lists the bounds and times of the request path, with what each is about.
func Constants() [][2]string {
	size := func(n int) string {
		if n >= 1<<20 {
			return strconv.Itoa(n>>20) + " MiB"
		}
		return strconv.Itoa(n>>10) + " KiB"
	}
	return [][2]string{
		{"a stream that says nothing is held for", holdFor.String()},
		{"one that thinks, or whose vendor checks it for safety, for", holdThinking.String()},
		{"held at the most", size(holdBytes)},
		{"the agent is kept alive every", keepaliveEvery.String()},
		{"a vendor's silence ends a reply after (`stall_timeout`)", stallAfter.String()},
		{"a vendor's headers are waited for while another candidate is left (`header_timeout`)", headersNext.String()},
		{"on the last candidate", headersLast.String()},
		{"a vendor's owner to verify it is told from memory for", verifyHold.String()},
		{"an error's body is read up to", size(errorBytes)},
		{"a web page, for its title", size(pageBytes)},
		{"a reply is peeked at, before it is one", size(peekBytes)},
		{"a whole reply is kept to be read for a refusal up to", size(wholeBytes)},
		{"one event of a stream up to", size(sse.MaxEvent)},
		{"a preview's token holds for", tokenFor.String()},
		{"a shutdown's Retry-After", drainRetry.String()},
		{"a long poll waits at the most", (waitMost * time.Second).String()},
		{"the trace sends a comment every", tracePulse.String()},
	}
}

// HeadersOn lists the agent's headers that always go on, those that go on of a program that
// is itself, and those of a vendor that the agent gets.
func HeadersOn() (fixed []string, own map[string][]string, back []string) {
	own = map[string][]string{}
	for agent, o := range ownHeaders {
		own[agent] = append(own[agent], o.names...)
		for _, p := range o.prefixes {
			own[agent] = append(own[agent], p+"*")
		}
	}
	return fixedHeaders, own, passedOn
}

// SpeakHTTP2 has a gateway ask its vendors over HTTP/2 without TLS.
func SpeakHTTP2(g *Gateway) error {
	t, err := g.pool.For("")
	if err == nil {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	return err
}

//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"dev.magpie/gateway/standin"
)

// gate is a vendor whose streams stop half way until it is opened.
type gate struct {
	vendor *standin.Vendor
	opened chan struct{}
	once   sync.Once
}

func (g *gate) openOnce() { g.once.Do(func() { close(g.opened) }) }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := httptest.NewRecorder()
	g.vendor.ServeHTTP(rec, r)
	for name, values := range rec.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(rec.Code)
	events := bytes.SplitAfter(rec.Body.Bytes(), []byte("\n\n"))
	if !strings.Contains(rec.Header().Get("Content-Type"), "event-stream") {
		_, _ = w.Write(rec.Body.Bytes())
		return
	}
	for i, e := range events {
		if i == len(events)/2 {
			select {
			case <-g.opened:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = w.Write(e)
		_ = http.NewResponseController(w).Flush()
	}
}

// doorOf is how an API is asked for a word.
func doorOf(api, model string, stream bool) (path, body string) {
	streamed := ""
	if stream {
		streamed = `,"stream":true`
	}
	const user = `[{"role":"user","content":"hello"}]`
	switch api {
	case "messages":
		return "/v1/messages", `{"model":"` + model + `","max_tokens":50,"messages":` + user + streamed + `}`
	case "responses":
		return "/v1/responses", `{"model":"` + model + `","input":"hello"` + streamed + `}`
	case "gemini":
		verb := ":generateContent"
		if stream {
			verb = ":streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/" + model + verb, `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`
	}
	return "/v1/chat/completions", `{"model":"` + model + `","messages":` + user + streamed + `}`
}

func request(ts *testscript.TestScript, api, model string, stream bool, headers []string) *http.Response {
	path, body := doorOf(api, model, stream)
	req, err := http.NewRequest(http.MethodPost, "http://"+ts.Getenv("ADDR")+path, strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		switch {
		case name == "Host":
			req.Host = value
		case name == "path":
			req.URL.Path, req.URL.RawQuery, _ = strings.Cut(value, "?")
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	ts.Check(err)
	return resp
}

// askCmd prints status and body.
func askCmd(ts *testscript.TestScript, _ bool, args []string) {
	api := "chat"
	headers := args[1:]
	if len(headers) > 0 && !strings.Contains(headers[0], ":") {
		api, headers = headers[0], headers[1:]
	}
	resp := request(ts, api, args[0], false, headers)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if bytes.Contains(body, []byte(canary)) {
		ts.Fatalf("the reply holds the canary")
	}
	_, _ = fmt.Fprintf(ts.Stdout(), "%d\n%s\n", resp.StatusCode, body)
}

func getCmd(ts *testscript.TestScript, _ bool, args []string) {
	host := ts.Getenv("ADDR")
	req, err := http.NewRequest(http.MethodGet, "http://"+host+args[0], http.NoBody)
	ts.Check(err)
	for _, h := range args[1:] {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	_, _ = fmt.Fprintf(ts.Stdout(), "%d\n%s\n", resp.StatusCode, body)
}

func lanCmd(ts *testscript.TestScript, _ bool, args []string) {
	addr := ts.Getenv("ADDR")
	_, port, err := net.SplitHostPort(addr)
	ts.Check(err)
	ts.Setenv("ADDR", net.JoinHostPort(lanAddress(), port))
	defer ts.Setenv("ADDR", addr)
	askCmd(ts, false, args)
}

// reading is a stream whose beginning was read.
type reading struct {
	body  io.ReadCloser
	lines *bufio.Reader
	first string
}

func beginCmd(ts *testscript.TestScript, _ bool, args []string) {
	resp := request(ts, "messages", args[1], true, nil)
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("status %d", resp.StatusCode)
	}
	r := &reading{body: resp.Body, lines: bufio.NewReader(resp.Body)}
	for !strings.Contains(r.first, "content_block_delta") {
		line, err := r.lines.ReadString('\n')
		r.first += line
		if err != nil {
			ts.Fatalf("%v behind %s", err, r.first)
		}
	}
	worldOf(ts).streams[args[0]] = r
}

func (r *reading) rest() (string, error) {
	defer r.body.Close()
	rest, err := io.ReadAll(r.lines)
	return r.first + string(rest), err
}

func wholeCmd(ts *testscript.TestScript, _ bool, args []string) {
	all, err := worldOf(ts).streams[args[0]].rest()
	if err != nil || !strings.Contains(all, "event: message_stop") || strings.Contains(all, "event: error") {
		ts.Fatalf("the stream is not whole: %v\n%s", err, all)
	}
}

func brokenCmd(ts *testscript.TestScript, _ bool, args []string) {
	all, err := worldOf(ts).streams[args[0]].rest()
	if strings.Contains(all, "event: message_stop") {
		ts.Fatalf("it reads as a whole reply\n%s", all)
	}
	if err == nil && !strings.Contains(all, "event: error") {
		ts.Fatalf("it ends as if it were over\n%s", all)
	}
}

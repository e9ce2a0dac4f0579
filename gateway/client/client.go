// Package client is the gateway from outside its process: what the screen and the
// commands need of it, over HTTP. Watch gives the same view and feed as the bus does
// inside, and goes on over a lost connection.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"dev.magpie/gateway/control"
	"dev.magpie/gateway/trace"
)

// ErrNoGateway says that nobody listens at the address.
var ErrNoGateway = errors.New("no gateway is running")

const (
	callTime  = 30 * time.Second // of a call that its caller did not bound
	bodyLimit = 64 << 20
)

// Client talks to one gateway. Make it with New, end it with Close.
type Client struct {
	base  string
	token func() (string, error)
	http  *http.Client

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu sync.Mutex     // no reader begins once ctx has ended
	wg sync.WaitGroup // one reader for each Watch
}

// New returns a client of the gateway at an address (host:port, or a URL). token gives
// the control token, which only changes need; hc may be nil.
func New(addr string, token func() (string, error), hc *http.Client) *Client {
	if hc == nil {
		hc = &http.Client{Transport: transport(), CheckRedirect: noRedirect}
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Client{base: Base(addr), token: token, http: hc, ctx: ctx, cancel: cancel}
}

// transport asks no proxy: the gateway is here, or where the person said.
func transport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		IdleConnTimeout:     30 * time.Second,
		ForceAttemptHTTP2:   true,
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Base is the URL at which an address is asked: an unspecified host is this machine.
func Base(addr string) string {
	addr = strings.TrimRight(addr, "/")
	if strings.Contains(addr, "://") {
		return addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Close ends all feeds and waits for their readers.
func (c *Client) Close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.wg.Wait()
	c.http.CloseIdleConnections()
}

// Status returns how everything stands.
func (c *Client) Status(ctx context.Context) (trace.Status, error) {
	var s trace.Status
	err := c.get(ctx, "/v1/magpie/status", nil, &s)
	return s, err
}

// Routes are routes changed after a number, with the number to ask with next.
type Routes struct {
	Seq    uint64        `json:"seq"`
	Totals trace.Totals  `json:"totals"`
	Routes []trace.Route `json:"routes"`
}

// Routes returns the routes changed after a number, and waits for one when there is none.
func (c *Client) Routes(ctx context.Context, after uint64, wait time.Duration) (Routes, error) {
	var r Routes
	err := c.get(ctx, "/v1/magpie/routes", waiting(after, wait), &r)
	return r, err
}

// Filter narrows a listing of the history. The zero value lists the newest.
type Filter struct {
	Agent   string
	Model   string
	Account string
	Session string
	Status  string // "ok", "failed", a status or a class like "5xx"
	Since   time.Time
	Limit   int
	Before  int64 // the id of a route: only older ones
}

func (f Filter) query() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("agent", f.Agent)
	set("model", f.Model)
	set("account", f.Account)
	set("session", f.Session)
	set("status", f.Status)
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	if f.Before > 0 {
		q.Set("before", strconv.FormatInt(f.Before, 10))
	}
	return q
}

// Requests lists the history, the newest first.
func (c *Client) Requests(ctx context.Context, f Filter) ([]trace.Route, error) {
	var r struct {
		Requests []trace.Route `json:"requests"`
	}
	if err := c.get(ctx, "/v1/magpie/requests", f.query(), &r); err != nil {
		return nil, err
	}
	return r.Requests, nil
}

// Quotas lists accounts with what is left of them, of some providers or of all. Vendors are asked
// where that was long ago, and waited for so long.
func (c *Client) Quotas(ctx context.Context, providers []string, wait time.Duration) ([]trace.Account, error) {
	q := waiting(0, wait)
	for _, p := range providers {
		q.Add("provider", p)
	}
	var r struct {
		Accounts []trace.Account `json:"accounts"`
	}
	err := c.get(ctx, "/v1/magpie/quotas", q, &r)
	return r.Accounts, err
}

// Readings lists what was read of accounts, the newest first. Of the filter Account, Since and Limit count.
func (c *Client) Readings(ctx context.Context, f Filter) ([]trace.Reading, error) {
	var r struct {
		Readings []trace.Reading `json:"readings"`
	}
	err := c.get(ctx, "/v1/magpie/quotas/history", f.query(), &r)
	return r.Readings, err
}

// Route returns a conversation's newest route; nil when it has none in memory.
func (c *Client) Route(ctx context.Context, session string) (*trace.Route, error) {
	return c.RouteAfter(ctx, session, 0, 0)
}

// RouteAfter is Route for one that changed after a number, and waits for it.
func (c *Client) RouteAfter(ctx context.Context, session string, after uint64, wait time.Duration) (*trace.Route, error) {
	q := waiting(after, wait)
	q.Set("session", session)
	var r struct {
		Route *trace.Route `json:"route"`
	}
	if err := c.get(ctx, "/v1/magpie/route", q, &r); err != nil {
		return nil, err
	}
	return r.Route, nil
}

// Question is a request that is only thought of.
type Question struct {
	Model string          `json:"model"`
	Agent string          `json:"agent,omitempty"`
	API   string          `json:"api,omitempty"` // chat, responses, messages, gemini
	Body  json.RawMessage `json:"body,omitempty"`
}

// Explain returns the plan for a request, of which nothing is sent: a route's fields
// from asked to left.
func (c *Client) Explain(ctx context.Context, q Question) (trace.Route, error) {
	var r trace.Route
	err := c.post(ctx, "/v1/magpie/explain", q, &r)
	return r, err
}

// Plan is Explain of a model that nobody in particular asks for.
func (c *Client) Plan(ctx context.Context, model string) (trace.Route, error) {
	return c.Explain(ctx, Question{Model: model})
}

// wish is a command on its way.
type wish struct {
	control.Command
	Token control.Token `json:"token,omitempty"`
}

// Preview says what a command would do.
func (c *Client) Preview(ctx context.Context, cmd control.Command) (control.Effect, error) {
	var e control.Effect
	err := c.post(ctx, "/v1/magpie/preview", wish{Command: cmd}, &e)
	return e, err
}

// Do carries a command out. One that spends or ends something needs the token of a
// fresh Preview.
func (c *Client) Do(ctx context.Context, cmd control.Command, token control.Token) (control.Done, error) {
	var d struct {
		Done  string          `json:"done"`
		State []trace.Account `json:"state"`
		Undo  bool            `json:"undo"`
		At    time.Time       `json:"at"`
	}
	if err := c.post(ctx, "/v1/magpie/do", wish{cmd, token}, &d); err != nil {
		return control.Done{}, err
	}
	return control.Done{Words: d.Done, Accounts: d.State, Undo: d.Undo, At: d.At}, nil
}

func waiting(after uint64, wait time.Duration) url.Values {
	q := url.Values{}
	if after > 0 {
		q.Set("after", strconv.FormatUint(after, 10))
	}
	if secs := int(wait / time.Second); secs > 0 {
		q.Set("wait", strconv.Itoa(secs))
	}
	return q
}

// get asks and decodes the answer.
func (c *Client) get(ctx context.Context, path string, q url.Values, to any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", c.base, err)
	}
	extra, _ := strconv.Atoi(q.Get("wait"))
	return c.call(req, callTime+time.Duration(extra)*time.Second, to)
}

// post sends with the control token.
func (c *Client) post(ctx context.Context, path string, body, to any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("ask %s: %w", c.base, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != nil {
		token, err := c.token()
		if err != nil {
			return fmt.Errorf("read the control token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return c.call(req, callTime, to)
}

func (c *Client) call(req *http.Request, most time.Duration, to any) error {
	ctx, cancel := context.WithTimeout(req.Context(), most)
	defer cancel()
	resp, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		return c.unreached(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit))
	if err != nil {
		return c.unreached(err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return refusal(resp.StatusCode, body)
	}
	if err := json.Unmarshal(body, to); err != nil {
		return fmt.Errorf("the answer of %s is not a magpie's: %w", c.base, err)
	}
	return nil
}

// unreached says that no answer came, without the URL, which the address tells already.
func (c *Client) unreached(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w at %s", ErrNoGateway, c.base)
	}
	return fmt.Errorf("ask %s: %w", c.base, err)
}

// refusal reads what the gateway says against a call.
func refusal(status int, body []byte) error {
	var r struct {
		Error control.Error `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err == nil && r.Error.Message != "" {
		r.Error.Status = status
		return &r.Error
	}
	text := strings.TrimSpace(string(body[:min(len(body), 200)]))
	return &control.Error{Status: status, Code: "unknown", Message: strings.TrimSpace(fmt.Sprintf("the gateway answered %d %s: %s", status, http.StatusText(status), text))}
}

var _ trace.Source = (*Client)(nil)

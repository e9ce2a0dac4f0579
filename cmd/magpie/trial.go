package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"dev.magpie/gateway/client"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/trace/words"
	"dev.magpie/gateway/wire"
)

func (p *process) providerTestCommand(o *globals) *cobra.Command {
	var (
		ask   bool
		model string
	)
	c := listing(o, &cobra.Command{
		Use:   "test <id>",
		Short: "See whether a vendor takes each of its keys",
		Long: "Has the running gateway ask the vendor for its models with each key, which costs nothing. With --ask each key gets a tiny request " +
			"instead, as an agent would send it: it shows in the trace. Exits with 1 when a key is not taken.",
		Args:              arguments(1, 1, idWords),
		ValidArgsFunction: p.completeProvider(o),
		RunE: p.asking(o, func(ctx context.Context, c *client.Client, args []string) error {
			one, err := provided(ctx, c, args[0])
			if err != nil {
				return err
			}
			var tests []trace.KeyTest
			if ask {
				t := &trial{c: c, base: client.Base(p.address(o.listen)), provider: &one, model: model, http: &http.Client{Timeout: trialTime}}
				tests, err = t.all(ctx)
			} else {
				tests, err = c.Test(ctx, one.ID)
			}
			if err != nil {
				return err
			}
			return p.tests(one.ID, tests, o.json)
		}),
	})
	c.Flags().BoolVar(&ask, "ask", false, "send a tiny request with each key")
	c.Flags().StringVar(&model, "model", "", "with --ask: the `model` to ask; else the first that is known")
	return c
}

func (p *process) tests(id string, tests []trace.KeyTest, asJSON bool) error {
	if len(tests) == 0 {
		return failed("%s has no key to test", id)
	}
	bad := 0
	t := newTable(column{head: "KEY", gives: true}, column{head: "TAKEN"}, column{head: "STATUS", right: true}, column{head: "TOOK", right: true}, column{head: "SAID", gives: true})
	for _, one := range tests {
		taken, said := "yes", ""
		if one.Models > 0 {
			said = count(one.Models, "model")
		}
		if !one.OK {
			bad++
			taken, said = "no", words.Kind(one.Fail)
			t.note(one.Key + ": " + one.Error)
		}
		status := ""
		if one.Status > 0 {
			status = fmt.Sprint(one.Status)
		}
		t.row(one.Key, taken, status, words.Took(time.Duration(one.MS)*time.Millisecond), said)
	}
	var err error
	if asJSON {
		err = p.json(map[string]any{"provider": id, "tests": tests}, nil)
	} else {
		err = p.table(t)
	}
	if err == nil && bad > 0 {
		err = &exitError{code: exitFailed}
	}
	return err
}

// trialTime is how long a tiny request may take.
const trialTime = 2 * time.Minute

// trial sends a tiny request through the gateway with each key of a provider.
type trial struct {
	c        *client.Client
	http     *http.Client
	base     string
	provider *trace.Provider
	model    string
}

func (t *trial) all(ctx context.Context) ([]trace.KeyTest, error) {
	if t.model == "" {
		m, err := t.c.Models(ctx, t.provider.ID)
		if err != nil {
			return nil, err
		}
		if len(m.Models) == 0 {
			return nil, misused("no model of %s is known: name one with --model", t.provider.ID)
		}
		t.model = m.Models[0].ID
	}
	all := []trace.KeyTest{}
	for _, k := range t.provider.Keys {
		if !k.Off {
			all = append(all, t.one(ctx, &k))
		}
	}
	return all, ctx.Err()
}

func (t *trial) one(ctx context.Context, k *trace.Key) trace.KeyTest {
	began := time.Now()
	test := trace.KeyTest{Key: k.ID, At: began}
	status, body, err := t.send(ctx, k)
	test.Status, test.MS, test.OK = status, time.Since(began).Milliseconds(), err == nil && status == http.StatusOK
	switch {
	case err != nil:
		test.Error = err.Error()
	case !test.OK:
		test.Error = errorWords(body)
	}
	return test
}

// send asks with one key alone, on the first API that it can be asked on.
func (t *trial) send(ctx context.Context, k *trace.Key) (int, []byte, error) {
	api := k.Protocol
	if all := apis(t.provider.Bases); api == "" && len(all) > 0 {
		api = all[0]
	}
	path, body := tiny(wire.Protocol(api), t.provider.ID+"/"+t.model)
	data, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+path, bytes.NewReader(data))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie-test")
	req.Header.Set("X-Magpie-Account", k.ID)
	resp, err := t.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, answer, err
}

// tiny is the smallest request of an API.
func tiny(api wire.Protocol, model string) (path string, body map[string]any) {
	const say = "Say ok."
	user := []map[string]any{{"role": "user", "content": say}}
	switch api {
	case wire.Responses:
		return "/v1/responses", map[string]any{"model": model, "input": say}
	case wire.Messages:
		return "/v1/messages", map[string]any{"model": model, "max_tokens": 16, "messages": user}
	case wire.Gemini:
		return "/v1beta/models/" + url.PathEscape(model) + ":generateContent",
			map[string]any{"contents": []map[string]any{{"role": "user", "parts": []map[string]any{{"text": say}}}}}
	case wire.Chat:
	}
	return "/v1/chat/completions", map[string]any{"model": model, "messages": user}
}

// errorWords is the message of an error in any API's shape.
func errorWords(body []byte) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	return "it was refused without a reason"
}

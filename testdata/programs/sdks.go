package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// sdk is an official SDK asking through one API.
type sdk struct {
	name   string
	pkg    string // npm's name
	client string // the driver's name of the API
}

var sdks = []sdk{
	{name: "openai", pkg: "openai", client: "chat"},
	{name: "openai", pkg: "openai", client: "responses"},
	{name: "anthropic", pkg: "@anthropic-ai/sdk", client: "messages"},
	{name: "genai", pkg: "@google/genai", client: "gemini"},
}

// answerers are the vendors that every SDK asks: one for each API.
var answerers = []struct {
	vendor
	api      wire.Protocol
	provider string
	model    string
}{
	{kimiChat, wire.Chat, "moonshot", "kimi-k3"},
	{openAIAlone, wire.Responses, "openai", "gpt-5.4"},
	{claudeAlone, wire.Messages, "anthropic", "claude-sonnet-5-5"},
	{geminiAlone, wire.Gemini, "gemini", "gemini-3.8-flash"},
}

// perVendor is how many requests an SDK makes of each vendor: two tool loops of three, and four
// single ones, streamed and not.
const perVendor = 2 * (2*3 + 4)

// The SDK's own key must reach nobody.
const sdkToken = "magpie-sdk-key"

// setting is what the driver is told.
type setting struct {
	Models  []string `json:"models"`
	Text    string   `json:"text"`
	Thought string   `json:"thought"`
	Place   string   `json:"place"`
	Picture string   `json:"picture"`
}

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// ask has the SDK ask every vendor through one gateway, and looks at what reached them.
func (k sdk) ask(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp(o.keep, "magpie-sdk-")
	if err != nil {
		return err
	}
	s := &stage{dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	if err := s.folders(); err != nil {
		return err
	}
	defer func() {
		if o.keep == "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	told := setting{Text: "The answer is \"forty-two\", né 42, and that is all.", Thought: "Six times seven, that is.", Place: "Genève & <Bâle>, \"1.50\"", Picture: pixel}
	var vendors []*standin.Vendor
	config := ""
	for _, a := range answerers {
		v := standin.New(standin.Options{
			Vendor: a.name, APIs: []wire.Protocol{a.api}, Models: []string{a.model}, Keys: []string{firstKey, secondKey}, Secrets: []string{sdkToken},
			Text: told.Text, Think: told.Thought, Busy: true,
		})
		at := httptest.NewServer(v)
		defer at.Close()
		vendors = append(vendors, v)
		told.Models = append(told.Models, a.provider+"/"+a.model)
		config += strings.ReplaceAll(a.config, "{at}", at.URL) + theKeys
	}
	gw, err := s.serve(ctx, o.magpie, config, func(models []string) bool {
		return !slices.ContainsFunc(told.Models, func(m string) bool { return !slices.Contains(models, m) })
	})
	if err != nil {
		return err
	}
	said, err := k.drive(ctx, o, s, told)
	for i, v := range vendors {
		err = errors.Join(err, judgeAnswerer(answerers[i].api, v))
	}
	if err = errors.Join(err, gw.stop()); err != nil {
		return fmt.Errorf("%w\n%s\n-- magpie serve\n%s", err, said, lastOf(gw.out.String(), 3000))
	}
	fmt.Print(said)
	return nil
}

// drive runs the driver, in a folder where it finds the SDK.
func (k sdk) drive(ctx context.Context, o options, s *stage, told setting) (string, error) {
	script, at := filepath.Join(s.work, filepath.Base(o.driver)), filepath.Join(s.work, "node_modules", k.pkg)
	text, err := os.ReadFile(o.driver)
	if err != nil {
		return "", err
	}
	words, err := json.Marshal(told)
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(script, text, 0o600), os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(o.bins[k.name], at)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	var out bytes.Buffer
	c := exec.CommandContext(ctx, "node", script, k.client, s.base, sdkToken, string(words))
	c.Env, c.Dir, c.Stdout, c.Stderr = s.env(), s.work, &out, &out
	err = c.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("the driver did not end in %s", o.limit)
	case err != nil:
		err = fmt.Errorf("the driver: %w", err)
	}
	return out.String(), err
}

// judgeAnswerer looks at what reached one vendor: nothing that it refuses, and every picture
// and schema that was sent.
func judgeAnswerer(api wire.Protocol, v *standin.Vendor) error {
	var faults []error
	asked := 0
	for _, c := range v.Calls() {
		body := string(c.Body)
		switch {
		case c.Refused != "" || len(c.Leaks) > 0:
			faults = append(faults, fmt.Errorf("%s %s was refused: %s; it brought %v\n%s", c.Method, c.Path, c.Refused, c.Leaks, body))
		case c.Op != standin.OpCreate:
		case c.API != api || c.Key != firstKey:
			faults = append(faults, fmt.Errorf("%s was asked on %s", c.Path, c.API))
		case strings.Contains(body, ", picture.") != strings.Contains(body, pixel):
			faults = append(faults, fmt.Errorf("%s: the picture: %s", c.Path, body))
		case strings.Contains(body, ", structured.") != strings.Contains(body, `"sure"`):
			faults = append(faults, fmt.Errorf("%s: the schema: %s", c.Path, body))
		}
		if c.Op == standin.OpCreate {
			asked++
		}
	}
	if asked != perVendor {
		faults = append(faults, fmt.Errorf("%s was asked %d times instead of %d", api, asked, perVendor))
	}
	return errors.Join(faults...)
}

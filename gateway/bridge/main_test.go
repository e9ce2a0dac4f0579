//go:build unix

package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/bridge/fakeclaude"
	"dev.magpie/provider"
)

func TestMain(m *testing.M) {
	fakeclaude.Main()
	os.Exit(m.Run())
}

// rig is a bridge to a stand-in for the program.
type rig struct {
	*bridge.Bridge
	t    *testing.T
	dir  string // where the program is
	temp string

	mu   sync.Mutex
	told []provider.Window
}

func newRig(t *testing.T, mode fakeclaude.Mode, change func(*bridge.Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), temp: t.TempDir()}
	path, err := fakeclaude.Install(r.dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	o := bridge.Options{
		Program: path, TempDir: r.temp,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "ANTHROPIC_API_KEY=sk-ant-not-this-one", "CLAUDE_CODE_OAUTH_TOKEN=nor-this"},
		Told: func(_ provider.AccountID, ws []provider.Window, _ time.Time) {
			r.mu.Lock()
			r.told = append(r.told, ws...)
			r.mu.Unlock()
		},
		Mask: func(s string) string { return strings.ReplaceAll(s, "abcdefghijklmnop", "***") },
	}
	if change != nil {
		change(&o)
	}
	r.Bridge = bridge.New(o)
	t.Cleanup(r.Close)
	return r
}

type m = map[string]any

// talk is an agent's conversation with the bridge.
type talk struct {
	r        *rig
	system   string
	messages []m
	tools    []m
}

func user(words string) m {
	return m{"role": "user", "content": []m{{"type": "text", "text": words}}}
}

func newTalk(r *rig, words string, tools ...string) *talk {
	k := &talk{r: r, system: "You are an agent.", messages: []m{user(words)}}
	for _, name := range tools {
		k.tools = append(k.tools, m{"name": name, "description": "does " + name, "input_schema": m{"type": "object"}})
	}
	return k
}

func (k *talk) body() []byte {
	b, err := json.Marshal(m{"model": "claude-sonnet-5", "max_tokens": 1000, "stream": true, "system": k.system, "messages": k.messages, "tools": k.tools})
	if err != nil {
		k.r.t.Fatal(err)
	}
	return b
}

func (k *talk) start(ctx context.Context) (*http.Response, error) {
	return k.r.Do(ctx, &bridge.Ask{Account: "claude/me", Model: "claude-sonnet-5", Body: k.body()})
}

// got is what a reply said.
type got struct {
	text   string
	calls  []m
	stop   string
	failed string
	err    error
}

// ask sends the conversation and takes the reply into it.
func (k *talk) ask() got {
	k.r.t.Helper()
	resp, err := k.start(context.Background())
	if err != nil {
		k.r.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		k.r.t.Fatalf("%d %s", resp.StatusCode, body)
	}
	g := read(resp)
	content := []m{{"type": "text", "text": g.text}}
	k.messages = append(k.messages, m{"role": "assistant", "content": append(content, g.calls...)})
	return g
}

// bring answers the last reply's calls.
func (k *talk) bring(g got, results ...string) {
	content := make([]m, len(results))
	for i, words := range results {
		content[i] = m{"type": "tool_result", "tool_use_id": g.calls[i]["id"], "content": words}
	}
	k.messages = append(k.messages, m{"role": "user", "content": content})
}

// read reads a reply to its end.
func read(resp *http.Response) (g got) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	g.err = err
	inputs := map[float64]string{}
	at := map[float64]int{}
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e m
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			panic(err)
		}
		i, _ := e["index"].(float64)
		switch e["type"] {
		case "content_block_start":
			if b := e["content_block"].(m); b["type"] == "tool_use" {
				at[i] = len(g.calls)
				g.calls = append(g.calls, m{"type": "tool_use", "id": b["id"], "name": b["name"]})
			}
		case "content_block_delta":
			d := e["delta"].(m)
			if s, ok := d["text"].(string); ok {
				g.text += s
			}
			if s, ok := d["partial_json"].(string); ok {
				inputs[i] += s
			}
		case "content_block_stop":
			if s := inputs[i]; s != "" {
				g.calls[at[i]]["input"] = json.RawMessage(s)
			}
		case "message_delta":
			g.stop, _ = e["delta"].(m)["stop_reason"].(string)
		case "error":
			g.failed = fmt.Sprint(e["error"])
		}
	}
	return g
}

func (r *rig) starts() []fakeclaude.Start {
	r.t.Helper()
	all, err := fakeclaude.Starts(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// eventually waits for something that other processes do.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.After(time.Minute)
	for !is() {
		select {
		case <-end:
			t.Fatal("it never came to this: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// nothingLeft says whether no process of the runs is there, and none of their files.
func (r *rig) nothingLeft() {
	r.t.Helper()
	eventually(r.t, "no process, no file", func() bool {
		for _, s := range r.starts() {
			if syscall.Kill(s.PID, 0) == nil { // a zombie counts as one
				return false
			}
		}
		left, err := filepath.Glob(filepath.Join(r.temp, "*"))
		return err == nil && len(left) == 0
	})
}

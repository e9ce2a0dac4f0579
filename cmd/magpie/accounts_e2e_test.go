//go:build e2e

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"dev.magpie/gateway/bridge/fakeclaude"
	"dev.magpie/gateway/standin"
)

// chatgptCmd starts a backend that Codex accounts ask.
func chatgptCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	b := standin.NewChatGPT(standin.Options{Text: "from chatgpt", Secrets: []string{agentsKey}})
	w.houses[args[0]] = b
	w.put(ts, args[0], b.Vendor, httptest.NewServer(b))
}

// signinCmd has Codex signed in to a new account in a folder.
func signinCmd(ts *testscript.TestScript, _ bool, args []string) {
	home := ts.MkAbs(args[2])
	ts.Check(os.MkdirAll(home, 0o700))
	auth := worldOf(ts).houses[args[0]].Add(args[1], standin.ChatAccount{Email: args[1] + "@x.example"})
	ts.Check(os.WriteFile(filepath.Join(home, "auth.json"), auth, 0o600))
}

func usesCmd(ts *testscript.TestScript, _ bool, args []string) {
	windows, err := standin.ParseWindows(strings.Join(args[2:], " "))
	ts.Check(err)
	worldOf(ts).houses[args[0]].Use(args[1], windows...)
}

func givesCmd(ts *testscript.TestScript, _ bool, args []string) {
	for _, id := range args[2:] {
		worldOf(ts).houses[args[0]].Give(args[1], standin.ChatReset{ID: id})
	}
}

func spentCmd(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if spent := worldOf(ts).houses[args[0]].Redeemed(); len(spent) != want {
		ts.Fatalf("resets spent: %+v", spent)
	}
}

// claudeCmd puts a stand-in for the claude program on the PATH, or changes how it stands.
func claudeCmd(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs("programs")
	if _, err := os.Stat(dir); err != nil {
		ts.Check(os.MkdirAll(dir, 0o700))
		ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
	}
	_, err := fakeclaude.Install(dir, fakeclaude.Mode(args[0]))
	ts.Check(err)
}

// ranCmd says whether the claude program was run.
func ranCmd(ts *testscript.TestScript, neg bool, _ []string) {
	if ran := fakeclaude.Ran(ts.MkAbs("programs")); ran == neg {
		ts.Fatalf("the program was run: %v", ran)
	}
}

// loopCmd is an agent of the Chat API: it asks, runs the tool that is called, and tells its result.
func loopCmd(ts *testscript.TestScript, _ bool, args []string) {
	const tools = `[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]`
	user := `{"role":"user","content":"call look"}`
	first := chat(ts, args[0], user, tools)
	if len(first.Calls) != 1 || first.Calls[0].Function.Name != "look" {
		ts.Fatalf("no call of the tool: %+v", first)
	}
	said, err := json.Marshal(first.Content)
	ts.Check(err)
	calls, err := json.Marshal(first.Calls)
	ts.Check(err)
	last := chat(ts, args[0], fmt.Sprintf(`%s,{"role":"assistant","content":%s,"tool_calls":%s},{"role":"tool","tool_call_id":%q,"content":"found it"}`,
		user, said, calls, first.Calls[0].ID), tools)
	_, _ = fmt.Fprintf(ts.Stdout(), "%s\n", last.Content)
}

type chatMessage struct {
	Content string `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func chat(ts *testscript.TestScript, model, messages, tools string) chatMessage {
	body := `{"model":"` + model + `","messages":[` + messages + `],"tools":` + tools + `}`
	req, err := http.NewRequest(http.MethodPost, "http://"+ts.Getenv("ADDR")+"/v1/chat/completions", strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer magpie")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	var reply struct {
		Choices []struct {
			Message chatMessage `json:"message"`
		} `json:"choices"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(data, &reply) != nil || len(reply.Choices) != 1 {
		ts.Fatalf("%d %s", resp.StatusCode, data)
	}
	return reply.Choices[0].Message
}

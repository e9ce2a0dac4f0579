//go:build unix

package bridge_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.magpie/gateway/bridge"
	"dev.magpie/gateway/bridge/fakeclaude"
)

func TestAReplyStreams(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	k := newTalk(r, "say well well")
	if g := k.ask(); g.text != "well well" || g.stop != "end_turn" || g.err != nil {
		t.Errorf("got %+v", g)
	}
	s := r.starts()[0]
	if s.System != "You are an agent." || len(s.History) != 0 {
		t.Errorf("it was told the system prompt %q and %d turns", s.System, len(s.History))
	}
	for _, v := range s.Environ {
		if strings.HasPrefix(v, "ANTHROPIC_") || strings.HasPrefix(v, "CLAUDE_CODE_OAUTH") {
			t.Errorf("it got %s", v)
		}
	}
	for _, a := range [][2]string{{"--tools", ""}, {"--setting-sources", ""}, {"--permission-mode", "dontAsk"}, {"--model", "claude-sonnet-5"}} {
		if i := slices.Index(s.Args, a[0]); i < 0 || s.Args[i+1] != a[1] {
			t.Errorf("%s is not %q in %q", a[0], a[1], s.Args)
		}
	}
	if strings.Contains(strings.Join(s.Args, " "), "You are an agent") {
		t.Error("other users can read the prompt in the arguments")
	}
	if files, err := os.ReadDir(s.Dir); err != nil || len(files) != 0 {
		t.Errorf("it worked in a folder with %v, %v", files, err)
	}
	eventually(t, "told of a window that is 42 % used", func() bool { // the program says so behind the reply
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.told) > 0 && r.told[0].Name == "5 hours" && r.told[0].Used == 42
	})
	r.Close()
	r.nothingLeft()
}

func TestAToolLoopStaysInOneRun(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	k := newTalk(r, "call weather", "weather", "other")
	g := k.ask()
	if g.stop != "tool_use" || len(g.calls) != 1 || g.calls[0]["name"] != "weather" {
		t.Fatalf("got %+v", g)
	}
	if all, idle := r.Runs(); all != 1 || idle != 1 {
		t.Fatalf("%d runs, %d idle, while the agent runs the tool", all, idle)
	}
	k.bring(g, "rain")
	if g = k.ask(); g.text != "results: rain" || g.stop != "end_turn" {
		t.Fatalf("got %+v", g)
	}
	k.messages = append(k.messages, user("say more"))
	if g = k.ask(); g.text != "more" {
		t.Fatalf("got %+v", g)
	}
	if n := len(r.starts()); n != 1 {
		t.Errorf("%d runs for one conversation", n)
	}
}

func TestParallelCallsAreAnsweredTogether(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	k := newTalk(r, "call a b c", "a", "b", "c")
	g := k.ask()
	if len(g.calls) != 3 {
		t.Fatalf("got %+v", g)
	}
	k.bring(g, "1", "2", "3")
	slices.Reverse(k.messages[2]["content"].([]m)) // by their ids, not by place
	if g = k.ask(); g.text != "results: 1, 2, 3" {
		t.Errorf("got %+v", g)
	}
}

func TestOtherIDsForCalls(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	k := newTalk(r, "call a b", "a", "b")
	g := k.ask()
	for i := range g.calls { // an agent whose API has none
		g.calls[i]["id"] = "call_" + string(rune('0'+i))
	}
	k.bring(g, "1", "2")
	if g = k.ask(); g.text != "results: 1, 2" || len(r.starts()) != 1 {
		t.Errorf("got %+v in %d runs", g, len(r.starts()))
	}
}

func TestWhatTheUserSaysBesidesAResult(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	k := newTalk(r, "call a", "a")
	k.bring(k.ask(), "1")
	last := k.messages[2]
	last["content"] = append(last["content"].([]m), m{"type": "text", "text": " and hurry"})
	if g := k.ask(); g.text != "results: 1 and hurry" {
		t.Errorf("got %+v", g)
	}
}

// Which later requests go on with a run, and which begin anew with the whole conversation.
func TestMatching(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(k *talk)
		runs   int
	}{
		{"the same", func(*talk) {}, 1},
		{"blanks in the reply", func(k *talk) { k.messages[1]["content"] = "  Let me\nlook. It is   fine " }, 1},
		{"cache marks", func(k *talk) { k.messages[0]["content"].([]m)[0]["cache_control"] = m{"type": "ephemeral"} }, 1},
		{"a part of the user's is gone", func(k *talk) { k.messages[0]["content"] = k.messages[0]["content"].([]m)[1:] }, 1},
		{"the reply was shortened", func(k *talk) { k.messages[1]["content"] = "Let me look." }, 1},
		{"the reply was emptied", func(k *talk) { k.messages[1]["content"] = "" }, 2},
		{"another reply", func(k *talk) { k.messages[1]["content"] = "Something else" }, 2},
		{"another first message", func(k *talk) { k.messages[0] = user("say something else") }, 2},
		{"another system prompt", func(k *talk) { k.system = "You are another." }, 2},
		{"another tool", func(k *talk) { k.tools = k.tools[:1] }, 2},
		{"a tool's other description", func(k *talk) { k.tools[0]["description"] = "new" }, 2},
		{"two turns more", func(k *talk) {
			k.messages = append(k.messages[:2:2], user("x"), m{"role": "assistant", "content": "y"}, user("say more"))
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, fakeclaude.Fine, nil)
			k := newTalk(r, "say Let me look. It is fine", "a", "b")
			k.messages[0]["content"] = append([]m{{"type": "text", "text": "a reminder"}}, k.messages[0]["content"].([]m)...)
			k.ask()
			k.messages = append(k.messages, user("say more"))
			c.change(k)
			if g := k.ask(); g.text != "more" {
				t.Errorf("got %+v", g)
			}
			s := r.starts()
			if len(s) != c.runs {
				t.Fatalf("%d runs, want %d", len(s), c.runs)
			}
			if c.runs == 2 && len(s[1].History) != len(k.messages)-2 {
				t.Errorf("the new run was handed %d turns of %d", len(s[1].History), len(k.messages))
			}
		})
	}
}

func TestTwoThatFitALittleAreLeftAlone(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	for _, words := range []string{"one more", "two more"} {
		k := newTalk(r, "say the same")
		k.messages[0]["content"] = append([]m{{"type": "text", "text": words}}, k.messages[0]["content"].([]m)...)
		k.ask()
	}
	k := newTalk(r, "say the same")
	k.messages = append(k.messages, m{"role": "assistant", "content": "the same"}, user("say more"))
	if g := k.ask(); g.text != "more" || len(r.starts()) != 3 {
		t.Errorf("got %+v in %d runs", g, len(r.starts()))
	}
}

// A run that is gone is begun anew in the middle of its tool loop, with the results in its history.
func TestAToolLoopGoesOnWithoutItsRun(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, func(o *bridge.Options) { o.Waits = time.Nanosecond })
	k := newTalk(r, "call a.b", "a.b") // a name that MCP does not take
	k.tools[0]["name"] = "a.b"
	resp, err := k.start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	read(resp)
	k.messages = append(k.messages,
		m{"role": "assistant", "content": []m{{"type": "tool_use", "id": "toolu_x", "name": "a.b", "input": m{}}}},
		m{"role": "user", "content": []m{{"type": "tool_result", "tool_use_id": "toolu_x", "content": "rain"}}})
	if g := k.ask(); g.text != "went on with what was written" {
		t.Fatalf("got %+v", g)
	}
	s := r.starts()
	last := s[len(s)-1]
	if len(last.History) != 3 || !strings.Contains(string(last.History[1]), `"mcp__magpie__a_b"`) || !strings.Contains(string(last.History[2]), "rain") {
		t.Errorf("it was handed %s", last.History)
	}
}

func TestAnAgentThatLeavesEndsTheRun(t *testing.T) {
	for _, verb := range []string{"slow", "stubborn"} {
		t.Run(verb, func(t *testing.T) {
			r := newRig(t, fakeclaude.Fine, nil)
			ctx, leave := context.WithCancel(context.Background())
			resp, err := newTalk(r, verb).start(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := resp.Body.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			leave()
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			r.nothingLeft()
			if all, _ := r.Runs(); all != 0 {
				t.Errorf("%d runs are left", all)
			}
		})
	}
}

func TestACrashIsToldHonestly(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	resp, err := newTalk(r, "crash").start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	g := read(resp)
	if g.text != "half a" || g.err == nil || errors.Is(g.err, io.EOF) || g.stop != "" {
		t.Errorf("a broken reply reads as %+v", g)
	}
	r.nothingLeft()
}

func TestAnEndBeforeTheReply(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	resp, err := newTalk(r, "exit").start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "something went wrong") || strings.Contains(string(body), "abcdefgh") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		verb   string
		status int
		has    string
		header string
	}{
		{"full", 429, "5-hour limit", "rejected"},
		{"limited", 429, "temporarily limiting requests\"", ""},
		{"expired", 401, "authentication_error", ""},
		{"busy", 529, "overloaded_error", ""},
	} {
		r := newRig(t, fakeclaude.Fine, nil)
		resp, err := newTalk(r, c.verb).start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.has) || resp.Header.Get("Anthropic-Ratelimit-Unified-5h-Status") != c.header {
			t.Errorf("%s: %d %s %v", c.verb, resp.StatusCode, body, resp.Header)
		}
		r.nothingLeft()
	}
}

func TestARunThatIsCutOffOrGoesOnByItselfIsNotKept(t *testing.T) {
	for verb, text := range map[string]string{"cut": "as far as", "twice": "once"} {
		r := newRig(t, fakeclaude.Fine, nil)
		if g := newTalk(r, verb).ask(); g.text != text {
			t.Errorf("got %+v", g)
		}
		r.nothingLeft()
	}
}

func TestIdleRunsEnd(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, func(o *bridge.Options) { o.Ended, o.Waits = 50*time.Millisecond, 50*time.Millisecond })
	newTalk(r, "say x").ask()
	newTalk(r, "call a", "a").ask()
	r.nothingLeft()
}

func TestIdleRunsAreBounded(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, func(o *bridge.Options) { o.Idle = 2 })
	for _, words := range []string{"say 1", "say 2", "say 3", "say 4"} {
		newTalk(r, words).ask()
	}
	eventually(t, "two idle runs", func() bool { all, idle := r.Runs(); return all == 2 && idle == 2 })
}

func TestFiftyAtOnceKeepToTheLimit(t *testing.T) {
	const most = 4
	r := newRig(t, fakeclaude.Fine, func(o *bridge.Options) { o.Most = most })
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			if all, _ := r.Runs(); all > most {
				t.Errorf("%d runs at once", all)
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if i%5 != 0 {
				if g := newTalk(r, "say x").ask(); g.text != "x" {
					t.Errorf("got %+v", g)
				}
				return
			}
			k := newTalk(r, "call a", "a")
			k.system = string(rune('A' + i))
			g := k.ask()
			k.bring(g, "r")
			g = k.ask()
			if want := []string{"results: r", "went on with what was written"}; !slices.Contains(want, g.text) { // its run may have made way
				t.Errorf("got %+v", g)
			}
		})
	}
	wg.Wait()
	close(done)
	watch.Wait()
	r.Close()
	r.nothingLeft()
}

func TestOneWhoWaitsForAPlaceMayLeave(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, func(o *bridge.Options) { o.Most = 1 })
	resp, err := newTalk(r, "slow").start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer leave()
	if _, err := newTalk(r, "say x").start(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_ = resp.Body.Close()
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	resp, err := newTalk(r, "slow").start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if g := read(resp); g.err == nil {
		t.Errorf("a reply that was cut off reads as whole: %+v", g)
	}
	r.nothingLeft()
	if _, err := newTalk(r, "say x").start(context.Background()); err == nil {
		t.Error("a closed bridge took a request")
	}
}

func TestOnceItIsClosedNoSignInIsLookedAt(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	var all sync.WaitGroup
	for range 2 { // they may begin while it closes
		home := t.TempDir()
		all.Go(func() { _ = r.Ready(context.Background(), "claude/me", home) })
	}
	r.Close()
	all.Wait()
	if err := r.Ready(context.Background(), "claude/me", t.TempDir()); err == nil {
		t.Error("a closed bridge asked the program")
	}
}

func TestAccountsThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   fakeclaude.Mode
		change func(*bridge.Options)
		says   string
	}{
		{"missing", fakeclaude.Fine, func(o *bridge.Options) { o.Program, o.Environ = "", []string{"PATH=" + os.TempDir()} }, "not installed"},
		{"no program", fakeclaude.Fine, func(o *bridge.Options) { o.Program = filepath.Join(o.TempDir, "nothing") }, "does not start"},
		{"signed out", fakeclaude.SignedOut, nil, "signed out: sign in with `claude auth login`"},
		{"old", fakeclaude.Old, nil, "too old (1.0.3"},
		{"old in truth", fakeclaude.Ignorant, nil, "too old: it knows not all"},
	} {
		r := newRig(t, c.mode, c.change)
		_, err := newTalk(r, "say x").start(context.Background())
		var unready *bridge.UnreadyError
		if !errors.As(err, &unready) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUsage(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	ws, err := r.Usage(context.Background(), "claude/me", "", "")
	if err != nil || len(ws) != 2 || ws[0].Used != 13 || ws[1].Used != 37 {
		t.Errorf("%+v, %v", ws, err)
	}
}

func TestTheServerOfTheToolsAnswersItsRunAlone(t *testing.T) {
	r := newRig(t, fakeclaude.Fine, nil)
	newTalk(r, "call a", "a").ask()
	_, rest, _ := strings.Cut(r.starts()[0].MCP, `"url":"`)
	address, _, _ := strings.Cut(rest, `"`)
	_, key, _ := strings.Cut(address, "/mcp/")
	for _, c := range []struct {
		name, address string
		change        func(*http.Request)
		want          int
	}{
		{"the program", address, func(*http.Request) {}, http.StatusOK},
		{"no token", address, func(q *http.Request) { q.Header.Del("Authorization") }, http.StatusNotFound},
		{"a wrong token", address, func(q *http.Request) { q.Header.Set("Authorization", "Bearer x") }, http.StatusNotFound},
		{"another address", strings.TrimSuffix(address, key) + "x", func(*http.Request) {}, http.StatusNotFound},
		{"a browser", address, func(q *http.Request) { q.Header.Set("Origin", "http://example.com") }, http.StatusNotFound},
	} {
		req, err := http.NewRequest(http.MethodPost, c.address, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		c.change(req)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, resp.StatusCode, c.want)
		}
		_ = resp.Body.Close()
	}
}

func TestWhatCannotBeAsked(t *testing.T) {
	for body, field := range map[string]string{
		`{"messages":[{"role":"user","content":"x"}],"tool_choice":{"type":"any"}}`:                          "tool_choice",
		`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`:                    "messages",
		`{"messages":[{"role":"user","content":"x"}],"thread":{"type":"create"}}`:                            "thread",
		`{"messages":[{"role":"user","content":"x"}],"temperature":1,"stop_sequences":["a"]}`:                "",
		`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_1","name":"web_search"}]}`: "",
	} {
		lost, err := bridge.Check([]byte(body))
		if (err == nil) != (field == "") || err != nil && !strings.HasPrefix(err.Error(), field) || err == nil && len(lost) == 0 {
			t.Errorf("%s: %v, lost %v", body, err, lost)
		}
	}
}

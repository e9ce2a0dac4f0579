package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
)

// commented are the APIs that may be sent comments, with a stream in three parts.
var commented = map[string]struct{ start, text, more, stop string }{
	"chat":      {chatRole, chatText, chatMore, chatStop},
	"messages":  {msgStart, msgText, msgMore, msgStop},
	"responses": {respStart, respText, respMore, respStop},
}

// late is a vendor that takes its time before it sends any header.
func late(wait time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(wait):
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

func TestTheAgentIsKeptAliveBeforeTheVendorsHeaders(t *testing.T) {
	for api, c := range commented {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": late(40*time.Second, &timeline{lines: []line{{0, c.start + c.text + c.more + c.stop}}})})
				got := r.watch(asking(api, "a/m", true))
				if got.headers != 15*time.Second || got.count(comment) != 2 || got.at("hel") != 40*time.Second {
					t.Errorf("headers after %s, %d comments, text after %s", got.headers, got.count(comment), got.at("hel"))
				}
				if got.text() != comment+comment+c.start+c.text+c.more+c.stop {
					t.Errorf("%q", got.text())
				}
				if h := got.header; h.Get("Content-Type") != "text/event-stream" || h.Get("Content-Length") != "" || h.Get("X-Request-Id") != "" || h.Get("X-Magpie-Request") == "" {
					t.Errorf("headers %v", got.header)
				}
				if route := r.told(); route.Status != 200 || route.TTFTMS != 40_000 || len(route.Tries) != 1 {
					t.Errorf("%+v", route)
				}
			})
		})
	}
}

func TestAWholeReplyIsNeverKeptAlive(t *testing.T) {
	for _, api := range apis {
		synctest.Test(t, func(t *testing.T) {
			v := good(api, false)
			r := newRig(t, lone, vendors{"a": late(9*time.Minute, v)})
			if got := r.ask(asking(api, "a/m", false)); got.status != 200 || got.body != v.body {
				t.Errorf("%s: %d %q", api, got.status, got.body)
			}
		})
	}
}

func TestCommentsEndWithTheLongestSilence(t *testing.T) {
	// Where a vendor may be silent for hours, the agent is kept alive for five minutes of it.
	toml := "stall_timeout = \"3h\"\nheader_timeout = \"3h\"\n" + lone
	const silence = 75 * time.Minute
	for api, c := range commented {
		whole := c.start + c.text + c.more + c.stop
		for name, v := range map[string]http.Handler{
			"before the headers":  late(silence, &timeline{lines: []line{{0, whole}}}),
			"while it is held":    &timeline{lines: []line{{0, c.start}, {silence, c.text + c.more + c.stop}}},
			"in the middle of it": &timeline{lines: []line{{0, c.start + c.text}, {silence, c.more + c.stop}}},
		} {
			t.Run(api+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, toml, vendors{"a": v})
					got := r.watch(asking(api, "a/m", true))
					n := got.count(comment)
					if n < 1 || n > 20 {
						t.Errorf("%d comments in a silence of %s", n, silence)
					}
					for _, l := range got.lines {
						if l.text == comment && l.after > 5*time.Minute {
							t.Errorf("a comment after %s of silence", l.after)
						}
					}
					if strings.ReplaceAll(got.text(), comment, "") != whole || got.at("\"lo\"") != silence {
						t.Errorf("%q", got.text())
					}
				})
			})
		}
	}
}

func TestAVendorsOwnSignsOfLifeNeedNoneOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ping := "event: ping\ndata: {\"type\": \"ping\"}\n\n"
		lines := []line{{0, msgStart + msgText}}
		for range 12 {
			lines = append(lines, line{10 * time.Second, ping})
		}
		r := newRig(t, lone, vendors{"a": &timeline{lines: append(lines, line{0, msgMore + msgStop})}})
		got := r.watch(asking("messages", "a/m", true))
		if got.count(comment) != 0 || got.text() != msgStart+msgText+strings.Repeat(ping, 12)+msgMore+msgStop {
			t.Errorf("%q", got.text())
		}
	})
}

func TestKeepaliveAndReplyAtOneMomentKeepTheirOrder(t *testing.T) {
	// The watcher wakes at the very moment at which the vendor speaks: each line of either is whole.
	for name, lines := range map[string][]line{
		"the headers":     {{15 * time.Second, chatRole + chatText}, {0, chatMore + chatStop}},
		"the text":        {{0, chatRole}, {15 * time.Second, chatText}, {15 * time.Second, chatMore + chatStop}},
		"each event":      {{0, chatRole + chatText}, {15 * time.Second, chatText}, {15 * time.Second, chatText}, {15 * time.Second, chatMore + chatStop}},
		"the end":         {{0, chatRole + chatText + chatMore}, {15 * time.Second, chatStop}},
		"a broken stream": {{15 * time.Second, chatRole}, {0, "data: {\"error\":{\"message\":\"busy\",\"code\":\"server_is_overloaded\"}}\n\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 40 {
				synctest.Test(t, func(t *testing.T) {
					v := http.Handler(&timeline{lines: lines})
					if lines[0].after > 0 {
						v = late(lines[0].after, &timeline{lines: append([]line{{0, lines[0].text}}, lines[1:]...)})
					}
					b := &timeline{lines: []line{{0, chatRole + chatText + chatMore + chatStop}}}
					r := newRig(t, abOf("m"), vendors{"a": v, "b": b})
					got := r.watch(asking("chat", "group/g", true))
					text := strings.ReplaceAll(got.text(), comment, "")
					if got.status != 200 || strings.Contains(text, "keepalive") || strings.Contains(text, "busy") ||
						!strings.HasSuffix(text, chatStop) || strings.Count(text, "\"role\"") != 1 {
						t.Fatalf("%d %q", got.status, got.text())
					}
				})
			}
		})
	}
}

func TestASilentHeldCandidateGivesWayInEveryAPI(t *testing.T) {
	busy := map[string]string{
		"chat":      "data: {\"error\":{\"message\":\"a is busy\",\"code\":\"server_is_overloaded\"}}\n\n",
		"messages":  "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"a is busy\"}}\n\n",
		"responses": "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":1,\"response\":{\"id\":\"resp_a\",\"status\":\"failed\",\"error\":{\"code\":\"server_is_overloaded\",\"message\":\"a is busy\"}}}\n\n",
	}
	for api, c := range commented {
		whole := c.start + c.text + c.more + c.stop
		for name, a := range map[string]http.Handler{
			"an error event after its headers": &timeline{lines: []line{{0, ""}, {40 * time.Second, busy[api]}}},
			"a late error status":              late(40*time.Second, &canned{status: 529, kind: "application/json", body: `{"error":{"message":"a is busy"}}`}),
			"a late page":                      late(40*time.Second, &canned{status: 200, kind: "text/html", body: challenge}),
			"a late cut":                       late(40*time.Second, &timeline{cut: true}),
		} {
			t.Run(api+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := &timeline{lines: []line{{time.Second, whole}}}
					r := newRig(t, abOf("m"), vendors{"a": a, "b": b})
					got := r.watch(asking(api, "group/g", true))
					if got.status != 200 || !strings.HasPrefix(got.text(), comment) || strings.ReplaceAll(got.text(), comment, "") != whole || strings.Contains(got.text(), "a is busy") {
						t.Errorf("%d %q", got.status, got.text())
					}
					if route := r.told(); route.Status != 200 || tried(route) != "a/k b/k" || route.Tries[0].Fail == "" || route.Tries[0].Rest == nil {
						t.Errorf("%d %+v", route.Status, route.Tries)
					}
				})
			})
		}
	}
}

func TestAfterAKeepaliveATooLongErrorKeepsItsCode(t *testing.T) {
	for api, want := range map[string]string{
		"chat":      `data: {"error":{"message":"`,
		"messages":  `"message":"prompt is too long`,
		"responses": `event: response.failed`,
	} {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &canned{status: 400, kind: "application/json", body: `{"error":{"message":"This model's maximum context length is 262144 tokens. However, you requested 262462 tokens","type":"invalid_request_error"}}`}
				r := newRig(t, lone, vendors{"a": late(20*time.Second, v)})
				got := r.watch(asking(api, "a/m", true))
				if got.status != 200 || !strings.Contains(got.text(), want) || !strings.Contains(got.text(), "context_length_exceeded") {
					t.Errorf("%d %q", got.status, got.text())
				}
				if route := r.told(); route.Status != 400 || route.Tries[0].Fail != trace.TooLarge || v.asked() != 1 {
					t.Errorf("%d %+v, asked %d times", route.Status, route.Tries, v.asked())
				}
			})
		})
	}
}

func TestVendorsOwnCommentsAreNeverData(t *testing.T) {
	odd := []string{": OPENROUTER PROCESSING\n\n", ":keep-alive\n\n", ":\n\n", ": a\n: b\n\n", "\n", ":no blank after\r\n\r\n"}
	for _, api := range apis {
		for i, c := range odd {
			t.Run(fmt.Sprintf("%s %d", api, i), func(t *testing.T) {
				parts := strings.SplitAfter(stream(api), "\n\n")
				text := c + parts[0] + c + strings.Join(parts[1:], c)
				r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, text}}}})
				got := r.watch(asking(api, "a/m", true))
				if strings.Contains(got.text(), "data: :") || strings.Contains(got.text(), "data: \n") {
					t.Errorf("a comment became data: %q", got.text())
				}
				if api == "gemini" && got.text() != stream(api) {
					t.Errorf("Gemini's clients read nothing but events: %q", got.text())
				}
				if api != "gemini" && got.text() != text {
					t.Errorf("%q instead of %q", got.text(), text)
				}
				if route := r.told(); route.Status != 200 || api != "chat" && route.Tokens.Output == 0 {
					t.Errorf("%d %+v", route.Status, route.Tokens)
				}
			})
		}
	}
}

func TestACommentInsideOfAnEventIsKeptFromGemini(t *testing.T) {
	r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, ": one\n" + gemText + "id: 4\n: two\n" + gemStop}}}})
	if got := r.watch(asking("gemini", "a/m", true)); got.text() != gemText+"id: 4\n"+gemStop {
		t.Errorf("%q", got.text())
	}
}

func TestAVendorThatQueuesWithBlanksIsWaitedFor(t *testing.T) {
	// Empty lines for half an hour while the request waits in the vendor's queue are life, too.
	blanks := func(last string) http.Handler {
		lines := []line{{0, "\n"}}
		for range 100 {
			lines = append(lines, line{20 * time.Second, "\n"})
		}
		return &timeline{lines: append(lines, line{time.Second, last})}
	}
	t.Run("whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				blanks(ok("chat", "at last")).ServeHTTP(typed{w}, r)
			})
			r := newRig(t, lone, vendors{"a": v})
			if got := r.ask(asking("chat", "a/m", false)); got.status != 200 || !strings.Contains(got.body, "at last") {
				t.Errorf("%d %q", got.status, strings.TrimSpace(got.body))
			}
		})
	})
	t.Run("streamed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, lone, vendors{"a": blanks(stream("chat"))})
			if got := r.watch(asking("chat", "a/m", true)); got.status != 200 || !strings.HasSuffix(got.text(), stream("chat")) || r.told().Status != 200 {
				t.Errorf("%d %q", got.status, got.text())
			}
		})
	})
}

// typed calls a timeline's bytes JSON.
type typed struct{ http.ResponseWriter }

func (w typed) WriteHeader(status int) {
	w.Header().Set("Content-Type", "application/json")
	w.ResponseWriter.WriteHeader(status)
}

func (w typed) Write(p []byte) (int, error) {
	w.Header().Set("Content-Type", "application/json")
	return w.ResponseWriter.Write(p)
}

func (w typed) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func TestHalfAnEventAtTheEndIsNotPassedOn(t *testing.T) {
	for _, half := range []string{"data: {\"choices\":[{\"del", "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"", "event: x\n", "data"} {
		r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, chatRole + chatText + half}}}})
		got := r.watch(asking("chat", "a/m", true))
		rest, ok := strings.CutPrefix(got.text(), chatRole+chatText)
		if !ok || !strings.HasPrefix(rest, "data: {\"error\":{") || strings.Count(rest, "data:") != 1 || r.told().Status != 502 {
			t.Errorf("%q: %q", half, got.text())
		}
	}
}

func TestALastEventWithoutItsBlankLineCounts(t *testing.T) {
	for _, api := range apis {
		text := strings.TrimRight(stream(api), "\n")
		r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, text}}}})
		if got := r.watch(asking(api, "a/m", true)); got.text() != text || r.told().Status != 200 {
			t.Errorf("%s: %q, %d", api, got.text(), r.told().Status)
		}
	}
}

func TestAnAgentThatClosesBehindTheEndMarkHasItsAnswer(t *testing.T) {
	// Codex and pi close the connection right behind the end: no reply broke off, and it is counted.
	for api, c := range commented {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": &timeline{lines: []line{{0, c.start + c.text + c.stop}, {time.Minute, ": bye\n\n"}}}})
				path, body := asking(api, "a/m", true)
				resp, err := r.send(t.Context(), http.MethodPost, path, body)
				if err != nil {
					t.Fatal(err)
				}
				want := len(c.start + c.text + c.stop)
				if _, err := io.ReadFull(resp.Body, make([]byte, want)); err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				synctest.Wait()
				pass(2 * time.Second)
				if route := r.last(); route.Status != 200 || failKinds(route) != "" || api != "chat" && route.Tokens.Output == 0 {
					t.Errorf("%d %+v %+v", route.Status, route.Tries, route.Tokens)
				}
			})
		})
	}
}

func TestLinesOfEverySizeArriveWhole(t *testing.T) {
	for _, size := range []string{"70KiB", "1048577", "4MiB", "17MiB"} {
		for _, api := range apis {
			t.Run(size+" "+api, func(t *testing.T) {
				v := standin.New(standin.Options{Models: []string{"m"}})
				v.Script(standin.AnyKey, standin.Must("ok huge="+size)...)
				r := newRig(t, lone, vendors{"a": v})
				got := r.ask(asking(api, "a/m", true))
				if got.err != nil || strings.Count(got.body, "x") < 70<<10 || r.told().Status != 200 || strings.Contains(got.body, "\"error\":{") {
					t.Errorf("%d bytes, %v, status %d", len(got.body), got.err, r.told().Status)
				}
			})
		}
	}
}

func TestALineBeyondTheBoundEndsInAnErrorEvent(t *testing.T) {
	v := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chatRole+chatText+`data: {"choices":[{"delta":{"content":"`)
		piece := strings.Repeat("x", 1<<20)
		for range 66 {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, "\"}}]}\n\n"+chatStop)
	})
	b := &timeline{}
	r := newRig(t, abOf("m"), vendors{"a": v, "b": b})
	got := r.ask(asking("chat", "group/g", true))
	rest, ok := strings.CutPrefix(got.body, chatRole+chatText)
	if !ok || !strings.HasPrefix(rest, "data: {\"error\":{\"message\":\"a sent one event of the stream larger") && !strings.Contains(rest, "64 MiB") || strings.Contains(rest, "DONE") || b.calls.Load() != 0 {
		t.Errorf("%.200q", rest)
	}
	if route := r.told(); route.Status < 500 {
		t.Errorf("the route tells %d", route.Status)
	}
}

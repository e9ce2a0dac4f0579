package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/wire"
)

// picky is a vendor that refuses requests for what is in them; "" = it takes one.
type picky struct {
	refuse func(path, body string, h http.Header) (status int, said string)
	reply  string // "" = a good one of the API that was asked

	mu    sync.Mutex
	asked []call
}

func (v *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	v.asked = append(v.asked, call{path: r.URL.Path, body: string(raw), header: r.Header.Clone()})
	v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if status, said := v.refuse(r.URL.Path, string(raw), r.Header); said != "" {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, said)
		return
	}
	reply := v.reply
	if reply == "" {
		reply = ok(apiAt(r.URL.Path), "ok")
	}
	_, _ = io.WriteString(w, reply)
}

func apiAt(path string) string {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return "messages"
	case strings.HasSuffix(path, "/responses"):
		return "responses"
	case strings.Contains(path, ":"):
		return "gemini"
	}
	return "chat"
}

func (v *picky) paths() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []string
	for i := range v.asked {
		out = append(out, v.asked[i].path)
	}
	return strings.Join(out, " ")
}

// saying is a 400 in most vendors' shape.
func saying(said string) (int, string) {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": said, "type": "invalid_request_error"}})
	return 400, string(b)
}

func takes(string, string, http.Header) (int, string) { return 0, "" }

func pickyRig(t *testing.T, v *picky, bases string, more ...string) *rig {
	t.Helper()
	toml := "[providers.v]\n"
	for _, api := range strings.Fields(bases) {
		toml += api + ` = "` + map[string]string{"chat": "{v}/v1", "responses": "{v}/v1", "messages": "{v}", "gemini": "{v}/v1beta"}[api] + "\"\n"
	}
	return newRig(t, toml+"keys = [{ name = \"k\", value = \""+keyOne+"\" }]\n"+strings.Join(more, "\n"), vendors{"v": v})
}

func TestAFieldThatIsRefusedIsLeftOutFromThenOn(t *testing.T) {
	const body = `{"model":"v/m", "store":true,"messages":[{"role":"user","content":"1.50"}],"n":1 }`
	refuse := func(_, body string, _ http.Header) (int, string) {
		if strings.Contains(body, `"store"`) {
			return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","store"],"msg":"Extra inputs are not permitted"}]}`
		}
		return 0, ""
	}
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: refuse}
		r := pickyRig(t, v, "chat")
		if got := r.ask("/v1/chat/completions", body); got.status != 200 || len(v.asked) != 2 {
			t.Fatalf("%d %s, asked %d times", got.status, got.body, len(v.asked))
		}
		if want := `{"model":"m","messages":[{"role":"user","content":"1.50"}],"n":1 }`; v.asked[1].body != want {
			t.Errorf("%s, want %s", v.asked[1].body, want)
		}
		if lost := r.told().Tries[1].Translated; lost == nil || !strings.Contains(strings.Join(lost.Lost, ";"), "store") {
			t.Errorf("the trace tells %+v", lost)
		}
		if got := r.ask("/v1/chat/completions", strings.Replace(body, "v/m", "v/n", 1)); got.status != 200 || len(v.asked) != 3 {
			t.Errorf("another model: %d %s, asked %d times", got.status, got.body, len(v.asked))
		}
	})
	t.Run("not where it does not help", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) { return saying("Unknown parameter: 'store'.") }}
			r := pickyRig(t, v, "chat")
			for range 2 {
				if got := r.ask("/v1/chat/completions", body); got.status != 400 {
					t.Errorf("%d %s", got.status, got.body)
				}
			}
			if len(v.asked) != 4 {
				t.Errorf("asked %d times", len(v.asked))
			}
		})
	})
	t.Run("never for its value", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
				return 400, `{"error":{"code":"unsupported_value","param":"service_tier","message":"Unsupported value: 'flex'"}}`
			}}
			r := pickyRig(t, v, "chat")
			if got := r.ask("/v1/chat/completions", `{"model":"v/m","service_tier":"flex","messages":[{"role":"user","content":"x"}]}`); got.status != 400 || len(v.asked) != 1 {
				t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.asked))
			}
		})
	})
	t.Run("in a translated request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
				if strings.Contains(body, "parallel_tool_calls") {
					return saying("Unsupported parameter: 'parallel_tool_calls' is not supported with this model.")
				}
				return 0, ""
			}}
			r := pickyRig(t, v, "chat")
			ask := `{"model":"v/m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"messages":[{"role":"user","content":"x"}]}`
			for range 2 {
				if got := r.ask("/v1/messages", ask); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
			}
			r.ask("/v1/messages", strings.Replace(ask, "v/m", "v/n", 1)) // the words spoke of this model alone
			if len(v.asked) != 5 {
				t.Errorf("asked %d times", len(v.asked))
			}
		})
	})
}

func TestACacheKeyOfOursIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if strings.Contains(body, "prompt_cache_key") {
				return saying("Bad request")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "chat")
		for range 2 {
			if got := r.ask("/v1/responses", `{"model":"v/m","prompt_cache_key":"k","input":"x"}`); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if len(v.asked) != 3 {
			t.Errorf("asked %d times", len(v.asked))
		}
	})
}

func TestNoReasoningBecomesTheLowestThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if strings.Contains(body, `"none"`) {
				return saying("Unsupported value: 'none' is not supported with this model. Supported values for reasoning effort are: 'low', 'medium', and 'high'.")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "responses")
		for range 2 {
			if got := r.ask("/v1/responses", `{"model":"v/m","reasoning":{"effort":"none"},"input":"x"}`); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if len(v.asked) != 3 || v.asked[2].body != `{"model":"m","reasoning":{"effort":"low"},"input":"x"}` {
			t.Errorf("%d: %s", len(v.asked), v.asked[len(v.asked)-1].body)
		}
	})
}

// TestGeminiThinkingOffAtItsLowest: reasoning off on Gemini 3 goes at MINIMAL, or at what a model has.
func TestGeminiThinkingOffAtItsLowest(t *testing.T) {
	const ask = `{"model":"v/gemini-3-flash","reasoning_effort":"none","messages":[{"role":"user","content":"x"}]}`
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if strings.Contains(body, "MINIMAL") {
				return saying("Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "gemini")
		for range 2 {
			if got := r.ask("/v1/chat/completions", ask); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if len(v.asked) != 3 || !strings.Contains(v.asked[0].body, "MINIMAL") || !strings.Contains(v.asked[2].body, `"thinkingLevel":"LOW"`) {
			t.Errorf("%d: %s", len(v.asked), v.asked[len(v.asked)-1].body)
		}
	})
	t.Run("settings that are refused are left out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
				if strings.Contains(body, "thinking_config") {
					return saying(`Invalid JSON payload received. Unknown name "thinking_config": unknown field "thinking_config"`)
				}
				return 0, ""
			}}
			r := pickyRig(t, v, "chat", `preset = "google"`, `gemini = ""`)
			if got := r.ask("/v1/responses", `{"model":"v/gemini-3-flash","reasoning":{"effort":"low"},"input":"x"}`); got.status != 200 || len(v.asked) != 2 || strings.Contains(v.asked[1].body, "extra_body") {
				t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.asked))
			}
		})
	})
}

func TestGeminiThoughtsMarkedInExtraContent(t *testing.T) {
	reply := eventsOf("chat", deltaLine(`{"role":"assistant","content":"<thought>hm","extra_content":{"google":{"thought":true}}}`), deltaLine(`{"content":"yes"}`), finishStop, "[DONE]")
	cross(t, crossing{api: "chat", config: "preset = \"google\"\n", model: "gemini-3-flash", path: "/v1/messages", body: strings.Replace(messagesGo, "m-chat", "gemini-3-flash", 1), reply: reply, events: "start +thinking hm - +text yes - end end_turn stop"})
}

func TestAForcedToolThatIsRefusedIsTheOnlyOneOnOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if c := wire.Value(body).Get("tool_choice"); c.Text() != "auto" {
				return saying("tool_choice: only 'auto' is supported")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "chat")
		const ask = `{"model":"v/m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}},{"name":"g","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"g"},"messages":[{"role":"user","content":"x"}]}`
		for range 2 {
			if got := r.ask("/v1/messages", ask); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		last := v.asked[len(v.asked)-1].body
		if len(v.asked) != 3 || strings.Contains(last, `"name":"f"`) || !strings.Contains(last, `"name":"g"`) {
			t.Errorf("%d: %s", len(v.asked), last)
		}
	})
}

func TestAModelIsAskedWhereItIsServed(t *testing.T) {
	const tools = `Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead.`
	for _, c := range []struct{ name, bases, said, first, then string }{
		{"on Responses", "chat responses", "This is not a chat model and thus not supported in the v1/chat/completions endpoint.", "/v1/chat/completions /v1/responses", "/v1/responses"},
		{"on Messages", "chat messages", "unsupported_api_for_model: m", "/v1/chat/completions /v1/messages", "/v1/messages"},
		{"on Gemini", "chat gemini", "this model is not accessible via the chat endpoint", "/v1/chat/completions /v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"},
		{"tools and reasoning on Responses", "chat responses", tools, "/v1/chat/completions /v1/responses", "/v1/responses"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &picky{refuse: func(path, _ string, _ http.Header) (int, string) {
					if strings.Contains(path, "chat") {
						return saying(c.said)
					}
					return 0, ""
				}}
				r := pickyRig(t, v, c.bases)
				for _, want := range []string{c.first, c.first + " " + c.then} {
					got := r.ask("/v1/chat/completions", `{"model":"v/m","reasoning_effort":"high","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"x"}]}`)
					if got.status != 200 || v.paths() != want {
						t.Errorf("%d %s\nasked %s", got.status, got.body, v.paths())
					}
				}
				if len(r.rests()) != 0 {
					t.Error("a key rests for its model's endpoint")
				}
			})
		})
	}
	t.Run("nowhere else, so without reasoning", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
				if !strings.Contains(body, `"reasoning_effort":"none"`) {
					return saying("Function tools with reasoning_effort are not supported for this model.")
				}
				return 0, ""
			}}
			r := pickyRig(t, v, "chat")
			const ask = `{"model":"v/m","reasoning_effort":"high","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"x"}]}`
			for range 2 {
				if got := r.ask("/v1/chat/completions", ask); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
			}
			if len(v.asked) != 4 { // it is not remembered
				t.Errorf("asked %d times", len(v.asked))
			}
		})
	})
}

func TestFeaturesThatAVendorDoesNotKnowAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, h http.Header) (int, string) {
			switch {
			case strings.Contains(h.Get("Anthropic-Beta"), "context-1m"):
				return saying("Unexpected value(s) `context-1m-2025` for the `anthropic-beta` header.")
			case strings.Contains(body, "context_management"):
				return saying("context_management: Extra inputs are not permitted")
			case strings.Contains(body, "eager"):
				return saying("tools.0.custom.eager_input_streaming: Extra inputs are not permitted")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "messages")
		const ask = `{"model":"v/claude-x","max_tokens":9,"context_management":{"edits":[]},"tools":[{"name":"f","input_schema":{},"eager_input_streaming":true}],"messages":[{"role":"user","content":"x"}]}`
		for range 2 {
			if got := r.ask("/v1/messages", ask, "anthropic-beta: context-1m-2025,tools-2026"); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		last := v.asked[len(v.asked)-1]
		if len(v.asked) != 5 || last.header.Get("Anthropic-Beta") != "tools-2026" || last.body != `{"model":"claude-x","max_tokens":9,"tools":[{"name":"f","input_schema":{}}],"messages":[{"role":"user","content":"x"}]}` {
			t.Errorf("%d: %s %s", len(v.asked), last.header.Get("Anthropic-Beta"), last.body)
		}
	})
	t.Run("three times at the most", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: func(_, _ string, h http.Header) (int, string) {
				first, _, _ := strings.Cut(h.Get("Anthropic-Beta"), ",")
				return saying("Unexpected value(s) `" + first + "` for the `anthropic-beta` header.")
			}}
			r := pickyRig(t, v, "messages")
			if got := r.ask("/v1/messages", messagesBody("v/m"), "anthropic-beta: b1,b2,b3,b4,b5,b6"); got.status != 400 || len(v.asked) != 4 {
				t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.asked))
			}
		})
	})
}

func TestTooShortAReplyIsRaisedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if n, _ := wire.Value(body).Get("max_tokens").Int(); n < 10 {
				return saying("max_tokens must be at least 10")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "messages")
		const ask = `{"model":"v/m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`
		for range 2 {
			if got := r.ask("/v1/messages", ask); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if len(v.asked) != 4 || v.asked[3].body != strings.Replace(strings.Replace(ask, "v/m", "m", 1), ":1,", ":10,", 1) {
			t.Errorf("%d: %s", len(v.asked), v.asked[len(v.asked)-1].body)
		}
	})
}

const bareAsk = `{"model":"v/m","input":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"}]},{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"sealed"},` +
	`{"type":"message","role":"user","content":"x"},{"type":"reasoning","id":"rs_3","summary":[]}]}`

// TestBareReasoningIsLeftOutWhereItIsRefused: reasoning that nobody sealed, to a relay that does not take it.
func TestBareReasoningIsLeftOutWhereItIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if strings.Contains(body, "rs_1") {
				return 400, `{"error":{"message":"Item with id 'rs_1' not found.","param":"input"}}`
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "responses")
		for range 2 {
			if got := r.ask("/v1/responses", bareAsk); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		last := v.asked[len(v.asked)-1].body
		if len(v.asked) != 3 || strings.Count(last, `"reasoning"`) != 1 || !strings.Contains(last, "sealed") || !strings.Contains(last, `"message"`) {
			t.Errorf("%d: %s", len(v.asked), last)
		}
	})
}

func TestBareReasoningIsSentWhereItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: takes}
		r := pickyRig(t, v, "responses")
		if got := r.ask("/v1/responses", bareAsk); got.status != 200 || len(v.asked) != 1 || v.asked[0].body != strings.Replace(bareAsk, "v/m", "m", 1) {
			t.Errorf("%d %s", got.status, v.asked[0].body)
		}
	})
	t.Run("not at OpenAI", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := pickyRig(t, v, "responses", `preset = "openai"`, `chat = ""`)
			r.ask("/v1/responses", bareAsk)
			if got := v.asked[0].body; strings.Count(got, `"reasoning"`) != 1 || !strings.Contains(got, "sealed") {
				t.Error(got)
			}
		})
	})
}

func TestBareReasoningStaysWhereSomethingElseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(string, string, http.Header) (int, string) {
			return 400, `{"error":{"message":"bad","param":"reasoning.effort"}}`
		}}
		r := pickyRig(t, v, "responses")
		if got := r.ask("/v1/responses", bareAsk); got.status != 400 || len(v.asked) != 1 {
			t.Errorf("%d, asked %d times", got.status, len(v.asked))
		}
	})
}

// TestAGuessThatDidNotHelpIsPutBack: what a refusal did not name is left out one at a time, and only
// what helped is learnt.
func TestAGuessThatDidNotHelpIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &picky{refuse: func(_, body string, _ http.Header) (int, string) {
			if strings.Contains(body, "image_gen") {
				return saying("bad request")
			}
			return 0, ""
		}}
		r := pickyRig(t, v, "chat")
		ask := `{"model":"v/m","prompt_cache_key":"k","input":"x","tools":[{"type":"namespace","name":"image_gen","tools":[{"type":"function","name":"imagegen","parameters":{"type":"object"}}]}]}`
		if got := r.ask("/v1/responses", ask); got.status != 200 || len(v.asked) != 3 {
			t.Fatalf("%d %s, asked %d times", got.status, got.body, len(v.asked))
		}
		for n, want := range []struct{ key, tool bool }{{true, true}, {false, true}, {true, false}} {
			if b := v.asked[n].body; strings.Contains(b, "prompt_cache_key") != want.key || strings.Contains(b, "image_gen") != want.tool {
				t.Errorf("%d: %s", n, b)
			}
		}
		if r.ask("/v1/responses", ask); len(v.asked) != 4 || !strings.Contains(v.asked[3].body, "prompt_cache_key") || strings.Contains(v.asked[3].body, "image_gen") {
			t.Errorf("the next request: asked %d times", len(v.asked))
		}
	})
}

package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/wire"
)

// TestClaudeGoesOnMessagesWhereTheRelayHasThem: Chat's and Responses' agents too, unless the
// person, or the vendor's list, says which APIs the model has.
func TestClaudeGoesOnMessagesWhereTheRelayHasThem(t *testing.T) {
	for _, c := range []struct{ name, bases, more, model, want string }{
		{"a Claude model", "chat responses messages", "", "claude-opus-4-6", "/v1/messages /v1/messages /v1/messages /v1/messages"},
		{"one behind a relay's prefix", "chat messages", "", "anthropic/claude-opus-4-6", "/v1/messages /v1/messages /v1/messages /v1/messages"},
		{"another model", "chat responses messages", "", "glm-5", "/v1/chat/completions /v1/responses /v1/messages /v1/chat/completions"},
		{"no Messages there", "chat responses", "", "claude-opus-4-6", "/v1/chat/completions /v1/responses /v1/chat/completions /v1/chat/completions"},
		{"the person says Chat", "chat responses messages", `models = [{ id = "claude-opus-4-6", apis = ["chat"] }]`, "claude-opus-4-6", "/v1/chat/completions /v1/chat/completions /v1/chat/completions /v1/chat/completions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &picky{refuse: takes}
				r := pickyRig(t, v, c.bases, c.more)
				for _, api := range []string{"chat", "responses", "messages", "gemini"} {
					path, body := asking(api, "v/"+c.model, false)
					if got := r.ask(path, body); got.status != 200 {
						t.Errorf("%s: %d %s", api, got.status, got.body)
					}
				}
				if v.paths() != c.want {
					t.Errorf("asked %s, want %s", v.paths(), c.want)
				}
			})
		})
	}
}

// TestAutoRelaysOnTheClientsOwnAPI: what the vendor speaks is relayed, every byte but the model's name.
func TestAutoRelaysOnTheClientsOwnAPI(t *testing.T) {
	for _, api := range apis {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := pickyRig(t, v, "chat responses messages gemini")
			path, body := asking(api, "v/m", false)
			body = strings.Replace(body, "{", `{ "something_new":[1.0], `, 1)
			if got := r.ask(path, body); got.status != 200 || v.asked[0].body != strings.Replace(body, `"v/m"`, `"m"`, 1) || apiAt(v.asked[0].path) != api {
				t.Errorf("%s: %d, asked %s %s", api, got.status, v.asked[0].path, v.asked[0].body)
			}
		})
	}
	t.Run("OpenAI's models on Responses for those who speak neither", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := newRig(t, "[providers.v]\npreset = \"openai\"\nchat = \"{v}/v1\"\nresponses = \"{v}/v1\"\nkeys = [{ name = \"k\", value = \""+keyOne+"\" }]\n", vendors{"v": v})
			r.ask("/v1/messages", messagesBody("v/gpt-5.6"))
			r.ask("/v1/chat/completions", chatBody("v/gpt-5.6"))
			r.ask("/v1/messages", messagesBody("v/whisper"))
			if want := "/v1/responses /v1/chat/completions /v1/chat/completions"; v.paths() != want {
				t.Errorf("asked %s, want %s", v.paths(), want)
			}
		})
	})
}

// searching are requests that offer a web search, beside a function and alone.
var searching = map[string][2]string{
	"responses": {"/v1/responses", `{"model":"v/m","tools":[{"type":"function","name":"f"},{"type":"web_search","external_web_access":true}],"tool_choice":"auto","input":"x"}`},
	"messages":  {"/v1/messages", `{"model":"v/m","max_tokens":9,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}],"tool_choice":{"type":"tool","name":"web_search"},"messages":[{"role":"user","content":"x"}]}`},
	"chat":      {"/v1/chat/completions", `{"model":"v/m","web_search_options":{},"messages":[{"role":"user","content":"x"}]}`},
	"gemini":    {"/v1beta/models/v%2Fm:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]}`},
}

// TestSearchOfferedStaysOnTheClientsAPI: a vendor that can't search is asked once, on the agent's
// own path, and without the search.
func TestSearchOfferedStaysOnTheClientsAPI(t *testing.T) {
	for api, c := range searching {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &picky{refuse: takes}
				r := pickyRig(t, v, "chat responses messages gemini")
				got := r.ask(c[0], c[1])
				body := v.asked[0].body
				if got.status != 200 || len(v.asked) != 1 || apiAt(v.asked[0].path) != api || strings.Contains(body, "earch") {
					t.Errorf("%d, asked %s %s", got.status, v.paths(), body)
				}
				if _, err := wire.ReadValue([]byte(body)); err != nil || strings.Contains(body, `"f"`) != strings.Contains(c[1], `"f"`) || api == "messages" && strings.Contains(body, "tool") {
					t.Error(body)
				}
			})
			t.Run("of a vendor that searches", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := &picky{refuse: takes}
					preset := map[string]string{"responses": "openai", "messages": "anthropic", "chat": "openrouter", "gemini": "google"}[api]
					more := `preset = "` + preset + `"`
					for _, other := range apis {
						if other != api {
							more += "\n" + other + ` = ""`
						}
					}
					r := pickyRig(t, v, api, more)
					r.ask(c[0], c[1])
					if want := strings.Replace(c[1], "v/m", "m", 1); v.asked[0].body != want {
						t.Errorf("%s, want %s", v.asked[0].body, want)
					}
				})
			})
		})
	}
	t.Run("a relay that is said to search", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := pickyRig(t, v, "messages", "searches = true")
			r.ask(searching["messages"][0], searching["messages"][1])
			if !strings.Contains(v.asked[0].body, "web_search_20250305") {
				t.Error(v.asked[0].body)
			}
		})
	})
	t.Run("an agent's own tool of that name stays", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := pickyRig(t, v, "messages")
			ask := `{"model":"v/m","max_tokens":9,"tools":[{"name":"web_search","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"}]}`
			r.ask("/v1/messages", ask)
			if v.asked[0].body != strings.Replace(ask, "v/m", "m", 1) {
				t.Error(v.asked[0].body)
			}
		})
	})
	t.Run("a search in another API's words", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := &picky{refuse: takes}
			r := pickyRig(t, v, "messages", `preset = "anthropic"`)
			r.ask(searching["responses"][0], strings.Replace(searching["responses"][1], "v/m", "v/claude-opus-4-6", 1))
			if !strings.Contains(v.asked[0].body, `"type":"web_search_2`) {
				t.Error(v.asked[0].body)
			}
		})
	})
}

package gateway_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/state"
)

const png = "iVBORw0KGgo="

// withImage are requests that show an image in their only turn, by API.
var withImage = map[string]string{
	"/v1/chat/completions": `{"model":"MODEL","messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]}]}`,
	"/v1/responses":        `{"model":"MODEL","input":[{"role":"user","content":[{"type":"input_text","text":"what is it?"},{"type":"input_image","image_url":"data:image/png;base64,` + png + `"}]}]}`,
	"/v1/messages":         `{"model":"MODEL","max_tokens":99,"messages":[{"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}]}]}`,
}

// imageBefore are requests whose image stands in an earlier turn, and in a tool's result.
var imageBefore = map[string]string{
	"/v1/chat/completions": `{"model":"MODEL","messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `"}}]},{"role":"assistant","content":"yes"},{"role":"user","content":"go on"}]}`,
	"/v1/messages":         `{"model":"MODEL","max_tokens":99,"messages":[{"role":"user","content":"look"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"shot","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"here"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}}]}]}]}`,
	"/v1/responses":        `{"model":"MODEL","input":[{"role":"user","content":"look"},{"type":"function_call","call_id":"c","name":"view_image","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,` + png + `"}]}]}`,
}

// eyed is a provider of one API at {v}, whose models are blind, see, or are not known.
func eyed(api string) string {
	base := map[string]string{"chat": "{v}/v1", "responses": "{v}/v1", "messages": "{v}"}[api]
	return "[providers.v]\n" + api + " = \"" + base + "\"\nkeys = [{ name = \"k\", value = \"sk-1\" }]\n" +
		"models = [{ id = \"dark\", inputs = [\"text\"] }, { id = \"eye\", inputs = [\"text\", \"image\"] }, \"any\"]\nrouting = \"order\"\naffinity = \"off\"\n"
}

// eyes is a Chat provider at {e} with a model that describes.
const eyes = "describer = \"e/eye\"\n[providers.e]\nchat = \"{e}/v1\"\nkeys = [{ name = \"k\", value = \"sk-e\" }]\nmodels = [{ id = \"eye\", inputs = [\"text\", \"image\"] }]\n"

func apiOfPath(path string) string {
	return map[string]string{"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages"}[path]
}

func TestAnImageForAModelThatSeesNone(t *testing.T) {
	for path, body := range withImage {
		t.Run("in the current turn it is refused, in the asker's shape: "+path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := good(apiOfPath(path), false)
				r := newRig(t, eyed(apiOfPath(path)), vendors{"v": v})
				got := r.ask(path, strings.Replace(body, "MODEL", "v/dark", 1))
				if got.status != 400 || v.asked() != 0 || !strings.Contains(got.body, "takes none") || !strings.Contains(got.body, "describer") {
					t.Errorf("%d %s", got.status, got.body)
				}
				if shape := path == "/v1/messages"; shape != strings.Contains(got.body, `"type":"error"`) {
					t.Errorf("%s", got.body)
				}
				if left := r.last().Left; len(left) != 1 || left[0].Out != "blind" {
					t.Errorf("left %+v", left)
				}
				for _, model := range []string{"v/eye", "v/any"} {
					if got := r.ask(path, strings.Replace(body, "MODEL", model, 1)); got.status != 200 {
						t.Errorf("%s: %d %s", model, got.status, got.body)
					}
				}
				if n := v.asked(); n != 2 || !strings.Contains(v.seen()[1].body, png) {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
	for path, body := range imageBefore {
		for _, api := range []string{"chat", "responses", "messages"} {
			t.Run("before it, and in results, it is left out: "+path+" to "+api, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := good(api, true)
					r := newRig(t, eyed(api), vendors{"v": v})
					got := r.ask(path, strings.Replace(body, "MODEL", "v/dark", 1))
					if got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
					if sent := v.seen()[0].body; strings.Contains(sent, png) || !strings.Contains(sent, "image") {
						t.Errorf("sent %s", sent)
					}
					if told := r.last().Tries[0].Translated; told == nil || !strings.Contains(strings.Join(told.Lost, "; "), "image") {
						t.Errorf("told %+v", told)
					}
				})
			})
		}
	}
}

func TestAnImageInAGroupGoesToMembersThatSee(t *testing.T) {
	group := func(members string) string {
		return "[groups.g]\naffinity = \"off\"\nrouting = \"order\"\nmembers = [" + members + "]\n"
	}
	for _, c := range []struct{ name, members, order string }{
		{"only to those", `"v/dark", "v/any", "v/eye"`, "eye"},
		{"none known to see: to those of which nobody knows", `"v/dark", "v/any"`, "any"},
		{"none at all", `"v/dark"`, ""},
	} {
		for path, body := range withImage {
			t.Run(c.name+" "+path, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					v := good(apiOfPath(path), false)
					r := newRig(t, eyed(apiOfPath(path))+group(c.members), vendors{"v": v})
					got := r.ask(path, strings.Replace(body, "MODEL", "g", 1))
					var models []string
					for _, o := range r.last().Order {
						models = append(models, o.Model)
					}
					if strings.Join(models, " ") != c.order || (got.status == 200) != (c.order != "") || c.order == "" && got.status != 400 {
						t.Errorf("%d, order %v", got.status, models)
					}
				})
			})
		}
	}
	t.Run("one in the history binds nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := good("chat", false)
			r := newRig(t, eyed("chat")+group(`"v/any", "v/eye"`), vendors{"v": v})
			r.ask("/v1/chat/completions", strings.Replace(imageBefore["/v1/chat/completions"], "MODEL", "g", 1))
			if o := r.last().Order; len(o) != 2 || o[0].Model != "any" {
				t.Errorf("%+v", o)
			}
		})
	})
}

func TestAnImageIsDescribedToAModelThatSeesNone(t *testing.T) {
	describer := func() *canned {
		return &canned{status: 200, kind: "application/json", body: ok("chat", "a red button")}
	}
	for path, body := range withImage {
		t.Run("in place of it: "+path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, e := good(apiOfPath(path), true), describer()
				r := newRig(t, eyes+eyed(apiOfPath(path)), vendors{"v": v, "e": e})
				for range 2 {
					if got := r.ask(path, strings.Replace(body, "MODEL", "v/dark", 1)); got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
				}
				if sent := v.seen()[1].body; strings.Contains(sent, png) || !strings.Contains(sent, "a red button") || !strings.Contains(sent, "e/eye") || !strings.Contains(sent, "what is it?") {
					t.Errorf("sent %s", sent)
				}
				if n := e.asked(); n != 1 { // the same image again is known
					t.Errorf("the describer was asked %d times", n)
				}
				if asked := e.seen()[0].body; !strings.Contains(asked, png) || !strings.Contains(asked, `"model":"eye"`) {
					t.Errorf("asked %s", asked)
				}
				all := r.kept.all()
				if len(all) != 3 || all[0].Inner != "describer" || all[0].Of != all[1].ID || all[0].Agent != "magpie" || all[1].Inner != "" {
					t.Errorf("%d routes: %+v", len(all), all[0])
				}
				if held := r.store.Held(state.Talk{Scope: "e/eye"}, time.Now()); len(held) != 0 {
					t.Errorf("a question of the gateway's own is remembered as a conversation: %v", held)
				}
			})
		})
	}
	t.Run("one in a result too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, e := good("chat", true), describer()
			r := newRig(t, eyes+eyed("chat"), vendors{"v": v, "e": e})
			r.ask("/v1/messages", strings.Replace(imageBefore["/v1/messages"], "MODEL", "v/dark", 1))
			if sent := v.seen()[0].body; !strings.Contains(sent, "a red button") || !strings.Contains(sent, "here") {
				t.Errorf("sent %s", sent)
			}
		})
	})
	t.Run("a group keeps its order, and nothing is described for members that see", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := describer()
			v := eachModel{"eye": {status: 529, kind: "application/json", body: `{"error":{"message":"busy"}}`}, "dark": good("chat", false)}
			r := newRig(t, eyes+eyed("chat")+"[groups.g]\nrouting = \"order\"\naffinity = \"off\"\nmembers = [\"v/eye\", \"v/dark\"]\n", vendors{"v": v, "e": e})
			body := strings.Replace(withImage["/v1/chat/completions"], "MODEL", "g", 1)
			if got := r.ask("/v1/chat/completions", body); got.status != 200 || e.asked() != 1 || len(r.last().Order) != 2 {
				t.Errorf("%d, described %d times", got.status, e.asked())
			}
			if !strings.Contains(v["eye"].seen()[0].body, png) || strings.Contains(v["dark"].seen()[0].body, png) {
				t.Error("who got the image")
			}
		})
	})
	t.Run("what can't be described is told, with who could not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, e := good("chat", false), &canned{status: 401, kind: "application/json", body: `{"error":{"message":"bad key"}}`}
			r := newRig(t, eyes+eyed("chat"), vendors{"v": v, "e": e})
			got := r.ask("/v1/chat/completions", strings.Replace(withImage["/v1/chat/completions"], "MODEL", "v/dark", 1))
			if got.status != 502 || !strings.Contains(got.body, "e/eye could not describe the image") || v.asked() != 0 {
				t.Errorf("%d %s", got.status, got.body)
			}
			if route := r.last(); route.Tries[0].Rest != nil || route.Tries[0].Row != "not-described" {
				t.Errorf("%+v", route.Tries)
			}
		})
	})
	t.Run("what could not be described is asked for once, however many could answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, e := good("chat", false), &canned{status: 400, kind: "application/json", body: `{"error":{"message":"no"}}`}
			three := strings.Replace(eyed("chat"), `keys = [`, `keys = [{ name = "k1", value = "sk-2" }, { name = "k2", value = "sk-3" }, `, 1)
			r := newRig(t, eyes+three, vendors{"v": v, "e": e})
			body := strings.Replace(withImage["/v1/chat/completions"], "MODEL", "v/dark", 1)
			if got := r.ask("/v1/chat/completions", body); got.status != 502 || e.asked() != 1 || len(r.last().Tries) < 3 {
				t.Errorf("%d %s, asked %d times", got.status, got.body, e.asked())
			}
			if r.ask("/v1/chat/completions", body); e.asked() != 2 {
				t.Errorf("the next request asks anew: %d", e.asked())
			}
		})
	})
	t.Run("another member may still answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v, e := good("chat", false), &canned{status: 401, kind: "application/json", body: `{"error":{"message":"bad key"}}`}
			r := newRig(t, eyes+eyed("chat")+"[groups.g]\nrouting = \"order\"\naffinity = \"off\"\nmembers = [\"v/dark\", \"v/eye\"]\n", vendors{"v": v, "e": e})
			if got := r.ask("/v1/chat/completions", strings.Replace(withImage["/v1/chat/completions"], "MODEL", "g", 1)); got.status != 200 || len(r.last().Tries) != 2 {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	})
	t.Run("a describer that is itself blind describes nothing to itself", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v := good("chat", false)
			r := newRig(t, "describer = \"v/dark\"\n"+eyed("chat"), vendors{"v": v})
			got := r.ask("/v1/chat/completions", strings.Replace(withImage["/v1/chat/completions"], "MODEL", "v/dark", 1))
			if got.status != 502 || !strings.Contains(got.body, "v/dark could not describe") || v.asked() != 0 {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	})
}

func TestAnImageWithoutAURLCannotBeTranslated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := good("chat", true)
		r := newRig(t, eyed("chat"), vendors{"v": v})
		got := r.ask("/v1/responses", `{"model":"v/eye","input":[{"role":"user","content":[{"type":"input_image"}]}]}`)
		if got.status != 400 || v.asked() != 0 {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// eachModel is a vendor of Chat that answers each model in its own way.
type eachModel map[string]*canned

func (v eachModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked)
	r.Body = io.NopCloser(bytes.NewReader(body))
	v[asked.Model].ServeHTTP(w, r)
}

func TestImageTool(t *testing.T) {
	const tool = `{"type":"namespace","name":"image_gen","tools":[{"type":"function","name":"imagegen","parameters":{"type":"object"}}]}`
	const other = `{"type":"function","name":"ls","parameters":{"type":"object"}}`
	refuses := func(words string) func(map[string]any) string {
		return func(body map[string]any) string {
			b, _ := json.Marshal(body["tools"])
			if strings.Contains(string(b), "image_gen") {
				return words
			}
			return ""
		}
	}
	const unknown = "tools[0].type: 'namespace' is not a kind of tool here"
	ask := `{"model":"m","input":"hi","tools":[` + tool + `,` + other + `]}`
	for _, api := range []string{"responses", "chat"} {
		t.Run("without it the request is taken, and it is never offered again: "+api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := crossing{api: api, path: "/v1/responses", body: ask, reply: ok(api, "ok"), refuse: refuses(unknown)}
				v := &crossed{c: &c}
				r := newRig(t, c.provided(), vendors{"v": v})
				if got := r.ask(c.path, ask); got.status != 200 || len(v.raw) != 2 {
					t.Fatalf("%d, asked %d times: %s", got.status, len(v.raw), got.body)
				}
				if strings.Contains(v.raw[1], "image_gen") || !strings.Contains(v.raw[1], `"ls"`) {
					t.Errorf("sent %s", v.raw[1])
				}
				if api == "responses" && v.raw[1] != `{"model":"m","input":"hi","tools":[`+other+`]}` {
					t.Errorf("sent %s", v.raw[1])
				}
				if route := r.last(); len(route.Tries) != 2 || !route.Tries[1].Again || route.Tries[0].Rest != nil {
					t.Errorf("%+v", route.Tries)
				}
				if r.ask(c.path, ask); len(v.raw) != 3 || strings.Contains(v.raw[2], "image_gen") {
					t.Errorf("the next request: asked %d times", len(v.raw))
				}
			})
		})
		t.Run("where it was all that was offered, nothing is: "+api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := `{"model":"m","input":"hi","tools":[` + tool + `],"tool_choice":"auto"}`
				c := crossing{api: api, path: "/v1/responses", body: body, reply: ok(api, "ok"), refuse: refuses(unknown)}
				v := &crossed{c: &c}
				r := newRig(t, c.provided(), vendors{"v": v})
				if got := r.ask(c.path, body); got.status != 200 || strings.Contains(v.raw[1], "tool") {
					t.Errorf("%d, sent %s", got.status, v.raw[1])
				}
			})
		})
		t.Run("refused without it too, it is offered again: "+api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := crossing{api: api, path: "/v1/responses", body: ask, reply: ok(api, "ok"), refuse: func(map[string]any) string { return unknown }}
				v := &crossed{c: &c}
				r := newRig(t, c.provided(), vendors{"v": v})
				for n := range 2 {
					if got := r.ask(c.path, ask); got.status != 400 || len(v.raw) != 2*n+2 || !strings.Contains(v.raw[2*n], "image_gen") || strings.Contains(v.raw[2*n+1], "image_gen") {
						t.Errorf("%d, asked %d times", got.status, len(v.raw))
					}
				}
			})
		})
	}
	never := func(t *testing.T, words string, opts ...func(*gateway.Deps)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c := crossing{api: "responses", path: "/v1/responses", body: ask, reply: ok("responses", "ok"), refuse: refuses(words)}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v}, opts...)
			if got := r.ask(c.path, ask); got.status != 400 || len(v.raw) != 1 {
				t.Errorf("%d, asked %d times", got.status, len(v.raw))
			}
		})
	}
	t.Run("never of a sign-in of ChatGPT", func(t *testing.T) {
		never(t, unknown, signedIn, func(d *gateway.Deps) { d.Catalog.Provider("v").Dialect.Vendor = "codex" })
	})
	t.Run("not where the refusal is about a field", func(t *testing.T) { never(t, "Unsupported parameter: 'store'") })
	t.Run("not where a conversation is too long", func(t *testing.T) {
		never(t, "This model's maximum context length is 1000 tokens. However, you requested 2000 tokens")
	})
	t.Run("not of what offers none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			body := `{"model":"m","input":"hi","tools":[` + other + `]}`
			c := crossing{api: "responses", path: "/v1/responses", body: body, refuse: func(map[string]any) string { return unknown }}
			v := &crossed{c: &c}
			r := newRig(t, c.provided(), vendors{"v": v})
			if got := r.ask(c.path, body); got.status != 400 || len(v.raw) != 1 {
				t.Errorf("%d, asked %d times", got.status, len(v.raw))
			}
		})
	})
}

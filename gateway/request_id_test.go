package gateway_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// named is the name of the request in a body of Messages' errors, and in its header.
func named(t *testing.T, got answer) (body, header string) {
	t.Helper()
	v := parsed(t, got.body).(map[string]any)
	body, _ = v["request_id"].(string)
	return body, got.header.Get("Request-Id")
}

func TestAVendorsErrorNamesItsRequestToAgentsOfMessages(t *testing.T) {
	const (
		theirs = `{"type":"error","error":{"type":"invalid_request_error","message":"no"},"request_id":"req_theirs"}`
		bare   = `{"type":"error", "error":{"type":"invalid_request_error","message":"no"} }`
		null   = `{"type":"error","request_id":null,"error":{"type":"invalid_request_error","message":"no"}}`
		openai = `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":null}}`
	)
	for name, c := range map[string]struct {
		api, body string
		headers   []string
		want      string // "" = ours
		same      bool   // the body stays as it came
	}{
		"body and header":           {"messages", theirs, []string{"Request-Id: req_theirs"}, "req_theirs", true},
		"the body alone":            {"messages", theirs, nil, "req_theirs", true},
		"the header alone":          {"messages", bare, []string{"Request-Id: req_head"}, "req_head", false},
		"a header by another name":  {"messages", bare, []string{"X-Request-Id: req_x"}, "req_x", false},
		"none":                      {"messages", bare, nil, "", false},
		"nothing in its place":      {"messages", null, nil, "", false},
		"a vendor of Chat's header": {"chat", openai, []string{"X-Request-Id: req_x"}, "req_x", false},
		"a vendor of Chat, none":    {"chat", openai, nil, "", false},
		"no JSON":                   {"messages", "no", nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := &canned{status: 400, kind: "application/json", body: c.body, headers: c.headers}
			cr := crossing{api: c.api, model: "m"}
			r := newRig(t, cr.provided(), vendors{"v": v})
			got := r.ask("/v1/messages", messagesBody("m"))
			body, header := named(t, got)
			want := c.want
			if want == "" {
				want = "req_magpie_" + got.header.Get("X-Magpie-Request")
			}
			if body != want || header != want || got.status != 400 || !strings.Contains(got.body, "no") {
				t.Errorf("%d %s, header %q, want %q", got.status, got.body, header, want)
			}
			if c.same && got.body != c.body {
				t.Errorf("%s", got.body)
			}
		})
	}
}

func TestOwnErrorsNameTheirRequestToAgentsOfMessages(t *testing.T) {
	r := newRig(t, lone, vendors{"a": good("messages", false)})
	for path, body := range map[string]string{"/v1/messages": messagesBody("nowhere/m"), "/v1/messages/nothing": "{}"} {
		got := r.ask(path, body)
		in, header := named(t, got)
		if want := "req_magpie_" + got.header.Get("X-Magpie-Request"); in != want || header != want {
			t.Errorf("%s: %d %s, header %q", path, got.status, got.body, header)
		}
	}
	for path, status := range map[string]int{"/v1/models?limit=0": 400, "/v1/models?after_id=nobody": 400, "/v1/models/nowhere": 404} {
		got := r.do(http.MethodGet, path, "", "Anthropic-Version: 2023-06-01")
		in, header := named(t, got)
		if want := "req_magpie_" + got.header.Get("X-Magpie-Request"); got.status != status || in != want || header != want || want == "req_magpie_" {
			t.Errorf("%s: %d %s, header %q", path, got.status, got.body, header)
		}
		if told := r.last(); strconv.FormatInt(told.ID, 10) != got.header.Get("X-Magpie-Request") || told.API != "messages" || told.Status != status {
			t.Errorf("%s: the trace has %+v", path, told)
		}
	}
	for _, api := range []string{"chat", "responses", "gemini"} {
		path, body := asking(api, "nowhere/m", false)
		if got := r.ask(path, body); strings.Contains(got.body, "request_id") || got.header.Get("Request-Id") != "" {
			t.Errorf("%s: %s %v", api, got.body, got.header)
		}
	}
}

func TestACallerWithoutAKeyIsToldTheRequestOfItsModelList(t *testing.T) {
	r := newRig(t, "cors_origins = [\"https://app.example\"]\n"+lone, vendors{"a": good("messages", false)})
	got := r.do(http.MethodGet, "/v1/models", "", "Anthropic-Version: 2023-06-01", "Origin: https://app.example")
	in, header := named(t, got)
	if want := "req_magpie_" + got.header.Get("X-Magpie-Request"); got.status != 401 || in != want || header != want || want == "req_magpie_" {
		t.Errorf("%d %s, header %q", got.status, got.body, header)
	}
}

// TestAnErrorInAStreamNamesTheRequestOfItsHeaders: whether the vendor or a sign of life began it.
func TestAnErrorInAStreamNamesTheRequestOfItsHeaders(t *testing.T) {
	begun := eventsOf("messages", `message_start {"message":{"id":"m","content":[]}}`, `content_block_start {"index":0,"content_block":{"type":"text","text":""}}`, `content_block_delta {"index":0,"delta":{"type":"text_delta","text":"a"}}`)
	chat := eventsOf("chat", deltaLine(`{"content":"a"}`))
	for name, c := range map[string]struct {
		api, reply string
		headers    []string
		want       string
	}{
		"relayed":            {"messages", begun, []string{"Request-Id: req_1"}, "req_1"},
		"relayed, nameless":  {"messages", begun, nil, ""},
		"translated":         {"chat", chat, []string{"Request-Id: req_2"}, "req_2"},
		"translated nowhere": {"chat", chat, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &canned{status: 200, kind: "text/event-stream", body: c.reply, headers: c.headers}
				cr := crossing{api: c.api, model: "m"}
				got := newRig(t, cr.provided(), vendors{"v": v}).ask("/v1/messages", messagesStream("m"))
				want := c.want
				if want == "" {
					want = "req_magpie_" + got.header.Get("X-Magpie-Request")
				}
				if n := strings.Count(got.body, `"request_id":"`+want+`"`); n != 1 || !strings.Contains(got.body, "event: error") {
					t.Errorf("%s, header %q", got.body, got.header.Get("Request-Id"))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		v := &canned{status: 500, kind: "application/json", body: `{"type":"error","error":{"type":"api_error","message":"no"},"request_id":"req_late"}`}
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pass(time.Minute)
			v.ServeHTTP(w, r)
		})
		got := newRig(t, lone, vendors{"a": slow}).ask("/v1/messages", messagesStream("a/m"))
		id := "req_magpie_" + got.header.Get("X-Magpie-Request")
		if got.status != 200 || got.header.Get("Request-Id") != id || !strings.Contains(got.body, `"request_id":"`+id+`"`) {
			t.Errorf("after a sign of life: %d %s %v", got.status, got.body, got.header)
		}
	})
}

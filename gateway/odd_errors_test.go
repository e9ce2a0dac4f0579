package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway/trace"
)

// Vendors' errors inside of a 200, as the first thing that they say.
const (
	chatLimited = "data: {\"error\":{\"message\":\"Rate limit reached for requests\",\"type\":\"requests\",\"code\":\"rate_limit_exceeded\"}}\n\n"
	respLimited = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"r\",\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached for requests\"}}}\n\n"
	respBare    = "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached for requests\",\"param\":\"input\"}\n\n"
)

func events(body string) *canned {
	return &canned{status: http.StatusOK, kind: "text/event-stream", body: body}
}

func TestAnErrorInsideOfA200KeepsItsVendorsWord(t *testing.T) {
	for name, c := range map[string]struct{ api, body, want string }{
		"chat":                  {"chat", chatLimited, `"param":null,"code":"rate_limit_exceeded"`},
		"chat, whole":           {"chat", `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota","param":"x"}}`, `"param":"x","code":"insufficient_quota"`},
		"responses":             {"responses", respLimited, `"param":null,"code":"rate_limit_exceeded"`},
		"responses, at the top": {"responses", respBare, `"param":"input","code":"rate_limit_exceeded"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := events(c.body)
				if strings.HasPrefix(c.body, "{") {
					v.kind = "application/json"
				}
				r := newRig(t, lone, vendors{"a": v})
				if got := r.ask(asking(c.api, "a/m", true)); got.status != http.StatusTooManyRequests || !strings.Contains(got.body, c.want) {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		})
	}
}

func TestAVendorsErrorInOtherClothesFailsOver(t *testing.T) {
	const broke = `{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`
	for name, c := range map[string]struct {
		first *canned
		fail  trace.Kind
		says  string
	}{
		"whole, with null for an answer": {&canned{status: 200, kind: "application/json", body: broke}, trace.Credit, "insufficient balance"},
		"streamed":                       {events("data: " + broke + "\n\n"), trace.Credit, "insufficient balance"},
		"named by its event":             {events("event: error\ndata: {\"message\":\"You exceeded your current quota\",\"code\":\"insufficient_quota\"}\n\n"), trace.Credit, "You exceeded your current quota"},
		"named, in plain words":          {events(chatRole + "event: error\ndata: the server is overloaded\n\n"), trace.Overloaded, "the server is overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				streamed := c.first.kind != "application/json"
				b := good("chat", streamed)
				r := newRig(t, abOf("m"), vendors{"a": c.first, "b": b})
				got := r.ask(asking("chat", "group/g", streamed))
				tries := r.last().Tries
				if got.status != 200 || got.body != b.body || len(tries) != 2 || tries[0].Fail != c.fail || tries[0].Error != c.says || tries[0].Rest == nil {
					t.Errorf("%d %s, tries %+v", got.status, got.body, tries)
				}
			})
		})
	}
}

func TestAFailureThatSaysNothingIsToldAsWhatCame(t *testing.T) {
	for name, c := range map[string]struct {
		v    *canned
		says string
	}{
		"an empty object": {&canned{status: 200, kind: "application/json", body: "{}"}, "a answered 200 and doesn't say what is wrong"},
		"no redirect":     {&canned{status: 304}, "a answered 304 and doesn't say what is wrong"},
		"an odd status":   {&canned{status: 600}, "a answered 600 and doesn't say what is wrong"},
		"a plain 500":     {&canned{status: 500}, "Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, lone, vendors{"a": c.v})
				got := r.ask(asking("chat", "a/m", false))
				if !strings.Contains(got.body, `"`+c.says+`"`) || got.status < 500 || got.status > 502 || r.last().Tries[0].Error != c.says {
					t.Errorf("%d %s, %+v", got.status, got.body, r.last().Tries)
				}
			})
		})
	}
}

func TestTheModelInAHeaderFitsOneWhereItIsTranslatedToo(t *testing.T) {
	long := strings.Repeat("m", 5000)
	for model, want := range map[string]string{`m\u001b[31m`: "m?[31m", long: long[:256] + "…"} {
		r := newRig(t, "[providers.a]\nmessages = \"{a}\"\nkeys = [{ name = \"k1\", value = \""+keyOne+"\" }]\n", vendors{"a": good("messages", false)})
		if got := r.ask(asking("chat", "a/"+model, false)); got.status != 200 || got.header.Get("X-Magpie-Model") != want {
			t.Errorf("%d %v", got.status, got.header)
		}
	}
}

func TestAnErrorInOtherClothesInTheMiddleIsNoEnd(t *testing.T) {
	for name, event := range map[string]string{
		"named by its event": "event: error\ndata: {\"message\":\"boom\"}\n\n",
		"MiniMax's":          "data: {\"choices\":null,\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1},\"base_resp\":{\"status_code\":1008,\"status_msg\":\"insufficient balance\"}}\n\n",
	} {
		for _, api := range apis {
			t.Run(name+" to "+api, func(t *testing.T) {
				r := newRig(t, "[providers.a]\nchat = \"{a}/v1\"\nkeys = [{ name = \"k1\", value = \""+keyOne+"\" }]\n", vendors{"a": events(chatRole + chatText + event)})
				got := r.ask(asking(api, "a/m", true))
				if body := []byte(got.body); got.status != 200 || !strings.Contains(got.body, "hel") || !errorEvent(api, body) || endOf(api, body) {
					t.Errorf("%d %s", got.status, got.body)
				}
				if route := r.told(); route.Status < 500 || failKinds(route) != "network" {
					t.Errorf("%d, tries %+v", route.Status, route.Tries)
				}
			})
		}
	}
}

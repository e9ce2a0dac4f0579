package gateway_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway"
)

// shelf is where media are fetched from, and what was.
type shelf struct {
	mu   sync.Mutex
	has  map[string]string
	mime string
	got  []string
}

func (s *shelf) Get(_ context.Context, address string) (string, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, address)
	if data, ok := s.has[address]; ok {
		return s.mime, []byte(data), nil
	}
	return "", nil, errors.New("its address isn't a public one")
}

func TestAnImageByURLReachesGeminiByItsBytes(t *testing.T) {
	png, _ := base64.StdEncoding.DecodeString(pixel)
	for name, c := range map[string][2]string{
		"of Messages":  {"/v1/messages", `{"model":"gemini-3-x","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"URL"}}]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`},
		"of Chat":      {"/v1/chat/completions", `{"model":"gemini-3-x","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"URL"}},{"type":"image_url","image_url":{"url":"URL"}}]}]}`},
		"in a result":  {"/v1/messages", `{"model":"gemini-3-x","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"URL"}}]}]}]}`},
		"of Responses": {"/v1/responses", `{"model":"gemini-3-x","input":[{"role":"user","content":[{"type":"input_image","image_url":"URL"}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &shelf{has: map[string]string{"https://example.com/a.png": string(png)}, mime: "application/octet-stream"}
				co := crossing{api: "gemini", model: "gemini-3-x", reply: ok("gemini", "ok")}
				v := &crossed{c: &co}
				r := newRig(t, co.provided(), vendors{"v": v}, func(d *gateway.Deps) { d.Media = on })
				got := r.ask(c[0], strings.ReplaceAll(c[1], "URL", "https://example.com/a.png"))
				if got.status != 200 || len(on.got) != 1 || !strings.Contains(v.raw[0], `"inlineData":{"mimeType":"image/png","data":"`+pixel+`"}`) {
					t.Errorf("%d %s, fetched %v\n%s", got.status, got.body, on.got, v.raw)
				}
			})
		})
	}
}

func TestAnImageThatCantBeFetchedIsRefusedOrNoted(t *testing.T) {
	const now = `{"model":"gemini-3-x","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://10.0.0.1/a.png"}}]}]}`
	before := strings.Replace(now, `}]}]}`, `}]},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, 1)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"in the turn that is asked":   {now, 400, "isn't a public one"},
		"what is there is no image":   {strings.Replace(now, "10.0.0.1", "example.com", 1), 400, "is no image"},
		"over http":                   {strings.Replace(now, "https", "http", 1), 400, "image_url"},
		"in a turn before it":         {before, 200, "image"},
		"of a vendor that fetches":    {strings.Replace(now, "gemini-3-x", "w/m", 1), 200, "10.0.0.1"},
		"of a model that sees none":   {strings.Replace(now, "gemini-3-x", "blind/gemini-3-y", 1), 400, "takes none"},
		"before, of one that doesn't": {strings.Replace(before, "gemini-3-x", "blind/gemini-3-y", 1), 200, "image"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &shelf{has: map[string]string{"https://example.com/a.png": "<html>"}, mime: "text/html"}
				co := crossing{api: "gemini", model: "gemini-3-x", reply: ok("gemini", "ok")}
				v, w := &crossed{c: &co}, &crossed{c: &crossing{reply: ok("responses", "ok")}}
				more := "\n[providers.w]\nresponses = \"{w}/v1\"\nkeys = [{ name = \"k\", value = \"" + keyTwo + "\" }]\n" +
					"[providers.blind]\ngemini = \"{v}/v1beta\"\nmodels = [{ id = \"gemini-3-y\", inputs = [\"text\"] }]\nkeys = [{ name = \"k\", value = \"" + keyOne + "\" }]\n"
				r := newRig(t, co.provided()+more, vendors{"v": v, "w": w}, func(d *gateway.Deps) { d.Media = on })
				got := r.ask("/v1/chat/completions", c.body)
				said := got.body
				if got.status == 200 {
					said = strings.Join(append(v.raw, w.raw...), "")
				}
				if got.status != c.status || !strings.Contains(said, c.want) {
					t.Errorf("%d %s\n%s", got.status, got.body, said)
				}
				if got.status == 400 && len(v.raw) > 0 {
					t.Errorf("the vendor was asked %s", v.raw)
				}
			})
		})
	}
}

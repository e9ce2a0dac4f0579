package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"dev.magpie/gateway/redact"
)

// TestWhatOfARequestIsMasked has {K} for the key, {M} for an address of mail, and {p} for what
// is masked of them.
func TestWhatOfARequestIsMasked(t *testing.T) {
	const mail = "jane@mail.example.org"
	for name, c := range map[string]struct{ in, want string }{
		"a system prompt":               {`{"system":"use {K}"}`, `{"system":"use {p}"}`},
		"blocks of it":                  {`{"system":[{"type":"text","text":"{K}","cache_control":{"type":"ephemeral"}}]}`, `{"system":[{"type":"text","text":"{p}","cache_control":{"type":"ephemeral"}}]}`},
		"instructions":                  {`{"instructions":"{K}","input":"{M}"}`, `{"instructions":"{p}","input":"{p}"}`},
		"items":                         {`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"{K}"}]},{"type":"function_call_output","call_id":"{K}","output":"{K}"}]}`, `{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"{p}"}]},{"type":"function_call_output","call_id":"{K}","output":"{p}"}]}`},
		"Gemini's contents":             {`{"systemInstruction":{"parts":[{"text":"{M}"}]},"contents":[{"role":"user","parts":[{"text":"{K}"},{"functionResponse":{"name":"f","response":{"id":"{K}","out":["{K}"]}}}]}]}`, `{"systemInstruction":{"parts":[{"text":"{p}"}]},"contents":[{"role":"user","parts":[{"text":"{p}"},{"functionResponse":{"name":"f","response":{"id":"{p}","out":["{p}"]}}}]}]}`},
		"a tool's input":                {`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"{K}","name":"{K}","input":{"name":"{M}","url":"https://x/?k={K}","password":"swordfish9"}}]}]}`, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"{K}","name":"{K}","input":{"name":"{p}","url":"https://x/?k={p}","password":"{p}"}}]}]}`},
		"a call's arguments":            {`{"messages":[{"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"to\":\"{M}\",\"api_key\":\"abc12345\",\"n\":[1,\"a\\\"b {K}\"]}"}}]}]}`, `{"messages":[{"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"to\":\"{p}\",\"api_key\":\"{p}\",\"n\":[1,\"a\\\"b {p}\"]}"}}]}]}`},
		"arguments that are no JSON":    {`{"messages":[{"function_call":{"name":"f","arguments":"send {M} {\"half"}}]}`, `{"messages":[{"function_call":{"name":"f","arguments":"send {p} {\"half"}}]}`},
		"a tool of the person's":        {`{"tools":[{"name":"{M}","description":"mails {M}","input_schema":{"type":"object","properties":{"password":{"type":"string","description":"as {K}","enum":["{K}"]}}}}]}`, `{"tools":[{"name":"{M}","description":"mails {p}","input_schema":{"type":"object","properties":{"password":{"type":"string","description":"as {p}","enum":["{K}"]}}}}]}`},
		"what the API needs":            {`{"model":"{K}","metadata":{"user_id":"{M}"},"prompt_cache_key":"{M}","previous_response_id":"{K}","stop":["{K}"],"mcp_servers":[{"authorization_token":"{K}"}],"tools":[{"type":"mcp","server_url":"https://x/{K}","headers":{"Authorization":"Bearer {K}"}}],"tool_choice":{"name":"{K}"}}`, ""},
		"settings of the API":           {`{"reasoning_effort":"{M}","verbosity":"{M}","truncation":"{M}","prompt_cache_retention":"{M}","speed":"{M}"}`, ""},
		"a person's name for the agent": {`{"user":"{M}","metadata":{"who":"{M}"}}`, `{"user":"{p}","metadata":{"who":"{p}"}}`},
		"images and files":              {`{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"{K}"}},{"type":"image_url","image_url":{"url":"https://x/{K}"}},{"type":"input_file","filename":"{M}.txt","file_data":"data:text/plain;base64,{K}"},{"type":"x","other":"data:text/plain;base64,{K}"}]}]}`, `{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"{K}"}},{"type":"image_url","image_url":{"url":"https://x/{K}"}},{"type":"input_file","filename":"{M}.txt","file_data":"data:text/plain;base64,{K}"},{"type":"x","other":"data:text/plain;base64,{K}"}]}]}`},
		"what a tool has by default":    {`{"tools":[{"input_schema":{"properties":{"x":{"default":"{K}","examples":["{K}"],"const":"{K}"}}}}]}`, `{"tools":[{"input_schema":{"properties":{"x":{"default":"{p}","examples":["{p}"],"const":"{K}"}}}}]}`},
		"arguments that are an object":  {`{"messages":[{"tool_calls":[{"function":{"name":"f","arguments":{"id":"{K}","url":"https://x/?k={K}"}}}]}]}`, `{"messages":[{"tool_calls":[{"function":{"name":"f","arguments":{"id":"{p}","url":"https://x/?k={p}"}}}]}]}`},
		"a text that begins as data":    {`{"input":["data:image/png;base64,iVBORw0KGgo= {K}","data: {K} ;base64,","data:image/png;base64,{K}"]}`, `{"input":["data:image/png;base64,iVBORw0KGgo= {p}","data: {p} ;base64,","data:image/png;base64,{K}"]}`},
		"a plain document":              {`{"messages":[{"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"{K}"}}]}]}`, `{"messages":[{"content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"{p}"}}]}]}`},
		"what is sealed":                {`{"input":[{"type":"reasoning","id":"rs","encrypted_content":"{K}","summary":[{"type":"summary_text","text":"{K}"}]}],"x":{"signature":"{K}","thoughtSignature":"{K}"}}`, `{"input":[{"type":"reasoning","id":"rs","encrypted_content":"{K}","summary":[{"type":"summary_text","text":"{p}"}]}],"x":{"signature":"{K}","thoughtSignature":"{K}"}}`},
		"embeddings":                    {`{"model":"m","input":["{K}","no"]}`, `{"model":"m","input":["{p}","no"]}`},
		"keys of objects":               {`{"input":[{"{M}":"x"}]}`, ""},
		// A model's thinking is under a signature. What it thought of the person's is put back as the
		// vendor wrote it; what it made up itself is the vendor's own already.
		"signed thinking": {`{"messages":[{"role":"user","content":"{K}"},{"role":"assistant","content":[{"type":"thinking","thinking":"so {K}, or sk-proj-madeup0123456789 of {M}","signature":"s"}]}]}`, `{"messages":[{"role":"user","content":"{p}"},{"role":"assistant","content":[{"type":"thinking","thinking":"so {p}, or sk-proj-madeup0123456789 of {M}","signature":"s"}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			fill := strings.NewReplacer("{K}", openAIKey, "{M}", mail)
			in, want := fill.Replace(c.in), fill.Replace(c.want)
			if c.want == "" {
				want = in
			}
			out, v := all().Mask([]byte(in))
			if got := placeholder.ReplaceAllString(string(out), "{p}"); got != strings.ReplaceAll(want, mail+".txt", placeholderFor(out, mail+".txt", want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if back := v.Restore(out); string(back) != in {
				t.Errorf("turned back %s", back)
			}
		})
	}
}

// placeholderFor is what a file's name looks like masked: an address of mail with an ending is one too.
func placeholderFor(_ []byte, name, _ string) string {
	if strings.HasSuffix(name, ".txt") {
		return "{p}"
	}
	return name
}

func TestAPlaceholderIsTheSameInEachRequestOfOneKey(t *testing.T) {
	rules := redact.Rules{Secrets: true}
	key := redact.NewKey()
	find := func(key []byte, text string) []string {
		out, _ := redact.NewCloak(rules, key).Mask(said(t, text))
		return placeholder.FindAllString(string(out), -1)
	}
	one := find(key, openAIKey)
	two := find(key, "other words and "+openAIKey+" and "+openAIKey+"x")
	if len(one) != 1 || len(two) != 2 || one[0] != two[0] || two[1] == two[0] {
		t.Errorf("%v, %v", one, two)
	}
	if other := find(redact.NewKey(), openAIKey); other[0] == one[0] {
		t.Error("another key makes the same placeholder")
	}
}

func TestKnownValuesAndOwnRulesAreSecrets(t *testing.T) {
	m := redact.New()
	m.Known("plain words of a key")
	c := redact.NewCloak(redact.Rules{Secrets: true, Known: m, Patterns: []*regexp.Regexp{regexp.MustCompile(`CASE-[0-9]{6}`), regexp.MustCompile(`ticket ([a-z]+-[0-9]+)`)}}, redact.NewKey())
	if got := kinds(masked(t, c, "it is plain words of a key, for CASE-123456 and ticket ops-12")); got != "it is {SECRET}, for {SECRET} and ticket {SECRET}" {
		t.Error(got)
	}
}

// A short key counts as a whole alone, a long one by half of it: what the keys of a vendor, and the names of
// servers that take none, have in common is no secret.
func TestKnownValuesAreNotTakenForTheirBeginnings(t *testing.T) {
	m := redact.New()
	m.Known("sk-ant-api03-AbCdEf0123456789AbCdEf0123456789", "abcd1234", "lm-studio")
	c := redact.NewCloak(redact.Rules{Secrets: true, Known: m}, []byte("k"))
	for in, want := range map[string]string{
		"it begins with sk-ant-api03-": "it begins with sk-ant-api03-", "lm-studio takes abcd1234.": "lm-studio takes {SECRET}.", "xabcd1234": "xabcd1234",
		"of it AbCdEf0123456789AbCdEf01": "of it {SECRET}",
	} {
		if got := kinds(masked(t, c, in)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNothingToLookForIsNoCloak(t *testing.T) {
	c := redact.NewCloak(redact.Rules{Patterns: []*regexp.Regexp{regexp.MustCompile("x")}}, redact.NewKey())
	if c != nil {
		t.Fatal("rules of one's own count only with secrets")
	}
	body := said(t, openAIKey)
	if out, v := c.Mask(body); v != nil || &out[0] != &body[0] {
		t.Error("a body was changed")
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Mask(body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWhatIsMaskedIsCounted(t *testing.T) {
	_, v := all("Falcon").Mask(said(t, "Falcon: "+openAIKey+", "+openAIKey+", jane@mail.example.org, 4111111111111111"))
	if got := v.Counts(); got != (redact.Counts{Secrets: 1, Personal: 2, Words: 1}) {
		t.Errorf("%+v", got)
	}
}

// FuzzMaskedAndBack holds that a masked body is JSON, and says the same again when it is turned back.
func FuzzMaskedAndBack(f *testing.F) {
	for _, s := range []string{
		"", openAIKey, `password="a\"b\\c12345"`, "jane@mail.example.org +49 30 901820-0", "\"\\\n\u2028\U0001f600" + openAIKey, "4111 1111 1111 1111 Falcon FALCON falcon",
		"-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75bhLKEZQUBTyxrWB7C4D2Kx\n-----END PRIVATE KEY-----", "postgres://u:pass\\word1@h", "\ufffd" + openAIKey, "Falcon1@falcon.org",
	} {
		f.Add(s, s)
	}
	c := all("Falcon", "é")
	f.Fuzz(func(t *testing.T, text, arg string) {
		args, _ := json.Marshal(map[string]any{"password": arg, "list": []string{text, arg}})
		body, err := json.Marshal(map[string]any{
			"model": "m", "messages": []any{
				map[string]any{"role": "user", "content": text},
				map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "t", "function": map[string]any{"name": "f", "arguments": string(args)}}}},
				map[string]any{"role": "tool", "content": arg},
			},
		})
		if err != nil {
			t.Skip()
		}
		out, v := c.Mask(body)
		if !json.Valid(out) {
			t.Fatalf("no JSON: %s", out)
		}
		again, _ := c.Mask(body)
		if !bytes.Equal(out, again) {
			t.Fatalf("masked twice, not the same:\n%s\n%s", out, again)
		}
		back := v.Restore(out)
		if !reflect.DeepEqual(flat(t, body), flat(t, back)) {
			t.Fatalf("turned back\n%s\nwant\n%s", back, body)
		}
	})
}

// flat is what a body says, its calls' arguments too.
func flat(t *testing.T, body []byte) any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	calls := v["messages"].([]any)[1].(map[string]any)["tool_calls"].([]any)
	fn := calls[0].(map[string]any)["function"].(map[string]any)
	var args any
	if err := json.Unmarshal([]byte(fn["arguments"].(string)), &args); err != nil {
		t.Fatalf("%v in %s", err, fn["arguments"])
	}
	fn["arguments"] = args
	return v
}

// bigBody is a conversation of about 200 KB with code in it, and as many secrets.
func bigBody(b *testing.B, secrets int) []byte {
	b.Helper()
	const code = "func (s *Server) handle(w http.ResponseWriter, r *http.Request) {\n\tkey := r.Header.Get(\"X-Request-Id\")\n\tif err := s.store.Put(r.Context(), key, value); err != nil {\n\t\thttp.Error(w, err.Error(), 500)\n\t}\n}\n\n"
	var all []any
	for i := range 40 {
		text := strings.Repeat(code, 21)
		if i < secrets {
			text += fmt.Sprintf("export API_KEY=sk-proj-Bench%02d456789Bench0123456789\n", i)
		}
		all = append(all, map[string]any{"role": "user", "content": text})
	}
	out, err := json.Marshal(map[string]any{"model": "m", "messages": all})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func BenchmarkMaskARequest(b *testing.B) {
	for _, bench := range []struct {
		name    string
		rules   redact.Rules
		secrets int
	}{
		{"off", redact.Rules{}, 10},
		{"secrets, none there", redact.Rules{Secrets: true}, 0},
		{"secrets, ten there", redact.Rules{Secrets: true}, 10},
		{"everything, ten there", redact.Rules{Secrets: true, Personal: true, Words: []string{"Project Falcon", "ACME"}}, 10},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c, body := redact.NewCloak(bench.rules, redact.NewKey()), bigBody(b, bench.secrets)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Mask(body)
			}
		})
	}
}

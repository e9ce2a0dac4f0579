package redact_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/redact"
)

// spelled is how one API streams a piece of a text, or of what a tool is called with.
type spelled struct {
	api   string
	event func(piece string) string // piece as a JSON string
	ends  string                    // an event that ends the text
	text  func(v map[string]any) string
	inner bool // the text is JSON itself
}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func str(v any) string { s, _ := v.(string); return s }

var spellings = map[string]spelled{
	"chat": {
		"chat", func(p string) string { return `{"id":"c","choices":[{"index":0,"delta":{"content":` + p + `}}]}` },
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, func(v map[string]any) string { return str(at(v, "choices", 0, "delta", "content")) }, false,
	},
	"chat reasoning": {
		"chat", func(p string) string {
			return `{"choices":[{"delta":{"reasoning_content":` + p + `},"index":0,"finish_reason":null}]}`
		},
		`{"choices":[{"index":0,"delta":{"content":"x"}}]}`, func(v map[string]any) string { return str(at(v, "choices", 0, "delta", "reasoning_content")) }, false,
	},
	"chat call": {
		"chat", func(p string) string {
			return `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":` + p + `}}]}}]}`
		},
		`[DONE]`, func(v map[string]any) string {
			return str(at(v, "choices", 0, "delta", "tool_calls", 0, "function", "arguments"))
		}, true,
	},
	"messages": {
		"messages", func(p string) string {
			return `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":` + p + `}}`
		},
		`{"type":"content_block_stop","index":1}`, func(v map[string]any) string { return str(at(v, "delta", "text")) }, false,
	},
	"messages thinking": {
		"messages", func(p string) string {
			return `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":` + p + `}}`
		},
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"MAG"}}`, func(v map[string]any) string { return str(at(v, "delta", "thinking")) }, false,
	},
	"messages call": {
		"messages", func(p string) string {
			return `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":` + p + `}}`
		},
		`{"type":"message_stop"}`, func(v map[string]any) string { return str(at(v, "delta", "partial_json")) }, true,
	},
	"responses": {
		"responses", func(p string) string {
			return `{"type":"response.output_text.delta","item_id":"i","output_index":0,"content_index":0,"delta":` + p + `}`
		},
		`{"type":"response.output_text.done","output_index":0,"text":""}`, func(v map[string]any) string { return str(at(v, "delta")) }, false,
	},
	"responses call": {
		"responses", func(p string) string {
			return `{"type":"response.function_call_arguments.delta","item_id":"i","output_index":3,"delta":` + p + `}`
		},
		`{"type":"response.completed","response":{}}`, func(v map[string]any) string { return str(at(v, "delta")) }, true,
	},
	"gemini": {
		"gemini", func(p string) string {
			return `{"candidates":[{"content":{"role":"model","parts":[{"text":` + p + `}]},"index":0}]}`
		},
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]},"index":0,"finishReason":"STOP"}]}`,
		func(v map[string]any) string { return str(at(v, "candidates", 0, "content", "parts", 0, "text")) }, false,
	},
}

// streamed sends pieces through a stream and returns the text that comes out of it, and how much of it
// came before the end.
func streamed(t *testing.T, v *redact.Vault, sp spelled, pieces ...string) (text string, early int) {
	t.Helper()
	var out strings.Builder
	s := v.Stream(sp.api)
	take := func(data []byte) {
		if string(data) == "[DONE]" {
			return
		}
		var one map[string]any
		if err := json.Unmarshal(data, &one); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		out.WriteString(sp.text(one))
	}
	feed := func(data string) {
		before, with := s.Event("", []byte(data))
		for _, e := range before {
			take(e.Data)
		}
		take(with)
	}
	for _, p := range pieces {
		q, _ := json.Marshal(p)
		feed(sp.event(string(q)))
	}
	early = out.Len()
	feed(sp.ends)
	for _, e := range s.End() {
		take(e.Data)
	}
	return out.String(), early
}

// vaultOf masks a text and returns what stands in its place.
func vaultOf(t *testing.T, password string) (*redact.Vault, string) {
	t.Helper()
	out, v := all().Mask(said(t, "password = '"+password+"'"))
	p := placeholder.FindString(string(out))
	if p == "" {
		t.Fatalf("%s", out)
	}
	return v, p
}

func TestAPlaceholderIsTurnedBackWhereverAStreamIsCut(t *testing.T) {
	const password = `quo"te\2 and` // what JSON writes in another way
	v, p := vaultOf(t, strings.ReplaceAll(password, " and", "-and"))
	want := strings.ReplaceAll(password, " and", "-and")
	for name, sp := range spellings {
		t.Run(name, func(t *testing.T) {
			whole, back := "a "+p+" b", "a "+want+" b"
			if sp.inner {
				in, _ := json.Marshal(want)
				whole, back = `{"x":"`+p+`","y":1}`, `{"x":`+string(in)+`,"y":1}`
			}
			for i := range len(whole) + 1 {
				for _, j := range []int{i, min(i+1, len(whole)), min(i+5, len(whole)), len(whole)} {
					if got, _ := streamed(t, v, sp, whole[:i], whole[i:j], whole[j:]); got != back {
						t.Fatalf("cut at %d and %d: got %s", i, j, got)
					}
				}
			}
			if got, _ := streamed(t, v, sp, strings.Split(whole, "")...); got != back {
				t.Errorf("letter for letter: got %s", got)
			}
		})
	}
}

func TestOnlyWhatMayBeAPlaceholderIsHeldBack(t *testing.T) {
	v, p := vaultOf(t, "swordfish99")
	for name, sp := range spellings {
		for text, held := range map[string]int{
			"hello": 0, "hello M": 1, "hello MAGPIE_": 7, "MAGPIE": 6, "MAGPIE ": 0, "MAGNET": 0, "hi " + p[:len(p)-1]: len(p) - 1,
			p[:len(p)-1] + "0": 0, "MAMA M M": 1, "": 0,
		} {
			got, early := streamed(t, v, sp, "", text)
			if got != text || early != len(text)-held {
				t.Errorf("%s: %q came out as %q, %d of it at once", name, text, got, early)
			}
		}
	}
}

func TestCallsThatComeSideBySideAreKeptApart(t *testing.T) {
	v, p := vaultOf(t, "swordfish99")
	s := v.Stream("chat")
	var args [2]strings.Builder
	for i := range len(p) {
		for call := range 2 {
			q, _ := json.Marshal(p[i : i+1])
			before, out := s.Event("", []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":`+string(rune('0'+call))+`,"function":{"arguments":`+string(q)+`}}]}}]}`))
			if len(before) > 0 {
				t.Fatalf("%s", before[0].Data)
			}
			var one map[string]any
			if err := json.Unmarshal(out, &one); err != nil {
				t.Fatal(err)
			}
			args[call].WriteString(str(at(one, "choices", 0, "delta", "tool_calls", 0, "function", "arguments")))
		}
	}
	if args[0].String() != "swordfish99" || args[1].String() != "swordfish99" {
		t.Errorf("%q %q", args[0].String(), args[1].String())
	}
}

// A piece of an unfinished placeholder of one block does not end with another's.
func TestBlocksThatComeSideBySideAreKeptApart(t *testing.T) {
	v, p := vaultOf(t, "swordfish99")
	s := v.Stream("messages")
	text := func(index, piece string) string {
		return `{"type":"content_block_delta","index":` + index + `,"delta":{"type":"text_delta","text":"` + piece + `"}}`
	}
	_, _ = s.Event("", []byte(text("0", p[:8])))
	before, _ := s.Event("", []byte(`{"type":"content_block_stop","index":1}`))
	ping, _ := s.Event("ping", []byte(`{"type":"ping"}`))
	_, out := s.Event("", []byte(text("0", p[8:])))
	if len(before)+len(ping) > 0 || !strings.Contains(string(out), `"swordfish99"`) {
		t.Errorf("%d %d %s", len(before), len(ping), out)
	}
}

func TestAnEventThatIsNotChangedIsTheSame(t *testing.T) {
	v, _ := vaultOf(t, "swordfish99")
	s := v.Stream("chat")
	for _, data := range []string{`{ "choices" : [ {"index":0,"delta":{"content":"\u00e9 MAGPIE_SECRET_abcdefghijkl "}} ] }`, "[DONE]", "no JSON M", `{"error":{"message":"M"}}`, "", `{"choices":[{"delta":{"content":null,"tool_calls":null}}]}M`} {
		before, out := s.Event("", []byte(data))
		if len(before) > 0 || string(out) != data {
			t.Errorf("%s became %s", data, out)
		}
	}
	plain := []byte(`{"choices":[{"index":0,"delta":{"content":"hello"}}]}`)
	if n := testing.AllocsPerRun(100, func() { _, _ = s.Event("", plain) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Each piece of a voice is bytes of its own: none of one goes into the next.
func TestAVoiceIsNotHeldBack(t *testing.T) {
	v, _ := vaultOf(t, "swordfish99")
	in := []string{
		`{"type":"response.output_text.delta","sequence_number":1,"item_id":"i","output_index":0,"content_index":0,"delta":"x"}`,
		`{"type":"response.audio.delta","sequence_number":2,"delta":"AAAM"}`, `{"type":"response.audio.delta","sequence_number":3,"delta":"MAGP"}`,
	}
	if out := sent(v.Stream("responses"), in...); !slices.Equal(out, in) {
		t.Errorf("%q", out)
	}
}

func TestAReplyInPartsIsTurnedBack(t *testing.T) {
	v, p := vaultOf(t, `sword"fish99`)
	for _, isJSON := range []bool{true, false} {
		text, want := `{"x":"`+p+`"}`, `{"x":"sword"fish99"}`
		if isJSON {
			want = `{"x":"sword\"fish99"}`
		}
		for i := range len(text) {
			out, held := v.RestorePart(nil, []byte(text[:i]), isJSON)
			more, left := v.RestorePart(held, []byte(text[i:]), isJSON)
			if got := string(out) + string(more) + string(left); got != want {
				t.Errorf("cut at %d: %s", i, got)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("chat", `{"choices":[{"delta":{"content":"MAG"}}]}`, `{"choices":[{"delta":{"content":"PIE`)
	f.Add("gemini", `{"candidates":[{"content":{"parts":[{"text":"M"},{"text":"M"},{}]}}]}`, `[]`)
	f.Add("responses", `{"type":"x.delta","delta":"M","delta":"M"}`, `"`)
	f.Add("messages", `{"delta":{"text":"M\\"},"index":-1e9}`, `{"type":"ping"}`)
	f.Fuzz(func(t *testing.T, api, one, two string) {
		out, v := all().Mask(said(t, "password = 'swordfish99'"))
		p := placeholder.FindString(string(out))
		s := v.Stream(api)
		for _, data := range []string{one, two, strings.ReplaceAll(one, "X", p), two} {
			before, with := s.Event("n", []byte(data))
			for _, e := range append(before, redact.Event{Data: with}) {
				if json.Valid([]byte(one)) && json.Valid([]byte(two)) && !json.Valid(e.Data) { // what is held comes out of an earlier one
					t.Fatalf("%s became %s", data, e.Data)
				}
			}
		}
		for _, e := range s.End() {
			if json.Valid([]byte(one)) && json.Valid([]byte(two)) && !json.Valid(e.Data) {
				t.Fatalf("the end is %s", e.Data)
			}
		}
	})
}

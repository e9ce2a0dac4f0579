package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/wire"
)

// bases are the config's lines for one API of a vendor.
var bases = map[wire.Protocol]string{
	wire.Chat: "chat = \"{a}/v1\"\n", wire.Responses: "responses = \"{a}/v1\"\n", wire.Messages: "messages = \"{a}\"\n", wire.Gemini: "gemini = \"{a}/v1beta\"\n",
}

func only(api wire.Protocol) string {
	return "[providers.a]\n" + bases[api] + "keys = [{ name = \"k1\", value = \"" + keyOne + "\" }, { name = \"k2\", value = \"" + keyTwo + "\" }]\n"
}

// apiOfDoor is the API of a door of doors.
func apiOfDoor(name string) wire.Protocol {
	return wire.Protocol(strings.TrimSuffix(name, " streamed"))
}

func TestEachAPIIsTranslatedToEachOther(t *testing.T) {
	for name, d := range doors("a/m") {
		for _, to := range wire.Protocols {
			from := apiOfDoor(name)
			if to == from {
				continue
			}
			t.Run(name+" to "+string(to), func(t *testing.T) {
				v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{to}, Text: "hello from a", Keys: []string{keyOne, keyTwo}})
				r := newRig(t, only(to), vendors{"a": v})
				got := r.ask(d.path, d.body)
				if got.status != http.StatusOK || !strings.Contains(strings.NewReplacer("\"", "", " ", "").Replace(got.body), "hello") {
					t.Fatalf("%d %s", got.status, got.body)
				}
				calls := v.Calls()
				if len(calls) != 1 || calls[0].API != to || calls[0].Model != "m" || calls[0].Refused != "" || len(calls[0].Leaks) > 0 {
					t.Fatalf("%+v", calls)
				}
				try := r.last().Tries[0]
				if try.Translated == nil || try.Translated.From != string(from) || try.Translated.To != string(to) {
					t.Errorf("%+v", try.Translated)
				}
				if route := r.last(); route.Tokens.Input == 0 || route.Tokens.Output == 0 || route.Status != http.StatusOK {
					t.Errorf("%+v", route)
				}
			})
		}
	}
}

func TestATranslatedTryFailsOverLikeAnyOther(t *testing.T) {
	for name, d := range doors("a/m") {
		for _, to := range wire.Protocols {
			if to == apiOfDoor(name) {
				continue
			}
			for _, step := range []string{"429 rate", "529 overloaded", "error-first overloaded asked=stream", "empty 200", "cut after=0 asked=stream", "cut after=2 asked=whole", "refuse"} {
				t.Run(name+" to "+string(to)+" "+step, func(t *testing.T) {
					v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{to}, Text: "hello"})
					v.Script(keyOne, standin.Must(step)...)
					r := newRig(t, only(to), vendors{"a": v})
					got := r.ask(d.path, d.body)
					route := r.last()
					if got.status != http.StatusOK || !strings.Contains(got.body, "hello") {
						t.Fatalf("%d %s, tried %s", got.status, got.body, tried(route))
					}
					if len(v.CallsOf(keyOne)) == 1 && v.CallsOf(keyOne)[0].Step != "" && tried(route) != "a/k1 a/k2" {
						t.Errorf("tried %s", tried(route))
					}
				})
			}
		}
	}
}

func TestATranslatedReplyThatIsCutNeverReadsAsFinished(t *testing.T) {
	ends := map[wire.Protocol][]string{
		wire.Chat: {"[DONE]", `"finish_reason":"stop"`}, wire.Responses: {"response.completed"}, wire.Messages: {"message_stop"}, wire.Gemini: {`"finishReason"`},
	}
	for name, d := range doors("a/m") {
		if !strings.HasSuffix(name, " streamed") {
			continue
		}
		from := apiOfDoor(name)
		for _, to := range wire.Protocols {
			if to == from {
				continue
			}
			for _, step := range []string{"cut after=2", "rst after=2", "error server after=2"} {
				t.Run(name+" to "+string(to)+" "+step, func(t *testing.T) {
					v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{to}, Text: "one two three four five six seven"})
					v.Script(keyOne, standin.Must(step)...)
					r := newRig(t, only(to), vendors{"a": v})
					got := r.ask(d.path, d.body)
					for _, end := range ends[from] {
						if strings.Contains(got.body, end) {
							t.Errorf("reads as finished: %s", got.body)
						}
					}
					if !strings.Contains(got.body, "error") || len(v.CallsOf(keyTwo)) != 0 || r.last().Status < 400 {
						t.Errorf("%s; k2 asked %d times, status %d", got.body, len(v.CallsOf(keyTwo)), r.last().Status)
					}
				})
			}
		}
	}
}

func TestARequestThatOnlyWarmsACacheAsksNobodyElse(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{wire.Chat}})
	r := newRig(t, only(wire.Chat), vendors{"a": v})
	got := r.ask("/v1/messages", `{"model":"a/m","max_tokens":0,"messages":[{"role":"user","content":"hi"}]}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"stop_reason":"max_tokens"`) || len(v.Calls()) != 0 {
		t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.Calls()))
	}
}

func TestWhatCantBeSaidIsTold(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, APIs: []wire.Protocol{wire.Messages}})
	r := newRig(t, only(wire.Messages), vendors{"a": v})
	got := r.ask("/v1/chat/completions", `{"model":"a/m","seed":7,"logit_bias":{"1":2},"messages":[{"role":"user","content":"hi"}]}`)
	if got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	lost := strings.Join(r.last().Tries[0].Translated.Lost, "; ")
	if !strings.Contains(lost, "seed") || !strings.Contains(lost, "logit_bias") {
		t.Errorf("lost: %s", lost)
	}
	got = r.ask("/v1/responses", `{"model":"a/m","input":"hi","conversation":"conv_1"}`)
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"param":"conversation"`) || len(v.Calls()) != 1 {
		t.Errorf("%d %s, asked %d times", got.status, got.body, len(v.Calls()))
	}
}

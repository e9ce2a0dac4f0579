package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

var streamed = wire.WriterOptions{Stream: true, ID: "seed", Model: "asked", Vendor: "v", Input: 42}

// written is what a writer makes of events.
func written(t interface{ Fatal(args ...any) }, o wire.WriterOptions, events ...wire.Event) string {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, o)
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// grammar reads a stream as strictly as clients do, and draws it as one line.
type grammar struct {
	problems []string
	out      []string
	open     int
	kind     string
	next     int
	over     bool
}

func (g *grammar) wrong(format string, args ...any) {
	g.problems = append(g.problems, fmt.Sprintf(format, args...))
}

func drawn(stream string) (string, []string) {
	g := grammar{open: -1}
	var s sse.Splitter
	if err := s.Feed([]byte(stream)); err != nil {
		return "", []string{err.Error()}
	}
	s.Events(g.event)
	if len(s.Rest()) > 0 {
		g.wrong("the last event has no blank line")
	}
	return strings.Join(g.out, " | "), g.problems
}

func (g *grammar) event(ev []byte) {
	name, data := sse.Parse(ev)
	v, err := wire.ReadValue(data)
	if err != nil || v.Get("type").Text() != string(name) {
		g.wrong("%q is not what its event line says", ev)
	}
	if g.over {
		g.wrong("%s behind the end", name)
	}
	if len(g.out) == 0 && string(name) != "message_start" && string(name) != "error" {
		g.wrong("%s is first", name)
	}
	switch string(name) {
	case "message_start":
		u := v.Get("message").Get("usage")
		g.out = append(g.out, "start:"+u.Get("input_tokens").Number().String())
	case "message_delta":
		if g.open >= 0 {
			g.wrong("an end while a block is open")
		}
		u := v.Get("usage")
		g.out = append(g.out, fmt.Sprintf("delta:%s,%s/%s", v.Get("delta").Get("stop_reason").Text(), u.Get("input_tokens"), u.Get("output_tokens")))
	case "message_stop":
		g.over = true
		g.out = append(g.out, "stop")
	case "error":
		g.over = true
		g.out = append(g.out, "error:"+v.Get("error").Get("type").Text()+","+v.Get("error").Get("message").Text())
	case "ping":
	default:
		g.block(string(name), v)
	}
}

func (g *grammar) block(name string, v wire.Value) {
	n, ok := v.Get("index").Int()
	if !ok {
		g.wrong("%s without an index", name)
	}
	switch name {
	case "content_block_start":
		if g.open >= 0 || int(n) != g.next {
			g.wrong("block %d begins; open is %d, next is %d", n, g.open, g.next)
		}
		b := v.Get("content_block")
		g.open, g.kind = int(n), b.Get("type").Text()
		g.next++
		g.out = append(g.out, strings.TrimSuffix(g.kind+":"+b.Get("id").Text()+b.Get("data").Text()+","+b.Get("name").Text(), ","))
		if in := b.Get("input"); !in.None() && string(in) != "{}" {
			g.wrong("input in the block's beginning")
		}
	case "content_block_delta":
		if int(n) != g.open {
			g.wrong("a delta of block %d while %d is open", n, g.open)
		}
		g.delta(v.Get("delta"))
	case "content_block_stop":
		if int(n) != g.open {
			g.wrong("block %d ends while %d is open", n, g.open)
		}
		g.open = -1
	default:
		g.wrong("no event is called %s", name)
	}
}

func (g *grammar) delta(d wire.Value) {
	want := map[string]string{"text": "text_delta citations_delta", "thinking": "thinking_delta signature_delta", "tool_use": "input_json_delta"}[g.kind]
	kind := d.Get("type").Text()
	if !strings.Contains(want, kind) {
		g.wrong("a %s in a block of %s", kind, g.kind)
	}
	g.out[len(g.out)-1] += "[" + d.Get("text").Text() + d.Get("thinking").Text() + d.Get("partial_json").Text() + d.Get("signature").Text() + d.Get("citation").Get("url").Text() + "]"
}

// Events for the tests.
func evStart() wire.Event {
	return wire.Event{Kind: wire.EventStart, ID: "chatcmpl-1", Model: "vendor's"}
}

func evText(s string) wire.Event {
	return wire.Event{Kind: wire.EventText, Text: s}
}

func evThink(s string) wire.Event { return wire.Event{Kind: wire.EventThinking, Text: s} }
func evSeal(s wire.Seal) wire.Event {
	return wire.Event{Kind: wire.EventSeal, Seal: &s}
}

func evCall(i int, id, name string) wire.Event {
	return wire.Event{Kind: wire.EventCall, Index: i, Call: &wire.Call{ID: id, Name: name}}
}

func evArgs(i int, s string) wire.Event {
	return wire.Event{Kind: wire.EventArgs, Index: i, Text: s}
}

func evEnd(i int, id, name, args string) wire.Event {
	return wire.Event{Kind: wire.EventCallEnd, Index: i, Call: &wire.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func evUsage(in, out int64) wire.Event {
	return wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: in, Output: out}}
}

func evFinish(why wire.FinishWhy) wire.Event {
	return wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: why}}
}

func TestAReplyIsWrittenByTheAPIsGrammar(t *testing.T) {
	claude := wire.Seal{API: wire.Messages, Data: "EqQ"}
	openai := wire.Seal{API: wire.Responses, Data: "gAAAAx"}
	gemini := wire.Seal{API: wire.Gemini, Data: "c2ln"}
	for name, c := range map[string]struct {
		events []wire.Event
		want   string
	}{
		"text": {
			[]wire.Event{evStart(), evText("Hel"), evText("lo"), evUsage(20, 5), evFinish(wire.FinishStop)},
			"start:42 | text:[Hel][lo] | delta:end_turn,20/5 | stop",
		},
		"thinking with its seal, then text": {
			[]wire.Event{evStart(), evThink("h"), evThink("m"), evSeal(claude), evText("x"), evFinish(wire.FinishStop)},
			"start:42 | thinking:[h][m][EqQ] | text:[x] | delta:end_turn,42/0 | stop",
		},
		"thinking without one": {
			[]wire.Event{evStart(), evThink("hm"), evText("x"), evFinish(wire.FinishStop)},
			"start:42 | thinking:[hm] | text:[x] | delta:end_turn,42/0 | stop",
		},
		"another's seal travels under our mark": {
			[]wire.Event{evStart(), evThink("hm"), evSeal(openai), evText("x"), evFinish(wire.FinishStop)},
			"start:42 | thinking:[hm][" + openai.Mark("v") + "] | text:[x] | delta:end_turn,42/0 | stop",
		},
		"a seal alone is thinking that isn't shown": {
			[]wire.Event{evStart(), evSeal(openai), evText("x"), evFinish(wire.FinishStop)},
			"start:42 | thinking:[" + openai.Mark("v") + "] | text:[x] | delta:end_turn,42/0 | stop",
		},
		"redacted thinking": {
			[]wire.Event{evStart(), evSeal(wire.Seal{API: wire.Messages, Data: "Emw", Redacted: true}), evText("x"), evFinish(wire.FinishStop)},
			"start:42 | redacted_thinking:Emw | text:[x] | delta:end_turn,42/0 | stop",
		},
		"a seal that came with a call travels in the thinking before it": {
			[]wire.Event{evStart(), evThink("hm"), {Kind: wire.EventCall, Call: &wire.Call{ID: "a", Name: "f"}, Seal: &gemini}, evFinish(wire.FinishStop)},
			"start:42 | thinking:[hm][" + gemini.Mark("v") + "] | tool_use:a,f[{}] | delta:tool_use,42/0 | stop",
		},
		"a seal that came with a call is no thinking of its own": {
			[]wire.Event{evStart(), {Kind: wire.EventCall, Call: &wire.Call{ID: "a", Name: "f"}, Seal: &gemini}, evFinish(wire.FinishStop)},
			"start:42 | tool_use:a,f[{}] | delta:tool_use,42/0 | stop",
		},
		"calls, one after the other": {
			[]wire.Event{evStart(), evText("Ok."), evCall(0, "a", "f"), evArgs(0, `{"x":`), evArgs(0, `1}`), evCall(1, "b", "g"), evArgs(1, `{}`), evFinish(wire.FinishCalls)},
			`start:42 | text:[Ok.] | tool_use:a,f[{"x":][1}] | tool_use:b,g[{}] | delta:tool_use,42/0 | stop`,
		},
		"calls that interleave": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evCall(1, "b", "g"), evArgs(0, `{"p":`), evArgs(1, `{"p":"b"}`), evArgs(0, `"a"}`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{"p":]["a"}] | tool_use:b,g[{"p":"b"}] | delta:tool_use,42/0 | stop`,
		},
		"a call that is told whole at its end": {
			[]wire.Event{evStart(), evEnd(0, "a", "f", `{"x":1}`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{"x":1}] | delta:tool_use,42/0 | stop`,
		},
		"a call whose name comes late": {
			[]wire.Event{evStart(), evCall(0, "a", ""), evArgs(0, `{}`), evEnd(0, "a", "f", `{}`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{}] | delta:tool_use,42/0 | stop`,
		},
		"a call that never has a name": {
			[]wire.Event{evStart(), evText("x"), evCall(0, "a", ""), evArgs(0, `{}`), evFinish(wire.FinishCalls)},
			"start:42 | text:[x] | delta:end_turn,42/0 | stop",
		},
		"a call without arguments": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{}] | delta:tool_use,42/0 | stop`,
		},
		"arguments that are no object": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, ` [1`), evArgs(0, `]`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{"input":" [1]"}] | delta:tool_use,42/0 | stop`,
		},
		"arguments that come twice": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, `{"s":"}"}`), evArgs(0, `{"s":"}"}`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{"s":"}"}] | delta:tool_use,42/0 | stop`,
		},
		"text behind a call": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, `{}`), evText("\n"), evCall(1, "b", "g"), evArgs(1, `{}`), evText("so"), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{}] | tool_use:b,g[{}] | text:[so] | delta:tool_use,42/0 | stop`,
		},
		"text behind a call that isn't whole yet": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, `{"x"`), evText("so"), evArgs(0, `:1}`), evFinish(wire.FinishCalls)},
			`start:42 | tool_use:a,f[{"x"][:1}] | text:[so] | delta:tool_use,42/0 | stop`,
		},
		"blanks before words are part of them": {
			[]wire.Event{evStart(), evText("\n"), evText(" "), evText("hi"), evFinish(wire.FinishStop)},
			"start:42 | text:[\n hi] | delta:end_turn,42/0 | stop",
		},
		"calls of one id": {
			[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, `{}`), evCall(1, "a", "f"), evArgs(1, `{}`), evFinish(wire.FinishCalls)},
			"start:42 | tool_use:a,f[{}] | tool_use:" + wire.MakeID("toolu_", wire.MakeID("msg_", "seed", "chatcmpl-1"), "1", "a") + ",f[{}] | delta:tool_use,42/0 | stop",
		},
		"calls, though the vendor said it stopped":  {[]wire.Event{evStart(), evCall(0, "a", "f"), evFinish(wire.FinishStop)}, "start:42 | tool_use:a,f[{}] | delta:tool_use,42/0 | stop"},
		"no calls, though the vendor said so":       {[]wire.Event{evStart(), evText("x"), evFinish(wire.FinishCalls)}, "start:42 | text:[x] | delta:end_turn,42/0 | stop"},
		"a cut weighs more than a call":             {[]wire.Event{evStart(), evCall(0, "a", "f"), evArgs(0, `{"x`), evFinish(wire.FinishLength)}, `start:42 | tool_use:a,f[{"x] | delta:max_tokens,42/0 | stop`},
		"a full window":                             {[]wire.Event{evStart(), evFinish(wire.FinishWindow)}, "start:42 | delta:model_context_window_exceeded,42/0 | stop"},
		"withheld":                                  {[]wire.Event{evStart(), evText("x"), evFinish(wire.FinishWithheld)}, "start:42 | text:[x] | delta:refusal,42/0 | stop"},
		"a refusal in words":                        {[]wire.Event{evStart(), {Kind: wire.EventRefusal, Text: "No."}, evFinish(wire.FinishStop)}, "start:42 | text:[No.] | delta:refusal,42/0 | stop"},
		"a stop string that isn't told":             {[]wire.Event{evStart(), evFinish(wire.FinishString)}, "start:42 | delta:end_turn,42/0 | stop"},
		"a call that broke":                         {[]wire.Event{evStart(), evText("x"), evFinish(wire.FinishBroken)}, "start:42 | text:[x] | delta:end_turn,42/0 | stop"},
		"a failure after something was said":        {[]wire.Event{evStart(), evText("x"), {Kind: wire.EventFail, Fail: &wire.Refusal{Status: 529, Words: "Overloaded"}}, evText("y"), evFinish(wire.FinishStop)}, "start:42 | text:[x] | error:overloaded_error,Overloaded"},
		"a failure before anything":                 {[]wire.Event{{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 500, Words: "x"}}}, "error:api_error,x"},
		"nothing behind the end":                    {[]wire.Event{evStart(), evFinish(wire.FinishStop), evText("x"), evFinish(wire.FinishStop)}, "start:42 | delta:end_turn,42/0 | stop"},
		"a reply that begins without its beginning": {[]wire.Event{evText("x"), evFinish(wire.FinishStop)}, "start:42 | text:[x] | delta:end_turn,42/0 | stop"},
		"arguments of a call that never began":      {[]wire.Event{evStart(), evArgs(3, "{}"), evFinish(wire.FinishStop)}, "start:42 | delta:end_turn,42/0 | stop"},
		"sources":                                   {[]wire.Event{evStart(), evText("x"), {Kind: wire.EventCite, Cite: &wire.Cite{URL: "https://x"}}, evText("y"), evFinish(wire.FinishStop)}, "start:42 | text:[x][https://x][y] | delta:end_turn,42/0 | stop"},
		"an image":                                  {[]wire.Event{evStart(), {Kind: wire.EventMedia, Media: &wire.Media{Data: "x"}}, evFinish(wire.FinishStop)}, "start:42 | text:[[the model made an image, which this API can't show]] | delta:end_turn,42/0 | stop"},
		"separate texts are separate blocks":        {[]wire.Event{evStart(), evText("x"), {Kind: wire.EventText, Text: "y", Part: 1}, evFinish(wire.FinishStop)}, "start:42 | text:[x] | text:[y] | delta:end_turn,42/0 | stop"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := drawn(written(t, streamed, c.events...))
			if got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
}

func TestTheFirstPieceLeavesAtOnce(t *testing.T) {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, streamed)
	for _, step := range []struct {
		e    wire.Event
		want string
	}{
		{evStart(), "message_start"},
		{evText("x"), `"text":"x"`},
		{evCall(0, "a", "f"), "tool_use"},
		{evArgs(0, `{"`), `"partial_json":"{\""`},
		{evArgs(0, `x":1}`), `"partial_json":"x\":1}"`},
		{evCall(1, "b", "g"), `"id":"b"`},
	} {
		b.Reset()
		if err := w.Event(step.e); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), step.want) {
			t.Errorf("%v: %q is not out yet, but %q", step.e.Kind, step.want, b.String())
		}
	}
}

func TestAReplyHasWhatClientsLookFor(t *testing.T) {
	out := written(t, streamed, evStart(), evFinish(wire.FinishStop))
	for _, want := range []string{`"id":"msg_`, `"type":"message","role":"assistant","model":"asked"`, `"stop_reason":null`, `"usage":{"input_tokens":42`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
	own := written(t, streamed, wire.Event{Kind: wire.EventStart, ID: "msg_9"}, evFinish(wire.FinishStop))
	if !strings.Contains(own, `"id":"msg_9"`) {
		t.Error("an id of this API's goes on")
	}
}

func TestUsageIsWrittenWithoutWhatWasCached(t *testing.T) {
	u := wire.Event{Kind: wire.EventUsage, Usage: wire.Usage{Input: 120, Output: 5, Reasoning: 3, CacheRead: 90, CacheWrite: 10}}
	out := written(t, streamed, evStart(), u, evFinish(wire.FinishStop))
	want := `"usage":{"input_tokens":20,"output_tokens":5,"cache_creation_input_tokens":10,"cache_read_input_tokens":90,"cache_creation":null,"inference_geo":null,"output_tokens_details":{"thinking_tokens":3}`
	if !strings.Contains(out, want) {
		t.Errorf("got %s", out)
	}
	u.Usage.CacheRead = 500
	if out := written(t, streamed, evStart(), u, evFinish(wire.FinishStop)); !strings.Contains(out, `"usage":{"input_tokens":0,"output_tokens":5`) {
		t.Errorf("never below nothing: %s", out)
	}
}

func TestTheBeginningTellsAnEstimate(t *testing.T) {
	var b bytes.Buffer
	asked := &wire.Ask{Turns: []wire.Turn{user(said(strings.Repeat("word ", 100)))}}
	w := Codec{}.NewWriter(&b, asked, wire.WriterOptions{Stream: true})
	if err := w.Event(evStart()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"usage":{"input_tokens":126,`) {
		t.Errorf("agents show it at once: %s", b.String())
	}
}

func TestWhyAReplyWasWithheldIsTold(t *testing.T) {
	out := written(t, wire.WriterOptions{}, evStart(), wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishWithheld, Detail: "No."}})
	check(t, []byte(out), map[string]string{"stop_reason": `"refusal"`, "stop_details": `{"type":"refusal","category":null,"explanation":"No."}`})
	out = written(t, wire.WriterOptions{}, evStart(), wire.Event{Kind: wire.EventFinish, Finish: wire.Finish{Why: wire.FinishString, String: "END"}})
	check(t, []byte(out), map[string]string{"stop_reason": `"stop_sequence"`, "stop_sequence": `"END"`})
}

func TestAReplyInOnePiece(t *testing.T) {
	out := written(t, wire.WriterOptions{ID: "seed", Model: "asked"}, evStart(), evThink("hm"), evSeal(wire.Seal{API: wire.Messages, Data: "EqQ"}),
		evText("x"), evCall(0, "a", "f"), evArgs(0, `{"n":`), evArgs(0, `1.0}`), evUsage(3, 4), evFinish(wire.FinishStop))
	check(t, []byte(out), map[string]string{
		"content":     `[{"type":"thinking","thinking":"hm","signature":"EqQ"},{"type":"text","text":"x","citations":null},{"type":"tool_use","id":"a","name":"f","input":{"n":1.0},"caller":{"type":"direct"}}]`,
		"stop_reason": `"tool_use"`, "stop_sequence": "null", "model": `"asked"`, "role": `"assistant"`, "container": "null",
	})
	fail := written(t, wire.WriterOptions{}, evStart(), wire.Event{Kind: wire.EventFail, Fail: &wire.Refusal{Status: 429, Words: "Slow"}})
	check(t, []byte(fail), map[string]string{"type": `"error"`, "error.type": `"rate_limit_error"`})
}

func TestPings(t *testing.T) {
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, nil, streamed)
	if err := w.Event(evStart()); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := w.Ping(); err != nil || b.String() != "event: ping\ndata: {\"type\":\"ping\"}\n\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	if err := w.Event(evFinish(wire.FinishStop)); err != nil || !w.Done() {
		t.Error("it is done")
	}
	b.Reset()
	if err := w.Ping(); err != nil || b.Len() > 0 {
		t.Error("nothing behind the end")
	}
	whole := Codec{}.NewWriter(&b, nil, wire.WriterOptions{})
	if err := whole.Ping(); err != nil || b.Len() > 0 {
		t.Error("a reply in one piece has no pings")
	}
}

// Whatever events come, in whatever order: the grammar holds, and a reply that is streamed
// says what one in one piece says.
func TestAnyEventsMakeAReplyByTheGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := []wire.Event{evStart()}
		for range rapid.IntRange(0, 25).Draw(t, "events") {
			i := rapid.IntRange(0, 2).Draw(t, "index")
			id := rapid.SampledFrom([]string{"", "a", "b", "x.y"}).Draw(t, "id")
			text := rapid.SampledFrom([]string{"x", "", " ", "\n", "<ü>"}).Draw(t, "text")
			args := rapid.SampledFrom([]string{`{}`, `{"a":`, `1}`, ``, `[`, ` `, `"}`}).Draw(t, "args")
			events = append(events, rapid.SampledFrom([]wire.Event{
				evText(text), evThink(text), evSeal(wire.Seal{API: wire.Messages, Data: "s"}), evCall(i, id, "f"), evArgs(i, args), evEnd(i, id, "f", args),
				evUsage(1, 2),
				{Kind: wire.EventRefusal, Text: text},
				{Kind: wire.EventCite, Cite: &wire.Cite{URL: "u"}},
				{Kind: wire.EventText, Text: text, Part: i},
			}).Draw(t, "event"))
		}
		events = append(events, evFinish(wire.FinishStop), evText("behind"))
		stream := written(t, streamed, events...)
		if _, problems := drawn(stream); len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, stream)
		}
		o := streamed
		o.Stream = false
		whole := written(t, o, events...)
		if !json.Valid([]byte(whole)) {
			t.Fatalf("no JSON: %s", whole)
		}
		a, b := fold(heard(nil, stream)), fold(Codec{}.NewReader(nil).Whole([]byte(whole)))
		for _, answer := range []*wire.Answer{&a, &b} {
			for i := range answer.Parts {
				if c := answer.Parts[i].Call; c != nil {
					c.Args = bytes.TrimSpace(objectArgs(c.Args)) // a whole reply has no blanks around it
				}
			}
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("%s\n%s\n%s", diff, stream, whole)
		}
	})
}

func TestALongCallIsNotJoinedAgainAndAgain(t *testing.T) {
	events := []wire.Event{evStart(), evCall(0, "a", "f"), evCall(1, "b", "g"), evArgs(1, `{"x":"`)}
	for range 256 << 10 {
		events = append(events, evArgs(1, "abcd"))
	}
	events = append(events, evArgs(1, `"}`), evFinish(wire.FinishCalls))
	out := written(t, streamed, events...)
	if len(out) < 1<<20 {
		t.Errorf("%d bytes came out", len(out))
	}
}

func BenchmarkAStreamReadAndWritten(b *testing.B) {
	var frame strings.Builder
	frame.WriteString(frames(fStart, fText))
	for range 200 {
		frame.WriteString(frames(fHello))
	}
	frame.WriteString(frames(fEnd0, fEnded, fStop))
	stream := []byte(frame.String())
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := Codec{}.NewReader(nil)
		var out bytes.Buffer
		w := Codec{}.NewWriter(&out, nil, streamed)
		var s sse.Splitter
		if err := s.Feed(stream); err != nil {
			b.Fatal(err)
		}
		s.Events(func(ev []byte) {
			for _, e := range r.Read(ev) {
				if err := w.Event(e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

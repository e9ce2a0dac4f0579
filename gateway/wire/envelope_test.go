package wire

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOneWalkTellsWhatARequestIs(t *testing.T) {
	for name, c := range map[string]struct {
		p    Protocol
		body string
		want Envelope
	}{
		"chat": {
			Chat, `{"stream":true,"model":" gpt-x ","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}],"tools":[{"type":"function"}]}`,
			Envelope{Model: "gpt-x", Stream: true, Items: 2, Tools: true},
		},
		"responses that go on": {
			Responses, `{"model":"m","input":"hi","previous_response_id":"resp_1","prompt_cache_key":"k"}`,
			Envelope{Model: "m", Previous: "resp_1", CacheKey: "k"},
		},
		"a message thread": {
			Messages, `{"model":"m","thread":{"type":"continue","previous_message_id":"msg_1"},"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"messages":[]}`,
			Envelope{Model: "m", Thread: "continue", ThreadPrev: "msg_1", UserID: `{"session_id":"s1"}`},
		},
		"gemini has no model in its body": {Gemini, `{"contents":[{"parts":[{"text":"hi"}]}]}`, Envelope{Items: 1}},
		"an image of Messages":            {Messages, `{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{"data":"QUJD"}}]}]}`, Envelope{Model: "m", Items: 1, Images: true}},
		"an image of Chat":                {Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]}`, Envelope{Model: "m", Items: 1, Images: true}},
		"an image of Gemini":              {Gemini, `{"contents":[{"parts":[{"inlineData":{"data":"QUJD"}}]}]}`, Envelope{Items: 1, Images: true}},
		"a model written with an escape":  {Chat, `{"mod\u0065l":"a\u002fb","messages":[]}`, Envelope{Model: "a/b"}},
		"other keys twice go as they came": {
			Chat, `{"model":"m","temperature":1,"temperature":2,"messages":[]}`, Envelope{Model: "m"},
		},
		"a model below the top is no model": {Chat, `{"messages":[{"role":"user","model":"x","content":{"model":"y"}}],"model":"m"}`, Envelope{Model: "m", Items: 1}},
		"blanks before what is looked at and left": {
			Responses, `{"model": "m", "input" : [ null, 0, "x" ], "tools" : null, "thread": 5, "metadata": null, "stream": false, "previous_response_id": null}`,
			Envelope{Model: "m", Items: 3},
		},
		"stream null": {Chat, `{"model":"m","stream":null}`, Envelope{Model: "m"}},
	} {
		got, err := Read([]byte(c.body), c.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if from, to := got.Talk(); c.want.Items > 0 && (c.body[from] != '[' || c.body[to-1] != ']') {
			t.Errorf("%s: the conversation is said to be %s", name, c.body[from:to])
		}
		got.model, got.first, got.input, got.billing, got.talk, got.Text, got.Turns = span{}, span{}, span{}, span{}, span{}, 0, Turns{}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestBodiesThatNoAPITakes(t *testing.T) {
	var syntax *SyntaxError
	isSyntax := func(err error) bool { return errors.As(err, &syntax) }
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for name, c := range map[string]struct {
		body string
		want func(error) bool
	}{
		"nothing":                         {"", is(ErrEmpty)},
		"blanks":                          {" \n\t", is(ErrEmpty)},
		"null":                            {"null", is(ErrNotObject)},
		"an array":                        {`[{"model":"m"}]`, is(ErrNotObject)},
		"a string":                        {`"x"`, is(ErrNotObject)},
		"no JSON":                         {"hello", isSyntax},
		"cut short":                       {`{"model":"m"`, isSyntax},
		"a second object":                 {`{"model":"m"} {}`, isSyntax},
		"a comma too many":                {`{"model":"m",}`, isSyntax},
		"a bare key":                      {`{model:"m"}`, isSyntax},
		"invalid UTF-8":                   {"{\"model\":\"m\",\"x\":\"\xff\"}", isSyntax},
		"invalid UTF-8 in a key":          {"{\"model\":\"m\",\"\xc3\":1}", isSyntax},
		"a surrogate's bytes":             {"{\"model\":\"\xed\xa0\x80\"}", isSyntax},
		"a control character":             {"{\"model\":\"a\nb\"}", isSyntax},
		"a control character far in":      {"{\"model\":\"m\",\"x\":\"0123456789abcdef\x01\"}", isSyntax},
		"an unknown escape":               {`{"model":"\q"}`, isSyntax},
		"a short unicode escape":          {`{"model":"\u00"}`, isSyntax},
		"a number with a leading zero":    {`{"x":01}`, isSyntax},
		"a number with no digits":         {`{"x":-}`, isSyntax},
		"a number without a fraction":     {`{"x":1.}`, isSyntax},
		"a word that is none":             {`{"x":nul}`, isSyntax},
		"two models":                      {`{"model":"a","model":"b"}`, is(ErrTwice)},
		"two models, one with an escape":  {`{"model":"a","m\u006fdel":"b"}`, is(ErrTwice)},
		"stream twice":                    {`{"model":"a","stream":true,"stream":true}`, is(ErrTwice)},
		"a model that is a number":        {`{"model":5}`, is(ErrModelType)},
		"a stream that is a string":       {`{"model":"m","stream":"yes"}`, is(ErrStreamType)},
		"1,001 levels":                    {`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, is(ErrDepth)},
		"100,000 levels":                  {`{"x":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `}`, is(ErrDepth)},
		"100,000 levels in a message":     {`{"messages":` + strings.Repeat(`[`, 100_000), is(ErrDepth)},
		"100,000 levels without a bottom": {strings.Repeat(`{"messages":[`, 100_000), is(ErrDepth)},
	} {
		if _, err := Read([]byte(c.body), Chat); err == nil || !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	deep := `{"x":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `,"model":"m"}`
	if _, err := Read([]byte(deep), Chat); err != nil {
		t.Errorf("1,000 levels are allowed: %v", err)
	}
}

func TestTheEstimateCountsTextAndNoBinary(t *testing.T) {
	text := strings.Repeat("word ", 800)
	for name, c := range map[string]struct {
		p    Protocol
		body string
		want int // of 4,000 bytes
	}{
		"a message":             {Chat, `{"model":"m","messages":[{"role":"user","content":"` + text + `"}]}`, 1000},
		"Responses' string":     {Responses, `{"model":"m","input":"` + text + `"}`, 1000},
		"a system prompt":       {Messages, `{"model":"m","system":"` + text + `","messages":[]}`, 1000},
		"an image counts not":   {Chat, `{"model":"m","messages":[{"role":"user","content":[{"image_url":{"url":"data:image/png;base64,` + text + `"}}]}]}`, 0},
		"sealed thinking":       {Messages, `{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","signature":"` + text + `"}]}]}`, 0},
		"a tool's schema whole": {Chat, `{"model":"m","messages":[],"tools":[{"` + text + `":1}]}`, 1000},
	} {
		e, err := Read([]byte(c.body), c.p)
		if err != nil {
			t.Fatal(err)
		}
		if d := e.Estimate() - c.want; d < 0 || d > 20 {
			t.Errorf("%s: %d tokens, want about %d", name, e.Estimate(), c.want)
		}
	}
}

func TestSwappingTheModelLeavesEveryOtherByte(t *testing.T) {
	odd := "{ \"a\\u00e9\":\t1.50e+2,\"model\" :\r\n \"old\\u002fname\" ,\"z\":\"<&>\\/ \u00fc\",\"a\":{\"model\":\"old\"},\"temperature\":1,\"temperature\":1 } \n"
	big := `{"messages":[{"role":"user","content":"` + strings.Repeat("ünï\\n<code> ", 20_000) + `"}],"model":"old","stream":true}`
	for name, body := range map[string]string{"odd blanks, escapes, doubles": odd, "200 KB": big} {
		e, err := Read([]byte(body), Chat)
		if err != nil {
			t.Fatal(err)
		}
		b := SwapModel([]byte(body), &e, "new/\"model\"")
		got := string(b.Bytes())
		old := `"old"`
		if name != "200 KB" {
			old = `"old\u002fname"`
		}
		want := strings.Replace(body, old, `"new/\"model\""`, 1)
		if got != want || b.Len() != int64(len(want)) {
			t.Errorf("%s: bytes changed beside the model", name)
		}
		read := make([]byte, 0, len(want))
		r := b.Reader()
		piece := make([]byte, 997)
		for {
			n, err := r.Read(piece)
			read = append(read, piece[:n]...)
			if err != nil {
				break
			}
		}
		if string(read) != want {
			t.Errorf("%s: its reader gives other bytes", name)
		}
		if same := SwapModel([]byte(body), &e, e.Model); name == "200 KB" && string(same.Bytes()) != body {
			t.Error("the same model changed the body")
		}
	}
}

func TestTheConversationIsNamedByItsFirstUserItem(t *testing.T) {
	hash := func(p Protocol, body string) string {
		e, err := Read([]byte(body), p)
		if err != nil {
			t.Fatal(err)
		}
		return e.ConversationHash([]byte(body))
	}
	first := hash(Chat, `{"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"}]}`)
	later := hash(Chat, `{"model":"m","messages":[{"role":"system","content":"b"},{"role":"user","content":"hi"},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`)
	other := hash(Chat, `{"model":"m","messages":[{"role":"user","content":"ho"}]}`)
	if first != later || first == other || !strings.HasPrefix(first, "magpie-") || len(first) != len("magpie-")+24 {
		t.Errorf("%s, %s, %s", first, later, other)
	}
	if a, b := hash(Gemini, `{"contents":[{"parts":[{"text":"q"}]}]}`), hash(Gemini, `{"systemInstruction":{},"contents":[{"parts":[{"text":"q"}]},{"role":"model"}]}`); a != b {
		t.Error("Gemini's item without a role is the user's")
	}
	if a, b := hash(Responses, `{"model":"m","input":"hi"}`), hash(Responses, `{"input":"hi","model":"n"}`); a != b {
		t.Error("an input string names the conversation")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"h\u00e9 \ud83d\ude80"}]}],"stream":true}`))
	f.Add([]byte(`{"system":[{"text":"x-anthropic-billing-header: a"} , {"text":"b"}],"model":"m"}`))
	f.Add([]byte(`{"model":1e5,"input":[null,true,false,-0.5E-7,"",[],{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range Protocols {
			e, err := Read(body, p)
			if err == nil != valid(body) && !errors.As(err, new(*FieldError)) && !errors.Is(err, ErrNotObject) && !errors.Is(err, ErrDepth) && !errors.Is(err, ErrEmpty) {
				t.Fatalf("%q: %v, but JSON says %v", body, err, valid(body))
			}
			if err != nil {
				continue
			}
			plain := SwapPlain(body, &e, "other")
			if again, err := Read(plain.Bytes(), p); err != nil || e.model != (span{}) && again.Model != "other" {
				t.Fatalf("%q made plain is %q: %v", body, plain.Bytes(), err)
			}
			b := SwapModel(body, &e, "other")
			if again, err := Read(b.Bytes(), p); err != nil || e.model != (span{}) && again.Model != "other" {
				t.Fatalf("%q swapped is %q: %v", body, b.Bytes(), err)
			}
		}
	})
}

// agentBody is a body as coding agents send it, of about n bytes.
func agentBody(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString(`{"model":"anthropic/claude-sonnet-5","max_tokens":32000,"stream":true,"system":[{"type":"text","text":"You are a coding agent."}],"messages":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"`, i)
		for range 40 {
			fmt.Fprintf(&b, `\tif err := run(ctx, %d); err != nil {\n\t\treturn fmt.Errorf(\"step: %%w\", err) // naïve\n\t}\n`, r.IntN(1000))
		}
		b.WriteString(`"}]}`)
	}
	b.WriteString(`],"tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`)
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1 << 10, 200 << 10, 2 << 20} {
		body := agentBody(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(body, Messages); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package wire

import (
	"io"
	"strings"
	"testing"
)

func TestEmbeddingsNameTheSwappedModelWhereTheyNameOne(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"at the top":               {`{"model":"models/a/m","content":{"parts":[{"text":"one"}]}}`, `{"model":"models/m","content":{"parts":[{"text":"one"}]}}`},
		"in each request":          {`{"requests": [{"model":"models/a/m","content":{}},{"content":{},"model": "x"}]}`, `{"requests": [{"model":"models/m","content":{}},{"content":{},"model": "models/m"}]}`},
		"nowhere":                  {`{"content":{"parts":[{"text":"the \"model\":\"models/a/m\""}]}}`, `{"content":{"parts":[{"text":"the \"model\":\"models/a/m\""}]}}`},
		"not in what is said":      {`{"requests":[{"content":{"model":"models/a/m"}}]}`, `{"requests":[{"content":{"model":"models/a/m"}}]}`},
		"requests that are none":   {`{"requests":[1,null,"model"],"x":[]}`, `{"requests":[1,null,"model"],"x":[]}`},
		"a body that is no object": {`["model"]`, `["model"]`},
	} {
		t.Run(name, func(t *testing.T) {
			b := SwapEmbedModels([]byte(c.body), "models/m")
			if got := string(b.Bytes()); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTheBlockThatSaysWhomToBillIsCut(t *testing.T) {
	const bill = `{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1; cch=71fea;"}`
	for name, c := range map[string]struct{ body, want string }{
		"the first of two":            {`{"model":"a/m","system":[` + bill + ` ,  {"type":"text","text":"S"}],"messages":[]}`, `{"model":"m","system":[{"type":"text","text":"S"}],"messages":[]}`},
		"the last of two":             {`{"model":"a/m","system":[{"type":"text","text":"S"} , ` + bill + ` ]}`, `{"model":"m","system":[{"type":"text","text":"S"}  ]}`},
		"alone":                       {`{"model":"a/m","system":[ ` + bill + ` ]}`, `{"model":"m","system":[  ]}`},
		"before the model":            {`{"system":[` + bill + `,{"text":"S","type":"text"}],"messages":[],"model":"a/m","stream":true}`, `{"system":[{"text":"S","type":"text"}],"messages":[],"model":"m","stream":true}`},
		"beside a model that stays":   {`{"model":"m","system":[` + bill + `,{"type":"text","text":"S"}]}`, `{"model":"m","system":[{"type":"text","text":"S"}]}`},
		"a block that speaks of it":   {`{"model":"a/m","system":[{"type":"text","text":"see x-anthropic-billing-header: it is"}]}`, `{"model":"m","system":[{"type":"text","text":"see x-anthropic-billing-header: it is"}]}`},
		"a user who begins with it":   {`{"model":"a/m","messages":[{"role":"user","content":[` + bill + `]}]}`, `{"model":"m","messages":[{"role":"user","content":[` + bill + `]}]}`},
		"a system prompt of one text": {`{"model":"a/m","system":"x-anthropic-billing-header: S"}`, `{"model":"m","system":"x-anthropic-billing-header: S"}`},
	} {
		e, err := Read([]byte(c.body), Messages)
		if err != nil {
			t.Fatal(err)
		}
		b := SwapPlain([]byte(c.body), &e, "m")
		read, err := io.ReadAll(b.Reader())
		if err != nil || string(read) != c.want || b.Len() != int64(len(c.want)) || string(b.Bytes()) != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, read, c.want)
		}
		whole := SwapModel([]byte(c.body), &e, "m")
		if got := string(whole.Bytes()); got != strings.Replace(c.body, "a/m", "m", 1) {
			t.Errorf("%s: it goes on to its maker as %s", name, got)
		}
	}
}

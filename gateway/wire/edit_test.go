package wire

import "testing"

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

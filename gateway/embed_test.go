package gateway_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

func TestGeminisEmbeddingsOfSeveralTextsNameTheVendorsModel(t *testing.T) {
	v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{keyOne, keyTwo}})
	v.Script(keyOne, standin.Must("429 rate op=embed")...)
	r := newRig(t, twoKeys, vendors{"a": v})
	got := r.ask("/v1beta/models/a/m:batchEmbedContents",
		`{"requests":[{"model":"models/a/m","content":{"parts":[{"text":"one"}]}},{"model":"models/a/m","content":{"parts":[{"text":"two"}]}}]}`)
	if got.status != 200 || strings.Count(got.body, `"values"`) != 2 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	calls := v.Calls()
	if last := calls[len(calls)-1]; last.Path != "/v1beta/models/m:batchEmbedContents" || strings.Count(string(last.Body), `"model":"models/m"`) != 2 || last.Key != keyTwo {
		t.Errorf("%s with %s: %s", last.Path, last.Key, last.Body)
	}
}

package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsQuotedReadsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text") + string(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
		var got string
		if err := json.Unmarshal(Quote(s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Fatalf("%q: got %q", s, got)
		}
		raw := Quote(s)
		if back := unquote(raw[1 : len(raw)-1]); back != got {
			t.Fatalf("%q: unquote gives %q", s, back)
		}
	})
}

package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzParse(f *testing.F) {
	everything, err := os.ReadFile("testdata/everything.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(everything)
	for part := range strings.SplitSeq(string(everything), "\n\n") {
		f.Add([]byte(part))
	}
	for _, seed := range []string{
		"", "listen = 3", "[providers.a]\nkeys = [{ value = \"x\" }]", "[[providers.a.keys]]\n[providers.a.keys.b]", "a.b.c = 1\n[a.b]", "x = [[[1]], {a = {b = [{}]}}]",
		"[groups.a]\nmembers = [\"group/b\"]\n[groups.b]\nmembers = [\"group/a\", \"a@b/c:high\"]", "\xef\xbb\xbf\"\\u0000\" = '''\r\n'''", "theme = {}", "body_limit = \"1e9\"", "stall_timeout = \"9999999h\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("config.toml", data)
		if err != nil {
			broken, ok := errors.AsType[*Errors](err)
			if !ok || len(broken.Problems) == 0 || broken.Error() == "" {
				t.Fatalf("an error of another kind: %v", err)
			}
			for i, p := range broken.Problems {
				if p.Line < 0 || p.Col < 0 || p.Text == "" || (i > 0 && p.Line < broken.Problems[i-1].Line) {
					t.Fatalf("an odd problem: %+v", p)
				}
			}
			return
		}
		again, err := Parse("config.toml", append(data[:len(data):len(data)], "\n# and a comment\n"...))
		if err != nil {
			t.Fatalf("accepted, and refused the second time: %v", err)
		}
		again.Lines, c.Lines = nil, nil
		if diff := cmp.Diff(c, again); diff != "" {
			t.Fatalf("it reads differently the second time\n%s", diff)
		}
		if _, err := Address(c.Listen); err != nil {
			t.Fatalf("accepted the address %q", c.Listen)
		}
		c.Unserved()
	})
}

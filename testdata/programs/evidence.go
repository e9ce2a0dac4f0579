package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// evidence is what helps to see why a run failed.
func (s *stage) evidence(said output, told []route, gw *child) string {
	var b strings.Builder
	for _, r := range told {
		fmt.Fprintf(&b, "asked %s %s (%s): %d %s %v\n", r.API, r.Asked, r.Agent, r.Status, r.Error, r.Tries)
	}
	for _, part := range []struct{ name, text string }{{"stdout", said.out}, {"stderr", said.err}, {"magpie serve", gw.out.String()}} {
		if text := strings.TrimSpace(part.text); text != "" {
			fmt.Fprintf(&b, "-- %s\n%s\n", part.name, lastOf(text, 3000))
		}
	}
	return b.String()
}

// lastOf is the end of a long text.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
}

// dump writes down every request as it reached the vendor.
func (s *stage) dump() error {
	var b bytes.Buffer
	for _, c := range s.vendor.Calls() {
		fmt.Fprintf(&b, "== %d %s %s?%s -> %d %s\n", c.N, c.Method, c.Path, c.RawQuery, c.Status, c.Refused)
		if err := c.Header.Write(&b); err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n\n", c.Body)
	}
	return os.WriteFile(filepath.Join(s.dir, "requests.txt"), b.Bytes(), 0o600)
}

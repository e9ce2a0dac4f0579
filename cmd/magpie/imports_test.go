package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "dev.magpie/"

// mayImport says which of our packages each may import: the direction in which facts
// flow. A name that ends in /... stands for everything below it too.
var mayImport = map[string][]string{
	"config":              {},
	"themes":              {},
	"gateway/wire":        {"gateway/wire/..."},
	"gateway/wire/sse":    {},
	"provider":            {"config", "gateway/wire", "provider/vendors/balance"},
	"provider/vendors":    {"provider", "provider/vendors/...", "gateway/wire"},
	"gateway/trace":       {},
	"gateway/trace/words": {"gateway/trace"},
	"gateway/control":     {"gateway/trace"},
	"gateway/route":       {"provider", "gateway/trace", "gateway/wire"},
	"gateway/failure":     {"gateway/trace"},
	"gateway/mend":        {"gateway/wire", "gateway/wire/messages"},
	"gateway/state":       {"provider", "gateway/route", "gateway/trace"},
	"gateway/upstream":    {"provider"},
	"gateway/lane":        {},
	"gateway/sim":         {"gateway/route", "gateway/trace", "provider"},
	"gateway/guard":       {"config"},
	"gateway/meter":       {"provider"},
	"gateway/redact":      {"gateway/trace"},
	"gateway/history":     {"gateway/trace"},
	"gateway/standin":     {"gateway/wire", "gateway/wire/..."},
	"gateway/client":      {"gateway/control", "gateway/trace"},
	"gateway/bridge":      {"provider", "provider/vendors/claude", "gateway/wire"},
	"gateway": {
		"config", "provider", "provider/vendors", "provider/vendors/balance", "gateway/bridge", "gateway/control", "gateway/failure", "gateway/guard", "gateway/history", "gateway/lane", "gateway/mend", "gateway/meter", "gateway/redact",
		"gateway/route", "gateway/state", "gateway/trace", "gateway/trace/words", "gateway/upstream", "gateway/wire", "gateway/wire/...",
	},
	"tui": {"config", "themes", "gateway/trace", "gateway/trace/words", "gateway/control", "tui/..."},
}

// below are the rules of folders whose packages all obey one line.
var below = map[string][]string{
	"tui/":              mayImport["tui"],
	"provider/vendors/": {"config", "provider", "provider/vendors/loose", "gateway/wire"},
	"gateway/wire/":     {"gateway/wire", "gateway/wire/sse"},
	"gateway/bridge/":   {},
}

// neverTouches are the parts of the standard library that a pure package keeps out of.
var neverTouches = map[string][]string{
	"gateway/route":   {"os", "net", "net/http", "sync", "math/rand", "math/rand/v2", "io"},
	"gateway/mend":    {"os", "net", "math/rand", "math/rand/v2"},
	"gateway/failure": {"os", "net", "math/rand", "math/rand/v2"}, // sync readies patterns at their first use
	"gateway/trace":   {"os", "net", "net/http"},
	"gateway/wire":    {"os", "net", "net/http"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestPackagesImportOnlyWhatTheHouseAllows(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	seen := 0
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "cmd/") {
			continue
		}
		seen++
		for _, broken := range judge(name, p.Imports) {
			t.Error(broken)
		}
	}
	if seen < 15 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

// judge returns what a package imports against the rules.
func judge(name string, imports []string) []string {
	rules, ok := mayImport[name]
	if !ok {
		for prefix, r := range below {
			if strings.HasPrefix(name, prefix) {
				rules, ok = r, true
			}
		}
	}
	if !ok {
		return []string{name + " stands in no line of the table of imports: give it one"}
	}
	var broken []string
	for _, imp := range imports {
		ours, is := strings.CutPrefix(imp, module)
		switch {
		case is && !allowed(rules, ours):
			broken = append(broken, name+" imports "+ours+", which the table of imports forbids")
		case !is && slices.Contains(neverTouches[name], imp):
			broken = append(broken, name+" imports "+imp+": it decides, it does not touch the world")
		}
	}
	return broken
}

func allowed(rules []string, name string) bool {
	for _, r := range rules {
		if r == name {
			return true
		}
		if folder, ok := strings.CutSuffix(r, "..."); ok && strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

func TestTheTableOfImportsBites(t *testing.T) {
	for _, c := range []struct {
		name    string
		imports []string
		broken  int
	}{
		{"gateway/route", []string{module + "provider", "time"}, 0},
		{"gateway/route", []string{module + "gateway/state", "net/http", "os"}, 3},
		{"tui/pane", []string{module + "gateway"}, 1},
		{"tui/pane", []string{module + "tui/canvas", module + "gateway/trace"}, 0},
		{"gateway/wire", []string{module + "provider"}, 1},
		{"gateway/brand-new", nil, 1},
	} {
		if got := judge(c.name, c.imports); len(got) != c.broken {
			t.Errorf("%s importing %v: %v", c.name, c.imports, got)
		}
	}
}

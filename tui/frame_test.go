package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/tui/layout"
)

// updating says whether the golden files are to be written anew; teatest brings the flag.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

var frameSizes = []layout.Size{{W: 120, H: 40}, {W: 80, H: 24}, {W: 46, H: 30}, {W: 40, H: 12}, {W: 24, H: 4}}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-file +drawn); look at it, then go test ./tui -update:\n%s", path, diff)
	}
}

func TestFrames(t *testing.T) {
	for _, s := range scenes {
		for _, size := range slices.Concat(frameSizes, s.more) {
			name := fmt.Sprintf("%s@%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				m := sceneModel(t, s, size)
				golden(t, filepath.Join("testdata", "frames", name+".txt"), m.canvas.Plain())
				golden(t, filepath.Join("testdata", "frames", name+".pens"), m.canvas.PenRuns())
			})
		}
	}
}

package theme

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the parts of the README that are made")

func TestTheREADMEListsTheRoles(t *testing.T) {
	const file, from = "../../themes/README.md", "-update writes it -->\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	written, _, ok := strings.Cut(string(data), from)
	if !ok {
		t.Fatalf("%s has no mark %q", file, from)
	}
	want := written + from + "\n" + Table()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s is not what the roles say; run go test ./tui/theme -update", file)
	}
	for _, id := range IDs(nil) {
		if !strings.Contains(written, "`"+id+"`") {
			t.Errorf("%s does not name %s", file, id)
		}
	}
}

package standin_test

import (
	"os"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

const (
	tablesBegin = "<!-- tables: made from the parser's; go test -run Reference -update -->\n"
	tablesEnd   = "<!-- end of tables -->\n"
)

func TestTheReferenceIsTheParsersTables(t *testing.T) {
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(file), tablesBegin)
	old, tail, ended := strings.Cut(rest, tablesEnd)
	if !ok || !ended {
		t.Fatal("README.md has lost the marks around its tables")
	}
	want := standin.Reference()
	if *update {
		if err := os.WriteFile("README.md", []byte(head+tablesBegin+want+tablesEnd+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != want {
		t.Error("README.md's tables are not the parser's; run the test with -update")
	}
}

func TestTheReferenceNamesEveryVendorAndAgent(t *testing.T) {
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(standin.Vendors(), standin.AgentNames()...) {
		if !strings.Contains(string(file), "`"+name+"`") {
			t.Errorf("README.md doesn't name `%s`", name)
		}
	}
}

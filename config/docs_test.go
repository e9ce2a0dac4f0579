package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the schema into README.md")

// page returns the schema as the reference page has it.
func page() string {
	var b strings.Builder
	for _, s := range sections() {
		title := "`" + s.title + "`"
		if !strings.HasPrefix(s.title, "[") {
			title = strings.ToUpper(s.title[:1]) + s.title[1:]
		}
		b.WriteString("\n### " + title + "\n\n| key | takes | without it | meaning |\n|---|---|---|---|\n")
		for _, r := range s.rows {
			def := r.def
			if def != "" && strings.ContainsAny(def[:1], `"[{0123456789tf`) && !strings.Contains(def, " ") {
				def = "`" + def + "`"
			}
			means := r.means
			if r.unmet {
				means += " **not yet**"
			}
			for i, v := range r.served {
				means += []string{", but for", ","}[min(i, 1)] + fmt.Sprintf(" `%v`", v)
			}
			b.WriteString("| `" + r.key + "` | " + r.takes + " | " + def + " | " + means + " |\n")
		}
	}
	return b.String() + "\n"
}

func TestTheReferencePageHasTheSchema(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), "-update` -->\n")
	old, after, closed := strings.Cut(rest, "<!-- end of schema -->")
	if !ok || !closed {
		t.Fatal("the page has lost the marks around its schema")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(before+"-update` -->\n"+page()+"<!-- end of schema -->"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(page(), old); diff != "" {
		t.Errorf("run go test ./config -update\n%s", diff)
	}
}

// allOn returns default.toml with its examples switched on.
func allOn() string {
	var lines []string
	for line := range strings.Lines(Reference()) {
		if len(line) > 1 && line[0] == '#' && line[1] != ' ' || strings.HasPrefix(line, "#  {") {
			line = line[1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

func TestTheExamplesOfTheDefaultsAreRight(t *testing.T) {
	c := parse(t, allOn())
	if len(c.Providers) != 3 || len(c.Groups) != 1 || len(c.Groups[0].Rules) != 1 || len(c.Agents) != 1 || len(c.Keys) != 1 {
		t.Errorf("examples were not switched on: %d providers, %d groups", len(c.Providers), len(c.Groups))
	}
}

func TestTheDefaultsNameEveryKeyAndWhatIsNotCarriedOut(t *testing.T) {
	root, wrong := read([]byte(allOn()))
	if wrong != nil {
		t.Fatal(wrong.text)
	}
	lines := strings.Split(allOn(), "\n")
	for _, s := range sections() {
		for _, r := range s.rows {
			places := keyPlaces(root, homeOf(s.title), r.key)
			if len(places) == 0 {
				t.Errorf("default.toml lacks %s of %s", r.key, s.title)
				continue
			}
			marked := false
			for _, at := range places {
				marked = marked || strings.Contains(lines[at.Line-1], "(not yet)") || strings.Contains(lines[max(0, at.Line-2)], "(not yet):")
			}
			if r.unmet != marked && r.key != "accounts" && r.key != "rules" && !mixed[r.key] {
				t.Errorf("%s of %s: marked as not carried out: %v; want %v", r.key, s.title, marked, r.unmet)
			}
		}
	}
}

// mixed are keys of which some values are carried out and others not.
var mixed = map[string]bool{"routing": true, "affinity": true}

func homeOf(title string) []string {
	switch title {
	case "the top of the file":
		return nil
	case "[providers.<id>]":
		return []string{"providers", "*"}
	case "an entry of keys":
		return []string{"providers", "*", "keys"}
	case "an entry of accounts":
		return []string{"providers", "*", "accounts"}
	case "an entry of models":
		return []string{"providers", "*", "models"}
	case "a model's price":
		return []string{"providers", "*", "models", "price"}
	case "[groups.<id>]":
		return []string{"groups", "*"}
	case "an entry of rules":
		return []string{"groups", "*", "rules"}
	case "[agents.<id>]":
		return []string{"agents", "*"}
	default:
		return []string{strings.Trim(title, "[]")}
	}
}

// keyPlaces returns where key stands in the tables that path leads to; * is any key, and a list is all its items.
func keyPlaces(n *node, path []string, key string) []Pos {
	var all []Pos
	if n.kind == isList {
		for _, k := range n.kids {
			all = append(all, keyPlaces(k, path, key)...)
		}
		return all
	}
	for _, k := range n.kids {
		switch {
		case len(path) == 0 && k.key == key:
			all = append(all, k.keyAt)
		case len(path) > 0 && (path[0] == "*" || path[0] == k.key):
			all = append(all, keyPlaces(k, path[1:], key)...)
		}
	}
	return all
}

// The words "without it" of the schema are the defaults of the program.
func TestTheSchemaTellsTheTrueDefaults(t *testing.T) {
	for _, s := range sections() {
		if s.title != "the top of the file" && s.title != "[screen]" && s.title != "[notify]" {
			continue
		}
		var b strings.Builder
		if s.title[0] == '[' {
			b.WriteString(s.title + "\n")
		}
		for _, r := range s.rows {
			if r.def != "" {
				b.WriteString(r.key + " = " + r.def + "\n")
			}
		}
		c := parse(t, b.String())
		c.Path, c.Lines, c.ThemePos = "", nil, Pos{}
		if diff := cmp.Diff(Default(), c); diff != "" {
			t.Errorf("%s\n%s", s.title, diff)
		}
	}
}

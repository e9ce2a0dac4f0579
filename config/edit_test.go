package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dev.magpie/config"
)

const editable = `# mine
listen = "127.0.0.1:3425"   # here

# vendors
[providers.anthropic]
keys = [
  { name = "work", env = "A" }, # the firm's
]
routing = "order" # this week

# a relay
[providers.relay]
  chat = "https://relay.example/v1"

[groups]
cheap = { members = ["relay/x"], off = true }
fast.members = ["relay/y"]

[groups.deep]
members = ["relay/z"]

[groups.deep.names]
a = ["relay/z"]
# the end
`

func TestAnEditChangesItsOwnBytesAlone(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit config.Edit
		old  string // of the file
		new  string // in its place
	}{
		{"a value", config.Edit{Table: way("providers", "anthropic"), Key: "routing", Value: `"smart"`}, `routing = "order"`, `routing = "smart"`},
		{"a value of several lines", config.Edit{Table: way("providers", "anthropic"), Key: "keys", Value: "[]"}, "keys = [\n  { name = \"work\", env = \"A\" }, # the firm's\n]", "keys = []"},
		{"a key more", config.Edit{Table: way("providers", "anthropic"), Key: "off", Value: "true"}, "# this week\n", "# this week\noff = true\n"},
		{"as far in as the others", config.Edit{Table: way("providers", "relay"), Key: "off", Value: "true"}, "relay.example/v1\"\n", "relay.example/v1\"\n  off = true\n"},
		{"at the top", config.Edit{Key: "sink", Value: "true"}, "# here\n", "# here\nsink = true\n"},
		{"of a table in one line", config.Edit{Table: way("groups", "cheap"), Key: "off", Value: "false"}, "off = true }", "off = false }"},
		{"one more in it", config.Edit{Table: way("groups", "cheap"), Key: "name", Value: `"C"`}, "off = true }", `off = true, name = "C" }`},
		{"of dotted keys", config.Edit{Table: way("groups", "fast"), Key: "members", Value: "[]"}, `fast.members = ["relay/y"]`, "fast.members = []"},
		{"one more of them", config.Edit{Table: way("groups", "fast"), Key: "off", Value: "true"}, "[\"relay/y\"]\n", "[\"relay/y\"]\nfast.off = true\n"},
		{"above a table in the table", config.Edit{Table: way("groups", "deep"), Key: "off", Value: "true"}, "[\"relay/z\"]\n\n[groups.deep.names]", "[\"relay/z\"]\noff = true\n\n[groups.deep.names]"},
		{"a table more", config.Edit{Table: way("groups", "next"), Key: "members", Value: `["relay/x"]`}, "# the end\n", "# the end\n\n[groups.next]\nmembers = [\"relay/x\"]\n"},
		{"a table without keys", config.Edit{Table: way("providers", "ollama"), Value: "{}"}, "# the end\n", "# the end\n\n[providers.ollama]\n"},
		{"a key out", config.Edit{Table: way("providers", "anthropic"), Key: "routing"}, "routing = \"order\" # this week\n", ""},
		{"the first in one line out", config.Edit{Table: way("groups", "cheap"), Key: "members"}, `members = ["relay/x"], `, ""},
		{"the last in one line out", config.Edit{Table: way("groups", "cheap"), Key: "off"}, ", off = true", ""},
		{"a table out", config.Edit{Table: way("providers", "relay")}, "[providers.relay]\n  chat = \"https://relay.example/v1\"\n", ""},
		{"a table in one line out", config.Edit{Table: way("groups", "cheap")}, "cheap = { members = [\"relay/x\"], off = true }\n", ""},
		{"dotted keys out", config.Edit{Table: way("groups", "fast")}, "fast.members = [\"relay/y\"]\n", ""},
		{"a table with its tables out", config.Edit{Table: way("groups", "deep")}, "[groups.deep]\nmembers = [\"relay/z\"]\n\n[groups.deep.names]\na = [\"relay/z\"]\n", ""},
		{"what is not there out", config.Edit{Table: way("groups", "none")}, "", ""},
		{"a table that is there", config.Edit{Table: way("groups", "fast"), Value: "{}"}, "", ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(tt.name+fmt.Sprintf("%q", end), func(t *testing.T) {
				ends := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
				if strings.Count(editable, tt.old) != 1 && tt.old != "" {
					t.Fatalf("%q stands %d times", tt.old, strings.Count(editable, tt.old))
				}
				want := ends(editable)
				if tt.old != "" {
					want = strings.Replace(want, ends(tt.old), ends(tt.new), 1)
				}
				got, err := config.Apply([]byte(ends(editable)), tt.edit)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, string(got)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func TestAListsLinesKeepTheirComments(t *testing.T) {
	const list = "# above\n[groups.g]\nmembers = [ # who\n\t\"a/m\", # cheap\n\n\t# strong\n\t\"b/m\",\n\t'c/m' # last\n\t# end\n]\n"
	for _, tt := range []struct {
		name string
		want []string
		text string
	}{
		{"the same", []string{"a/m", "b/m", "c/m"}, "[ # who\n\t\"a/m\", # cheap\n\n\t# strong\n\t\"b/m\",\n\t'c/m', # last\n\t# end\n]"},
		{"another order", []string{"c/m", "a/m", "b/m"}, "[ # who\n\t'c/m', # last\n\t\"a/m\", # cheap\n\n\t# strong\n\t\"b/m\",\n\t# end\n]"},
		{"one less, one more", []string{"b/m", "d/m"}, "[ # who\n\n\t# strong\n\t\"b/m\",\n\t\"d/m\",\n\t# end\n]"},
		{"none", []string{}, "[]"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			ends := func(s string) string { return strings.ReplaceAll(s, "\n", end) }
			got, err := config.Apply([]byte(ends(list)), config.Edit{Table: way("groups", "g"), Key: "members", Value: config.Texts(tt.want)})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(ends("# above\n[groups.g]\nmembers = "+tt.text+"\n"), string(got)); d != "" {
				t.Errorf("%s %q: %s", tt.name, end, d)
			}
		}
	}
}

func way(parts ...string) []string { return parts }

func TestAnEditOfAFileThatHasLittle(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"none", "", "[groups.g]\nmembers = [\"a/m\"]\noff = true\n"},
		{"no line end", "sink = true", "sink = true\n\n[groups.g]\nmembers = [\"a/m\"]\noff = true\n"},
		{"a key without a line end", "[groups.g]\nname = 'x' # y", "[groups.g]\nname = 'x' # y\nmembers = [\"a/m\"]\noff = true"},
		{"a byte order mark", "\xef\xbb\xbf[groups.g]\n", "\xef\xbb\xbf[groups.g]\nmembers = [\"a/m\"]\noff = true\n"},
		{"comments alone", "# a\n# b\n", "# a\n# b\n\n[groups.g]\nmembers = [\"a/m\"]\noff = true\n"},
		{"quoted names", "[\"groups\".'g']\n\"off\" = false\n", "[\"groups\".'g']\n\"off\" = true\nmembers = [\"a/m\"]\n"},
		{"an empty table in one line", "groups = { g = {} }\n", "groups = { g = { members = [\"a/m\"], off = true } }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.Apply([]byte(tt.file),
				config.Edit{Table: way("groups", "g"), Key: "members", Value: `["a/m"]`}, config.Edit{Table: way("groups", "g"), Key: "off", Value: "true"})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAnEditThatCanNotBeMadeIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		edit       config.Edit
	}{
		{"no TOML", "a = ", config.Edit{Key: "b", Value: "1"}},
		{"no value", "", config.Edit{Key: "b", Value: "nonsense"}},
		{"two values", "", config.Edit{Key: "b", Value: "1\nc = 2"}},
		{"a comment behind a value", "", config.Edit{Table: way("t"), Key: "b", Value: "1 # x\nc = 3"}},
		{"a list of tables", "[[groups]]\na = 1\n", config.Edit{Table: way("groups", "g"), Key: "off", Value: "true"}},
		{"a key that is a table of its own", "[groups.g]\n[groups.g.names]\n", config.Edit{Table: way("groups", "g"), Key: "names", Value: "{}"}},
		{"nothing at all", "", config.Edit{}},
	} {
		if got, err := config.Apply([]byte(tt.file), tt.edit); err == nil {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestTextIsWrittenAsItReads(t *testing.T) {
	for _, s := range []string{"", "a", `"`, `\`, "a\nb\x01\x7f", "ü…", "C:\\x\ty"} {
		data, err := config.Apply(nil, config.Edit{Table: way("groups", s), Key: s, Value: config.Texts([]string{s, "x"})})
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		back, err := config.Apply(data, config.Edit{Table: way("groups", s), Key: s})
		if err != nil || bytes.Contains(back, []byte("= [")) {
			t.Errorf("%q: %q, %v", s, back, err)
		}
	}
}

// randomFile writes a file with comments and odd blanks; keys lists what it has.
func randomFile(r *rand.Rand) (data []byte, tables [][]string, keys map[string][]string) {
	var b strings.Builder
	keys = map[string][]string{}
	noise := func() {
		b.WriteString([]string{"", "", "\n", "# a comment with [x] and y = 1\n", "   \n", "\t# deep\n"}[r.IntN(6)])
	}
	values := []string{`"text # no comment"`, "'raw'", "17", "true", "[1, 2, # two\n  3 ]", `["a", "b"]`, `{ x = 1, y = "}" }`, "\"\"\"\nlong\n[x]\n\"\"\"", "1979-05-27 07:32:00", "[[1], [2]]"}
	entries := func(table []string) {
		id := strings.Join(table, ".")
		for i := range r.IntN(4) {
			noise()
			key := string(rune('a' + i))
			keys[id] = append(keys[id], key)
			b.WriteString(strings.Repeat(" ", r.IntN(3)) + key + []string{" = ", "=", "   =  "}[r.IntN(3)] + values[r.IntN(len(values))] + []string{"", " # why", "  "}[r.IntN(3)] + "\n")
		}
	}
	entries(nil)
	for i := range 1 + r.IntN(4) {
		noise()
		table := []string{"t" + fmt.Sprint(i)}
		if r.IntN(2) == 0 {
			table = append(table, "s")
		}
		tables = append(tables, table)
		b.WriteString("[" + strings.Join(table, ".") + "]" + []string{"", " # head"}[r.IntN(2)] + "\n")
		entries(table)
	}
	noise()
	return []byte(b.String()), tables, keys
}

func TestWhatAnEditDoesAnotherTakesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data, tables, keys := randomFile(r)
		table := tables[r.IntN(len(tables))]
		added, err := config.Apply(data, config.Edit{Table: table, Key: "fresh", Value: `["new"]`})
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		lines := strings.SplitAfter(string(added), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == `fresh = ["new"]` })
		if at < 0 || strings.Join(slices.Delete(lines, at, at+1), "") != string(data) {
			t.Fatalf("more than a line came in:\n%s\n---\n%s", data, added)
		}
		back, err := config.Apply(added, config.Edit{Table: table, Key: "fresh"})
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%v: not as before:\n%s\n---\n%s", err, data, back)
		}
		if own := keys[strings.Join(table, ".")]; len(own) > 0 {
			key := own[r.IntN(len(own))]
			set, err := config.Apply(data, config.Edit{Table: table, Key: key, Value: `"A9"`})
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			i := bytes.Index(set, []byte(`"A9"`))
			if !bytes.HasPrefix(data, set[:i]) || !bytes.HasSuffix(data, set[i+4:]) {
				t.Fatalf("other bytes than the value's changed:\n%s\n---\n%s", data, set)
			}
			old := data[i : len(data)-(len(set)-i-4)]
			if back, err := config.Apply(set, config.Edit{Table: table, Key: key, Value: string(old)}); err != nil || !bytes.Equal(back, data) {
				t.Fatalf("%v: not as before:\n%s\n---\n%s", err, data, back)
			}
		}
		gone, err := config.Apply(data, config.Edit{Table: table})
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if !isPart(strings.SplitAfter(string(gone), "\n"), strings.SplitAfter(string(data), "\n")) {
			t.Fatalf("a removal put something in:\n%s\n---\n%s", data, gone)
		}
	}
}

// isPart says whether the lines of part stand in whole in the same order.
func isPart(part, whole []string) bool {
	for _, line := range whole {
		if len(part) > 0 && part[0] == line {
			part = part[1:]
		}
	}
	return len(part) == 0 || len(part) == 1 && part[0] == ""
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(editable), "groups", "cheap", "off", "true")
	f.Add([]byte("a.b.c = {x={}}\n[[t]]\n"), "a", "b", "c", "")
	f.Add([]byte("x = \"\"\"a\"\"\"\"\"\ny = '''\n'''"), "x", "y", "z", "[1,\n2]")
	f.Add([]byte(" "), "0", "0", "0", " 0")
	f.Add([]byte("[t]\nx = [ # a\n 'a', # b\n\n 'b'\n# c\n]\n"), "t", "u", "x", "['b', 'c']")
	f.Fuzz(func(t *testing.T, data []byte, one, two, key, value string) {
		got, err := config.Apply(data, config.Edit{Table: way(one, two), Key: key, Value: value})
		if err != nil {
			return
		}
		again, err := config.Apply(got, config.Edit{Table: way(one, two), Key: key, Value: value})
		if err != nil || !bytes.Equal(got, again) {
			t.Errorf("done twice: %v\n%q\n%q", err, got, again)
		}
	})
}

func TestAFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.toml"), filepath.Join(dir, "link.toml")
	write := func(s string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(real, []byte(s), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(real, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a = 1\n", 0o640)
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := config.Write(link, []byte("a = 1\n"), []byte("a = 2\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
	if got, err := os.ReadFile(real); err != nil || string(got) != "a = 2\n" {
		t.Errorf("%q %v", got, err)
	}
	write("a = 3\n", 0o640)
	for _, before := range []string{"a = 2\n", ""} {
		var was []byte
		if before != "" {
			was = []byte(before)
		}
		if err := config.Write(link, was, []byte("a = 4\n")); !errors.Is(err, config.ErrChanged) {
			t.Errorf("%v", err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v %v", left, err)
	}
	fresh := filepath.Join(dir, "new", "config.toml")
	if err := config.Write(fresh, nil, []byte("a = 1\n")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := config.Write(filepath.Join(dir, "none.toml"), []byte("a = 1\n"), nil); !errors.Is(err, config.ErrChanged) {
		t.Errorf("%v", err)
	}
}

func TestADiffShowsLinesAndNoSecret(t *testing.T) {
	before := "# x\n[providers.a]\nkeys = [{ value = \"sk-test-0123456789\" }]\noff = true\n"
	after := "# x\n[providers.a]\nkeys = [{ value = \"sk-test-abcdefghij\" }]\noff = true\n\n[groups.g]\n"
	want := []string{
		`-    3  keys = [{ value = "******************" }]`, `+    3  keys = [{ value = "******************" }]`, "+    5  ", "+    6  [groups.g]",
	}
	if d := cmp.Diff(want, config.Diff([]byte(before), []byte(after))); d != "" {
		t.Error(d)
	}
	if got := config.Diff([]byte(before), []byte(before)); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

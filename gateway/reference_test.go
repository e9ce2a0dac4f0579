package gateway_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway"
	"dev.magpie/gateway/trace"
)

var update = flag.Bool("update", false, "write what HTTP.md and README.md tell of the tables anew")

const madeBelow = "<!-- from here on written by go test -update -->"

func TestThePagesTellTheTables(t *testing.T) {
	for file, made := range map[string]string{"HTTP.md": surfacePage(), "README.md": constantsPage()} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, found := strings.Cut(string(data), madeBelow)
		if !found {
			t.Fatalf("%s has no %q", file, madeBelow)
		}
		want := head + madeBelow + "\n\n" + made
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if string(data) != want {
			t.Errorf("%s doesn't tell the tables: run go test ./gateway -run Pages -update", file)
		}
	}
}

func surfacePage() string {
	agents, people, bases, geminiBases := gateway.Surface()
	var b strings.Builder
	table := func(lines []gateway.Line) {
		b.WriteString("| method | path | serves |\n|---|---|---|\n")
		for _, l := range lines {
			path := strings.ReplaceAll(l.Path, "{rest:.*}", "{model}")
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", l.Method, path, l.Serves)
		}
	}
	b.WriteString("## What agents ask\n\n")
	table(agents)
	fmt.Fprintf(&b, "\nIn place of `/v1` in front of the OpenAI and Anthropic paths: %s. In front of `/models`: %s. A slash or colon in a\nmodel's id may be escaped. HEAD is served where GET of a list is.\n", ticked(bases), ticked(geminiBases))
	b.WriteString("\n## What people and their tools ask\n\n")
	table(people)
	b.WriteString("\n## Verbs\n\nWhat `ends` something needs a fresh token of a preview.\n\n| verb | class |\n|---|---|\n")
	for _, v := range gateway.Verbs() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Verb, v.Class)
	}
	b.WriteString("\n## Values\n")
	for _, v := range []struct {
		name  string
		value any
	}{
		{"Route", trace.Route{}},
		{"Candidate, in `order` and `left`", trace.Candidate{}},
		{"Reason, the facts behind its sentence", trace.Reason{}},
		{"Try", trace.Try{}},
		{"Rest", trace.Rest{}},
		{"Tokens", trace.Tokens{}},
		{"Account", trace.Account{}},
		{"Window", trace.Window{}},
		{"Group", trace.Group{}},
		{"Status", trace.Status{}},
		{"Totals", trace.Totals{}},
		{"Log", trace.Log{}},
	} {
		fmt.Fprintf(&b, "\n**%s**: %s\n", v.name, fields(reflect.TypeOf(v.value)))
	}
	return b.String()
}

func ticked(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = "`" + s + "`"
		if s == "" {
			out[i] = "nothing"
		}
	}
	return strings.Join(out, ", ")
}

// fields lists the JSON names of a value, with what each holds; "?" may be absent.
func fields(t reflect.Type) string {
	var out []string
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if strings.HasPrefix(opts, "omit") {
			name += "?"
		}
		out = append(out, "`"+name+"` "+kind(t.Field(i).Type))
	}
	return strings.Join(out, " · ")
}

func kind(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() == reflect.Pointer:
		return kind(t.Elem()) + " or null"
	case t.Kind() == reflect.Slice:
		return "list of " + kind(t.Elem())
	case t.Kind() == reflect.Struct:
		return strings.ToLower(t.Name())
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "bool"
	}
	return "number"
}

func constantsPage() string {
	fixed, own, back := gateway.HeadersOn()
	var b strings.Builder
	b.WriteString("## Headers\n\n| whose | which |\n|---|---|\n")
	fmt.Fprintf(&b, "| an agent's, always passed on | %s |\n", ticked(fixed))
	for _, agent := range slices.Sorted(maps.Keys(own)) {
		fmt.Fprintf(&b, "| passed on where the agent is `%s` and the candidate a key | %s |\n", agent, ticked(own[agent]))
	}
	fmt.Fprintf(&b, "| a vendor's, passed back | %s |\n", ticked(back))
	b.WriteString("\n## Constants\n\n| what | how much |\n|---|---|\n")
	for _, c := range gateway.Constants() {
		fmt.Fprintf(&b, "| %s | %s |\n", c[0], c[1])
	}
	return b.String()
}

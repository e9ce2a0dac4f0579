package config

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
)

// defaultTOML holds every default, and says what each key means.
//
//go:embed default.toml
var defaultTOML []byte

// Reference returns the documented default.toml: every key, its default and its meaning.
func Reference() string { return string(defaultTOML) }

// Load reads and checks the config file at path. What is wrong with its content is an *Errors; a file that
// isn't there is an error that is fs.ErrNotExist.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return Parse(path, data)
}

// Parse reads and checks a config; name is what problems call the file. The error is always an *Errors: a
// mistake in the syntax alone, all others together.
func Parse(name string, data []byte) (*Config, error) {
	c := Default()
	c.Path = name
	if problems := c.take(data); problems != nil {
		return nil, &Errors{Problems: problems}
	}
	return c, nil
}

// Default returns the config of an empty file.
func Default() *Config {
	d := &decoder{c: &Config{}}
	root, wrong := read(defaultTOML)
	if wrong != nil {
		panic("default.toml: " + wrong.text)
	}
	if d.all(root); len(d.problems) > 0 {
		panic("default.toml: " + d.problems[0].text)
	}
	d.c.ThemePos = Pos{}
	return d.c
}

// take reads data over what c holds, and returns what is wrong with it.
func (c *Config) take(data []byte) []Problem {
	if len(data) > maxFile {
		return []Problem{{File: c.Path, Text: "the file is larger than 256KB", Hint: "a config is much smaller"}}
	}
	// A copy without room behind it: the second reader tells places by what is left of it.
	data = slices.Clip(bytes.Clone(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	root, wrong := read(data)
	if wrong != nil {
		c.Lines = lines(data, guess(data, harmless()))
		return []Problem{c.Problem(posAt(data, lineStarts(data), wrong.offset), wrong.text, wrong.hint)}
	}
	d := &decoder{c: c, homes: homes()}
	d.all(root)
	c.Lines = lines(data, d.hidden)
	return c.problems(d.problems)
}

// all reads the whole file, then what one part of it says of another.
func (d *decoder) all(root *node) {
	fill(d, root, topFields, d.c)
	d.lookUp()
	d.loops()
}

// problems returns the complaints in the order of the file, each with its line.
func (c *Config) problems(all []complaint) []Problem {
	slices.SortStableFunc(all, func(a, b complaint) int {
		if a.at.Line != b.at.Line {
			return a.at.Line - b.at.Line
		}
		return a.at.Col - b.at.Col
	})
	var problems []Problem
	for _, w := range all {
		problems = append(problems, c.Problem(w.at, w.text, w.hint))
	}
	return problems
}

// section is one table of the schema, as the pages name it.
type section struct {
	title string
	rows  []description
}

// description is one key of a table, in words.
type description struct {
	key, takes, def, means string
	unmet                  bool
	served                 []any // values of an unmet key that hold all the same
}

// sections returns the whole schema.
func sections() []section {
	return []section{
		{"the top of the file", describe(topFields)},
		{"[providers.<id>]", describe(providerFields)},
		{"an entry of keys", describe(keyFields)},
		{"an entry of accounts", describe(accountFields)},
		{"an entry of models", describe(modelFields)},
		{"a model's price", describe(priceFields)},
		{"[groups.<id>]", describe(groupFields)},
		{"an entry of rules", describe(ruleFields)},
		{"[agents.<id>]", describe(agentFields)},
		{"[screen]", describe(screenFields)},
		{"[notify]", describe(notifyFields)},
	}
}

func describe[T any](fields []field[T]) []description {
	all := make([]description, len(fields))
	for i, f := range fields {
		all[i] = description{f.key, f.takes, f.def, f.means, f.unmet, f.served}
	}
	return all
}

// homes returns the table that each key belongs in, where there is but one.
func homes() map[string]string {
	all := map[string]string{}
	for _, s := range sections() {
		for _, r := range s.rows {
			if _, several := all[r.key]; several {
				all[r.key] = ""
				continue
			}
			all[r.key] = s.title
		}
	}
	return all
}

// harmless returns the keys whose values are never secret.
func harmless() map[string]bool {
	all := map[string]bool{}
	for _, s := range sections() {
		for _, r := range s.rows {
			all[r.key] = true
		}
	}
	for _, key := range strings.Fields("value env command proxy headers balance_url keys") {
		all[key] = false
	}
	return all
}

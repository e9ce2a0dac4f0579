package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"dev.magpie/config"
	"dev.magpie/provider"
	"dev.magpie/tui/canvas"
)

// Changes of the config file: each keeps what it doesn't name, is checked as the gateway
// would check it before it is written, and is shown.

// configText is the config file as it stands; nil where there is none.
func (p *process) configText() ([]byte, error) {
	data, err := os.ReadFile(p.paths().Config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("can't read the config: %s", err)
	}
	return data, nil
}

// parsed reads a config's text as far as it goes, for what is in it.
func (p *process) parsed(data []byte) (*config.Config, error) {
	return loadText(p.paths().Config, data, os.DirFS(p.paths().Themes))
}

// change is one change of the config.
type change struct {
	edits []config.Edit
	ends  string // what is asked before it, for what can't be undone; "" = nothing
	yes   bool   // that was answered
	words string // what the edits come to
	adds  string // the provider that they add, "" = none
}

// changeConfig makes a change: shown, checked, written at once or not at all.
func (p *process) changeConfig(before []byte, c change, asJSON bool) error {
	path := p.paths().Config
	after, err := config.Apply(before, c.edits...)
	if err != nil {
		return failed("%s: %s", path, err)
	}
	diff := config.Diff(before, after)
	if len(diff) == 0 {
		return p.changed(path, "nothing to change: it is so already", diff, asJSON)
	}
	cfg, err := p.parsed(after)
	var cat *provider.Catalog
	if err == nil {
		cat, err = check(cfg, os.DirFS(p.paths().Themes))
	}
	if err != nil {
		p.complain("the config would not be good, so nothing was written:")
		return err
	}
	if c.ends != "" && !c.yes {
		if err := p.sure(c.ends, diff); err != nil {
			return err
		}
	}
	switch err := config.Write(path, before, after); {
	case errors.Is(err, config.ErrChanged):
		return failed("%s: %s", path, err)
	case err != nil:
		return err
	}
	if err := p.changed(path, c.words, diff, asJSON); err != nil || c.adds == "" {
		return err
	}
	for _, w := range p.missing(cat, c.adds) {
		p.complain(w)
	}
	return nil
}

func (p *process) changed(path, words string, diff []string, asJSON bool) error {
	if asJSON {
		return p.json(map[string]any{"path": path, "done": words, "changed": len(diff) > 0, "diff": append([]string{}, diff...)}, nil)
	}
	b := p.page()
	if len(diff) > 0 {
		b.WriteString(canvas.Clean(path) + "\n")
		writeDiff(b, diff)
	}
	b.paragraph(canvas.Clean(words))
	return p.put(b)
}

func writeDiff(b *page, diff []string) {
	for _, line := range diff {
		b.WriteString(b.cut(canvas.Clean(strings.ReplaceAll(line, "\t", "    "))) + "\n")
	}
}

// sure asks before something that can't be undone.
func (p *process) sure(question string, facts []string) error {
	if !p.tty() {
		return misused("to %s needs --yes where nobody can be asked", question)
	}
	b := p.page()
	writeDiff(b, facts)
	if _, err := fmt.Fprintf(p.err, "%s%s? [y/N] ", b.String(), question); err != nil {
		return err
	}
	line, _ := bufio.NewReader(p.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return failed("left as it is")
	}
	return nil
}

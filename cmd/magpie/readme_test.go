package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dev.magpie/config"
)

const root = "../.."

// block is a fenced part of the README.
type block struct{ lang, text string }

func readme(t *testing.T) (text string, blocks []block) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return string(data), blocks
}

func TestTheREADMEsConfigsAreGood(t *testing.T) {
	_, blocks := readme(t)
	ours := 0
	for _, b := range blocks {
		switch {
		case b.lang == "json" && !json.Valid([]byte(b.text)):
			t.Errorf("not JSON: %s", b.text)
		case b.lang == "toml" && strings.HasPrefix(b.text, "# ~/.config/magpie/"):
			ours++
			cfg, err := config.Parse("README.md", []byte(b.text))
			if err != nil {
				t.Errorf("%v", err)
				continue
			}
			if _, err := check(cfg, nil); err != nil {
				t.Errorf("%v", err)
			}
			if all := cfg.Unserved(); len(all) > 0 {
				t.Errorf("it shows what this version does not carry out: %v", all)
			}
			if all := cfg.Idle(); len(all) > 0 {
				t.Errorf("it shows what never happens: %v", all)
			}
		}
	}
	if ours == 0 {
		t.Error("no config was found")
	}
}

func TestTheREADMEsCommandsAreThere(t *testing.T) {
	text, blocks := readme(t)
	if !strings.HasPrefix(text, "# magpie\n\n```sh\ngo run ./cmd/magpie tui --demo") || !strings.Contains(text[:300], "\ngo test ./...\n") {
		t.Error("the two commands are not at its top")
	}
	seen := 0
	for _, b := range blocks {
		for line := range strings.Lines(b.text) {
			line, _, _ = strings.Cut(line, "#")
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), "magpie")
			if b.lang != "sh" || !ok {
				continue
			}
			seen++
			c, args, err := newShell(t).commands().Find(strings.Fields(rest))
			if err == nil {
				err = c.ParseFlags(args)
			}
			if err == nil {
				err = c.ValidateArgs(c.Flags().Args())
			}
			if err != nil {
				t.Errorf("magpie%s: %v", rest, err)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d commands were found", seen)
	}
}

func TestTheREADMEsLinksLeadSomewhere(t *testing.T) {
	text, _ := readme(t)
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1)
	for _, m := range links {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Error(err)
		}
	}
	if len(links) < 10 {
		t.Errorf("only %d links were found", len(links))
	}
}

func TestTheREADMEsTokensNameTheirAgents(t *testing.T) {
	text, _ := readme(t)
	for _, agent := range []string{"claude", "codex", "gemini", "opencode"} {
		if !strings.Contains(text, "magpie-"+agent) {
			t.Errorf("no token for %s", agent)
		}
	}
}

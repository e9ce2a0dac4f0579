package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dev.magpie/config"
)

func (s *shell) source(noDetect bool) *source {
	return &source{p: s.process, paths: s.paths(), noDetect: noDetect}
}

func TestTheConfigIsHeldAgainstAllThatItNames(t *testing.T) {
	s := newShell(t)
	s.write("themes/mine.toml", "names = \"x\"\n")
	path := s.write("config.toml", `theme = { dark = "nrod", light = "mine" }
[providers.anthropc]
preset = "anthropc"
keys = [{ env = "A" }]
[keys]
"account.puase" = "p"
"view.open" = "j"
`)
	code, out, errs := s.run("config", "check")
	if code != 2 || out != "" {
		t.Errorf("exit code %d, printed %q", code, out)
	}
	at := 0
	for _, want := range []string{
		path + ":1:", `did you mean "nord"?`, path + ":3:", `did you mean "anthropic"?`, path + ":6:", `did you mean "account.pause"?`,
		path + ":7:", `is a key of both`, "mine.toml:1:", `did you mean "name"?`,
	} {
		i := strings.Index(errs[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind byte %d of\n%s", want, at, errs)
		}
		at += i
	}
	if code, _, again := s.run("serve", "--listen", "127.0.0.1:0"); code != 2 || again != errs {
		t.Errorf("serve says something else (%d):\n%s", code, again)
	}
	_, out, _ = s.run("config", "check", "--json")
	var told struct {
		OK       bool
		Problems []struct {
			File string
			Line int
		}
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || told.OK || len(told.Problems) != 6 || told.Problems[0].Line != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestAGoodConfigIsSaidToBeGoodAndWhatIsNotServedIsNamed(t *testing.T) {
	s := newShell(t)
	s.write("config.toml", "searcher = \"find-1\"\n[providers.ollama]\n")
	code, out, errs := s.run("config", "check")
	if code != 0 || !strings.Contains(out, "is good: 1 provider, 0 groups") || !strings.Contains(strings.Join(strings.Fields(errs), " "), "searcher = ") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

func TestWithoutAProviderTheMachineIsLookedAt(t *testing.T) {
	for _, c := range []struct {
		name, file string
		noDetect   bool
		looked     bool
	}{
		{"no file", "", false, true},
		{"a file that names none", "theme = \"nord\"\n", false, true},
		{"a file that forbids it", "no_detect = true\n", false, false},
		{"a flag that forbids it", "", true, false},
		{"a file that names one", "[providers.ollama]\n", false, false},
	} {
		s := newShell(t)
		s.env["ANTHROPIC_API_KEY"] = canary
		if c.file != "" {
			s.write("config.toml", c.file)
		}
		set, err := s.source(c.noDetect).read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		news := strings.Join(set.news("config.toml"), "\n")
		if set.looked != c.looked || c.looked != (set.cat.Provider("anthropic") != nil) || c.looked != strings.Contains(news, "ANTHROPIC_API_KEY") {
			t.Errorf("%s: looked %t, %q", c.name, set.looked, news)
		}
		if strings.Contains(news, canary) {
			t.Errorf("%s: the key is told: %s", c.name, news)
		}
	}
	s := newShell(t)
	set, err := s.source(false).read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if news := set.news("config.toml"); len(set.found) == 0 && (len(news) != 1 || !strings.Contains(news[0], "none found on this machine")) {
		t.Errorf("%v", news)
	}
}

func TestADemoReadsNothingOfThePerson(t *testing.T) {
	s := newShell(t)
	s.env["ANTHROPIC_API_KEY"] = canary
	s.write("config.toml", "this is = [ no config")
	src := s.source(false)
	src.text = "[providers.a]\nchat = \"http://127.0.0.1:9/v1\"\n"
	set, err := src.read(t.Context())
	if err != nil || set.looked || len(set.cat.Providers) != 1 {
		t.Errorf("%v %+v", err, set)
	}
	_, err = s.source(false).read(t.Context())
	if bad := (*config.Errors)(nil); !errors.As(err, &bad) {
		t.Errorf("the broken file itself passes: %v", err)
	}
}

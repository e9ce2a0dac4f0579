package config

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsNotCarriedOutIsNamed(t *testing.T) {
	for _, test := range []struct{ name, file, want string }{
		{"nothing in an empty file", "", ""},
		{"nothing in a plain config", "routing = \"order\"\naffinity = \"auto\"\nsink = false\nredact = []\nauto_groups = true\n[providers.a]\nkeys = [{ env = \"A\", weight = 1 }]\nrouting = \"smart\"\nsink = false\nprice_rate = 2\nmax_concurrency = 0\n[groups.g]\nmembers = [\"a/m\"]\nfirst_token = 5\n[keys]\nquit = \"q\"\n[screen]\nmouse = false", ""},
		{"an order that is not there yet", `routing = "zenith"`, `routing = "zenith"`},
		{"the orders that are", "routing = \"best\"\nsink = true\n[providers.a]\nrouting = \"pace\"\nsink = true\nkeys = [{ env = \"A\", weight = 2 }]\n[groups.g]\nrouting = \"manual\"\nmembers = [\"a/m\"]\npick = \"a/m\"\nsticky = 2", ""},
		{"every affinity is", "affinity = \"turn\"\n[providers.a]\naffinity = \"session\"\nkeys = [{ env = \"A\" }]\n[groups.g]\naffinity = \"off\"\nmembers = [\"a/m\"]", ""},
		{"an address with a key in its query", "[notify]\ncommand = \"curl https://relay.example/usage?key=abcdefgh&x=1\"", `notify.command = "curl https://relay.example/usage*************&x=1"`},
		{"a limit", "[providers.a]\nslots = 3", `providers.a.slots`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(parse(t, test.file).Unserved(), "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAFileThatUsesEverythingNamesAllThatIsNotCarriedOut(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.toml")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`public_url = "http://box.example:3425"`, `searcher = "find-1"`,
		`providers.brook.catalog = "river, stream"`,
		`providers.brook.retry`, `providers.brook.slots`,
		`groups.always-on.policy = "combo"`,
		`groups.team.slug = "team"`, `groups.team.names`,
		`screen.mouse = true`, `notify.when`, `notify.command = "notify-send magpie"`,
	}
	if diff := cmp.Diff(want, parse(t, string(data)).Unserved()); diff != "" {
		t.Error(diff)
	}
}

// Whatever the reference marks as not carried out must be told when it is used, and nothing else: a key that
// is forgotten here would be ignored in silence.
func TestEachKeyMarkedAsLaterIsInTheFileThatUsesEverything(t *testing.T) {
	data, err := os.ReadFile("testdata/everything.toml")
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(parse(t, string(data)).Unserved(), "\n") + "\n"
	served := map[string]bool{"routing": true} // everything.toml uses the served values
	for _, s := range sections() {
		for _, r := range s.rows {
			inside := strings.HasPrefix(s.title, "an entry of accounts") || strings.HasPrefix(s.title, "an entry of rules") || strings.HasPrefix(s.title, "a model's")
			named := strings.Contains(told, r.key+"\n") || strings.Contains(told, r.key+" =") || strings.Contains(told, r.key+":")
			if r.unmet && !named && !served[r.key] && !inside {
				t.Errorf("%s: %s is marked, and not told", s.title, r.key)
			}
		}
	}
}

func TestWhatCanNeverHappenIsTold(t *testing.T) {
	const provider = "[providers.a]\nkeys = [{ env = \"A\" }]\n[groups.g]\nmembers = [\"a/m\", \"a/n\"]\n"
	for _, test := range []struct{ name, group, want string }{
		{"nothing of a plain group", "", ""},
		{"an intent that nobody tells", `rules = [{ use = "a/m", tokens = 9 }, { use = "a/n", intent = "small talk" }]`, "rule 2 of group g never holds: it asks for an intent, and the group has no classifier to tell it"},
		{"one that a classifier tells", "classifier = \"a/m\"\nrules = [{ use = \"a/n\", intent = \"small talk\" }]", ""},
		{"an effort that nobody says", `effort = "auto"`, `effort = "auto" of group g changes nothing: the group has no classifier to say how hard to think`},
		{"one that a classifier says", "effort = \"auto\"\nclassifier = \"a/m\"", ""},
		{"a fixed effort", `effort = "high"`, ""},
		{"a group that is off", "off = true\nrules = [{ use = \"a/n\", intent = \"small talk\" }]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(parse(t, provider+test.group).Idle(), "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

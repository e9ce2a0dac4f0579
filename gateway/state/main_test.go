package state_test

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dev.magpie/config"
	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("MAGPIE_TEST_WRITE_IN"); dir != "" {
		writeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// folder returns options with all files in one folder.
func folder(dir string) state.Options {
	return state.Options{Choices: dir + "/choices.json", Rests: dir + "/rests.json", Quotas: dir + "/quotas.json", Affinity: dir + "/affinity.json"}
}

// open opens a store that is closed when the test ends.
func open(t testing.TB, o state.Options) *state.Store {
	t.Helper()
	s, err := state.Open(o, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// shut closes a store and fails the test when something was not written.
func shut(t testing.TB, s *state.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// catalog has codex with two accounts' worth of keys, a key-less local server, and a provider that is off.
func catalog(t testing.TB) *provider.Catalog {
	t.Helper()
	cfg, err := config.Parse("config.toml", []byte(`
[providers.codex]
preset = ""
responses = "http://codex.example/v1"
keys = [{ name = "me", value = "sk-1" }, { name = "team", value = "sk-2", off = true }, { name = "third", value = "sk-3" }]
[providers.ollama]
[providers.gone]
preset = ""
off = true
chat = "http://gone.example/v1"
keys = [{ name = "k", value = "sk-4" }]
`))
	if err != nil {
		t.Fatal(err)
	}
	cat, problems := provider.Build(cfg)
	for _, p := range problems {
		t.Fatal(p)
	}
	return cat
}

func rest(key string, why trace.Kind, by trace.RestBy, long time.Duration) trace.Rest {
	return trace.Rest{Key: key, Why: why, By: by, Since: now, Until: now.Add(long), Failures: 1}
}

// put sets a rest, whatever was remembered under its key.
func put(t testing.TB, s *state.Store, r trace.Rest) {
	t.Helper()
	if !s.PutRest(r, s.Past(r.Key).Gen) {
		t.Fatalf("rest of %s was not set", r.Key)
	}
}

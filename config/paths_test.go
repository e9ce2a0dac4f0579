package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestFilesFollowTheXDGFolders(t *testing.T) {
	want := Paths{
		Config: "/h/.config/magpie/config.toml", Themes: "/h/.config/magpie/themes", Affinity: "/h/.config/magpie/affinity.json",
		State: "/h/.local/state/magpie", Choices: "/h/.local/state/magpie/choices.json", Rests: "/h/.local/state/magpie/rests.json",
		Quotas: "/h/.local/state/magpie/quotas.json", History: "/h/.local/state/magpie/history.db", Token: "/h/.local/state/magpie/control.token",
		Keys: "/h/.local/state/magpie/keys.json", RedactKey: "/h/.local/state/magpie/redact.key", Log: "/h/.local/state/magpie/magpie.log",
		StartLock: "/h/.local/state/magpie/start.lock", Screen: "/h/.local/state/magpie/screen.json", Cache: "/h/.cache/magpie",
	}
	if diff := cmp.Diff(want, FindPaths(env(nil), "/h")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, FindPaths(env(map[string]string{"XDG_CONFIG_HOME": "relative", "XDG_STATE_HOME": ".", "XDG_CACHE_HOME": ""}), "/h")); diff != "" {
		t.Errorf("relative folders count as unset\n%s", diff)
	}
	p := FindPaths(env(map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/k"}), "/h")
	if p.Config != "/c/magpie/config.toml" || p.Affinity != "/c/magpie/affinity.json" || p.Rests != "/s/magpie/rests.json" || p.Cache != "/k/magpie" {
		t.Errorf("folders that are set are not followed: %+v", p)
	}
}

func TestMagpieHomeHoldsEverything(t *testing.T) {
	p := FindPaths(env(map[string]string{"MAGPIE_HOME": "/m", "XDG_CONFIG_HOME": "/c"}), "/h")
	if p.Config != "/m/config.toml" || p.Themes != "/m/themes" || p.Affinity != "/m/affinity.json" || p.State != "/m/state" || p.Token != "/m/state/control.token" || p.Cache != "/m/cache" {
		t.Errorf("%+v", p)
	}
}

func TestFoldersAreTheirOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	p := FindPaths(env(map[string]string{"MAGPIE_HOME": filepath.Join(dir, "a", "b")}), "/h")
	if err := os.MkdirAll(p.State, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(p.Config)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.MakeDirs(); err != nil {
			t.Fatal(err)
		}
	}
	for folder, want := range map[string]os.FileMode{p.State: 0o700, p.Cache: 0o700, home: 0o755} {
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v); want %v", folder, info.Mode().Perm(), err, want)
		}
	}
	fresh := FindPaths(env(map[string]string{"XDG_CONFIG_HOME": filepath.Join(dir, "c"), "XDG_STATE_HOME": filepath.Join(dir, "s"), "XDG_CACHE_HOME": filepath.Join(dir, "k")}), dir)
	if err := fresh.MakeDirs(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(fresh.Config)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a config folder that is made has mode %v (%v)", info.Mode().Perm(), err)
	}
}

func TestAFileInTheWayOfAFolderIsTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := FindPaths(env(map[string]string{"MAGPIE_HOME": dir}), "/h").MakeDirs(); err == nil {
		t.Error("no error")
	}
}

package provider

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/wire"
)

// ownKey begins the keys that agents are given to ask magpie with. Some agents read them from the
// variable that names a vendor's key elsewhere; the vendor would not take one.
const ownKey = "magpie"

// probeLimit is how long all local servers together have to answer.
const probeLimit = 300 * time.Millisecond

// DetectOptions says where Detect looks; what is nil is not looked at.
type DetectOptions struct {
	Getenv func(name string) string
	Home   string
	Stat   func(path string) (fs.FileInfo, error)
	Read   func(path string) ([]byte, error)
	// Claude reports whether the claude program is installed, without running it.
	Claude func() bool
	// Probe reports whether a model server answers at the address of its list.
	Probe func(ctx context.Context, url string) bool
}

// Detect makes the config of a start without a file: keys in the catalogue's environment
// variables, each for the first preset that names it, local servers that answer, and the
// sign-ins of Codex and of Claude Code. No program is run, and no token is read. It
// also returns what was found, in words for the person. It waits at most 300 ms.
func Detect(ctx context.Context, o DetectOptions) (*config.Config, []string) {
	cfg := config.Default()
	var found []string
	if o.Getenv != nil {
		found = detectKeys(cfg, o.Getenv)
	}
	if o.Probe != nil {
		found = append(found, detectServers(ctx, cfg, o.Probe)...)
	}
	if home := codexHome(o); home != "" && o.Stat != nil {
		if _, err := o.Stat(filepath.Join(home, "auth.json")); err == nil {
			cfg.Providers = append(cfg.Providers, config.Provider{
				ID: "codex", Preset: "codex", Accounts: []config.Account{{Name: "me", Home: home}},
			})
			found = append(found, "a Codex sign-in in "+shown(home, o.Home))
		}
	}
	if home, where := claudeHome(o); where != "" {
		cfg.Providers = append(cfg.Providers, config.Provider{
			ID: "claude", Preset: "claude", Accounts: []config.Account{{Name: "me", Home: home}},
		})
		found = append(found, "a Claude Code sign-in in "+shown(where, o.Home)+", by its program")
	}
	return cfg, found
}

// claudeHome is where Claude Code is signed in, "" where it is not, or where its program is
// missing, which alone may use the sign-in. As an account's home its usual place is unsaid. In a
// system's key store the sign-in leaves no file; then the program's own notes tell of it.
func claudeHome(o DetectOptions) (home, where string) {
	if o.Getenv != nil {
		home = o.Getenv("CLAUDE_CONFIG_DIR")
	}
	where = home
	notes := filepath.Join(home, ".claude.json")
	if home == "" {
		where, notes = filepath.Join(o.Home, ".claude"), filepath.Join(o.Home, ".claude.json")
	}
	if o.Home == "" && home == "" || o.Stat == nil || o.Claude == nil {
		return "", ""
	}
	if _, err := o.Stat(filepath.Join(where, ".credentials.json")); err != nil && !notesTell(o, notes) || !o.Claude() {
		return "", ""
	}
	return home, where
}

// notesTell says whether Claude Code noted who is signed in.
func notesTell(o DetectOptions, path string) bool {
	if o.Read == nil {
		return false
	}
	data, err := o.Read(path)
	var notes struct {
		Account struct {
			Email string `json:"emailAddress"`
		} `json:"oauthAccount"`
	}
	return err == nil && json.Unmarshal(data, &notes) == nil && notes.Account.Email != ""
}

func detectKeys(cfg *config.Config, getenv func(string) string) []string {
	var found []string
	taken := map[string]bool{}
	presets := Presets()
	for i := range presets {
		p := &presets[i]
		region, _ := p.Region("")
		if p.NeedsBase || len(region.APIs()) == 0 {
			continue
		}
		for _, env := range p.Env {
			if value := getenv(env); taken[env] || value == "" || strings.HasPrefix(value, ownKey) {
				continue
			}
			taken[env] = true
			cfg.Providers = append(cfg.Providers, config.Provider{
				ID: p.ID, Preset: p.ID, Keys: []config.Key{{Name: "env", Env: env}},
			})
			found = append(found, "a key for "+p.Name+" in "+env)
			break
		}
	}
	return found
}

// detectServers asks every local preset's list at once.
func detectServers(ctx context.Context, cfg *config.Config, probe func(context.Context, string) bool) []string {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	locals := slices.DeleteFunc(slices.Clone(Presets()), func(p Preset) bool { return !p.Detect })
	answers := make([]bool, len(locals))
	var wg sync.WaitGroup
	for i := range locals {
		wg.Go(func() {
			chat := locals[i].Regions[0].Chat
			answers[i] = chat != "" && probe(ctx, chat+doors[wire.Chat][ModelList])
		})
	}
	wg.Wait()
	var found []string
	for i, yes := range answers {
		if yes {
			p := &locals[i]
			cfg.Providers = append(cfg.Providers, config.Provider{ID: p.ID, Preset: p.ID})
			found = append(found, p.Name+" answering at "+p.Regions[0].Chat)
		}
	}
	return found
}

func codexHome(o DetectOptions) string {
	if o.Getenv != nil {
		if moved := o.Getenv("CODEX_HOME"); moved != "" {
			return moved
		}
	}
	if o.Home == "" {
		return ""
	}
	return filepath.Join(o.Home, ".codex")
}

// shown writes a path below the home folder with ~.
func shown(path, home string) string {
	if rel, err := filepath.Rel(home, path); err == nil && home != "" && filepath.IsLocal(rel) {
		return "~" + string(os.PathSeparator) + rel
	}
	return path
}

// ProbeWith returns a Probe that asks with the client. A port can be anyone's: an answer
// counts when it is a list of models.
func ProbeWith(c *http.Client) func(ctx context.Context, url string) bool {
	const most = 1 << 20
	return func(ctx context.Context, url string) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false
		}
		res, err := c.Do(req)
		if err != nil {
			return false
		}
		body, err := io.ReadAll(io.LimitReader(res.Body, most))
		if closed := res.Body.Close(); err != nil || closed != nil || res.StatusCode != http.StatusOK {
			return false
		}
		_, err = ParseModels(wire.Chat, body)
		return err == nil
	}
}

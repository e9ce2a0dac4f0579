package provider

import (
	"context"
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
	// Probe reports whether a model server answers at the address of its list.
	Probe func(ctx context.Context, url string) bool
}

// Detect makes the config of a start without a file: keys in the catalogue's environment
// variables, each for the first preset that names it, local servers that answer, and Codex's
// own sign-in. It
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
	return cfg, found
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

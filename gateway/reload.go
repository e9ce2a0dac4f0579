package gateway

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"dev.magpie/config"
	"dev.magpie/gateway/trace"
)

// configState is which config is in force, and why the newest is not.
type configState struct {
	mu sync.Mutex
	s  trace.ConfigStatus
}

func (c *configState) loaded(path string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Path, c.s.Loaded, c.s.Error = path, at, ""
}

func (c *configState) fail(text string) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	news = c.s.Error != text
	c.s.Error = text
	return news
}

func (c *configState) warn(all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.s.Warnings = all
}

func (c *configState) status() trace.ConfigStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.s
}

var errNoReload = errors.New("there is no config file to read again")

// Reload reads the config again. A bad one changes nothing and is told once; requests
// under way finish on the config that they began with.
func (g *Gateway) Reload() error {
	if g.d.Load == nil {
		return errNoReload
	}
	g.reloading.Lock() // or an older reading could be taken last, and stand
	defer g.reloading.Unlock()
	cfg, cat, err := g.d.Load()
	if err != nil {
		why := wrongs(err)
		if g.config.fail(g.masker.Mask(why)) {
			g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: "the config was not taken, the one in force stands: " + why})
		}
		g.tellStatus()
		return err
	}
	for _, a := range cat.AllAccounts() {
		if _, had := g.secrets.Load(a.ID); !had {
			g.d.Secrets.Forget(a.ID) // a file that was missing may be there now
		}
	}
	g.take(cfg, cat)
	g.tell(trace.Log{Time: time.Now(), Level: "info", Text: "config reloaded: " + strconv.Itoa(len(cat.AllAccounts())) + " accounts"})
	return nil
}

// wrongs is what is wrong with a config, a line each and without the lines of the file, which make no
// sense where lines are run together.
func wrongs(err error) string {
	var bad *config.Errors
	if !errors.As(err, &bad) {
		return err.Error()
	}
	all := make([]string, len(bad.Problems))
	for i, p := range bad.Problems {
		all[i] = p.String()
	}
	return strings.Join(all, "\n")
}

// Warn tells things of the config that the person should know, at start and in the status.
func (g *Gateway) Warn(all []string) {
	masked := make([]string, len(all))
	for i, w := range all {
		masked[i] = g.masker.Mask(w)
	}
	g.config.warn(masked)
	for _, w := range all {
		g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: w})
	}
	g.tellStatus()
}

package gateway

import (
	"errors"
	"strconv"
	"sync"
	"time"

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
		if g.config.fail(g.masker.Mask(err.Error())) {
			g.tell(trace.Log{Time: time.Now(), Level: "warn", Text: "the config was not taken, the one in force stands: " + err.Error()})
		}
		g.tellStatus()
		return err
	}
	g.take(cfg, cat)
	g.tell(trace.Log{Time: time.Now(), Level: "info", Text: "config reloaded: " + strconv.Itoa(len(cat.AllAccounts())) + " accounts"})
	return nil
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

package standin

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

//go:embed demo/*.txtar
var demoFiles embed.FS

// scene is a demo file that was read: vendors with their keys, a config that names
// them, an opening and a day that repeats.
type scene struct {
	config  string
	vendors []castVendor
	opening []Visit
	day     []Visit
	lap     time.Duration
}

// castVendor is one vendor of a scene.
type castVendor struct {
	name   string
	opts   Options
	script Script
}

// DemoRun is a demo whose vendors are up.
type DemoRun struct {
	scene scene
	bases map[string]string
	made  map[string]*Vendor
	stops []func()
	once  sync.Once
}

// Demo puts the demo's vendors up on free ports of the loopback. They stay up until
// Close, or until the context ends.
func Demo(ctx context.Context) (*DemoRun, error) {
	var lc net.ListenConfig
	return stage(ctx, "day", func() (net.Listener, error) { return lc.Listen(ctx, "tcp", "127.0.0.1:0") })
}

// stage puts a scene's vendors up on listeners of its caller's choice.
func stage(ctx context.Context, name string, listen func() (net.Listener, error)) (*DemoRun, error) {
	file, err := demoFiles.ReadFile("demo/" + name + ".txtar")
	if err != nil {
		return nil, err
	}
	s, err := parseScene(file)
	if err != nil {
		return nil, fmt.Errorf("demo %s: %w", name, err)
	}
	d := &DemoRun{scene: s, bases: map[string]string{}, made: map[string]*Vendor{}}
	for _, c := range s.vendors {
		l, err := listen()
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("demo vendor %s: %w", c.name, err)
		}
		v := New(c.opts)
		v.Load(c.script)
		base, stop, err := serve(l, v)
		if err != nil {
			d.Close()
			return nil, fmt.Errorf("demo vendor %s: %w", c.name, err)
		}
		d.bases[c.name], d.made[c.name] = base, v
		d.stops = append(d.stops, stop)
	}
	context.AfterFunc(ctx, d.Close)
	return d, nil
}

// Config is the text of a gateway's config that names the vendors, without a listen line.
func (d *DemoRun) Config() string {
	var pairs []string
	for name, base := range d.bases {
		pairs = append(pairs, "{"+name+"}", base)
	}
	return strings.NewReplacer(pairs...).Replace(d.scene.config)
}

// Vendor is one of the demo's vendors by its name in the config, nil for none.
func (d *DemoRun) Vendor(name string) *Vendor { return d.made[name] }

// Play has the agents ask the gateway at the base URL: the opening once, then the day
// again and again, until the context ends. It returns nil then.
func (d *DemoRun) Play(ctx context.Context, gateway string) error {
	t := &http.Transport{MaxIdleConnsPerHost: 8}
	defer t.CloseIdleConnections()
	return d.play(ctx, Crew{Base: gateway, Client: &http.Client{Transport: t}})
}

// play runs lap after lap. A lap whose conversations run late overlaps with the next.
func (d *DemoRun) play(ctx context.Context, crew Crew) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	failed := make(chan error, 1)
	start := func(plan []Visit, seed uint64) {
		c := crew
		c.Plan, c.Seed = plan, seed
		wg.Go(func() {
			if err := c.Play(ctx); err != nil && ctx.Err() == nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	start(d.scene.opening, 0)
	next := openingTakes
	for lap := uint64(1); ; lap++ {
		select {
		case err := <-failed:
			return err
		default:
		}
		if !rest(ctx, next) {
			return nil
		}
		if lap > 1 {
			d.rewind()
		}
		start(d.scene.day, lap)
		next = d.scene.lap
	}
}

// openingTakes is when the day begins after the opening.
const openingTakes = 14 * time.Second

// rewind gives every key its steps again.
func (d *DemoRun) rewind() {
	for _, c := range d.scene.vendors {
		for key, steps := range c.script.Steps {
			d.made[c.name].Script(key, steps...)
		}
	}
}

// Close takes the vendors down and waits for them.
func (d *DemoRun) Close() {
	d.once.Do(func() {
		for _, stop := range d.stops {
			stop()
		}
	})
}

// parseScene reads a demo file.
func parseScene(file []byte) (scene, error) {
	var s scene
	for _, p := range parts(file) {
		text := strings.Join(p.lines, "\n") + "\n"
		var err error
		switch {
		case p.name == "config":
			s.config = text
		case p.name == "opening":
			s.opening, err = ParsePlan(text)
		case strings.HasPrefix(p.name, "day "):
			if s.lap, err = parseTime(strings.TrimPrefix(p.name, "day ")); err == nil {
				s.day, err = ParsePlan(text)
			}
		case strings.HasPrefix(p.name, "vendor "):
			err = s.addVendor(strings.TrimPrefix(p.name, "vendor "), text)
		case strings.HasPrefix(p.name, "key "):
			err = s.addKey(strings.TrimPrefix(p.name, "key "), p.lines)
		default:
			err = errors.New("no such part")
		}
		if err != nil {
			return scene{}, fmt.Errorf("part %q: %w", p.name, err)
		}
	}
	if s.config == "" || len(s.vendors) == 0 || len(s.opening) == 0 || len(s.day) == 0 || s.lap <= 0 {
		return scene{}, errors.New("it wants a config, vendors, an opening and a day")
	}
	return s, nil
}

// addVendor reads a vendor: lines of name=value marks.
func (s *scene) addVendor(name, text string) error {
	c := castVendor{name: name, opts: Options{Busy: true, Keep: 64}, script: Script{Steps: map[string][]Fault{}, Windows: map[string][]Window{}}}
	words, err := split(strings.ReplaceAll(text, "\n", " "))
	if err != nil {
		return err
	}
	for _, w := range words {
		if err := c.set(w); err != nil {
			return err
		}
	}
	s.vendors = append(s.vendors, c)
	return nil
}

func (c *castVendor) set(word string) error {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "of":
		if _, ok := houses[value]; !ok {
			return fmt.Errorf("no vendor %q", value)
		}
		c.opts.Vendor = value
	case "models":
		c.opts.Models = strings.Split(value, ",")
	case "first":
		return setSpan(&c.opts.Pace.First, value)
	case "gap":
		return setSpan(&c.opts.Pace.Gap, value)
	case "overhead":
		return setNumber(&c.opts.Overhead, value)
	case "text":
		c.opts.Text = value
	case "think":
		c.opts.Think = value
	default:
		return fmt.Errorf("no mark %q", name)
	}
	return nil
}

// addKey reads the steps of a key of the last vendor.
func (s *scene) addKey(key string, lines []string) error {
	if len(s.vendors) == 0 {
		return errors.New("a key before its vendor")
	}
	return s.vendors[len(s.vendors)-1].script.add(key, lines)
}

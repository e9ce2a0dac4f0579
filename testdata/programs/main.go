// Command programs has real agent programs do one piece of work through `magpie serve`: the
// model, a stand-in vendor, has the program write a file with its own tool and then says a
// last word. The script run beside it installs the programs and starts this.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

// options are what the script tells.
type options struct {
	magpie string            // the program under test
	bins   map[string]string // the programs that are installed, by name
	gone   map[string]string // those that are not, and why
	keep   string            // where to leave every run's folder, "" = nowhere
	only   string            // one case by its name
	limit  time.Duration
}

func parseOptions() (options, error) {
	o := options{bins: map[string]string{}, gone: map[string]string{}}
	flag.StringVar(&o.magpie, "magpie", "", "the built `program`")
	flag.StringVar(&o.keep, "keep", "", "leave each run's files in this `folder`")
	flag.StringVar(&o.only, "only", "", "run only the cases whose names have this `text`")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "how long one run may take")
	flag.Func("bin", "an installed program as `name=path`", pairInto(o.bins))
	flag.Func("gone", "one that is not, as `name=reason`", pairInto(o.gone))
	flag.Parse()
	if o.magpie == "" {
		return o, errors.New("-magpie is needed")
	}
	if o.keep != "" {
		return o, os.MkdirAll(o.keep, 0o700)
	}
	return o, nil
}

func pairInto(m map[string]string) func(string) error {
	return func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("name=value is wanted")
		}
		m[name] = value
		return nil
	}
}

// run runs every case of every program, one after another, and returns the exit code.
func run(ctx context.Context) int {
	o, err := parseOptions()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	passed, failed, skipped := 0, 0, 0
	for _, p := range programs {
		if o.bins[p.name] == "" {
			if o.only == "" {
				fmt.Printf("%s: not installed: %s\n", p.name, o.gone[p.name])
				skipped += len(p.all())
			}
			continue
		}
		for _, t := range p.all() {
			name := p.name + ", " + t.name
			if !strings.Contains(name, o.only) {
				continue
			}
			if ctx.Err() != nil {
				fmt.Printf("%s: not run: interrupted\n", name)
				skipped++
				continue
			}
			begun := time.Now()
			if err := t.run(ctx, o, p); err != nil {
				failed++
				fmt.Printf("%s: FAILED after %.1f s\n%s\n", name, time.Since(begun).Seconds(), indent(err.Error()))
				continue
			}
			passed++
			fmt.Printf("%s: ok, %.1f s\n", name, time.Since(begun).Seconds())
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}

// work is a task or a conversation by its name.
type work struct {
	name string
	run  func(ctx context.Context, o options, p program) error
}

// all is everything that a program is to do.
func (p program) all() []work {
	var all []work
	for _, t := range p.tasks {
		all = append(all, work{t.name, func(ctx context.Context, o options, p program) error { return perform(ctx, o, p, t) }})
	}
	if p.talk != nil {
		all = append(all, work{"a conversation", converse})
	}
	return all
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

// Command programs has real agent programs do one piece of work through `magpie serve`: the
// model, a stand-in vendor, has the program write a file with its own tool and then says a
// last word. It has the official SDKs for Node ask vendors of every API, too. The script run
// beside it installs both and starts this.
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
	driver string            // what asks through an SDK
	bins   map[string]string // the programs and SDKs that are installed, by name
	gone   map[string]string // those that are not, and why
	keep   string            // where to leave every run's folder, "" = nowhere
	only   string            // one case by its name
	limit  time.Duration
}

func parseOptions() (options, error) {
	o := options{bins: map[string]string{}, gone: map[string]string{}}
	flag.StringVar(&o.magpie, "magpie", "", "the built `program`")
	flag.StringVar(&o.driver, "driver", "", "the `script` that asks through an SDK")
	flag.StringVar(&o.keep, "keep", "", "leave each run's files in this `folder`")
	flag.StringVar(&o.only, "only", "", "run only the cases whose names have this `text`")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "how long one run may take")
	flag.Func("bin", "an installed program or SDK as `name=path`", pairInto(o.bins))
	flag.Func("gone", "one that is not, as `name=reason`", pairInto(o.gone))
	flag.Parse()
	if o.magpie == "" || o.driver == "" {
		return o, errors.New("-magpie and -driver are needed")
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

// run runs every job, one after another, and returns the exit code.
func run(ctx context.Context) int {
	o, err := parseOptions()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	passed, failed, skipped := 0, 0, 0
	told := map[string]bool{}
	for _, j := range jobs(o) {
		switch {
		case !strings.Contains(j.name, o.only):
		case o.bins[j.needs] == "":
			skipped++
			if !told[j.needs] {
				fmt.Printf("%s: not installed: %s\n", j.needs, o.gone[j.needs])
				told[j.needs] = true
			}
		case ctx.Err() != nil:
			fmt.Printf("%s: not run: interrupted\n", j.name)
			skipped++
		default:
			begun := time.Now()
			if err := j.do(ctx); err != nil {
				failed++
				fmt.Printf("%s: FAILED after %.1f s\n%s\n", j.name, time.Since(begun).Seconds(), indent(err.Error()))
				continue
			}
			passed++
			fmt.Printf("%s: ok, %.1f s\n", j.name, time.Since(begun).Seconds())
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || ctx.Err() != nil {
		return 1
	}
	return 0
}

// job is one thing to see.
type job struct {
	name  string
	needs string // what has to be installed
	do    func(context.Context) error
}

func jobs(o options) (all []job) {
	for _, p := range programs {
		for _, t := range p.tasks {
			all = append(all, job{p.name + ", " + t.name, p.name, func(ctx context.Context) error { return perform(ctx, o, p, t) }})
		}
		if p.talk != nil {
			all = append(all, job{p.name + ", a conversation", p.name, func(ctx context.Context) error { return converse(ctx, o, p) }})
		}
	}
	all = append(all, job{"claude, behind the bridge", "claude", func(ctx context.Context) error { return bridged(ctx, o) }})
	for _, k := range sdks {
		all = append(all, job{k.name + " SDK, " + k.client + " on every API", k.name, func(ctx context.Context) error { return k.ask(ctx, o) }})
	}
	return all
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}

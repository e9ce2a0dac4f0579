package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dev.magpie/gateway/standin"
)

// What the program is to do, and the last word of the model about it.
const (
	noteName = "note.txt"
	noteText = "written by the agent's own tool: \"quotes\", $HOME and 100 % of them\n"
	lastWord = "The note is written and nothing else was touched."
)

// The vendor's keys.
const (
	firstKey  = "sk-stand-in-first-00000001"
	secondKey = "sk-stand-in-second-0000002"
	theKeys   = "routing = \"order\"\nkeys = [{ name = \"first\", value = \"" + firstKey + "\" }, { name = \"second\", value = \"" + secondKey + "\" }]\n"
)

// stage is where one program runs: folders of its own, a vendor, a gateway.
type stage struct {
	dir, home, work string
	bin             string // found before all else on magpie's PATH, "" = nothing
	base            string // of the gateway
	vendor          *standin.Vendor
	at              *httptest.Server
}

// perform runs one task and tells what is wrong with how it went.
func perform(ctx context.Context, o options, p program, t task) (err error) {
	s, err := newStage(o, p, t)
	if err != nil {
		return err
	}
	defer s.at.Close()
	defer func() {
		if o.keep == "" {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	gw, err := s.serveVendor(ctx, o, t.answers(p))
	if err != nil {
		return err
	}
	said, fault := s.play(ctx, o, p, t)
	told, watched := s.routes(ctx)
	err = errors.Join(fault, s.judge(said, p, t), watched, judgeRoutes(told, p, t), gw.stop())
	if o.keep != "" {
		err = errors.Join(err, s.dump())
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, s.evidence(said, told, gw))
	}
	return err
}

func newStage(o options, p program, t task) (*stage, error) {
	dir, err := os.MkdirTemp(o.keep, "magpie-"+p.name+"-")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	if err := s.folders(); err != nil {
		return nil, err
	}
	s.vendor = standin.New(standin.Options{
		Vendor: t.answers(p).name, Keys: []string{firstKey, secondKey},
		Loop: &standin.Loop{Path: filepath.Join(s.work, noteName), Content: noteText, Final: lastWord, Each: t.each},
	})
	s.vendor.Script(firstKey, standin.Must(t.first...)...)
	s.at = httptest.NewServer(s.vendor)
	return s, nil
}

func (s *stage) folders() error {
	for _, d := range []string{s.home, s.work, s.magpieHome(), s.temp()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) magpieHome() string { return filepath.Join(s.dir, "magpie") }

func (s *stage) temp() string { return filepath.Join(s.dir, "tmp") }

// fill puts addresses into a config.
func (s *stage) fill(config string) string {
	return strings.NewReplacer("{at}", s.at.URL, "{base}", s.base).Replace(config)
}

// env is the environment of a child: nothing of ours but the way to the tools.
func (s *stage) env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "TMPDIR=" + s.temp(), "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "SHELL=/bin/bash", "NO_PROXY=127.0.0.1,localhost",
	}, more...)
}

// child is a process that runs beside.
type child struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan error
}

// serveVendor starts the gateway on a vendor with two keys, the first first.
func (s *stage) serveVendor(ctx context.Context, o options, v vendor) (*child, error) {
	return s.serve(ctx, o.magpie, s.fill(v.config)+theKeys, func(models []string) bool {
		return len(models) > 0 && len(s.vendor.Calls()) > 0
	})
}

// serve starts the gateway and waits until it knows the models that it is to know.
func (s *stage) serve(ctx context.Context, magpie, config string, known func(models []string) bool) (*child, error) {
	if err := os.WriteFile(filepath.Join(s.magpieHome(), "config.toml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	addr, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	s.base = "http://" + addr
	c := &child{done: make(chan error, 1)}
	c.cmd = exec.CommandContext(ctx, magpie, "serve", "--listen", addr)
	c.cmd.Env = s.env("MAGPIE_HOME=" + s.magpieHome())
	if s.bin != "" {
		c.cmd.Env = append(c.cmd.Env, "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = s.work, &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { c.done <- c.cmd.Wait() }()
	if err := s.ready(ctx, c, known); err != nil {
		return nil, errors.Join(err, c.stop(), errors.New(c.out.String()))
	}
	return c, nil
}

// freePort is an address that nobody listens on now. Its port is none of those that systems give to
// connections: one of them could have it by the time it is listened on.
func freePort(ctx context.Context) (string, error) {
	var last error
	for range 100 {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(20_000+rand.IntN(12_000)))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		last = err
	}
	return "", last
}

// ready waits until the gateway lists its models: its vendors' lists are fetched behind.
func (s *stage) ready(ctx context.Context, c *child, known func(models []string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-c.done:
			c.done <- err
			return fmt.Errorf("magpie serve ended: %w", err)
		case <-ctx.Done():
			return errors.New("magpie serve did not list its models in a minute")
		case <-tick.C:
		}
		var list struct {
			Data []struct{ ID string }
		}
		if s.get(ctx, "/v1/models", &list) != nil {
			continue
		}
		var models []string
		for _, m := range list.Data {
			models = append(models, m.ID)
		}
		if known(models) {
			return nil
		}
	}
}

// get asks the gateway for a JSON value.
func (s *stage) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}

// stop has the gateway end as a service manager would.
func (c *child) stop() error {
	select {
	case err := <-c.done:
		return fmt.Errorf("magpie serve ended by itself: %w", err)
	default:
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case err := <-c.done:
		if err != nil {
			return fmt.Errorf("magpie serve, told to end: %w", err)
		}
		return nil
	case <-late.C:
		return errors.Join(errors.New("magpie serve did not end in a minute"), c.cmd.Process.Kill(), <-c.done)
	}
}

// output is what a program printed.
type output struct{ out, err string }

// play runs the program for a task.
func (s *stage) play(ctx context.Context, o options, p program, t task) (output, error) {
	return s.launch(ctx, o, p, t.launch(s))
}

// launch runs the program to its end, and the processes that it started with it.
func (s *stage) launch(ctx context.Context, o options, p program, l launch) (output, error) {
	for path, text := range l.files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return output{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, o.bins[p.name], l.args...)
	c.Env, c.Dir, c.Stdout, c.Stderr = s.env(l.env...), s.work, &out, &errs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	err := c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what it left running
	}
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s did not end in %s", p.name, o.limit)
	case err != nil:
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	return output{out.String(), errs.String()}, err
}

// judge looks at what the program did and at what reached the vendor.
func (s *stage) judge(said output, p program, t task) error {
	var faults []error
	note, err := os.ReadFile(filepath.Join(s.work, noteName))
	switch {
	case err != nil:
		faults = append(faults, errors.New("the file was not written"))
	case strings.TrimSuffix(string(note), "\n") != strings.TrimSuffix(noteText, "\n"):
		faults = append(faults, fmt.Errorf("the file says %q", note))
	}
	if !strings.Contains(said.out, lastWord) {
		faults = append(faults, errors.New("the last word was not printed"))
	}
	for _, c := range s.vendor.Refusals() {
		faults = append(faults, fmt.Errorf("the vendor refused %s %s of %s: %s", c.Method, c.Path, p.name, c.Refused))
	}
	for _, c := range s.vendor.Leaks() {
		faults = append(faults, fmt.Errorf("%s %s brought the vendor %v", c.Method, c.Path, c.Leaks))
	}
	first, second := s.asked(firstKey), s.asked(secondKey)
	switch {
	case t.first != nil && (first == 0 || second == 0):
		faults = append(faults, fmt.Errorf("the troubled key was asked %d times, the other %d times", first, second))
	case t.first == nil && (first == 0 || second != 0):
		faults = append(faults, fmt.Errorf("the first key was asked %d times, the second %d times", first, second))
	}
	return errors.Join(faults...)
}

// asked counts the replies that a key was asked for.
func (s *stage) asked(key string) int {
	return len(slices.DeleteFunc(s.vendor.CallsOf(key), func(c standin.Call) bool { return c.Op != standin.OpCreate }))
}

// route is what this reads of the gateway's account of a request.
type route struct {
	ID     int64  `json:"id"`
	Agent  string `json:"agent"`
	API    string `json:"api"`
	Asked  string `json:"asked"`
	Path   string `json:"path"`
	Status int    `json:"status"`
	Error  string `json:"error"`
	Tries  []struct {
		ID   string `json:"id"`
		Fail string `json:"fail"`
	} `json:"tries"`
	Affinity *struct {
		Kept bool   `json:"kept"`
		Why  string `json:"why"`
	} `json:"affinity"`
}

// routes are the requests as the gateway tells of them.
func (s *stage) routes(ctx context.Context) ([]route, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var told struct {
		Routes []route `json:"routes"`
	}
	if err := s.get(ctx, "/v1/magpie/routes", &told); err != nil {
		return nil, err
	}
	return told.Routes, nil
}

// judgeRoutes holds the gateway to an answer for every request, and to knowing who asked.
func judgeRoutes(told []route, p program, t task) error {
	var faults []error
	broken := 0
	if len(told) == 0 {
		faults = append(faults, errors.New("the gateway tells of no request"))
	}
	for _, r := range told {
		if r.Status != http.StatusOK {
			broken++
		}
		if r.Status != http.StatusOK && broken > t.broken {
			faults = append(faults, fmt.Errorf("%s for %s was answered with %d: %s", r.Path, r.Asked, r.Status, r.Error))
		}
		if r.Agent != p.agent {
			faults = append(faults, fmt.Errorf("the gateway takes %s for %q", p.name, r.Agent))
		}
	}
	if broken < t.broken {
		faults = append(faults, errors.New("no request ended in the error that was asked for"))
	}
	return errors.Join(faults...)
}

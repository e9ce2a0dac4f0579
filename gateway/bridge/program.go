package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/claude"
)

// oldest is the version from which on the program knows all that is asked of it.
const oldest = "2.1.0"

const (
	freshFor   = 30 * time.Second // what the program says of its sign-in
	statusWait = 20 * time.Second
	usageWait  = 60 * time.Second
)

// UnreadyError says in words for people why an account can't be used, and what to do.
type UnreadyError struct{ Words string }

func (u *UnreadyError) Error() string { return u.Words }

// homes are what is known of the program's sign-ins.
type homes struct {
	hmu   sync.Mutex
	known map[string]*home
	shut  bool // nobody is asked any more
	wg    sync.WaitGroup
}

type home struct {
	program string
	err     error
	at      time.Time
	asking  chan struct{} // closed when the one who asks has an answer, nil when nobody asks
}

// ready gives the program for an account whose sign-in is in order. It waits for the first
// answer of a home; later the last one holds while it is asked again behind.
func (b *Bridge) ready(ctx context.Context, _ provider.AccountID, dir string) (string, error) {
	for {
		b.homes.hmu.Lock()
		if b.homes.shut {
			b.homes.hmu.Unlock()
			return "", errShut
		}
		if b.homes.known == nil {
			b.homes.known = map[string]*home{}
		}
		h := b.homes.known[dir]
		if h == nil {
			h = &home{}
			b.homes.known[dir] = h
		}
		old := time.Since(h.at) > freshFor
		if old && h.asking == nil {
			h.asking = make(chan struct{})
			b.homes.wg.Add(1)
			go b.look(h, dir, h.asking)
		}
		program, err, asking := h.program, h.err, h.asking
		b.homes.hmu.Unlock()
		if !old || program != "" && err == nil {
			return program, err
		}
		select {
		case <-asking:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// doubt has a home's sign-in looked at before its next use.
func (h *homes) doubt(dir string) {
	h.hmu.Lock()
	defer h.hmu.Unlock()
	if k := h.known[dir]; k != nil {
		k.at, k.program = time.Time{}, ""
	}
}

// close has nobody asked from now on, and waits for those who are.
func (h *homes) close() {
	h.hmu.Lock()
	h.shut = true
	h.hmu.Unlock()
	h.wg.Wait()
}

func (b *Bridge) look(h *home, dir string, done chan struct{}) {
	defer b.homes.wg.Done()
	ctx, cancel := context.WithTimeout(context.Background(), statusWait)
	defer cancel()
	program, err := b.find(ctx)
	if err == nil {
		err = b.signedIn(ctx, program, dir)
	}
	b.homes.hmu.Lock()
	h.program, h.err, h.at, h.asking = program, err, time.Now(), nil
	b.homes.hmu.Unlock()
	close(done)
}

// Ready says whether an account can be used, asking the program unless it was asked just now.
func (b *Bridge) Ready(ctx context.Context, id provider.AccountID, dir string) error {
	_, err := b.ready(ctx, id, dir)
	return err
}

var versionWord = regexp.MustCompile(`\b(\d+)\.(\d+)\.(\d+)\b`)

// Doubt has a home's sign-in looked at anew before its next use, however lately that was done.
func (b *Bridge) Doubt(dir string) { b.homes.doubt(dir) }

// find finds the program and sees to it that it is new enough.
func (b *Bridge) find(ctx context.Context) (string, error) {
	path := b.o.Program
	if path == "" {
		path = b.search()
	}
	if path == "" {
		return "", &UnreadyError{"the claude program is not installed: install Claude Code and sign in with `claude auth login`, or take its account out of the config"}
	}
	out, err := b.output(ctx, path, "", "", "--version")
	if err != nil {
		return "", &UnreadyError{"the claude program at " + path + " does not start: " + err.Error()}
	}
	m := versionWord.FindString(string(out))
	if m == "" || older(m, oldest) {
		return "", &UnreadyError{"the claude program at " + path + " is too old (" + clip(string(out)) + "): magpie needs " + oldest + " or newer; run `claude update`"}
	}
	return path, nil
}

func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		n, _ := strconv.Atoi(x[i])
		m, _ := strconv.Atoi(y[i])
		if n != m {
			return n < m
		}
	}
	return false
}

// search looks on PATH and where its installers put it.
func (b *Bridge) search() string {
	path := ""
	for _, v := range b.o.Environ {
		if name, value, _ := strings.Cut(v, "="); strings.EqualFold(name, "PATH") {
			path = value
		}
	}
	return claude.Find(path, b.userHome())
}

// signedIn asks the program for its sign-in. It ends with 1 when there is none, and says so.
func (b *Bridge) signedIn(ctx context.Context, program, dir string) error {
	out, err := b.output(ctx, program, dir, "", "auth", "status", "--json")
	a, bad := claude.ParseAccount(out)
	switch {
	case bad != nil && err != nil:
		return &UnreadyError{"the claude program did not tell of its sign-in: " + err.Error()}
	case bad != nil:
		return &UnreadyError{"the claude program did not tell of its sign-in"}
	case !a.SignedIn:
		words := "the claude program is signed out: sign in with `claude auth login`"
		if c := b.configDir(dir); c != "" {
			words = "the claude program is signed out: sign in with `CLAUDE_CONFIG_DIR=" + c + " claude auth login`"
		}
		return &UnreadyError{words}
	}
	return nil
}

// Usage asks the program for what is left of an account's allowance. No model is asked.
func (b *Bridge) Usage(ctx context.Context, id provider.AccountID, dir, proxy string) ([]provider.Window, error) {
	program, err := b.ready(ctx, id, dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, usageWait)
	defer cancel()
	began := time.Now() // what its replies tell from here on is newer
	out, err := b.output(ctx, program, dir, proxy, "-p", "--setting-sources", "", "--no-session-persistence", "/usage")
	if err != nil && len(out) == 0 {
		return nil, err
	}
	return claude.ParseUsage(b.o.Mask(string(out)), began)
}

// UsedSince says whether Claude Code itself was used with a home since a time: it writes a file
// for each of its sessions.
func (b *Bridge) UsedSince(dir string, since time.Time) bool {
	at := b.configDir(dir)
	if at == "" {
		at = filepath.Join(b.userHome(), ".claude")
	}
	files, err := filepath.Glob(filepath.Join(at, "projects", "*", "*.jsonl"))
	if err != nil {
		return false
	}
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.ModTime().After(since) {
			return true
		}
	}
	return false
}

const mostOutput = 1 << 20

// output runs the program for a short answer.
func (b *Bridge) output(ctx context.Context, program, dir, proxy string, args ...string) ([]byte, error) {
	work, err := os.MkdirTemp(b.o.TempDir, "magpie-claude-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the system clears its temporary files in the end
	cmd := exec.CommandContext(ctx, program, args...)
	var out, said capped
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, b.environ(dir, proxy), &out, &said
	cmd.WaitDelay = stopGrace
	ownGroup(cmd)
	cmd.Cancel = func() error { kill(cmd); return nil }
	err = cmd.Run()
	if err != nil && ctx.Err() != nil {
		return out.Bytes(), fmt.Errorf("it took too long: %w", ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if words := clip(b.o.Mask(said.String())); words != "" {
			err = errors.New(words)
		}
	}
	return out.Bytes(), err
}

// capped is a buffer that takes no more than so much.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := mostOutput - c.Len(); room < len(p) {
		c.Buffer.Write(p[:max(0, room)])
		return len(p), nil
	}
	return c.Buffer.Write(p)
}

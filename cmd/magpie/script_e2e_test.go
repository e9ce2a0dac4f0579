//go:build e2e

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dev.magpie/gateway/standin"
)

// The scripts of testdata/script drive the program as it is shipped, each with a home of its own and
// stand-in vendors. Their commands, besides testscript's own:
//
//	vendor NAME [FILE]       start a stand-in on $NAME; FILE has a line for each step: KEY STEP
//	relay NAME               start one that sells a share of its accounts by key
//	limit NAME KEY WINDOW USD, spend NAME KEY USD   give a relay's key a limit, spend of it
//	chatgpt NAME             start a backend that Codex accounts ask
//	signin NAME ACCOUNT DIR  have Codex signed in to a new account there
//	uses NAME ACCOUNT WINDOWS, gives NAME ACCOUNT RESET…   set its windows, give it resets
//	spent NAME N             so many were asked to be spent
//	claude MODE              put a stand-in for the claude program on the PATH; [!] ran: it was run
//	loop MODEL               an agent's round with a tool: the last reply on stdout
//	gated NAME               start one whose streams stop half way until  open NAME
//	config FILE              make it the config, with variables filled in
//	fill FILE                fill in variables
//	json FILE…               each is JSON, and whole
//	mode MODE FILE…          each has that mode
//	serve [FLAG…]            start magpie serve and wait until it is ready: $ADDR, $PID, serve.out, serve.err
//	end [SIGNAL|already]     send it a signal (TERM) and wait: it exits with 0
//	crash                    kill it as a crash would
//	signal NAME              send it a signal
//	exits CODE ARG…          run magpie and expect an exit code
//	until REGEXP ARG…        run magpie until its output fits
//	ask MODEL [API] [NAME:VALUE…]   ask the gateway: status and body on stdout
//	get PATH [NAME:VALUE…]   the same for anything that is read
//	begin NAME MODEL         ask for a stream and read its beginning
//	whole NAME               read the rest: it is complete
//	broken NAME              read the rest: it does not read as complete
//	lan MODEL                ask through an address that other machines reach; [lan] is that there is one
//	umask MODE               of what is started from here on
//	calls NAME N             the vendor was asked so often
//	clean NAME               nothing reached it that should not have
//
// nocanary ends each script: no file of its folder holds a secret that did not hold it on purpose. Nothing
// that magpie printed does either.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			w := &world{servers: map[string]*httptest.Server{}, vendors: map[string]*standin.Vendor{}, relays: map[string]*standin.Relay{}, houses: map[string]*standin.ChatGPT{}, gates: map[string]*gate{}, streams: map[string]*reading{}, known: map[string]bool{}, umask: 0o022, dir: e.WorkDir}
			e.Values[worldKey{}] = w
			e.Setenv("MAGPIE_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "person"))
			e.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("CANARY", canary)
			e.Setenv("AGENTS_KEY", agentsKey)
			e.Setenv("LAN", lanAddress())
			foreign := httptest.NewServer(http.NotFoundHandler())
			w.servers["foreign"] = foreign
			e.Setenv("FOREIGN", foreign.Listener.Addr().String())
			e.Defer(w.end)
			return w.remember()
		},
		Condition: func(name string) (bool, error) { return name == "lan" && lanAddress() != "", nil },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"chatgpt": chatgptCmd, "signin": signinCmd, "uses": usesCmd, "gives": givesCmd, "spent": spentCmd, "claude": claudeCmd, "ran": ranCmd, "loop": loopCmd,
			"relay": relayCmd, "limit": limitCmd, "spend": spendCmd,
			"vendor": vendorCmd, "gated": gatedCmd, "open": openCmd, "config": configCmd, "serve": serveCmd, "end": endCmd, "crash": crashCmd,
			"signal": signalCmd, "exits": exitsCmd, "until": untilCmd, "ask": askCmd, "begin": beginCmd, "whole": wholeCmd, "broken": brokenCmd,
			"calls": callsCmd, "clean": cleanCmd, "nocanary": noCanaryCmd, "fill": fillCmd, "json": jsonCmd, "mode": modeCmd, "get": getCmd, "lan": lanCmd, "umask": umaskCmd,
		},
	})
}

// agentsKey is one that an agent brings along. It goes nowhere.
const agentsKey = "sk-the-agents-own-7c1e9b40"

// lanAddress is an address of this machine that others can reach, "" when it has none.
func lanAddress() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

type worldKey struct{}

// world is what a script runs in.
type world struct {
	dir     string
	servers map[string]*httptest.Server
	vendors map[string]*standin.Vendor
	relays  map[string]*standin.Relay
	houses  map[string]*standin.ChatGPT
	gates   map[string]*gate
	streams map[string]*reading
	known   map[string]bool // files that hold the canary on purpose
	serve   *exec.Cmd
	waited  chan error
	umask   int
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// remember notes the files that hold the canary now.
func (w *world) remember() error {
	return w.search(func(path string) { w.known[path] = true })
}

// search calls found with every file that holds the canary.
func (w *world) search(found func(path string)) error {
	return filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, []byte(canary)) || bytes.Contains(data, []byte(agentsKey)) {
			found(path)
		}
		return err
	})
}

func (w *world) end() {
	if w.serve != nil && w.waited != nil {
		_ = w.serve.Process.Kill()
		<-w.waited
	}
	for _, g := range w.gates {
		g.openOnce()
	}
	for _, s := range w.servers {
		s.Close()
	}
}

// noCanaryCmd holds the law that ends every script.
func noCanaryCmd(ts *testscript.TestScript, _ bool, _ []string) {
	w := worldOf(ts)
	ts.Check(w.search(func(path string) {
		if !w.known[path] {
			ts.Fatalf("%s holds the canary", path)
		}
	}))
}

func vendorCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	v := standin.New(standin.Options{Models: []string{"m", "n"}, Secrets: []string{agentsKey}})
	if len(args) > 1 {
		for line := range strings.Lines(filled(ts, args[1])) {
			key, step, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok {
				continue
			}
			faults, err := standin.Steps(step)
			ts.Check(err)
			v.Script(key, faults...)
		}
	}
	w.put(ts, args[0], v, httptest.NewServer(v))
}

func relayCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	r := standin.NewRelay(standin.Options{Models: []string{"m"}, Text: "from the relay", Secrets: []string{agentsKey}}, 0)
	w.relays[args[0]] = r
	w.put(ts, args[0], r.Vendor, httptest.NewServer(r))
}

func limitCmd(ts *testscript.TestScript, _ bool, args []string) {
	usd, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	worldOf(ts).relays[args[0]].Limit(args[1], args[2], usd)
}

func spendCmd(ts *testscript.TestScript, _ bool, args []string) {
	usd, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	worldOf(ts).relays[args[0]].Spend(args[1], usd)
}

func (w *world) put(ts *testscript.TestScript, name string, v *standin.Vendor, s *httptest.Server) {
	w.vendors[name], w.servers[name] = v, s
	ts.Setenv(name, s.URL)
}

func gatedCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	v := standin.New(standin.Options{Models: []string{"m", "n"}, Text: "this is a reply of some length, and all of it has to arrive"})
	g := &gate{vendor: v, opened: make(chan struct{})}
	w.gates[args[0]] = g
	w.put(ts, args[0], v, httptest.NewServer(g))
}

func openCmd(ts *testscript.TestScript, _ bool, args []string) { worldOf(ts).gates[args[0]].openOnce() }

func configCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	text := filled(ts, args[0])
	path := filepath.Join(ts.Getenv("MAGPIE_HOME"), "config.toml")
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
	w.known[path] = true
}

// filled is a file's text with the script's variables filled in.
func filled(ts *testscript.TestScript, file string) string {
	return os.Expand(ts.ReadFile(file), func(name string) string { return ts.Getenv(name) })
}

func fillCmd(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, []byte(filled(ts, args[0])), 0o600))
	worldOf(ts).known[path] = true
}

func jsonCmd(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		if !json.Valid([]byte(ts.ReadFile(file))) {
			ts.Fatalf("%s is not whole", file)
		}
	}
}

func modeCmd(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args[1:] {
		wait(ts, file+" there", func() bool {
			_, err := os.Stat(ts.MkAbs(file))
			return err == nil
		})
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s", file, got)
		}
	}
}

func serveCmd(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts)
	if !strings.Contains(strings.Join(args, " "), "--listen") && ts.Getenv("LISTEN") == "" {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	// The mask of this process is that of every script that runs beside this one.
	masked := fmt.Sprintf(`umask %03o && exec "$0" "$@"`, w.umask)
	cmd := exec.Command("/bin/sh", append([]string{"-c", masked, binary, "serve"}, args...)...)
	cmd.Env, cmd.Dir = environ(ts), ts.MkAbs(".")
	out, err := os.Create(ts.MkAbs("serve.out"))
	ts.Check(err)
	defer out.Close()
	errs, err := os.OpenFile(ts.MkAbs("serve.err"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	ts.Check(cmd.Start())
	w.serve, w.waited = cmd, make(chan error, 1)
	go func(c chan<- error) { c <- cmd.Wait() }(w.waited)
	ready := regexp.MustCompile(`listening on http://(\S+) \(pid (\d+)\)`)
	wait(ts, "ready", func() bool {
		m := ready.FindStringSubmatch(ts.ReadFile("serve.out"))
		if m == nil {
			select {
			case err := <-w.waited:
				w.waited = nil
				ts.Fatalf("serve ended: %v\n%s", err, ts.ReadFile("serve.err"))
			default:
			}
			return false
		}
		ts.Setenv("MAGPIE_ADDR", m[1])
		ts.Setenv("ADDR", m[1])
		ts.Setenv("PID", m[2])
		return true
	})
}

// environ is the script's environment.
func environ(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "MAGPIE_HOME", "TMPDIR", "CANARY", "SOME_KEY", "MAGPIE_ADDR", "MAGPIE_TRUST_PROXY", "CODEX_HOME", "CLAUDE_CONFIG_DIR"} {
		if v := ts.Getenv(name); v != "" && name != "MAGPIE_ADDR" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP}

func signalCmd(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(worldOf(ts).serve.Process.Signal(signals[args[0]]))
}

func endCmd(ts *testscript.TestScript, _ bool, args []string) {
	name := "TERM"
	if len(args) > 0 {
		name = args[0]
	}
	w := worldOf(ts)
	if name != "already" {
		ts.Check(w.serve.Process.Signal(signals[name]))
	}
	select {
	case err := <-w.waited:
		w.waited = nil
		if err != nil {
			ts.Fatalf("serve: %v\n%s", err, ts.ReadFile("serve.err"))
		}
	case <-time.After(long):
		ts.Fatalf("serve did not end:\n%s", ts.ReadFile("serve.err"))
	}
}

func crashCmd(ts *testscript.TestScript, _ bool, _ []string) {
	w := worldOf(ts)
	ts.Check(w.serve.Process.Kill())
	<-w.waited
	w.waited = nil
}

func exitsCmd(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(binary, args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	out := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if strings.Contains(out, canary) || strings.Contains(out, agentsKey) {
		ts.Fatalf("magpie %v printed the canary", args[1:])
	}
	if strings.ContainsAny(out, "\x1b\r") {
		ts.Fatalf("magpie %v printed terminal codes where there is none: %q", args[1:], out)
	}
	if code != want {
		ts.Fatalf("magpie %v exits with %d", args[1:], code)
	}
}

func untilCmd(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[0])
	wait(ts, fmt.Sprintf("%q in magpie %v", args[0], args[1:]), func() bool {
		cmd := exec.Command(binary, args[1:]...)
		cmd.Env = append(environ(ts), "MAGPIE_ADDR="+ts.Getenv("ADDR"))
		out, _ := cmd.CombinedOutput() // what it says is what counts
		return re.Match(out)
	})
}

func umaskCmd(ts *testscript.TestScript, _ bool, args []string) {
	mode, err := strconv.ParseInt(args[0], 8, 32)
	ts.Check(err)
	worldOf(ts).umask = int(mode)
}

func callsCmd(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	got := 0
	for _, c := range worldOf(ts).vendors[args[0]].Calls() {
		if c.Method == http.MethodPost { // lists of models are fetched by themselves
			got++
		}
	}
	if got != want {
		ts.Fatalf("%s was asked %d times", args[0], got)
	}
}

func cleanCmd(ts *testscript.TestScript, _ bool, args []string) {
	for _, c := range worldOf(ts).vendors[args[0]].Calls() {
		if len(c.Leaks) > 0 {
			ts.Fatalf("%s got %v", args[0], c.Leaks)
		}
	}
}

// wait polls for what another process does.
func wait(ts *testscript.TestScript, what string, ok func() bool) {
	deadline := time.NewTimer(long)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			ts.Fatalf("never %s", what)
		}
	}
}

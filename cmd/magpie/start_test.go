package main

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
)

func TestThePersonsHomeIsFoundWithoutHOME(t *testing.T) {
	known := func() (*user.User, error) { return &user.User{HomeDir: "/home/me"}, nil }
	unknown := func() (*user.User, error) { return nil, errors.New("no such user") }
	for _, c := range []struct {
		name, home string
		current    func() (*user.User, error)
		want       string
	}{
		{"set", "/home/set", known, "/home/set"},
		{"unset", "", known, "/home/me"},
		{"no folder of its own", "here", known, "/home/me"},
		{"unset and unknown", "", unknown, ""},
	} {
		if got := personHome(func(string) string { return c.home }, c.current); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWithoutAnyHomeNothingIsScattered(t *testing.T) {
	t.Chdir(t.TempDir())
	s := newShell(t)
	s.process.home = ""
	s.env["MAGPIE_HOME"] = ""
	code, _, errs := s.run("serve", "--listen", "127.0.0.1:0")
	if code != exitFailed || !strings.Contains(errs, "MAGPIE_HOME") {
		t.Errorf("%d %s", code, errs)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("it left %v here (%v)", left, err)
	}
}

func TestAFolderThatCannotBeKeptInNamesTheWayOn(t *testing.T) {
	s := newShell(t)
	s.env["MAGPIE_HOME"] = filepath.Join(s.write("file", ""), "under")
	code, _, errs := s.run("serve", "--listen", "127.0.0.1:0")
	if code != exitFailed || !strings.Contains(errs, "MAGPIE_HOME=") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestASignalCallsAStartOff(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: exitOK, syscall.SIGINT: exitInterrupted} {
		s := newShell(t)
		s.now = time.Now
		lock := s.write("state/start.lock", "")
		f, err := os.OpenFile(lock, os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tryLock(f); !got || err != nil {
			t.Fatal("the lock of another start could not be had:", err)
		}
		code := make(chan int, 1)
		s.args = []string{"serve", "--listen", "127.0.0.1:0"}
		go func() { code <- run(s.process) }()
		eventually(t, "listening to signals", func() bool { return s.send(syscall.SIGHUP) })
		began := time.Now()
		s.send(sig)
		if got := <-code; got != want || time.Since(began) > long/2 {
			t.Errorf("%v: %d after %s: %s%s", sig, got, time.Since(began), s.stdout, s.stderr)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAConfigThatIsGoneLeavesTheOneInForce(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	sv := serve(t, relay(base), "--listen", "127.0.0.1:0")
	defer sv.end(syscall.SIGTERM)
	path := filepath.Join(sv.home, "config.toml")
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "told", func() bool { return strings.Contains(status(t, sv.addr).Config.Error, "gone") })
	if s := status(t, sv.addr); len(s.Accounts) != 1 {
		t.Errorf("%+v", s.Accounts)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	eventually(t, "taken again", func() bool { return status(t, sv.addr).Config.Error == "" })
}

func TestTheSecondGatewayOfAHomeLeavesItsStateToTheFirst(t *testing.T) {
	_, base := vendor(t, standin.Options{})
	first := serve(t, relay(base), "--listen", "127.0.0.1:0")
	defer first.end(syscall.SIGTERM)
	s := newShell(t)
	s.now = time.Now
	s.home, s.env["MAGPIE_HOME"] = first.home, first.home
	second := s.serve("--listen", "127.0.0.1:0")
	defer second.end(syscall.SIGTERM)
	sh := newShell(t)
	sh.env["MAGPIE_HOME"] = first.home
	if code, out, errs := sh.run("pause", "k", "--listen", second.addr); code != exitOK || !strings.Contains(out, "another gateway") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if told := strings.Join(status(t, second.addr).Trouble, "\n"); !strings.Contains(told, "another gateway") {
		t.Errorf("told %q", told)
	}
	if told := status(t, first.addr).Trouble; len(told) > 0 {
		t.Errorf("the first is told %q", told)
	}
	eventually(t, "on disk", func() bool { // a command waits for a busy disk no longer than it keeps a person waiting
		code, out, errs := sh.run("pin", "k", "--listen", first.addr)
		if code != exitOK {
			t.Fatalf("%d %s%s", code, out, errs)
		}
		return !strings.Contains(out, "disk")
	})
	data, err := os.ReadFile(filepath.Join(first.home, "state", "choices.json"))
	if err != nil || !strings.Contains(string(data), `"paused": {}`) {
		t.Errorf("%s %v", data, err)
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/client"
)

func nobody(client.Info) bool { return false }

func TestTheTwinsOfAnAddressAreTheOtherLoopbackFamily(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:3425": "[::1]:3425", "localhost:3425": "[::1]:3425", "0.0.0.0:3425": "", "[::1]:3425": "127.0.0.1:3425",
		"127.0.0.9:3425": "[::1]:3425", "192.168.1.5:3425": "", "[::]:3425": "", "127.0.0.1:0": "", "box.example:3425": "", "nonsense": "",
	} {
		if got := strings.Join(twins(addr), " "); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}

func TestWhoHasTheAddressIsSaid(t *testing.T) {
	magpie := newCanned(t, map[string]any{"GET /": map[string]any{"name": "magpie", "pid": 4121, "started": noon.Add(-3*time.Hour - 12*time.Minute)}})
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "uvicorn")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer program.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			_ = c.Close()
		}
	}()
	for _, c := range []struct {
		addr  string
		words []string
	}{
		{magpie.addr(), []string{"is taken by another magpie (pid 4121, up 3h12m)."}},
		{program.Listener.Addr().String(), []string{"something that is not magpie (it answered GET / with 404, Server: uvicorn).\n", "Choose another address:  magpie serve --listen 127.0.0.1:", "or see what holds it:    lsof -nP -iTCP:"}},
		{mute.Addr().String(), []string{"something that is not magpie ("}},
	} {
		l, err := newShell(t).open(t.Context(), c.addr, nobody)
		var taken *takenError
		if !errors.As(err, &taken) {
			t.Errorf("%s: bound %v, %v", c.addr, l, err)
			continue
		}
		words := taken.words(noon, "serve ")
		for _, w := range c.words {
			if !strings.Contains(words, w) {
				t.Errorf("no %q in\n%s", w, words)
			}
		}
		if on := taken.waysOn("serve "); (taken.foreign == nil) != strings.Contains(on, "magpie --listen "+c.addr+"\n") {
			t.Errorf("the ways on: %q", on)
		}
		if !strings.HasPrefix(words, c.addr+" is taken by ") {
			t.Errorf("it does not begin with the address: %s", words)
		}
	}
}

func TestTheOtherLoopbackFamilyCountsToo(t *testing.T) {
	six, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Log("this machine has one family alone: ", err)
		return
	}
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	_ = other.Listener.Close()
	other.Listener = six
	other.Start()
	defer other.Close()
	_, port, err := net.SplitHostPort(six.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + port
	_, err = newShell(t).open(t.Context(), addr, nobody)
	var taken *takenError
	if !errors.As(err, &taken) || taken.foreign == nil || !strings.Contains(taken.Error(), "[::1]:"+port) {
		t.Fatalf("%v", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatalf("what was bound for a moment was not let go: %v", err)
	}
	_ = l.Close()
}

func TestAnAddressThatCannotBeHadIsExplained(t *testing.T) {
	if _, err := newShell(t).open(t.Context(), "192.0.2.1:3425", nobody); err == nil || !strings.Contains(err.Error(), "no interface of this machine has that address") {
		t.Error(err)
	}
	l, err := newShell(t).open(t.Context(), "127.0.0.1:0", nobody)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

func TestTheNextAddress(t *testing.T) {
	for addr, want := range map[string]string{"127.0.0.1:3425": "127.0.0.1:3426", "[::1]:65535": "[::1]:3426", "x": "127.0.0.1:3426"} {
		if got := another(addr); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

func TestASecondStartWaitsForTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "start.lock")
	release, err := startLock(t.Context(), path, long)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	second := make(chan func(), 1)
	go func() {
		r, err := startLock(context.WithoutCancel(t.Context()), path, long)
		if err != nil {
			r = nil
		}
		second <- r
	}()
	quick, cancel := context.WithTimeout(t.Context(), 3*lockEvery)
	defer cancel()
	select {
	case <-second:
		t.Fatal("it did not wait")
	case <-quick.Done():
	}
	release()
	r := <-second
	if r == nil {
		t.Fatal("it got no lock")
	}
	r()
}

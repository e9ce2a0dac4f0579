package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/redact"
)

const canary = "canary-9f2c-secret-value"

func TestTheLogHidesSecretsInEveryForm(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		var b bytes.Buffer
		m := redact.New()
		m.Known(canary)
		l := newLog(&b, format, noon.Location(), m)
		l = l.With("with", "x "+canary).WithGroup("in")
		l.Info("said "+canary, "plain", canary, "err", errors.New("asked with "+canary), slog.Group("deep", "er", canary), "n", 7)
		if strings.Contains(b.String(), canary) || !strings.Contains(b.String(), "cana…") {
			t.Errorf("%s: %s", format, b.String())
		}
	}
}

func TestLinesOfTheLogAreForPeople(t *testing.T) {
	var b bytes.Buffer
	l := newLog(&b, "text", noon.Location(), redact.New())
	h := l.Handler()
	for _, c := range []struct {
		level slog.Level
		words string
		attrs []slog.Attr
		want  string
	}{
		{slog.LevelInfo, "request", []slog.Attr{slog.Int("status", 200), slog.String("error", ""), slog.String("by", "a/b")}, "2026-11-29 14:02:00 request status=200 by=a/b\n"},
		{slog.LevelWarn, "two\nlines", []slog.Attr{slog.String("words", `it "said" so`)}, "2026-11-29 14:02:00 warn: two lines words=\"it \\\"said\\\" so\"\n"},
		{slog.LevelError, "odd\x1b[2J", nil, "2026-11-29 14:02:00 error: odd\n"},
	} {
		b.Reset()
		r := slog.NewRecord(noon.UTC(), c.level, c.words, 0)
		r.AddAttrs(c.attrs...)
		if err := h.Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("got  %q\nwant %q", b.String(), c.want)
		}
	}
	if l.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("debug lines pass")
	}
}

func TestAFullLogBeginsAnewAndKeepsTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "magpie.log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	for range 12 {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Size() > logLimit || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, %v, %v", f, info.Size(), info.Mode(), err)
		}
	}
	again, err := openLog(path)
	if err != nil || again.size == 0 {
		t.Errorf("a log that is there is not gone on with: %v", err)
	}
	_ = again.Close()
}

func TestCrashReportsAreKeptAndTidied(t *testing.T) {
	dir := t.TempDir()
	if earlier, err := watchCrashes(dir); err != nil || earlier != "" {
		t.Fatalf("%q %v", earlier, err)
	}
	if earlier, err := watchCrashes(dir); err != nil || earlier != "" {
		t.Fatalf("an empty report is one: %q %v", earlier, err)
	}
	if err := os.WriteFile(filepath.Join(dir, crashOpen), []byte("panic: oh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	earlier, err := watchCrashes(dir)
	if err != nil || !strings.HasPrefix(filepath.Base(earlier), "crash-2") {
		t.Fatalf("%q %v", earlier, err)
	}
	if data, err := os.ReadFile(earlier); err != nil || string(data) != "panic: oh\n" {
		t.Errorf("%q %v", data, err)
	}
	for i := range 2 * crashKeep {
		if _, err := reportCrash(dir, noon.Add(time.Duration(i)*time.Second), []byte("stack")); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "crash-2*.txt")); len(all) != crashKeep {
		t.Errorf("%d reports are kept", len(all))
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"dev.magpie/gateway/redact"
	"dev.magpie/tui/canvas"
)

// logLimit is the size at which the log file begins anew. The one before it is kept beside it.
const logLimit = 5 << 20

// newLog returns a logger of the format text or json. Whatever passes is cleaned of secrets.
func newLog(w io.Writer, format string, zone *time.Location, m *redact.Masker) *slog.Logger {
	if format == "json" {
		return slog.New(&masked{slog.NewJSONHandler(w, nil), m})
	}
	return slog.New(&masked{&plain{w: w, zone: zone, mu: &sync.Mutex{}}, m})
}

// masked hides secrets in what passes through.
type masked struct {
	next slog.Handler
	m    *redact.Masker
}

// Enabled is the next handler's.
func (h *masked) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// Handle hands a cleaned copy on.
func (h *masked) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.m.Mask(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *masked) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString, slog.KindAny:
		return slog.String(a.Key, h.m.Mask(v.String()))
	case slog.KindGroup:
		var in []slog.Attr
		for _, g := range v.Group() {
			in = append(in, h.attr(g))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(in...)}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return a
}

// WithAttrs cleans them once.
func (h *masked) WithAttrs(as []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(as))
	for i, a := range as {
		clean[i] = h.attr(a)
	}
	return &masked{h.next.WithAttrs(clean), h.m}
}

// WithGroup is the next handler's.
func (h *masked) WithGroup(name string) slog.Handler { return &masked{h.next.WithGroup(name), h.m} }

// plain writes lines for people: time, level where it is not info, words, then name=value.
type plain struct {
	w    io.Writer
	zone *time.Location
	mu   *sync.Mutex
	lead string // attributes of every line
	path string // groups, with a dot behind each
}

// Enabled lets info and worse pass.
func (h *plain) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle writes one line at once.
func (h *plain) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.In(h.zone).Format("2006-01-02 15:04:05 "))
	if r.Level != slog.LevelInfo {
		b.WriteString(strings.ToLower(r.Level.String()) + ": ")
	}
	b.WriteString(canvas.Clean(r.Message) + h.lead)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.path, a)
		return true
	})
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}

func writeAttr(b *strings.Builder, path string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, in := range v.Group() {
			writeAttr(b, path+a.Key+".", in)
		}
		return
	}
	s := v.String()
	if s == "" {
		return // says nothing
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || !strconv.IsPrint(r) }) {
		s = strconv.Quote(s)
	}
	b.WriteString(" " + path + a.Key + "=" + s)
}

// WithAttrs keeps them for every line.
func (h *plain) WithAttrs(as []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range as {
		writeAttr(&b, h.path, a)
	}
	next := *h
	next.lead += b.String()
	return &next
}

// WithGroup names the attributes that follow.
func (h *plain) WithGroup(name string) slog.Handler {
	next := *h
	next.path += name + "."
	return &next
}

// logFile is a file that begins anew when it is full: the one before it stays as <name>.1.
type logFile struct {
	mu   sync.Mutex
	path string
	f    *os.File
	size int64
}

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open the log: %w", err), f.Close())
	}
	l.f, l.size = f, info.Size()
	return nil
}

// Write adds a line.
func (l *logFile) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(b)) > logLimit {
		if err := errors.Join(l.f.Close(), os.Rename(l.path, l.path+".1"), l.open()); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(b)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

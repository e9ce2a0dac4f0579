package state_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.magpie/gateway/state"
	"dev.magpie/gateway/trace"
	"dev.magpie/provider"
)

func settle(t *testing.T, s *state.Store, since state.Mark) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.Settle(ctx, since)
}

func TestWhatHasSettledIsOnDisk(t *testing.T) {
	o := folder(t.TempDir())
	s := open(t, o)
	for _, step := range []struct {
		name string
		do   func()
		path string
		want string
		gone bool
	}{
		{"pause", func() { s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now) }, o.Choices, "codex/me", false},
		{"pin", func() { s.Pin("codex/team", trace.Pinned{}, now) }, o.Choices, "codex/team", false},
		{"undo", func() { s.Undo(now) }, o.Choices, "codex/team", true},
		{"rest", func() { put(t, s, rest("codex/me", trace.Credit, trace.ByCredit, time.Hour)) }, o.Rests, "codex/me", false},
		{"wake", func() { s.Wake([]provider.AccountID{"codex/me"}, now) }, o.Rests, "codex/me", true},
	} {
		mark := s.Mark()
		step.do()
		if err := settle(t, s, mark); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		data, err := os.ReadFile(step.path)
		if err != nil || strings.Contains(string(data), step.want) == step.gone {
			t.Errorf("%s: %v, %s", step.name, err, data)
		}
	}
	if err := settle(t, s, s.Mark()); err != nil {
		t.Errorf("nothing changed: %v", err)
	}
}

func TestWhatCanNotSettleIsTold(t *testing.T) {
	t.Run("a file that could not be read", func(t *testing.T) {
		o := folder(t.TempDir())
		if err := os.WriteFile(o.Choices, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, o)
		mark := s.Mark()
		s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
		if err := settle(t, s, mark); err == nil || !strings.Contains(err.Error(), o.Choices) {
			t.Errorf("%v", err)
		}
		mark = s.Mark()
		put(t, s, rest("codex/me", trace.Credit, trace.ByCredit, time.Hour))
		if err := settle(t, s, mark); err != nil {
			t.Errorf("what belongs in another file: %v", err)
		}
		shut(t, s)
	})
	t.Run("a file that can't be written", func(t *testing.T) {
		dir := t.TempDir()
		o := folder(filepath.Join(dir, "state"))
		s, err := state.Open(o, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "state"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second does not wait for another try
			mark := s.Mark()
			s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
			if err := settle(t, s, mark); err == nil || !strings.Contains(err.Error(), o.Choices) {
				t.Errorf("%v", err)
			}
			s.Resume([]provider.AccountID{"codex/me"}, now)
		}
		if err := s.Close(); err == nil {
			t.Error("closed without a word")
		}
	})
	t.Run("a store that is closed", func(t *testing.T) {
		s := open(t, folder(t.TempDir()))
		shut(t, s)
		mark := s.Mark()
		s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
		if err := settle(t, s, mark); err == nil {
			t.Error("settled without a writer")
		}
	})
	t.Run("a store without files", func(t *testing.T) {
		s := open(t, state.Options{})
		mark := s.Mark()
		s.Pause([]provider.AccountID{"codex/me"}, time.Time{}, now)
		if err := settle(t, s, mark); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatIsNoFileOfOursIsToldAndKeepsNobodyWaiting(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a file larger than any of ours": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(`{"version":1}`), 0o600), os.Truncate(path, 100<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := folder(t.TempDir())
			if err := put(o.Choices); err != nil {
				t.Fatal(err)
			}
			s := open(t, o)
			if told := s.Problems(); len(told) != 1 || !strings.Contains(told[0], o.Choices) {
				t.Errorf("told %q", told)
			}
		})
	}
}

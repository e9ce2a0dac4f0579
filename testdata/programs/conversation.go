package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dev.magpie/gateway/standin"
)

// converse has a program lead a conversation of three turns over two keys. It has to stay on the first
// one through a turn, to leave it when that one rests, and to stay where it went when the first one is
// back; the gateway has to say why each time.
func converse(ctx context.Context, o options, p program) (err error) {
	s, err := newStage(o, p, task{each: true})
	if err != nil {
		return err
	}
	defer s.at.Close()
	defer func() {
		if o.keep == "" {
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	gw, err := s.serve(ctx, o.magpie, p.vendor)
	if err != nil {
		return err
	}
	said, err := s.threeTurns(ctx, o, p)
	told, watched := s.routes(ctx)
	err = errors.Join(err, watched, gw.stop())
	if o.keep != "" {
		err = errors.Join(err, s.dump())
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.evidence(said, told, gw))
	}
	return nil
}

// threeTurns plays the turns, and what happens between them.
func (s *stage) threeTurns(ctx context.Context, o options, p program) (said output, err error) {
	for i, turn := range []struct {
		before func(context.Context) error
		by     string
		why    string // of its first request; the others go on with the turn
	}{
		{nothing, "first", "first"},
		{s.restFirst, "second", "resting"},
		{s.wakeAll, "second", "cache"},
	} {
		if err := turn.before(ctx); err != nil {
			return said, err
		}
		before, err := s.routes(ctx)
		if err != nil {
			return said, err
		}
		var fault error
		if said, fault = s.perform(ctx, o, p, p.talk(s, i)); fault != nil {
			return said, fmt.Errorf("turn %d: %w", i+1, fault)
		}
		after, err := s.routes(ctx)
		if err != nil {
			return said, err
		}
		if err := judgeTurn(since(after, before), p, turn.by, turn.why, i+1); err != nil {
			return said, fmt.Errorf("turn %d: %w", i+1, err)
		}
		if err := os.Remove(filepath.Join(s.work, noteName)); err != nil {
			return said, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	return said, nil
}

func nothing(context.Context) error { return nil }

// since are the routes that were not there before, the oldest first.
func since(after, before []route) []route {
	var fresh []route
	for _, r := range after {
		if !slices.ContainsFunc(before, func(old route) bool { return old.ID == r.ID }) {
			fresh = append(fresh, r)
		}
	}
	slices.SortFunc(fresh, func(a, b route) int { return int(a.ID - b.ID) })
	return fresh
}

// judgeTurn holds a turn's requests to one key, and to the reasons.
func judgeTurn(told []route, p program, by, why string, turn int) error {
	var faults []error
	whys := make([]string, 0, len(told))
	for _, r := range told {
		if r.Agent != p.agent || r.Affinity == nil {
			faults = append(faults, fmt.Errorf("%s by %q tells nothing of its conversation", r.Path, r.Agent))
			continue
		}
		whys = append(whys, r.Affinity.Why)
		if last := r.Tries[len(r.Tries)-1]; !strings.HasSuffix(last.ID, "/"+by) || len(r.Tries) != 1 {
			faults = append(faults, fmt.Errorf("a request was answered by %s after %d tries, not by %s", last.ID, len(r.Tries), by))
		}
		if kept := r.Affinity.Why == "turn" || r.Affinity.Why == "cache"; r.Affinity.Kept != kept {
			faults = append(faults, fmt.Errorf("%q is told as kept: %v", r.Affinity.Why, r.Affinity.Kept))
		}
	}
	if len(whys) < 2 || whys[0] != why || slices.ContainsFunc(whys[1:], func(w string) bool { return w != "turn" }) {
		faults = append(faults, fmt.Errorf("the requests went where they did because of %q, not first of %q and then of the turn", whys, why))
	}
	fmt.Printf("  turn %d: %d requests by %s, because of %s\n", turn, len(told), by, strings.Join(whys, ", "))
	return errors.Join(faults...)
}

// restFirst has the first key rate limited by a request beside the conversation.
func (s *stage) restFirst(ctx context.Context) error {
	s.vendor.Script(firstKey, standin.Must("429 rate retry-after=300s")...)
	var list struct {
		Data []struct{ ID string }
	}
	if err := s.get(ctx, "/v1/models", &list); err != nil {
		return err
	}
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hello"}]}`, list.Data[0].ID)
	return s.post(ctx, "/v1/chat/completions", body, "X-Session-Id", "another")
}

// wakeAll ends all rests, as a person would.
func (s *stage) wakeAll(ctx context.Context) error {
	token, err := os.ReadFile(filepath.Join(s.magpieHome(), "state", "control.token"))
	if err != nil {
		return err
	}
	return s.post(ctx, "/v1/magpie/do", `{"verb":"wake","who":"all"}`, "Authorization", "Bearer "+strings.TrimSpace(string(token)))
}

// post asks the gateway something and wants a good answer.
func (s *stage) post(ctx context.Context, path, body string, head ...string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	got, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s: %s %s", path, resp.Status, got)
	}
	return err
}

// perform runs the program for one turn.
func (s *stage) perform(ctx context.Context, o options, p program, l launch) (output, error) {
	said, err := s.launch(ctx, o, p, l)
	if err != nil {
		return said, err
	}
	if _, err := os.Stat(filepath.Join(s.work, noteName)); err != nil {
		return said, errors.New("the file was not written")
	}
	if !strings.Contains(said.out, lastWord) {
		return said, errors.New("the last word was not printed")
	}
	return said, nil
}

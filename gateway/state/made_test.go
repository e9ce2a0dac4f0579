package state_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.magpie/gateway/state"
)

func TestWhoMadeAReply(t *testing.T) {
	s := open(t, state.Options{})
	if _, ok := s.Made("resp_1"); ok {
		t.Error("nobody made anything yet")
	}
	s.NoteMade("resp_1", "codex/me")
	s.NoteMade("resp_1", "codex/third")
	s.NoteMade("", "codex/me")
	s.NoteMade(strings.Repeat("x", 10000), "codex/me")
	if by, ok := s.Made("resp_1"); !ok || by != "codex/third" {
		t.Errorf("made by %q", by)
	}
	for _, id := range []string{"", strings.Repeat("x", 10000)} {
		if _, ok := s.Made(id); ok {
			t.Error("no id, or one of 10 KB, is remembered")
		}
	}
}

func TestTheLatestFourThousandRepliesAreRemembered(t *testing.T) {
	s := open(t, state.Options{})
	s.NoteMade("used", "codex/me")
	for i := range 4096 {
		s.NoteMade(strconv.Itoa(i), "codex/me")
		if _, ok := s.Made("used"); !ok {
			t.Fatalf("one that is asked for is forgotten after %d", i)
		}
	}
	if _, ok := s.Made("0"); ok {
		t.Error("the oldest stays")
	}
	if _, ok := s.Made("1"); !ok {
		t.Error("more than one went")
	}
}

func TestARepliesMakerIsForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, state.Options{})
		s.NoteMade("resp_1", "codex/me")
		<-time.After(24*time.Hour - time.Second)
		if _, ok := s.Made("resp_1"); !ok {
			t.Error("it is forgotten early")
		}
		<-time.After(time.Second)
		if _, ok := s.Made("resp_1"); ok {
			t.Error("it is remembered after a day")
		}
	})
}

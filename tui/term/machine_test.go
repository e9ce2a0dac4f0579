//go:build unix

package term

import (
	"context"
	"strings"
	"testing"
)

func TestProgramsOfTheMachineAreRunAndBounded(t *testing.T) {
	var m machine
	if m.Has("there-is-no-such-program") || !m.Has("true") {
		t.Error("looking programs up is wrong")
	}
	if err := m.Run(t.Context(), "x", []string{"false"}); err == nil || !strings.HasPrefix(err.Error(), "run false: ") {
		t.Errorf("error %v", err)
	}
	if err := m.Run(t.Context(), "x", []string{"grep", "-q", "^x$"}); err != nil {
		t.Errorf("the text does not arrive: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Run(ctx, "x", []string{"cat"}); err == nil {
		t.Error("it runs after its context")
	}
}

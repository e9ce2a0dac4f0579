package tui

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when a screen leaves anything running behind it.
func TestMain(m *testing.M) {
	// The library that drives whole programs waits for an interrupt for good.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
}

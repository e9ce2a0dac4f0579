package gateway_test

import (
	"testing"

	"go.uber.org/goleak"

	"dev.magpie/gateway/bridge/fakeclaude"
)

func TestMain(m *testing.M) {
	fakeclaude.Main()
	goleak.VerifyTestMain(m)
}

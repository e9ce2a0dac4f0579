package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"dev.magpie/gateway"
	"dev.magpie/gateway/standin"
)

func TestAKeyThatTellsNoModelsIsWarnedOfAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := standin.New(standin.Options{Models: []string{"m"}, Keys: []string{"a key that nobody has"}})
		r := newRig(t, twoKeys, vendors{"a": v}, func(d *gateway.Deps) { d.NoFetch = false })
		synctest.Wait()
		if got := r.logs.text(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "models of a: a answered 401, the key is not taken") {
			t.Errorf("it was logged:\n%s", got)
		}
	})
}

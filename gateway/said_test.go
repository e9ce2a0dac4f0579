package gateway_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"dev.magpie/gateway"
	ctl "dev.magpie/gateway/control"
	"dev.magpie/gateway/history"
)

func TestWhatIsSaidOfWhatIsSoAlready(t *testing.T) {
	r := newRig(t, twoKeys+"[groups.g]\nrouting = \"manual\"\nmembers = [\"a/m\", \"a/n\"]\n", vendors{"a": good("chat", false)})
	for _, c := range []struct {
		do   ctl.Command
		want string
	}{
		{ctl.Command{Verb: ctl.Resume, Who: "a/k1"}, "a/k1 was not paused"},
		{ctl.Command{Verb: ctl.Resume, Who: "all"}, "a/k1, a/k2 were not paused"},
		{ctl.Command{Verb: ctl.Wake, Who: "all"}, "a/k1, a/k2 were not resting"},
		{ctl.Command{Verb: ctl.Pick, Who: "group/g"}, "group/g uses what the config picks already"},
		{ctl.Command{Verb: ctl.Pick, Who: "group/g", Args: ctl.Args{Member: "a/n"}}, "group/g uses a/n"},
		{ctl.Command{Verb: ctl.Pick, Who: "group/g", Args: ctl.Args{Member: "a/n"}}, "group/g uses that one already"},
	} {
		if d, err := r.g.Do(t.Context(), c.do, ""); err != nil || d.Words != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.do.Verb, c.do.Who, d.Words, err, c.want)
		}
	}
	if _, err := r.g.Do(t.Context(), ctl.Command{Verb: ctl.Refresh, Who: "a"}, ""); err == nil || !strings.Contains(err.Error(), "left of any key of a:") {
		t.Errorf("%v", err)
	}
}

func TestAStatusThatIsNoneIsTheAskersMistake(t *testing.T) {
	h, err := history.Open(filepath.Join(t.TempDir(), "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	r := newRig(t, lone, vendors{"a": good("chat", false)}, func(d *gateway.Deps) { d.History = h })
	for status, want := range map[string]int{"foo": 400, "6xx": 400, "ok": 200, "429": 200, "5xx": 200} {
		if got := r.do(http.MethodGet, "/v1/magpie/requests?status="+status, ""); got.status != want || want == 400 && !strings.Contains(got.body, "bad_request") {
			t.Errorf("%s: %d %s", status, got.status, got.body)
		}
	}
}

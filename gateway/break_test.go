package gateway_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAShutdownThatDoesNotWaitTellsEveryAgent(t *testing.T) {
	for api, c := range commented {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan struct{})
				a := &timeline{lines: []line{{0, c.start + c.text}, {time.Hour, c.stop}}, gone: gone}
				r := newRig(t, abOf("m"), vendors{"a": a, "b": &timeline{}})
				resp, br, _ := r.live(t, api)
				defer resp.Body.Close()
				broken := make(chan error, 1)
				go func() { broken <- r.g.Break(t.Context()) }()
				rest, err := io.ReadAll(br)
				if err := <-broken; err != nil {
					t.Error(err)
				}
				<-gone
				if err != nil || !strings.Contains(string(rest), "magpie was shut down") || strings.Contains(string(rest), c.stop) {
					t.Errorf("%v %q", err, rest)
				}
				if r.g.InFlight() != 0 || len(r.rests()) != 0 {
					t.Errorf("%d under way, rests %v", r.g.InFlight(), r.rests())
				}
				if got := r.ask(asking(api, "group/g", false)); got.status != 503 {
					t.Errorf("a new request: %d", got.status)
				}
			})
		})
	}
}

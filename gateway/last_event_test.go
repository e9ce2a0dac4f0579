package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
)

// A vendor may end its stream without the blank line behind its last event.
func TestALastEventWithoutItsBlankLineIsTranslated(t *testing.T) {
	v := newBabel(t, spoken(2, "some words"))
	for api, events := range v.streams {
		last := len(events) - 1
		if api == wire.Chat {
			last-- // what ends the reply, not the mark behind it
		}
		events[last] = bytes.TrimRight(events[last], "\n")
		v.streams[api] = events[:last+1]
	}
	c := newFourDoors(t, v)
	for _, from := range wire.Protocols {
		for _, at := range wire.Protocols {
			path, body := door(from, at)
			resp, err := c.client.Post(c.ours+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(got), `"error":{`) || strings.Contains(string(got), "event: error") {
				t.Errorf("%s on %s: %d %v %s", from, at, resp.StatusCode, err, got)
			}
		}
	}
}

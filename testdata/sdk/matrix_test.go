package sdk_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dev.magpie/gateway/standin"
	"dev.magpie/gateway/trace"
	"dev.magpie/gateway/wire"
)

func TestEveryClientHearsEveryVendor(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		got := c.once(t, c.ask())
		if got.text != answerText || got.in == 0 || got.out == 0 {
			t.Errorf("%+v", got)
		}
		route := c.r.routes.waitLast(t, 1)
		if route.Status != 200 || route.Stream != c.streamed || len(route.Tries) != 1 {
			t.Fatalf("%+v", route)
		}
		if route.Tokens.Input != got.in || route.Tokens.Output != got.out {
			t.Errorf("the route tells %+v, the SDK %+v", route.Tokens, got)
		}
		c.translated(t, route.Tries[0])
		c.r.strict(t)
	})
}

// translated checks that a vendor is asked on its own API, and that only other APIs than the client's are translated.
func (c cell) translated(t *testing.T, try trace.Try) {
	t.Helper()
	for _, call := range c.r.vendor.Calls() {
		if call.API != c.at.api || call.Model != c.at.house.models[0] {
			t.Errorf("asked on %s for %s", call.API, call.Model)
		}
	}
	switch tr := try.Translated; {
	case c.from == c.at.api && tr != nil:
		t.Errorf("its own API is translated: %+v", tr)
	case c.from != c.at.api && (tr == nil || tr.From != string(c.from) || tr.To != string(c.at.api)):
		t.Errorf("translated %+v", tr)
	}
}

func TestEveryClientCountsWhatEveryVendorCounted(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		c.r.script("ok usage=1200/1000/80")
		got := c.once(t, c.ask())
		if got.in != 1200 || got.cached != 1000 || got.out != 80 {
			t.Errorf("%+v", got)
		}
	})
}

func TestEveryClientLoopsThroughAToolAtEveryVendor(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		for _, thinks := range []bool{false, true} {
			q := c.ask()
			q.said, q.tool, q.thinks = "How is the weather in Bern?", true, thinks
			step := "ok "
			if thinks {
				step += `think="The forecast has to be asked." `
			}
			c.r.script(step+`call="weather={\"place\":\"Bern\"}"`, step+`call="weather={\"place\":\"Genf & <Basel>\"}"`)
			got := c.once(t, q)
			for _, want := range []string{"Bern", "Genf & <Basel>"} {
				var given struct{ Place string }
				if err := json.Unmarshal([]byte(got.call), &given); err != nil || given.Place != want || got.again == nil {
					t.Fatalf("called with %q, want %s: %+v", got.call, want, got)
				}
				var err error
				if got, err = got.again(within(t), "Sunny in "+want+"."); err != nil {
					t.Fatal(err)
				}
			}
			if got.text != answerText || !got.done || got.again != nil {
				t.Errorf("at last %+v", got)
			}
			calls := c.r.vendor.Calls()
			last := string(calls[len(calls)-1].Body)
			if !strings.Contains(last, "Sunny in Bern.") || strings.Index(last, "Sunny in Bern.") > strings.Index(last, "Sunny in Genf") {
				t.Errorf("the results do not follow each other: %s", last)
			}
			if n := strings.Count(last, `"thoughtSignature":"`); c.at.api == wire.Gemini && n != 2 {
				t.Errorf("%d signatures came back to the vendor: %s", n, last)
			}
			if back := strings.Count(last, "The forecast has"); thinks && c.wantsBack() != (back > 0) || strings.Contains(last, "skip_thought") {
				t.Errorf("its thinking came back to the vendor %d times: %s", back, last)
			}
		}
		c.r.strict(t)
	})
}

// wantsBack says whether the vendor has to hear its thinking again. Chat has no field for seals,
// OpenAI's Chat shows no thinking, and Gemini's stands in its signatures alone unless it is relayed.
func (c cell) wantsBack() bool {
	switch c.at.api {
	case wire.Chat:
		return c.at.thinkBack || c.from == wire.Chat && c.at.shows
	case wire.Gemini:
		return c.from == wire.Gemini
	case wire.Responses, wire.Messages:
	}
	return c.from != wire.Chat
}

func TestEveryClientShowsEveryVendorAPicture(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		q := c.ask()
		q.picture = true
		if c.at.blind { // its turn needs eyes, so nobody is asked
			_, err := c.put(within(t), q)
			route := c.r.routes.waitLast(t, 1)
			if err == nil || route.Status != 400 || !strings.Contains(route.Error, "takes none") || len(c.r.vendor.Calls()) != 0 {
				t.Errorf("%v after %d calls: %d %s", err, len(c.r.vendor.Calls()), route.Status, route.Error)
			}
			return
		}
		if got := c.once(t, q); got.text != answerText {
			t.Errorf("%+v", got)
		}
		if body := string(c.r.vendor.Calls()[0].Body); strings.Count(body, pictureText) != 1 || !strings.Contains(body, "image/png") {
			t.Errorf("the picture is not in %s", body)
		}
		c.r.strict(t)
	})
}

func TestEveryClientGetsStructuredAnswersOfEveryVendor(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		q := c.ask()
		q.schema = true
		got := c.once(t, q)
		var answer map[string]any
		if err := json.Unmarshal([]byte(got.text), &answer); err != nil || answer["answer"] == nil {
			t.Fatalf("%q: %v", got.text, err)
		}
		if _, sure := answer["sure"].(bool); !sure && (!c.at.loose || c.from == c.at.api) {
			t.Errorf("not of the schema: %s", got.text)
		}
		if body := string(c.r.vendor.Calls()[0].Body); !strings.Contains(body, "seven") {
			t.Errorf("the schema did not reach the vendor: %s", body)
		}
		c.r.strict(t)
	})
}

func TestEveryClientSeesWhatEveryVendorThinks(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		q := c.ask()
		q.thinks = true
		c.r.script(`ok think="Six times seven, that is."`)
		got := c.once(t, q)
		want := "Six times seven, that is."
		if !c.at.shows {
			want = ""
		}
		if got.text != answerText || got.thought != want {
			t.Errorf("%+v", got)
		}
		c.r.strict(t)
	})
}

func TestEveryClientIsAnsweredByTheSecondKeyOfEveryVendor(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		c.r.script("429 rate retry-after=60s")
		if got := c.once(t, c.ask()); got.text != answerText {
			t.Errorf("%+v", got)
		}
		route := c.r.routes.waitLast(t, 1)
		if len(route.Tries) != 2 || route.Tries[0].Fail != trace.Rate || len(c.r.vendor.CallsOf(secondKey)) != 1 {
			t.Errorf("%+v", route.Tries)
		}
		c.r.strict(t)
	})
}

func TestEveryClientHearsEveryVendorsRefusal(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		c.r.script(`400 bad say="the field frobnicate is not known here" x2`)
		got, err := c.put(within(t), c.ask())
		if status, words := c.told(err); status != 400 || !strings.Contains(words, "frobnicate") {
			t.Errorf("status %d, words %q, %+v, %v", status, words, got, err)
		}
		// A cache key of ours may be what was refused, so the same key is asked once more without it.
		calls, keyed := c.r.vendor.CallsOf(firstKey), 0
		for _, call := range calls {
			if strings.Contains(string(call.Body), `"prompt_cache_key"`) {
				keyed++
			}
		}
		if second := len(c.r.vendor.CallsOf(secondKey)); len(calls) != 1+keyed || keyed > 1 || second != 0 {
			t.Errorf("asked %d times, %d of them with a cache key, and %d times with the other", len(calls), keyed, second)
		}
	})
}

func TestEveryClientHearsThatEveryVendorIsLimited(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		c.r.vendor.Script(standin.AnyKey, standin.Must("429 rate retry-after=90s x9")...)
		_, err := c.put(within(t), c.ask())
		if status, words := c.told(err); status != 429 || words == "" {
			t.Errorf("status %d, words %q, %v", status, words, err)
		}
	})
}

func TestEveryClientHearsThatAStreamOfEveryVendorWasCut(t *testing.T) {
	everyCell(t, func(t *testing.T, c cell) {
		c.r.script("cut after=2")
		begun := time.Now()
		got, err := c.put(within(t), c.ask())
		switch {
		case c.streamed && (err == nil || got.done):
			t.Errorf("a cut reply reads as a finished one: %+v", got)
		case !c.streamed && (err != nil || got.text != answerText):
			t.Errorf("%+v, %v", got, err)
		case time.Since(begun) > patience/2:
			t.Error("that took too long")
		}
	})
}

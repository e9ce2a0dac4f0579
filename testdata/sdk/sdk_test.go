package sdk_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

func TestAReplyHasItsTextItsEndAndItsTokens(t *testing.T) {
	everySDK(t, func(t *testing.T, s sdk, r *rig, sp speaker) {
		for i, w := range ways {
			got, err := ask(within(t), sp, w.streamed, "What is the answer?")
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			if got.text != answerText || !got.done || got.in == 0 || got.out == 0 {
				t.Errorf("%s: %+v", w.name, got)
			}
			route := r.routes.waitLast(t, i+1)
			if want := strings.TrimPrefix(s.agent, "magpie-"); route.Agent != want || route.Stream != w.streamed || route.Status != 200 {
				t.Errorf("%s: the route tells agent %q, streamed %t, status %d", w.name, route.Agent, route.Stream, route.Status)
			}
			if route.Tokens.Input != got.in || route.Tokens.Output != got.out {
				t.Errorf("%s: the route tells %+v, the SDK %+v", w.name, route.Tokens, got)
			}
		}
		r.strict(t)
	})
}

func TestAToolIsCalledAndItsResultHeard(t *testing.T) {
	everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
		for _, w := range ways {
			args, last, err := sp.loop(within(t), w.streamed)
			if err != nil {
				t.Fatalf("%s: %v", w.name, err)
			}
			var given struct{ Place string }
			if err := json.Unmarshal([]byte(args), &given); err != nil || given.Place == "" {
				t.Errorf("%s: the tool was called with %s", w.name, args)
			}
			if last.text != answerText || !last.done {
				t.Errorf("%s: at last %+v", w.name, last)
			}
		}
		if n := len(r.vendor.Calls()); n != 4 {
			t.Errorf("the vendor was asked %d times for two loops", n)
		}
		for _, c := range r.vendor.Calls()[1:] {
			if c.N%2 == 0 && !strings.Contains(string(c.Body), "Sunny.") {
				t.Errorf("request %d lacks the tool's result: %s", c.N, c.Body)
			}
		}
		r.strict(t)
	})
}

func TestModelsAreListedInTheAskersShape(t *testing.T) {
	everySDK(t, func(t *testing.T, s sdk, r *rig, sp speaker) {
		got, err := sp.models(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.house.models {
			if !slices.Contains(got, s.house.name+"/"+m) {
				t.Errorf("%s is not among %v", m, got)
			}
		}
		if n := len(r.vendor.Calls()); n != 0 {
			t.Errorf("the vendor was asked %d times", n)
		}
	})
}

func TestTheVendorsRefusalIsTheSDKsError(t *testing.T) {
	for name, c := range map[string]struct {
		step   string
		status int
	}{
		"a bad request":           {`400 bad say="the field frobnicate is not known here"`, 400},
		"a request that is wrong": {`422 bad say="the field frobnicate is not known here"`, 422},
	} {
		t.Run(name, func(t *testing.T) {
			everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
				r.script(c.step, c.step)
				for _, w := range ways {
					got, err := ask(within(t), sp, w.streamed, "What is the answer?")
					if status, words := sp.told(err); status != c.status || !strings.Contains(words, "frobnicate") {
						t.Errorf("%s: status %d, words %q, reply %+v, %v", w.name, status, words, got, err)
					}
				}
				if first, second := len(r.vendor.CallsOf(firstKey)), len(r.vendor.CallsOf(secondKey)); first != 2 || second != 0 {
					t.Errorf("asked %d and %d times", first, second)
				}
			})
		})
	}
}

func TestWhenEveryKeyIsLimitedTheSDKHearsHowLong(t *testing.T) {
	everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
		r.vendor.Script(standin.AnyKey, standin.Must("429 rate retry-after=90s x9")...)
		for _, w := range ways {
			_, err := ask(within(t), sp, w.streamed, "What is the answer?")
			if status, words := sp.told(err); status != 429 || words == "" {
				t.Errorf("%s: status %d, words %q, %v", w.name, status, words, err)
			}
		}
	})
}

package sdk_test

import (
	"strings"
	"testing"

	"dev.magpie/gateway/standin"
)

func TestTheSecondKeyAnswersAndTheSDKNeverKnows(t *testing.T) {
	for name, step := range map[string]string{
		"the first is rate-limited":         "429 rate retry-after=60s",
		"the first is out of quota":         "429 quota resets=3h",
		"the first has no credit":           "402 credit",
		"the first is not let in":           "401 auth",
		"the vendor is overloaded":          "529 overloaded",
		"the vendor broke":                  "500 server",
		"a web page came":                   "page 403",
		"an empty success came":             "empty 200",
		"the connection closed":             "drop",
		"an error stands first in a stream": "error-first overloaded",
		"the stream closed before content":  "fin after=0",
		"the stream ended before content":   "cut after=0",
	} {
		t.Run(name, func(t *testing.T) {
			everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
				for i, w := range ways {
					r.script(step)
					r.wake(t)
					got, err := ask(within(t), sp, w.streamed, "What is the answer?")
					if err != nil || got.text != answerText || !got.done {
						t.Errorf("%s: %+v, %v", w.name, got, err)
					}
					route := r.routes.waitLast(t, i+1)
					if len(route.Tries) != 2 || route.Tries[0].Fail == "" || route.Status != 200 {
						t.Errorf("%s: status %d, tries %+v", w.name, route.Status, route.Tries)
					}
				}
				r.strict(t)
			})
		})
	}
}

func TestAToolLoopGoesOnWithTheOtherKey(t *testing.T) {
	everySDK(t, func(t *testing.T, s sdk, r *rig, sp speaker) {
		for _, w := range ways {
			r.wake(t)
			r.script("429 rate retry-after=60s")
			if _, last, err := sp.loop(within(t), w.streamed); err != nil || last.text != answerText {
				t.Errorf("%s: %+v, %v", w.name, last, err)
			}
		}
		if second := len(r.vendor.CallsOf(secondKey)); second == 0 {
			t.Error("the second key was never asked")
		}
		r.strict(t)
	})
}

func TestAStreamCutInTheMiddleIsAnError(t *testing.T) {
	for name, step := range map[string]string{
		"ended as if it were over": "cut after=2",
		"closed inside of a chunk": "fin after=2",
		"reset":                    "rst after=2",
		"broken by an error event": "error server after=2",
		"all said but not ended":   "cut after=end",
	} {
		t.Run(name, func(t *testing.T) {
			everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
				r.script(step)
				got, err := sp.stream(within(t), "What is the answer?")
				if err == nil || got.done {
					t.Errorf("a cut reply reads as a finished one: %+v, %v", got, err)
				}
				if _, words := sp.told(err); words == "" {
					t.Errorf("the SDK knows no error of its API in %v", err)
				}
				if got.text == "" || !strings.HasPrefix(answerText, got.text) {
					t.Errorf("what came before reads %q", got.text)
				}
				if route := r.routes.waitLast(t, 1); len(route.Tries) != 1 || route.Tries[0].Fail == "" || route.Status < 400 {
					t.Errorf("status %d, tries %+v", route.Status, route.Tries)
				}
				if second := len(r.vendor.CallsOf(secondKey)); second != 0 {
					t.Errorf("the second key was asked %d times after bytes were out", second)
				}
			})
		})
	}
}

func TestAWholeReplyCutInTheMiddleComesFromTheOtherKey(t *testing.T) {
	everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
		for i, step := range []string{"cut after=2", "fin after=2", "rst after=2"} {
			r.wake(t)
			r.script(step)
			got, err := sp.whole(within(t), "What is the answer?")
			if err != nil || got.text != answerText || !got.done {
				t.Errorf("%s: %+v, %v", step, got, err)
			}
			if route := r.routes.waitLast(t, i+1); len(route.Tries) != 2 {
				t.Errorf("%s: tries %+v", step, route.Tries)
			}
		}
	})
}

func TestALateFirstWordAndOddBytesChangeNothing(t *testing.T) {
	for name, step := range map[string]string{
		"written seven bytes at a time": "ok split=7",
		"lines that end in CR LF":       "ok crlf",
		"no blank behind data:":         "ok tight",
		"a packed body":                 "ok gzip",
	} {
		t.Run(name, func(t *testing.T) {
			everySDK(t, func(t *testing.T, _ sdk, r *rig, sp speaker) {
				r.vendor.Script(standin.AnyKey, standin.Must(step+" x9")...)
				for _, w := range ways {
					if got, err := ask(within(t), sp, w.streamed, "What is the answer?"); err != nil || got.text != answerText || !got.done {
						t.Errorf("%s: %+v, %v", w.name, got, err)
					}
				}
			})
		})
	}
}

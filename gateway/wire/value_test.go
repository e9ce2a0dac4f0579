package wire

import (
	"strings"
	"testing"
)

func TestAValueIsLookedIntoWithoutDecoding(t *testing.T) {
	v, err := ReadValue([]byte(` {"a\u0062":1.50,"s":"x\ny","l":[1,null,"z"],"t":true,"n":null,"o":{"k":{}}} `))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("ab").Number(); got != "1.50" {
		t.Errorf("a number keeps its spelling behind an escaped key: got %q", got)
	}
	if got := v.Get("s").Text(); got != "x\ny" {
		t.Errorf("a string is decoded: got %q", got)
	}
	if !v.Get("t").True() || !v.Get("n").None() || !v.Get("gone").None() || v.Get("n").Raw() != nil {
		t.Error("truths, null and what isn't there are told apart")
	}
	var kinds strings.Builder
	v.Get("l").Elements(func(e Value) { kinds.WriteByte(e.Kind()) })
	if kinds.String() != "0n\"" {
		t.Errorf("elements come in order: got %q", kinds.String())
	}
	var keys []string
	v.Members(func(k string, _ Value) { keys = append(keys, k) })
	if got := strings.Join(keys, " "); got != "ab s l t n o" {
		t.Errorf("members come in order: got %q", got)
	}
	if n, ok := v.Get("s").Int(); ok || n != 0 {
		t.Error("a string is no number")
	}
}

func TestABodyThatIsNoJSONHasNoValue(t *testing.T) {
	for _, body := range []string{"", "{", `{"a":1}x`, "\x00"} {
		if _, err := ReadValue([]byte(body)); err == nil {
			t.Errorf("%q must be refused", body)
		}
	}
}

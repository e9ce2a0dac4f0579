package wire

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASealTravelsUnderOurMark(t *testing.T) {
	for name, s := range map[string]Seal{
		"of Gemini":                 {API: Gemini, Vendor: "google", Data: "c2ln<&>"},
		"of OpenAI, with its id":    {API: Responses, Vendor: "openai", Data: "gAAAAx", ID: "rs_1"},
		"of Claude, redacted":       {API: Messages, Data: "EmwK", Redacted: true},
		"of a vendor without names": {API: Chat, Data: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			mark := s.Mark("")
			if !strings.HasPrefix(mark, "magpie1.") {
				t.Errorf("the mark is at its head: %q", mark)
			}
			for _, m := range []string{mark, s.MarkBase64("")} {
				for _, api := range Protocols {
					got := ReadSeal(api, m)
					if got == nil {
						t.Fatalf("%q is not recognised", m)
					}
					if diff := cmp.Diff(s, *got); diff != "" {
						t.Error(diff)
					}
				}
			}
			if _, err := base64.StdEncoding.DecodeString(s.MarkBase64("")); err != nil {
				t.Errorf("base64 from its first to its last letter: %v", err)
			}
		})
	}
}

func TestWhoMadeASealIsTold(t *testing.T) {
	s := Seal{API: Gemini, Data: "x"}
	if got := ReadSeal(Messages, s.Mark("google")); got.Vendor != "google" {
		t.Errorf("got %q", got.Vendor)
	}
	s.Vendor = "vertex"
	if got := ReadSeal(Messages, s.Mark("google")); got.Vendor != "vertex" {
		t.Errorf("the seal's own word counts: got %q", got.Vendor)
	}
}

func TestASealIsReadForWhatItIs(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want *Seal
	}{
		"none is none":                         {"", nil},
		"Claude's own":                         {"EqQB", &Seal{API: Messages, Data: "EqQB"}},
		"OpenAI's in the wrong place":          {"gAAAAabc", &Seal{API: Responses, Data: "gAAAAabc"}},
		"our mark with something else in it":   {"magpie1.!!", nil},
		"our mark with nothing in it":          {"magpie1.", nil},
		"our mark around no JSON":              {"magpie1." + base64.StdEncoding.EncodeToString([]byte("x")), nil},
		"another's mark is not ours":           {"magpie2.eyJ9", &Seal{API: Messages, Data: "magpie2.eyJ9"}},
		"ours only at the very head":           {"xmagpie1.e30=", &Seal{API: Messages, Data: "xmagpie1.e30="}},
		"base64 around no mark is a signature": {"aGVsbG8=", &Seal{API: Messages, Data: "aGVsbG8="}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ReadSeal(Messages, c.data)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyWhoMadeASealHasItBack(t *testing.T) {
	for name, c := range map[string]struct {
		s      *Seal
		api    Protocol
		vendor string
		want   bool
	}{
		"the same vendor":              {&Seal{API: Messages, Vendor: "anthropic", Data: "x"}, Messages, "anthropic", true},
		"another vendor":               {&Seal{API: Messages, Vendor: "minimax", Data: "x"}, Messages, "anthropic", false},
		"another API":                  {&Seal{API: Gemini, Vendor: "v", Data: "x"}, Messages, "v", false},
		"nobody known, the same API":   {&Seal{API: Messages, Data: "x"}, Messages, "anthropic", true},
		"a target that is not known":   {&Seal{API: Messages, Vendor: "a", Data: "x"}, Messages, "", true},
		"a seal with nothing in it":    {&Seal{API: Messages}, Messages, "", false},
		"no seal at all, asked anyway": {nil, Messages, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.s.For(c.api, c.vendor); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzSealsAreReadWithoutHarm(f *testing.F) {
	f.Add("magpie1.e30=")
	f.Add((&Seal{API: Gemini, Data: "x"}).Mark("v"))
	f.Add((&Seal{API: Gemini, Data: "x"}).MarkBase64("v"))
	f.Fuzz(func(t *testing.T, data string) {
		s := ReadSeal(Messages, data)
		if strings.HasPrefix(data, "magpie1.") && s != nil && s.Data == data {
			t.Error("our mark went on as a signature")
		}
	})
}

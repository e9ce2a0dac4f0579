package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

const canary = "sk-canary-0123456789-canary"

func TestASecretIsMaskedHoweverItIsPrinted(t *testing.T) {
	type holder struct {
		Key    Secret
		Inner  struct{ Keys []Secret }
		ByName map[string]Secret
		Where  *Secret
		Any    any
	}
	s := Secret(canary)
	h := holder{Key: s, ByName: map[string]Secret{"a": s}, Where: &s, Any: s}
	h.Inner.Keys = []Secret{s}

	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%T", "%U", "%b", "%t"} {
		fmt.Fprintf(&out, verb+"\n", h)
		fmt.Fprintf(&out, verb+"\n", &h)
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", &s)
		fmt.Fprintf(&out, verb+"\n", []Secret{s})
	}
	fmt.Fprintln(&out, h, s, fmt.Errorf("key %v, %s, %q", s, s, s))
	if err := json.NewEncoder(&out).Encode(h); err != nil {
		t.Fatal(err)
	}
	if err := toml.NewEncoder(&out).Encode(map[string]any{"key": s, "keys": []Secret{s}}); err != nil {
		t.Fatal(err)
	}
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("a", "key", s, "where", &s, "in", h, "all", []Secret{s}, slog.Group("g", "key", s))
	}
	for _, form := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%X", canary), fmt.Sprintf("% x", canary), canary[5:22]} {
		if at := strings.Index(out.String(), form); at >= 0 {
			t.Errorf("the secret shows: …%s…", out.String()[max(0, at-80):at+10])
		}
	}
	if !strings.Contains(out.String(), "sk-c…nary") {
		t.Error("the mask shows nowhere, so nothing was printed")
	}
	if s.Reveal() != canary {
		t.Error("Reveal does not give the value")
	}
}

func TestAShortSecretIsMaskedWhole(t *testing.T) {
	for secret, want := range map[string]string{"": "", "a": "…", "12345678": "…", "123456789": "1234…6789"} {
		if got := Mask(secret); got != want {
			t.Errorf("%q is masked as %q; want %q", secret, got, want)
		}
	}
}

func TestAProblemNeverShowsASecret(t *testing.T) {
	const odd = "canary7Qx/Zl+55w=="
	for name, file := range map[string]string{
		"beside another mistake":        `[providers.a]` + "\n" + `keys = [{ value = "` + odd + `", wieght = 1 }]`,
		"under a misspelled key":        `[providers.a]` + "\n" + `keys = [{ valeu = "` + odd + `" }]`,
		"as a key of its own":           `[providers.a]` + "\n" + `keys = ["` + odd + `"]`,
		"at the wrong place":            `[providers.a]` + "\n" + `api_key = "` + odd + `"`,
		"at the top":                    `openai = "` + odd + `"`,
		"in a table of another name":    `[provider.a]` + "\n" + `keys = [{ value = "` + odd + `" }]` + "\nsink = 3",
		"where a variable's name goes":  `[providers.a]` + "\n" + `keys = [{ env = "` + odd + `" }]`,
		"two secrets":                   `[providers.a]` + "\n" + `keys = [{ value = "` + odd + `", env = "A" }]`,
		"in a header":                   `[providers.a]` + "\n" + `headers = { "a b" = "c", Authorization = "` + odd + `" }`,
		"in a header of the wrong type": `[providers.a]` + "\n" + `headers = "` + odd + `"`,
		"in a proxy":                    `proxy = "htp://me:` + odd + `@proxy.example"`,
		"in a proxy without a scheme":   `proxy = "me:canary7Qx@proxy.example:80"`,
		"in a URL":                      `[providers.a]` + "\n" + `chat = "https://me:canary7Qx@relay.example"`,
		"in a URL's query":              `[providers.a]` + "\n" + `chat = "https://relay.example?key=canary7Qx"`,
		"on several lines":              `[providers.a]` + "\n" + `keys = [{ value = """` + "\n" + odd + "\n" + `""", wieght = 1 }]`,
		"in several lines of text":      `[[providers.a.keys]]` + "\n" + `value = """` + odd + `""" ` + "\n" + `value = ""`,
		"without quotes":                `[providers.a]` + "\n" + `keys = [{ value = ` + odd + ` }]`,
		"without quotes, a number":      `[providers.a]` + "\n" + `keys = [{ value = 7777canary7Qx }]`,
		"without the end quote":         `[providers.a]` + "\n" + `keys = [{ value = "` + odd + ` }]`,
		"before a mistake":              `[providers.a]` + "\n" + `keys = [{ value = "` + odd + `" ]`,
		"after a mistake":               `[providers.a]` + "\n" + `keys = [{ name = x, value = "` + odd + `" }]`,
		"on a line of its own":          "[providers.a]\nkeys = [\n" + odd + "\n]",
		"with a maker's mark":           `name = "a" # ` + canary + "\n" + `listen = 3 # ` + canary,
		"in a command":                  `[providers.a]` + "\n" + `keys = [{ command = "echo ` + canary + `", x = 1 }]`,
		"in a bearer header of a line":  `listen = 3 # Bearer ` + odd,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("config.toml", []byte(file))
			broken, ok := errors.AsType[*Errors](err)
			if !ok {
				t.Fatalf("it parses: %v", err)
			}
			for _, said := range []string{err.Error(), fmt.Sprintf("%+v", broken.Problems)} {
				if strings.Contains(said, "canary") {
					t.Errorf("it shows:\n%s", said)
				}
			}
		})
	}
}

func TestTheLinesOfAGoodConfigShowNoSecret(t *testing.T) {
	c := parse(t, "proxy = \"http://me:canary@proxy.example\"\n[providers.a]\nname = \"shown\"\nheaders = { X = \"canary\" }\nkeys = [{ name = \"also\", value = \"canary\" }]\n")
	all := strings.Join(c.Lines, "\n")
	if strings.Contains(all, "canary") {
		t.Errorf("they show it:\n%s", all)
	}
	if !strings.Contains(all, `name = "shown"`) || !strings.Contains(all, `name = "also", value = "******"`) {
		t.Errorf("they hide too much:\n%s", all)
	}
}

func TestALineIsFitForATerminal(t *testing.T) {
	problems := refused(t, "x = 1 # \x1b[31m red \xff \u0085 "+strings.Repeat("long ", 100))
	source := problems[0].Source
	if strings.ContainsFunc(source, unicode.IsControl) || !utf8.ValidString(source) || len([]rune(source)) > shown+1 {
		t.Errorf("it shows %q", source)
	}
}

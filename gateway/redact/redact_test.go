package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dev.magpie/gateway/redact"
)

const (
	hexKey = "0123456789abcdef0123456789abcdef"
	b64Key = "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5"
	jwt    = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ"
)

func TestSecretsAreMasked(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"OpenAI's":                          {"Incorrect API key provided: sk-proj-AbCdEf123456.", "Incorrect API key provided: sk-p…."},
		"Anthropic's":                       {"x-api-key sk-ant-api03-aaaa-bbbb_cccc is bad", "x-api-key sk-a… is bad"},
		"Google's":                          {"API key not valid: AIzaSECRETKEY", "API key not valid: AIza…"},
		"Google's in a URL":                 {`Post "https://x/v1beta/models/gemini:generateContent?key=AIzaSyA1234567890&alt=sse": EOF`, `Post "https://x/v1beta/models/gemini:generateContent?key=AIza…&alt=sse": EOF`},
		"any key in a URL":                  {"GET /v1beta/models?key=CLIENTKEY", "GET /v1beta/models?key=…"},
		"GitHub's":                          {"token ghp_16C7e42F292c6912E7 or gho_16C7e42F292c6912E7", "token ghp_… or gho_…"},
		"xAI's":                             {"(xai-AbCdEf0123456789)", "(xai-…)"},
		"Groq's":                            {"gsk_abcdefgh12345678", "gsk_…"},
		"Google's refresh token":            {"refresh 1//0abcdefghijklmnop", "refresh …"},
		"a JWT":                             {"id " + jwt + ", expired", "id eyJh…, expired"},
		"a Bearer header":                   {"Authorization: Bearer abcdef", "Authorization: Bearer …"},
		"a Bearer in prose":                 {"missing Bearer token", "missing Bearer token"},
		"a Bearer of digits":                {"sent bearer hunter22", "sent bearer …"},
		"a long Bearer":                     {"Bearer abcdefghijklmnop", "Bearer abcd…"},
		"Basic":                             {"authorization=Basic dXNlcjpwYXNzd29yZA==", "authorization=Basic dXNl…"},
		"Basic in prose":                    {"only Basic authentication is known", "only Basic authentication is known"},
		"a header":                          {"x-api-key: abc", "x-api-key: …"},
		"Go's print of headers":             {"map[X-Goog-Api-Key:[abcdefghijkl] Accept:[*/*]]", "map[X-Goog-Api-Key:[abcdefghijkl] Accept:[*/*]]"},
		"JSON":                              {`{"api_key":"abc","model":"m"}`, `{"api_key":"…","model":"m"}`},
		"JSON with an escape in it":         {`{"password":"a\"bcdefghijklmnopq","x":1}`, `{"password":"…","x":1}`},
		"JSON in JSON":                      {`"{\"access_token\":\"abcdefghijklmnop\",\"n\":1}"`, `"{\"access_token\":\"abcd…\",\"n\":1}"`},
		"camel case":                        {`refreshToken: 'abcdefghijklmnop'`, `refreshToken: 'abcd…'`},
		"a query of several":                {"a=1&api_key=abcdefghijkl&token=xyz&b=2", "a=1&api_key=abcd…&token=…&b=2"},
		"an escaped query":                  {`\u0026key=abcdefghijkl\u0026x=1`, `\u0026key=abcd…\u0026x=1`},
		"a query in a query":                {"next=%2Fv1%3Fkey%3Dabcdefghijkl", "next=%2Fv1%3Fkey%3Dabcd…"},
		"a password, whatever it is":        {"password: swordfish", "password: …"},
		"a password of words":               {`password="correct horse battery staple"`, `password="corr…"`},
		"a cookie to the end of its line":   {"Cookie: a=b; session=c\nHost: h", "Cookie: …\nHost: h"},
		"a URL's userinfo":                  {"dial http://user:secretpw@proxy:8080/x", "dial http://user…@proxy:8080/x"},
		"a short userinfo":                  {"http://u:p@h/", "http://…@h/"},
		"a token as a URL's user":           {"https://abcdefghijklmnop@host/x", "https://abcd…@host/x"},
		"hex near the word key":             {"API key " + hexKey + " is disabled", "API key 0123… is disabled"},
		"base64 near the word token":        {"your token (" + b64Key + ") expired", "your token (Zm9v…) expired"},
		"a UUID near the word key":          {"no such key: 01234567-89ab-cdef-0123-456789abcdef", "no such key: 0123…"},
		"a key of two halves":               {"key " + hexKey + ".AbCdEfGhIjKlMnOp bad", "key 0123… bad"},
		"after an escaped line end":         {`line\nsk-abcdefghijkl`, `line\nsk-a…`},
		"behind a letter":                   {"xsk-abcdefghijkl0123456789", "xsk-a…"},
		"behind a percent sign":             {"%3Dsk-abcdefghijkl", "%3Dsk-a…"},
		"a private key":                     {"-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nrest", "-----BEGIN RSA PRIVATE KEY-----…-----END RSA PRIVATE KEY-----\nrest"},
		"a private key that is cut off":     {"-----BEGIN PRIVATE KEY-----\nMIIabc", "-----BEGIN PRIVATE KEY-----…"},
		"several":                           {"sk-aaaaaaaaaaaa then sk-bbbbbbbbbbbb", "sk-a… then sk-b…"},
		"AWS":                               {"AKIAIOSFODNN7EXAMPLE", "AKIA…"},
		"a vendor's own mask":               {"Incorrect API key provided: sk-abcd****wxyz", "Incorrect API key provided: sk-abcd****wxyz"},
		"a token with a slash":              {"token=abc/def+ghi==", "token=…"},
		"a field of a refresh":              {"grant_type=refresh_token&refresh_token=abcdefghijkl&client_secret=q", "grant_type=refresh_token&refresh_token=abcd…&client_secret=…"},
		"an error of a request with spaces": {"authorization : 'Bearer abcdefghijkl'", "authorization : 'Bear…'"},
	} {
		t.Run(name, func(t *testing.T) {
			got := redact.Mask(c.in)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if again := redact.Mask(got); again != got {
				t.Errorf("masked again: %s", again)
			}
		})
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, s := range []string{
		"",
		"rate limit reached for claude-sonnet-4-5-20250929 in organization",
		"This API key does not have access to model claude-sonnet-4-5-20250929",
		`{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 8192 > 4096"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`,
		"invalid x-api-key, request req_011CSHoEeqs5C35K2UUqR7Fy",
		`{"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}}`,
		`unknown key "ruting" — did you mean "routing"?`,
		`{"error":{"message":"bad","param":"key","code":"invalid_api_key"}}`,
		"config.toml:14:1: unknown key: temperature",
		"key-not-allowed",
		"The monkey turned: right",
		"dial tcp 127.0.0.1:3425: connect: connection refused",
		"http://127.0.0.1:3425/v1/models?limit=20&format=text",
		"mail user@host.example about https://docs.example/keys",
		"01234567-89ab-cdef-0123-456789abcdef",
		"user_0123456789abcdef_account__session_01234567-89ab-cdef-0123-456789abcdef",
		`{"token_count": 1234, "price_per_token": 0.000002}`,
		"gpt-5.4 » codex/work 200 14.2s",
		`"prompt_cache_key":"conversation-of-today"`,
		"first_token: 30s",
		"token: 4096",
		"日本語のキー: 値",
		"-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----",
	} {
		if got := redact.Mask(s); got != s {
			t.Errorf("got  %s\nwant %s", got, s)
		}
	}
}

func TestNothingSuspiciousCostsNoAllocation(t *testing.T) {
	m := redact.New()
	m.Known("a-secret-that-is-known-0123456789")
	s := strings.Repeat("relay/a rests 60s: rate limit, then codex/work answered on try 2. ", 20)
	if n := testing.AllocsPerRun(100, func() { _ = m.Mask(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The bug report: a Gemini key in the URL of an error, and in a vendor's echo.
func TestAKeyInAURLNeverEndsInAText(t *testing.T) {
	m := redact.New()
	m.Known("AIzaSECRETKEY")
	for _, s := range []string{
		`Post "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent?key=AIzaSECRETKEY": dial tcp 127.0.0.1:1: connect: connection refused`,
		"API key not valid: AIzaSECRETKEY",
		`{"error":{"code":400,"message":"API key not valid: AIzaSECRETKEY","status":"INVALID_ARGUMENT"}}`,
		"POST /v1beta/models/gemini-x:generateContent?key=CLIENTKEY",
	} {
		got := m.Mask(s)
		if strings.Contains(got, "SECRETKEY") || strings.Contains(got, "CLIENTKEY") {
			t.Errorf("%s", got)
		}
	}
}

func TestKnownValuesAreMaskedWhateverTheyLookLike(t *testing.T) {
	m := redact.New()
	m.Known("my plain pass phrase", "quo\"te and \\ slash/plus+", "tooshort"[:7], "eightltr", "")
	for in, want := range map[string]string{
		"it was my plain pass phrase indeed":          "it was … indeed",
		"only plain pass phr of it":                   "onl… of it",
		"my plain pa is eleven, and stays":            "my plain pa is eleven, and stays",
		`{"x":"quo\"te and \\ slash/plus+"}`:          `{"x":"…"}`,
		"?x=quo%22te+and+%5C+slash%2Fplus%2B&y=1":     "?x=…&y=1",
		"toosho(r)t stays, as tooshor does":           "toosho(r)t stays, as tooshor does",
		"an eightltr goes":                            "an … goes",
		"my plain pass phrasemy plain pass phrase":    "……",
		"not known, but a token: sk-abcdefghijklmnop": "not known, but a token: sk-a…",
	} {
		if got := m.Mask(in); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	b := []byte("nothing here")
	if got := m.MaskBytes(b); &got[0] != &b[0] {
		t.Error("bytes without a secret were copied")
	}
	if got := m.MaskBytes([]byte("an eightltr")); string(got) != "an …" {
		t.Errorf("%s", got)
	}
	var none *redact.Masker
	if got := none.Mask("sk-abcdefghijkl"); got != "sk-a…" {
		t.Errorf("without a masker: %s", got)
	}
}

func TestOnlyTheNewestValuesAreKept(t *testing.T) {
	m := redact.New()
	value := func(i int) string { return fmt.Sprintf("value-number-%04d-%x", i, i*i*7919) }
	for i := range 600 {
		m.Known(value(i))
	}
	if got := m.Mask("x " + value(599) + " y"); got != "x valu… y" {
		t.Errorf("the newest: %s", got)
	}
	if got := m.Mask(value(0)[8:]); got != value(0)[8:] {
		t.Errorf("the oldest is still known: %s", got)
	}
}

func TestLearningWhileMaskingConcurrentSafe(t *testing.T) {
	m := redact.New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				s := fmt.Sprintf("secret-of-%d-and-%d-xyz", g, i)
				m.Known(s)
				if got := m.Mask("a " + s + " b"); strings.Contains(got, s) {
					t.Errorf("not masked right after it was told: %s", got)
				}
			}
		})
	}
	wg.Wait()
}

// leaks finds a part of a secret of twelve letters in a text.
func leaks(secret, text string) string {
	for i := 0; i+12 <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+12]) {
			return secret[i : i+12]
		}
	}
	return ""
}

func letters(t *rapid.T, alphabet string, least, most int, label string) string {
	return rapid.StringOfN(rapid.RuneFrom([]rune(alphabet)), least, most, -1).Draw(t, label)
}

const (
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hexes    = "0123456789abcdef"
)

func TestNoFormOfSecretGetsThroughAnywhere(t *testing.T) {
	forms := []func(t *rapid.T) string{
		func(t *rapid.T) string { return "sk-" + letters(t, alphabet+"-_", 20, 60, "sk") },
		func(t *rapid.T) string { return "sk-ant-api03-" + letters(t, alphabet+"-_", 20, 100, "ant") },
		func(t *rapid.T) string { return "AIza" + letters(t, alphabet+"-_", 35, 35, "google") },
		func(t *rapid.T) string { return "ghp_" + letters(t, alphabet, 36, 36, "github") },
		func(t *rapid.T) string { return "xai-" + letters(t, alphabet, 80, 80, "xai") },
		func(t *rapid.T) string {
			part := func(label string) string {
				return base64.RawURLEncoding.EncodeToString([]byte(`{"` + letters(t, alphabet, 10, 40, label) + `":1}`))
			}
			return part("head") + "." + part("claims") + "." + letters(t, alphabet+"-_", 43, 43, "signature")
		},
	}
	fields := []string{
		"%s", "key=%s", "?key=%s&x=1", "Authorization: Bearer %s", `"api_key":"%s"`, `{\"token\":\"%s\"}`, "x-api-key: %s\n",
		"http://user:%s@host/", "bad key %s.", "(%s)", "'%s'", "token=%s;", `\n%s\n`, "%%3D%s%%26", "got %s, not it", "[%s]", "<%s>",
	}
	valueOnly := []func(t *rapid.T) string{
		func(t *rapid.T) string { return letters(t, hexes, 32, 64, "hex") },
		func(t *rapid.T) string { return letters(t, alphabet+"+/", 24, 60, "base64") },
	}
	valueFields := []string{"key=%s", "?key=%s&x=1", "Authorization: Bearer %s", `"api_key":"%s"`, `{\"token\":\"%s\"}`, "x-api-key: %s\n", "http://user:%s@host/", "token=%s;", "password: %s"}
	rapid.Check(t, func(t *rapid.T) {
		var secret, field string
		if rapid.Bool().Draw(t, "prefixed") {
			secret, field = rapid.SampledFrom(forms).Draw(t, "form")(t), rapid.SampledFrom(fields).Draw(t, "field")
		} else {
			secret, field = rapid.SampledFrom(valueOnly).Draw(t, "form")(t), rapid.SampledFrom(valueFields).Draw(t, "field")
			if strings.Contains(secret, "/") && strings.Contains(field, "http") {
				t.Skip("a slash ends a URL's authority")
			}
		}
		words := rapid.SampledFrom([]string{"", "error: ", "POST /v1 ", `{"message":"`, "the key is wrong; "})
		text := words.Draw(t, "before") + fmt.Sprintf(field, secret) + words.Draw(t, "after")
		got := redact.Mask(text)
		if part := leaks(secret, got); part != "" {
			t.Fatalf("%q of the secret is in %q\nfrom %q", part, got, text)
		}
	})
}

func TestNoPartOfAKnownValueGetsThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 12, 40, -1) // much overlap
		any := rapid.StringN(12, 60, -1)
		var secrets []string
		for i := range rapid.IntRange(1, 4).Draw(t, "n") {
			secrets = append(secrets, rapid.OneOf(few, any).Draw(t, fmt.Sprint("secret", i)))
		}
		m := redact.New()
		m.Known(secrets...)
		var text strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			s := rapid.SampledFrom(secrets).Draw(t, "of")
			from := rapid.IntRange(0, len(s)).Draw(t, "from")
			text.WriteString(s[from:rapid.IntRange(from, len(s)).Draw(t, "to")])
			text.WriteString(rapid.SampledFrom([]string{"", " ", "a", "ba", "x"}).Draw(t, "between"))
		}
		got := m.Mask(text.String())
		for _, s := range secrets {
			if part := leaks(s, got); part != "" {
				t.Fatalf("%q of %q is in %q, from %q", part, s, got, text.String())
			}
		}
	})
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{
		`{"api_key":"abcdefghijkl","n":12345678901234567890}`, "Authorization: Bearer " + jwt, "http://a:b@c/?key=%22x", `\"token\": \"abc\\\"`,
		"key " + hexKey, "-----BEGIN PRIVATE KEY-----", "password='", "token=…", "sk-a…bcdefghijk", "cookie: a\nb", `["key","\u0026key=1"]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := redact.Mask(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("a letter was cut: %q", got)
		}
		if json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
			t.Errorf("JSON was broken: %s\nfrom %s", got, s)
		}
		if again := redact.Mask(got); again != got {
			t.Errorf("masked again: %q\nbefore: %q\nfrom: %q", again, got, s)
		}
	})
}

func FuzzKnown(f *testing.F) {
	f.Add("a-secret-of-some-length", "key: ", " end")
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaa", "aa")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		if len(secret) < 12 {
			return
		}
		m := redact.New()
		m.Known(secret)
		for _, text := range []string{before + secret + after, before + secret[:len(secret)-len(secret)/4] + after, after + before} {
			got := m.Mask(text)
			if part := leaks(secret, got); part != "" {
				t.Errorf("%q of %q is in %q", part, secret, got)
			}
		}
	})
}

func BenchmarkMask(b *testing.B) {
	m := redact.New()
	for i := range 20 {
		m.Known(fmt.Sprintf("sk-secret-number-%d-%x", i, i*7919*7919))
	}
	clean := strings.Repeat("relay/a rests 60s: rate limit, then codex/work answered on try 2. ", 20)
	dirty := clean + "Authorization: Bearer " + jwt
	for name, s := range map[string]string{"clean": clean, "dirty": dirty} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				_ = m.Mask(s)
			}
		})
	}
	b.Run("bytes", func(b *testing.B) {
		body := bytes.Repeat([]byte(clean), 200)
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			_ = m.MaskBytes(body)
		}
	})
}

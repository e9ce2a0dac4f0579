package redact_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"dev.magpie/gateway/redact"
)

const openAIKey = "sk-proj-AbCdEf0123456789AbCdEf0123456789"

// all looks for everything.
func all(words ...string) *redact.Cloak {
	return redact.NewCloak(redact.Rules{Secrets: true, Personal: true, Words: words}, []byte("a key of thirty two bytes, or so"))
}

// said is a Chat request in which a person says something.
func said(t testing.TB, text string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": text}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// masked is what a vendor would read of it.
func masked(t testing.TB, c *redact.Cloak, text string) string {
	t.Helper()
	body := said(t, text)
	out, v := c.Mask(body)
	if v == nil {
		if string(out) != string(body) {
			t.Fatalf("changed without a vault: %s", out)
		}
		return text
	}
	var got struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if back := v.Restore(out); string(back) != string(body) {
		t.Errorf("turned back\n%s\nwant\n%s", back, body)
	}
	return got.Messages[0].Content
}

var placeholder = regexp.MustCompile(`MAGPIE_([A-Z]+)_[a-z2-7]{12}`)

// kinds is a text with placeholders in short: {SECRET}.
func kinds(s string) string { return placeholder.ReplaceAllString(s, "{$1}") }

func TestWhatIsMaskedInARequest(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"OpenAI's key":               {"use " + openAIKey + " for it", "use {SECRET} for it"},
		"Anthropic's":                {"ANTHROPIC_API_KEY=sk-ant-api03-aaaa-bbbb_cccc01", "ANTHROPIC_API_KEY={SECRET}"},
		"GitHub's":                   {"git clone https://x-access-token:ghp_16C7e42F292c6912E7aaaa@github.com/a/b", "git clone https://x-access-token:{SECRET}@github.com/a/b"},
		"AWS's":                      {"aws_access_key_id = AKIAIOSFODNN7EXAMPL3\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_access_key_id = {SECRET}\naws_secret_access_key = {SECRET}"},
		"Stripe's":                   {`stripe.Key = "` + "sk_" + `live_4eC39HqLyjWDarjtT1zdp7dc"`, `stripe.Key = "{SECRET}"`},
		"a JWT":                      {"token " + jwt, "token {SECRET}"},
		"a Bearer":                   {"curl -H 'Authorization: Bearer abcdef0123456789' x", "curl -H 'Authorization: Bearer {SECRET}' x"},
		"a connection string":        {"postgres://app:s3cr3tpw@db.internal:5432/app", "postgres://app:{SECRET}@db.internal:5432/app"},
		"a private key":              {"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75bhLKEZQUBTyxrWB7C4D2Kx\nabc=\n-----END RSA PRIVATE KEY-----\n", "-----BEGIN RSA PRIVATE KEY-----{SECRET}-----END RSA PRIVATE KEY-----\n"},
		"a password in JSON in text": {`{"user":"me","password":"hunter2!x"}`, `{"user":"me","password":"{SECRET}"}`},
		"an env file":                {"DB_PASSWORD=swordfish-9\nPORT=80", "DB_PASSWORD={SECRET}\nPORT=80"},
		"an API key in YAML":         {"api_key: 0123456789abcdef0123456789abcdef", "api_key: {SECRET}"},
		"two fields on a line":       {"password=swordfish99 PASSWORD=swordfish99x2 swordfish99 swordfish99x2", "password={SECRET} PASSWORD={SECRET} {SECRET} {SECRET}"},
		"a key with padding":         {"key: AbCdEf0123456789AbCdEf0123456789==", "key: {SECRET}"},
		"a secret said again":        {`password: "hunter2xyz" and later: is hunter2xyz fine?`, `password: "{SECRET}" and later: is {SECRET} fine?`},
		"an address of mail":         {"Write to Jane.Doe+x@mail.example.com.", "Write to {EMAIL}."},
		"a phone number":             {"call +49 30 901820-0 or (415) 555-2671 or 415-555-2671", "call {PHONE} or {PHONE} or {PHONE}"},
		"a card":                     {"card 4111 1111 1111 1111, or 378282246310005", "card {CARD}, or {CARD}"},
		"a bank account":             {"IBAN DE89 3704 0044 0532 0130 00 and GB82WEST12345698765432", "IBAN {IBAN} and {IBAN}"},
		"numbers of papers":          {"SSN 219-09-9999, CPF 529.982.247-25, 11010519491231002X", "SSN {ID}, CPF {ID}, {ID}"},
		"the person's own word":      {"Project Falcon, project falcon, and falcons", "{WORD}, {WORD}, and falcons"},
		"a word in another script":   {"das Straße-Projekt und 秘密計画です", "das {WORD}-Projekt und {WORD}です"},
		"two things that overlap":    {"https://me:Falcon1pw@mail.example.com/x", "https://me:{SECRET}@mail.example.com/x"},
		"what stands in escapes":     {"a \"quoted\"\t\u00e9\U0001f600 " + openAIKey + "\n\\ end", "a \"quoted\"\t\u00e9\U0001f600 {SECRET}\n\\ end"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := kinds(masked(t, all("Project Falcon", "Straße", "秘密計画"), c.in)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Code is full of words that stand before an = and are no secrets: a model that reads
// placeholders in their place could not work with it.
func TestCodeStaysAsItIs(t *testing.T) {
	for _, s := range []string{
		"const token = getToken(req)", "password = input.password", "password: string;", `{"password": "Password"}`, `type="password" autocomplete="current-password"`,
		"apiKey: process.env.API_KEY2", "api_key = os.environ['OPENAI_API_KEY_2']", "key = key1", "for key, value in items2.items():", `"key": "item-12"`,
		"Bearer ${TOKEN1}", "Authorization: Bearer <token1>", "sk-fading-circle", "div.sk-toggleable__content-1 label", "sk-learn-based-model2", "sk-...", "sk-proj-...", "OPENAI_API_KEY=your-api-key-123", "postgres://postgres:postgres@localhost/db",
		"postgres://user:${PASSWORD}@host/db", "git@github.com:a/b.git", "icon@2x.png", "lodash@4.17.21", "@param x", "commit 3f786850e387550fdab836ed7e6dc881de23001b",
		"2026-11-30 04:15:22", "1712345678901", "v1.2.3-4", "192.168.100.200", "tokens: 4096", "max_tokens=8192", "if (secret === undefined) {", "secretName: my-secret",
		"queryKey: ['todos', id2]", "const STORAGE_KEY = 'todo-app-v2'", "01234567-89ab-cdef-0123-456789abcdef", "credentials: 'include'", "token := lexer.Next()", "+20240101", "a[1]+12345678901",
		"func (k *Key) Secret() string { return k.secret2 }", "password=req.body.password2", "<input name=\"secret\" value=\"\">", "csrf_token = generate_csrf2()",
		"-----BEGIN PUBLIC KEY-----\nMIIabcdefghijklmnopqrstuvwxyz0123456789\n-----END PUBLIC KEY-----", "MAGPIE_SECRET_abcdefghijkl", "the monkey turned: right",
		"4111 1111 1111 1112", "DE89 3704 0044 0532 0130 01", "pick 1234567 fix", "1 2 3 4 5 6 7 8 9 10 11 12", "1.2.3.4.5.6.7.8.9.10", "AA", "GB82", "@", "a@", "+", "(", "(415)", "+1", "0x1234567812345678", "Server listening on 0.0.0.0:8080",
	} {
		if got := masked(t, all(), s); got != s {
			t.Errorf("got  %s\nwant %s", got, s)
		}
	}
}

package redact

import "strings"

// What is hidden in a log may be too much: nobody misses it. What a model is asked must not be:
// code is full of words that stand before an = or a colon and are no secrets. So in requests only
// what is surely a secret counts, by the rules of this file.

// judged is how much of a value tells whether it is one: of a longer one the rest is not looked at, or
// one that holds many others would be looked at once for each.
const judged = 128

// judging is the part of a value that is looked at.
func judging(v string) string { return v[:min(len(v), judged)] }

// feeble are passwords that protect nothing and are words of every other text.
var feeble = map[string]bool{
	"password": true, "passwd": true, "postgres": true, "secret": true, "changeme": true, "example": true, "example1": true, "admin123": true,
	"123456": true, "12345678": true, "123456789": true, "password1": true, "password123": true, "test1234": true, "guest": true, "root": true,
	"admin": true, "minioadmin": true, "rabbitmq": true, "redis": true, "mysql": true, "mongodb": true, "mariadb": true, "user": true, "pass": true, "test": true,
}

// template says whether a value only stands for one: ${X}, <key>, %s, xxxx, or a placeholder of ours.
func template(v string) bool {
	if v[0] == '$' || v[0] == '%' && v[len(v)-1] == '%' || strings.ContainsAny(v, "<>{}()[]…") {
		return true
	}
	for _, mark := range []string{"...", "***", "%s", "%v", Prefix} {
		if strings.Contains(v, mark) {
			return true
		}
	}
	low := strings.ToLower(v)
	for _, word := range []string{"xxxx", "your-", "your_", "yourapi", "placeholder", "redacted", "changeme", "change-me", "change_me"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return feeble[low]
}

// labels are words that stand in what is shown to people about secrets.
var labels = []string{
	"password", "passwort", "passphrase", "secret", "token", "key", "string", "required", "invalid", "enter", "your", "example", "undefined", "optional",
	"credential", "forgot", "confirm", "boolean", "default", "include", "same-origin", "unknown", "missing", "disabled", "enabled", "hidden",
}

func label(v string) bool {
	low := strings.ToLower(v)
	for _, w := range labels {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// lettersAndDigits counts both in a value, and the marks that words don't have.
func lettersAndDigits(v string) (letters, digits, marks int) {
	for i := range len(v) {
		switch b := v[i]; {
		case b >= '0' && b <= '9':
			digits++
		case alnum(b):
			letters++
		case strings.IndexByte("!@#$%^&*?+=~", b) >= 0:
			marks++
		}
	}
	return letters, digits, marks
}

// literal says whether a value can be a secret at all: long enough, letters and digits in it.
func literal(v string, least int) bool {
	v = judging(v)
	if len(v) < least || template(v) {
		return false
	}
	letters, digits, _ := lettersAndDigits(v)
	return letters > 0 && digits > 0
}

// uuid says whether v is one: those name things more often than they protect them.
func uuid(v string) bool {
	if len(v) != 36 || v[8] != '-' || v[13] != '-' || v[18] != '-' || v[23] != '-' {
		return false
	}
	return hexadecimal(strings.ReplaceAll(v, "-", ""))
}

func hexadecimal(v string) bool {
	for i := range len(v) {
		if b := v[i]; (b < '0' || b > '9') && (b < 'a' || b > 'f') && (b < 'A' || b > 'F') {
			return false
		}
	}
	return true
}

// dotted says whether v is names joined by dots, as code has them.
func dotted(v string) bool {
	if !strings.Contains(v, ".") {
		return false
	}
	for name := range strings.SplitSeq(v, ".") {
		if name == "" || name[0] >= '0' && name[0] <= '9' {
			return false
		}
		for i := range len(name) {
			if !alnum(name[i]) && name[i] != '_' {
				return false
			}
		}
	}
	return true
}

// sure says whether what begins with a vendor's prefix is one of its tokens.
func (p *prefix) sure(v string) bool {
	if strings.HasPrefix(p.text, "ey") {
		return len(v) >= 30 && strings.Contains(v[:min(len(v), 8*judged)], ".")
	}
	v = judging(v)
	rest := v[len(p.text):]
	if p.text == "sk-" {
		for _, kind := range []string{"proj-", "ant-", "or-", "svcacct-", "admin-", "live-", "lf-"} {
			if after, ok := strings.CutPrefix(rest, kind); ok && len(after) >= 8 {
				return !template(v)
			}
		}
		return random(rest) && !template(v) // pages have classes that are called so
	}
	letters, digits, _ := lettersAndDigits(rest)
	return len(rest) >= 12 && letters > 0 && (digits > 0 || capitals(rest)) && !template(v)
}

// knowing are the words in a field's name that make its key one that opens something.
var knowing = []string{"api", "secret", "access", "private", "auth", "refresh", "bearer", "client", "signing", "encrypt", "master", "license", "session", "token", "account"}

// sure says whether the value of a field called word is surely a secret.
func (h *held) sure(word string, name named, sep byte) bool {
	v := judging(h.s[h.from:h.to])
	if len(v) < 6 || template(v) || name != line && strings.ContainsAny(v, " \t\r\n") {
		return false
	}
	code := h.quote == "" && (h.spaced || sep == ':') // where a value may be an expression
	if h.quote == "" && (dotted(v) || h.to < len(h.s) && (h.s[h.to] == '(' || h.s[h.to] == '[' || h.s[h.to] == '{')) {
		return false
	}
	letters, digits, marks := lettersAndDigits(v)
	if strings.Contains(v, "/") && !random(v) {
		return false
	}
	switch name {
	case strict:
		switch {
		case letters > 0 && digits > 0, letters+digits > 0 && marks > 0 && !code:
			return true
		}
		return !code && letters > 0 && len(v) >= 8 && !label(v)
	case firm:
		if code || !endsSecret(word) {
			return len(v) >= 16 && random(v) && !uuid(v)
		}
		return letters > 0 && digits > 0 && len(v) >= 8
	case line:
		return len(v) >= 16 && digits > 0 && strings.Contains(v, "=")
	case loose:
		return len(v) >= 20 && random(v) && !uuid(v)
	case ordinary, plural:
	}
	return false
}

func endsSecret(word string) bool {
	low := strings.ToLower(word)
	for _, k := range knowing {
		if strings.Contains(low, k) {
			return true
		}
	}
	return false
}

// nearSure is how far behind a word like "key" a random run surely is one.
const nearSure = 16

// sureRun says whether a random run near such a word is one. What has a name of its own is judged by that.
func sureRun(v string) bool {
	v = judging(v)
	if strings.Contains(strings.TrimRight(v, "="), "=") {
		return false
	}
	return len(v) >= 20 && literal(v, 20) && !strings.ContainsAny(v, "/.%") && !uuid(v) && (len(v) != 40 || !hexadecimal(v))
}

// sureUser finds the secret in a URL's userinfo: its password, or a token in a name's place.
func sureUser(user string) (from int, ok bool) {
	name, pass, two := strings.Cut(user, ":")
	pass = judging(pass)
	if !two {
		name = judging(name)
		return 0, len(name) >= 20 && random(name) && !template(name)
	}
	return len(name) + 1, len(pass) >= 4 && pass != name && !template(pass)
}

// fieldSecret says whether v is surely a secret, as the value of a JSON member of that name.
func fieldSecret(key, v string) bool {
	if key == "" || v == "" || !wordly(key[len(key)-1]) {
		return false
	}
	name := nameOf(key)
	if name == ordinary || name == plural {
		return false
	}
	h := held{s: v, to: len(v), quote: `"`}
	return h.sure(key, name, ':')
}

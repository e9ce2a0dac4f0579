package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsWrong holds one line for each kind of mistake: the file, and every problem as it is printed.
func TestWhatIsWrong(t *testing.T) {
	const pair = "[providers.lamp]\nmodels = [\"m1\", \"m2\"]\nkeys = [{ name = \"desk\", env = \"A\" }]\n[providers.brook]\n" // line 5 comes next
	for _, test := range []struct{ name, file, want string }{
		// unknown keys
		{"an unknown key at the top names the nearest", `ruting = "smart"`, `1:1: unknown key "ruting": did you mean "routing"?`},
		{"an unknown key that is like none has no suggestion", `xyzzy = 1`, `1:1: unknown key "xyzzy"`},
		{"a key of another table is sent there", `fallback = []`, `1:1: unknown key "fallback": it belongs in [providers.<id>]`},
		{"an unknown table", "[provider.a]", `1:2: unknown key "provider": did you mean "providers"?`},
		{"an unknown key of a provider", "[providers.a]\n  modles = []", `2:3: unknown key "modles": did you mean "models"?`},
		{"an unknown key of a key", "[providers.a]\nkeys = [{ env = \"A\", wieght = 2 }]", `2:22: unknown key "wieght": did you mean "weight"?`},
		{"an unknown key of a key's table", "[[providers.a.keys]]\nenv = \"A\"\ncmd = \"x\"", `3:1: unknown key "cmd"`},
		{"an unknown key of an account", "[providers.a]\naccounts = [{ hoem = \"~\" }]", `2:15: unknown key "hoem": did you mean "home"?`},
		{"an unknown key of a model", "[providers.a]\nmodels = [{ id = \"m\", contxt = 1 }]", `2:23: unknown key "contxt": did you mean "context"?`},
		{"an unknown key of a price", "[providers.a]\nmodels = [{ id = \"m\", price = { inptu = 1 } }]", `2:33: unknown key "inptu": did you mean "input"?`},
		{"an unknown key of a group", "[groups.a]\nmember = []", `2:1: unknown key "member": did you mean "members"?`},
		{"an unknown key of a rule", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\nrules = [{ use = \"lamp/m1\", token = 1, images = true }]", `7:29: unknown key "token": did you mean "tokens"?`},
		{"an unknown key of an agent", "[agents.codex]\nefort = \"low\"", `2:1: unknown key "efort": did you mean "effort"?`},
		{"an unknown tier", "[agents.codex.tiers]\nsonet = \"m\"", `2:1: unknown key "sonet": did you mean "sonnet"?`},
		{"an unknown key of the screen", "[screen]\nglyph = \"auto\"", `2:1: unknown key "glyph": did you mean "glyphs"?`},
		{"an unknown key of a theme", `theme = { drak = "a", dark = "b", light = "c" }`, `1:11: unknown key "drak": did you mean "dark"?`},
		{"an unknown key of notices", "[notify]\nwhe = []", `2:1: unknown key "whe": did you mean "when"?`},
		{"a column counts characters, not bytes", "[providers.a]\nkeys = [{ name = \"größe\", env = \"A\", x = 1 }]", `2:38: unknown key "x"`},

		// wrong types
		{"a number for a string", `listen = 3425`, `1:10: "listen" must be a string, not a whole number: write it in quotes`},
		{"a string for a truth", `sink = "true"`, `1:8: "sink" must be true or false, not a string: write it without quotes`},
		{"a string for a list", `redact = "secrets"`, `1:10: "redact" must be a list, not a string: write it in [ ]`},
		{"a string for a number", `max_attempts = "3"`, `1:16: "max_attempts" must be a whole number, not a string: write it without quotes`},
		{"a fraction for a whole number", `max_attempts = 1.5`, `1:16: "max_attempts" must be a whole number, not a number`},
		{"a truth for a duration", `stall_timeout = true`, `1:17: "stall_timeout" must be a duration such as "90s", or seconds, not true or false`},
		{"a fraction for a size", `body_limit = 1.5`, `1:14: "body_limit" must be a size such as "64MB", or bytes, not a number`},
		{"a value for the providers", `providers = 1`, `1:13: "providers" must be a table, not a whole number`},
		{"a value for a provider", "[providers]\na = \"b\"", `2:5: "a" must be a table, not a string`},
		{"a list of tables for a provider", "[[providers.a]]", `1:13: "a" must be a table, not a list`},
		{"a table for the keys", "[providers.a]\nkeys = { env = \"A\" }", `2:8: "keys" must be a list, not a table`},
		{"a string for a key", "[providers.a]\nkeys = [\"A\"]", `2:9: item 1 of "keys" must be a table, not a string`},
		{"a number for a model", "[providers.a]\nmodels = [\"m\", 2]", `2:16: item 2 of "models" must be a model's id or a table, not a whole number`},
		{"a date", `routing = 2020-01-01`, `1:11: "routing" must be a string, not a date or time`},
		{"a number for a header", "[providers.a.headers]\nA = 1", `2:5: "A" must be a string, not a whole number: write it in quotes`},
		{"a number for a binding", "[keys]\nquit = 1", `2:8: "quit" must be a key's name or a list of them, not a whole number`},
		{"a list for a theme", `theme = []`, `1:9: "theme" must be a theme's name or { dark = "…", light = "…" }, not a list`},

		// words
		{"a bad order", `routing = "rotat"`, `1:11: "routing" does not take "rotat": did you mean "rotate"?`},
		{"a word in capitals", `affinity = "Turn"`, `1:12: "affinity" does not take "Turn": did you mean "turn"?`},
		{"a word like none", "[screen]\nsync = \"perhaps\"", `2:8: "sync" does not take "perhaps": write one of "auto", "on", "off"`},
		{"a bad word in a list", `redact = ["secrets", "secretz"]`, `1:22: item 2 of "redact" does not take "secretz": did you mean "secrets"?`},
		{"a word twice", `redact = ["words", "words"]`, `1:20: "words" stands twice in "redact"`},
		{"an empty word to mask", `redact_words = [""]`, `1:17: item 1 of "redact_words" is empty`},
		{"a rule that is no expression", `redact_rules = ["a("]`, `1:17: item 1 of "redact_rules" is no regular expression: missing closing )`},
		{"a rule for everything", `redact_rules = ["a*"]`, `1:17: item 1 of "redact_rules" matches nothing at all, so it would match everywhere`},
		{"manual for a provider", "[providers.a]\nrouting = \"manual\"", `2:11: "routing" does not take "manual": write one of`},
		{"a bad protocol", "[providers.a]\nkeys = [{ env = \"A\", protocol = \"message\" }]", `2:33: "protocol" does not take "message": did you mean "messages"?`},
		{"a bad effort", "[agents.codex]\neffort = \"hihg\"", `2:10: "effort" does not take "hihg": did you mean "high"?`},
		{"a bad input", "[providers.a]\nmodels = [{ id = \"m\", inputs = [\"images\"] }]", `2:33: item 1 of "inputs" does not take "images": did you mean "image"?`},
		{"a bad occasion", "[notify]\nwhen = [\"renew\"]", `2:9: item 1 of "when" does not take "renew": did you mean "renewed"?`},
		{"a bad background", `background = "darkk"`, `1:14: "background" does not take "darkk": did you mean "dark"?`},
		{"a bad policy", "[groups.a]\npolicy = \"combos\"", `2:10: "policy" does not take "combos": did you mean "combo"?`},
		{"a bad size of the screen", "[screen]\nwide_at = \"wide\"", `2:11: "wide_at" is not columns x rows: write "110x28"`},
		{"half a theme", `theme = { dark = "a" }`, `1:9: "theme" names no theme for the light background: write { dark = "…", light = "…" }`},
		{"an empty theme", `theme = ""`, `1:9: "theme" is empty`},
		{"an empty binding", "[keys]\nquit = [\"q\", \"\"]", `2:14: item 2 of "quit" is empty`},

		// numbers
		{"a number below", `max_attempts = -1`, `1:16: "max_attempts" must be 0 or more`},
		{"a cap above", "[providers.a]\naccounts = [{ cap = 100 }]", `2:21: "cap" must be from 1 to 99`},
		{"a window's cap above", "[providers.a]\naccounts = [{ window_caps = { week = 101 } }]", `2:38: "week" must be from 1 to 100`},
		{"a window twice", "[providers.a]\naccounts = [{ window_caps = { week = 1, Week = 2 } }]", `2:41: the window "Week" stands twice: case doesn't count`},
		{"a negative price", "[providers.a]\nmodels = [{ id = \"m\", price = { input = -1 } }]", `2:41: "input" must be 0 or more`},
		{"a price that is no number", "[providers.a]\nprice_rate = nan", `2:14: "price_rate" must be 0 or more`},
		{"a bad duration", `stall_timeout = "soon"`, `1:17: "stall_timeout" is not a duration: write "90s", "5m", "1h30m", or seconds without quotes`},
		{"seconds in quotes", `stall_timeout = "90"`, `1:17: "stall_timeout" is not a duration: write`},
		{"a negative duration", `stall_timeout = "-1s"`, `1:17: "stall_timeout" must be from 0 to 24h0m0s`},
		{"negative seconds", `stall_timeout = -1`, `1:17: "stall_timeout" must be from 0 to 24h0m0s`},
		{"an endless duration", `header_timeout = inf`, `1:18: "header_timeout" must be from 0 to 24h0m0s`},
		{"a bad size", `body_limit = "64 apples"`, `1:14: "body_limit" is not a size: write "64MB", "512KB", "1GB", or bytes without quotes`},
		{"a size that is too small", `body_limit = 1`, `1:14: "body_limit" must be from 1KB to 4GB`},
		{"a size that is no number", `body_limit = "nan"`, `1:14: "body_limit" is not a size: write`},

		// ids
		{"a bad id", "[providers.\"An ID\"]", `1:12: bad id "An ID": ids are small letters, digits and hyphens, and begin with a letter or digit`},
		{"an id that begins with a hyphen", "[groups.-a]", `1:9: bad id "-a": ids are`},
		{"a bad agent id", "[agents.A]", `1:9: bad id "A": ids are`},
		{"a reserved provider", "[providers.magpie]", `1:12: the id "magpie" is reserved: take another`},
		{"a reserved group", "[groups.group]", `1:9: the id "group" is reserved: take another`},
		{"a slug taken twice", "[groups.a]\nslug = \"team\"\n[groups.b]\nslug = \"team\"", `4:8: the slug "team" is taken by the group "a"`},
		{"a bad slug", "[groups.a]\nslug = \"-team\"", `2:8: "slug" is not a slug: small letters, digits and hyphens between them, 32 at most`},

		// URLs
		{"a base URL without a scheme", "[providers.a]\nchat = \"relay.example/v1\"", `2:8: "chat" is not a usable URL: it lacks http:// or https://`},
		{"a base URL of another scheme", "[providers.a]\nmessages = \"ftp://relay.example\"", `2:12: "messages" is not a usable URL: it must begin with http:// or https://`},
		{"a base URL without a host", "[providers.a]\ngemini = \"https:///v1beta\"", `2:10: "gemini" is not a usable URL: it has no host`},
		{"a base URL with a query", "[providers.a]\nchat = \"https://relay.example/v1?a=b\"", `2:8: "chat" is not a usable URL: it must not have a ? part`},
		{"a base URL with a password", "[providers.a]\nchat = \"https://me:canary@relay.example/v1\"", `2:8: "chat" is not a usable URL: it must not hold a user or password`},
		{"a base URL with a bad port", "[providers.a]\nchat = \"https://relay.example:99999/v1\"", `2:8: "chat" is not a usable URL: the port must be a number from 1 to 65535`},
		{"a base URL that is none", "[providers.a]\nchat = \"https://re lay/v1\"", `2:8: "chat" is not a usable URL: it cannot be read as a URL`},
		{"an address without a scheme", "[providers.a]\nchat = \"127.0.0.1:4000/v1\"", `2:8: "chat" is not a usable URL: it lacks http:// or https://`},
		{"a balance URL", "[providers.a]\nbalance_url = \"/usage\"", `2:15: "balance_url" is not a usable URL: it lacks http:// or https://`},
		{"a public URL with a fragment", `public_url = "https://box.example/#a"`, `1:14: "public_url" is not a usable URL: it must not have a # part`},
		{"a proxy of another scheme", `proxy = "ftp://proxy.example:1"`, `1:9: "proxy" is not a proxy: write "http://host:port"`},
		{"a proxy without a scheme", `proxy = "proxy.example:8080"`, `1:9: "proxy" is not a proxy: write`},
		{"a key's proxy", "[providers.a]\nkeys = [{ env = \"A\", proxy = \"http://\" }]", `2:30: "proxy" is not a proxy: write`},
		{"a wildcard origin", `cors_origins = ["*"]`, `1:17: item 1 of "cors_origins" is not a web origin: a wildcard would let any page in: write "https://app.example"`},
		{"an origin with a path", `cors_origins = ["https://a.example/b"]`, `1:17: item 1 of "cors_origins" is not a web origin: an origin has nothing after the host and port`},
		{"the null origin", `cors_origins = ["null"]`, `1:17: item 1 of "cors_origins" is not a web origin: an origin is scheme://host`},
		{"a bad listen address", `listen = "127.0.0.1:http"`, `1:10: "listen" is not an address to listen on: the port must be a number from 0 to 65535: write "127.0.0.1:3425"`},
		{"a listen address that is a URL", `listen = "http://127.0.0.1:3425"`, `1:10: "listen" is not an address to listen on: the host must be a name or an IP address`},
		{"sharing", `share = true`, `1:9: "share" can't be true: serving other machines needs gateway keys, and this version has none`},

		// keys
		{"a key with two secrets", "[providers.a]\nkeys = [{ env = \"A\", file = \"b\" }]", `2:22: the key has several secrets: env, file: keep one of them`},
		{"a key with no secret", "[providers.a]\nkeys = [{ name = \"x\" }]", `2:9: the key has no secret: give it one of value, env, file, command`},
		{"a key with an empty secret", "[providers.a]\nkeys = [{ value = \"\" }]", `2:19: "value" is empty`},
		{"the key itself for env", "[providers.a]\nkeys = [{ env = \"sk-canary-9\" }]", `2:17: "env" is not an environment variable's name: a key itself is given as value`},
		{"two keys of one name", "[providers.a]\nkeys = [{ name = \"Work\", env = \"A\" },\n  { name = \"work\", env = \"B\" }]", `3:3: the name "work" stands twice in "a", first in line 2: case doesn't count`},
		{"a name that a nameless key has", "[providers.a]\nkeys = [{ name = \"key2\", env = \"A\" }, { env = \"B\" }]", `2:39: the name "key2" stands twice in "a", first in line 2`},
		{"an account named like a key", "[providers.a]\nkeys = [{ name = \"me\", env = \"A\" }]\naccounts = [{ name = \"ME\" }]", `3:13: the name "ME" stands twice in "a", first in line 2`},
		{"a name with a slash", "[providers.a]\nkeys = [{ name = \"a/b\", env = \"A\" }]", `2:18: "name" holds a /: a name ends at the first / of provider/name`},
		{"a weight of none", "[providers.a]\nkeys = [{ env = \"A\", weight = 0 }]", `2:31: "weight" must be from 1 to 1000`},
		{"a header that is none", "[providers.a.headers]\n\"a b\" = \"c\"", `2:1: "a b" is not a header's name`},
		{"a header twice", "[providers.a.headers]\nx-a = \"c\"\nX-A = \"d\"", `3:1: the header "X-A" stands twice`},
		{"a header that another thing sets", "[providers.a.headers]\nhost = \"c\"", `2:1: the header "host" cannot be set`},
		{"a provider without preset and URL", "[providers.a]\npreset = \"\"", `1:12: the provider "a" has neither a preset nor a base URL: give it chat, responses, messages or gemini`},
		{"a model twice", "[providers.a]\nmodels = [\"m\", { id = \"m\" }]", `2:16: the model "m" stands twice in "a"`},
		{"a model without an id", "[providers.a]\nmodels = [{ context = 1 }]", `2:11: the model has no id`},

		// members
		{"a member that is no model's name", pair + "[groups.a]\nmembers = [\"m1\"]", `6:12: item 1 of "members" is not provider/model: write`},
		{"a member of no provider", pair + "[groups.a]\nmembers = [\"lmap/m1\"]", `6:12: item 1 of "members" names the provider "lmap", which isn't in the file: did you mean "lamp"?`},
		{"a group written like a provider", pair + "[groups.cheap]\n[groups.a]\nmembers = [\"cheap/m1\"]", `7:12: item 1 of "members" names the provider "cheap", which isn't in the file: a group is written "group/cheap"`},
		{"a member of no key", pair + "[groups.a]\nmembers = [\"lamp@dsk/m1\"]", `6:12: item 1 of "members" names "dsk", which is no key or account of "lamp": did you mean "desk"?`},
		{"a member tied to nobody", pair + "[groups.a]\nmembers = [\"lamp@/m1\"]", `6:12: item 1 of "members" names no key or account after the @`},
		{"a member that isn't among the models", pair + "[groups.a]\nmembers = [\"lamp/m3:high\"]", `6:12: item 1 of "members" names "m3", which is not among the models of "lamp": did you mean "m1"?`},
		{"a member that is no group", pair + "[groups.a]\nmembers = [\"group/b\"]", `6:12: item 1 of "members" names the group "b", which isn't in the file: did you mean "a"?`},
		{"a member twice", pair + "[groups.a]\nmembers = [\"lamp/m1\", \"lamp/m1\"]", `6:23: "lamp/m1" stands twice in "members"`},
		{"a fallback of no provider", pair + "fallback = [\"lam/m1\"]", `5:13: item 1 of "fallback" names the provider "lam", which isn't in the file: did you mean "lamp"?`},
		{"a fallback that is a group", pair + "fallback = [\"group/a\"]\n[groups.a]", `5:13: item 1 of "fallback" names a group: name a provider's model`},
		{"a pick that is no member", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\npick = \"lamp/m2\"", `7:8: "pick" names "lamp/m2", which is no member of "a": did you mean "lamp/m1"?`},
		{"a rule for no member", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\nrules = [{ use = \"lamp/m2\", images = true }]", `7:18: "use" names "lamp/m2", which is no member of "a": did you mean "lamp/m1"?`},
		{"a rule without a condition", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\nrules = [{ use = \"lamp/m1\", images = false }]", `7:10: the rule has no condition: give it one of tokens, images`},
		{"a rule without use", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\nrules = [{ tokens = 5 }]", `7:10: the rule has no use: name the member that takes the turn`},
		{"an endless intent", pair + "[groups.a]\nmembers = [\"lamp/m1\"]\nrules = [{ use = \"lamp/m1\", intent = \"" + strings.Repeat("a", 201) + "\" }]", `7:38: "intent" is longer than 200 characters`},
		{"a name without members", pair + "[groups.a.names]\nfast = []", `6:8: "fast" names no member`},
		{"a name with a blank", pair + "[groups.a.names]\n\"f t\" = [\"lamp/m1\"]", `6:1: bad model name "f t": 128 characters at most, without blanks`},
		{"a name's member that is a group", pair + "[groups.b]\n[groups.a.names]\nfast = [\"group/b\"]", `7:9: item 1 of "fast" names a group: name a provider's model`},
		{"a describer of no provider", pair + "[groups.a]\nclassifier = \"lampp/m1\"", `6:14: "classifier" names the provider "lampp", which isn't in the file: did you mean "lamp"?`},
		{"a tier of no model", pair + "[agents.claude.tiers]\nopus = \"lamp/m9\"", `6:8: "opus" names "m9", which is not among the models of "lamp": did you mean "m1"?`},

		// groups that are found
		{"one in a group while there are none", "auto_groups = false\n" + "[groups.a]\nmembers = [\"group/auto-m1\"]", `3:12: item 1 of "members" names the group "auto-m1", and auto_groups is false: leave auto_groups out, or make the group`},
		{"one to classify with", "auto_groups = false\n" + "[groups.a]\nclassifier = \"group/auto-m1\"", `3:14: "classifier" names the group "auto-m1", and auto_groups is false: leave auto_groups out, or make the group`},

		// loops
		{"a group in itself", "[groups.a]\nmembers = [\"group/a\"]", `2:12: a group cannot stand in itself: a > a: take one of these members out`},
		{"a loop of groups", "[groups.a]\nmembers = [\"group/b\"]\n[groups.b]\nmembers = [\"group/c\"]\n[groups.c]\nmembers = [\"group/a\"]", `6:12: a group cannot stand in itself: a > b > c > a: take one of these members out`},

		// syntax
		{"a key twice", "listen = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"", `2:1: the key 'listen' has already been defined`},
		{"a table twice", "[groups.a]\n[groups.a]", `2:2: the key 'groups.a' has already been defined`},
		{"a string without an end", "\nlisten = \"127.0.0.1", `2:19: unterminated basic string`},
		{"a value without quotes", "[providers.a]\npreset = codex", `2:10: a value can't begin like this: text needs quotes`},
		{"a list without an end", "redact = [\n  \"words\"", `1:10: this list has no end`},
		{"a list without an end, and blanks behind it", "listen = \"127.0.0.1:1\"\nredact = [ # of these\n  \"words\", # ]\n\n\n", `2:10: this list has no end`},
		{"a list without an end before a key", "redact = [\n  \"words\",\n\nlisten = \"127.0.0.1:1\"\n", `1:10: this list has no end before line 4, where something else begins`},
		{"a list without an end and a comma", "redact = [\"words\"\nlisten = \"127.0.0.1:1\"\n", `1:10: this list has no end before line 2`},
		{"a list without an end before a table", "redact = [\"words\",\n[providers.a]\nchat = \"http://x/v1\"\n", `1:10: this list has no end before line 2`},
		{"a list without an end before a list of tables", "redact = [\"words\"\n[[rules]]\n", `1:10: this list has no end before line 2`},
		{"a list without an end in a list", "x = [[1, 2],\n  [3,\ny = 1\n", `2:3: this list has no end before line 3`},
		{"a list that ends after what is no item", "[providers.a]\nkeys = [\n  name = \"a\",\n]\n", `3:3: a value can't begin like this: text needs quotes`},
		{"a string without an end in a list", "redact = [\n  \"words", `2:8: unterminated basic string`},
		{"a comma too few", "cors_origins = [\n  \"http://a\"\n  \"http://b=c\"\n]\n", `3:3: expected ',' or ']' after array value`},
		{"a comma too few between tables", "[providers.a]\nkeys = [\n  { name = \"a\" }\n  { name = \"b\" }\n]\n", `4:3: expected ',' or ']' after array value`},
		{"a value that is none in a list", "redact = [\n  words\n]\n", `2:3: a value can't begin like this: text needs quotes`},
		{"a key without a value", "[screen]\nglyphs", `2:6: expected '=' after key`},
		{"more after a value", "sink = true false", `1:13: expected newline but got 'f'`},
		{"a syntax error hides all others", "ruting = 1\nlisten = \"", `2:10: unterminated basic string`},
		{"bytes that are no text", "name = \"\xff\"", `1:9: invalid UTF-8 character in basic string`},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems := refused(t, test.file)
			if len(problems) != 1 {
				t.Fatalf("%d problems:\n%v", len(problems), &Errors{problems})
			}
			if got, want := problems[0].String(), "config.toml:"+test.want; !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if problems[0].Source == "" && problems[0].Line <= strings.Count(test.file, "\n") {
				t.Errorf("the line is not shown")
			}
		})
	}
}

func TestEveryMistakeIsToldAtOnceInTheOrderOfTheFile(t *testing.T) {
	_, err := Parse("config.toml", []byte(`ruting = "smart"
listen = 3425

[providers.lamp]
	fallback = ["lampe/m"]
keys = [{ name = "a", env = "A", vlaue = "hunter2" }]
[groups.g]
members = ["lamp/m", "brook/m"]
`))
	want := `config.toml:1:1: unknown key "ruting": did you mean "routing"?
    ruting = "smart"
    ^
config.toml:2:10: "listen" must be a string, not a whole number: write it in quotes
    listen = 3425
             ^
config.toml:5:14: item 1 of "fallback" names the provider "lampe", which isn't in the file: did you mean "lamp"?
    	fallback = ["lampe/m"]
    	            ^
config.toml:6:34: unknown key "vlaue": did you mean "value"?
    keys = [{ name = "a", env = "A", vlaue = "*******" }]
                                     ^
config.toml:8:22: item 2 of "members" names the provider "brook", which isn't in the file
    members = ["lamp/m", "brook/m"]
                         ^`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestGroupsStandInGroupsEightDeep(t *testing.T) {
	chain := func(length int) string {
		var b strings.Builder
		for i := range length {
			fmt.Fprintf(&b, "[groups.g%d]\n", i)
			if i+1 < length {
				fmt.Fprintf(&b, "members = [\"group/g%d\"]\n", i+1)
			}
		}
		return b.String()
	}
	parse(t, chain(8))
	problems := refused(t, chain(9))
	want := `config.toml:1:9: the group "g0" holds groups 9 deep: at most 8 may stand in each other`
	if len(problems) != 1 || problems[0].String() != want {
		t.Errorf("got %v; want %s", problems, want)
	}
}

func TestAFileThatIsNoConfigIsRefusedWithoutReadingIt(t *testing.T) {
	for name, file := range map[string]string{
		"a huge file":    strings.Repeat("#", 256<<10+1),
		"endless lists":  "redact = " + strings.Repeat("[", 250_000),
		"endless keys":   strings.Repeat("a.", 120_000) + "a = 1",
		"a long line":    "x = {" + strings.Repeat("a.b = 1, ", 25_000) + "}",
		"endless tables": "[" + strings.Repeat("a.", 120_000) + "a]",
	} {
		t.Run(name, func(t *testing.T) {
			if problems := refused(t, file); len(problems) != 1 || len(problems[0].Source) > 1000 {
				t.Errorf("%d problems", len(problems))
			}
		})
	}
}

func TestTheNearestWord(t *testing.T) {
	known := []string{"order", "smart", "rotate", "usage", "pace", "weight"}
	for word, want := range map[string]string{
		"oder": "order", "SMART": "smart", "rotaet": "rotate", "usages": "usage", "wieght": "weight", "x": "", "something": "", "": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("nearest to %q is %q; want %q", word, got, want)
		}
	}
}

func TestAProblemOfAnotherPackageLooksTheSame(t *testing.T) {
	c := parse(t, "[providers.a]\npreset = \"antropic\"\n")
	p := c.Problem(c.Providers[0].PresetPos, `there is no preset "antropic"`, DidYouMean("antropic", []string{"openai", "anthropic"}))
	want := "config.toml:2:10: there is no preset \"antropic\": did you mean \"anthropic\"?\n    preset = \"antropic\"\n             ^"
	if got := (&Errors{[]Problem{p}}).Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := c.Problem(Pos{}, "nothing answers", "").String(); got != "config.toml: nothing answers" {
		t.Errorf("without a place: %q", got)
	}
}

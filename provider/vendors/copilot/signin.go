package copilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Errors of a sign-in, each a state of its account.
const (
	ErrNoSignIn = provider.SignInError("nobody is signed in there: sign in to Copilot in an editor, or run copilot login")
	ErrKeychain = provider.SignInError("Copilot keeps its token in the system's keychain, which is not read")
	ErrLapsed   = provider.SignInError("GitHub turned its sign-in away: sign in to Copilot again")
)

// signIn is one of GitHub's accounts that Copilot is signed in to.
type signIn struct {
	host, user, token string
}

// files are where Copilot's programs keep a sign-in in the clear, in the order in which they
// are looked at.
var files = []struct {
	name string
	read func([]byte) (signIn, error)
}{{"apps.json", parseEditor}, {"hosts.json", parseEditor}, {"config.json", parseCLI}}

// load reads the first sign-in of the homes. A file that can't be read is no reason to take
// somebody else's: it may be the one that is meant.
func load(homes []string) (signIn, error) {
	none := error(ErrNoSignIn)
	for _, home := range homes {
		for _, f := range files {
			data, err := provider.ReadSignIn(home, f.name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return signIn{}, err
			}
			s, err := f.read(data)
			switch {
			case err == nil:
				return s, nil
			case errors.Is(err, ErrKeychain):
				none = err
			case !errors.Is(err, ErrNoSignIn):
				return signIn{}, provider.SignInError("its " + f.name + " can't be read as what Copilot writes")
			}
		}
	}
	return signIn{}, none
}

// parseEditor reads what editors' Copilot writes: accounts by host and program.
func parseEditor(data []byte) (signIn, error) {
	var all map[string]json.RawMessage
	if err := loose.Decode(data, &all); err != nil {
		return signIn{}, err
	}
	var found []signIn
	for key, raw := range all {
		var one struct {
			User  loose.Text `json:"user"`
			Token loose.Text `json:"oauth_token"`
		}
		name, _, _ := strings.Cut(key, ":")
		host, ok := hostOf(name)
		if ok && loose.Decode(raw, &one) == nil && usable(string(one.Token)) {
			found = append(found, signIn{host, string(one.User), string(one.Token)})
		}
	}
	if len(found) == 0 {
		return signIn{}, ErrNoSignIn
	}
	slices.SortFunc(found, func(a, b signIn) int { return strings.Compare(a.place(), b.place()) })
	return found[0], nil
}

// place puts github.com's accounts before those of companies.
func (s signIn) place() string {
	if s.host == public {
		return "0" + s.user + s.token
	}
	return "1" + s.host + s.user + s.token
}

// parseCLI reads what Copilot CLI writes, with the comments that it puts there.
func parseCLI(data []byte) (signIn, error) {
	var c struct {
		Last   login                      `json:"lastLoggedInUser"`
		All    []login                    `json:"loggedInUsers"`
		Tokens map[string]json.RawMessage `json:"copilotTokens"`
	}
	if err := loose.Decode(plainJSON(data), &c); err != nil {
		return signIn{}, err
	}
	known := false
	for _, who := range append([]login{c.Last}, c.All...) {
		host, ok := hostOf(string(who.Host))
		if !ok || who.Login == "" {
			continue
		}
		known = true
		var token loose.Text
		if raw := c.Tokens["https://"+host+":"+string(who.Login)]; raw != nil && json.Unmarshal(raw, &token) == nil && usable(string(token)) {
			return signIn{host, string(who.Login), string(token)}, nil
		}
	}
	if known && len(c.Tokens) == 0 {
		return signIn{}, ErrKeychain
	}
	return signIn{}, ErrNoSignIn
}

type login struct {
	Host  loose.Text `json:"host"`
	Login loose.Text `json:"login"`
}

// public is where everybody's accounts are.
const public = "github.com"

var companies = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.ghe\.com$`)

// hostOf is the host that a file names, false where it is none of GitHub's: a sign-in is sent to no other.
func hostOf(name string) (host string, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "https://"), "/"))
	return host, host == public || companies.MatchString(host)
}

// usable says whether a token can stand in a header.
func usable(token string) bool {
	return token != "" && len(token) <= 4096 && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// plainJSON takes comments and commas before a closing bracket out of JSON that people write.
func plainJSON(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		n := 1
		switch rest := data[i:]; {
		case rest[0] == '"':
			n = quoted(rest)
			out = append(out, rest[:n]...)
		case bytes.HasPrefix(rest, []byte("//")):
			n = upTo(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			n = upTo(rest, "*/")
		case rest[0] == '}' || rest[0] == ']':
			out = append(trimComma(out), rest[0])
		default:
			out = append(out, rest[0])
		}
		i += n
	}
	return out
}

// quoted is the length of a string that data begins with.
func quoted(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// upTo is the length of data up to the end of a mark, or all of it.
func upTo(data []byte, mark string) int {
	if i := bytes.Index(data, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return len(data)
}

func trimComma(out []byte) []byte {
	if before, ok := bytes.CutSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")); ok {
		return before
	}
	return out
}

package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// Tokens are what Codex CLI's sign-in holds.
type Tokens struct {
	ID, Access, Refresh, Account string
	Renewed                      time.Time // when the access token was made, zero = not told
}

// User is what the account is called, "" where the sign-in does not tell.
func (t Tokens) User() string { return t.claims().User() }

// Plan is the vendor's word for the account's plan, "" where the sign-in does not tell.
func (t Tokens) Plan() string { return t.claims().Plan }

// claims are what the sign-in tells of its owner; without a token for that, the other one does.
func (t Tokens) claims() Claims {
	for _, token := range []string{t.ID, t.Access} {
		if c, _ := ParseToken(token); c.Email != "" || c.Account != "" {
			return c
		}
	}
	return Claims{}
}

// Errors of a sign-in, each a state of its account.
const (
	ErrNoSignIn = provider.SignInError("nobody is signed in there: run codex login")
	ErrKeyOnly  = provider.SignInError("it is signed in with an API key, which is no account: give the provider openai that key")
	ErrBroken   = provider.SignInError("its auth.json can't be read as what Codex writes")
)

// authFile is the name of the sign-in in Codex's home.
const authFile = "auth.json"

// document is auth.json with all that others keep in it, in its order.
type document struct {
	fields []member
	tokens []member
	size   int // of the file, in bytes
	Tokens
}

type member struct {
	name  string
	value json.RawMessage
}

// Load reads the sign-in of a home.
func Load(home string) (Tokens, error) {
	d, err := load(home)
	return d.Tokens, err
}

func load(home string) (document, error) {
	data, err := provider.ReadSignIn(home, authFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return document{}, ErrNoSignIn
	case err != nil:
		return document{}, err
	}
	return parse(data)
}

func parse(data []byte) (document, error) {
	d := document{size: len(data)}
	var err error
	if d.fields, err = members(data); err != nil {
		return document{}, ErrBroken
	}
	var mode string
	for _, f := range d.fields {
		switch f.name {
		case "auth_mode":
			_ = json.Unmarshal(f.value, &mode) // another form says nothing
		case lastField:
			var at loose.Time
			_ = json.Unmarshal(f.value, &at) // as above
			d.Renewed = at.Time
		case "tokens":
			if bytes.Equal(f.value, []byte("null")) {
				continue
			}
			if d.tokens, err = members(f.value); err != nil {
				return document{}, ErrBroken
			}
		}
	}
	for _, f := range d.tokens {
		var s string
		if json.Unmarshal(f.value, &s) != nil {
			continue
		}
		switch f.name {
		case "id_token":
			d.ID = s
		case "access_token":
			d.Access = s
		case "refresh_token":
			d.Refresh = s
		case "account_id":
			d.Account = s
		}
	}
	switch {
	case mode == "apikey" || d.Access == "" && holdsKey(d.fields):
		return document{}, ErrKeyOnly
	case d.Access == "":
		return document{}, ErrNoSignIn
	}
	if d.Account == "" {
		d.Account = d.claims().Account
	}
	return d, nil
}

func holdsKey(fields []member) bool {
	for _, f := range fields {
		var s string
		if f.name == "OPENAI_API_KEY" && json.Unmarshal(f.value, &s) == nil && s != "" {
			return true
		}
	}
	return false
}

// lastField is where it stands when a token was last renewed.
const lastField = "last_refresh"

// members reads an object's fields in their order, and nothing stands behind it.
func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, ErrBroken
	}
	var all []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		key, _ := name.(string) // an object's keys are
		all = append(all, member{key, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, ErrBroken
	}
	return all, nil
}

// renewed returns the file with what a renewal gave, and all else as it was.
func (d document) renewed(t Tokens, at time.Time) ([]byte, error) {
	tokens := d.tokens
	for _, f := range []struct{ name, value string }{{"id_token", t.ID}, {"access_token", t.Access}, {"refresh_token", t.Refresh}} {
		if f.value != "" {
			tokens = set(tokens, f.name, f.value)
		}
	}
	inner, err := object(tokens)
	if err != nil {
		return nil, err
	}
	fields := put(d.fields, "tokens", inner)
	fields = set(fields, lastField, at.UTC().Format(time.RFC3339Nano))
	whole, err := object(fields)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, whole, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func set(fields []member, name, value string) []member {
	quoted, err := json.Marshal(value)
	if err != nil {
		return fields
	}
	return put(fields, name, quoted)
}

func put(fields []member, name string, value json.RawMessage) []member {
	all := make([]member, 0, len(fields)+1)
	found := false
	for _, f := range fields {
		if f.name == name {
			f.value, found = value, true
		}
		all = append(all, f)
	}
	if !found {
		all = append(all, member{name, value})
	}
	return all
}

func object(fields []member) (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

package geminicli

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// States of a sign-in. Each keeps its account from being asked: Google's terms allow Gemini
// CLI's sign-in to no other program, so it is looked at and never sent.
const (
	ErrNoSignIn = provider.SignInError("nobody is signed in there: Gemini CLI has no sign-in with Google")
	ErrBroken   = provider.SignInError("its oauth_creds.json can't be read as what Gemini CLI writes")
	ErrNotIts   = provider.SignInError("its oauth_creds.json is another program's, not Gemini CLI's")
	ErrLapsed   = provider.SignInError("its sign-in has lapsed: start gemini and sign in")
	ErrItsOwn   = provider.SignInError("somebody is signed in there, and that is Gemini CLI's own: nothing is sent with it, so what is left is not known")
)

const (
	credsFile = "oauth_creds.json"
	client    = "681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com" // by which Google knows Gemini CLI
)

// SignIn is Gemini CLI's own, in the first of its homes that has one.
type SignIn struct {
	homes []string
	now   func() time.Time
}

// Open makes one of the program's homes. Nothing is read yet.
func Open(homes []string) *SignIn { return &SignIn{homes, time.Now} }

// Look says how the sign-in stands; there is none that a request could be sent with, so it is
// always a state. Tokens are not kept.
func (s *SignIn) Look() (provider.Credential, error) {
	for _, home := range s.homes {
		data, err := provider.ReadSignIn(home, credsFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return provider.Credential{}, err
		}
		return provider.Credential{}, standing(data, s.now())
	}
	return provider.Credential{}, ErrNoSignIn
}

func standing(data []byte, now time.Time) provider.SignInError {
	var c struct {
		Access  loose.Text `json:"access_token"`
		Refresh loose.Text `json:"refresh_token"`
		ID      loose.Text `json:"id_token"`
		Expires loose.Time `json:"expiry_date"`
	}
	if loose.Decode(data, &c) != nil {
		return ErrBroken
	}
	switch {
	case c.Access == "" && c.Refresh == "":
		return ErrNoSignIn
	case c.ID != "" && !itsOwn(string(c.ID)):
		return ErrNotIts
	case c.Refresh == "" && !c.Expires.IsZero() && !c.Expires.After(now):
		return ErrLapsed
	}
	return ErrItsOwn
}

// itsOwn says whether an ID token was made for Gemini CLI. One that can't be read says nothing.
func itsOwn(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return true
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		For loose.Text `json:"aud"`
		By  loose.Text `json:"azp"`
	}
	if err != nil || loose.Decode(data, &claims) != nil {
		return true
	}
	return (claims.For == "" || claims.For == client) && (claims.By == "" || claims.By == client)
}

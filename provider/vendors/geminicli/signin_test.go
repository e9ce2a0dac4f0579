package geminicli_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/geminicli"
)

func token(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
}

func TestHowASignInOfGeminiCLIStands(t *testing.T) {
	const its = "681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com"
	for name, c := range map[string]struct {
		creds string
		want  error
	}{
		"its own":              {`{"access_token":"a","refresh_token":"r","expiry_date":4102444800000,"id_token":"` + token(`{"aud":"`+its+`","azp":"`+its+`"}`) + `"}`, geminicli.ErrItsOwn},
		"its own, run out":     {`{"access_token":"a","refresh_token":"r","expiry_date":1700000000000}`, geminicli.ErrItsOwn},
		"its own, in seconds":  {`{"access_token":"a","expiry_date":"4102444800"}`, geminicli.ErrItsOwn},
		"lapsed":               {`{"access_token":"a","expiry_date":1700000000000}`, geminicli.ErrLapsed},
		"another program's":    {`{"access_token":"a","refresh_token":"r","id_token":"` + token(`{"aud":"`+its+`","azp":"other"}`) + `"}`, geminicli.ErrNotIts},
		"for another":          {`{"access_token":"a","refresh_token":"r","id_token":"` + token(`{"aud":"other"}`) + `"}`, geminicli.ErrNotIts},
		"a token that is none": {`{"access_token":"a","refresh_token":"r","id_token":"x.y"}`, geminicli.ErrItsOwn},
		"no tokens":            {`{"expiry_date":1}`, geminicli.ErrNoSignIn},
		"cut":                  {`{"access_token":"a`, geminicli.ErrBroken},
		"a list":               {`[]`, geminicli.ErrBroken},
		"empty":                {``, geminicli.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "oauth_creds.json"), []byte(c.creds), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := geminicli.Open([]string{t.TempDir(), home}).Look()
			if !errors.Is(err, c.want) || got.Access != "" {
				t.Errorf("%v %+v", err, got)
			}
		})
	}
	if _, err := geminicli.Open([]string{t.TempDir()}).Look(); !errors.Is(err, geminicli.ErrNoSignIn) {
		t.Error(err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "oauth_creds.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	var state provider.SignInError
	if _, err := geminicli.Open([]string{home}).Look(); !errors.As(err, &state) {
		t.Error(err)
	}
}

package standin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// sealSize is the length of a seal's mark in bytes, a multiple of three.
const sealSize = 24

// fernet is how OpenAI's sealed content begins.
const fernet = "gAAAAA"

// sealer is whose secret seals a model's thinking. A relay hands on what the model's
// maker sealed, so that the maker reads it when the conversation moves there.
func (v *Vendor) sealer(model string) string {
	if !v.house.relays {
		return v.Name()
	}
	switch {
	case strings.Contains(model, "claude"):
		return "anthropic"
	case strings.Contains(model, "gpt"):
		return "openai"
	case strings.Contains(model, "gemini"):
		return "gemini"
	}
	return v.Name()
}

// signed is a text's mark, made with the secret of the model's sealer. Two stand-ins
// of one vendor read each other's.
func (v *Vendor) signed(model, text string) []byte {
	m := hmac.New(sha256.New, []byte("stand-in "+v.sealer(model)))
	m.Write([]byte(text))
	return m.Sum(nil)[:sealSize]
}

// seal wraps a text so that this vendor alone can tell that it is its own and read
// it: valid base64, in the alphabet that the API uses.
func (v *Vendor) seal(a *ask, text string) string {
	data := slices.Concat(v.signed(a.model, text), []byte(text))
	if a.api == wire.Responses {
		return fernet + base64.URLEncoding.EncodeToString(data)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// open reads what seal wrote for the same model's maker.
func (v *Vendor) open(a *ask, sealed string) (string, bool) {
	rest, ours := strings.CutPrefix(sealed, fernet)
	enc := base64.StdEncoding
	if ours {
		enc = base64.URLEncoding
	}
	data, err := enc.DecodeString(rest)
	if err != nil || len(data) < sealSize {
		return "", false
	}
	text := string(data[sealSize:])
	return text, hmac.Equal(data[:sealSize], v.signed(a.model, text))
}

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

// mark signs a text with the vendor's secret. Two stand-ins of one vendor read each other's.
func (v *Vendor) mark(text string) []byte {
	m := hmac.New(sha256.New, []byte("stand-in "+v.Name()))
	m.Write([]byte(text))
	return m.Sum(nil)[:sealSize]
}

// seal wraps a text so that this vendor alone can tell that it is its own and read
// it: valid base64, in the alphabet that the API uses.
func (v *Vendor) seal(api wire.Protocol, text string) string {
	data := slices.Concat(v.mark(text), []byte(text))
	if api == wire.Responses {
		return fernet + base64.URLEncoding.EncodeToString(data)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// open reads what seal wrote.
func (v *Vendor) open(sealed string) (string, bool) {
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
	return text, hmac.Equal(data[:sealSize], v.mark(text))
}

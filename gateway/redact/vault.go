package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Prefix is how every placeholder begins. They are letters, digits and underscores alone, which
// neither JSON nor a URL nor a shell writes in another way.
const Prefix = "MAGPIE_"

// kinds are what a placeholder tells the model of what it stands for.
var kinds = [...]string{Secret: "SECRET", Word: "WORD", Email: "EMAIL", Phone: "PHONE", Card: "CARD", IBAN: "IBAN", ID: "ID"}

const (
	stamp   = 12                                   // letters of a placeholder that are made of what it stands for
	longest = len(Prefix) + len("SECRET_") + stamp // of all placeholders
)

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Counts says how many different things were masked.
type Counts struct{ Secrets, Personal, Words int }

// Total is all of them.
func (c Counts) Total() int { return c.Secrets + c.Personal + c.Words }

// Vault knows what the placeholders of one request stand for. It is not safe for
// concurrent use while it is masked into.
type Vault struct {
	cloak  *Cloak
	by     map[string]string // placeholder by what it stands for
	back   map[string]string // the other way round
	counts Counts
}

// Counts says how many different things the request's placeholders stand for.
func (v *Vault) Counts() Counts {
	if v == nil {
		return Counts{}
	}
	return v.counts
}

// put gives a value its placeholder: the same one in each request, as long as the key is the same.
func (v *Vault) put(value string, kind Kind) string {
	if p, ok := v.by[value]; ok {
		return p
	}
	p := v.cloak.placeholder(value, kind)
	for again := value; ; { // two values in sixty bits: never, but it would give one for the other
		if _, taken := v.back[p]; !taken {
			break
		}
		again += "\x00"
		p = v.cloak.placeholder(again, kind)
	}
	v.by[value], v.back[p] = p, value
	switch kind {
	case Secret:
		v.counts.Secrets++
	case Word:
		v.counts.Words++
	case Email, Phone, Card, IBAN, ID:
		v.counts.Personal++
	}
	return p
}

// placeholder makes a value's placeholder.
func (c *Cloak) placeholder(value string, kind Kind) string {
	h := hmac.New(sha256.New, c.key)
	_, _ = h.Write([]byte(kinds[kind] + "\x00" + value)) // a hash takes everything
	return Prefix + kinds[kind] + "_" + letters.EncodeToString(h.Sum(nil))[:stamp]
}

// placed is the length of the placeholder that s begins with, 0 when it is none of the vault's.
func (v *Vault) placed(s string) (value string, n int) {
	under := strings.IndexByte(s[len(Prefix):], '_')
	if under < 0 {
		return "", 0
	}
	n = len(Prefix) + under + 1 + stamp
	if n > len(s) {
		return "", 0
	}
	value, ok := v.back[s[:n]]
	if !ok {
		return "", 0
	}
	return value, n
}

// begun is where, at the end of s, a placeholder may have begun; len(s) when none has.
func (v *Vault) begun(s string) int {
	for i := max(0, len(s)-longest); i < len(s); i++ {
		if s[i] != Prefix[0] {
			continue
		}
		if len(s)-i <= len(Prefix) {
			if len(v.back) > 0 && strings.HasPrefix(Prefix, s[i:]) {
				return i
			}
			continue
		}
		if !strings.HasPrefix(s[i:], Prefix) {
			continue
		}
		for p := range v.back {
			if len(p) > len(s)-i && strings.HasPrefix(p, s[i:]) {
				return i
			}
		}
	}
	return len(s)
}

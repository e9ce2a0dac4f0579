package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// NameRule is what an API lets a tool's name be: ASCII letters, digits, _ and -, and more.
type NameRule struct {
	Max    int
	More   string // what else may stand in it
	Letter bool   // it begins with a letter or _
}

// The rules of the four APIs. Responses and Gemini document 128 by now, but gateways and older
// doors of both refuse more than 64: what is restored in the reply costs nobody anything.
var (
	ChatNames      = NameRule{Max: 64}
	ResponsesNames = NameRule{Max: 64}
	MessagesNames  = NameRule{Max: 128}
	GeminiNames    = NameRule{Max: 64, More: ".:", Letter: true}
)

// Name is name as the API takes it: itself when it may, else its readable head and a hash
// of the whole, so that two names never become one.
func (r NameRule) Name(name string) string {
	if r.fits(name) {
		return name
	}
	var b strings.Builder
	b.Grow(len(name) + 8)
	gap := false
	for _, c := range name {
		switch {
		case c < 0x80 && r.legal(byte(c)):
			b.WriteByte(byte(c))
			gap = false
		case !gap:
			b.WriteByte('_')
			gap = true
		}
	}
	head := b.String()
	if r.Letter && (head == "" || !leads(head[0])) {
		head = "_" + head
	}
	const tail = 7
	if r.Max > tail && len(head) > r.Max-tail {
		head = head[:r.Max-tail]
	}
	return head + "_" + digest(name, 3)
}

// Restore is the way back from the names that the tools of an ask were given under any of
// the rules. It holds only what was changed; nil = nothing was.
func Restore(a *Ask, rules ...NameRule) map[string]string {
	if a == nil {
		return nil
	}
	var back map[string]string
	for i := range a.Tools {
		name := a.Tools[i].Name
		for _, r := range rules {
			if sent := r.Name(name); sent != name {
				if back == nil {
					back = map[string]string{}
				}
				back[sent] = name
			}
		}
	}
	return back
}

func (r NameRule) fits(name string) bool {
	if name == "" || len(name) > r.Max || r.Letter && !leads(name[0]) {
		return false
	}
	for i := range len(name) {
		if !r.legal(name[i]) {
			return false
		}
	}
	return true
}

func (r NameRule) legal(c byte) bool {
	return plainLetter(c) || r.More != "" && strings.IndexByte(r.More, c) >= 0
}

func plainLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func leads(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// KeepID is a call's id as an API takes it: itself when it is of letters, digits, _ and -
// and of at most size bytes, else the prefix and a hash. Call and result come out alike.
func KeepID(id, prefix string, size int) string {
	if id == "" || len(id) > size {
		return MakeID(prefix, id)
	}
	for i := range len(id) {
		if !plainLetter(id[i]) {
			return MakeID(prefix, id)
		}
	}
	return id
}

// MakeID makes an id of what tells the thing apart from all others: the same seeds, the same id.
func MakeID(prefix string, seeds ...string) string {
	if len(seeds) == 1 {
		return prefix + digest(seeds[0], 12)
	}
	return prefix + digest(strings.Join(seeds, "\x00"), 12)
}

// digest is the first n bytes of the text's SHA-256 in hex.
func digest(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}

package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// sealMark begins a seal that travels through a client of another API.
const sealMark = "magpie1."

// marked is what stands in a mark.
type marked struct {
	API      Protocol `json:"api"`
	Vendor   string   `json:"vendor,omitempty"`
	Seal     string   `json:"seal"`
	ID       string   `json:"id,omitempty"`
	Redacted bool     `json:"redacted,omitempty"`
}

// Mark wraps a seal so that a client of another API may keep it and give it back. vendor
// is who made it, where the seal itself does not say.
func (s *Seal) Mark(vendor string) string {
	if s.Vendor != "" {
		vendor = s.Vendor
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(marked{s.API, vendor, s.Data, s.ID, s.Redacted}) != nil {
		return ""
	}
	return sealMark + base64.StdEncoding.EncodeToString(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// MarkBase64 is Mark for a client that drops what isn't base64 from its first to its last letter.
func (s *Seal) MarkBase64(vendor string) string {
	m := s.Mark(vendor)
	if m == "" {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(m))
}

// ReadSeal reads what a client of api gives back in the place of a seal: one of that API,
// or another's under our mark. It is nil for none, and for a mark that can't be read.
func ReadSeal(api Protocol, data string) *Seal {
	if data == "" {
		return nil
	}
	if s, ours := unmark(data); ours {
		return s
	}
	if api != Responses && strings.HasPrefix(data, "gAAAA") { // OpenAI's, whoever passed it on
		api = Responses
	}
	return &Seal{API: api, Data: data}
}

// unmark takes a seal out of our mark. ours says that it bears the mark; what can't be read is nil.
func unmark(data string) (s *Seal, ours bool) {
	rest, ok := strings.CutPrefix(data, sealMark)
	if !ok {
		inner, err := base64.StdEncoding.DecodeString(data)
		if err != nil || !bytes.HasPrefix(inner, []byte(sealMark)) {
			return nil, false
		}
		rest = string(inner[len(sealMark):])
	}
	raw, err := base64.StdEncoding.DecodeString(rest)
	if err != nil {
		return nil, true
	}
	var in marked
	if json.Unmarshal(raw, &in) != nil || in.Seal == "" {
		return nil, true
	}
	return &Seal{API: in.API, Vendor: in.Vendor, Data: in.Seal, ID: in.ID, Redacted: in.Redacted}, true
}

// For says whether a vendor that speaks api made the seal, and may have it back. Two
// vendors that aren't known can't be told apart.
func (s *Seal) For(api Protocol, vendor string) bool {
	if s == nil || s.Data == "" || s.API != api {
		return false
	}
	return s.Vendor == "" || vendor == "" || s.Vendor == vendor
}

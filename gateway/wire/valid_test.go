package wire

import (
	"encoding/json"
	"unicode/utf8"
)

// valid is the standard library's judgement, with UTF-8 held to as well.
func valid(b []byte) bool { return json.Valid(b) && utf8.Valid(b) }

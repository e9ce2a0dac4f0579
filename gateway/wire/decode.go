package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// opening is the first byte that is no blank, 0 for none.
func opening(b []byte) byte {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) > 0 {
		return b[0]
	}
	return 0
}

// decode reads a JSON object into v as far as it fits. Vendors write a number where others
// write text; what stands beside it counts all the same. It says no to what is no object.
func decode(data []byte, v any) bool {
	if opening(data) != '{' {
		return false
	}
	err := json.Unmarshal(data, v)
	var odd *json.UnmarshalTypeError
	return err == nil || errors.As(err, &odd)
}

package codex

import "errors"

// Full makes the disk full at a point of a renewal: before anything is asked, or when the
// answer is written. nil is a disk with room.
func (h *Holder) Full(at string) {
	h.room = func(home string, n int) (*spare, error) {
		if at == "before" {
			return nil, errors.New("no space left on device")
		}
		s, err := reserve(home, n)
		if err == nil && at == "after" {
			_ = s.file.Close() // what is written to it fails
		}
		return s, err
	}
}

package history

import (
	"context"
	"strconv"
)

// Room lets the file grow to so many pages, as a disk would that is full then.
func (h *History) Room(ctx context.Context, pages int) error {
	h.reading.RLock()
	defer h.reading.RUnlock()
	_, err := h.file.Load().db.ExecContext(ctx, `PRAGMA max_page_count = `+strconv.Itoa(pages))
	return err
}

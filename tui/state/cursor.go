package state

// Cursor is a place in a list, by identity: the row under the eyes stays where it is
// when others come above it. Its zero value follows the first row.
type Cursor[K comparable] struct {
	key    K
	held   bool // false: follows the first row
	anchor int  // the row of the pane on which the selection stands
	last   int  // its place in the list when it was last there
	seen   K    // the first row when the list was held
}

// Follows says whether the cursor goes with the newest row.
func (c *Cursor[K]) Follows() bool { return !c.held }

// Follow goes back to the newest row.
func (c *Cursor[K]) Follow() { *c = Cursor[K]{} }

// Hold keeps the selection on the row on which it stands.
func (c *Cursor[K]) Hold(keys []K) {
	if c.held || len(keys) == 0 {
		return
	}
	*c = Cursor[K]{key: keys[0], held: true, seen: keys[0]}
}

// Index returns the place of the selection, -1 in an empty list. A row that is gone
// leaves the selection at its place.
func (c *Cursor[K]) Index(keys []K) int {
	if len(keys) == 0 {
		return -1
	}
	if !c.held {
		return 0
	}
	for i, k := range keys {
		if k == c.key {
			return i
		}
	}
	return min(max(c.last, 0), len(keys)-1)
}

// Key returns what is selected, false in an empty list.
func (c *Cursor[K]) Key(keys []K) (K, bool) {
	i := c.Index(keys)
	if i < 0 {
		var none K
		return none, false
	}
	return keys[i], true
}

// Top returns the first row of the list that a pane of that height shows.
func (c *Cursor[K]) Top(keys []K, height int) int {
	i := c.Index(keys)
	if i < 0 || height <= 0 {
		return 0
	}
	top := i - min(max(c.anchor, 0), height-1)
	return min(max(top, 0), max(len(keys)-height, 0))
}

// Move goes n rows down, or up when n is negative, in a pane of that height. A list
// that is moved up to its first row follows again.
func (c *Cursor[K]) Move(keys []K, n, height int) {
	i := c.Index(keys)
	if i < 0 {
		return
	}
	to := min(max(i+n, 0), len(keys)-1)
	if to == 0 && n < 0 {
		c.Follow()
		return
	}
	c.To(keys, to, height)
}

// To selects the i-th row; the pane scrolls only as far as it must.
func (c *Cursor[K]) To(keys []K, i, height int) {
	if i < 0 || i >= len(keys) {
		return
	}
	top := c.Top(keys, height)
	c.Hold(keys)
	c.anchor = min(max(i-top, 0), max(height-1, 0))
	c.key, c.last = keys[i], i
}

// Select selects the row with that key and holds it; false when the list has none.
func (c *Cursor[K]) Select(keys []K, key K, height int) bool {
	for i, k := range keys {
		if k == key {
			c.To(keys, i, height)
			return true
		}
	}
	return false
}

// Settle remembers the place of the selection, so that the row that takes its place
// is selected should it go.
func (c *Cursor[K]) Settle(keys []K) {
	if !c.held {
		return
	}
	for i, k := range keys {
		if k == c.key {
			c.last = i
			return
		}
	}
	if i := c.Index(keys); i >= 0 {
		c.key, c.last = keys[i], i
	}
}

// New counts the rows that came since the list was held.
func (c *Cursor[K]) New(keys []K) int {
	if !c.held {
		return 0
	}
	for i, k := range keys {
		if k == c.seen {
			return i
		}
	}
	return 0
}

package layout

import (
	"regexp"
	"strings"

	"dev.magpie/tui/canvas"
)

// dated ends a model id: a day as vendors write it, or a mark for the newest.
var dated = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|@\d{8}|:latest|-latest)$`)

// Model shortens a model's id: the path and vendor before it and the date after it go.
func Model(id string) string {
	return undated(id)
}

func undated(id string) string {
	return dated.ReplaceAllString(vendorless(id), "")
}

func vendorless(id string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 && i+1 < len(id) {
		id = id[i+1:]
	}
	if rest, ok := strings.CutPrefix(id, "claude-"); ok && rest != "" {
		return rest
	}
	return id
}

// Models shortens ids that are seen together to a width, in their order. Two different ids look the
// same only where the width leaves no way: their dates stay, then they are cut in the middle.
func Models(set *canvas.GlyphSet, ids []string, width int) []string {
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = undated(id)
	}
	for i := range same(ids, short) {
		short[i] = vendorless(ids[i])
	}
	for i := range same(ids, short) {
		short[i] = ids[i]
	}
	shown := make([]string, len(ids))
	for i := range short {
		shown[i] = set.Cut(short[i], width)
	}
	for i := range same(ids, shown) {
		shown[i] = set.CutMiddle(short[i], width)
	}
	return shown
}

// same finds the places whose text another id shows too.
func same(ids, shown []string) map[int]bool {
	first := make(map[string]int, len(ids))
	twice := map[string]bool{}
	for i, s := range shown {
		if j, ok := first[s]; ok && ids[j] != ids[i] {
			twice[s] = true
		} else if !ok {
			first[s] = i
		}
	}
	found := map[int]bool{}
	for i, s := range shown {
		if twice[s] {
			found[i] = true
		}
	}
	return found
}

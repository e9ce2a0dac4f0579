package layout

// Accounts take two lines each from this kind of layout on.
const twoLines = Wide

// AccountLines is the number of lines that an account takes in a layout.
func AccountLines(k Kind) int {
	if k == twoLines {
		return 2
	}
	return 1
}

var (
	window = field{col: ColWindow, w: 2, gap: 1}
	ahead  = field{col: ColAhead, w: 1, gap: 1}
	used   = field{col: ColUsed, w: 4, right: true}
)

func name(w int) field { return field{col: ColName, w: w, gap: 1, most: 20} }

func bar(w int) field { return field{col: ColBar, w: w, gap: 1, most: w + 8} }

func renews(w int) field { return field{col: ColRenews, w: w, gap: 1, right: true} }

func note(w, gap int) field { return field{col: ColNote, w: w, gap: gap, most: 48} }

// AccountColumns are the columns of the list of accounts in a pane of a width. In the wide layout they
// serve both lines of an account. Where ColAhead is missing the mark stands before the number. Names that need more room
// than theirs, the widest of which has longest cells, take some from the bar and the note.
func AccountColumns(width int, k Kind, longest int) []Column {
	more := func(spare int) int { return min(max(longest-10, 0), max(spare, 0)) }
	switch {
	case k == Wide && width >= 40 && width < 60:
		beside := used
		beside.w = 5 // the mark and three digits
		n := more(4)
		return place(width-1, []field{mark, name(10 + n), window, bar(10 - n), beside, renews(7)})
	case width >= 80:
		provider := field{col: ColProvider, w: 9, gap: 1, most: 12}
		n := more(10)
		return place(width, []field{mark, name(10 + n), provider, window, bar(13 - n/2), ahead, used, renews(7), note(24-(n-n/2), 2)})
	case width >= 44:
		n := more(3)
		return place(width, []field{mark, name(10 + n), bar(8 - n), ahead, used, renews(5), window, note(min(8, width-38), 1)})
	case width >= 32:
		cells := min(10, width-27)
		n := more(cells - 5)
		return place(min(width, 37), []field{mark, name(10 + n), bar(cells - n), ahead, used, renews(6)})
	case width >= 23:
		return place(max(width-1, 23), []field{mark, name(9), used, renews(6)})
	case width >= 12:
		return place(width, []field{mark, name(width - 7), used})
	case width >= 4:
		return place(width, []field{mark, name(1)})
	}
	return place(width, []field{{col: ColMark, w: min(max(width, 0), 1)}})
}

package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestACursorFollowsTheNewestUntilItIsMoved(t *testing.T) {
	var c Cursor[int]
	list := []int{5, 4, 3, 2, 1}
	if k, _ := c.Key(list); k != 5 {
		t.Fatalf("a new cursor stands on %d, want the first", k)
	}
	list = append([]int{6}, list...)
	if k, _ := c.Key(list); k != 6 {
		t.Fatalf("a cursor that follows stands on %d, want the newest", k)
	}
	c.Move(list, 2, 3)
	if k, _ := c.Key(list); k != 4 || c.Follows() {
		t.Fatalf("after two steps down it stands on %d, follows %v", k, c.Follows())
	}
}

func TestNewRowsDoNotMoveWhatIsUnderTheEyes(t *testing.T) {
	var c Cursor[int]
	list := []int{5, 4, 3, 2, 1}
	c.Move(list, 1, 3)
	row := c.Index(list) - c.Top(list, 3)
	list = append([]int{8, 7, 6}, list...)
	if k, _ := c.Key(list); k != 4 {
		t.Errorf("the selection went to %d", k)
	}
	if got := c.Index(list) - c.Top(list, 3); got != row {
		t.Errorf("the selected row went from row %d to row %d of the pane", row, got)
	}
	if got := c.New(list); got != 3 {
		t.Errorf("%d rows are told as new, want 3", got)
	}
	c.Follow()
	if c.New(list) != 0 || c.Index(list) != 0 {
		t.Error("going live leaves the cursor behind")
	}
}

func TestMovingUpToTheTopFollowsAgain(t *testing.T) {
	var c Cursor[int]
	list := []int{3, 2, 1}
	c.Move(list, 2, 5)
	c.Move(list, -2, 5)
	if !c.Follows() {
		t.Error("the cursor stays held at the top")
	}
}

func TestARowThatGoesLeavesTheSelectionAtItsPlace(t *testing.T) {
	var c Cursor[int]
	list := []int{5, 4, 3, 2, 1}
	c.Move(list, 2, 5)
	list = slices.Delete(list, 2, 3)
	c.Settle(list)
	if k, _ := c.Key(list); k != 2 {
		t.Errorf("the selection went to %d, want its neighbour 2", k)
	}
}

func TestAnEmptyListHasNoSelection(t *testing.T) {
	var c Cursor[string]
	c.Move(nil, 1, 3)
	c.Settle(nil)
	if _, found := c.Key(nil); found || c.Index(nil) != -1 || c.Top(nil, 4) != 0 {
		t.Error("an empty list has a selection")
	}
}

func TestTheSelectionIsAlwaysInView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cursor[int]
		list := []int{0}
		next := 1
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			height := rapid.IntRange(1, 12).Draw(t, "height")
			switch rapid.IntRange(0, 4).Draw(t, "act") {
			case 0:
				list = append([]int{next}, list...)
				next++
			case 1:
				c.Move(list, rapid.IntRange(-20, 20).Draw(t, "by"), height)
			case 2:
				if len(list) > 1 {
					i := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
					list = slices.Delete(list, i, i+1)
				}
			case 3:
				c.To(list, rapid.IntRange(0, len(list)-1).Draw(t, "to"), height)
			case 4:
				c.Follow()
			}
			c.Settle(list)
			top, i := c.Top(list, height), c.Index(list)
			if i < top || i >= top+height {
				t.Fatalf("row %d is selected, rows %d to %d are shown", i, top, top+height-1)
			}
			if top < 0 || (len(list) >= height && top > len(list)-height) {
				t.Fatalf("the pane begins at %d of %d rows with %d lines: empty lines below", top, len(list), height)
			}
		}
	})
}

package keys

import (
	"slices"

	"dev.magpie/gateway/control"
)

var (
	panes   = []Scope{InAccounts, InRequests, InConvs, InGroups, InLog}
	opened  = []Scope{InRequest, InAccount, InGroup, InHelp}
	lists   = panes
	ordered = []Scope{InAccounts, InAccount, InGroups, InGroup}
	account = []Scope{InAccounts, InAccount, InRequests, InRequest, InGroup}
	copied  = []Scope{InRequests, InRequest, InAccounts, InAccount, InGroups, InGroup}
)

// commands is every command, in the order of the help.
var commands = []Command{
	{
		ID: Open, Keys: []string{"enter"}, In: slices.Concat(lists, []Scope{InGroup}), Hint: "why", Rank: 1, Class: control.Reads, Needs: []Need{NeedRow},
		Help: "open: why a request went where it did; an account; a group's order; a log line's account", Words: "details explain why show windows",
	},
	{
		ID: Back, Keys: []string{"esc"}, Hint: "back", Class: control.Reads,
		Help: "back out one step: filter, zoom, page", Words: "leave close clear",
	},
	{
		ID: Close, Keys: []string{"q"}, In: opened, Hint: "back", Class: control.Reads,
		Help: "back to the list", Words: "leave",
	},
	{
		ID: ItsAccount, Keys: []string{"a"}, In: []Scope{InRequests, InRequest, InGroup}, Hint: "account", Class: control.Reads,
		Needs: []Need{NeedRequest, NeedSent}, Help: "go to the account that a request was sent to, or that is chosen in a group", Words: "jump",
	},
	{
		ID: ItsRequests, Keys: []string{"r"}, In: []Scope{InGroups, InGroup}, Hint: "requests", Class: control.Reads,
		Needs: []Need{NeedRow}, Help: "the requests that were asked of a group", Words: "filter jump",
	},
	{
		ID: Follow, Keys: []string{"f"}, In: []Scope{InRequests, InLog, InRequest}, Hint: "follow", Class: control.Reads,
		Help: "follow the newest, or hold still", Words: "live tail pause scrolling",
	},
	{
		ID: CopyID, Keys: []string{"y i"}, In: copied, Hint: "copy id",
		Class: control.Reads, Needs: []Need{NeedRow}, Help: "copy its id", Words: "clipboard yank",
	},
	{
		ID: CopyJSON, Keys: []string{"y j"}, In: copied, Hint: "copy JSON",
		Class: control.Reads, Needs: []Need{NeedRow}, Help: "copy it as JSON", Words: "clipboard yank",
	},
	{
		ID: CopyRow, Keys: []string{"y y"}, Hint: "copy", Class: control.Reads,
		Needs: []Need{NeedRow}, Help: "copy the row, or the page, as it stands", Words: "clipboard yank line text",
	},

	{ID: Down, Keys: []string{"j", "down"}, Hint: "down", Class: control.Reads, Help: "down", Words: "next"},
	{ID: Up, Keys: []string{"k", "up"}, Hint: "up", Class: control.Reads, Help: "up", Words: "previous"},
	{
		ID: First, Keys: []string{"g", "home"}, Hint: "top", Class: control.Reads, Help: "to the top, where the list is live",
		Words: "first newest begin",
	},
	{ID: Last, Keys: []string{"G", "end"}, Hint: "end", Class: control.Reads, Help: "to the end", Words: "last oldest bottom"},
	{
		ID: HalfDown, Keys: []string{"ctrl+d", "pgdown"}, Hint: "half down", Class: control.Reads,
		Help: "half a page down", Words: "scroll",
	},
	{
		ID: HalfUp, Keys: []string{"ctrl+u", "pgup"}, Hint: "half up", Class: control.Reads,
		Help: "half a page up", Words: "scroll",
	},
	{ID: ScrollLeft, Keys: []string{"h", "left"}, Hint: "left", Class: control.Reads, Help: "scroll left", Words: "sideways"},
	{ID: ScrollRight, Keys: []string{"l", "right"}, Hint: "right", Class: control.Reads, Help: "scroll right", Words: "sideways"},

	{ID: GoAccounts, Keys: []string{"1"}, Hint: "accounts", Class: control.Reads, Help: "to the accounts; again: zoom", Words: "pane"},
	{ID: GoRequests, Keys: []string{"2"}, Hint: "requests", Class: control.Reads, Help: "to the requests; again: zoom", Words: "pane"},
	{ID: GoConvs, Keys: []string{"3"}, Hint: "conversations", Class: control.Reads, Help: "to the conversations; again: zoom", Words: "pane"},
	{ID: GoGroups, Keys: []string{"4"}, Hint: "groups", Class: control.Reads, Help: "to the groups; again: zoom", Words: "pane"},
	{ID: GoLog, Keys: []string{"5"}, Hint: "log", Class: control.Reads, Help: "to the log; again: zoom", Words: "pane"},
	{ID: NextPane, Keys: []string{"tab"}, Hint: "pane", Class: control.Reads, Help: "next pane", Words: "focus"},
	{ID: PrevPane, Keys: []string{"shift+tab"}, Hint: "pane back", Class: control.Reads, Help: "previous pane", Words: "focus"},
	{ID: Zoom, Keys: []string{"z"}, Hint: "zoom", Rank: 6, Class: control.Reads, Help: "zoom the pane; esc leaves", Words: "full large"},

	{
		ID: Pause, Keys: []string{"p"}, In: account, Hint: "pause", Rank: 2, Class: control.Reversible, Needs: []Need{NeedAccount},
		Help: "pause or resume an account", Words: "stop off resume on",
	},
	{
		ID: Pin, Keys: []string{"P"}, In: account, Hint: "pin", Rank: 3, Class: control.Reversible, Needs: []Need{NeedAccount},
		Help: "pin an account: asked first until unpinned", Words: "unpin first prefer",
	},
	{
		ID: Wake, Keys: []string{"w"}, In: account, Hint: "wake", Class: control.Reversible, Needs: []Need{NeedAccount, NeedRest},
		Help: "wake an account: end its rest now", Words: "rest again retry",
	},
	{
		ID: Refresh, Keys: []string{"u"}, In: []Scope{InAccounts, InAccount, InGroup}, Hint: "read again", Class: control.Reads, Needs: []Need{NeedAccount},
		Help: "ask an account's vendor now what is left of it", Words: "refresh quota allowance balance windows reload",
	},
	{
		ID: Later, Keys: []string{"J"}, In: ordered, Hint: "later", Class: control.Reversible, Needs: []Need{NeedMates},
		Help: "move an account, or a group's member that is chosen or next, later in the order", Words: "order down behind after routing",
	},
	{
		ID: Earlier, Keys: []string{"K"}, In: ordered, Hint: "earlier", Class: control.Reversible, Needs: []Need{NeedMates},
		Help: "move it earlier in the order", Words: "order up before first routing",
	},
	{
		ID: Undo, Keys: []string{"U"}, Hint: "undo", Class: control.Reversible, Needs: []Need{NeedUndo},
		Help: "undo the last pause, pin, wake, move or cap", Words: "take back revert",
	},

	{
		ID: Filter, Keys: []string{"/"}, In: slices.Concat(lists, []Scope{InHelp}), Hint: "filter", Rank: 4, Class: control.Reads,
		Help: "filter as you type; esc clears", Words: "search find",
	},
	{
		ID: Palette, Keys: []string{":", "ctrl+p"}, Hint: "command", Rank: 5, Class: control.Reads,
		Help: "every command by its words", Words: "palette run",
	},
	{ID: NextTheme, Keys: []string{"t"}, Hint: "theme", Class: control.Reads, Help: "next theme", Words: "colours dark light"},
	{ID: Redraw, Keys: []string{"ctrl+l"}, Hint: "redraw", Class: control.Reads, Help: "draw again", Words: "refresh repaint"},
	{ID: Help, Keys: []string{"?"}, Hint: "keys", Rank: 7, Class: control.Reads, Help: "the keys, for here and everywhere", Words: "help manual"},
	{
		ID: Quit, Keys: []string{"q"}, In: panes, Hint: "quit", Rank: 8, Class: control.Ends,
		Help: "quit; asks while serving", Words: "exit leave end",
	},
	{
		ID: Interrupt, Keys: []string{"ctrl+c"}, Hint: "quit", Class: control.Ends,
		Help: "quit like q; twice within two seconds: now", Words: "exit kill",
	},
	{
		ID: Suspend, Keys: []string{"ctrl+z"}, Hint: "why not", Class: control.Reads,
		Help: "says why the screen does not suspend: the gateway would freeze with it", Words: "background stop",
	},
}

package layout

import (
	"strings"
	"testing"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// sample are the cells of a row, each as wide as it gets or nearly.
var sample = map[Col]string{
	ColMark: "✓", ColTime: "14:02", ColAgent: "claude", ColModel: "sonnet-5-5", ColWho: "work-max", ColTry: "1", ColFirst: "0.9s",
	ColDur: "12s", ColIn: "48.1k", ColCached: "96%", ColOut: "2.0k", ColCost: "$0.031", ColConv: "c02e",
	ColName: "home-pro", ColProvider: "claude", ColWindow: "5h", ColBar: "▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰", ColAhead: "▴", ColUsed: "93%",
	ColRenews: "2h14m", ColNote: "low ∙ 7d 74%",
}

func row(width int, columns []Column) string {
	c := canvas.New(width, 1, canvas.Unicode())
	for _, k := range columns {
		if k.Right {
			c.TextRight(k.X, 0, k.W, sample[k.Col], theme.FG)
			continue
		}
		c.Text(k.X, 0, k.W, sample[k.Col], theme.FG)
	}
	return strings.TrimSuffix(c.Plain(), "\n")
}

func head(width int, columns []Column) string {
	c := canvas.New(width, 1, canvas.Unicode())
	for _, k := range columns {
		if k.Right {
			c.TextRight(k.X, 0, k.W, k.Col.Title(), theme.Muted)
			continue
		}
		c.Text(k.X, 0, k.W, k.Col.Title(), theme.Muted)
	}
	return strings.TrimSuffix(c.Plain(), "\n")
}

func TestRequestColumnsLeaveByPriority(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{120, " ✓ 14:02 claude   sonnet-5-5                     work-max                   1  0.9s   12s  48.1k  96%  2.0k  $0.031 c02e"},
		{96, " ✓ 14:02 claude   sonnet-5-5        work-max        1  0.9s   12s  48.1k  96%  2.0k  $0.031 c02e"},
		{95, " ✓ 14:02 claude   sonnet-5-5              work-max              1  0.9s   12s  48.1k  96%  2.0k"},
		{78, " ✓ 14:02 claude  sonnet-5-5      work-max      1  0.9s   12s  48.1k  96%  2.0k"},
		{60, " ✓ 14:02 sonnet-5-5   work-max      1  0.9s   12s  96%  2.0k"},
		{46, " ✓ 14:02 sonnet-5-5    work-max       12s  96%"},
		{40, " ✓ sonnet-5-5    work-max       12s  96%"},
		{30, " ✓ sonnet-5-5              12s"},
		{24, " ✓ sonnet-5-5        12s"},
		{18, " ✓ sonnet-5-   12s"},
		{17, " ✓ sonnet-5-5"},
		{4, " ✓ s"},
		{1, "✓"},
		{0, ""},
	} {
		if got := row(c.width, RequestColumns(c.width)); got != c.want {
			t.Errorf("%d\ngot  %q\nwant %q", c.width, got, c.want)
		}
	}
	if got, want := head(78, RequestColumns(78)), "   TIME  AGENT   MODEL           ANSWERED BY TRY  TTFB   DUR     IN CACH   OUT"; got != want {
		t.Errorf("heads\ngot  %q\nwant %q", got, want)
	}
	if ColBar.Title() != "" {
		t.Error("a bar has a head")
	}
}

func TestAccountColumnsFollowTheLayout(t *testing.T) {
	for _, c := range []struct {
		kind  Kind
		width int
		want  string
	}{
		{Wide, 41, " ✓ home-pro   5h ▰▰▰▰▰▰▰▰▰▰  93%   2h14m"},
		{Wide, 52, " ✓ home-pro         5h ▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰  93%   2h14m"},
		{Wide, 120, " ✓ home-pro             claude       5h ▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰▰ ▴ 93%   2h14m  low ∙ 7d 74%"},
		{Stacked, 80, " ✓ home-pro   claude    5h ▰▰▰▰▰▰▰▰▰▰▰▰▰ ▴ 93%   2h14m  low ∙ 7d 74%"},
		{Stacked, 46, " ✓ home-pro   ▰▰▰▰▰▰▰▰ ▴ 93% 2h14m 5h low ∙ 7d"},
		{Stacked, 44, " ✓ home-pro   ▰▰▰▰▰▰▰▰ ▴ 93% 2h14m 5h low ∙"},
		{Tiny, 40, " ✓ home-pro   ▰▰▰▰▰▰▰▰▰▰ ▴ 93%  2h14m"},
		{Tiny, 32, " ✓ home-pro   ▰▰▰▰▰ ▴ 93%  2h14m"},
		{Sliver, 24, " ✓ home-pro  93%  2h14m"},
		{Sliver, 23, " ✓ home-pro  93%  2h14m"},
		{Sliver, 22, " ✓ home-pro        93%"},
		{Sliver, 12, " ✓ home- 93%"},
		{Sliver, 11, " ✓ home-pro"},
		{Sliver, 4, " ✓ h"},
		{Sliver, 1, "✓"},
		{Sliver, 0, ""},
	} {
		if got := row(c.width, AccountColumns(c.width, c.kind, 10)); got != c.want {
			t.Errorf("%s of %d\ngot  %q\nwant %q", c.kind, c.width, got, c.want)
		}
	}
	if AccountLines(Wide) != 2 || AccountLines(Stacked) != 1 || AccountLines(Sliver) != 1 {
		t.Error("lines of an account")
	}
}

func TestColumnsStayInsideAndApartAtEveryWidth(t *testing.T) {
	for width := -3; width <= 250; width++ {
		for name, columns := range map[string][]Column{
			"requests":                      RequestColumns(width),
			"wide accounts":                 AccountColumns(width, Wide, 10),
			"wide accounts of long names":   AccountColumns(width, Wide, 40),
			"narrow accounts of long names": AccountColumns(width, Stacked, 40),
			"narrow accounts":               AccountColumns(width, Stacked, 10),
		} {
			end := 0
			for _, c := range columns {
				if c.X < end || c.W < 0 || c.X+c.W > max(width, 0) {
					t.Fatalf("%s at %d: %+v after %d", name, width, c, end)
				}
				end = c.X + c.W
			}
		}
	}
}

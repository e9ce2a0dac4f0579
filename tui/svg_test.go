package tui

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"dev.magpie/tui/canvas"
	"dev.magpie/tui/theme"
)

// A cell of the picture in its own units.
const (
	cellW, cellH = 8.4, 18
	margin       = 12
)

// pictured turns a golden frame, its pens and a theme into a picture.
func pictured(plain, pens string, worn *theme.Theme, w int) (string, error) {
	lines, runs := strings.Split(strings.TrimSuffix(plain, "\n"), "\n"), strings.Split(strings.TrimSuffix(pens, "\n"), "\n")
	width, height := float64(w)*cellW+2*margin, float64(len(lines))*cellH+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="magpie's screen">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", worn.Looks[theme.BG].Hex)
	b.WriteString(`<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" xml:space="preserve">` + "\n")
	for y, line := range lines {
		if err := picturedLine(&b, y, line, runs[y], worn); err != nil {
			return "", err
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String(), nil
}

// picturedLine draws the runs of one line, each stretched to its cells, whatever font there is.
func picturedLine(b *strings.Builder, y int, line, runs string, worn *theme.Theme) error {
	if runs == "" {
		return nil
	}
	x := 0
	for run := range strings.SplitSeq(runs, ", ") {
		name, count, _ := strings.Cut(run, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return fmt.Errorf("read the run %q: %w", run, err)
		}
		name, chosen := strings.CutSuffix(name, "+")
		role, known := theme.RoleNamed(name)
		if !known && name != theme.None.String() {
			return fmt.Errorf("no role is called %q", name)
		}
		text, rest := takeCells(line, n)
		line = rest
		if chosen {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", margin+float64(x)*cellW, margin+float64(y)*cellH, float64(n)*cellW, cellH, worn.Looks[theme.SelectBG].Hex)
		}
		picturedRun(b, x, y, text, look(worn, role, chosen))
		x += n
	}
	return nil
}

func look(worn *theme.Theme, role theme.Role, chosen bool) theme.Look {
	switch {
	case role == theme.None && chosen:
		return worn.Looks[theme.SelectFG]
	case role == theme.None:
		return worn.Looks[theme.FG]
	case chosen && role < theme.Fine:
		return worn.Looks[theme.SelectFG]
	}
	return worn.Looks[role]
}

func picturedRun(b *strings.Builder, x, y int, text string, l theme.Look) {
	trimmed := strings.TrimRight(text, " ")
	lead := len(trimmed) - len(strings.TrimLeft(trimmed, " "))
	trimmed = trimmed[lead:]
	if trimmed == "" {
		return
	}
	weight := ""
	if l.Attr&theme.AttrBold != 0 {
		weight = ` font-weight="bold"`
	}
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(trimmed)) // a strings.Builder takes everything
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		margin+float64(x+lead)*cellW, margin+float64(y)*cellH+13.5, float64(canvas.Width(trimmed))*cellW, l.Hex, weight, escaped.String())
}

// takeCells cuts the first n cells off a line; what a golden file leaves out at its end is blank.
func takeCells(line string, n int) (cells, rest string) {
	used := 0
	for i, r := range line {
		if used >= n && canvas.Width(string(r)) > 0 {
			return line[:i], line[i:]
		}
		used += canvas.Width(string(r))
	}
	return line + strings.Repeat(" ", max(n-used, 0)), ""
}

// TestThePictureOfTheREADME is made of a golden frame, so that it never shows what the screen does not.
func TestThePictureOfTheREADME(t *testing.T) {
	const frame = "detail@120x40"
	read := func(ext string) string {
		text, err := os.ReadFile(filepath.Join("testdata", "frames", frame+ext))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	worn, err := theme.Load("magpie-dark", nil)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := pictured(read(".txt"), read(".pens"), worn, 120)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.ValidString(picture) {
		t.Error("the picture is no text")
	}
	golden(t, filepath.Join("testdata", "screen.svg"), picture)
}

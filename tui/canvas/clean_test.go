package canvas

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanLeavesOnlyWhatMayStandInACell(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text", "sonnet-5-5", "sonnet-5-5"},
		{"nothing", "", ""},
		{"letters with marks", "émile 智谱·GLM 编码 🚀", "émile 智谱·GLM 编码 🚀"},
		{"a colour", "\x1b[31mred\x1b[0m", "red"},
		{"a colour with colons", "\x1b[38:2::1:2:3mred", "red"},
		{"a cursor move", "a\x1b[2;3Hb", "ab"},
		{"the clipboard, ended by a bell", "a\x1b]52;c;c2VjcmV0\x07b", "ab"},
		{"the clipboard, ended by a string end", "a\x1b]52;c;c2VjcmV0\x1b\\b", "ab"},
		{"the clipboard by eight-bit controls", "a\u009d52;c;c2VjcmV0\u009cb", "ab"},
		{"the clipboard without an end", "\x1b]52;c;c2VjcmV0", "52;c;c2VjcmV0"},
		{"an end that another sequence breaks off", "\x1b]0;title\x1b[31mred", "0;titlered"},
		{"a device string", "a\x1bP$q\"p\x1b\\b", "ab"},
		{"a program string", "a\x1b_Ga=T;AAAA\x1b\\b", "ab"},
		{"a private message", "a\x1b^x\x1b\\b\x1bXy\x1b\\c", "abc"},
		{"an eight-bit colour", "\u009b31mred", "red"},
		{"raw eight-bit bytes", "\x9b31m\xff\xfe", "?31m??"},
		{"a cut sequence", "text\x1b[3", "text"},
		{"a lone escape", "text\x1b", "text"},
		{"an escape before a letter with marks", "\x1bé", "é"},
		{"a reset of the terminal", "a\x1bcb", "ab"},
		{"a character set", "a\x1b(0qqq\x1b(B", "aqqq"},
		{"a character set that stops", "a\x1b(", "a"},
		{"a sequence with a control inside", "\x1b[3\n1mx", " 1mx"},
		{"line ends and tabs", "one\r\ntwo\nthree\tfour\u2028five\u0085six", "one two three four five six"},
		{"a carriage return", "safe\roverwritten", "safe overwritten"},
		{"backspaces, bells, nulls", "a\b\a\x00\x7fb", "ab"},
		{"text turned round", "safe\u202egnp.exe\u202c", "safegnp.exe"},
		{"isolates and marks", "\u2066a\u2067b\u2068c\u2069\u200e\u200f\u061c", "abc"},
		{"things there to be unseen", "a\u200bb\ufeffc\u00add\u2060e\u180ef", "abcdef"},
		{"a joined family", "👩‍👩‍👧", "👩‍👩‍👧"},
		{"a replacement character that was there", "a\ufffdb", "a\ufffdb"},
	} {
		got := Clean(c.in)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if again := Clean(got); again != got {
			t.Errorf("%s: cleaned again it is %q", c.name, again)
		}
	}
}

func TestCleanGivesBackACleanStringItself(t *testing.T) {
	for _, s := range []string{"sonnet-5-5", "智谱·GLM 编码 🚀"} {
		if n := testing.AllocsPerRun(100, func() { Clean(s) }); n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

// Strings that begin many sequences must not cost more than their length.
func TestCleanIsLinearInTheWorstCase(t *testing.T) {
	for _, part := range []string{"\x1b]", "\x1bP", "\u009d", "\x1b(", "\x1b[1;", "\u009b"} {
		s := strings.Repeat(part, 1<<17)
		if got := Clean(s); len(got) > len(s) {
			t.Errorf("%q grew", part)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{
		"\x1b]52;c;AAAA\x07", "\x1b[31m\x9b\u202e", "e\u0301 👩‍👩‍👧 🇩🇪", "\xff\xc2\x1b(\x1b", "\u009d\x1b\\\u009c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if isSpace(r) || !isShown(r) {
				t.Errorf("%q holds %U", got, r)
			}
		}
		if again := Clean(got); again != got {
			t.Errorf("cleaned again %q is %q", got, again)
		}
	})
}

package term

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	lightReply = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
	kindReply  = "\x1b[?62;4c"
)

func TestAnswersAreTakenOutOfWhatIsTyped(t *testing.T) {
	for _, c := range []struct{ name, sent, typed, colour string }{
		{"both answers", lightReply + kindReply, "", "rgb:ffff/ffff/ffff"},
		{"ended by a bell", "\x1b]11;#000000\a", "", "#000000"},
		{"keys around them", "j" + lightReply + "k" + kindReply + "\x1b[A", "jk\x1b[A", "rgb:ffff/ffff/ffff"},
		{"only keys", "jk\x1b[A\x1b[1;5D\x1bx", "jk\x1b[A\x1b[1;5D\x1bx", ""},
		{"another answer", "\x1b]10;rgb:0/0/0\a", "\x1b]10;rgb:0/0/0\a", ""},
		{"a paste that quotes one", "\x1b[200~" + lightReply + "\x1b[201~", "\x1b[200~\x1b[201~", "rgb:ffff/ffff/ffff"},
		{"an answer without an end", "\x1b]11;" + strings.Repeat("x", 100) + "\a", "\x1b]11;" + strings.Repeat("x", 100) + "\a", ""},
		{"an answer with a control in it", "\x1b]11;rgb\x01\a", "\x1b]11;rgb\x01\a", ""},
		{"a mode report is none", "\x1b[?2026;2$y", "\x1b[?2026;2$y", ""},
		{"the escape key", "\x1b", "\x1b", ""},
		{"two escapes", "\x1b\x1b", "\x1b\x1b", ""},
		{"letters beyond ASCII", "é智" + kindReply, "é智", ""},
	} {
		var r replies
		got := string(r.feed([]byte(c.sent))) + string(r.rest())
		if got != c.typed || r.colour != c.colour {
			t.Errorf("%s: typed %q, colour %q; want %q, %q", c.name, got, r.colour, c.typed, c.colour)
		}
	}
}

// Wherever the terminal's bytes are cut, no piece of an answer may be typed, and no key lost.
func TestAnswersInPiecesAreTakenOutToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent, typed := "", ""
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			part := rapid.SampledFrom([]string{"j", "\x1b[A", "\x1b[200~", "智", "\x1b[1;5D", "q", lightReply, kindReply, "\x1b]11;rgb:0/0/0\a"}).Draw(t, "part")
			sent += part
			if part != lightReply && part != kindReply && !strings.HasPrefix(part, "\x1b]") {
				typed += part
			}
		}
		var r replies
		var got strings.Builder
		cut := 0
		for len(sent) > 0 {
			n := rapid.IntRange(1, len(sent)).Draw(t, "cut")
			if sent[n-1] == 0x1b && n < len(sent) {
				cut++ // the escape of an answer is out before it is known as one
			}
			got.Write(r.feed([]byte(sent[:n])))
			sent = sent[n:]
		}
		got.Write(r.rest())
		want := typed
		if cut == 0 && got.String() != want {
			t.Fatalf("typed %q, want %q", got.String(), want)
		}
		strip := func(s string) string { return strings.ReplaceAll(s, "\x1b", "") }
		if strip(got.String()) != strip(want) || strings.Count(got.String(), "\x1b") > strings.Count(want, "\x1b")+cut {
			t.Fatalf("typed %q, want %q", got.String(), want)
		}
	})
}

func TestAColourIsDarkOrLight(t *testing.T) {
	for _, c := range []struct {
		colour   string
		dark, ok bool
	}{
		{"rgb:ffff/ffff/ffff", false, true},
		{"rgb:0000/0000/0000", true, true},
		{"rgb:1e/1e/2e", true, true},
		{"rgb:f/f/f", false, true},
		{"rgb:fdfd/f6f6/e3e3", false, true},
		{"rgba:0000/0000/0000/ffff", true, true},
		{"#ffffff", false, true},
		{"#002b36", true, true},
		{"#ffffffffffff", false, true},
		{"rgb:0000/ffff/0000", false, true}, // green is bright
		{"rgb:0000/0000/ffff", true, true},  // blue is not
		{"", false, false},
		{"rgb:", false, false},
		{"rgb:zz/zz/zz", false, false},
		{"rgb:fffff/0/0", false, false},
		{"rgb://", false, false},
		{"#fff", false, false},
		{"white", false, false},
	} {
		isDark, ok := dark(c.colour)
		if isDark != c.dark || ok != c.ok {
			t.Errorf("%q: %v, %v; want %v, %v", c.colour, isDark, ok, c.dark, c.ok)
		}
	}
}

func TestALateAnswerIsToldAndNotTyped(t *testing.T) {
	var told []bool
	start := time.Now()
	in := &Input{late: func(dark bool) { told = append(told, dark) }, until: start.Add(lateFor)}
	if got := in.filter([]byte("j"+lightReply[:9]), start); string(got) != "j" {
		t.Errorf("typed %q", got)
	}
	if got := in.filter([]byte(lightReply[9:]+"k"), start); string(got) != "k" {
		t.Errorf("typed %q", got)
	}
	if len(told) != 1 || told[0] || in.done {
		t.Errorf("told %v, done %v", told, in.done)
	}
	if got := in.filter([]byte(kindReply), start); len(got) != 0 || !in.done {
		t.Errorf("typed %q, done %v", got, in.done)
	}
}

func TestAfterAWhileNothingIsKeptBack(t *testing.T) {
	start := time.Now()
	in := &Input{until: start.Add(lateFor)}
	if got := in.filter([]byte("\x1b]"), start); len(got) != 0 {
		t.Errorf("typed %q", got)
	}
	if got := in.filter([]byte("x"), start.Add(lateFor+1)); string(got) != "\x1b]x" || !in.done {
		t.Errorf("typed %q", got)
	}
}

func FuzzReplies(f *testing.F) {
	f.Add([]byte("j"+lightReply+kindReply), 3)
	f.Add([]byte("\x1b]11;\x1b\x1b[?c"), 1)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var r replies
		n = min(max(n, 0), len(b))
		out := len(r.feed(b[:n])) + len(r.feed(b[n:])) + len(r.rest())
		if out > len(b) {
			t.Errorf("%d bytes became %d", len(b), out)
		}
	})
}

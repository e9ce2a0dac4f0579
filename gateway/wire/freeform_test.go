package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFreeInputIsWhatTheArgumentsMean(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"the string of input":          {`{"input":"*** Begin Patch\n+\ta \"b\" \\ c\n"}`, "*** Begin Patch\n+\ta \"b\" \\ c\n"},
		"blanks anywhere":              {" {\n \"input\" : \"a\" \n} ", "a"},
		"a pair of surrogates":         {`{"input":"x\ud83d\ude00y"}`, "x😀y"},
		"half a pair":                  {`{"input":"x\ud83dy"}`, "x\uFFFDy"},
		"an escaped letter":            {`{"input":"\u00e9\/"}`, "é/"},
		"input is not the first key":   {`{"note":1,"input":"a"}`, "a"},
		"a bare string":                {`"raw\npatch"`, "raw\npatch"},
		"raw text":                     {"*** Begin Patch\n", "*** Begin Patch\n"},
		"an object of something else":  {`{"patch":"a"}`, `{"patch":"a"}`},
		"input is no string":           {`{"input":{"a":1}}`, `{"input":{"a":1}}`},
		"nothing":                      {"", ""},
		"an object cut in its string":  {`{"input":"half a li`, "half a li"},
		"an empty string":              {`{"input":""}`, ""},
		"a string with more behind it": {`{"input":"a","b":2}`, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := FreeInput(c.args); got != c.want {
				t.Errorf("whole: got %q, want %q", got, c.want)
			}
			var d FreeDecoder
			var b strings.Builder
			for i := range len(c.args) {
				b.WriteString(d.Add(c.args[i : i+1]))
			}
			b.WriteString(d.End())
			if b.String() != c.want {
				t.Errorf("byte by byte: got %q, want %q", b.String(), c.want)
			}
		})
	}
}

func TestFreeArgsComeBack(t *testing.T) {
	for _, in := range []string{"", "a", "<&>\u2028\x00\"\\\n", "ünï😀"} {
		args := FreeArgs(in)
		if !json.Valid(args) {
			t.Fatalf("%q: not JSON: %s", in, args)
		}
		if got := FreeInput(string(args)); got != in {
			t.Errorf("got %q, want %q", got, in)
		}
	}
}

func TestFreeDecoderStreamsInsideOfTheString(t *testing.T) {
	var d FreeDecoder
	if got := d.Add(`{"input":"ab`); got != "ab" {
		t.Errorf("got %q", got)
	}
	if got := d.Add("cd"); got != "cd" {
		t.Errorf("got %q", got)
	}
	if got := d.Add(`\`) + d.Add(`n"}`) + d.End(); got != "\n" {
		t.Errorf("got %q", got)
	}
}

func TestAFreeformToolIsAFunctionThatTellsItsGrammar(t *testing.T) {
	f := FreeFunction(Tool{Kind: ToolFree, Name: "apply_patch", Description: "Edit.", Grammar: &Grammar{"lark", "start: x"}})
	if f.Kind != ToolFunction || f.Description != "Edit.\n\nInput is raw text following this lark grammar:\nstart: x" {
		t.Errorf("got %+v", f)
	}
	if string(f.Schema) != `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}` {
		t.Errorf("schema %s", f.Schema)
	}
	if f = FreeFunction(Tool{Kind: ToolFree, Name: "x", Description: "d"}); f.Description != "d" {
		t.Errorf("without a grammar: %q", f.Description)
	}
}

func FuzzFreeDecoder(f *testing.F) {
	f.Add(`{"input":"a\ud83d\ude00\n"}`, 3)
	f.Add(`{"input" : "\u12`, 1)
	f.Fuzz(func(t *testing.T, args string, step int) {
		if step < 1 || step > 64 {
			step = 1
		}
		want := FreeInput(args)
		var d FreeDecoder
		got := ""
		for rest := args; rest != ""; {
			n := min(step, len(rest))
			got += d.Add(rest[:n])
			rest = rest[n:]
		}
		if got += d.End(); got != want {
			t.Errorf("in pieces %q, whole %q", got, want)
		}
	})
}

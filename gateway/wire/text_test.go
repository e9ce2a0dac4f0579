package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextsAreJoined(t *testing.T) {
	image := Part{Kind: KindImage, Media: &Media{URL: "u"}}
	cite := []Cite{{URL: "u"}}
	for name, c := range map[string]struct {
		parts []Part
		want  string
	}{
		"none":                            {},
		"one":                             {[]Part{{Text: "a"}}, "a"},
		"several":                         {[]Part{{Text: "a"}, {Text: "b"}, {Text: "c"}}, "a|b|c"},
		"empty ones and media are passed": {[]Part{{}, {Text: "a"}, image, {}, {Text: "b"}, {}}, "a|b"},
		"refusals and documents too":      {[]Part{{Kind: KindRefusal, Text: "a"}, {Kind: KindFile, Media: &Media{Name: "t", Text: "b"}}}, "a|t\nb"},
		"pieces of a cited text are one":  {[]Part{{Text: "a "}, {Text: "b", Cites: cite}, {Text: " c"}, {Text: "d"}}, "a b c|d"},
	} {
		if got := JoinText(c.parts, "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAResultAsText(t *testing.T) {
	image := Part{Kind: KindImage, Media: &Media{URL: "u"}}
	file := Part{Kind: KindFile, Media: &Media{Data: "JVBERi", MIME: "application/pdf"}}
	for name, c := range map[string]struct {
		r     Result
		want  string
		media []Part
	}{
		"empty":                    {},
		"text":                     {r: Result{Parts: []Part{{Text: "a"}, {Text: "b"}}}, want: "a\nb"},
		"text and an image":        {r: Result{Parts: []Part{{Text: "a"}, image}}, want: "a", media: []Part{image}},
		"an image alone":           {r: Result{Parts: []Part{image}}, want: "see image below", media: []Part{image}},
		"a file alone":             {r: Result{Parts: []Part{file}}, want: "see file below", media: []Part{file}},
		"a failure":                {r: Result{Error: true, Parts: []Part{{Text: "a"}}}, want: "Error: a"},
		"a failure that says so":   {r: Result{Error: true, Parts: []Part{{Text: "Error: a"}}}, want: "Error: a"},
		"a failure without a word": {r: Result{Error: true}, want: "Error: "},
	} {
		text, media := ResultText(&c.r)
		if text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
		if d := cmp.Diff(c.media, media); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestAResultThatIsTheJSONOfPartsIsUnwrapped(t *testing.T) {
	png := &Media{MIME: "image/png", Data: "AAAA"}
	high := &Media{MIME: "image/png", Data: "AAAA", Detail: "high"}
	for in, want := range map[string][]Part{
		`[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"high"}]`: {{Text: "a"}, {Kind: KindImage, Media: high}},
		` [{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"high"}}]`:                           {{Kind: KindImage, Media: high}},
		`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`:                               {{Kind: KindImage, Media: png}},
		`[{"type":"image","mimeType":"image/png","data":"AAAA"}]`:                                                            {{Kind: KindImage, Media: png}},
		`[{"type":"input_text","text":"no image"}]`:                                                                          nil,
		`[{"type":"image","data":""}]`:                                                                                       nil,
		`[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"x"}]`:                                               nil,
		`[{"type":"image","mimeType":"image/png","data":"AAAA"}] and more`:                                                   nil,
		`an [image]`: nil,
		`[]`:         nil,
	} {
		if d := cmp.Diff(want, Unwrap(in)); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
}

func TestMediaAsURLs(t *testing.T) {
	for url, want := range map[string]Media{
		"data:image/PNG;base64,AAAA":                {MIME: "image/png", Data: "AAAA"},
		"DATA:text/plain;charset=utf-8;base64,AAAA": {MIME: "text/plain", Data: "AAAA"},
		"data:text/plain,hi":                        {URL: "data:text/plain,hi"},
		"data:":                                     {URL: "data:"},
		"https://x/y":                               {URL: "https://x/y"},
	} {
		if d := cmp.Diff(want, *MediaAt(url)); d != "" {
			t.Errorf("%s: %s", url, d)
		}
	}
	for data, want := range map[string]string{
		"iVBORw0KGgoAAA": "image/png", "/9j/4AAQ": "image/jpeg", "R0lGODlh": "image/gif", "UklGRhA": "image/webp", "JVBERi0x": "application/pdf", "AAAA": "application/octet-stream",
	} {
		m := Media{Data: data}
		if got := m.AsURL(); got != "data:"+want+";base64,"+data {
			t.Errorf("%s: got %s", data, got)
		}
	}
}

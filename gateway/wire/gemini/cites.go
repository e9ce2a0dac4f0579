package gemini

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"dev.magpie/gateway/wire"
)

// citesMost bounds how many places of a text are cited.
const citesMost = 500

// citing keeps a reply's text, and the newest that was told of its sources.
type citing struct {
	on     bool // sources may come: without a hosted search there are none
	text   strings.Builder
	ground json.RawMessage
}

func (c *citing) say(text string) {
	if c.on {
		c.text.WriteString(text)
	}
}

// all are the citations. Google counts bytes; here characters count.
func (c *citing) all() []wire.Cite {
	v := wire.Value(c.ground)
	if v.None() {
		return nil
	}
	var sources []wire.Cite
	v.Get("groundingChunks").Elements(func(e wire.Value) {
		web := e.Get("web")
		if web.None() {
			web = e.Get("retrievedContext")
		}
		sources = append(sources, wire.Cite{URL: web.Get("uri").Text(), Title: web.Get("title").Text()})
	})
	var out []wire.Cite
	cited := make([]bool, len(sources))
	said := c.text.String()
	v.Get("groundingSupports").Elements(func(e wire.Value) {
		if len(out) >= citesMost {
			return
		}
		text, start, end := place(e.Get("segment"), said)
		e.Get("groundingChunkIndices").Elements(func(n wire.Value) {
			i, ok := n.Int()
			if !ok || i < 0 || int(i) >= len(sources) || sources[i].URL == "" || len(out) >= citesMost {
				return
			}
			cite := sources[i]
			cite.Text, cite.Start, cite.End = text, start, end
			cited[i] = true
			out = append(out, cite)
		})
	})
	for i := range sources {
		if !cited[i] && sources[i].URL != "" && len(out) < citesMost {
			out = append(out, sources[i])
		}
	}
	return out
}

// place finds a segment in what was said: where it says, or where its text stands.
func place(segment wire.Value, said string) (text string, start, end int) {
	text = segment.Get("text").Text()
	from, _ := segment.Get("startIndex").Int()
	to, _ := segment.Get("endIndex").Int()
	switch {
	case from >= 0 && to > from && to <= int64(len(said)) && (text == "" || said[from:to] == text):
	case text != "":
		i := strings.Index(said, text)
		if i < 0 {
			return text, 0, 0
		}
		from, to = int64(i), int64(i+len(text))
	default:
		return "", 0, 0
	}
	start = utf8.RuneCountInString(said[:from])
	return said[from:to], start, start + utf8.RuneCountInString(said[from:to])
}

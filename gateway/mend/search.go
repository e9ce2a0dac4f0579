package mend

import (
	"bytes"
	"strings"

	"dev.magpie/gateway/wire"
)

// searchWord is the name of a web search in tools and choices, but for Gemini's.
const searchWord = "web_search"

// search takes a web search that the vendor can't do off what is offered: agents offer it
// in every turn, and are answered without.
func (r *repair) search(api wire.Protocol) {
	switch api {
	case wire.Chat:
		const options = "web_search_options"
		if r.tops(options + `"`) {
			r.edit(options, func(b []byte) []byte { return cutField(b, []string{options}) })
		}
	case wire.Responses:
		r.offered(bytes.Contains(r.body, []byte(`"web_search`)), func(b []byte) []byte {
			b = wire.Weed(b, isSearch, "tools")
			return wire.Weed(b, isSearch, "input", "*", "tools")
		})
	case wire.Messages:
		r.offered(r.tops("web_search_2"), func(b []byte) []byte { return wire.Weed(b, isSearch, "tools") })
	case wire.Gemini:
		if r.tops("googleSearch") || r.tops(`google_search"`) {
			r.edit("tools.googleSearch", func(b []byte) []byte {
				b = wire.Cut(b, func(key string, _ wire.Value) bool {
					return key == "googleSearch" || key == "google_search" || key == "googleSearchRetrieval"
				}, "tools", "*")
				return withoutTools(wire.Weed(b, empty, "tools"))
			})
		}
	}
}

// isSearch says that a tool is a web search that its vendor would run, not one of the agent's own.
func isSearch(t wire.Value) bool { return strings.HasPrefix(t.Get("type").Text(), searchWord) }

func (r *repair) offered(may bool, weed func([]byte) []byte) {
	if !may {
		return
	}
	r.edit("tools.web_search", func(b []byte) []byte {
		out := weed(b)
		if len(out) == len(b) {
			return b
		}
		c := wire.Value(out).Get("tool_choice")
		if isSearch(c) || c.Get("name").Text() == searchWord {
			out = cutField(out, []string{"tool_choice"})
		}
		return withoutTools(out)
	})
}

// withoutTools takes off what only counts beside tools, where none are left.
func withoutTools(b []byte) []byte {
	tools := wire.Value(b).Get("tools")
	if tools.None() || !empties(tools) {
		return b
	}
	return wire.Cut(b, func(key string, _ wire.Value) bool {
		switch key {
		case "tools", "tool_choice", "parallel_tool_calls", "toolConfig":
			return true
		}
		return false
	})
}

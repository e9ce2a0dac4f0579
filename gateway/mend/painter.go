package mend

import (
	"bytes"
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// painter is Codex's tool that makes images: a namespace, which some write flat.
const painter = "image_gen"

func isPainter(name string) bool { return name == painter || strings.HasPrefix(name, painter+"__") }

// paints says whether a tool is that one, as any of the APIs writes tools.
func paints(t wire.Value) bool {
	return isPainter(t.Get("name").Text()) || isPainter(t.Get("function").Get("name").Text())
}

// paintersAt are where the APIs offer tools.
func paintersAt(api wire.Protocol) [][]string {
	switch api {
	case wire.Responses:
		return [][]string{{"tools"}, {"input", "*", "tools"}}
	case wire.Gemini:
		return [][]string{{"tools", "*", "functionDeclarations"}}
	case wire.Chat, wire.Messages:
	}
	return [][]string{{"tools"}}
}

// painter: a vendor of another house that refuses a request, and says of nothing else that it
// is wrong, may not know that tool.
func (f *finder) painter() []Found {
	if f.House || !f.r.Plain || f.namesOptional() {
		return nil
	}
	t := Thing{What: Painter}
	if out := cutPainter(f.API, f.Body); len(out) == len(f.Body) {
		return nil
	}
	return []Found{{Thing: t, Keep: true, Wide: true, Bet: true}}
}

// namesOptional says whether the words are about an optional field, as such are named: between
// quotes, or before a colon.
func (f *finder) namesOptional() bool {
	param := f.param()
	return slices.ContainsFunc(append([]string{"reasoning"}, optional...), func(name string) bool {
		return param == name || strings.Contains(f.said, name) && slices.ContainsFunc([]string{"'" + name + "'", `"` + name + `"`, "`" + name + "`", ": " + name, name + ":"}, func(as string) bool {
			return strings.Contains(f.said, as)
		})
	})
}

// cutPainter takes the tool off what is offered; a request that then offers none has no choice to make.
func cutPainter(api wire.Protocol, body []byte) []byte {
	if !bytes.Contains(body, []byte(`"`+painter)) {
		return body
	}
	out := body
	for _, path := range paintersAt(api) {
		out = wire.Weed(out, paints, path...)
	}
	if len(out) == len(body) {
		return body
	}
	if api == wire.Gemini {
		out = wire.Weed(out, declaresNone, "tools")
	}
	if c := wire.Value(out).Get("tool_choice"); paints(c) {
		out = cutField(out, []string{"tool_choice"})
	}
	return withoutTools(out)
}

// declaresNone says that a tool of Gemini's is a list of functions that has become empty.
func declaresNone(t wire.Value) bool {
	only, list := true, wire.Value(nil)
	t.Members(func(key string, v wire.Value) {
		if key == "functionDeclarations" {
			list = v
			return
		}
		only = false
	})
	return only && list.Kind() == '[' && empties(list)
}

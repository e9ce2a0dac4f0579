package mend

import (
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// Apply takes things out of a body in its bytes. It returns body itself where nothing of
// them is in it, and the things that it took out.
func Apply(api wire.Protocol, body []byte, things []Thing) (out []byte, done []Thing) {
	for _, t := range things {
		before := body
		body = t.apply(api, body)
		if len(before) != len(body) || len(body) > 0 && &before[0] != &body[0] {
			done = append(done, t)
		}
	}
	return body, done
}

func (t Thing) apply(api wire.Protocol, body []byte) []byte {
	switch t.What {
	case Field:
		return cutField(body, strings.Split(t.Path, "."))
	case Level:
		return setLevel(api, body, t)
	case Choice:
		return loosen(api, body)
	case Least:
		return limit(body, func(n int64) bool { return n < t.N }, t.N)
	case Most:
		return limit(body, func(n int64) bool { return n > t.N }, t.N)
	case Bare:
		return cutBare(body)
	case Painter:
		return cutPainter(api, body)
	case Adaptive:
		return adaptive(api, body)
	case Beta, Images, Thoughts, Recall, Unfit:
	}
	return body
}

// adaptive leaves it to the model how much it thinks.
func adaptive(api wire.Protocol, body []byte) []byte {
	if api != wire.Messages || wire.Value(body).At("thinking", "type").Text() != "enabled" {
		return body
	}
	body = wire.Put(body, "type", []byte(`"adaptive"`), "thinking")
	return wire.Cut(body, func(key string, _ wire.Value) bool { return key == "budget_tokens" }, "thinking")
}

// cutField takes a field out, and the objects around it that hold nothing else.
func cutField(body []byte, path []string) []byte {
	n := len(path) - 1
	body = wire.Cut(body, func(key string, _ wire.Value) bool { return key == path[n] }, path[:n]...)
	for ; n > 0 && path[n-1] != "*"; n-- {
		under := path[n-1]
		body = wire.Cut(body, func(key string, v wire.Value) bool { return key == under && empty(v) }, path[:n-1]...)
	}
	return body
}

func empty(v wire.Value) bool {
	none := v.Kind() == '{'
	v.Members(func(string, wire.Value) { none = false })
	return none
}

func setLevel(api wire.Protocol, body []byte, t Thing) []byte {
	if t.Path == "" { // it was not said at all
		if api == wire.Chat && wire.Value(body).Get("reasoning_effort").None() && wire.Value(body).Get("tools").Kind() == '[' {
			return wire.Put(body, "reasoning_effort", wire.Quote(t.To))
		}
		return body
	}
	to := t.To
	if api == wire.Gemini {
		to = strings.ToUpper(to)
	}
	for _, path := range levelAt[api] {
		body = wire.Swap(body, func(v wire.Value) []byte {
			if strings.EqualFold(v.Text(), t.Path) {
				return wire.Quote(to)
			}
			return nil
		}, path...)
	}
	return body
}

func limit(body []byte, wrong func(int64) bool, n int64) []byte {
	for _, path := range outputAt {
		body = wire.Swap(body, func(v wire.Value) []byte {
			if asked, ok := v.Int(); ok && wrong(asked) {
				return strconv.AppendInt(nil, n, 10)
			}
			return nil
		}, path...)
	}
	return body
}

// choiceAt is where each API says which tool must be called.
var choiceAt = map[wire.Protocol][]string{
	wire.Chat: {"tool_choice"}, wire.Responses: {"tool_choice"}, wire.Messages: {"tool_choice"}, wire.Gemini: {"toolConfig", "functionCallingConfig"},
}

// forced says whether a request leaves the model no choice but to call a tool.
func forced(api wire.Protocol, v wire.Value) bool {
	c := v.At(choiceAt[api]...)
	switch api {
	case wire.Chat, wire.Responses:
		return c.Text() == "required" || c.Kind() == '{' && c.Get("type").Text() != "allowed_tools"
	case wire.Messages:
		k := c.Get("type").Text()
		return k == "any" || k == "tool"
	case wire.Gemini:
		return c.Get("mode").Text() == "ANY"
	}
	return false
}

// loosen lets the model choose. Where one tool was named, it alone stays on offer.
func loosen(api wire.Protocol, body []byte) []byte {
	v := wire.Value(body)
	if !forced(api, v) {
		return body
	}
	c := v.At(choiceAt[api]...)
	only := c.Get("name").Text()
	switch api {
	case wire.Chat:
		kind := c.Get("type").Text()
		only = c.Get(kind).Get("name").Text()
		body = weedTools(body, func(t wire.Value) bool { return t.Get(t.Get("type").Text()).Get("name").Text() == only }, only)
		return wire.Put(body, "tool_choice", []byte(`"auto"`))
	case wire.Responses:
		body = weedTools(body, func(t wire.Value) bool {
			return t.Get("name").Text() == only || c.Get("namespace").Text() != "" && t.Get("name").Text() == c.Get("namespace").Text()
		}, only)
		return wire.Put(body, "tool_choice", []byte(`"auto"`))
	case wire.Messages:
		body = weedTools(body, func(t wire.Value) bool { return t.Get("name").Text() == only }, only)
		body = wire.Put(body, "type", []byte(`"auto"`), "tool_choice")
		return wire.Cut(body, func(key string, _ wire.Value) bool { return key == "name" }, "tool_choice")
	case wire.Gemini:
		return loosenGemini(body, c)
	}
	return body
}

func loosenGemini(body []byte, c wire.Value) []byte {
	var allowed []string
	c.Get("allowedFunctionNames").Elements(func(n wire.Value) { allowed = append(allowed, n.Text()) })
	if allowed != nil {
		body = wire.Weed(body, func(f wire.Value) bool { return !slices.Contains(allowed, f.Get("name").Text()) }, "tools", "*", "functionDeclarations")
	}
	body = wire.Put(body, "mode", []byte(`"AUTO"`), choiceAt[wire.Gemini]...)
	return wire.Cut(body, func(key string, _ wire.Value) bool { return key == "allowedFunctionNames" }, choiceAt[wire.Gemini]...)
}

// weedTools leaves one tool on offer, if one is named and on offer at all.
func weedTools(body []byte, is func(wire.Value) bool, only string) []byte {
	there := false
	wire.Value(body).Get("tools").Elements(func(t wire.Value) { there = there || is(t) })
	if only == "" || !there {
		return body
	}
	return wire.Weed(body, func(t wire.Value) bool { return !is(t) }, "tools")
}

// bareItem says that an item is reasoning that nobody sealed.
func bareItem(v wire.Value) bool {
	return v.Get("type").Text() == "reasoning" && v.Get("encrypted_content").Text() == ""
}

func hasBare(v wire.Value) bool {
	found := false
	v.Get("input").Elements(func(e wire.Value) { found = found || bareItem(e) })
	return found
}

func cutBare(body []byte) []byte { return wire.Weed(body, bareItem, "input") }

// Betas are those of the values of the header anthropic-beta that may go on.
func Betas(values []string, things []Thing) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		var kept []string
		for one := range strings.SplitSeq(v, ",") {
			one = strings.TrimSpace(one)
			if one != "" && !slices.Contains(things, Thing{What: Beta, Path: one}) {
				kept = append(kept, one)
			}
		}
		if len(kept) > 0 {
			out = append(out, strings.Join(kept, ","))
		}
	}
	return out
}

package messages

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// readBlock appends what a block says. A block may be several parts, or none.
func readBlock(parts []wire.Part, v wire.Value) []wire.Part {
	switch v.Get("type").Text() {
	case "text":
		p := wire.Part{Text: v.Get("text").Text(), Cache: readCache(v.Get("cache_control"))}
		if p.Text == "" {
			return parts
		}
		return append(parts, p)
	case "image":
		return append(parts, wire.Part{Kind: wire.KindImage, Media: readSource(v.Get("source")), Cache: readCache(v.Get("cache_control"))})
	case "document":
		return readDocument(parts, v)
	case "search_result":
		return append(parts, wire.Part{Text: searchResult(v), Cache: readCache(v.Get("cache_control"))})
	case "tool_use":
		return append(parts, wire.Part{Kind: wire.KindCall, Cache: readCache(v.Get("cache_control")), Call: &wire.Call{
			ID: v.Get("id").Text(), Name: v.Get("name").Text(), Args: v.Get("input").Raw(),
		}})
	case "tool_result":
		return append(parts, wire.Part{Kind: wire.KindResult, Cache: readCache(v.Get("cache_control")), Reply: readResult(v)})
	case "thinking":
		p := wire.Part{Kind: wire.KindThinking, Text: v.Get("thinking").Text(), Seal: wire.ReadSeal(wire.Messages, v.Get("signature").Text())}
		if p.Text == "" && p.Seal == nil {
			return parts
		}
		return append(parts, p)
	case "redacted_thinking":
		s := wire.ReadSeal(wire.Messages, v.Get("data").Text())
		if s == nil {
			return parts
		}
		s.Redacted = s.Redacted || s.API == wire.Messages
		return append(parts, wire.Part{Kind: wire.KindThinking, Seal: s})
	case "tool_reference":
		return append(parts, wire.Part{Text: "[tool " + v.Get("tool_name").Text() + " is at hand]"})
	case "fallback":
		return parts
	}
	return append(parts, wire.Part{Kind: wire.KindOpaque, Raw: v.Raw()})
}

// readSource reads where an image or a document comes from.
func readSource(v wire.Value) *wire.Media {
	switch v.Get("type").Text() {
	case "url":
		return wire.MediaAt(v.Get("url").Text())
	case "file":
		return &wire.Media{ID: v.Get("file_id").Text()}
	}
	return &wire.Media{MIME: v.Get("media_type").Text(), Data: v.Get("data").Text()}
}

// readDocument reads a document. One that is made of blocks is text, with its images behind.
func readDocument(parts []wire.Part, v wire.Value) []wire.Part {
	title, cache := v.Get("title").Text(), readCache(v.Get("cache_control"))
	if context := v.Get("context").Text(); context != "" {
		parts = append(parts, wire.Part{Text: context})
	}
	source := v.Get("source")
	switch source.Get("type").Text() {
	case "text":
		m := &wire.Media{MIME: "text/plain", Text: source.Get("data").Text(), Name: title}
		return append(parts, wire.Part{Kind: wire.KindFile, Media: m, Cache: cache})
	case "content":
		from := len(parts)
		if title != "" {
			parts = append(parts, wire.Part{Text: title})
		}
		if c := source.Get("content"); c.Kind() == '"' {
			parts = append(parts, wire.Part{Text: c.Text()})
		} else {
			c.Elements(func(b wire.Value) { parts = readBlock(parts, b) })
		}
		if len(parts) > from && cache != nil {
			parts[len(parts)-1].Cache = cache
		}
		return parts
	}
	m := readSource(source)
	m.Name = title
	if m.URL != "" && m.MIME == "" {
		m.MIME = "application/pdf"
	}
	return append(parts, wire.Part{Kind: wire.KindFile, Media: m, Cache: cache})
}

// searchResult is a client's own search result as text.
func searchResult(v wire.Value) string {
	var b strings.Builder
	for _, head := range []string{v.Get("title").Text(), v.Get("source").Text()} {
		if head != "" {
			b.WriteString(head)
			b.WriteByte('\n')
		}
	}
	v.Get("content").Elements(func(e wire.Value) {
		b.WriteString(e.Get("text").Text())
		b.WriteByte('\n')
	})
	return strings.TrimSuffix(b.String(), "\n")
}

func readResult(v wire.Value) *wire.Result {
	r := &wire.Result{ID: v.Get("tool_use_id").Text(), Error: v.Get("is_error").True()}
	content := v.Get("content")
	if content.Kind() == '"' {
		if text := content.Text(); text != "" {
			r.Parts = []wire.Part{{Text: text}}
		}
		return r
	}
	content.Elements(func(e wire.Value) { r.Parts = readBlock(r.Parts, e) })
	return r
}

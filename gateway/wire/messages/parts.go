package messages

import (
	"strings"

	"dev.magpie/gateway/wire"
)

// members are what a block may hold, found in one walk: a block may be long.
type members struct {
	kind, text, cache, source, id, name, input    wire.Value
	answers, failed, content, thinking, signature wire.Value
	data, tool, title, context                    wire.Value
}

func membersOf(v wire.Value) (m members) {
	w := wire.Walk(v)
	w.Object(func(key []byte) {
		if to := m.field(key); to != nil {
			*to = wire.Value(w.Raw())
		}
	})
	return m
}

func (m *members) field(key []byte) *wire.Value {
	switch string(key) {
	case "type":
		return &m.kind
	case "text":
		return &m.text
	case "cache_control":
		return &m.cache
	case "source":
		return &m.source
	case "id":
		return &m.id
	case "name":
		return &m.name
	case "input":
		return &m.input
	case "tool_use_id":
		return &m.answers
	case "is_error":
		return &m.failed
	case "content":
		return &m.content
	}
	return m.rarer(key)
}

func (m *members) rarer(key []byte) *wire.Value {
	switch string(key) {
	case "thinking":
		return &m.thinking
	case "signature":
		return &m.signature
	case "data":
		return &m.data
	case "tool_name":
		return &m.tool
	case "title":
		return &m.title
	case "context":
		return &m.context
	}
	return nil
}

// readBlock appends what a block says. A block may be several parts, or none.
func readBlock(parts []wire.Part, v wire.Value) []wire.Part {
	m := membersOf(v)
	return m.read(parts, v)
}

func (m *members) read(parts []wire.Part, v wire.Value) []wire.Part {
	switch m.kind.Text() {
	case "text":
		p := wire.Part{Text: m.text.Text(), Cache: readCache(m.cache)}
		if p.Text == "" {
			return parts
		}
		return append(parts, p)
	case "image":
		return append(parts, wire.Part{Kind: wire.KindImage, Media: readSource(m.source), Cache: readCache(m.cache)})
	case "document":
		return m.document(parts)
	case "search_result":
		return append(parts, wire.Part{Text: m.searchResult(), Cache: readCache(m.cache)})
	case "tool_use":
		return append(parts, wire.Part{Kind: wire.KindCall, Cache: readCache(m.cache), Call: &wire.Call{
			ID: m.id.Text(), Name: m.name.Text(), Args: m.input.Raw(),
		}})
	case "tool_result":
		return append(parts, wire.Part{Kind: wire.KindResult, Cache: readCache(m.cache), Reply: m.result()})
	case "thinking":
		p := wire.Part{Kind: wire.KindThinking, Text: m.thinking.Text(), Seal: wire.ReadSeal(wire.Messages, m.signature.Text())}
		if p.Text == "" && p.Seal == nil {
			return parts
		}
		return append(parts, p)
	case "redacted_thinking":
		s := wire.ReadSeal(wire.Messages, m.data.Text())
		if s == nil {
			return parts
		}
		s.Redacted = s.Redacted || s.API == wire.Messages
		return append(parts, wire.Part{Kind: wire.KindThinking, Seal: s})
	case "tool_reference":
		return append(parts, wire.Part{Text: "[tool " + m.tool.Text() + " is at hand]"})
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

// document reads a document. One that is made of blocks is text, with its images behind.
func (m *members) document(parts []wire.Part) []wire.Part {
	title, cache := m.title.Text(), readCache(m.cache)
	if context := m.context.Text(); context != "" {
		parts = append(parts, wire.Part{Text: context})
	}
	source := m.source
	switch source.Get("type").Text() {
	case "text":
		media := &wire.Media{MIME: "text/plain", Text: source.Get("data").Text(), Name: title}
		return append(parts, wire.Part{Kind: wire.KindFile, Media: media, Cache: cache})
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
	media := readSource(source)
	media.Name = title
	if media.URL != "" && media.MIME == "" {
		media.MIME = "application/pdf"
	}
	return append(parts, wire.Part{Kind: wire.KindFile, Media: media, Cache: cache})
}

// searchResult is a client's own search result as text.
func (m *members) searchResult() string {
	var b strings.Builder
	for _, head := range []string{m.title.Text(), m.source.Text()} {
		if head != "" {
			b.WriteString(head)
			b.WriteByte('\n')
		}
	}
	m.content.Elements(func(e wire.Value) {
		b.WriteString(e.Get("text").Text())
		b.WriteByte('\n')
	})
	return strings.TrimSuffix(b.String(), "\n")
}

func (m *members) result() *wire.Result {
	r := &wire.Result{ID: m.answers.Text(), Error: m.failed.True()}
	if m.content.Kind() == '"' {
		if text := m.content.Text(); text != "" {
			r.Parts = []wire.Part{{Text: text}}
		}
		return r
	}
	m.content.Elements(func(e wire.Value) { r.Parts = readBlock(r.Parts, e) })
	return r
}

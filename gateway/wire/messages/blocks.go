package messages

import (
	"bytes"
	"encoding/json"

	"dev.magpie/gateway/wire"
)

// blockKind is what a block is.
type blockKind uint8

const (
	blockNone blockKind = iota
	blockText
	blockImage
	blockDocument
	blockThinking
	blockCall
	blockResult
	blockRaw
)

// marks says whether a breakpoint of the cache may stand on a block.
func (k blockKind) marks() bool {
	switch k {
	case blockText, blockImage, blockDocument, blockCall, blockResult:
		return true
	case blockNone, blockThinking, blockRaw:
	}
	return false
}

// block is a block of a request before it is written.
type block struct {
	kind  blockKind
	text  string
	part  *wire.Part
	media *source
	inner []block // of a result
	cache *wire.Cache
}

// source is where an image or document comes from.
type source struct {
	kind  string // base64 url file text
	mime  string
	value string
	title string
}

// size is about how many bytes the block takes.
func (k *block) size() int {
	n := len(k.text) + 96
	if k.media != nil {
		n += len(k.media.value)
	}
	for i := range k.inner {
		n += k.inner[i].size()
	}
	if k.part != nil {
		n += len(k.part.Raw)
		if k.kind == blockThinking {
			n += len(k.part.Text)
		}
		if k.part.Call != nil {
			n += len(k.part.Call.Args) + len(k.part.Call.Input)
		}
		if k.part.Seal != nil {
			n += len(k.part.Seal.Data)
		}
	}
	return n
}

func appendBlocks(b []byte, blocks []block) []byte {
	b = append(b, '[')
	for i := range blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = blocks[i].append(b)
	}
	return append(b, ']')
}

func (k *block) append(b []byte) []byte {
	switch k.kind {
	case blockText:
		b = append(b, `{"type":"text","text":`...)
		b = wire.AppendQuoted(b, k.text)
	case blockImage:
		b = k.media.append(append(b, `{"type":"image","source":`...))
	case blockDocument:
		b = k.media.append(append(b, `{"type":"document","source":`...))
		if k.media.title != "" {
			b = wire.AppendQuoted(append(b, `,"title":`...), k.media.title)
		}
	case blockThinking:
		return appendThinking(b, k.part)
	case blockCall:
		b = appendCall(b, k.part.Call)
	case blockResult:
		b = k.appendResult(b)
	case blockRaw:
		return append(b, k.part.Raw...)
	case blockNone:
		return append(b, "{}"...)
	}
	return append(appendCache(b, k.cache), '}')
}

func appendCache(b []byte, c *wire.Cache) []byte {
	if c == nil {
		return b
	}
	b = append(b, `,"cache_control":{"type":"ephemeral"`...)
	if c.TTL == "5m" || c.TTL == "1h" {
		b = append(b, `,"ttl":"`+c.TTL+`"`...)
	}
	return append(b, '}')
}

func (s *source) append(b []byte) []byte {
	b = append(b, `{"type":"`+s.kind+`"`...)
	if s.mime != "" {
		b = wire.AppendQuoted(append(b, `,"media_type":`...), s.mime)
	}
	switch s.kind {
	case "url":
		b = append(b, `,"url":`...)
	case "file":
		b = append(b, `,"file_id":`...)
	default:
		b = append(b, `,"data":`...)
	}
	return append(wire.AppendQuoted(b, s.value), '}')
}

func appendThinking(b []byte, p *wire.Part) []byte {
	if p.Seal != nil && p.Seal.Redacted {
		b = append(b, `{"type":"redacted_thinking","data":`...)
		return append(wire.AppendQuoted(b, p.Seal.Data), '}')
	}
	b = append(b, `{"type":"thinking","thinking":`...)
	b = wire.AppendQuoted(b, p.Text)
	b = append(b, `,"signature":`...)
	seal := ""
	if p.Seal != nil {
		seal = p.Seal.Data
	}
	return append(wire.AppendQuoted(b, seal), '}')
}

const (
	idPrefix = "toolu_"
	idSize   = 64
)

func appendCall(b []byte, c *wire.Call) []byte {
	b = append(b, `{"type":"tool_use","id":`...)
	b = wire.AppendQuoted(b, wire.KeepID(c.ID, idPrefix, idSize))
	b = append(b, `,"name":`...)
	b = wire.AppendQuoted(b, wire.MessagesNames.Name(c.Name))
	b = append(b, `,"input":`...)
	if c.Free {
		return append(b, wire.FreeArgs(c.Input)...)
	}
	return append(b, objectArgs(c.Args)...)
}

// objectArgs are a call's arguments as the object that the API demands.
func objectArgs(args json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(args)
	if len(trimmed) == 0 || string(trimmed) == "null" || string(trimmed) == `""` {
		return json.RawMessage("{}")
	}
	if trimmed[0] == '{' && json.Valid(trimmed) {
		return args
	}
	return wire.FreeArgs(string(args))
}

func (k *block) appendResult(b []byte) []byte {
	r := k.part.Reply
	b = append(b, `{"type":"tool_result","tool_use_id":`...)
	b = wire.AppendQuoted(b, wire.KeepID(r.ID, idPrefix, idSize))
	switch {
	case len(k.inner) == 1 && k.inner[0].kind == blockText:
		b = wire.AppendQuoted(append(b, `,"content":`...), k.inner[0].text)
	case len(k.inner) > 0:
		b = appendBlocks(append(b, `,"content":`...), k.inner)
	}
	if r.Error {
		b = append(b, `,"is_error":true`...)
	}
	return b
}

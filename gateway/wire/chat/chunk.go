package chat

import (
	"encoding/json"
	"strings"

	"dev.magpie/gateway/wire"
)

// chunk is what one chunk of a stream tells, or a whole reply.
type chunk struct {
	id, model string
	chosen    bool // it has a choice
	delta     delta
	finish    string
	usage     wire.Usage
	counted   bool
	fault     []byte // the error, or all of an error's body
}

// delta is what a choice adds.
type delta struct {
	text    string
	thought string
	refusal string
	details json.RawMessage
	calls   json.RawMessage
	legacy  json.RawMessage
	images  []string
	cites   []wire.Cite
}

func (c *chunk) read(data []byte) error {
	w := wire.Walk(data)
	isError := false
	w.Object(func(key []byte) {
		if w.Kind() == 'n' {
			return
		}
		switch string(key) {
		case "id":
			c.id = w.Text()
		case "model":
			c.model = w.Text()
		case "choices":
			w.Array(func() { c.choice(w.Raw()) })
		case "usage":
			c.count(w)
		case "x_groq":
			w.Object(func(key []byte) {
				if string(key) == "usage" {
					c.count(w)
				}
			})
		case "error":
			if raw := w.Raw(); string(raw) != "{}" && string(raw) != `""` && string(raw) != "false" {
				c.fault = raw
			}
		case "object":
			isError = w.Text() == "error"
		}
	})
	if isError && c.fault == nil {
		c.fault = data
	}
	return w.Err()
}

// choice reads one choice; only the first counts.
func (c *chunk) choice(raw []byte) {
	var said []byte
	index, finish, text := int64(0), "", ""
	w := wire.Walk(raw)
	w.Object(func(key []byte) {
		switch string(key) {
		case "index":
			index, _ = w.Int()
		case "delta", "message":
			if w.Kind() == '{' {
				said = w.Raw()
			}
		case "text":
			text = w.Text()
		case "finish_reason":
			finish = w.Text()
		case "usage":
			c.count(w)
		}
	})
	if index != 0 {
		return
	}
	c.chosen = true
	if finish != "" {
		c.finish = finish
	}
	if said != nil {
		c.delta.read(said)
	}
	if c.delta.text == "" {
		c.delta.text = text
	}
}

func (d *delta) read(raw []byte) {
	w := wire.Walk(raw)
	other, marked := "", false
	w.Object(func(key []byte) {
		if w.Kind() == 'n' {
			return
		}
		switch string(key) {
		case "content":
			d.content(w)
		case "reasoning_content":
			d.thought += w.Text()
		case "reasoning":
			other = w.Text()
		case "reasoning_details":
			d.details = w.Raw()
		case "extra_content":
			marked = thoughtMarked(w.Raw())
		case "refusal":
			d.refusal = w.Text()
		case "tool_calls":
			d.calls = w.Raw()
		case "function_call":
			d.legacy = w.Raw()
		case "images":
			w.Array(func() { d.image(w) })
		case "annotations":
			w.Array(func() { d.cite(w) })
		}
	})
	if d.thought == "" {
		d.thought = other
	}
	if marked { // Gemini: what stands as content is reasoning
		d.thought += strings.TrimSuffix(strings.TrimPrefix(d.text, "<thought>"), "</thought>")
		d.text = ""
	}
}

// thoughtMarked says that Gemini marked a delta as reasoning.
func thoughtMarked(extra []byte) bool {
	return wire.Value(extra).Get("google").Get("thought").True()
}

// content reads a string, or the parts that some vendors send.
func (d *delta) content(w *wire.Walker) {
	if w.Kind() == '"' {
		d.text = w.Text()
		return
	}
	for _, p := range readContent(w) {
		switch p.Kind {
		case wire.KindText:
			d.text += p.Text
		case wire.KindThinking:
			d.thought += p.Text
		case wire.KindRefusal:
			d.refusal += p.Text
		case wire.KindImage:
			d.images = append(d.images, p.Media.AsURL())
		case wire.KindFile, wire.KindAudio, wire.KindVideo, wire.KindCall, wire.KindResult, wire.KindOpaque:
		}
	}
}

func (d *delta) image(w *wire.Walker) {
	w.Object(func(key []byte) {
		if string(key) != "image_url" {
			return
		}
		w.Object(func(key []byte) {
			if string(key) == "url" {
				if url := w.Text(); url != "" {
					d.images = append(d.images, url)
				}
			}
		})
	})
}

func (d *delta) cite(w *wire.Walker) {
	var c wire.Cite
	w.Object(func(key []byte) {
		if string(key) != "url_citation" {
			return
		}
		w.Object(func(key []byte) {
			switch string(key) {
			case "url":
				c.URL = w.Text()
			case "title":
				c.Title = w.Text()
			case "content":
				c.Text = w.Text()
			case "start_index":
				n, _ := w.Int()
				c.Start = int(n)
			case "end_index":
				n, _ := w.Int()
				c.End = int(n)
			}
		})
	})
	if c.URL != "" {
		d.cites = append(d.cites, c)
	}
}

// count reads usage, in the vendors' spellings.
func (c *chunk) count(w *wire.Walker) {
	if w.Kind() != '{' {
		w.Skip()
		return
	}
	var u wire.Usage
	total := int64(0)
	number := func(to *int64) {
		if n, ok := w.Int(); ok && n > 0 {
			*to = max(*to, n)
		}
	}
	w.Object(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			number(&u.Input)
		case "completion_tokens":
			number(&u.Output)
		case "total_tokens":
			number(&total)
		case "prompt_cache_hit_tokens", "cached_tokens":
			number(&u.CacheRead)
		case "prompt_tokens_details":
			w.Object(func(key []byte) {
				switch string(key) {
				case "cached_tokens":
					number(&u.CacheRead)
				case "cache_write_tokens", "cache_creation_tokens":
					number(&u.CacheWrite)
				}
			})
		case "completion_tokens_details":
			w.Object(func(key []byte) {
				if string(key) == "reasoning_tokens" {
					number(&u.Reasoning)
				}
			})
		}
	})
	if u.Reasoning > 0 && total == u.Input+u.Output+u.Reasoning {
		u.Output += u.Reasoning // some count it beside the output
	}
	c.usage, c.counted = u, true
}

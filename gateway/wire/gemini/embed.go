package gemini

import (
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// ReadEmbedAsk reads a request for the embedding of one text, or of several: a batch.
func ReadEmbedAsk(body []byte) (*wire.EmbedAsk, error) {
	v, err := wire.ReadValue(body)
	if err != nil {
		return nil, err
	}
	a := &wire.EmbedAsk{}
	requests := v.Get("requests")
	if requests.Kind() != '[' {
		a.Single = true
		return a, readEmbed(a, v, "")
	}
	n := 0
	requests.Elements(func(r wire.Value) {
		if err == nil {
			err = readEmbed(a, r, "requests["+strconv.Itoa(n)+"].")
		}
		n++
	})
	if err == nil && n == 0 {
		err = &wire.FieldRefusal{Field: "requests", Words: "requests: there is nothing in it; send at least one with a content"}
	}
	return a, err
}

// readEmbed reads what one text is asked with; where says in which request it stands.
func readEmbed(a *wire.EmbedAsk, v wire.Value, where string) (err error) {
	refuse := func(field, words string) {
		if err == nil {
			err = &wire.FieldRefusal{Field: where + field, Words: where + field + ": " + words}
		}
	}
	var size *int64
	var content wire.Value
	member := func(key string, m wire.Value) {
		switch key {
		case "model":
		case "content":
			content = m
		case "outputDimensionality", "output_dimensionality":
			if n, ok := m.Int(); ok {
				size = &n
			}
		default:
			if !m.None() && !slices.Contains(a.Only, key) {
				a.Only = append(a.Only, key)
			}
		}
	}
	v.Members(func(key string, m wire.Value) {
		if key == "embedContentConfig" || key == "embed_content_config" {
			m.Members(member)
			return
		}
		member(key, m)
	})
	switch {
	case len(a.Texts) == 0:
		a.Size = size
	case (size == nil) != (a.Size == nil) || size != nil && *size != *a.Size:
		refuse("outputDimensionality", "this model's API makes all embeddings of a request equally long")
	}
	text, ok := embedText(content)
	if !ok {
		refuse("content", "this model's API embeds texts alone; send one in parts")
	}
	a.Texts = append(a.Texts, text)
	return err
}

// embedText is the text of a content, false when it has none or something besides.
func embedText(content wire.Value) (text string, ok bool) {
	var texts []string
	ok = true
	content.Get("parts").Elements(func(p wire.Value) {
		t := p.Get("text")
		ok = ok && t.Kind() == '"'
		texts = append(texts, t.Text())
	})
	return strings.Join(texts, "\n"), ok && len(texts) > 0
}

// WriteEmbedAsk writes a batch, whose requests name the model again.
func WriteEmbedAsk(a *wire.EmbedAsk, model string) []byte {
	o := &object{}
	o.open("", '{')
	o.open("requests", '[')
	for _, t := range a.Texts {
		o.open("", '{')
		o.text("model", "models/"+model)
		o.open("content", '{')
		o.open("parts", '[')
		o.open("", '{')
		o.text("text", t)
		o.close('}')
		o.close(']')
		o.close('}')
		if a.Size != nil {
			o.number("outputDimensionality", *a.Size)
		}
		o.close('}')
	}
	o.close(']')
	o.close('}')
	return o.b
}

// ReadEmbedded reads a vendor's embeddings, which stand in the texts' order.
func ReadEmbedded(body []byte) (*wire.Embedded, error) {
	v, err := wire.ReadValue(body)
	if err != nil {
		return nil, err
	}
	e := &wire.Embedded{}
	add := func(one wire.Value) {
		e.Vectors = append(e.Vectors, one.Get("values").Raw())
		if n, ok := one.Get("statistics").Get("tokenCount").Int(); ok {
			e.Input += n
		}
	}
	if all := v.Get("embeddings"); all.Kind() == '[' {
		all.Elements(add)
	} else if one := v.Get("embedding"); !one.None() {
		add(one)
	}
	if n, ok := v.Get("usageMetadata").Get("promptTokenCount").Int(); ok {
		e.Input = n
	}
	return e, nil
}

// WriteEmbedded writes embeddings for who asked for them so.
func WriteEmbedded(e *wire.Embedded, asked *wire.EmbedAsk) []byte {
	o := &object{}
	o.open("", '{')
	if asked.Single {
		o.open("embedding", '{')
		o.raw("values", e.Vectors[0])
		o.close('}')
	} else {
		o.open("embeddings", '[')
		for _, v := range e.Vectors {
			o.open("", '{')
			o.raw("values", v)
			o.close('}')
		}
		o.close(']')
	}
	o.close('}')
	return o.b
}

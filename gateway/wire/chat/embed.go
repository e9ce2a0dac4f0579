package chat

import (
	"encoding/json"

	"dev.magpie/gateway/wire"
)

// ReadEmbedAsk reads a request for embeddings of texts.
func ReadEmbedAsk(body []byte) (*wire.EmbedAsk, error) {
	v, err := wire.ReadValue(body)
	if err != nil {
		return nil, err
	}
	a := &wire.EmbedAsk{}
	v.Members(func(key string, m wire.Value) {
		switch key {
		case "model":
		case "input":
			err = texts(a, m)
		case "dimensions":
			if n, ok := m.Int(); ok {
				a.Size = &n
			}
		case "encoding_format":
			a.Packed = m.Text() == "base64"
		default:
			if !m.None() {
				a.Only = append(a.Only, key)
			}
		}
	})
	if err == nil && len(a.Texts) == 0 {
		err = &wire.FieldRefusal{Field: "input", Words: "input: there is nothing in it; send a text or a list of texts"}
	}
	return a, err
}

func texts(a *wire.EmbedAsk, input wire.Value) (err error) {
	if input.Kind() == '"' {
		a.Texts = []string{input.Text()}
		return nil
	}
	input.Elements(func(e wire.Value) {
		if e.Kind() != '"' {
			err = &wire.FieldRefusal{Field: "input", Words: "input: tokens mean nothing to this model's API; send texts"}
			return
		}
		a.Texts = append(a.Texts, e.Text())
	})
	return err
}

// WriteEmbedAsk writes a request for embeddings: one text as such, several as a list.
func WriteEmbedAsk(a *wire.EmbedAsk, model string) []byte {
	var o out
	o.open('{')
	o.str("model", model)
	if a.Single {
		o.str("input", a.Texts[0])
	} else {
		o.key("input")
		o.open('[')
		for _, t := range a.Texts {
			o.item()
			o.b = wire.AppendQuoted(o.b, t)
		}
		o.close(']')
	}
	if a.Size != nil {
		o.num("dimensions", *a.Size)
	}
	o.close('}')
	return o.b
}

// ReadEmbedded reads a vendor's embeddings; each says which text it is of.
func ReadEmbedded(body []byte) (*wire.Embedded, error) {
	v, err := wire.ReadValue(body)
	if err != nil {
		return nil, err
	}
	e := &wire.Embedded{}
	at := map[int64]json.RawMessage{}
	count := int64(0)
	v.Get("data").Elements(func(d wire.Value) {
		index, ok := d.Get("index").Int()
		if !ok {
			index = count
		}
		vector := d.Get("embedding")
		raw := vector.Raw()
		if vector.Kind() == '"' {
			raw = wire.UnpackVector(vector.Text())
		}
		at[index] = raw
		count++
	})
	for i := range count {
		e.Vectors = append(e.Vectors, at[i])
	}
	e.Input, _ = v.Get("usage").Get("prompt_tokens").Int()
	return e, nil
}

// WriteEmbedded writes embeddings for who asked for them so.
func WriteEmbedded(e *wire.Embedded, asked *wire.EmbedAsk, model string) []byte {
	var o out
	o.open('{')
	o.str("object", "list")
	o.key("data")
	o.open('[')
	for i, v := range e.Vectors {
		o.item()
		o.open('{')
		o.str("object", "embedding")
		o.num("index", int64(i))
		if asked.Packed {
			o.str("embedding", wire.PackVector(v))
		} else {
			o.raw("embedding", v)
		}
		o.close('}')
	}
	o.close(']')
	o.str("model", model)
	o.key("usage")
	o.open('{')
	o.num("prompt_tokens", e.Input)
	o.num("total_tokens", e.Input)
	o.close('}')
	o.close('}')
	return o.b
}

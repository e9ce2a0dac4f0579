package wire

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// EmbedAsk is a request for embeddings in the neutral form: what both of the APIs that have
// them can say.
type EmbedAsk struct {
	Texts  []string
	Size   *int64   // how many numbers a vector shall have, nil = the model's own
	Packed bool     // Chat: vectors go back as base64 of little-endian floats
	Single bool     // Gemini: one text, which is answered by one vector
	Only   []string // fields that were said and that only the API it was read from knows
}

// Embedded is what a vendor made of the texts, in their order.
type Embedded struct {
	Vectors []json.RawMessage // an array of numbers each, as they are spelled
	Input   int64             // tokens, 0 = not told
}

// Lost are the losses of a request that is written in the other API.
func (e *EmbedAsk) Lost() []Loss {
	var lost []Loss
	for _, name := range e.Only {
		lost = append(lost, Loss{What: name})
	}
	return lost
}

// Estimate is about how many tokens the texts have, for an agent that is told so where its
// vendor counts none.
func (e *EmbedAsk) Estimate() int64 {
	n := 0
	for _, t := range e.Texts {
		n += max(1, len(t)/4)
	}
	return int64(n)
}

// Of says what keeps a reply from being one to the request.
func (e *Embedded) Of(asked *EmbedAsk) error {
	if len(e.Vectors) != len(asked.Texts) {
		return errors.New("the vendor sent " + strconv.Itoa(len(e.Vectors)) + " embeddings of " + strconv.Itoa(len(asked.Texts)) + " texts")
	}
	for _, v := range e.Vectors {
		if Value(v).Kind() != '[' {
			return errors.New("the vendor sent an embedding that can't be read")
		}
	}
	return nil
}

// PackVector makes base64 of a vector's numbers.
func PackVector(numbers json.RawMessage) string {
	b := make([]byte, 0, len(numbers)/2)
	Value(numbers).Elements(func(n Value) {
		f, err := strconv.ParseFloat(string(n), 32)
		if err != nil {
			f = 0
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f)))
	})
	return base64.StdEncoding.EncodeToString(b)
}

// UnpackVector makes numbers of a packed vector, nil of what is none.
func UnpackVector(packed string) json.RawMessage {
	b, err := base64.StdEncoding.DecodeString(packed)
	if err != nil || len(b)%4 != 0 {
		return nil
	}
	out := append(make([]byte, 0, 3*len(b)), '[')
	for i := 0; i < len(b); i += 4 {
		f := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, f, 'g', -1, 32)
	}
	return append(out, ']')
}

package wire

import (
	"encoding/json"
	"testing"
)

func TestVectorsArePackedAsLittleEndianFloats(t *testing.T) {
	for _, c := range []struct{ numbers, packed, back string }{
		{`[]`, "", `[]`},
		{`[0.5, 1]`, "AAAAPwAAgD8=", `[0.5,1]`},
		{`[-0.013500000000000001,1e-9]`, "Gy9dvF9wiTA=", `[-0.0135,1e-09]`},
	} {
		packed := PackVector(json.RawMessage(c.numbers))
		if packed != c.packed || string(UnpackVector(packed)) != c.back {
			t.Errorf("%s: %s, back %s", c.numbers, packed, UnpackVector(packed))
		}
	}
	for _, none := range []string{"AAAA", "not base64", "AADAfw=="} { // three bytes, no bytes, no number
		if got := UnpackVector(none); got != nil {
			t.Errorf("%s: %s", none, got)
		}
	}
}

func TestEmbeddingsThatAreNone(t *testing.T) {
	asked := &EmbedAsk{Texts: []string{"a", "b"}}
	for name, e := range map[string]Embedded{
		"none":     {},
		"too few":  {Vectors: []json.RawMessage{[]byte("[1]")}},
		"too many": {Vectors: []json.RawMessage{[]byte("[1]"), []byte("[1]"), []byte("[1]")}},
		"no array": {Vectors: []json.RawMessage{[]byte("[1]"), []byte("{}")}},
		"nothing":  {Vectors: []json.RawMessage{[]byte("[1]"), nil}},
	} {
		if e.Of(asked) == nil {
			t.Errorf("%s passes", name)
		}
	}
	fine := Embedded{Vectors: []json.RawMessage{[]byte("[1]"), []byte("[]")}}
	if err := fine.Of(asked); err != nil {
		t.Error(err)
	}
}

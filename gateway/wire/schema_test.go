package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestSchemasForGemini(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"nothing takes nothing", ``, `{"type":"object","properties":{}}`},
		{"null takes nothing", `null`, `{"type":"object","properties":{}}`},
		{
			"keywords that it knows stay, in their order and with their spelling",
			`{"type":"object","title":"T","properties":{"a":{"minimum":1.50,"type":"number","format":"float"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","title":"T","properties":{"a":{"minimum":1.50,"type":"number","format":"float"}},"required":["a"],"additionalProperties":false}`,
		},
		{
			"others go", `{"$schema":"x","type":"object","properties":{"a":{"type":"array","items":{"type":"string","minLength":1,"pattern":"a"},"uniqueItems":true}},"if":{},"not":{}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		},
		{"a const is an enum of one", `{"type":"object","properties":{"k":{"const":"file"}}}`, `{"type":"object","properties":{"k":{"enum":["file"],"type":"string"}}}`},
		{
			"an enum of truths is told in words", `{"type":"object","properties":{"k":{"const":true}}}`,
			`{"type":"object","properties":{"k":{"type":"boolean","description":"One of: true"}}}`,
		},
		{"null in an enum is left to the type", `{"type":["string","null"],"enum":["a",null]}`, `{"type":["string","null"],"enum":["a"]}`},
		{
			"properties named like keywords stay", `{"type":"object","properties":{"not":{"type":"string"},"const":{"type":"string"},"pattern":{"type":"integer"}}}`,
			`{"type":"object","properties":{"not":{"type":"string"},"const":{"type":"string"},"pattern":{"type":"integer"}}}`,
		},
		{"an excluded bound of whole numbers is included", `{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}`, `{"type":"integer","minimum":1,"maximum":9}`},
		{"an excluded bound of others goes", `{"type":"number","exclusiveMinimum":0}`, `{"type":"number"}`},
		{
			"nobody demands a property that isn't there", `{"type":"object","properties":{"q":{"type":"string"}},"required":["q","gone","q"]}`,
			`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`,
		},
		{
			"definitions become $defs", `{"type":"object","properties":{"a":{"$ref":"#/definitions/D"}},"definitions":{"D":{"type":"string","pattern":"x"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"string"}}}`,
		},
		{
			"what stands beside a reference goes, a description goes around it",
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/D","description":"d","default":1},"b":{"$ref":"#/$defs/D","title":"t"}},"$defs":{"D":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"$ref":"#/$defs/D"}]},"b":{"$ref":"#/$defs/D"}},"$defs":{"D":{"type":"string"}}}`,
		},
		{
			"a reference to elsewhere in the schema is written out", `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		},
		{
			"one to the whole ends with a note", `{"type":"object","properties":{"a":{"$ref":"#"}}}`,
			`{"type":"object","properties":{"a":{"type":"object","description":"The same again as the whole."}}}`,
		},
		{
			"a cycle stands only where nobody demands it",
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/N"},"s":{"type":"string"}},"required":["t","s"],"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"required":["n"]}}}`,
			`{"type":"object","properties":{"t":{"$ref":"#/$defs/N"},"s":{"type":"string"}},"required":["s"],"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`,
		},
		{
			"all of several is one", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`,
		},
		{
			"all of one reference is the reference", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/N"}]}},"$defs":{"N":{"type":"object","properties":{"n":{"allOf":[{"$ref":"#/$defs/N"}]}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}}}`,
		},
		{"a list of items is a tuple", `{"type":"array","items":[{"type":"string"},{"const":2}]}`, `{"type":"array","prefixItems":[{"type":"string"},{"enum":[2],"type":"integer"}]}`},
		{"true is any schema", `{"type":"object","properties":{"a":true,"b":{"items":true,"type":"array"}}}`, `{"type":"object","properties":{"a":{},"b":{"type":"array"}}}`},
		{"the last of equal keys counts", `{"type":"string","title":"t","type":"integer"}`, `{"type":"integer","title":"t"}`},
		{"nullable is a type", `{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`},
	} {
		got, _ := GeminiSchema(json.RawMessage(c.in))
		if string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
		if again, _ := GeminiSchema(got); string(again) != string(got) {
			t.Errorf("%s: reduced again it changes: %s", c.what, again)
		}
	}
}

func TestSchemasForOpenAPI(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"nothing has no schema", ``, ``},
		{"an object without properties has none", `{"type":"object","properties":{},"additionalProperties":true}`, ``},
		{
			"types are in upper case, what it doesn't know goes", `{"$schema":"x","type":"object","additionalProperties":false,"properties":{"a":{"type":"array","uniqueItems":true,"items":{"type":"string","minLength":1}}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"STRING","minLength":1}}}}`,
		},
		{"null among the types is a flag", `{"type":"object","properties":{"u":{"type":["string","null"]}}}`, `{"type":"OBJECT","properties":{"u":{"type":"STRING","nullable":true}}}`},
		{
			"several types are a union", `{"type":"object","properties":{"u":{"type":["string","integer","null"],"description":"d","minimum":0}}}`,
			`{"type":"OBJECT","properties":{"u":{"anyOf":[{"type":"STRING","minimum":0,"description":"d","nullable":true},{"type":"INTEGER","minimum":0,"description":"d","nullable":true}]}}}`,
		},
		{
			"one branch beside null is the thing itself", `{"type":"object","properties":{"u":{"anyOf":[{"type":"string","format":"date-time"},{"type":"null"}],"title":"U","default":null}}}`,
			`{"type":"OBJECT","properties":{"u":{"type":"STRING","title":"U","format":"date-time","nullable":true}}}`,
		},
		{
			"one of is any of", `{"type":"object","properties":{"u":{"oneOf":[{"type":"string"},{"type":"object","properties":{"a":{"type":"integer"}}}]}}}`,
			`{"type":"OBJECT","properties":{"u":{"anyOf":[{"type":"STRING"},{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}}}]}}}`,
		},
		{
			"branches of an object with properties are part of it", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}`,
		},
		{
			"references are written out, formats it doesn't know go", `{"type":"object","properties":{"r":{"$ref":"#/$defs/D","description":"mine"}},"$defs":{"D":{"type":"string","format":"uri","description":"its"}}}`,
			`{"type":"OBJECT","properties":{"r":{"type":"STRING","description":"mine"}}}`,
		},
		{
			"a cycle ends with a note", `{"type":"object","properties":{"t":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"v":{"type":"integer"},"n":{"$ref":"#/$defs/N"}}}}}`,
			`{"type":"OBJECT","properties":{"t":{"type":"OBJECT","properties":{"v":{"type":"INTEGER"},"n":{"type":"STRING","description":"The same again as N. As JSON text."}}}}}`,
		},
		{"a const is an enum of one", `{"type":"object","properties":{"k":{"const":"x"}}}`, `{"type":"OBJECT","properties":{"k":{"type":"STRING","enum":["x"]}}}`},
		{"an enum of numbers is told in words", `{"type":"object","properties":{"k":{"type":"integer","enum":[1,2]}}}`, `{"type":"OBJECT","properties":{"k":{"type":"INTEGER","description":"One of: 1, 2"}}}`},
		{"an array without items has texts", `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"type":"STRING"}}}}`},
		{
			"a tuple's items are any of them", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"},{"type":"string"}]}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}}}`,
		},
		{
			"an inner object without properties is text", `{"type":"object","properties":{"o":{"type":"object","additionalProperties":{"type":"string"},"description":"map"}},"required":["o","p"]}`,
			`{"type":"OBJECT","properties":{"o":{"type":"STRING","description":"map\nA JSON object, as text."}},"required":["o"]}`,
		},
		{"anything is text", `{"type":"object","properties":{"x":{}}}`, `{"type":"OBJECT","properties":{"x":{"type":"STRING","description":"Any JSON value, as text."}}}`},
		{
			"property names like keywords stay", `{"type":"object","properties":{"format":{"type":"string"},"default":{"type":"string"},"title":{"type":"string"}}}`,
			`{"type":"OBJECT","properties":{"format":{"type":"STRING"},"default":{"type":"STRING"},"title":{"type":"STRING"}}}`,
		},
		{"excluded whole bounds move by one", `{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":0}}}`, `{"type":"OBJECT","properties":{"n":{"type":"INTEGER","minimum":1}}}`},
	} {
		got, _ := OpenAPISchema(json.RawMessage(c.in))
		if string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestSchemasFromOpenAPI(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{
			"types go to lower case, nullable into them", `{"type":"OBJECT","properties":{"n":{"type":"INTEGER","nullable":true},"t":{"type":"STRING","nullable":false}},"propertyOrdering":["n"]}`,
			`{"type":"object","properties":{"n":{"type":["integer","null"]},"t":{"type":"string"}}}`,
		},
		{
			"bounds in quotes are numbers, values stay as they are", `{"type":"ARRAY","items":{"type":"STRING","enum":["STRING","1"],"maxLength":"30"},"minItems":"3"}`,
			`{"type":"array","items":{"type":"string","enum":["STRING","1"],"maxLength":30},"minItems":3}`,
		},
		{"a property may be called type", `{"type":"OBJECT","properties":{"type":{"type":"STRING"}}}`, `{"type":"object","properties":{"type":{"type":"string"}}}`},
		{"a nullable union has a null", `{"anyOf":[{"type":"STRING"}],"nullable":true}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
	} {
		if got := FromOpenAPI(json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestNamedProperties(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"nothing takes nothing", ``, `{"type":"object","properties":{}}`},
		{"null takes nothing", `null`, `{"type":"object","properties":{}}`},
		{"any value takes nothing that is known", ` {} `, `{"type":"object","properties":{}}`},
		{"an object without properties gets them", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"what else it says stays", `{"type":"object","additionalProperties": true }`, `{"type":"object","additionalProperties": true ,"properties":{}}`},
		{"properties stay to the byte", `{ "type":"object", "properties":{"a":{"minimum":1.0}} }`, `{ "type":"object", "properties":{"a":{"minimum":1.0}} }`},
		{"so do branches", `{"type":"object","anyOf":[{"required":["a"]}]}`, `{"type":"object","anyOf":[{"required":["a"]}]}`},
		{"and a reference", `{"type":"object","$ref":"#/$defs/A","$defs":{"A":{}}}`, `{"type":"object","$ref":"#/$defs/A","$defs":{"A":{}}}`},
	} {
		if got := NamedProperties(json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

func TestObjectSchema(t *testing.T) {
	for _, c := range []struct{ what, in, want string }{
		{"nothing takes nothing", ``, `{"type":"object","properties":{}}`},
		{"an object stays to the byte", `{ "type":"object", "properties":{"a":{"minimum":1.0}} }`, `{ "type":"object", "properties":{"a":{"minimum":1.0}} }`},
		{"without a type it gets one", `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`},
		{"without properties it gets them", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{
			"a union's branches are one, and demand what all of them do",
			`{"description":"d","oneOf":[{"type":"object","properties":{"a":{},"b":{}},"required":["a","b"]},{"properties":{"b":{},"c":{}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{},"b":{},"c":{}},"description":"d","required":["b"]}`,
		},
		{
			"all of several demand all", `{"type":"object","properties":{"z":{}},"required":["z"],"allOf":[{"properties":{"a":{}},"required":["a"]}]}`,
			`{"type":"object","properties":{"z":{},"a":{}},"required":["z","a"]}`,
		},
		{
			"a root that refers is what it refers to", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}`,
			`{"type":"object","properties":{"x":{"type":"string"}},"$defs":{"A":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}},"required":["x"]}`,
		},
	} {
		if got := ObjectSchema(json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}

func TestASchemaOfReferencesEndsSoon(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d30"}},"$defs":{"d0":{"type":"string"}`)
	for i := 1; i <= 30; i++ {
		ref := `{"$ref":"#/$defs/d` + string(json.Number(itoa(i-1))) + `"}`
		b.WriteString(`,"d` + itoa(i) + `":{"type":"object","properties":{"l":` + ref + `,"r":` + ref + `},"allOf":[` + ref + `,` + ref + `]}`)
	}
	b.WriteString(`}}`)
	begin := time.Now()
	GeminiSchema(json.RawMessage(b.String()))
	OpenAPISchema(json.RawMessage(b.String()))
	ObjectSchema(json.RawMessage(b.String()))
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func FuzzSchemas(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"anyOf":[{"type":"null"},{"const":1}]}},"allOf":[{"$ref":"#/properties/b"}]}`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`))
	f.Add([]byte(`[{"items":[true],"type":["array","null"]}]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		gem, _ := GeminiSchema(in)
		api, _ := OpenAPISchema(in)
		for name, out := range map[string]json.RawMessage{"gemini": gem, "openapi": api, "from": FromOpenAPI(in), "object": ObjectSchema(in)} {
			if out != nil && !json.Valid(out) {
				t.Errorf("%s: %q is no JSON", name, out)
			}
		}
		again, _ := OpenAPISchema(in)
		if string(again) != string(api) {
			t.Error("the same schema came out differently")
		}
	})
}

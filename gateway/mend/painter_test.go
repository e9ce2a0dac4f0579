package mend_test

import (
	"testing"

	"dev.magpie/gateway/mend"
	"dev.magpie/gateway/wire"
)

func TestTheImageToolIsTakenOutOfTheBytes(t *testing.T) {
	const tool = `{"type":"namespace","name":"image_gen","tools":[]}`
	const other = `{"type":"function", "name":"ls"}`
	for _, c := range []struct{ name, body, want string }{
		{"among others", `{"a":1,"tools":[` + tool + `, ` + other + `],"z":2}`, `{"a":1,"tools":[` + other + `],"z":2}`},
		{"written flat", `{"tools":[` + other + `,{"type":"function","name":"image_gen__imagegen"}]}`, `{"tools":[` + other + `]}`},
		{"of Chat", `{"tools":[{"type":"function","function":{"name":"image_gen__imagegen"}},` + other + `]}`, `{"tools":[` + other + `]}`},
		{"alone", `{"a":1, "tools":[` + tool + `], "tool_choice":"auto", "z":2}`, `{"a":1, "z":2}`},
		{"alone and first", `{"tools":[` + tool + `] , "tool_choice":"auto","z":2}`, `{"z":2}`},
		{"alone and first, its choice last", `{"tools":[` + tool + `],"z":2,"tool_choice":"auto"}`, `{"z":2}`},
		{"alone in all", `{"tool_choice":"auto","tools":[` + tool + `]}`, `{}`},
		{"chosen", `{"tools":[` + tool + `,` + other + `],"tool_choice":{"type":"function","name":"image_gen__imagegen"}}`, `{"tools":[` + other + `]}`},
		{"not there", `{"tools":[` + other + `],"note":"image_gen"}`, ""},
		{"no tools", `{"a":"image_gen"}`, ""},
	} {
		body := []byte(c.body)
		got, done := mend.Apply(wire.Responses, body, []mend.Thing{{What: mend.Painter}})
		switch {
		case len(done) > 0 != (c.want != ""), c.want != "" && string(got) != c.want:
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		case c.want == "" && &got[0] != &body[0]:
			t.Errorf("%s: another body", c.name)
		}
	}
	gemini := []byte(`{"tools":[{"functionDeclarations":[{"name":"image_gen__imagegen"}]},{"functionDeclarations":[{"name":"ls"}]}],"toolConfig":{}}`)
	if got, _ := mend.Apply(wire.Gemini, gemini, []mend.Thing{{What: mend.Painter}}); string(got) != `{"tools":[{"functionDeclarations":[{"name":"ls"}]}],"toolConfig":{}}` {
		t.Errorf("Gemini: %s", got)
	}
}

func TestTheImageToolIsTakenForARefusalThatNamesNothingElse(t *testing.T) {
	body := []byte(`{"model":"m","tools":[{"type":"namespace","name":"image_gen"}]}`)
	for _, c := range []struct {
		name, said string
		sent       mend.Sent
		plain      bool
		want       int
	}{
		{"of another house", "tools[0].type: 'namespace' is not a kind of tool here", mend.Sent{}, true, 1},
		{"of its own", "tools[0].type: 'namespace' is not a kind of tool here", mend.Sent{House: true}, true, 0},
		{"known for what it is", "no such model", mend.Sent{}, false, 0},
		{"about a field", "Invalid value for 'store'", mend.Sent{}, true, 0},
	} {
		c.sent.API, c.sent.Body = wire.Responses, body
		r := refused(400, message(c.said))
		r.Plain = c.plain
		got := mend.Find(c.sent, r)
		if len(got) != c.want || c.want > 0 && (got[0].What != mend.Painter || !got[0].Bet || !got[0].Keep || !got[0].Wide) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

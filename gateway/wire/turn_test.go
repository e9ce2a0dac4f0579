package wire

import (
	"strings"
	"testing"
)

// itemsOf is a whole request around a list of items.
func itemsOf(p Protocol, items string) string {
	switch p {
	case Gemini:
		return `{"contents":[` + items + `]}`
	case Responses:
		return `{"model":"m","input":[` + items + `]}`
	case Chat, Messages:
	}
	return `{"model":"m","messages":[` + items + `]}`
}

func TestAConversationsTurnsAreRead(t *testing.T) {
	const (
		chatUser = `{"role":"user","content":"do it"},`
		chatCall = `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},`
		chatTool = `{"role":"tool","tool_call_id":"c","content":"done"},`

		respUser = `{"type":"message","role":"user","content":[{"type":"input_text","text":"do it"}]},`
		respCall = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},`
		respOut  = `{"type":"function_call_output","call_id":"c","output":"done"},`

		msgUser  = `{"role":"user","content":[{"type":"text","text":"do it","cache_control":{"type":"ephemeral"}}]},`
		msgCall  = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"role":"user","content":"x"}}]},`
		msgTool  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"done"},{"type":"image","source":{"data":"QUJD"}}]}]},`
		msgImage = `{"role":"user","content":[{"type":"image","source":{"data":"QUJD"}},{"type":"text","text":"see"}]},`

		gemUser = `{"role":"user","parts":[{"text":"do it"}]},`
		gemCall = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},`
		gemTool = `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"text":"done"}}}]},`

		note     = "<system-reminder>\\nmind the time\\n</system-reminder>"
		chatNote = `{"role":"system","content":"mind the time"},`
		msgNote  = `{"role":"user","content":[{"type":"text","text":"` + note + `"}]},`
	)
	for name, c := range map[string]struct {
		p     Protocol
		items string
		want  Turns
	}{
		"chat: the user begins":                        {Chat, `{"role":"system","content":"s"},` + chatUser, Turns{Turn: 1}},
		"chat: a tool's result":                        {Chat, chatUser + chatCall + chatTool, Turns{Turn: 1, Within: true}},
		"chat: an old function's result":               {Chat, chatUser + chatCall + `{"role":"function","name":"f","content":"done"},`, Turns{Turn: 1, Within: true}},
		"chat: two results, then a system note":        {Chat, chatUser + chatCall + chatTool + chatTool + chatNote, Turns{Turn: 1, Within: true}},
		"chat: the next turn":                          {Chat, chatUser + chatCall + chatTool + `{"role":"assistant","content":"ok"},` + chatUser, Turns{Turn: 2}},
		"chat: an image":                               {Chat, chatUser + `{"role":"assistant","content":"ok"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},`, Turns{Turn: 2, Shows: true}},
		"chat: an image of an earlier turn":            {Chat, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}]},{"role":"assistant","content":"ok"},` + chatUser, Turns{Turn: 2}},
		"chat: a file":                                 {Chat, `{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]},`, Turns{Turn: 1}},
		"chat: nothing said":                           {Chat, chatUser + `{"role":"user","content":""},`, Turns{Turn: 1}},
		"responses: a string":                          {Responses, "", Turns{Turn: 1}},
		"responses: the user begins":                   {Responses, `{"role":"developer","content":"s"},{"role":"user","content":"do it"},`, Turns{Turn: 1}},
		"responses: a call's output":                   {Responses, respUser + respCall + respOut, Turns{Turn: 1, Within: true}},
		"responses: a freeform call's output":          {Responses, respUser + `{"type":"custom_tool_call","call_id":"c","name":"exec","input":"x"},{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"done"}]},`, Turns{Turn: 1, Within: true}},
		"responses: outputs alone, going on":           {Responses, respOut, Turns{Within: true}},
		"responses: the next turn":                     {Responses, respUser + respCall + respOut + `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]},` + respUser, Turns{Turn: 2}},
		"responses: an image beside another message":   {Responses, `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},` + respUser, Turns{Turn: 2, Shows: true}},
		"responses: the image of a turn that goes on":  {Responses, `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},` + respCall + respOut, Turns{Turn: 1, Within: true, Shows: true}},
		"messages: the user begins":                    {Messages, msgUser, Turns{Turn: 1}},
		"messages: a tool's result":                    {Messages, msgUser + msgCall + msgTool, Turns{Turn: 1, Within: true}},
		"messages: a result and text beside it":        {Messages, msgUser + msgCall + `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"},{"type":"text","text":"go on"}]},`, Turns{Turn: 1, Within: true}},
		"messages: a reminder behind the result":       {Messages, msgUser + msgCall + msgTool + msgNote, Turns{Turn: 1, Within: true}},
		"messages: a system note behind the result":    {Messages, msgUser + msgCall + msgTool + chatNote, Turns{Turn: 1, Within: true}},
		"messages: a reminder before what is said":     {Messages, `{"role":"user","content":[{"type":"text","text":"` + note + `"},{"type":"text","text":"do it"}]},`, Turns{Turn: 1}},
		"messages: an image is shown":                  {Messages, msgImage, Turns{Turn: 1, Shows: true}},
		"messages: an image that a tool gave":          {Messages, msgUser + msgCall + msgTool, Turns{Turn: 1, Within: true}},
		"messages: a document":                         {Messages, `{"role":"user","content":[{"type":"document","source":{"data":"QUJD"}}]},`, Turns{Turn: 1}},
		"messages: the type stands last":               {Messages, msgUser + msgCall + `{"content":[{"content":"done","tool_use_id":"t","type":"tool_result"}],"role":"user"},`, Turns{Turn: 1, Within: true}},
		"gemini: the user begins":                      {Gemini, gemUser, Turns{Turn: 1}},
		"gemini: without a role":                       {Gemini, `{"parts":[{"text":"do it"}]},`, Turns{Turn: 1}},
		"gemini: a tool's result":                      {Gemini, gemUser + gemCall + gemTool, Turns{Turn: 1, Within: true}},
		"gemini: a tool's result under its older role": {Gemini, gemUser + gemCall + strings.Replace(gemTool, `"user"`, `"function"`, 1), Turns{Turn: 1, Within: true}},
		"gemini: an image":                             {Gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},`, Turns{Turn: 1, Shows: true}},
		"gemini: an image by its URI":                  {Gemini, `{"role":"user","parts":[{"fileData":{"fileUri":"https://x.example/a.png","mimeType":"image/png"}}]},`, Turns{Turn: 1, Shows: true}},
		"gemini: an image, spelled the other way":      {Gemini, `{"role":"user","parts":[{"inline_data":{"data":"QUJD","mime_type":"IMAGE/PNG"}}]},`, Turns{Turn: 1, Shows: true}},
		"gemini: a document":                           {Gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":"application/pdf","data":"QUJD"}}]},`, Turns{Turn: 1}},
		"gemini: a film":                               {Gemini, `{"role":"user","parts":[{"inlineData":{"data":"QUJD","mimeType":"video/mp4"}}]},`, Turns{Turn: 1}},
		"gemini: a sound without a type":               {Gemini, `{"role":"user","parts":[{"inlineData":{"mimeType":null,"data":"QUJD"}}]},`, Turns{Turn: 1}},
		"gemini: a file":                               {Gemini, `{"role":"user","parts":[{"fileData":{"fileUri":"https://x.example/a.pdf"}}]},`, Turns{Turn: 1}},
		"gemini: the next turn":                        {Gemini, gemUser + gemCall + gemTool + `{"role":"model","parts":[{"text":"ok"}]},` + gemUser, Turns{Turn: 2}},
	} {
		body := itemsOf(c.p, strings.TrimSuffix(c.items, ","))
		if c.items == "" {
			body = `{"model":"m","input":"hi"}`
		}
		e, err := Read([]byte(body), c.p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Turns != c.want {
			t.Errorf("%s: %+v, want %+v", name, e.Turns, c.want)
		}
	}
}

func TestTheFirstWordsAreTheTextAloneOfTheFirstUserItem(t *testing.T) {
	words := func(p Protocol, items string) string {
		body := []byte(itemsOf(p, items))
		e, err := Read(body, p)
		if err != nil {
			t.Fatal(err)
		}
		return e.FirstWords(body)
	}
	plain := words(Messages, `{"role":"user","content":"do it"}`)
	for name, same := range map[string]string{
		"in a block":                 `{"role":"user","content":[{"type":"text","text":"do it"}]}`,
		"with a cache mark":          `{"role":"user","content":[{"type":"text","text":"do it","cache_control":{"type":"ephemeral"}}]}`,
		"written with an escape":     `{"role":"user","content":"do\u0020it"}`,
		"behind a reminder":          `{"role":"user","content":[{"type":"text","text":"<system-reminder>\nnow\n</system-reminder>"},{"type":"text","text":"do it"}]}`,
		"with what followed":         `{"role":"user","content":"do it"},{"role":"assistant","content":"ok"},{"role":"user","content":"more"}`,
		"beside a result of no text": `{"role":"user","content":[{"type":"image","source":{"text":"x"}},{"type":"text","text":"do it"}]}`,
	} {
		if got := words(Messages, same); got != plain {
			t.Errorf("%s: other words", name)
		}
	}
	if words(Messages, `{"role":"user","content":"do that"}`) == plain {
		t.Error("other words have the same name")
	}
	if words(Gemini, `{"parts":[{"text":"do it"}]}`) != plain || words(Responses, `{"role":"user","content":[{"type":"input_text","text":"do it"}]}`) != plain {
		t.Error("the API makes other words")
	}
}

package chat

import (
	"bytes"
	"encoding/json"
	"testing"

	"dev.magpie/gateway/wire"
)

func FuzzReadAsk(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","messages":[{"role":"user","content":"x"}]}`,
		`{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"p","input":"x"}}]},{"role":"tool","content":[{"type":"image_url","image_url":"data:,"}]}],"tools":[{"type":"custom"}],"tool_choice":{"type":"allowed_tools"}}`,
		`{"messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,aGk="}}],"cache_control":{}}],"web_search_options":{},"response_format":{"type":"json_schema"}}`,
		`{"messages":[{"role":"assistant","reasoning_content":"é","reasoning_details":[{"data":"magpie1.e30=","bytes":1}]}],"functions":[{"name":"f"}]}`,
	} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, full bool) {
		a, err := Codec{}.ReadAsk(body)
		if err != nil {
			return
		}
		to := wire.Target{Model: "m"}
		if full {
			to.Dialect = most
		}
		out, _, err := Codec{}.WriteAsk(a, to)
		if err != nil {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		if _, err := (Codec{}).ReadAsk(out); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(full), false)
	f.Add([]byte(stream(deltaOf(`{"tool_calls":[{"id":"1","function":{"name":"patch","arguments":"{\"input\":\"x"}}]}`), finish("stop"))), false)
	f.Add([]byte(stream(deltaOf(`{"reasoning_details":[{"type":"t","data":"d","index":0}],"content":[{"type":"text","text":"x"}]}`), "[DONE]")), false)
	f.Add([]byte(`{"choices":[{"message":{"content":"x"}}]}`), true)
	f.Fuzz(func(t *testing.T, text []byte, whole bool) {
		asked := &wire.Ask{Usage: true, Tools: []wire.Tool{{Kind: wire.ToolFree, Name: "patch"}}}
		var all []wire.Event
		if whole {
			all = Codec{}.NewReader(asked).Whole(text)
		} else {
			all = events(asked, string(text))
		}
		if len(all) == 0 {
			t.Skip()
		}
		for i, e := range all {
			if end := e.Kind == wire.EventFinish || e.Kind == wire.EventFail; end != (i == len(all)-1) {
				t.Fatalf("event %d of %d: %v", i, len(all), told(all))
			}
		}
		var b bytes.Buffer
		w := Codec{}.NewWriter(&b, asked, streamed)
		for _, e := range all {
			if err := w.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if !w.Done() {
			t.Fatal("no end was written")
		}
		finished := all[len(all)-1].Kind == wire.EventFinish
		if bytes.HasSuffix(b.Bytes(), []byte("data: [DONE]\n\n")) != finished {
			t.Fatalf("%v\n%s", told(all), b.Bytes())
		}
	})
}

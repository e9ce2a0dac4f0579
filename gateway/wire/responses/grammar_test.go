package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/sse"
)

// told is one event of a written stream.
type told struct {
	Type   string          `json:"type"`
	Seq    *int64          `json:"sequence_number"`
	Item   map[string]any  `json:"item"`
	ItemID string          `json:"item_id"`
	Index  *int            `json:"output_index"`
	Part   *int            `json:"content_index"`
	Sum    *int            `json:"summary_index"`
	Delta  string          `json:"delta"`
	Text   *string         `json:"text"`
	Refuse *string         `json:"refusal"`
	Args   *string         `json:"arguments"`
	Input  *string         `json:"input"`
	Piece  map[string]any  `json:"part"`
	Resp   json.RawMessage `json:"response"`
}

// events cuts a written stream, and checks that names and types agree.
func events(t testing.TB, stream string) []told {
	t.Helper()
	var s sse.Splitter
	if err := s.Feed([]byte(stream)); err != nil {
		t.Fatal(err)
	}
	var all []told
	for ev := s.Next(); ev != nil; ev = s.Next() {
		name, data := sse.Parse(ev)
		var e told
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("not JSON: %v\n%s", err, data)
		}
		if string(name) != e.Type {
			t.Errorf("event %s has the type %s", name, e.Type)
		}
		all = append(all, e)
	}
	if rest := s.Rest(); len(rest) > 0 {
		t.Errorf("bytes behind the last event: %q", rest)
	}
	return all
}

// grammar checks a stream against the API's grammar.
type grammar struct {
	testing.TB

	open  map[string]any // the item that is open
	at    int            // its index
	text  string         // of its part
	part  int            // the part that is open, -1 = none
	parts int
	done  []any
	ended string
}

// check reads a whole stream and returns the type of its last event and its output.
func check(t testing.TB, stream string) (last string, output []any) {
	t.Helper()
	g := &grammar{TB: t, at: -1, part: -1}
	for i, e := range events(t, stream) {
		if e.Seq == nil || *e.Seq != int64(i) {
			t.Errorf("event %d, %s: sequence number %v", i, e.Type, e.Seq)
		}
		if g.ended != "" {
			t.Errorf("%s behind the end", e.Type)
		}
		if i == 0 && e.Type != "response.created" {
			t.Errorf("begins with %s", e.Type)
		}
		g.event(&e)
	}
	return g.ended, g.done
}

func (g *grammar) event(e *told) {
	g.Helper()
	switch e.Type {
	case "response.created", "response.in_progress":
	case "response.completed", "response.incomplete", "response.failed":
		g.end(e)
	case "response.output_item.added":
		if g.open != nil {
			g.Errorf("item %v begins while %v is open", e.Item["id"], g.open["id"])
		}
		if g.at++; e.Index == nil || *e.Index != g.at {
			g.Errorf("item %v has the index %v, want %d", e.Item["id"], e.Index, g.at)
		}
		g.open, g.part, g.parts, g.text = e.Item, -1, 0, ""
	case "response.output_item.done":
		if g.open == nil || e.Item["id"] != g.open["id"] || *e.Index != g.at {
			g.Fatalf("item %v ends, %v is open", e.Item["id"], g.open)
		}
		if g.part >= 0 {
			g.Errorf("item %v ends with an open part", e.Item["id"])
		}
		g.done, g.open = append(g.done, any(e.Item)), nil
	default:
		g.body(e)
	}
}

func (g *grammar) body(e *told) {
	g.Helper()
	if g.open == nil || e.ItemID != g.open["id"] || e.Index == nil || *e.Index != g.at {
		g.Fatalf("%s of %s at %v, open is %v", e.Type, e.ItemID, e.Index, g.open)
	}
	kind := e.Type[strings.LastIndexByte(e.Type, '.')+1:]
	switch {
	case strings.HasSuffix(e.Type, "part.added"):
		if g.part >= 0 {
			g.Errorf("a part begins in an open one")
		}
		g.part, g.text = g.parts, ""
		g.inPart(e)
	case strings.HasSuffix(e.Type, "part.done"):
		g.inPart(e)
		if s, _ := e.Piece["text"].(string); s != g.text && e.Piece["type"] != "refusal" {
			g.Errorf("part ends as %q, was told %q", s, g.text)
		}
		g.part, g.parts = -1, g.parts+1
	case kind == "delta":
		g.text += e.Delta
		g.inPart(e)
	case kind == "done":
		whole := first(e.Text, e.Refuse, e.Args, e.Input)
		if whole == nil || *whole != g.text {
			g.Errorf("%s tells %v, was told %q", e.Type, whole, g.text)
		}
	}
}

// inPart checks that an event of a message or of reasoning tells its part.
func (g *grammar) inPart(e *told) {
	g.Helper()
	at := e.Part
	switch g.open["type"] {
	case "message":
	case "reasoning":
		at = e.Sum
	default:
		return
	}
	if g.part < 0 || at == nil || *at != g.part {
		g.Errorf("%s in part %v, open is %d", e.Type, at, g.part)
	}
}

func first(all ...*string) *string {
	for _, s := range all {
		if s != nil {
			return s
		}
	}
	return nil
}

func (g *grammar) end(e *told) {
	g.Helper()
	g.ended = e.Type
	if e.Type != "response.failed" && g.open != nil {
		g.Errorf("the reply ends in the open item %v", g.open)
	}
	var r struct {
		Status string
		Output []any
		Error  *struct{ Code, Message string }
		Usage  map[string]any
	}
	if err := json.Unmarshal(e.Resp, &r); err != nil {
		g.Fatal(err)
	}
	if "response."+r.Status != e.Type {
		g.Errorf("%s has the status %s", e.Type, r.Status)
	}
	if len(r.Output)+len(g.done) > 0 && !reflect.DeepEqual(r.Output, g.done) {
		g.Errorf("the output at the end is not what was told:\n%v\n%v", r.Output, g.done)
	}
	if (e.Type == "response.failed") != (r.Error != nil) {
		g.Errorf("%s with the error %v", e.Type, r.Error)
	}
	for _, key := range []string{"input_tokens", "output_tokens", "total_tokens"} {
		if _, ok := r.Usage[key].(float64); !ok {
			g.Errorf("usage.%s is %v", key, r.Usage[key])
		}
	}
}

// write writes events for an agent whose request was asked.
func write(t testing.TB, asked *wire.Ask, stream bool, all ...wire.Event) string {
	t.Helper()
	var b bytes.Buffer
	w := Codec{}.NewWriter(&b, asked, wire.WriterOptions{Stream: stream, ID: "seed", Now: 1764400000, Model: "m", Vendor: "v"})
	for _, e := range all {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// ask reads a request.
func ask(t testing.TB, body string) *wire.Ask {
	t.Helper()
	a, err := Codec{}.ReadAsk([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read gives a vendor's events to a reader, whole as they are.
func read(asked *wire.Ask, all ...string) []wire.Event {
	r := Codec{}.NewReader(asked)
	var out []wire.Event
	for _, data := range all {
		out = append(out, r.Read([]byte("data: "+data+"\n\n"))...)
	}
	return append(out, r.End()...)
}

// answer folds events.
func answer(all []wire.Event) wire.Answer {
	var f wire.Fold
	for _, e := range all {
		f.Add(e)
	}
	return f.Answer()
}

// show tells parts in one line each.
func show(parts []wire.Part) string {
	var b strings.Builder
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case wire.KindText:
			fmt.Fprintf(&b, "text %q", p.Text)
		case wire.KindThinking:
			fmt.Fprintf(&b, "thinking %q", p.Text)
		case wire.KindRefusal:
			fmt.Fprintf(&b, "refusal %q", p.Text)
		case wire.KindCall:
			fmt.Fprintf(&b, "call %s %s %s", p.Call.ID, p.Call.Name, p.Call.Args)
			if p.Call.Free {
				fmt.Fprintf(&b, "free %q", p.Call.Input)
			}
		case wire.KindResult:
			fmt.Fprintf(&b, "result %s [%s]", p.Reply.ID, strings.TrimSuffix(show(p.Reply.Parts), "\n"))
			if p.Reply.Error {
				b.WriteString(" error")
			}
		case wire.KindImage, wire.KindFile, wire.KindAudio, wire.KindVideo:
			fmt.Fprintf(&b, "media %d %s %s%s%s %s", p.Kind, p.Media.MIME, p.Media.Data, p.Media.URL, p.Media.ID, p.Media.Text)
		case wire.KindOpaque:
			fmt.Fprintf(&b, "opaque %q", p.Text)
		}
		if p.Seal != nil {
			fmt.Fprintf(&b, " sealed %s %s", p.Seal.API, p.Seal.Data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// turns tells a conversation.
func turns(a *wire.Ask) string {
	var b strings.Builder
	for _, t := range a.Turns {
		fmt.Fprintf(&b, "%s:\n%s", t.Role, show(t.Parts))
	}
	return b.String()
}

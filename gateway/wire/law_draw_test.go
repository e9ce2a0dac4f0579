package wire_test

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// drawWord draws a text that is never blank.
func drawWord(t *rapid.T, name string) string {
	return rapid.StringMatching(`[a-zA-Zé世"\\<&>][a-zé"\\<&> \n]{0,6}[a-z]`).Draw(t, name)
}

func drawMaybe(t *rapid.T, name string) bool { return rapid.Bool().Draw(t, name) }

// drawAsk draws a conversation that every API has some way to say.
func drawAsk(t *rapid.T) *wire.Ask {
	a := &wire.Ask{Model: "m"}
	for range rapid.IntRange(0, 2).Draw(t, "systems") {
		a.System = append(a.System, wire.Part{Kind: wire.KindText, Text: drawWord(t, "system")})
	}
	drawTools(t, a)
	calls := 0
	for range rapid.IntRange(0, 3).Draw(t, "rounds") {
		a.Turns = append(a.Turns, wire.Turn{Role: wire.RoleUser, Parts: drawSaid(t)})
		drawRound(t, a, &calls)
	}
	a.Turns = append(a.Turns, wire.Turn{Role: wire.RoleUser, Parts: drawSaid(t)})
	drawFields(t, a)
	return a
}

func drawTools(t *rapid.T, a *wire.Ask) {
	schemas := []string{
		`{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}`,
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1},"l":{"type":"array","items":{"type":"string"}}}}`,
		`{"type":"object","properties":{"o":{"type":"object","properties":{"e":{"type":"string","enum":["x","y"]}}}}}`,
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "tools") {
		a.Tools = append(a.Tools, wire.Tool{Name: fmt.Sprintf("tool_%d", i), Description: drawWord(t, "description"), Schema: json.RawMessage(rapid.SampledFrom(schemas).Draw(t, "schema"))})
	}
	if drawMaybe(t, "freeform") {
		tool := wire.Tool{Kind: wire.ToolFree, Name: "patch", Description: "edits"}
		if drawMaybe(t, "grammar") {
			tool.Grammar = &wire.Grammar{Syntax: "lark", Definition: "start: /.+/s"}
		}
		a.Tools = append(a.Tools, tool)
	}
	if len(a.Tools) == 0 {
		return
	}
	a.Choice.Mode = rapid.SampledFrom([]wire.ChoiceMode{wire.ChoiceUnsaid, wire.ChoiceAuto, wire.ChoiceNone, wire.ChoiceRequired, wire.ChoiceTool}).Draw(t, "choice")
	if a.Choice.Mode == wire.ChoiceTool {
		a.Choice.Name = a.Tools[0].Name
	}
	a.OneCall = drawMaybe(t, "one call")
}

// drawSaid draws what a user says: a text, and sometimes images.
func drawSaid(t *rapid.T) []wire.Part {
	parts := []wire.Part{{Kind: wire.KindText, Text: drawWord(t, "said")}}
	if drawMaybe(t, "with an image") {
		parts = append(parts, drawImage(t))
	}
	if drawMaybe(t, "two texts") {
		parts = append(parts, wire.Part{Kind: wire.KindText, Text: drawWord(t, "said more")})
	}
	return parts
}

func drawImage(t *rapid.T) wire.Part {
	_ = t
	return wire.Part{Kind: wire.KindImage, Media: &wire.Media{MIME: "image/png", Data: pixel}}
}

// drawRound draws what the model says and calls, and what that gives.
func drawRound(t *rapid.T, a *wire.Ask, calls *int) {
	var turn wire.Turn
	turn.Role = wire.RoleAssistant
	if drawMaybe(t, "thinks") {
		p := wire.Part{Kind: wire.KindThinking, Text: drawWord(t, "thought")}
		if drawMaybe(t, "sealed") {
			api := rapid.SampledFrom([]wire.Protocol{wire.Messages, wire.Responses}).Draw(t, "sealed by")
			p.Seal = &wire.Seal{API: api, Data: map[wire.Protocol]string{wire.Messages: "EqQBAA==", wire.Responses: "gAAAAA=="}[api]}
		}
		turn.Parts = append(turn.Parts, p)
	}
	made := 0
	if len(a.Tools) > 0 {
		made = rapid.IntRange(0, 3).Draw(t, "calls")
	}
	if made == 0 || drawMaybe(t, "speaks") {
		turn.Parts = append(turn.Parts, wire.Part{Kind: wire.KindText, Text: drawWord(t, "text")})
	}
	var results []wire.Part
	for range made {
		tool := rapid.SampledFrom(a.Tools).Draw(t, "tool")
		*calls++
		c := &wire.Call{ID: fmt.Sprintf("call_%d", *calls), Name: tool.Name}
		if tool.Kind == wire.ToolFree {
			c.Free, c.Input = true, drawWord(t, "input")
		} else {
			args, _ := json.Marshal(map[string]any{"p": drawWord(t, "argument"), "n": json.Number(rapid.SampledFrom([]string{"1", "1.50", "1e3"}).Draw(t, "number"))})
			c.Args = args
		}
		turn.Parts = append(turn.Parts, wire.Part{Kind: wire.KindCall, Call: c})
		results = append(results, drawResult(t, c))
	}
	a.Turns = append(a.Turns, turn)
	if len(results) > 0 {
		a.Turns = append(a.Turns, wire.Turn{Role: wire.RoleUser, Parts: results})
	}
}

func drawResult(t *rapid.T, c *wire.Call) wire.Part {
	r := &wire.Result{ID: c.ID, Name: c.Name, Error: rapid.IntRange(0, 4).Draw(t, "failed") == 0}
	if rapid.IntRange(0, 5).Draw(t, "empty") > 0 {
		r.Parts = append(r.Parts, wire.Part{Kind: wire.KindText, Text: drawWord(t, "result")})
		if drawMaybe(t, "shows an image") {
			r.Parts = append(r.Parts, drawImage(t))
		}
	}
	return wire.Part{Kind: wire.KindResult, Reply: r}
}

func drawFields(t *rapid.T, a *wire.Ask) {
	if drawMaybe(t, "max") {
		n := rapid.Int64Range(4096, 9000).Draw(t, "most")
		a.Max = &n
	}
	if drawMaybe(t, "samples") {
		a.Temperature = rapid.SampledFrom([]json.Number{"0", "0.5", "1.00"}).Draw(t, "temperature")
		a.TopP = rapid.SampledFrom([]json.Number{"", "0.9"}).Draw(t, "top_p")
		a.Presence = rapid.SampledFrom([]json.Number{"", "0.25"}).Draw(t, "presence")
		a.Seed = rapid.SampledFrom([]json.Number{"", "7"}).Draw(t, "seed")
	}
	if drawMaybe(t, "stops") {
		a.Stop = []string{"END", drawWord(t, "stop")}
	}
	a.Effort = rapid.SampledFrom([]string{"", "low", "medium", "high"}).Draw(t, "effort")
	a.User = rapid.SampledFrom([]string{"", "u-1"}).Draw(t, "user")
	a.Verbosity = rapid.SampledFrom([]string{"", "low"}).Draw(t, "verbosity")
	if rapid.IntRange(0, 3).Draw(t, "format") == 0 {
		a.Format = &wire.Format{Name: "answer", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)}
	}
}

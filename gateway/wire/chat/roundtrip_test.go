package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
)

// most is a vendor that can be told nearly all that a Chat client says.
var most = wire.Dialect{
	Vendor: "v", DeveloperRole: true, CacheMarks: true, CustomTools: true, AllowedTools: true,
	Searches: []wire.Protocol{wire.Chat}, Tiers: true, GiveBack: wire.GiveAll, Details: true, CallSeals: []string{"m"},
}

// word draws text that is never empty.
func word(t *rapid.T, name string) string {
	return rapid.StringMatching(`[a-zé"\\<&\n ]{0,8}[a-z]`).Draw(t, name)
}

// drawn draws a request as a client would write it: turns in the order that the API takes.
func drawn(t *rapid.T) map[string]any {
	var messages []any
	for range rapid.IntRange(0, 2).Draw(t, "systems") {
		role := rapid.SampledFrom([]string{"system", "developer"}).Draw(t, "role")
		messages = append(messages, map[string]any{"role": role, "content": word(t, "system")})
	}
	for n := range rapid.IntRange(1, 4).Draw(t, "rounds") {
		messages = append(messages, map[string]any{"role": "user", "content": drawnContent(t)})
		m := map[string]any{"role": "assistant", "content": nil}
		if rapid.Bool().Draw(t, "thinks") {
			m["reasoning_content"] = word(t, "thought")
		}
		if rapid.Bool().Draw(t, "speaks") {
			m["content"] = word(t, "text")
		}
		calls := rapid.IntRange(0, 3).Draw(t, "calls")
		if calls == 0 {
			m["content"] = word(t, "text")
		}
		list, results := drawnCalls(t, n, calls)
		if calls > 0 {
			m["tool_calls"] = list
		}
		messages = append(messages, m)
		messages = append(messages, results...)
	}
	messages = append(messages, map[string]any{"role": "user", "content": drawnContent(t)})
	return map[string]any{
		"model": "m", "messages": messages,
		"tools": []any{
			map[string]any{"type": "function", "function": map[string]any{"name": "f", "parameters": map[string]any{"type": "object"}}},
			map[string]any{"type": "custom", "custom": map[string]any{"name": "p"}},
		},
		"tool_choice":            rapid.SampledFrom([]string{"auto", "none", "required"}).Draw(t, "choice"),
		"max_tokens":             rapid.IntRange(1, 9).Draw(t, "max"),
		"temperature":            rapid.Float64Range(0, 2).Draw(t, "temperature"),
		"stop":                   []string{word(t, "stop")},
		"reasoning_effort":       rapid.SampledFrom([]string{"none", "low", "max"}).Draw(t, "effort"),
		"service_tier":           rapid.SampledFrom([]string{"auto", "flex"}).Draw(t, "tier"),
		"user":                   word(t, "user"),
		"prompt_cache_key":       word(t, "key"),
		"seed":                   rapid.Int32().Draw(t, "seed"),
		"logit_bias":             map[string]int{"1": 2},
		"safety_" + word(t, "x"): word(t, "y"),
	}
}

func drawnContent(t *rapid.T) any {
	if rapid.Bool().Draw(t, "string") {
		return word(t, "said")
	}
	parts := []any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,AAAA", "detail": "low"}}}
	for range rapid.IntRange(0, 2).Draw(t, "parts") {
		p := map[string]any{"type": "text", "text": word(t, "part")}
		if rapid.Bool().Draw(t, "marked") {
			p["cache_control"] = map[string]any{"type": "ephemeral", "ttl": "1h"}
		}
		parts = append(parts, p)
	}
	return parts
}

func drawnCalls(t *rapid.T, round, calls int) (list, results []any) {
	for i := range calls {
		id := fmt.Sprintf("call_%d_%d", round, i)
		if rapid.Bool().Draw(t, "custom") {
			list = append(list, map[string]any{"id": id, "type": "custom", "custom": map[string]any{"name": "p", "input": word(t, "input")}})
		} else {
			args, _ := json.Marshal(map[string]any{"a": word(t, "arg")})
			list = append(list, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "f", "arguments": string(args)}})
		}
		results = append(results, map[string]any{"role": "tool", "tool_call_id": id, "content": word(t, "result")})
	}
	return list, results
}

// forget takes out of an ask what a loss of that name stands for.
func forget(a *wire.Ask, lost []wire.Loss) {
	a.Stream, a.Usage = false, false
	for _, l := range lost {
		switch l.What {
		case "reasoning":
			for i := range a.Turns {
				a.Turns[i].Parts = slices.DeleteFunc(a.Turns[i].Parts, func(p wire.Part) bool { return p.Kind == wire.KindThinking })
			}
		case "cache_control":
			for i := range a.Turns {
				for j := range a.Turns[i].Parts {
					a.Turns[i].Parts[j].Cache = nil
				}
			}
		case "service_tier":
			a.Tier = ""
		}
	}
}

// settled makes alike what two APIs of one spelling may tell apart for no one: who of the
// vendor's flavour knows no custom tools sees functions, and texts without a mark are one.
func settled(a *wire.Ask, d *wire.Dialect) {
	a.System = joined(a.System, "\n\n", d.DeveloperRole)
	if !d.Tiers && a.Tier == "auto" {
		a.Tier = ""
	}
	for i := range a.Turns {
		if wire.AllText(a.Turns[i].Parts) {
			a.Turns[i].Parts = joined(a.Turns[i].Parts, "\n", false)
		}
		for j := range a.Turns[i].Parts {
			p := &a.Turns[i].Parts[j]
			p.Seal = nil // the word that stands for a signature of Gemini's
			if c := p.Call; c != nil && c.Free && !d.CustomTools {
				p.Call = &wire.Call{ID: c.ID, Name: c.Name, Args: wire.FreeArgs(c.Input)}
			}
		}
	}
	for i := range a.Tools {
		if a.Tools[i].Kind == wire.ToolFree && !d.CustomTools {
			a.Tools[i] = wire.FreeFunction(a.Tools[i])
		}
	}
}

// joined makes one text of those in a row that no one tells apart.
func joined(parts []wire.Part, sep string, roles bool) []wire.Part {
	for i := range parts {
		if parts[i].Cache != nil {
			return parts
		}
	}
	var out []wire.Part
	for _, p := range parts {
		p.Dev = p.Dev && roles
		if n := len(out) - 1; n >= 0 && out[n].Dev == p.Dev {
			out[n].Text += sep + p.Text
			continue
		}
		out = append(out, p)
	}
	return out
}

func TestReadWriteReadDiffersOnlyByDeclaredLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(drawn(t))
		if err != nil {
			t.Fatal(err)
		}
		d := rapid.SampledFrom([]wire.Dialect{most, {}}).Draw(t, "dialect")
		first, err := Codec{}.ReadAsk(body)
		if err != nil {
			t.Fatal(err)
		}
		written, lost, err := Codec{}.WriteAsk(first, wire.Target{Model: "m", Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		second, err := Codec{}.ReadAsk(written)
		if err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		forget(first, lost)
		forget(second, nil)
		settled(first, &d)
		settled(second, &d)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%s\n%s\n%s\n%v", body, written, diff, lost)
		}
	})
}

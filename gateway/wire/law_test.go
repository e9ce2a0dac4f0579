package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dev.magpie/gateway/wire"
	"dev.magpie/gateway/wire/chat"
	"dev.magpie/gateway/wire/gemini"
	"dev.magpie/gateway/wire/messages"
	"dev.magpie/gateway/wire/responses"
)

var codecs = map[wire.Protocol]wire.Codec{
	wire.Chat: chat.Codec{}, wire.Responses: responses.Codec{}, wire.Messages: messages.Codec{}, wire.Gemini: gemini.Codec{},
}

// targets are models that can nearly all that their API can say.
var targets = map[wire.Protocol]wire.Target{
	wire.Chat:      {Model: "m", Dialect: wire.Dialect{DeveloperRole: true, GiveBack: wire.GiveAll, Tiers: true, AllowedTools: true}},
	wire.Responses: {Model: "gpt-5.6"},
	wire.Messages:  {Model: "claude-opus-4-6"},
	wire.Gemini:    {Model: "gemini-3-pro-preview"},
}

// law checks a property 500 times, or as often as -rapid.checks says; one that is many
// checks in itself takes a share of them.
func law(t *testing.T, share int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	was := f.Value.String()
	n, err := strconv.Atoi(was)
	if err != nil {
		t.Fatal(err)
	}
	if was == f.DefValue {
		n = 500
	}
	if err := f.Value.Set(strconv.Itoa(max(1, n/share))); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Value.Set(was) }()
	rapid.Check(t, prop)
}

func TestEachAPIKeepsWhatAnotherSaidButForDeclaredLoss(t *testing.T) {
	for _, from := range wire.Protocols {
		for _, to := range wire.Protocols {
			t.Run(string(from)+" to "+string(to), func(t *testing.T) {
				law(t, 1, func(t *rapid.T) { carried(t, from, to) })
			})
		}
	}
}

// carried writes a drawn conversation for one API, reads it there, and asks the same of another.
func carried(t *rapid.T, from, to wire.Protocol) {
	drawn := drawAsk(t)
	drawn.API = from
	first, err := json1(from, drawn)
	if err != nil {
		t.Fatal(err)
	}
	said, err := codecs[from].ReadAsk(first)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	target := targets[to]
	written, lost, err := codecs[to].WriteAsk(said, target)
	if err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	if again, _, err := codecs[to].WriteAsk(said, target); err != nil || !bytes.Equal(again, written) {
		t.Fatalf("the same request was written differently:\n%s\n%s", written, again)
	}
	heard, err := codecs[to].ReadAsk(written)
	if err != nil {
		t.Fatalf("%v: %s", err, written)
	}
	before, after := essence(said, to), essence(heard, to)
	for _, key := range slices.Sorted(mapKeys(before)) {
		if before[key] != after[key] && !declared(lost, key) {
			t.Fatalf("%s was\n  %s\nis\n  %s\nlost %v\n%s\n%s", key, before[key], after[key], lost, first, written)
		}
	}
}

func json1(api wire.Protocol, a *wire.Ask) ([]byte, error) {
	body, _, err := codecs[api].WriteAsk(a, targets[api])
	return body, err
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// excuses are the words of a loss that stands for a thing.
var excuses = map[string][]string{
	"temperature": {"temperature"}, "top_p": {"top_p", "topP"}, "stop": {"stop"}, "effort": {"reasoning", "effort", "thinking"},
	"thinking": {"reasoning", "thinking", "thought"}, "choice": {"tool_choice", "toolConfig", "functionCallingConfig"}, "one call": {"parallel", "disable_parallel"},
	"user": {"user"}, "cache key": {"prompt_cache_key"}, "verbosity": {"verbosity"}, "penalties": {"penalty", "Penalty"}, "seed": {"seed"}, "top_k": {"top_k", "topK"},
	"format": {"response_format", "text.format", "output_config.format", "responseMimeType", "responseJsonSchema"}, "tier": {"tier", "Tier"}, "metadata": {"metadata"},
	"show": {"summary", "display", "includeThoughts", "reasoning", "thinking"}, "max": {"max_"},
}

func declared(lost []wire.Loss, key string) bool {
	for _, l := range lost {
		for _, word := range excuses[key] {
			if strings.Contains(l.What, word) {
				return true
			}
		}
	}
	return false
}

// essence is what a request asks for, in words in which the spelling of an API no longer matters.
func essence(a *wire.Ask, to wire.Protocol) map[string]string {
	e := map[string]string{
		"system": texts(a.System), "temperature": string(a.Temperature), "top_p": string(a.TopP), "stop": strings.Join(a.Stop, "|"),
		"effort": a.Level(), "one call": fmt.Sprint(a.OneCall && len(a.Tools) > 0 && a.Choice.Mode != wire.ChoiceNone), "user": a.User, "verbosity": a.Verbosity,
		"penalties": string(a.Presence + "|" + a.Frequency), "seed": string(a.Seed), "tier": a.Tier, "metadata": string(a.Metadata), "cache key": a.CacheKey,
	}
	if a.TopK != nil {
		e["top_k"] = fmt.Sprint(*a.TopK)
	} else {
		e["top_k"] = ""
	}
	if to != wire.Messages || a.Max != nil {
		e["max"] = number(a.Max)
	}
	e["choice"] = string(a.Choice.Mode) + " " + a.Choice.Name
	if a.Choice.Mode == wire.ChoiceAuto || a.Choice.Mode == wire.ChoiceUnsaid || len(a.Tools) == 0 {
		e["choice"] = "auto "
	}
	if a.Format != nil {
		e["format"] = "json " + compact(a.Format.Schema)
	} else {
		e["format"] = ""
	}
	var tools []string
	for _, t := range a.Tools {
		if t.Kind == wire.ToolFree {
			t = wire.FreeFunction(t)
		}
		tools = append(tools, t.Name+" "+t.Description+" "+compact(t.Schema))
	}
	e["tools"] = strings.Join(tools, "\n")
	turns(a, e)
	return e
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// compact is JSON with its keys in order.
func compact(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func texts(parts []wire.Part) string {
	var out []string
	for _, p := range parts {
		if p.Kind == wire.KindText || p.Kind == wire.KindRefusal {
			out = append(out, p.Text)
		}
	}
	return strings.Join(strings.Fields(strings.Join(out, " ")), " ")
}

// outcome is a result's text. Where an API has no flag for errors, or takes no empty ones,
// a word says it.
func outcome(text string, failed bool) string {
	text = strings.TrimSpace(strings.TrimSuffix(text, "see image below"))
	bare := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(strings.TrimPrefix(text, "Error"), ": "), "Error"), ": ")
	if failed || strings.HasPrefix(text, "Error") {
		return "failed: " + bare
	}
	return bare
}

// turns tells the conversation. Thinking stands apart, for its loss is declared; images of
// a result stand with those of its turn, where one API puts them.
func turns(a *wire.Ask, e map[string]string) {
	var said, thoughts []string
	role := wire.Role("")
	for _, t := range wire.Pair(a.Turns) {
		if t.Role != role {
			said = append(said, "# "+string(t.Role))
			role = t.Role
		}
		var words, images []string
		for _, p := range t.Parts {
			switch p.Kind {
			case wire.KindThinking:
				seal := ""
				if p.Seal != nil {
					seal = string(p.Seal.API) + p.Seal.Data
				}
				thoughts = append(thoughts, p.Text+"/"+seal)
			case wire.KindImage:
				images = append(images, "image "+p.Media.Data+p.Media.URL)
			case wire.KindCall:
				args := p.Call.Args
				if p.Call.Free {
					args = wire.FreeArgs(p.Call.Input)
				}
				said = append(said, "call "+p.Call.ID+" "+p.Call.Name+" "+compact(args))
			case wire.KindResult:
				text := texts(p.Reply.Parts)
				said = append(said, "result "+p.Reply.ID+" "+outcome(text, p.Reply.Error))
				for _, in := range p.Reply.Parts {
					if in.Kind == wire.KindImage {
						images = append(images, "image "+in.Media.Data+in.Media.URL)
					}
				}
			default:
				words = append(words, p.Text)
			}
		}
		if text := strings.Join(strings.Fields(strings.Join(words, " ")), " "); text != "" {
			said = append(said, "says "+text)
		}
		slices.Sort(images)
		said = append(said, images...)
	}
	e["turns"], e["thinking"] = strings.Join(said, "\n"), strings.Join(thoughts, "\n")
}

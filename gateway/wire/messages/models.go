package messages

import "strings"

// off is how a model is told to do without reasoning.
type off uint8

const (
	offDisabled off = iota // thinking disabled; the newest take it only where the effort is at most high, as it is unless said
	offBetween             // thinking between_tools, the least that it takes
	offLow                 // it always thinks: the lowest effort
)

// model is what a generation of models takes of the Messages API.
type model struct {
	prefix   string // of the id behind "claude-", dots as dashes
	output   int64  // most output tokens
	adaptive bool   // thinking adaptive, with output_config.effort
	budget   bool   // thinking enabled, with budget_tokens
	off      off
	xhigh    bool // knows effort xhigh
	sampling bool // takes temperature, top_p, top_k while it isn't thinking
	forced   bool // takes tool_choice any and tool
	system   bool // takes role system inside of messages
	prefill  bool // goes on with an assistant's turn at the end
	format   bool // output_config.format, and strict tools
	claude   bool
	unnamed  bool // of no generation that its name tells
}

const (
	output5 = 128_000
	output4 = 64_000
	output3 = 8192
)

// generations are Claude's models. The longest prefix counts.
var generations = []model{
	{prefix: "3-", output: output3, sampling: true, forced: true, prefill: true},
	{prefix: "3-7", output: output3, budget: true, sampling: true, forced: true, prefill: true},
	{prefix: "2", output: output3, sampling: true, forced: true, prefill: true},
	{prefix: "instant", output: output3, sampling: true, forced: true, prefill: true},
	{prefix: "opus-4", output: output3, budget: true, sampling: true, forced: true, prefill: true},
	{prefix: "sonnet-4", output: output3, budget: true, sampling: true, forced: true, prefill: true},
	{prefix: "opus-4-5", output: output4, budget: true, sampling: true, forced: true, prefill: true, format: true},
	{prefix: "sonnet-4-5", output: output4, budget: true, sampling: true, forced: true, prefill: true, format: true},
	{prefix: "haiku-4-5", output: output4, budget: true, sampling: true, forced: true, prefill: true, format: true},
	{prefix: "opus-4-6", output: output5, adaptive: true, budget: true, sampling: true, forced: true, format: true},
	{prefix: "sonnet-4-6", output: output5, adaptive: true, budget: true, sampling: true, forced: true, format: true},
	{prefix: "opus-4-7", output: output5, adaptive: true, xhigh: true, forced: true, format: true},
	{prefix: "opus-4-8", output: output5, adaptive: true, xhigh: true, forced: true, system: true, format: true},
	{prefix: "opus-5", output: output5, adaptive: true, xhigh: true, forced: true, system: true, format: true},
	{prefix: "sonnet-5", output: output5, adaptive: true, xhigh: true, forced: true, system: true, format: true},
	{prefix: "haiku-5", output: output5, adaptive: true, xhigh: true, forced: true, system: true, format: true},
	{prefix: "opus-5-5", output: output5, adaptive: true, off: offLow, xhigh: true, system: true, format: true},
	{prefix: "sonnet-5-5", output: output5, adaptive: true, off: offBetween, xhigh: true, system: true, format: true},
	{prefix: "haiku-5-5", output: output5, adaptive: true, xhigh: true, forced: true, system: true, format: true},
	{prefix: "fable-5", output: output5, adaptive: true, off: offLow, xhigh: true, forced: true, system: true, format: true},
	{prefix: "fable-5-", output: output5, adaptive: true, off: offLow, xhigh: true, system: true, format: true},
	{prefix: "mythos-5", output: output5, adaptive: true, off: offLow, xhigh: true, forced: true, system: true, format: true},
}

// newer is a Claude model that isn't in the table: as the newest that are, and careful.
var newer = model{output: output3, adaptive: true, off: offLow, xhigh: true, format: true}

// unnamed is a Claude model behind a name of somebody's own, of any generation: it is asked as
// it was meant, and what it refuses is learnt.
var unnamed = model{output: output3, adaptive: true, budget: true, forced: true, xhigh: true, format: true, unnamed: true}

// other is a model of another maker behind the Messages API.
var other = model{output: output3, budget: true, sampling: true, forced: true, prefill: true}

// modelOf finds what a model takes, by its id at whatever vendor: "claude-opus-4-5",
// "anthropic/claude-opus-4.5", "us.anthropic.claude-opus-4-5-v1:0".
func modelOf(id string) model {
	id = strings.ToLower(id)
	i := strings.LastIndex(id, "claude")
	if i < 0 {
		return other
	}
	rest := strings.TrimLeft(strings.ReplaceAll(id[i+len("claude"):], ".", "-"), "-")
	best := newer
	if !strings.ContainsAny(rest, "0123456789") {
		best = unnamed
	}
	for _, g := range generations {
		if len(g.prefix) > len(best.prefix) && begins(rest, g.prefix) {
			best = g
		}
	}
	best.claude = true
	return best
}

// Samples says whether a model takes temperature, top_p and top_k at all.
func Samples(model string) bool { return modelOf(model).sampling }

// begins says whether an id is of the generation that prefix names: "opus-4" is
// opus-4-20250514 and opus-4-1, but no opus-40.
func begins(id, prefix string) bool {
	if !strings.HasPrefix(id, prefix) {
		return false
	}
	if len(id) == len(prefix) || strings.HasSuffix(prefix, "-") {
		return true
	}
	c := id[len(prefix)]
	return c < '0' || c > '9'
}

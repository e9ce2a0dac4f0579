package provider

import (
	"slices"
	"strings"

	"dev.magpie/gateway/wire"
)

// AskOn says on which API one of the provider's models is asked for an agent that speaks
// agent, with a key that was made for one API alone (made, "" = any). The agent's own is
// relayed; a Claude model goes on Messages where the provider has them, for they keep its
// cache marks; OpenAI's own models go on Responses at OpenAI; else Chat is the one that
// most vendors know best. false = the provider has no API for it at all.
func (p *Provider) AskOn(agent, made wire.Protocol, model string, fetched *List) (wire.Protocol, bool) {
	speaks := func(api wire.Protocol) bool {
		return (made == "" || made == api) && p.SpeaksFor(api, model, fetched)
	}
	claude := isClaude(model)
	told := len(p.apisOf(model, fetched)) > 0 // by the file or the vendor's list: theirs to say
	if claude && !told && (agent == wire.Chat || agent == wire.Responses) && speaks(wire.Messages) {
		return wire.Messages, true
	}
	if speaks(agent) {
		return agent, true
	}
	for _, api := range p.preference(model, claude) {
		if speaks(api) {
			return api, true
		}
	}
	return "", false
}

// preference is the order in which the APIs are looked for that the agent does not speak.
func (p *Provider) preference(model string, claude bool) []wire.Protocol {
	switch {
	case claude:
		return []wire.Protocol{wire.Messages, wire.Chat, wire.Responses, wire.Gemini}
	case p.Dialect.Vendor == "openai" || p.Dialect.Vendor == "azure":
		if isOpenAI(model) {
			return []wire.Protocol{wire.Responses, wire.Chat, wire.Messages, wire.Gemini}
		}
	case p.Dialect.Vendor == "google":
		return []wire.Protocol{wire.Gemini, wire.Chat, wire.Responses, wire.Messages}
	}
	return []wire.Protocol{wire.Chat, wire.Responses, wire.Messages, wire.Gemini}
}

func lastName(model string) string {
	return strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
}

// Claudes says whether a model of the provider's is one of Anthropic's, asked there or through a relay.
func (p *Provider) Claudes(model string) bool {
	return p.Dialect.Vendor == "anthropic" || isClaude(model)
}

func isClaude(model string) bool { return strings.HasPrefix(lastName(model), "claude") }

func isOpenAI(model string) bool {
	m := lastName(model)
	return slices.ContainsFunc([]string{"gpt-", "codex", "o1", "o3", "o4"}, func(head string) bool { return strings.HasPrefix(m, head) })
}

// Fit says how well a key suits a request of a model from an agent that speaks agent: 0 is
// best. A key of no API suits all. Claude models go best with a key made for Messages,
// OpenAI's with any other; else a key suits on whose API the agent is relayed. Without an
// agent nothing is known of its API.
func (p *Provider) Fit(made, agent wire.Protocol, model string, fetched *List) int {
	messages := made == wire.Messages
	switch {
	case made == "":
		return 0
	case isClaude(model):
		return worst(!messages)
	case isGPT(model):
		return worst(messages)
	case agent == "" || made == agent && p.SpeaksFor(agent, model, fetched):
		return 0
	}
	return 1
}

func worst(is bool) int {
	if is {
		return 2
	}
	return 0
}

// isGPT says whether OpenAI makes the model, by its name: gpt-…, codex, o1 to o9.
func isGPT(model string) bool {
	m := lastName(model)
	return strings.HasPrefix(m, "gpt-") || strings.Contains(m, "codex") ||
		len(m) > 1 && m[0] == 'o' && m[1] >= '1' && m[1] <= '9'
}

package wire

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// thinking is where a request's body says how hard its model shall think: the places of the
// values at its top, and how much output it wants.
type thinking struct {
	effort     span // Chat: reasoning_effort
	reasoning  span // Responses, and Chat as some vendors have it
	thinking   span // Messages, and Chat as some vendors have it
	enable     span // Chat as some vendors have it: enable_thinking
	output     span // Messages: output_config
	generation span // Gemini: generationConfig
	most       span // Messages: max_tokens
}

// thinking notes one of those places.
func (r *reader) thinking(key []byte) {
	var at *span
	t := &r.e.think
	switch string(key) {
	case "reasoning_effort":
		at = &t.effort
	case "reasoning":
		at = &t.reasoning
	case "thinking":
		at = &t.thinking
	case "enable_thinking":
		at = &t.enable
	case "output_config":
		at = &t.output
	case "generationConfig", "generation_config":
		at = &t.generation
	case "max_tokens":
		at = &t.most
	default:
		return
	}
	r.c.space()
	at.start = r.c.i
	r.c.skip()
	at.end = r.c.i
}

func (s span) value(b []byte) Value { return Value(s.of(b)) }

// Thinks says how much reasoning a body asks for: a level, "" where it names none, and
// whether it asks for any at all.
func (e *Envelope) Thinks(body []byte, p Protocol) (level string, on bool) {
	t := &e.think
	if *t == (thinking{most: t.most}) {
		return "", false
	}
	switch p {
	case Chat:
		level, on = t.chat(body)
	case Responses:
		level = t.reasoning.value(body).Get("effort").Text()
	case Messages:
		level, on = t.messages(body)
	case Gemini:
		level, on = budgeted(either(t.generation.value(body), "thinkingConfig", "thinking_config"))
	}
	level = strings.ToLower(level)
	if level == "none" {
		return level, false
	}
	return level, on || level != ""
}

// Counts says whether a body says it as a number of tokens, which no level is exactly.
func (e *Envelope) Counts(body []byte, p Protocol) bool {
	t := &e.think
	switch p {
	case Messages:
		return t.output.value(body).Get("effort").None() && !t.thinking.value(body).Get("budget_tokens").None()
	case Gemini:
		config := either(t.generation.value(body), "thinkingConfig", "thinking_config")
		return either(config, "thinkingLevel", "thinking_level").None() && !either(config, "thinkingBudget", "thinking_budget").None()
	case Chat, Responses:
	}
	return false
}

// chat reads what the vendors of Chat Completions have for it.
func (t *thinking) chat(body []byte) (level string, on bool) {
	reasoning, think, enable := t.reasoning.value(body), t.thinking.value(body), t.enable.value(body)
	switch {
	case think.Get("type").Text() == "disabled", enable.Kind() == 'f', reasoning.Get("enabled").Kind() == 'f':
		return "none", false
	case t.effort.value(body).Text() != "":
		return t.effort.value(body).Text(), true
	}
	return reasoning.Get("effort").Text(), enable.True() || !think.None() || !reasoning.None()
}

func (t *thinking) messages(body []byte) (level string, on bool) {
	think := t.thinking.value(body)
	level = t.output.value(body).Get("effort").Text()
	switch think.Get("type").Text() {
	case "disabled":
		return "none", false
	case "enabled":
		if n, ok := think.Get("budget_tokens").Int(); ok && level == "" {
			return BudgetEffort(n), true
		}
	}
	return level, !think.None()
}

// budgeted reads Gemini's thinkingConfig.
func budgeted(config Value) (level string, on bool) {
	if level = GeminiEffort(either(config, "thinkingLevel", "thinking_level").Text()); level != "" {
		return level, true
	}
	n, ok := either(config, "thinkingBudget", "thinking_budget").Int()
	if !ok {
		return "", false
	}
	return BudgetEffort(n), n != 0
}

// either is a member under one of its two spellings.
func either(v Value, key, other string) Value {
	if got := v.Get(key); got != nil {
		return got
	}
	return v.Get(other)
}

// EditEffort writes a level into a body where that takes no more than a value: of Chat
// reasoning_effort, of Responses reasoning.effort, and in the two others where the body
// already says how hard to think, in the words in which it says it. ok is false where more is
// to be said than that: the request is then to be written anew.
func (e *Envelope) EditEffort(body []byte, p Protocol, model, level string) (edits []Edit, ok bool) {
	t := &e.think
	switch p {
	case Chat:
		if t.reasoning != (span{}) || t.thinking != (span{}) || t.enable != (span{}) {
			return nil, false
		}
		return []Edit{set(body, t.effort, "reasoning_effort", Quote(level))}, true
	case Responses:
		return []Edit{set(body, t.reasoning, "reasoning", with(t.reasoning.value(body), "effort", Quote(level)))}, true
	case Messages:
		return t.editMessages(body, level)
	case Gemini:
		return t.editGemini(body, model, level)
	}
	return nil, false
}

func (t *thinking) editMessages(body []byte, level string) ([]Edit, bool) {
	think, output := t.thinking.value(body), t.output.value(body)
	kind := think.Get("type").Text()
	switch {
	case level == "none", kind == "disabled", kind == "between_tools":
		return nil, false
	case kind == "enabled":
		most, _ := t.most.value(body).Int()
		n := MessagesBudget(level, most)
		if most > 0 {
			n = min(n, most-1)
		}
		if n < budgetLeast { // no room for any: as it was sent
			return nil, true
		}
		return []Edit{{t.thinking, with(think, "budget_tokens", strconv.AppendInt(nil, n, 10))}}, true
	case kind == "adaptive", !output.Get("effort").None():
		return []Edit{set(body, t.output, "output_config", with(output, "effort", Quote(AdaptiveEffort(level, nil))))}, true
	}
	return nil, false
}

func (t *thinking) editGemini(body []byte, model, level string) ([]Edit, bool) {
	model = strings.ToLower(model)
	key := "thinkingConfig"
	generation := t.generation.value(body)
	config := generation.Get(key)
	if config == nil {
		key = "thinking_config"
		config = generation.Get(key)
	}
	for _, name := range []string{"thinkingLevel", "thinking_level"} {
		if v := config.Get(name); !v.None() {
			to := GeminiLevel(level, strings.Contains(model, "flash"))
			return []Edit{{t.generation, with(generation, key, with(config, name, Quote(to)))}}, to != ""
		}
	}
	for _, name := range []string{"thinkingBudget", "thinking_budget"} {
		if v := config.Get(name); !v.None() {
			to := strconv.AppendInt(nil, GeminiBudget(level, strings.Contains(model, "pro")), 10)
			return []Edit{{t.generation, with(generation, key, with(config, name, to))}}, true
		}
	}
	return nil, false
}

// set writes a member at the body's top: in the place of the one that is there, else before all others.
func set(body []byte, at span, key string, value []byte) Edit {
	if at != (span{}) {
		return Edit{at, value}
	}
	open := bytes.IndexByte(body, '{') + 1
	rest := bytes.TrimLeft(body[open:], " \t\r\n")
	text := append(append(Quote(key), ':'), value...)
	if len(rest) > 0 && rest[0] != '}' {
		text = append(text, ',')
	}
	return Edit{span{open, open}, text}
}

// with is an object with one member set; the others stay as they are. Anything but an object is replaced by one.
func with(v Value, key string, value []byte) []byte {
	if v.Kind() != '{' {
		return slices.Concat([]byte{'{'}, Quote(key), []byte{':'}, value, []byte{'}'})
	}
	var at span
	c := cursor{b: v}
	c.object(func(k []byte) {
		if unquote(k) == key {
			c.space()
			at.start = c.i
			c.skip()
			at.end = c.i
		}
	})
	e := set(v, at, key, value)
	return slices.Concat(v[:e.at.start], e.with, v[e.at.end:])
}

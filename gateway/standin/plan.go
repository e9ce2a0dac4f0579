package standin

import (
	"errors"
	"fmt"
	"strings"

	"dev.magpie/gateway/wire"
)

// ParsePlan reads a plan, one visit a line: its time, the agent, the model, and marks
// such as say="…" (several times for several turns), pause=1s..3s, leave=4s, retry=2
// and api=messages.
func ParsePlan(text string) ([]Visit, error) {
	var plan []Visit
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		v, err := parseVisit(line)
		if err != nil {
			return nil, fmt.Errorf("visit %q: %w", line, err)
		}
		plan = append(plan, v)
	}
	return plan, nil
}

func parseVisit(line string) (Visit, error) {
	words, err := split(line)
	if err != nil {
		return Visit{}, err
	}
	if len(words) < 3 {
		return Visit{}, errors.New("a visit wants a time, an agent and a model")
	}
	v := Visit{Agent: words[1], Model: words[2]}
	if err := setTime(&v.At, words[0]); err != nil {
		return Visit{}, err
	}
	if _, ok := programs[v.Agent]; !ok {
		return Visit{}, fmt.Errorf("no agent %q; there are %v", v.Agent, AgentNames())
	}
	for _, word := range words[3:] {
		if err := v.set(word); err != nil {
			return Visit{}, err
		}
	}
	if len(v.Say) == 0 {
		return Visit{}, errors.New("nothing is said")
	}
	return v, nil
}

func (v *Visit) set(word string) error {
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "say":
		v.Say = append(v.Say, value)
	case "pause":
		return setSpan(&v.Pause, value)
	case "leave":
		return setTime(&v.Leave, value)
	case "retry":
		return setNumber(&v.Retry, value)
	case "api":
		v.API = wire.Protocol(value)
	default:
		return fmt.Errorf("no mark %q", name)
	}
	return nil
}

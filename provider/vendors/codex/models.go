package codex

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
	"dev.magpie/provider/vendors/loose"
)

// leastClient is the version of Codex whose models are asked for where no newer one is known
// to be here: the backend lists no model that is newer than who asks.
const leastClient = "0.159.0"

// modelsCache is where Codex keeps the list that it was told last.
const modelsCache = "models_cache.json"

// clientVersion is the version of Codex whose models an account can be asked for.
func clientVersion(home string) string {
	const most = 32 << 20
	path := filepath.Join(home, modelsCache)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return leastClient
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return leastClient
	}
	var c struct {
		Version loose.Text `json:"client_version"`
	}
	if json.Unmarshal(data, &c) != nil || !newer(string(c.Version), leastClient) {
		return leastClient
	}
	return string(c.Version)
}

// newer says whether a version of three numbers is above another; what is none is not.
func newer(a, b string) bool {
	as, bs := numbers(a), numbers(b)
	return as != nil && slices.Compare(as, bs) > 0
}

func numbers(version string) []int {
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return nil
	}
	var all []int
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// models is what an account was told of its models.
type models struct {
	list         []provider.Model
	instructions map[string]string // by a model's id: the program's own
}

// parseModels reads the backend's list. Hidden models are not for choosing, and still served.
func parseModels(body []byte) (models, error) {
	var r struct {
		Models []json.RawMessage `json:"models"`
	}
	if loose.Decode(body, &r) != nil || r.Models == nil {
		return models{}, errors.New("its list of models can't be read")
	}
	all := make([]listed, 0, len(r.Models))
	for _, raw := range r.Models {
		var m listed
		if loose.Decode(raw, &m) == nil && m.Slug != "" {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b listed) int {
		switch x, y := a.Priority.Or(1e9), b.Priority.Or(1e9); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	out := models{instructions: map[string]string{}}
	for i := range all {
		m := &all[i]
		if text := m.own(); text != "" {
			out.instructions[string(m.Slug)] = text
		}
		if m.Visibility != "hide" {
			out.list = append(out.list, m.model())
		}
	}
	return out, nil
}

type listed struct {
	Slug       loose.Text   `json:"slug"`
	Name       loose.Text   `json:"display_name"`
	Visibility loose.Text   `json:"visibility"`
	Priority   loose.Number `json:"priority"`
	Inputs     []loose.Text `json:"input_modalities"`
	Levels     []struct {
		Effort loose.Text `json:"effort"`
	} `json:"supported_reasoning_levels"`
	Context  loose.Number `json:"context_window"`
	Most     loose.Number `json:"max_context_window"`
	Base     loose.Text   `json:"base_instructions"`
	Messages struct {
		Template loose.Text `json:"instructions_template"`
	} `json:"model_messages"`
}

// own are the program's instructions for the model. A template's marks stand for what the
// program fills in by itself, which other agents have no word for.
func (m *listed) own() string {
	if m.Messages.Template != "" && !strings.Contains(string(m.Messages.Template), "{{") {
		return string(m.Messages.Template)
	}
	if m.Base != "" {
		return string(m.Base)
	}
	return blanks.Replace(string(m.Messages.Template))
}

// blanks are the marks of a template that say nothing where nobody fills them in.
var blanks = strings.NewReplacer("{{ personality }}", "", "{{personality}}", "")

func (m *listed) model() provider.Model {
	out := provider.Model{ID: string(m.Slug), Name: string(m.Name), APIs: []wire.Protocol{wire.Responses}}
	for _, in := range m.Inputs {
		if in != "" {
			out.Inputs = append(out.Inputs, string(in))
		}
	}
	if n := m.Context.Or(m.Most.V); n > 0 && n < 1e9 {
		out.Context = int(n)
	}
	for _, l := range m.Levels {
		if l.Effort != "" {
			out.Efforts = append(out.Efforts, string(l.Effort))
		}
	}
	return out
}

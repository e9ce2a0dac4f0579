package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dev.magpie/config"
)

// setting is a flag that stands for a key of a table of the config.
type setting struct {
	flag, key string
	kind      settingKind
	words     string
}

// settingKind says how a flag's word is written in the file.
type settingKind uint8

const (
	asText   settingKind = iota
	asTexts              // a list, with commas between
	asNumber             // a number
	asTruth              // true or false
	asTime               // "90s", or seconds
)

// settings adds the flags of a table and returns what reads them.
func addSettings(c *cobra.Command, all []setting) func() (map[string]string, error) {
	s := c.Flags()
	texts := map[string]*string{}
	for _, one := range all {
		switch one.kind {
		case asTruth:
			s.Bool(one.flag, false, one.words)
		case asText, asTexts, asNumber, asTime:
			texts[one.flag] = s.String(one.flag, "", one.words)
		}
	}
	unset := s.StringSlice("unset", nil, "take `keys` out, so that their defaults hold")
	return func() (map[string]string, error) {
		values := map[string]string{}
		for _, key := range *unset {
			key = strings.ReplaceAll(key, "-", "_")
			if !slices.ContainsFunc(all, func(one setting) bool { return one.key == key }) {
				return nil, misused("--unset knows no key %q", key)
			}
			values[key] = ""
		}
		for _, one := range all {
			if !s.Changed(one.flag) {
				continue
			}
			if one.kind == asTruth {
				on, err := s.GetBool(one.flag)
				if err != nil {
					return nil, err
				}
				values[one.key] = strconv.FormatBool(on)
				continue
			}
			v, ok := one.value(*texts[one.flag])
			if !ok {
				return nil, misused("--%s takes a number, not %.40q", one.flag, *texts[one.flag])
			}
			values[one.key] = v
		}
		return values, nil
	}
}

// value writes a flag's word as TOML.
func (one *setting) value(word string) (string, bool) {
	switch one.kind {
	case asTexts:
		return config.Texts(split(word)), true
	case asNumber:
		_, err := strconv.ParseFloat(word, 64)
		return strings.TrimPrefix(word, "+"), err == nil
	case asTime:
		if _, err := strconv.Atoi(word); err == nil {
			return word, true
		}
	case asText, asTruth:
	}
	return config.Text(word), true
}

// split reads a list with commas in it.
func split(word string) []string {
	all := []string{}
	for part := range strings.SplitSeq(word, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// editsOf makes the edits of a table, in the order of its settings.
func editsOf(table []string, all []setting, values map[string]string) []config.Edit {
	var edits []config.Edit
	for _, one := range all {
		if v, ok := values[one.key]; ok {
			edits = append(edits, config.Edit{Table: table, Key: one.key, Value: v})
		}
	}
	return edits
}

// groupSettings are the keys of a group that commands set.
var groupSettings = []setting{
	{"name", "name", asText, "what people are shown"},
	{"members", "members", asTexts, "its `models`, in order: provider/model[:effort], provider@name/model, group/id, with commas between"},
	{"routing", "routing", asText, "who goes first: an `order` such as smart, order, rotate, manual"},
	{"affinity", "affinity", asText, "whether a conversation stays: `mode` auto, session, turn or off"},
	{"sink", "sink", asTruth, "put whoever was rate limited at the back"},
	{"pick", "pick", asText, "the `member` that is used under manual routing"},
	{"classifier", "classifier", asText, "the `model` that tells what a turn is about"},
	{"effort", "effort", asText, "how hard its models think: a `level`, or auto"},
	{"efforts", "efforts", asTexts, "the `levels` that agents are offered, with commas between"},
	{"context", "context", asNumber, "the `tokens` that agents are told it takes"},
	{"first-token", "first_token", asTime, "the `time` that a member has to say something, such as 20s"},
	{"off", "off", asTruth, "keep it, and serve it to nobody"},
}

// providerSettings are the keys of a provider that commands set.
var providerSettings = []setting{
	{"preset", "preset", asText, "the `preset` that it takes addresses and habits from"},
	{"region", "region", asText, "the preset's `region`"},
	{"name", "name", asText, "what people are shown"},
	{"chat", "chat", asText, "the `address` of its Chat Completions, up to /v1"},
	{"responses", "responses", asText, "the `address` of its Responses, up to /v1"},
	{"messages", "messages", asText, "the `address` of its Messages, without /v1"},
	{"gemini", "gemini", asText, "the `address` of its Gemini API, up to /v1beta"},
	{"models", "models", asTexts, "the only `models` that are served, with commas between"},
	{"routing", "routing", asText, "who goes first among its keys: an `order` such as smart, order, rotate"},
	{"affinity", "affinity", asText, "whether a conversation stays: `mode` auto, session, turn or off"},
	{"sink", "sink", asTruth, "put whoever was rate limited at the back"},
	{"fallback", "fallback", asTexts, "the `models` that take over, with commas between"},
	{"proxy", "proxy", asText, "the proxy's `address`, or direct"},
	{"balance-url", "balance_url", asText, "the `address` that its balance is read at"},
	{"unlisted", "unlisted", asTruth, "serve its models and list none"},
	{"price-rate", "price_rate", asNumber, "a `number` that list prices are multiplied by"},
	{"max-concurrency", "max_concurrency", asNumber, "the `number` of requests that a key takes at once"},
	{"max-rpm", "max_rpm", asNumber, "the `number` of requests that a key takes in a minute"},
	{"header-timeout", "header_timeout", asTime, "the `time` that a reply has to begin"},
	{"stall-timeout", "stall_timeout", asTime, "the `time` that a stream may be silent"},
	{"off", "off", asTruth, "keep it, and ask it nothing"},
}

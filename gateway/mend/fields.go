package mend

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"dev.magpie/gateway/wire"
)

// optional are the fields without which a request asks for the same.
var optional = []string{
	"store", "metadata", "service_tier", cacheKeyField, "prompt_cache_retention", "safety_identifier", "stream_options",
	"parallel_tool_calls", "verbosity", "thinking", "enable_thinking", "thinking_config", "access_programs", "client_metadata",
}

// places are where a field stands that is not at the top.
var places = map[wire.Protocol]map[string]string{
	wire.Responses: {"verbosity": "text.verbosity"},
	wire.Chat:      {"thinking_config": "extra_body.google.thinking_config"},
	wire.Gemini:    {"thinking_config": "generationConfig.thinkingConfig"},
}

// reasonings are the fields of messages in which reasoning goes back to a vendor of Chat.
var reasonings = []string{"reasoning_content", "reasoning", "reasoning_details"}

// shapes are what Messages grew in the last years: vendors that serve an older form of it
// refuse them by their paths.
var shapes = []string{
	"context_management", "output_config", "thinking.display", "safeguards", "diagnostics", "fallbacks", "speed", "inference_geo", "billing_policy", "cache_control",
	"tools.*.eager_input_streaming", "tools.*.defer_loading", "tools.*.strict", "tools.*.input_examples", "tools.*.allowed_callers",
	"tools.*.cache_control.ttl", "tools.*.cache_control.scope", "system.*.cache_control.ttl", "system.*.cache_control.scope",
	"messages.*.content.*.cache_control.ttl", "messages.*.content.*.cache_control.scope", "messages.*.content.*.caller",
	"messages.*.output_config",
}

// ofValue are words about what a field holds, not that there is one.
var ofValue = regexp.MustCompile(`(unsupported|invalid)[ _]value|input should be|must be one of|is not one of|unknown variant`)

// fields: optional fields that the vendor doesn't know. What is wrong with the value of
// one is the asker's to mend.
func (f *finder) fields() []Found {
	var out []Found
	add := func(path string, wide bool) {
		t := Thing{What: Field, Path: path}
		if path == "output_config" && !f.v.At("output_config", "format").None() { // the form of the answer isn't optional
			return
		}
		if !f.v.At(strings.Split(path, ".")...).None() && !slices.ContainsFunc(out, func(o Found) bool { return o.Thing == t }) {
			out = append(out, Found{Thing: t, Keep: true, Wide: wide, Now: path == cacheKeyField})
		}
	}
	for _, path := range f.forbidden() {
		add(path, true)
	}
	if len(out) > 0 || ofValue.MatchString(f.raw) {
		return out
	}
	wide := !strings.Contains(f.said, "model")
	for _, name := range optional {
		if f.param() == name || f.unknown(name) {
			add(f.place(name), wide)
		}
	}
	if f.API == wire.Chat {
		for _, name := range reasonings {
			if f.unknown(name) {
				add("messages.*."+name, wide)
			}
		}
	}
	return out
}

func (f *finder) place(name string) string {
	if p := places[f.API][name]; p != "" {
		return p
	}
	return name
}

// param is the parameter that an error with the code for an unknown one names.
func (f *finder) param() string {
	v, err := wire.ReadValue(f.r.Body)
	if err != nil {
		return ""
	}
	e := v.Get("error")
	if e.Kind() != '{' {
		e = v
	}
	switch e.Get("code").Text() {
	case "unsupported_parameter", "unknown_parameter":
		return strings.TrimPrefix(e.Get("param").Text(), "text.")
	}
	return ""
}

// forbidden are the paths that a structured error, or Messages' own words, call one too many.
func (f *finder) forbidden() []string {
	var out []string
	if v, err := wire.ReadValue(f.r.Body); err == nil {
		f.locs(v, 0, &out)
	}
	if f.API == wire.Messages {
		for _, m := range extraInputs.FindAllStringSubmatch(f.said, -1) {
			out = append(out, f.path(strings.FieldsFunc(m[1], func(r rune) bool { return r == '.' || r == '[' || r == ']' }))...)
		}
	}
	return out
}

var extraInputs = regexp.MustCompile(`([a-z_][a-z0-9_.\[\]]*): extra inputs are not permitted`)

// locs gathers the places of errors of the type extra_forbidden, however they are wrapped.
func (f *finder) locs(v wire.Value, deep int, out *[]string) {
	if deep > 6 {
		return
	}
	v.Elements(func(e wire.Value) { f.locs(e, deep+1, out) })
	if v.Kind() != '{' {
		return
	}
	if loc := v.Get("loc"); loc.Kind() == '[' && v.Get("type").Text() == "extra_forbidden" {
		var keys []string
		loc.Elements(func(k wire.Value) {
			if s := k.Text(); s != "" {
				keys = append(keys, s)
			} else {
				keys = append(keys, "0")
			}
		})
		if len(keys) > 0 && keys[0] == "body" {
			keys = keys[1:]
		}
		*out = append(*out, f.path(keys)...)
		return
	}
	v.Members(func(_ string, e wire.Value) {
		if k := e.Kind(); k == '{' || k == '[' {
			f.locs(e, deep+1, out)
		}
	})
}

// path brings the place of an error into the form of ours, if it is that of a thing that
// may go: numbers become stars, and the names of variants fall out.
func (f *finder) path(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	last := keys[len(keys)-1]
	if len(keys) == 1 && slices.Contains(optional, last) {
		return []string{f.place(last)}
	}
	if f.API == wire.Chat && keys[0] == "messages" && slices.Contains(reasonings, last) {
		return []string{"messages.*." + last}
	}
	if f.API != wire.Messages {
		return nil
	}
	for _, shape := range shapes {
		if fits(strings.Split(shape, "."), keys) {
			return []string{shape}
		}
	}
	return nil
}

// fits says whether the place of an error is that of a shape: behind a number, and behind
// thinking, it may name a variant.
func fits(shape, keys []string) bool {
	for i, k := range shape {
		for len(keys) > 0 && i > 0 && keys[0] != k && (shape[i-1] == "*" || shape[i-1] == "thinking") && variant(keys[0]) {
			keys = keys[1:]
		}
		if len(keys) == 0 || k != "*" && keys[0] != k || k == "*" && !isNumber(keys[0]) {
			return false
		}
		keys = keys[1:]
	}
	return len(keys) == 0
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func variant(s string) bool {
	switch s {
	case "custom", "text", "image", "document", "tool_use", "tool_result", "thinking", "user", "assistant", "system", "enabled", "adaptive", "disabled":
		return true
	}
	return false
}

// named finds a field as one that the vendor doesn't know. What stands between is short,
// and ends with the sentence.
var named = sync.OnceValue(func() map[string]*regexp.Regexp {
	const no = `(?:unknown|unsupported|unrecognized|unrecognised|unexpected|extra|not supported|not permitted|not allowed|does not support|doesn't support|forbidden)`
	out := map[string]*regexp.Regexp{}
	for _, name := range slices.Concat(optional, reasonings) {
		n := strings.ReplaceAll(regexp.QuoteMeta(name), "_", `_?`)
		quoted := "[`'\".\\]\\\\]" + n + "[`'\"\\\\]"
		bare := `(?:parameters?|arguments?|fields?|property|properties|option|key|inputs?)s?(?: supplied)?:? ` + n + `\b`
		first := `(?:^|[^a-z_])` + n + `["'` + "`" + `]?(?: (?:parameter|field|option|argument|property))?(?: is| are|:)? (?:` + no + `|extra inputs)`
		behind := `: *` + n + `\b`
		out[name] = regexp.MustCompile(no + `[^.;]{0,60}(?:` + quoted + `|` + bare + `|` + behind + `)|` + quoted + `[^.;]{0,40}` + no + `|` + first)
	}
	return out
})

func (f *finder) unknown(name string) bool { return named()[name].MatchString(f.said) }

package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
)

// matcher holds what $capture has seen.
type matcher struct{ seen map[string]any }

func newMatcher() *matcher { return &matcher{seen: map[string]any{}} }

// absent stands for a key that is not there.
type absent struct{}

var operators = map[string]bool{
	"$any": true, "$optional": true, "$absent": true, "$regex": true, "$contains": true, "$text": true, "$any_of": true, "$all": true, "$json": true,
	"$type": true, "$gte": true, "$lte": true, "$len": true, "$has": true, "$each": true, "$capture": true, "$not": true, "$in": true,
}

func bad(path, format string, args ...any) []string {
	return []string{path + ": " + fmt.Sprintf(format, args...)}
}

func show(v any) string {
	if _, no := v.(absent); no {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > 200 {
		b = b[:200]
	}
	return string(b)
}

func missing(v any) bool {
	_, no := v.(absent)
	return no || v == nil
}

// match lists why v does not match m, nothing when it does.
func (x *matcher) match(m, v any, path string) []string {
	switch m := m.(type) {
	case map[string]any:
		for k := range m {
			if operators[k] {
				return x.operate(m, v, path)
			}
		}
		obj, ok := v.(map[string]any)
		if !ok {
			return bad(path, "want an object, got %s", show(v))
		}
		var errs []string
		for k, want := range m {
			got, ok := obj[k]
			if !ok {
				got = absent{}
			}
			errs = append(errs, x.match(want, got, path+"."+k)...)
		}
		return errs
	case []any:
		list, ok := v.([]any)
		if !ok || len(list) != len(m) {
			return bad(path, "want %d elements, got %s", len(m), show(v))
		}
		var errs []string
		for i := range m {
			errs = append(errs, x.match(m[i], list[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
		return errs
	}
	if m == v {
		return nil
	}
	return bad(path, "want %s, got %s", show(m), show(v))
}

func (x *matcher) operate(m map[string]any, v any, path string) (errs []string) {
	for k, a := range m {
		if !operators[k] {
			errs = append(errs, bad(path, "operators beside the key %s", k)...)
			continue
		}
		errs = append(errs, x.operator(k, a, v, path)...)
	}
	return errs
}

func (x *matcher) operator(k string, a, v any, path string) []string {
	switch k {
	case "$any":
		if missing(v) {
			return bad(path, "want any value")
		}
	case "$absent":
		if !missing(v) {
			return bad(path, "want nothing, got %s", show(v))
		}
	case "$optional":
		if !missing(v) {
			return x.match(a, v, path)
		}
	case "$text":
		return x.match(a, textOf(v), path+".$text")
	case "$not":
		if try := x.fork(); len(try.match(a, v, path)) == 0 {
			return bad(path, "must not match %s", show(a))
		}
	case "$capture":
		return x.capture(a.(string), v, path)
	case "$json":
		var j any
		if s, ok := v.(string); !ok || json.Unmarshal([]byte(s), &j) != nil {
			return bad(path, "no JSON: %s", show(v))
		}
		return x.match(a, j, path+".$json")
	case "$any_of", "$all", "$has", "$each":
		return x.many(k, a, v, path)
	default:
		return x.plain(k, a, v, path)
	}
	return nil
}

func (x *matcher) fork() *matcher { return &matcher{seen: maps.Clone(x.seen)} }

func (x *matcher) capture(name string, v any, path string) []string {
	if missing(v) {
		return bad(path, "nothing to capture")
	}
	if was, ok := x.seen[name]; ok {
		if was != v {
			return bad(path, "want the same %s (%s), got %s", name, show(was), show(v))
		}
		return nil
	}
	x.seen[name] = v
	return nil
}

// many are the operators over several matchers or elements.
func (x *matcher) many(k string, a, v any, path string) (errs []string) {
	switch k {
	case "$any_of":
		for _, m := range a.([]any) {
			try := x.fork()
			e := try.match(m, v, path)
			if len(e) == 0 {
				x.seen = try.seen
				return nil
			}
			errs = append(errs, e[0])
		}
		return bad(path, "no alternative matched: %s", strings.Join(errs, " | "))
	case "$all":
		for _, m := range a.([]any) {
			errs = append(errs, x.match(m, v, path)...)
		}
		return errs
	}
	list, ok := v.([]any)
	if !ok {
		return bad(path, "want an array, got %s", show(v))
	}
	if k == "$each" {
		for i := range list {
			errs = append(errs, x.match(a, list[i], fmt.Sprintf("%s[%d]", path, i))...)
		}
		return errs
	}
	i := 0
	for _, m := range a.([]any) {
		found := false
		for ; i < len(list) && !found; i++ {
			if try := x.fork(); len(try.match(m, list[i], path)) == 0 {
				x.seen, found = try.seen, true
			}
		}
		if !found {
			return bad(path, "no element in order matches %s", show(m))
		}
	}
	return nil
}

// plain are the operators on one value.
func (x *matcher) plain(k string, a, v any, path string) []string {
	s, isString := v.(string)
	n, isNumber := v.(float64)
	switch k {
	case "$regex":
		if !isString || !regexp.MustCompile(a.(string)).MatchString(s) {
			return bad(path, "want /%s/, got %s", a, show(v))
		}
	case "$contains":
		words, ok := a.([]any)
		if !ok {
			words = []any{a}
		}
		for _, w := range words {
			if !isString || !strings.Contains(s, w.(string)) {
				return bad(path, "want %s in it, got %s", show(w), show(v))
			}
		}
	case "$gte":
		if !isNumber || n < a.(float64) {
			return bad(path, "want >= %v, got %s", a, show(v))
		}
	case "$lte":
		if !isNumber || n > a.(float64) {
			return bad(path, "want <= %v, got %s", a, show(v))
		}
	case "$len":
		return x.match(a, lengthOf(v), path+".length")
	case "$in":
		for _, w := range a.([]any) {
			if w == v {
				return nil
			}
		}
		return bad(path, "want one of %s, got %s", show(a), show(v))
	case "$type":
		if t := typeOf(v, a.(string)); t != a {
			return bad(path, "want %s, got %s", a, t)
		}
	}
	return nil
}

func lengthOf(v any) any {
	switch v := v.(type) {
	case string:
		return float64(len([]rune(v)))
	case []any:
		return float64(len(v))
	}
	return absent{}
}

func typeOf(v any, want string) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if want == "integer" && v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "undefined"
}

// textOf is the text of a value: a string, or that of its parts, a line each.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, p := range v {
			parts = append(parts, textOf(p))
		}
		return strings.Join(parts, "\n")
	case map[string]any:
		if p, ok := v["parts"]; ok && p != nil {
			return textOf(p)
		}
		if s, ok := v["text"].(string); ok {
			return s
		}
		return textOf(v["content"])
	case nil, absent:
		return ""
	}
	return fmt.Sprint(v)
}

// matchEvents matches a list of events in order; {"$opt": m} is one that may be missing.
func (x *matcher) matchEvents(want, got []any) []string {
	i := 0
	for k, m := range want {
		optional := false
		if o, ok := m.(map[string]any); ok {
			if inner, is := o["$opt"]; is {
				m, optional = inner, true
			}
		}
		errs := bad(fmt.Sprintf("event[%d]", i), "the stream ended, want[%d] is %s", k, show(m))
		if i < len(got) {
			try := x.fork()
			if errs = try.match(m, got[i], fmt.Sprintf("event[%d]~want[%d]", i, k)); len(errs) == 0 {
				x.seen = try.seen
				i++
				continue
			}
		}
		if !optional {
			return errs
		}
	}
	var errs []string
	for ; i < len(got); i++ {
		errs = append(errs, "an event too many: "+show(got[i]))
	}
	return errs
}

package gateway_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const (
	asAnthropic = "anthropic-version: 2023-06-01"
	asGoogle    = "x-goog-api-key: magpie"
)

// manyModels lists m1 to m5 of a.
const manyModels = `
[providers.a]
chat = "{a}/v1"
keys = [{ name = "k", value = "sk-test-k1-000000000001" }]
models = ["m1", "m2", "m3", "m4", "m5"]
`

// idsPage is a page of Anthropic's list.
type idsPage struct {
	ids         string
	more        bool
	first, last string
}

func (r *rig) idsPage(query string, headers ...string) idsPage {
	r.t.Helper()
	got := r.do(http.MethodGet, "/v1/models"+query, "", headers...)
	var list struct {
		Object  string           `json:"object"`
		Data    []map[string]any `json:"data"`
		HasMore bool             `json:"has_more"`
		First   *string          `json:"first_id"`
		Last    *string          `json:"last_id"`
	}
	strict(r.t, got.body, &list)
	p := idsPage{more: list.HasMore}
	for _, m := range list.Data {
		p.ids += strings.TrimPrefix(m["id"].(string), "a/") + " "
	}
	p.ids = strings.TrimSpace(p.ids)
	if list.First != nil {
		p.first, p.last = *list.First, *list.Last
	}
	return p
}

func TestModelsArePagedAsAnthropicDoes(t *testing.T) {
	r := newRig(t, manyModels, vendors{"a": good("chat", false)})
	for query, want := range map[string]idsPage{
		"":                              {"m1 m2 m3 m4 m5", false, "a/m1", "a/m5"},
		"?limit=1000":                   {"m1 m2 m3 m4 m5", false, "a/m1", "a/m5"},
		"?limit=5":                      {"m1 m2 m3 m4 m5", false, "a/m1", "a/m5"},
		"?limit=2":                      {"m1 m2", true, "a/m1", "a/m2"},
		"?limit=2&after_id=a/m2":        {"m3 m4", true, "a/m3", "a/m4"},
		"?limit=2&after_id=a%2Fm4":      {"m5", false, "a/m5", "a/m5"},
		"?limit=2&after_id=a/m5":        {"", false, "", ""},
		"?after_id=a/m3":                {"m4 m5", false, "a/m4", "a/m5"},
		"?limit=2&before_id=a/m5":       {"m3 m4", true, "a/m3", "a/m4"},
		"?limit=2&before_id=a/m3":       {"m1 m2", false, "a/m1", "a/m2"},
		"?limit=2&before_id=a/m1":       {"", false, "", ""},
		"?before_id=a/m3":               {"m1 m2", false, "a/m1", "a/m2"},
		"?limit=2&after_id=&before_id=": {"m1 m2", true, "a/m1", "a/m2"},
	} {
		if got := r.idsPage(query, asAnthropic); got != want {
			t.Errorf("%s: %+v, want %+v", query, got, want)
		}
	}
	var all []string
	for at, n := "", 0; n < 9; n++ {
		p := r.idsPage("?limit=2&after_id="+url.QueryEscape(at), asAnthropic)
		all, at = append(all, p.ids), p.last
		if !p.more {
			break
		}
	}
	if got := strings.Join(all, " "); got != "m1 m2 m3 m4 m5" {
		t.Errorf("page by page: %s", got)
	}
}

func TestOpenAIsListIsNeverCut(t *testing.T) {
	r := newRig(t, manyModels, vendors{"a": good("chat", false)})
	for _, query := range []string{"?limit=2", "?limit=x", "?after_id=a/m2", "?before_id=a/m2", "?pageSize=2"} {
		if got := r.idsPage(query); got.ids != "m1 m2 m3 m4 m5" || got.more {
			t.Errorf("%s: %+v", query, got)
		}
	}
}

func TestModelsArePagedAsGoogleDoes(t *testing.T) {
	r := newRig(t, manyModels, vendors{"a": good("chat", false)})
	page := func(query string) (ids, next string) {
		t.Helper()
		var list struct {
			Models []map[string]any `json:"models"`
			Next   string           `json:"nextPageToken"`
		}
		got := r.do(http.MethodGet, "/v1beta/models"+query, "", asGoogle)
		strict(t, got.body, &list)
		for _, m := range list.Models {
			ids += strings.TrimPrefix(m["name"].(string), "models/a/") + " "
		}
		return strings.TrimSpace(ids), list.Next
	}
	for _, query := range []string{"", "?pageSize=0", "?pageSize=5", "?pageSize=1001", "?pageToken="} {
		if ids, next := page(query); ids != "m1 m2 m3 m4 m5" || next != "" {
			t.Errorf("%s: %s, then %q", query, ids, next)
		}
	}
	var all []string
	for token, n := "", 0; n < 9; n++ {
		ids, next := page("?pageSize=2&pageToken=" + url.QueryEscape(token))
		all = append(all, ids)
		if token = next; token == "" {
			break
		}
	}
	if got := strings.Join(all, ", "); got != "m1 m2, m3 m4, m5" {
		t.Errorf("page by page: %s", got)
	}
}

func TestABadPageIsToldInTheAskersShape(t *testing.T) {
	r := newRig(t, manyModels, vendors{"a": good("chat", false)})
	for _, c := range []struct{ api, header, query, says string }{
		{"messages", asAnthropic, "?limit=0", `limit is a whole number from 1 to 1000, and "0" is none`},
		{"messages", asAnthropic, "?limit=1001", `and "1001" is none`},
		{"messages", asAnthropic, "?limit=-1", `and "-1" is none`},
		{"messages", asAnthropic, "?limit=ten", `and "ten" is none`},
		{"messages", asAnthropic, "?limit=2.5", `and "2.5" is none`},
		{"messages", "x-api-key: magpie", "?limit=x", `limit`},
		{"messages", asAnthropic, "?after_id=gone", `after_id is a model of this list, and "gone" is none`},
		{"messages", asAnthropic, "?before_id=gone", `before_id is a model of this list, and "gone" is none`},
		{"messages", asAnthropic, "?after_id=a/m1&before_id=a/m3", `after_id and before_id can't both be given`},
		{"gemini", asGoogle, "?pageSize=-1", `pageSize is a whole number from 0 to 1000, and "-1" is none`},
		{"gemini", asGoogle, "?pageSize=many", `and "many" is none`},
		{"gemini", asGoogle, "?pageToken=%21%21", `pageToken "!!" is of no page of this list`},
		{"gemini", asGoogle, "?pageToken=Z29uZQ", `pageToken "Z29uZQ" is of no page of this list`},
	} {
		t.Run(fmt.Sprint(c.api, " ", c.query), func(t *testing.T) {
			got := r.do(http.MethodGet, "/v1/models"+c.query, "", c.header)
			e := errorOf(t, c.api, got.body)
			if got.status != 400 || !strings.Contains(e.Message, c.says) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if c.api == "messages" && e.Type != "invalid_request_error" || c.api == "gemini" && e.Status != "INVALID_ARGUMENT" {
				t.Errorf("%+v", e)
			}
		})
	}
}

package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"dev.magpie/gateway/wire"
	"dev.magpie/provider"
)

// listShape tells by an asker's headers in which API's shape it reads model lists.
func listShape(r *http.Request) wire.Protocol {
	switch {
	case strings.Contains(r.URL.Path, "/v1beta"), r.Header.Get("X-Goog-Api-Key") != "", r.URL.Query().Has("key"), r.Header.Get("X-Goog-Api-Client") != "":
		return wire.Gemini
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "":
		return wire.Messages
	}
	return wire.Chat
}

// listed is one model as lists tell it.
type listed struct {
	id, owner, name string
	model           provider.Model
	native          []string // paths that are relayed as they are
}

// listed returns what can be asked for: groups, then each provider's models.
func (lv *live) listed() []listed {
	var out []listed
	fetched, cat := lv.fetched(), lv.catalog()
	for _, g := range cat.Groups {
		if !g.Off && len(g.Members) > 0 {
			out = append(out, listedGroup(cat, g, fetched))
		}
	}
	for _, p := range lv.cat.Providers {
		if p.Off || p.Unlisted {
			continue
		}
		for _, m := range p.Listed(fetched[p.ID]) {
			full := p.Model(m.ID, fetched[p.ID])
			out = append(out, listed{
				id: p.ID + "/" + m.ID, owner: p.ID, name: orElse(full.Name, m.ID), model: full,
				native: nativePaths(p, m.ID, fetched[p.ID]),
			})
		}
	}
	return out
}

func listedGroup(cat *provider.Catalog, g *provider.Group, fetched provider.Lists) listed {
	m := cat.GroupModel(g, fetched)
	return listed{id: "group/" + g.ID, owner: "magpie", name: m.Name, model: m}
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

func nativePaths(p *provider.Provider, model string, l *provider.List) []string {
	paths := map[wire.Protocol]string{
		wire.Chat: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Messages: "/v1/messages", wire.Gemini: "/v1beta/models",
	}
	var out []string
	for _, api := range wire.Protocols {
		if p.SpeaksFor(api, model, l) {
			out = append(out, paths[api])
		}
	}
	return out
}

const madeAt = "2025-01-01T00:00:00Z"

// modelObject is the object of OpenAI's and Anthropic's lists: each reads its own fields.
type modelObject struct {
	ID         string       `json:"id"`
	Object     string       `json:"object"`
	Type       string       `json:"type"`
	Created    int64        `json:"created"`
	CreatedAt  string       `json:"created_at"`
	OwnedBy    string       `json:"owned_by"`
	Display    string       `json:"display_name"`
	Reasoning  bool         `json:"reasoning"`
	Levels     []level      `json:"supported_reasoning_levels"`
	Window     int          `json:"context_window,omitempty"`
	Length     int          `json:"context_length,omitempty"`
	MaxInput   int          `json:"max_input_tokens,omitempty"`
	MaxOutput  int          `json:"max_output_tokens,omitempty"`
	MaxTokens  int          `json:"max_tokens,omitempty"`
	Native     []string     `json:"native_endpoints,omitempty"`
	Modalities *modalityIns `json:"modalities,omitempty"`
}

type level struct {
	Effort string `json:"effort"`
}

type modalityIns struct {
	Input []string `json:"input"`
}

func (l *listed) object() modelObject {
	m := &l.model
	o := modelObject{
		ID: l.id, Object: "model", Type: "model", CreatedAt: madeAt, OwnedBy: l.owner, Display: l.name, Reasoning: len(m.Efforts) > 0,
		Levels: []level{}, Window: m.Context, Length: m.Context, MaxInput: m.Context, MaxOutput: m.MaxOutput, MaxTokens: m.MaxOutput, Native: l.native,
	}
	for _, e := range m.Efforts {
		o.Levels = append(o.Levels, level{e})
	}
	if len(m.Inputs) > 0 {
		o.Modalities = &modalityIns{m.Inputs}
	}
	return o
}

// geminiModel is the object of Google's list.
type geminiModel struct {
	Name    string   `json:"name"`
	BaseID  string   `json:"baseModelId"`
	Version string   `json:"version"`
	Display string   `json:"displayName"`
	In      int      `json:"inputTokenLimit,omitempty"`
	Out     int      `json:"outputTokenLimit,omitempty"`
	Methods []string `json:"supportedGenerationMethods"`
	Think   bool     `json:"thinking,omitempty"`
}

func (l *listed) gemini() geminiModel {
	return geminiModel{
		Name: "models/" + l.id, BaseID: l.id, Version: "1", Display: l.name, In: l.model.Context, Out: l.model.MaxOutput,
		Methods: []string{"generateContent", "streamGenerateContent", "countTokens"}, Think: len(l.model.Efforts) > 0,
	}
}

func (g *Gateway) handleModels(w http.ResponseWriter, r *http.Request) {
	all := g.live.Load().listed()
	if r.URL.Query().Get("format") == "text" {
		var b strings.Builder
		for i := range all {
			b.WriteString(all[i].id + "\n")
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(b.String()))
		return
	}
	api, q := listShape(r), r.URL.Query()
	pg, ref := pageOf(api, q, all)
	if ref != nil {
		g.refuseAs(w, r, entry{api: api}, ref)
		return
	}
	part := all[pg.from:pg.to]
	if api == wire.Gemini {
		out := struct {
			Models []geminiModel `json:"models"`
			Next   string        `json:"nextPageToken,omitempty"`
		}{make([]geminiModel, len(part)), pg.token(all)}
		for i := range part {
			out.Models[i] = part[i].gemini()
		}
		writeJSON(w, http.StatusOK, out)
		return
	}
	out := struct {
		Object  string        `json:"object"`
		Data    []modelObject `json:"data"`
		HasMore bool          `json:"has_more"`
		First   *string       `json:"first_id"`
		Last    *string       `json:"last_id"`
	}{Object: "list", Data: make([]modelObject, len(part)), HasMore: pg.hasMore(q, all)}
	for i := range part {
		out.Data[i] = part[i].object()
	}
	if len(part) > 0 {
		out.First, out.Last = &part[0].id, &part[len(part)-1].id
	}
	writeJSON(w, http.StatusOK, out)
}

// handleModel answers for one model, by the id of the list or any name that resolves.
func (g *Gateway) handleModel(w http.ResponseWriter, r *http.Request) {
	api := listShape(r)
	id, err := url.PathUnescape(mux.Vars(r)["rest"])
	if err != nil || id == "" {
		g.refuseAs(w, r, entry{api: api}, &wire.Refusal{Status: http.StatusNotFound, Words: "no model is named: GET /v1/models lists them"})
		return
	}
	lv := g.live.Load()
	one, ref := lv.one(id)
	if ref != nil {
		g.refuseAs(w, r, entry{api: api, model: id}, ref)
		return
	}
	if api == wire.Gemini {
		writeJSON(w, http.StatusOK, one.gemini())
		return
	}
	writeJSON(w, http.StatusOK, one.object())
}

func (lv *live) one(id string) (*listed, *wire.Refusal) {
	for _, l := range lv.listed() {
		if l.id == id {
			return &l, nil
		}
	}
	cat := lv.catalog()
	t, bad := cat.Resolve(id, lv.fetched())
	if bad != nil {
		ref := fromProvider(bad)
		ref.Status = http.StatusNotFound
		return nil, ref
	}
	if t.Group != nil {
		l := listedGroup(cat, t.Group, lv.fetched())
		return &l, nil
	}
	l := lv.fetched()[t.Provider.ID]
	m := t.Provider.Model(t.Model, l)
	return &listed{id: t.Provider.ID + "/" + t.Model, owner: t.Provider.ID, name: orElse(m.Name, t.Model), model: m, native: nativePaths(t.Provider, t.Model, l)}, nil
}

// writeJSON answers with v, without escaping <, > and &.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		http.Error(w, fmt.Sprintf("encode the answer: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever asked may be gone
}

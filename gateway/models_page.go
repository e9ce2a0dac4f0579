package gateway

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"dev.magpie/gateway/wire"
)

// pageMost is how many models Anthropic's and Google's lists have at most in one page.
const pageMost = 1000

// page is the part of a list that one request is given. Who names no size is given all that
// follows: an agent that never asks on would know nothing of the rest.
type page struct {
	from, to int
}

// pageOf cuts a list as the asker's API does; OpenAI's is never cut.
func pageOf(api wire.Protocol, q url.Values, all []listed) (page, *wire.Refusal) {
	switch api {
	case wire.Messages:
		return pageByID(q, all)
	case wire.Gemini:
		return pageByToken(q, all)
	case wire.Chat, wire.Responses:
	}
	return page{to: len(all)}, nil
}

// pageByID cuts as Anthropic does: at most limit models, right behind one or right before one.
func pageByID(q url.Values, all []listed) (page, *wire.Refusal) {
	size, ref := sizeOf(q, "limit", 1, len(all))
	if ref != nil {
		return page{}, ref
	}
	after, before := q.Get("after_id"), q.Get("before_id")
	switch {
	case after != "" && before != "":
		return page{}, badQuery("before_id", "after_id and before_id can't both be given: a page is behind one model or before one")
	case after != "":
		i := place(all, after)
		if i < 0 {
			return page{}, unknownID("after_id", after)
		}
		return page{i + 1, min(i+1+size, len(all))}, nil
	case before != "":
		i := place(all, before)
		if i < 0 {
			return page{}, unknownID("before_id", before)
		}
		return page{max(0, i-size), i}, nil
	}
	return page{0, min(size, len(all))}, nil
}

// hasMore says whether more follows in the direction in which the asker goes.
func (p page) hasMore(q url.Values, all []listed) bool {
	if q.Get("before_id") != "" {
		return p.from > 0
	}
	return p.to < len(all)
}

// pageByToken cuts as Google does: at most pageSize models, from where the token says.
func pageByToken(q url.Values, all []listed) (page, *wire.Refusal) {
	size, ref := sizeOf(q, "pageSize", 0, len(all))
	if ref != nil {
		return page{}, ref
	}
	from := 0
	if token := q.Get("pageToken"); token != "" {
		last, err := base64.RawURLEncoding.DecodeString(token)
		i := place(all, string(last))
		if err != nil || i < 0 {
			return page{}, badQuery("pageToken", "pageToken "+shown(token)+" is of no page of this list: leave it out to begin anew")
		}
		from = i + 1
	}
	return page{from, min(from+size, len(all))}, nil
}

// token leads on behind the page; "" where nothing follows. It names the last model rather than
// a number: a list that changes meanwhile repeats nothing and leaves nothing out.
func (p page) token(all []listed) string {
	if p.to >= len(all) || p.to == p.from {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(all[p.to-1].id))
}

// sizeOf reads how many are wanted: all of them where nothing is said. Google takes more than
// the most for the most, and nought for nothing said; Anthropic takes neither.
func sizeOf(q url.Values, name string, least, all int) (int, *wire.Refusal) {
	text := q.Get(name)
	if text == "" {
		return all, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || least > 0 && n > pageMost {
		return 0, badQuery(name, name+" is a whole number from "+strconv.Itoa(least)+" to "+strconv.Itoa(pageMost)+", and "+shown(text)+" is none")
	}
	if n == 0 {
		return all, nil
	}
	return min(n, pageMost), nil
}

func place(all []listed, id string) int {
	return slices.IndexFunc(all, func(l listed) bool { return l.id == id })
}

func unknownID(param, id string) *wire.Refusal {
	return badQuery(param, param+" is a model of this list, and "+shown(id)+" is none: GET /v1/models lists them")
}

func badQuery(param, words string) *wire.Refusal {
	return &wire.Refusal{Status: http.StatusBadRequest, Param: param, Words: words}
}

func shown(s string) string { return strconv.Quote(bounded(s)) }

package standin

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/wire"
)

// row is one refusal as a vendor words it. In head and body these stand for values:
// {model} {limit} {tokens} {id} {now} and, of the named wait, {s} {ms} {unix} {iso}
// {beijing} {span}. What stands between << and >> is left out when no wait is named.
type row struct {
	name   string // of the row, for words=
	vendor string // whose words they are
	why    Why
	status int
	head   string // headers, one a line
	body   string
}

// rows is the table of words, vendors in the order of the catalogue.
var rows = slices.Concat(anthropicRows, openAIRows, codexRows, geminiRows, azureRows, bedrockRows,
	openRouterRows, glmRows, kimiRows, deepSeekRows, xAIRows, copilotRows, relayRows)

// usualWhy is what a status is about when nothing else is said.
var usualWhy = map[int]Why{
	http.StatusBadRequest:            WhyBad,
	http.StatusUnauthorized:          WhyAuth,
	http.StatusPaymentRequired:       WhyCredit,
	http.StatusForbidden:             WhyForbidden,
	http.StatusNotFound:              WhyModel,
	http.StatusRequestTimeout:        WhyTimeout,
	http.StatusRequestEntityTooLarge: WhyTooLarge,
	http.StatusUnprocessableEntity:   WhyBad,
	http.StatusTooManyRequests:       WhyRate,
	http.StatusServiceUnavailable:    WhyOverloaded,
	http.StatusGatewayTimeout:        WhyTimeout,
	529:                              WhyOverloaded,
}

// plainStatus is the status of a reason when neither the step nor a row names one.
var plainStatus = map[Why]int{
	WhyRate: 429, WhyQuota: 429, WhyCredit: 402, WhyAuth: 401, WhyForbidden: 403, WhyOverloaded: 503, WhyServer: 500,
	WhyTimeout: 504, WhyModel: 404, WhyTooLong: 400, WhyTooLarge: 413, WhySafety: 400, WhyBad: 400,
}

// plainWords is what an API says for a reason that its vendor has no row for.
var plainWords = map[Why]string{
	WhyRate:       "Rate limit reached<<, please try again in {s}s>>",
	WhyQuota:      "You have hit your usage limit<<, it resets in {s} seconds>>",
	WhyCredit:     "Insufficient credits",
	WhyAuth:       "Invalid API key",
	WhyForbidden:  "This key may not use the model",
	WhyOverloaded: "Overloaded",
	WhyServer:     "Internal server error",
	WhyTimeout:    "The request timed out",
	WhyModel:      "The model {model} does not exist",
	WhyTooLong:    "This model's maximum context length is {limit} tokens, but the request has {tokens}",
	WhyTooLarge:   "Request body is too large",
	WhySafety:     "The request was withheld by the content policy",
	WhyBad:        "The request is malformed",
}

// refusal is an error reply.
type refusal struct {
	status int
	header http.Header
	body   []byte
	kind   string // content type
}

// occasion is what a refusal's words may speak of.
type occasion struct {
	api    wire.Protocol
	model  string
	limit  int // tokens that the model takes
	tokens int // tokens that the request has
	id     string
	now    time.Time
}

// refuse words a step's refusal: the row that it names, else the vendor's own for the
// reason, else the plain one in the API's shape.
func (v *Vendor) refuse(f Fault, o occasion) refusal {
	r, own := v.wording(f)
	if f.Status != 0 {
		r.status = f.Status
	}
	wait := f.Resets
	if wait == 0 {
		wait = f.Retry
	}
	out := refusal{status: r.status, kind: "application/json", header: http.Header{}}
	for line := range strings.Lines(fill(r.head, o, wait, false)) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			out.header.Add(name, value)
		}
	}
	if f.Retry > 0 && f.Retry != wait {
		out.header.Set("retry-after", seconds(f.Retry))
	}
	for name, values := range f.Header {
		out.header[http.CanonicalHeaderKey(name)] = values
	}
	switch {
	case f.Body != "":
		out.body = []byte(f.Body)
	case own:
		out.body = []byte(fill(r.body, o, wait, true))
	default:
		out.body = shapeError(o.api, problem{status: r.status, why: r.why, words: fill(r.body, o, wait, false), id: o.id})
	}
	if f.Type != "" {
		out.kind = f.Type
	}
	return out
}

// wording finds the row for a step: the one that its words name, else the first of
// that vendor for the reason. own tells that the row's body is whole; a plain one
// still wants the API's shape around it.
func (v *Vendor) wording(f Fault) (r row, own bool) {
	if i := slices.IndexFunc(rows, func(r row) bool { return r.name == f.Words }); i >= 0 {
		return rows[i], true
	}
	whose, why := f.Words, f.Why
	if whose == "" {
		whose = v.house.words
	}
	if why == "" {
		why = usualWhy[f.Status]
	}
	if why == "" {
		why = WhyServer
	}
	if i := slices.IndexFunc(rows, func(r row) bool { return r.vendor == whose && r.why == why }); i >= 0 {
		return rows[i], true
	}
	return row{why: why, status: plainStatus[why], head: "<<retry-after: {s}>>", body: plainWords[why]}, false
}

// fill puts the values into a template; inJSON escapes those that come from outside.
func fill(text string, o occasion, wait time.Duration, inJSON bool) string {
	text = optional(text, wait > 0)
	until := o.now.Add(wait)
	name := o.model
	if inJSON {
		quoted := string(marshal(name))
		name = quoted[1 : len(quoted)-1]
	}
	return strings.NewReplacer(
		"{model}", name,
		"{limit}", strconv.Itoa(o.limit),
		"{tokens}", strconv.Itoa(o.tokens),
		"{id}", o.id,
		"{now}", strconv.FormatInt(o.now.Unix(), 10),
		"{s}", seconds(wait),
		"{ms}", strconv.FormatInt(wait.Milliseconds(), 10),
		"{unix}", strconv.FormatInt(until.Unix(), 10),
		"{iso}", until.UTC().Format(time.RFC3339),
		"{beijing}", until.In(time.FixedZone("CST", 8*3600)).Format(time.DateTime),
		"{span}", wait.String(),
	).Replace(text)
}

// optional keeps or drops what stands between << and >>.
func optional(text string, keep bool) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "<<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inside, after, _ := strings.Cut(rest, ">>")
		if keep {
			b.WriteString(inside)
		}
		text = after
	}
}

// seconds is a time in whole seconds, with a fraction where it has one.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64)
}

// WordNames lists the rows of the words' table, as words= takes them.
func WordNames() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.name
	}
	return names
}

// Vendors lists the names that Options.Vendor takes, "" apart.
func Vendors() []string {
	var names []string
	for name := range houses {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

package mend

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dev.magpie/gateway/wire"
)

// Find says what a request may be sent without after such a refusal; nothing where the
// refusal asks for nothing that may go.
func Find(s Sent, r Refusal) []Found {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
	case http.StatusNotFound, http.StatusUnsupportedMediaType:
		return images(r)
	default:
		return nil
	}
	v, err := wire.ReadValue(s.Body)
	if err != nil {
		return nil
	}
	f := finder{Sent: s, r: r, v: v, said: strings.ToLower(r.Words), raw: strings.ToLower(string(r.Body))}
	if f.raw == "" {
		f.raw = f.said
	}
	for _, look := range []func() []Found{
		f.thoughts, f.recall, f.adaptive, f.images, f.level, f.toolsAndReasoning, f.choice, f.thinkingOff, f.output, f.betas, f.fields, f.bare, f.cacheKey, f.painter,
	} {
		if found := look(); len(found) > 0 {
			return found
		}
	}
	return nil
}

// finder looks for what a refusal asks for.
type finder struct {
	Sent
	r    Refusal
	v    wire.Value
	said string // its words
	raw  string // all of it
}

func one(t Thing) []Found { return []Found{{Thing: t}} }

func (f *finder) says(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(f.said, w) })
}

// thoughts: a Claude model was given thinking that it didn't make, or misses what it made in
// front of its calls: without that it can't be told to think.
func (f *finder) thoughts() []Found {
	if f.API == wire.Messages && f.says("expected `thinking` or `redacted_thinking`") && f.v.At("thinking", "type").Text() == "enabled" {
		return append(one(Thing{What: Thoughts}), Found{Thing: Thing{What: Field, Path: "thinking"}})
	}
	if f.r.Row == "anthropic-thinking" {
		return one(Thing{What: Thoughts})
	}
	return nil
}

// recall: a vendor of Chat whose model thinks wants what it thought back.
func (f *finder) recall() []Found {
	if f.API != wire.Chat || !f.says("reasoning_content", "reasoning content") || !f.says("passed back", "pass back", "missing", "required", "must be", "must have", "must include", "must contain") {
		return nil
	}
	if f.says("must be removed", "must be omitted", "must not", "must be absent", "not permitted", "not allowed", "unsupported", "not supported", "unknown", "extra") {
		return nil
	}
	return []Found{{Thing: Thing{What: Recall}, Keep: true}}
}

// adaptive: a Claude model decides itself how much it thinks.
func (f *finder) adaptive() []Found {
	if f.API == wire.Messages && f.v.At("thinking", "type").Text() == "enabled" && f.says("thinking") && f.says("enabled") && f.says("adaptive", "not supported", "unsupported") {
		return []Found{{Thing: Thing{What: Adaptive}, Keep: true}}
	}
	return nil
}

// blind are words by which a vendor says that a model reads no images.
var blind = []string{
	"not support", "unsupported", "not accept", "only text", "text only", "text-only", "not a multimodal", "not multimodal", "no endpoints found", "unknown variant",
	"invalid content type", "not allowed", "not permitted", "not enabled", "not available", "not capable", "only supported by", "only available", "vision", "expected 'text'",
	"expected `text`", "must be 'text'", "should be 'text'", `should be "text"`, `must be "text"`, "must be of type text", "cannot read", "can't read", "cannot see", "can't see",
	"reads no", "does not read", "disabled", "cannot process images", "can't process images", "no vision", "invalid type 'image_url'", "invalid value: 'image_url'",
	"supported values are: 'text'",
}

// spoilt are words by which a vendor says that it reads images, but not this one.
var spoilt = []string{"too large", "too big", "exceed", "corrupt", "decode", "download", "fetch", "invalid image", "invalid base64", "could not process", "image format", "mime", "media type", "media_type", "dimension", "too many", "resolution"}

func (f *finder) images() []Found { return images(f.r) }

func images(r Refusal) []Found {
	said := strings.ToLower(r.Words)
	has := func(w string) bool { return strings.Contains(said, w) }
	if !has("image") && !has("vision") && !has("multimodal") || slices.ContainsFunc(spoilt, has) || !slices.ContainsFunc(blind, has) {
		return nil
	}
	return []Found{{Thing: Thing{What: Images}, Keep: true}}
}

// levelAt is where each API says how much to think.
var levelAt = map[wire.Protocol][][]string{
	wire.Chat:      {{"reasoning_effort"}, {"reasoning", "effort"}, {"extra_body", "google", "thinking_config", "thinking_level"}},
	wire.Responses: {{"reasoning", "effort"}},
	wire.Messages:  {{"output_config", "effort"}},
	wire.Gemini:    {{"generationConfig", "thinkingConfig", "thinkingLevel"}},
}

var levelWord = regexp.MustCompile(`\b(none|minimal|low|medium|high|xhigh|max)\b`)

// level: no reasoning, or next to none, is refused, and the words list what there is.
func (f *finder) level() []Found {
	if !f.says("effort", "reasoning", "thinking", "level") && !strings.Contains(f.raw, "effort") {
		return nil
	}
	for _, path := range levelAt[f.API] {
		asked := strings.ToLower(f.v.At(path...).Text())
		if asked != "none" && asked != "minimal" || !levelWord.MatchString(f.said) {
			continue
		}
		listed := f.listed(asked)
		switch {
		case len(listed) > 0:
			return []Found{{Thing: Thing{What: Level, Path: asked, To: wire.Efforts[slices.IndexFunc(wire.Efforts, func(e string) bool { return slices.Contains(listed, e) })]}, Keep: true}}
		case asked == "minimal" && strings.Contains(f.said, "minimal") && path[len(path)-1] != "reasoning_effort" && path[len(path)-1] != "effort":
			return []Found{{Thing: Thing{What: Level, Path: asked, To: "low"}, Keep: true}} // Gemini names the refused one alone
		}
	}
	return nil
}

// listed are the levels that the words tell of, without the one that was asked for.
func (f *finder) listed(asked string) []string {
	var out []string
	for _, w := range levelWord.FindAllString(f.said, -1) {
		if w != asked {
			out = append(out, w)
		}
	}
	return out
}

// toolsAndReasoning: Chat takes no tools while the model reasons, and there is no Responses to turn to.
func (f *finder) toolsAndReasoning() []Found {
	if f.API != wire.Chat || !f.Lone || f.v.Get("tools").Kind() != '[' || !f.says("tool") || !f.says("reasoning_effort", "reasoning effort") || !f.says("not supported", "unsupported", "not compatible", "incompatible") {
		return nil
	}
	asked := f.v.Get("reasoning_effort").Text()
	if asked == "none" {
		return nil
	}
	return one(Thing{What: Level, Path: asked, To: "none"})
}

// choice: a tool that must be called is refused.
func (f *finder) choice() []Found {
	if !strings.Contains(f.raw, "tool_choice") && !strings.Contains(f.raw, "functioncallingconfig") && !f.says("tool choice", "toolchoice", "forces tool") {
		return nil
	}
	if f.says("not found", "no such tool", "must be present", "must be one of the", "does not exist", "is not in") || !forced(f.API, f.v) {
		return nil
	}
	return []Found{{Thing: Thing{What: Choice}, Keep: true}}
}

// thinkingOff: a Claude model always thinks.
func (f *finder) thinkingOff() []Found {
	if f.API == wire.Messages && f.v.Get("thinking").Get("type").Text() == "disabled" && f.says("thinking") && f.says("disabled") {
		return one(Thing{What: Field, Path: "thinking"})
	}
	return nil
}

var (
	namesOutput = regexp.MustCompile(`max[ _](output[ _]|completion[ _]|new[ _])?tokens|maxoutputtokens`)
	digits      = regexp.MustCompile(`[0-9][0-9,]*`)
	leastSaid   = regexp.MustCompile(`(?:at least|>=|≥|greater than or equal to|minimum (?:value )?(?:is|of|:)?|not be (?:less|lower|smaller) than|no less than) *:? *([0-9][0-9,]*)`)
)

// leastOffer is the least that a refusal is believed to offer: a smaller number means something else.
const leastOffer = 256

// output: the limit of output is over the model's most, or under the vendor's least.
func (f *finder) output() []Found {
	sent := Output(f.v)
	if f.r.Long || sent == 0 || !namesOutput.MatchString(f.said) {
		return nil
	}
	if m := leastSaid.FindStringSubmatch(f.said); m != nil {
		if n := number(m[1]); n > sent {
			return one(Thing{What: Least, N: n})
		}
	}
	most := int64(0)
	for _, word := range digits.FindAllString(f.said, -1) {
		if n := number(word); n < sent && n > most {
			most = n
		}
	}
	if most < leastOffer {
		return nil
	}
	return []Found{{Thing: Thing{What: Most, N: most}, Keep: true}}
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	return n
}

// outputAt is where the APIs say how long a reply may be.
var outputAt = [][]string{{"max_tokens"}, {"max_completion_tokens"}, {"max_output_tokens"}, {"generationConfig", "maxOutputTokens"}}

// Output is the most output that a request asks for, 0 = not said.
func Output(v wire.Value) int64 {
	for _, path := range outputAt {
		if n, ok := v.At(path...).Int(); ok {
			return n
		}
	}
	return 0
}

var ofBetas = regexp.MustCompile(`anthropic[-_]beta|\bbeta (flag|header|feature|value)|(invalid|unknown|unsupported|unexpected) beta`)

// betas: features that the vendor doesn't know; those that it names, else all.
func (f *finder) betas() []Found {
	if f.API != wire.Messages || len(f.Betas) == 0 || !ofBetas.MatchString(f.said) {
		return nil
	}
	var named, all []Found
	for _, b := range f.Betas {
		found := Found{Thing: Thing{What: Beta, Path: b}, Keep: true, Wide: true}
		all = append(all, found)
		if strings.Contains(f.said, strings.ToLower(b)) {
			named = append(named, found)
		}
	}
	if named != nil {
		return named
	}
	return all
}

// bare: a vendor of Responses doesn't want reasoning that nobody sealed.
func (f *finder) bare() []Found {
	if f.API != wire.Responses || !RefusesInput(f.r.Status, f.r.Body) || !hasBare(f.v) {
		return nil
	}
	return []Found{{Thing: Thing{What: Bare}, Keep: true}}
}

var notStored = regexp.MustCompile(`item with id ['"` + "`" + `]?[a-z]{2,6}_[^ ]* not found`)

// RefusesInput says whether a refusal is one of the conversation: by the field it names, or
// by an item that the vendor looked for and did not find.
func RefusesInput(status int, body []byte) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	v, err := wire.ReadValue(body)
	if err != nil {
		return false
	}
	e := v.Get("error")
	if e.Kind() != '{' {
		e = v
	}
	param := e.Get("param").Text()
	return param == "input" || strings.HasPrefix(param, "input[") || strings.HasPrefix(param, "input.") ||
		notStored.MatchString(strings.ToLower(e.Get("message").Text()))
}

// cacheKey: a key that was put into a translated request, whatever the vendor says of it.
func (f *finder) cacheKey() []Found {
	if !f.Translated || f.v.Get(cacheKeyField).None() {
		return nil
	}
	return []Found{{Thing: Thing{What: Field, Path: cacheKeyField}, Keep: true, Wide: true, Bet: true}}
}

const cacheKeyField = "prompt_cache_key"

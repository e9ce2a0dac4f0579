package failure

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tooLongCode is what OpenAI's clients compact on.
const tooLongCode = "context_length_exceeded"

// overflowCodes say by themselves that the conversation no longer fits.
var overflowCodes = []string{
	tooLongCode, "context_window_exceeded", "model_max_prompt_tokens_exceeded", "string_above_max_length_context",
	"contextwindowexceedederror", "context_length_error", "exceed_context_size_error", "prompt_too_long",
}

// tooLong reports whether the reply says that the conversation exceeds the
// context: never at a 429, nor where only the reply's length or the pace is meant.
func tooLong(r *reply) bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return false
	}
	if r.has(overflowCodes...) {
		return true
	}
	return overflow.in(r.text) && !replyLength.in(r.text) && !pace.in(r.text)
}

// unsaid reports whether the request is so much larger than the model's window
// that a failure which says nothing else is told as too long. The margin is wide:
// the estimate counts bytes, which may be off by a fifth.
func unsaid(r *reply) bool {
	return r.Window > 0 && r.Estimate*5 >= r.Window*6
}

var (
	limitFirst  = regexp.MustCompile(`(?i)(?:context (?:length|window|limit|size)|maximum|limit)\D{0,24}?([\d,]{4,})\D.{0,80}?(?:requested|has|with|resulted in|got|is|about|you have|contains?)\D{0,24}?([\d,]{4,})`)
	askedFirst  = regexp.MustCompile(`(?i)([\d,]{4,}) ?(?:tokens?)?\)? ?(?:>|exceeds|is greater than|is longer than|is larger than|>=|over)\D{0,60}?([\d,]{4,})`)
	splitTokens = regexp.MustCompile(`(?i)\(([\d,]+) (?:in|of) (?:the )?(?:messages|input|prompt)[^)]{0,40}?([\d,]+) (?:in|of|for) (?:the )?(?:completion|output)\)`)
)

// TooLongWords puts a vendor's too-long message into the words that the clients
// of an API look for. Messages clients compact on "prompt is too long", and lower
// max_tokens by themselves on "input length and `max_tokens` exceed context limit".
func TooLongWords(protocol, words string) string {
	words = fold(words)
	if protocol != "messages" {
		if words == "" {
			return "The conversation is too long for the model's context window."
		}
		return words
	}
	low := strings.ToLower(words)
	if strings.HasPrefix(low, "prompt is too long") || strings.Contains(low, "exceed context limit") {
		return words
	}
	asked, window := sizes(words)
	if m := splitTokens.FindStringSubmatch(words); m != nil && window > 0 {
		in, out := count(m[1]), count(m[2])
		if in <= window && in+out > window {
			return fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d", in, out, window)
		}
		asked = in
	}
	switch {
	case asked > window && window > 0:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", asked, window)
	case words == "":
		return "prompt is too long for the model's context window"
	}
	return "prompt is too long: " + words
}

// sizes finds the tokens asked and the window in a message, 0 when it tells none.
func sizes(words string) (asked, window int) {
	if m := limitFirst.FindStringSubmatch(words); m != nil {
		return count(m[2]), count(m[1])
	}
	if m := askedFirst.FindStringSubmatch(words); m != nil {
		return count(m[1]), count(m[2])
	}
	return 0, 0
}

func count(v string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(v, ",", ""))
	if err != nil {
		return 0
	}
	return n
}

var affordable = regexp.MustCompile(`can only afford (\d{1,9})`)

// afford is the smaller max_tokens that a reply about money offers.
func (r *reply) afford() int {
	m := affordable.FindStringSubmatch(r.text)
	if m == nil {
		return 0
	}
	return count(m[1])
}

// link is where the owner of an account can mend what is wrong with it.
func (r *reply) link() string {
	v := r.find("validation_url", "validationUrl", "verification_url", "verificationUrl", "validation_link").value()
	if v == "" {
		v = firstLink.FindString(strings.Join(r.words, " "))
	}
	if !strings.HasPrefix(v, "https://") || len(v) > 2000 || strings.ContainsFunc(v, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return ""
	}
	return v
}

var firstLink = regexp.MustCompile(`https://[^\s"'<>)\]]+[^\s"'<>)\].,;]`)

// namesModel reports whether the reply speaks of a model, or by its name.
func namesModel(r *reply) bool {
	if anyModel.in(r.text) {
		return true
	}
	name := strings.ToLower(r.Model)
	return len(name) > 3 && strings.Contains(r.text, name)
}

// aboutModel reports whether the field that is named, if any, is the model.
func aboutModel(r *reply) bool {
	return r.param == "" || slices.Contains([]string{"model", "body.model"}, strings.ToLower(r.param))
}

package standin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dev.magpie/gateway/wire"
)

// marks is the table of what may follow a verb.
var marks = []mark{
	{"words", "a row of the words' table, or a vendor", "whose words a refusal or an error event uses", "words=glm-1308", func(f *Fault, v string) error { f.Words = v; return nil }},
	{"retry-after", "time or seconds", "the wait that a refusal names", "retry-after=30", func(f *Fault, v string) error { return setTime(&f.Retry, v) }},
	{"resets", "time or seconds", "till the full window opens, as a refusal names it", "resets=3h", func(f *Fault, v string) error { return setTime(&f.Resets, v) }},
	{"say", "text", "the body in place of a refusal's words; \\n and \\\" as in Go", "say=\"no such luck\"", func(f *Fault, v string) error { f.Body = v; return nil }},
	{"type", "a content type", "in place of the reply's own", "type=application/json", func(f *Fault, v string) error { f.Type = v; return nil }},
	{"title", "text", "of a page", "title=\"Just a moment...\"", func(f *Fault, v string) error { f.Title = v; return nil }},
	{"header", "name:value", "one more header of the reply; may stand several times", "header=x-should-retry:false", setHeader},
	{"after", "headers, content, thinking, end, or pieces", "where in the reply it happens", "after=3", setAfter},
	{"form", "event", "an error event on Responses that is a bare error, not a failed response", "form=event", func(f *Fault, v string) error { return setWord(&f.Form, v, "event") }},
	{"text", "text", "what the answer says", "text=\"from b\"", func(f *Fault, v string) error { f.Say = v; return nil }},
	{"think", "text", "what it thinks before that", "think=\"let me see\"", func(f *Fault, v string) error { f.Think = v; return nil }},
	{"call", "a tool's name, or name=arguments; * is the first on offer", "a tool call; may stand several times", "call=\"Bash={\\\"command\\\":\\\"ls\\\"}\"", setCall},
	{"finish", "length", "cut by the output limit", "finish=length", func(f *Fault, v string) error { return setWord(&f.Finish, v, "length") }},
	{"events", "number", "pieces of text; the text is said again until there are so many", "events=40", func(f *Fault, v string) error { return setNumber(&f.Events, v) }},
	{"huge", "size", "one piece of text of that size, on one line", "huge=4MiB", setHuge},
	{"usage", "input/cached/output", "what the reply says that it took", "usage=1200/1000/80", setUsage},
	{"windows", "name:used%[/resets][+grow], …", "allowance windows in the reply's headers", "windows=5h:91%/1h40m,7d:62%/3d", func(f *Fault, v string) (err error) { f.Windows, err = ParseWindows(v); return err }},
	{"first", "time, or from..to", "till the first byte", "first=0.4s..2s", func(f *Fault, v string) error { return setSpan(&f.pace().First, v) }},
	{"gap", "time, or from..to", "between the pieces", "gap=80ms", func(f *Fault, v string) error { return setSpan(&f.pace().Gap, v) }},
	{"crlf", "", "lines end in CR LF", "crlf", func(f *Fault, _ string) error { f.Line.CRLF = true; return nil }},
	{"tight", "", "no space after data:", "tight", func(f *Fault, _ string) error { f.Line.Tight = true; return nil }},
	{"comment", "text", "a comment line before every event", "comment=\" OPENROUTER PROCESSING\"", func(f *Fault, v string) error { f.Line.Comment = v; return nil }},
	{"split", "bytes, or bytes/time", "writes of that many bytes, with a pause between them", "split=7/5ms", setSplit},
	{"gzip", "", "the body is compressed", "gzip", func(f *Fault, _ string) error { f.Line.Gzip = true; return nil }},
	{"whole", "", "one JSON value although a stream was asked for", "whole", func(f *Fault, _ string) error { f.Line.Whole = true; return nil }},
	{"model", "a model", "only requests for it", "model=glm-5.3", func(f *Fault, v string) error { f.When.Model = v; return nil }},
	{"api", "chat, responses, messages or gemini", "only requests of that API", "api=messages", func(f *Fault, v string) error { f.When.API = wire.Protocol(v); return nil }},
	{"op", "create, count, models, embed or any", "only requests of that kind (create)", "op=count", setOp},
	{"has", "text", "only requests whose body contains it", "has=\"tidy the parser\"", func(f *Fault, v string) error { f.When.Has = v; return nil }},
	{"asked", "stream or whole", "only requests that ask for that", "asked=stream", func(f *Fault, v string) error { return setWord(&f.When.Kind, v, "stream", "whole") }},
}

// pace is the step's own pace, made when it is first set.
func (f *Fault) pace() *Pace {
	if f.Pace == nil {
		f.Pace = &Pace{}
	}
	return f.Pace
}

func setWord(to *string, v string, allowed ...string) error {
	for _, a := range allowed {
		if v == a {
			*to = v
			return nil
		}
	}
	return fmt.Errorf("%q is none of %v", v, allowed)
}

func setNumber(to *int, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no number", v)
	}
	*to = n
	return nil
}

// setTime reads "90s", "3d6h", or bare seconds.
func setTime(to *time.Duration, v string) error {
	d, err := parseTime(v)
	*to = d
	return err
}

func parseTime(v string) (time.Duration, error) {
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return time.Duration(s * float64(time.Second)), nil
	}
	if days, more, ok := strings.Cut(v, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no time", v)
		}
		rest := time.Duration(0)
		if more != "" {
			if rest, err = time.ParseDuration(more); err != nil {
				return 0, fmt.Errorf("%q is no time", v)
			}
		}
		return time.Duration(n*24*float64(time.Hour)) + rest, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("%q is no time", v)
	}
	return d, nil
}

func setSpan(to *Span, v string) error {
	from, till, ok := strings.Cut(v, "..")
	if !ok {
		till = from
	}
	if err := setTime(&to.Min, from); err != nil {
		return err
	}
	return setTime(&to.Max, till)
}

func setHeader(f *Fault, v string) error {
	name, value, ok := strings.Cut(v, ":")
	if !ok {
		return fmt.Errorf("%q has no colon", v)
	}
	if f.Header == nil {
		f.Header = http.Header{}
	}
	f.Header.Add(name, strings.TrimSpace(value))
	return nil
}

func setAfter(f *Fault, v string) error {
	switch p := Place(v); p {
	case AtHeaders, AtContent, AfterThink, AtEnd:
		f.At = p
		return nil
	case AfterPieces:
	}
	f.At = AfterPieces
	return setNumber(&f.After, v)
}

func setCall(f *Fault, v string) error {
	name, args, _ := strings.Cut(v, "=")
	f.Calls = append(f.Calls, ToolCall{Name: name, Args: args})
	return nil
}

// setHuge reads a size such as 4MiB, 70KiB or 900.
func setHuge(f *Fault, v string) error {
	unit := 1
	for suffix, n := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, ok := strings.CutSuffix(v, suffix); ok {
			v, unit = rest, n
		}
	}
	if err := setNumber(&f.Huge, v); err != nil {
		return err
	}
	f.Huge *= unit
	return nil
}

func setUsage(f *Fault, v string) error {
	var u Usage
	if _, err := fmt.Sscanf(v, "%d/%d/%d", &u.Input, &u.Cached, &u.Output); err != nil {
		return fmt.Errorf("%q is not input/cached/output", v)
	}
	f.Usage = &u
	return nil
}

func setSplit(f *Fault, v string) error {
	n, pause, ok := strings.Cut(v, "/")
	if err := setNumber(&f.Line.Split, n); err != nil {
		return err
	}
	if !ok {
		return nil
	}
	return setTime(&f.Line.Pause, pause)
}

func setOp(f *Fault, v string) error {
	op := Op(v)
	switch op {
	case OpCreate, OpCount, OpModels, OpEmbed, OpAny:
		f.When.Op = op
		return nil
	case OpModel, OpCompact, OpStored, OpNone:
	}
	return fmt.Errorf("no kind of request %q", v)
}

package gemini

import (
	"strconv"

	"dev.magpie/gateway/wire"
)

// finish writes the end of the reply: why it ended, its sources and what it cost.
func (w *writer) finish(f *wire.Finish) error {
	if err := w.settle(f.Why == wire.FinishLength || f.Why == wire.FinishWindow || f.Why == wire.FinishWithheld); err != nil {
		return err
	}
	w.done = true
	sign := w.sign(w.held)
	o := w.chunk()
	if !w.o.Stream {
		w.settleRun()
		o.b = append(o.b, w.parts.b...)
	}
	if w.o.Stream || len(w.parts.b) == 0 || sign != "" {
		(&piece{kind: wire.KindText, sign: sign}).append(o)
	}
	o.close(']')
	o.close('}')
	why, words := w.why(f)
	o.text("finishReason", why)
	o.textIf("finishMessage", words)
	o.number("index", 0)
	w.sources(o)
	o.close('}')
	o.close(']')
	w.tokens(o)
	w.named(o)
	o.close('}')
	return w.send()
}

// why is how a reply ended in the API's words. What was refused in words of the model's own
// is a reply like another.
func (w *writer) why(f *wire.Finish) (why, words string) {
	switch f.Why {
	case wire.FinishLength, wire.FinishWindow:
		return "MAX_TOKENS", ""
	case wire.FinishWithheld:
		switch {
		case w.refused:
			return "STOP", ""
		case withheld[f.Detail]:
			return f.Detail, ""
		}
		return "SAFETY", f.Explanation()
	case wire.FinishBroken:
		switch f.Detail {
		case "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
			return f.Detail, ""
		}
		return "MALFORMED_FUNCTION_CALL", ""
	case wire.FinishStop, wire.FinishString, wire.FinishCalls, wire.FinishPause:
	}
	return "STOP", ""
}

// tokens writes what the reply cost: reasoning apart from what was said.
func (w *writer) tokens(o *object) {
	u := w.usage
	if !w.counted {
		u.Input = w.o.Input
	}
	o.open("usageMetadata", '{')
	o.number("promptTokenCount", u.Input)
	if u.CacheRead > 0 {
		o.number("cachedContentTokenCount", u.CacheRead)
	}
	o.number("candidatesTokenCount", max(0, u.Output-u.Reasoning))
	if u.Reasoning > 0 {
		o.number("thoughtsTokenCount", u.Reasoning)
	}
	o.number("totalTokenCount", u.Input+u.Output)
	o.close('}')
}

// sources writes the citations: each source once, and which text it is of.
func (w *writer) sources(o *object) {
	if len(w.cites) == 0 {
		return
	}
	at := map[string]int{}
	o.open("groundingMetadata", '{')
	o.open("groundingChunks", '[')
	for i := range w.cites {
		c := &w.cites[i]
		if _, ok := at[c.URL]; ok {
			continue
		}
		at[c.URL] = len(at)
		o.open("", '{')
		o.open("web", '{')
		o.text("uri", c.URL)
		o.textIf("title", c.Title)
		o.close('}')
		o.close('}')
	}
	o.close(']')
	o.open("groundingSupports", '[')
	for i := range w.cites {
		c := &w.cites[i]
		if c.Text == "" {
			continue
		}
		o.open("", '{')
		o.open("segment", '{')
		o.text("text", c.Text)
		o.close('}')
		o.open("groundingChunkIndices", '[')
		o.next()
		o.b = strconv.AppendInt(o.b, int64(at[c.URL]), 10)
		o.close(']')
		o.close('}')
	}
	o.close(']')
	o.close('}')
}

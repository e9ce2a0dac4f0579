package standin

import (
	"net/http"
	"time"

	"dev.magpie/gateway/wire"
)

// Act is what a step does.
type Act string

// What a step can do.
const (
	Answer   Act = ""         // a good answer
	Refuse   Act = "refuse"   // an error status, in a vendor's words
	Page     Act = "page"     // a web page
	Empty    Act = "empty"    // a status and nothing else
	Raw      Act = "raw"      // the body that is given
	Error    Act = "error"    // an error event inside a good stream
	Cut      Act = "cut"      // a clean end before the reply is over
	Fin      Act = "fin"      // the connection closed in the middle of a chunk
	Reset    Act = "rst"      // the connection reset
	Drop     Act = "drop"     // the connection closed without any answer
	Silence  Act = "silence"  // nothing for a while, then the answer goes on
	Withhold Act = "withhold" // the model refuses: a safety stop
)

// Why says what a refusal is about. Which status and words that takes is the vendor's.
type Why string

// What refusals are about.
const (
	WhyRate       Why = "rate"       // slow down
	WhyQuota      Why = "quota"      // an allowance window is full
	WhyCredit     Why = "credit"     // the money is gone
	WhyAuth       Why = "auth"       // the key is wrong
	WhyForbidden  Why = "forbidden"  // the key may not
	WhyOverloaded Why = "overloaded" // the vendor has too much to do
	WhyServer     Why = "server"     // the vendor broke
	WhyTimeout    Why = "timeout"    // the vendor took too long
	WhyModel      Why = "model"      // no such model
	WhyTooLong    Why = "too-long"   // the conversation is too long
	WhyTooLarge   Why = "too-large"  // the body is too large
	WhySafety     Why = "safety"     // the words are against the rules
	WhyBad        Why = "bad"        // the request is wrong
)

// Whys lists them in the order in which the reference shows them.
var Whys = []Why{
	WhyRate, WhyQuota, WhyCredit, WhyAuth, WhyForbidden, WhyOverloaded, WhyServer,
	WhyTimeout, WhyModel, WhyTooLong, WhyTooLarge, WhySafety, WhyBad,
}

// Place says where in a reply something happens.
type Place string

// Where something can happen. AfterPieces counts the pieces of the answer that went out: of
// its thinking, its text and its calls' arguments.
const (
	AtHeaders   Place = "headers"  // before the status line
	AtContent   Place = "content"  // after the events that say nothing yet
	AfterThink  Place = "thinking" // after the thinking, before the text
	AtEnd       Place = "end"      // after the last piece, before the terminal events
	AfterPieces Place = "pieces"
)

// Always is the number of Times of a step that is never used up.
const Always = -1

// UntilLeft is a silence that lasts until the client leaves.
const UntilLeft time.Duration = 1<<63 - 1

// Fault is one step of a key's script: how the requests that it stands for are
// answered. The zero value is a good answer, once.
type Fault struct {
	Do    Act
	Times int  // the requests that it stands for: 0 = one, Always = all
	When  When // the requests that it fits

	Status int           // of the reply
	Why    Why           // what a refusal or an error event is about
	Words  string        // whose words: a name of the words' table; "" = the vendor's own
	Retry  time.Duration // the wait that a refusal names; 0 = none
	Resets time.Duration // till the window opens again, as a refusal names it; 0 = none

	Body   string      // of Raw, or in place of a refusal's words
	Type   string      // content type, "" = the usual one
	Title  string      // of a page
	Header http.Header // added to the reply's

	At    Place         // where Error, Cut, Fin, Reset, Silence and Withhold happen
	After int           // pieces, for AfterPieces
	Pause time.Duration // of Silence
	Form  string        // of Error on Responses: "" = response.failed, "event" = a bare error event

	Say     string     // the answer's text
	Think   string     // the thinking before it
	Calls   []ToolCall // the tools that it calls
	Finish  string     // "length": cut by the output limit; "stop": as always
	Events  int        // pieces of text, 0 = as many as the text has
	Huge    int        // bytes of one piece of text, on one line
	Usage   *Usage     // what the reply says it took
	Windows []Window   // allowance windows told in the headers
	Pace    *Pace      // in place of the vendor's
	Line    Line       // how the bytes of a stream are laid out
}

// When says which requests a step fits. A zero field fits all.
type When struct {
	Model string
	API   wire.Protocol
	Op    Op     // "" = creating a reply
	Has   string // the body contains it
	Kind  string // "stream" or "whole": what was asked for
}

// ToolCall is one call in an answer. Arguments that are not given are made from the tool's schema.
type ToolCall struct {
	Name string // "*" = the first tool on offer
	Args string // JSON, or the bare input of a freeform tool
}

// Usage is what a reply says that it took.
type Usage struct {
	Input     int // all of the prompt, with what was cached
	Cached    int // of it read from the cache
	Written   int // of it written to the cache
	Output    int // all that was written, with the thinking
	Reasoning int // of it thinking
}

// Line says how the bytes of a stream are laid out.
type Line struct {
	CRLF    bool          // lines end in CR LF
	Tight   bool          // no space after "data:"
	Comment string        // a comment line before every event
	Split   int           // bytes of one write, 0 = one write an event
	Pause   time.Duration // between those writes
	Gzip    bool          // the body is compressed
	Whole   bool          // one JSON value although a stream was asked for
}

// OK is a good answer that says the text, "" for the default.
func OK(text string) Fault { return Fault{Say: text} }

// Status is a refusal with the status, in the vendor's own words for the reason;
// "" is the status' usual one.
func Status(status int, why Why) Fault { return Fault{Do: Refuse, Status: status, Why: why} }

// RateLimited is a 429 that asks to slow down, for a time when one is given.
func RateLimited(retry time.Duration) Fault {
	return Fault{Do: Refuse, Status: http.StatusTooManyRequests, Why: WhyRate, Retry: retry}
}

// QuotaFull is the refusal of a full window in the words of a vendor, "" for the own.
func QuotaFull(words string, resets time.Duration) Fault {
	return Fault{Do: Refuse, Why: WhyQuota, Words: words, Resets: resets}
}

// OutOfCredit is the refusal of an empty balance in the words of a vendor, "" for the own.
func OutOfCredit(words string) Fault { return Fault{Do: Refuse, Why: WhyCredit, Words: words} }

// Overloaded is the vendor's own word for having too much to do.
func Overloaded() Fault { return Fault{Do: Refuse, Why: WhyOverloaded} }

// WebPage is a page of HTML where an answer should be.
func WebPage(status int) Fault { return Fault{Do: Page, Status: status} }

// Nothing is a status with an empty body.
func Nothing(status int) Fault { return Fault{Do: Empty, Status: status} }

// Body is a reply with these bytes and this content type.
func Body(status int, contentType, body string) Fault {
	return Fault{Do: Raw, Status: status, Type: contentType, Body: body}
}

// ErrorFirst is a stream whose first event is an error.
func ErrorFirst(why Why) Fault { return Fault{Do: Error, Why: why, At: AtHeaders} }

// ErrorAfter is a stream that ends in an error after so many pieces of its answer.
func ErrorAfter(pieces int, why Why) Fault {
	return Fault{Do: Error, Why: why, At: AfterPieces, After: pieces}
}

// CutAfter is a stream that ends cleanly after so many pieces, as if it were over.
func CutAfter(pieces int) Fault { return Fault{Do: Cut, At: AfterPieces, After: pieces} }

// ResetAfter is a stream whose connection is reset after so many pieces.
func ResetAfter(pieces int) Fault { return Fault{Do: Reset, At: AfterPieces, After: pieces} }

// HangUp closes the connection without any answer.
func HangUp() Fault { return Fault{Do: Drop} }

// Silent is an answer with a pause of its own at a place.
func Silent(pause time.Duration, at Place) Fault { return Fault{Do: Silence, Pause: pause, At: at} }

// Withheld is a model's refusal, at AtContent or AfterThink.
func Withheld(at Place) Fault { return Fault{Do: Withhold, At: at} }

// For repeats a step: it stands for so many requests, or Always.
func (f Fault) For(times int) Fault {
	f.Times = times
	return f
}

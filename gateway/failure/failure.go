// Package failure says why a try failed and how long its candidate rests: tables
// of rows, the first that matches wins, and pure arithmetic. No clock, no I/O.
//
//	Seen ─► read once ─► first row that matches ─► Verdict ─► RestFor, Repeat,
//	        (body.go)    (rules_*.go)                         AgentStatus, LastError
//
// A new sentence of a vendor is a row in its rules file and a fixture in
// testdata/failure, nothing else. README.md beside this file lists the rows.
package failure

import (
	"net/http"
	"time"

	"dev.magpie/gateway/trace"
)

// Phase says how far a try had come.
type Phase string

// How far a try had come.
const (
	PhaseDial   Phase = "dial"   // no connection, nothing sent
	PhaseHeader Phase = "header" // sent, no answer
	PhaseReply  Phase = "reply"  // a status and body came
	PhaseStream Phase = "stream" // an error event or a break inside a 2xx stream
)

// Seen is what a try saw when it failed.
type Seen struct {
	Vendor   string // the dialect's vendor word, "" = unknown
	Protocol string // chat, responses, messages, gemini: the API that was asked
	Model    string // the model that was asked
	Kind     string // account, key, provider
	Phase    Phase
	Status   int // HTTP status; for an in-stream error 200
	Header   http.Header
	Body     []byte // at most 1 MiB: the error body, or the error event's JSON
	Err      error  // what the transport said
	At       time.Time
	Estimate int // tokens of the request, by bytes; 0 = unknown
	Window   int // the model's context in tokens; 0 = unknown
}

// Past is what is remembered of a candidate's failures.
type Past struct {
	Kind     trace.Kind // of the last rest
	Failures int        // in a row
	Until    time.Time  // end of the last rest, zero = none
	Beside   bool       // the try at hand had begun when the last one failed: both met the same trouble
}

package vendors

import (
	"context"
	"net/http"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
)

// What a vendor's signed-in accounts can do is said by three small interfaces. A vendor is a
// folder, a row of Subscriptions, and its fixtures.

// Signer puts an account's sign-in on requests, and keeps it good.
type Signer interface {
	// Look reads who is signed in, without asking anybody.
	Look() (provider.Credential, error)
	// Credential returns what is good for a request now. A provider.SignInError is a state that
	// the account's owner has to end; any other error passes.
	Credential(ctx context.Context, now time.Time) (provider.Credential, error)
	// Refused is told that a credential was turned away, and returns another if there is one.
	Refused(ctx context.Context, c provider.Credential, now time.Time) (provider.Credential, error)
	// Shape makes a body one that the vendor takes, and names the session that it is cached by;
	// own says that the vendor's own program wrote it.
	Shape(body []byte, model string, own bool) (shaped []byte, session string, err error)
	// Sign puts a credential on a request's headers.
	Sign(h http.Header, c provider.Credential, session string, own bool)
	// Models asks which models the account's plan has; Take reads what it was told before.
	Models(ctx context.Context, now time.Time) (list []provider.Model, raw []byte, err error)
	Take(raw []byte) ([]provider.Model, error)
}

// Meter asks what is left of an account's allowance.
type Meter interface {
	Read(ctx context.Context, now time.Time) (provider.Reading, error)
}

// Resetter lists and spends the resets that an account has in hand.
type Resetter interface {
	// Resets returns those that can be spent, the first to run out first.
	Resets(ctx context.Context, now time.Time) ([]provider.Reset, error)
	// Spend spends one. The same request id is the same spending, however often it is asked for.
	Spend(ctx context.Context, reset, request string, now time.Time) (provider.Outcome, int, error)
}

// SignIn is where an account's sign-in is, and how its vendor is reached.
type SignIn struct {
	Home  string // of its program
	Base  string // of the provider's API
	Token string // where tokens are renewed, "" = the vendor's own place
	Agent string // what the gateway calls itself
	Do    func(*http.Request) (*http.Response, error)
}

// Subscription is one account as its vendor's row opens it. Meter and Resetter are nil where
// the vendor has no such thing.
type Subscription struct {
	Signer
	Meter    Meter
	Resetter Resetter
	Agent    string // the id of the vendor's own program among agents
}

// subscription is a row: a catalogue entry whose accounts are a program's sign-ins.
type subscription struct {
	preset string
	agent  string // the program
	home   string // its home, where the config names none
	env    string // the variable that moves it
	open   func(SignIn) Subscription
}

var subscriptions = []subscription{
	{"codex", "codex", "~/.codex", "CODEX_HOME", func(s SignIn) Subscription {
		a := codex.Open(codex.Options(s))
		return Subscription{Signer: a, Meter: a, Resetter: a}
	}},
}

// Open opens an account of a provider, false where its vendor's accounts can't be used.
func Open(p *provider.Provider, s SignIn) (Subscription, bool) {
	for i := range subscriptions {
		if r := &subscriptions[i]; r.preset == p.Preset {
			out := r.open(s)
			out.Agent = r.agent
			return out, true
		}
	}
	return Subscription{}, false
}

// Home is where a vendor's program keeps its sign-in unless told otherwise, and the
// environment variable that moves it.
func Home(preset string) (home, env string) {
	for i := range subscriptions {
		if r := &subscriptions[i]; r.preset == preset {
			return r.home, r.env
		}
	}
	return "", ""
}

// ReadEvent returns what an event ahead of a reply tells of the allowance.
func ReadEvent(data []byte, at time.Time) provider.Reading { return codex.ReadEvent(data, at) }

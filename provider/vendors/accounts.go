package vendors

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"dev.magpie/provider"
	"dev.magpie/provider/vendors/codex"
	"dev.magpie/provider/vendors/copilot"
	"dev.magpie/provider/vendors/geminicli"
)

// What a vendor's signed-in accounts can do is said by three small interfaces. A vendor is a
// folder, a row of Subscriptions, and its fixtures.

// Looker reads who is signed in, without asking anybody. A provider.SignInError is a state that
// the account's owner has to end.
type Looker interface {
	Look() (provider.Credential, error)
}

// Signer puts an account's sign-in on requests, and keeps it good.
type Signer interface {
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
	Homes []string // of its program, one or more: where the sign-in is looked for, in order
	Base  string   // of the provider's API; of one that is only shown, where what is left is told
	Token string   // where tokens are renewed, "" = the vendor's own place
	Agent string   // what the gateway calls itself
	Do    func(*http.Request) (*http.Response, error)
}

// Subscription is one account as its vendor's row opens it. Signer is nil where the account is
// only shown, Meter and Resetter where the vendor has no such thing.
type Subscription struct {
	Looker
	Signer
	Meter    Meter
	Resetter Resetter
	Agent    string // the id of the vendor's own program among agents
}

// subscription is a row: a catalogue entry whose accounts are a program's sign-ins.
type subscription struct {
	preset string
	agent  string  // the program
	homes  []place // its own, where the config names none
	open   func(SignIn) Subscription
}

// place is a folder in which a program keeps its sign-in.
type place struct {
	usual string
	env   string // the variable that moves it
	under string // the part of it that is below the variable's folder
}

var subscriptions = []subscription{
	{"codex", "codex", []place{{"~/.codex", "CODEX_HOME", ""}}, func(s SignIn) Subscription {
		a := codex.Open(codex.Options{Home: s.Homes[0], Base: s.Base, Token: s.Token, Agent: s.Agent, Do: s.Do})
		return Subscription{Looker: a, Signer: a, Meter: a, Resetter: a}
	}},
	{"copilot", "copilot", []place{{"~/.config/github-copilot", "XDG_CONFIG_HOME", "github-copilot"}, {"~/.copilot", "COPILOT_HOME", ""}}, func(s SignIn) Subscription {
		a := copilot.Open(copilot.Options{Homes: s.Homes, URL: s.Base, Agent: s.Agent, Do: s.Do})
		return Subscription{Looker: a, Meter: a}
	}},
	// Google allows nobody but Gemini CLI to send its sign-in: it has nobody who signs or asks.
	{"gemini-cli", "gemini", []place{{"~/.gemini", "GEMINI_CLI_HOME", ".gemini"}}, func(s SignIn) Subscription {
		return Subscription{Looker: geminicli.Open(s.Homes)}
	}},
}

// Open opens an account of a provider, false where its vendor's accounts can't be used.
func Open(p *provider.Provider, s SignIn) (Subscription, bool) {
	r := rowOf(p.Preset)
	if r == nil {
		return Subscription{}, false
	}
	out := r.open(s)
	out.Agent = r.agent
	return out, true
}

func rowOf(preset string) *subscription {
	for i := range subscriptions {
		if subscriptions[i].preset == preset {
			return &subscriptions[i]
		}
	}
	return nil
}

// Homes are the folders in which a vendor's program keeps its sign-in: the one that the config
// names, else its own, below the person's folder or where the environment moves them. Nil is of
// a vendor whose accounts can't be used.
func Homes(preset, named, person string, getenv func(string) string) []string {
	r := rowOf(preset)
	if r == nil {
		return nil
	}
	if named != "" {
		return []string{below(person, named)}
	}
	var all []string
	for _, h := range r.homes {
		at := below(person, h.usual)
		if moved := getenv(h.env); moved != "" {
			at = filepath.Join(below(person, moved), h.under)
		}
		all = append(all, at)
	}
	return all
}

// below puts the person's folder in the place of ~.
func below(person, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(person, rest)
	}
	return path
}

// ReadEvent returns what an event ahead of a reply tells of the allowance.
func ReadEvent(data []byte, at time.Time) provider.Reading { return codex.ReadEvent(data, at) }

package sdk_test

import (
	"context"
	"testing"
)

// speaker is one SDK asking through one API, as far as the tests treat all alike.
type speaker interface {
	// whole asks for a reply that is not streamed.
	whole(ctx context.Context, said string) (reply, error)
	// stream asks for a streamed one and reads it to its end. What came before an error is in the reply.
	stream(ctx context.Context, said string) (reply, error)
	// loop offers a tool, gives its result back and returns what the model asked of it and said at last.
	loop(ctx context.Context, streamed bool) (args string, last reply, err error)
	// models lists the names that the gateway gives its models.
	models(ctx context.Context) ([]string, error)
	// told returns the status and the words of an error of the API, 0 for any other error.
	told(err error) (status int, words string)
}

// reply is what an SDK made of an answer.
type reply struct {
	text string
	done bool // the SDK says that the reply came to its own end
	in   int64
	out  int64
}

// sdk is one row of the table of SDKs.
type sdk struct {
	name  string
	house house
	agent string // the key that it gives the gateway: it names an agent
	open  func(base, key string) speaker
}

// sdks is the table. The key's agent shows in the route that the right request was seen.
var sdks = []sdk{
	{"openai-go chat", openAIHouse, "magpie-sdk-chat", openChat},
	{"openai-go responses", openAIHouse, "magpie-sdk-responses", openResponses},
	{"anthropic-sdk-go", anthropicHouse, "magpie-sdk-messages", openMessages},
	{"anthropic-sdk-go v2", anthropicHouse, "magpie-sdk-messages2", openMessages2},
	{"genai", geminiHouse, "magpie-sdk-gemini", openGenAI("v1beta")},
	{"genai v1", geminiHouse, "magpie-sdk-gemini1", openGenAI("v1")},
}

// everySDK runs a test for each row, on a rig of its own.
func everySDK(t *testing.T, test func(t *testing.T, s sdk, r *rig, sp speaker)) {
	t.Helper()
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			r := newRig(t, s.house)
			test(t, s, r, s.open(r.base, s.agent))
		})
	}
}

// ways are the two ways to ask.
var ways = []struct {
	name     string
	streamed bool
}{{"whole", false}, {"streamed", true}}

// ask asks in one of the ways.
func ask(ctx context.Context, sp speaker, streamed bool, said string) (reply, error) {
	if streamed {
		return sp.stream(ctx, said)
	}
	return sp.whole(ctx, said)
}

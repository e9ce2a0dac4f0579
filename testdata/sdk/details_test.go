package sdk_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropic2 "github.com/anthropics/anthropic-sdk-go/v2"
	option2 "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"dev.magpie/gateway/standin"
)

func TestOpenAIEmbeddingsComeAsNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t, openAIHouse)
	c := openAIClient(r.base, "magpie-sdk-embeddings")
	r.script("429 rate retry-after=60s op=embed")
	got, err := c.Embeddings.New(within(t), openai.EmbeddingNewParams{
		Model: "text-embedding-3-small", Dimensions: openai.Int(16),
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 2 || len(got.Data[0].Embedding) != 16 || got.Data[1].Index != 1 || got.Usage.TotalTokens == 0 {
		t.Errorf("%+v", got)
	}
	if second := len(r.vendor.CallsOf(secondKey)); second != 1 {
		t.Errorf("the second key was asked %d times", second)
	}
	r.strict(t)
}

func TestOpenAICountsTheTokensOfAResponse(t *testing.T) {
	t.Parallel()
	r := newRig(t, openAIHouse)
	c := openAIClient(r.base, "magpie-sdk-count")
	got, err := c.Responses.InputTokens.Count(within(t), responses.InputTokenCountParams{
		Model: openai.String("gpt-5.4"), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("What is the answer?")},
	})
	if err != nil || got.InputTokens == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	r.strict(t)
}

func TestOpenAIStreamsCarryUsageOnlyWhenItIsAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, openAIHouse)
	c := openAIClient(r.base, "magpie-sdk-usage")
	for _, want := range []bool{false, true} {
		p := chatParams("What is the answer?")
		if want {
			p.StreamOptions.IncludeUsage = openai.Bool(true)
		}
		stream := c.Chat.Completions.NewStreaming(within(t), p)
		told := false
		for stream.Next() {
			told = told || stream.Current().Usage.TotalTokens > 0
		}
		if err := stream.Err(); err != nil || told != want {
			t.Errorf("asked %t, told %t, %v", want, told, err)
		}
	}
}

func TestOneModelIsToldInEachShape(t *testing.T) {
	t.Parallel()
	r := newRig(t, openAIHouse)
	c := openAIClient(r.base, "magpie-sdk")
	if m, err := c.Models.Get(within(t), "gpt-5.4"); err != nil || m.ID != "openai/gpt-5.4" || m.OwnedBy != "openai" {
		t.Errorf("%+v, %v", m, err)
	}
	if _, err := c.Models.Get(within(t), "gpt-none"); !hasStatus(err, http.StatusNotFound) {
		t.Error(err)
	}
	r = newRig(t, anthropicHouse)
	one, two := openMessages(r.base, "magpie-sdk").(messagesSpeaker).c, openMessages2(r.base, "magpie-sdk").(messages2Speaker).c
	if m, err := one.Models.Get(within(t), "claude-sonnet-5-5", anthropic.ModelGetParams{}); err != nil || m.ID != "anthropic/claude-sonnet-5-5" || m.DisplayName == "" || m.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := two.Models.Get(within(t), "claude-sonnet-5-5", anthropic2.ModelGetParams{}); err != nil || m.ID != "anthropic/claude-sonnet-5-5" || m.MaxTokens == 0 {
		t.Errorf("%+v, %v", m, err)
	}
	r = newRig(t, geminiHouse)
	for _, version := range []string{"v1beta", "v1"} {
		m, err := openGenAI(version)(r.base, "magpie-sdk").(genaiSpeaker).c.Models.Get(within(t), geminiModel, nil)
		if err != nil || m.Name != "models/gemini/"+geminiModel || m.DisplayName == "" || len(m.SupportedActions) == 0 {
			t.Errorf("%s: %+v, %v", version, m, err)
		}
	}
}

// hasStatus tells an error of OpenAI's API with the status.
func hasStatus(err error, status int) bool {
	var api *openai.Error
	return errors.As(err, &api) && api.StatusCode == status
}

func TestAnUnknownModelIsNotFoundInEachShape(t *testing.T) {
	t.Parallel()
	none := newRig(t, house{"openai", openAIHouse.bases, []string{"gpt-4.1"}})
	for _, s := range sdks {
		sp := s.open(none.base, s.agent)
		for _, w := range ways {
			_, err := ask(within(t), sp, w.streamed, "What is the answer?")
			if status, words := sp.told(err); status != http.StatusNotFound || !strings.Contains(words, "model") {
				t.Errorf("%s, %s: status %d, words %q, %v", s.name, w.name, status, words, err)
			}
		}
	}
	if n := len(none.vendor.Calls()); n != 0 {
		t.Errorf("the vendor was asked %d times", n)
	}
}

func TestAnthropicCountsTokensAndNamesItsErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, anthropicHouse)
	one, two := openMessages(r.base, "magpie-sdk").(messagesSpeaker).c, openMessages2(r.base, "magpie-sdk").(messages2Speaker).c
	p, p2 := messagesParams("What is the answer?"), messages2Params("What is the answer?")
	n, err := one.Messages.CountTokens(within(t), anthropic.MessageCountTokensParams{Model: p.Model, Messages: p.Messages})
	n2, err2 := two.Messages.CountTokens(within(t), anthropic2.MessageCountTokensParams{Model: p2.Model, Messages: p2.Messages})
	if err != nil || err2 != nil || n.InputTokens == 0 || n.InputTokens != n2.InputTokens {
		t.Errorf("%v and %v, %v and %v", n, n2, err, err2)
	}
	r.strict(t)
	r.vendor.Script(standin.AnyKey, standin.Must("429 rate retry-after=90s x9")...)
	_, err = one.Messages.New(within(t), p)
	_, err2 = two.Messages.New(within(t), p2)
	var e *anthropic.Error
	var e2 *anthropic2.Error
	if !errors.As(err, &e) || e.Type() != "rate_limit_error" || e.Response.Header.Get("Retry-After") == "" {
		t.Errorf("%v", err)
	}
	if !errors.As(err2, &e2) || e2.Type() != "rate_limit_error" || e2.Message == "" {
		t.Errorf("%v", err2)
	}
}

func TestAnthropicsVersionGoesOnAsItCame(t *testing.T) {
	t.Parallel()
	for version, open := range map[string]func(base, key string) speaker{"2023-06-01": openMessages, "2026-10-21": openMessages2} {
		r := newRig(t, anthropicHouse)
		if _, err := open(r.base, "magpie-sdk").whole(within(t), "What is the answer?"); err != nil {
			t.Fatal(err)
		}
		h := r.vendor.Calls()[0].Header
		if h.Get("anthropic-version") != version || h.Get("x-api-key") != firstKey || h.Get("Authorization") != "" {
			t.Errorf("%s: the vendor was sent %v", version, h)
		}
	}
}

// thread is a conversation that the vendor keeps, of which only what is new is sent.
func thread(r *rig) *anthropic2.BetaMessageThread {
	c := openMessages2(r.base, "magpie-sdk").(messages2Speaker).c
	return c.Beta.Messages.NewThread(anthropic2.BetaMessageThreadCreateParams{Model: "claude-sonnet-5-5", MaxTokens: 1024})
}

func threadTurn(said string) anthropic2.BetaMessageThreadSendParams {
	return anthropic2.BetaMessageThreadSendParams{Messages: []anthropic2.BetaMessageParam{anthropic2.NewBetaUserMessage(anthropic2.NewBetaTextBlock(said))}}
}

func TestAThreadGoesOnWhereItBegan(t *testing.T) {
	t.Parallel()
	r := newRig(t, anthropicHouse)
	th := thread(r)
	r.script("429 rate retry-after=60s")
	if _, err := th.Send(within(t), threadTurn("Remember the word magpie.")); err != nil {
		t.Fatal(err)
	}
	r.wake(t)
	if _, err := th.Send(within(t), threadTurn("Which word?")); err != nil {
		t.Fatal(err)
	}
	calls := r.vendor.CallsOf(secondKey)
	if len(calls) != 2 || len(r.vendor.CallsOf(firstKey)) != 1 || strings.Contains(string(calls[1].Body), "Remember") {
		t.Errorf("the second key was asked %d times, the first %d times", len(calls), len(r.vendor.CallsOf(firstKey)))
	}
	r.strict(t)
}

func TestAThreadThatNobodyHereBeganIsSentWhole(t *testing.T) {
	t.Parallel()
	before, after := newRig(t, anthropicHouse), newRig(t, anthropicHouse)
	th := thread(before)
	if _, err := th.Send(within(t), threadTurn("Remember the word magpie.")); err != nil {
		t.Fatal(err)
	}
	m, err := th.Send(within(t), threadTurn("Which word?"), option2.WithBaseURL(after.base))
	if err != nil || len(m.Content) == 0 || m.Content[0].Text != answerText {
		t.Fatalf("%+v, %v", m, err)
	}
	calls := after.vendor.Calls()
	if len(calls) != 1 || !strings.Contains(string(calls[0].Body), "Remember the word magpie.") {
		t.Errorf("the other gateway's vendor was asked %d times", len(calls))
	}
	after.strict(t)
}

func TestGenAIEmbedsSeveralTexts(t *testing.T) {
	t.Parallel()
	r := newRig(t, geminiHouse)
	c := openGenAI("v1beta")(r.base, "magpie-sdk").(genaiSpeaker).c
	for _, model := range []string{"gemini-embedding-001", "models/gemini/gemini-embedding-001"} {
		got, err := c.Models.EmbedContent(within(t), model, append(genai.Text("one"), genai.Text("two")...), nil)
		if err != nil || len(got.Embeddings) != 2 || len(got.Embeddings[0].Values) == 0 {
			t.Errorf("%s: %+v, %v", model, got, err)
		}
	}
	for _, call := range r.vendor.Calls() {
		if strings.Contains(string(call.Body), "gemini/") {
			t.Errorf("the vendor was sent %s", call.Body)
		}
	}
	r.strict(t)
}

func TestGenAICountsTokens(t *testing.T) {
	t.Parallel()
	r := newRig(t, geminiHouse)
	for _, version := range []string{"v1beta", "v1"} {
		got, err := openGenAI(version)(r.base, "magpie-sdk").(genaiSpeaker).c.Models.CountTokens(within(t), geminiModel, genai.Text("What is the answer?"), nil)
		if err != nil || got.TotalTokens == 0 {
			t.Errorf("%s: %+v, %v", version, got, err)
		}
	}
	r.strict(t)
}

func TestAModelUnderItsFullNameIsAskedByEverySDK(t *testing.T) {
	t.Parallel()
	r := newRig(t, geminiHouse)
	got, err := openGenAI("v1beta")(r.base, "magpie-sdk").(genaiSpeaker).c.Models.GenerateContent(within(t), "models/gemini/gemini-2.5-flash", genai.Text("Hello"), nil)
	if err != nil || got.Text() != answerText || r.vendor.Calls()[0].Model != "gemini-2.5-flash" {
		t.Errorf("%v, %v", got, err)
	}
	r = newRig(t, openAIHouse)
	p, oa := chatParams("Hello"), openAIClient(r.base, "magpie-sdk")
	p.Model = "openai/gpt-4.1"
	if c, err := oa.Chat.Completions.New(within(t), p); err != nil || r.vendor.Calls()[0].Model != "gpt-4.1" {
		t.Errorf("%v, %v", c, err)
	}
	r = newRig(t, anthropicHouse)
	m, an := messagesParams("Hello"), openMessages(r.base, "magpie-sdk").(messagesSpeaker).c
	m.Model = "anthropic/claude-sonnet-4-5"
	if c, err := an.Messages.New(within(t), m); err != nil || r.vendor.Calls()[0].Model != "claude-sonnet-4-5" {
		t.Errorf("%v, %v", c, err)
	}
}

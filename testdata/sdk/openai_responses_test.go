package sdk_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// responsesSpeaker is OpenAI's SDK on Responses.
type responsesSpeaker struct{ c openai.Client }

func openResponses(base, key string) speaker { return responsesSpeaker{openAIClient(base, key)} }

func responsesParams(said string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-5.4", Instructions: openai.String("Be brief."),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(said)},
	}
}

func (s responsesSpeaker) whole(ctx context.Context, said string) (reply, error) {
	return s.take(s.c.Responses.New(ctx, responsesParams(said)))
}

func (s responsesSpeaker) take(r *responses.Response, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return reply{text: r.OutputText(), done: r.Status == responses.ResponseStatusCompleted, in: r.Usage.InputTokens, out: r.Usage.OutputTokens}, nil
}

func (s responsesSpeaker) stream(ctx context.Context, said string) (reply, error) {
	r, text, err := s.gather(ctx, responsesParams(said))
	if err != nil {
		return reply{text: text}, err
	}
	out, err := s.take(r, nil)
	if out.text != text {
		return out, fmt.Errorf("the deltas say %q, the response says %q", text, out.text)
	}
	return out, err
}

// gather reads a stream. The SDK hands response.failed on as an event like any other: whoever
// reads for response.completed, as its users must, finds the error there.
func (s responsesSpeaker) gather(ctx context.Context, p responses.ResponseNewParams) (*responses.Response, string, error) {
	stream := s.c.Responses.NewStreaming(ctx, p)
	text, last := "", int64(-1)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber <= last {
			return nil, text, fmt.Errorf("event %d follows event %d", e.SequenceNumber, last)
		}
		last = e.SequenceNumber
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.completed":
			return &e.Response, text, nil
		case "response.failed":
			return nil, text, failedError{code: string(e.Response.Error.Code), words: e.Response.Error.Message}
		case "error":
			return nil, text, failedError{code: e.Code, words: e.Message}
		}
	}
	if err := stream.Err(); err != nil {
		return nil, text, err
	}
	return nil, text, errors.New("the stream ended without response.completed")
}

// failedError is what a response.failed event tells.
type failedError struct{ code, words string }

func (e failedError) Error() string { return e.code + ": " + e.words }

func (s responsesSpeaker) loop(ctx context.Context, streamed bool) (string, reply, error) {
	p := responsesParams("How is the weather in Bern?")
	p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", toolSchema, true)}
	p.ToolChoice.OfToolChoiceMode = openai.Opt(responses.ToolChoiceOptionsRequired)
	r, err := s.turn(ctx, p, streamed)
	if err != nil {
		return "", reply{}, err
	}
	for _, it := range r.Output {
		if it.Type != "function_call" {
			continue
		}
		p.PreviousResponseID = openai.String(r.ID)
		p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{}
		p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{functionOutput(it.CallID, "Sunny.")}}
		r, err = s.turn(ctx, p, streamed)
		last, err := s.take(r, err)
		return it.Arguments.OfString, last, err
	}
	return "", reply{}, errors.New("the tool was not called")
}

func functionOutput(call, text string) responses.ResponseInputItemUnionParam {
	out := responses.ResponseInputItemParamOfFunctionCallOutput(text)
	out.OfFunctionCallOutput.CallID = openai.String(call)
	return out
}

func (s responsesSpeaker) turn(ctx context.Context, p responses.ResponseNewParams, streamed bool) (*responses.Response, error) {
	if !streamed {
		return s.c.Responses.New(ctx, p)
	}
	r, _, err := s.gather(ctx, p)
	return r, err
}

func (s responsesSpeaker) models(ctx context.Context) ([]string, error) {
	return openAIModels(ctx, s.c)
}

func (s responsesSpeaker) told(err error) (int, string) {
	var failed failedError
	if errors.As(err, &failed) {
		return 0, failed.words
	}
	return openAITold(err)
}

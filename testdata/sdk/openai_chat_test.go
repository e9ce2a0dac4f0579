package sdk_test

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
)

// chatSpeaker is OpenAI's SDK on Chat Completions.
type chatSpeaker struct{ c openai.Client }

func openAIClient(base, key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func openChat(base, key string) speaker { return chatSpeaker{openAIClient(base, key)} }

func chatParams(said string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-5.4",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(said)},
	}
}

func (s chatSpeaker) whole(ctx context.Context, said string) (reply, error) {
	return s.take(s.c.Chat.Completions.New(ctx, chatParams(said)))
}

func (s chatSpeaker) take(c *openai.ChatCompletion, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	if len(c.Choices) != 1 {
		return reply{}, errors.New("the reply has no choice")
	}
	return reply{text: c.Choices[0].Message.Content, done: c.Choices[0].FinishReason != "", in: c.Usage.PromptTokens, out: c.Usage.CompletionTokens}, nil
}

func (s chatSpeaker) stream(ctx context.Context, said string) (reply, error) {
	p := chatParams(said)
	p.StreamOptions.IncludeUsage = openai.Bool(true)
	acc, err := s.gather(ctx, p)
	if len(acc.Choices) == 0 {
		return reply{}, err
	}
	r, _ := s.take(&acc.ChatCompletion, nil)
	return r, err
}

func (s chatSpeaker) gather(ctx context.Context, p openai.ChatCompletionNewParams) (*openai.ChatCompletionAccumulator, error) {
	stream := s.c.Chat.Completions.NewStreaming(ctx, p)
	acc := &openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			return acc, errors.New("a chunk does not belong to the reply")
		}
	}
	return acc, stream.Err()
}

func (s chatSpeaker) loop(ctx context.Context, streamed bool) (string, reply, error) {
	p := chatParams("How is the weather in Bern?")
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "weather", Description: openai.String("Tells the weather of a place."), Parameters: toolSchema,
	})}
	p.ToolChoice.OfAuto = openai.String("required")
	c, err := s.turn(ctx, p, streamed)
	if err != nil {
		return "", reply{}, err
	}
	m := c.Choices[0].Message
	if len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Name != "weather" {
		return "", reply{}, errors.New("the tool was not called")
	}
	p.Messages = append(p.Messages, m.ToParam(), openai.ToolMessage("Sunny.", m.ToolCalls[0].ID))
	p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{}
	c, err = s.turn(ctx, p, streamed)
	last, err := s.take(c, err)
	return m.ToolCalls[0].Function.Arguments, last, err
}

func (s chatSpeaker) turn(ctx context.Context, p openai.ChatCompletionNewParams, streamed bool) (*openai.ChatCompletion, error) {
	if !streamed {
		return s.c.Chat.Completions.New(ctx, p)
	}
	acc, err := s.gather(ctx, p)
	return &acc.ChatCompletion, err
}

func (s chatSpeaker) models(ctx context.Context) ([]string, error) { return openAIModels(ctx, s.c) }

func (s chatSpeaker) told(err error) (int, string) { return openAITold(err) }

func openAIModels(ctx context.Context, c openai.Client) ([]string, error) {
	var ids []string
	pages := c.Models.ListAutoPaging(ctx)
	for pages.Next() {
		ids = append(ids, pages.Current().ID)
	}
	return ids, pages.Err()
}

func openAITold(err error) (int, string) {
	var api *openai.Error
	if errors.As(err, &api) {
		return api.StatusCode, api.Message
	}
	var in *ssestream.StreamError
	if errors.As(err, &in) {
		return 0, in.Message
	}
	return 0, ""
}

// toolSchema is what the weather tool takes.
var toolSchema = map[string]any{
	"type": "object", "additionalProperties": false, "required": []string{"place"},
	"properties": map[string]any{"place": map[string]any{"type": "string", "description": "Where."}},
}

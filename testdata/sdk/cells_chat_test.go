package sdk_test

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/shared"
)

func (s chatSpeaker) put(ctx context.Context, q question) (heard, error) {
	p := chatParams(q.said)
	p.Model = q.model
	if q.streamed {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if q.picture {
		p.Messages[1] = openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
			openai.TextContentPart(q.said), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: pictureURL}),
		})
	}
	if q.schema {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "answer", Schema: answerSchema, Strict: openai.Bool(true),
		}}
	}
	if q.thinks {
		p.ReasoningEffort = shared.ReasoningEffortHigh
	}
	if q.tool {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "weather", Description: openai.String("Tells the weather of a place."), Parameters: toolSchema,
		})}
	}
	return s.hear(ctx, p, q.streamed)
}

func (s chatSpeaker) hear(ctx context.Context, p openai.ChatCompletionNewParams, streamed bool) (heard, error) {
	c, thought, err := s.listen(ctx, p, streamed)
	if err != nil {
		return heard{}, err
	}
	r, err := s.take(c, nil)
	if err != nil {
		return heard{}, err
	}
	h := heard{reply: r, cached: c.Usage.PromptTokensDetails.CachedTokens, thought: thought}
	m := c.Choices[0].Message
	if len(m.ToolCalls) == 0 {
		return h, nil
	}
	call := m.ToolCalls[0]
	if c.Choices[0].FinishReason != "tool_calls" || call.Function.Name != "weather" {
		return h, errors.New("calls " + call.Function.Name + " and ends with " + c.Choices[0].FinishReason)
	}
	h.call = call.Function.Arguments
	h.again = func(ctx context.Context, result string) (heard, error) {
		back := m.ToParam()
		if thought != "" { // users of vendors that want it back do this
			back.OfAssistant.SetExtraFields(map[string]any{"reasoning_content": thought})
		}
		p.Messages = append(p.Messages, back, openai.ToolMessage(result, call.ID))
		return s.hear(ctx, p, streamed)
	}
	return h, nil
}

// listen reads a reply with the thinking, for which the SDK has no field.
func (s chatSpeaker) listen(ctx context.Context, p openai.ChatCompletionNewParams, streamed bool) (*openai.ChatCompletion, string, error) {
	if !streamed {
		c, err := s.c.Chat.Completions.New(ctx, p)
		if err != nil || len(c.Choices) == 0 {
			return c, "", err
		}
		return c, extraText(c.Choices[0].Message.JSON.ExtraFields), nil
	}
	stream := s.c.Chat.Completions.NewStreaming(ctx, p)
	acc, thought := &openai.ChatCompletionAccumulator{}, ""
	for stream.Next() {
		chunk := stream.Current()
		if !acc.AddChunk(chunk) {
			return &acc.ChatCompletion, thought, errors.New("a chunk does not belong to the reply")
		}
		for _, c := range chunk.Choices {
			thought += extraText(c.Delta.JSON.ExtraFields)
		}
	}
	return &acc.ChatCompletion, thought, stream.Err()
}

// extraText is the reasoning_content among the fields that the SDK does not know.
func extraText(fields map[string]respjson.Field) string {
	var text string
	if f, ok := fields["reasoning_content"]; ok {
		_ = json.Unmarshal([]byte(f.Raw()), &text) // null and others are no thinking
	}
	return text
}

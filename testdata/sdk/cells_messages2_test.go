package sdk_test

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
)

func (s messages2Speaker) put(ctx context.Context, q question) (heard, error) {
	p := messages2Params(q.said)
	p.Model, p.MaxTokens = anthropic.Model(q.model), 4096
	if q.picture {
		p.Messages[0].OfUser.Content = append(p.Messages[0].OfUser.Content, anthropic.NewImageBlockBase64("image/png", pictureText))
	}
	if q.schema {
		p.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: answerSchema}
	}
	switch {
	case q.thinks && strings.Contains(q.model, "claude-sonnet-4"):
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(2048)
	case q.thinks:
		p.Thinking.OfAdaptive = &anthropic.ThinkingConfigAdaptiveParam{Display: anthropic.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = anthropic.OutputConfigEffortHigh
	}
	if q.tool {
		p.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: toolSchema["properties"], Required: []string{"place"}}, "weather")}
	}
	return s.hear(ctx, p, q.streamed)
}

func (s messages2Speaker) hear(ctx context.Context, p anthropic.MessageNewParams, streamed bool) (heard, error) {
	m, err := s.turn(ctx, p, streamed)
	if err != nil {
		return heard{}, err
	}
	one, err := messages2Take(m, nil)
	h := heard{reply: one, cached: m.Usage.CacheReadInputTokens}
	h.in += m.Usage.CacheReadInputTokens + m.Usage.CacheCreationInputTokens
	for _, b := range m.Content {
		h.thought += b.Thinking
		if b.Type != "tool_use" {
			continue
		}
		if m.StopReason != anthropic.StopReasonToolUse || b.Name != "weather" {
			return h, errors.New("calls " + b.Name + " and ends with " + string(m.StopReason))
		}
		h.call = string(b.Input)
		h.again = func(ctx context.Context, result string) (heard, error) {
			p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock(b.ID, result, false)))
			return s.hear(ctx, p, streamed)
		}
	}
	return h, err
}

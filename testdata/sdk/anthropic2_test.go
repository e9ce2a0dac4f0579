package sdk_test

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// messages2Speaker is Anthropic's SDK from its second major on: Bearer and version 2026-10-21.
type messages2Speaker struct{ c anthropic.Client }

func openMessages2(base, key string) speaker {
	return messages2Speaker{anthropic.NewClient(option.WithBaseURL(base), option.WithAPIKey(key), option.WithMaxRetries(0))}
}

func messages2Params(said string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-5-5", MaxTokens: 1024, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(said))},
	}
}

func (s messages2Speaker) whole(ctx context.Context, said string) (reply, error) {
	return messages2Take(s.c.Messages.New(ctx, messages2Params(said)))
}

func messages2Take(m *anthropic.Message, err error) (reply, error) {
	out := reply{}
	if m != nil {
		out = reply{done: m.StopReason != "", in: m.Usage.InputTokens, out: m.Usage.OutputTokens}
		for _, b := range m.Content {
			out.text += b.Text
		}
	}
	return out, err
}

func (s messages2Speaker) stream(ctx context.Context, said string) (reply, error) {
	return messages2Take(s.gather(ctx, messages2Params(said)))
}

func (s messages2Speaker) gather(ctx context.Context, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	stream := s.c.Messages.NewStreaming(ctx, p)
	m, over := &anthropic.Message{}, false
	for stream.Next() {
		e := stream.Current()
		if err := m.Accumulate(e); err != nil {
			return m, err
		}
		over = over || e.Type == "message_stop"
	}
	if err := stream.Err(); err != nil {
		return m, err
	}
	if !over {
		return m, errors.New("the stream ended without message_stop")
	}
	return m, nil
}

func (s messages2Speaker) loop(ctx context.Context, streamed bool) (string, reply, error) {
	p := messages2Params("How is the weather in Bern?")
	tool := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: toolSchema["properties"], Required: []string{"place"}}, "weather")
	p.Tools = []anthropic.ToolUnionParam{tool}
	p.ToolChoice = anthropic.ToolChoiceParamOfTool("weather")
	m, err := s.turn(ctx, p, streamed)
	if err != nil {
		return "", reply{}, err
	}
	for _, b := range m.Content {
		if b.Type != "tool_use" {
			continue
		}
		p.ToolChoice = anthropic.ToolChoiceUnionParam{}
		p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock(b.ID, "Sunny.", false)))
		last, err := messages2Take(s.turn(ctx, p, streamed))
		return string(b.Input), last, err
	}
	return "", reply{}, errors.New("the tool was not called")
}

func (s messages2Speaker) turn(ctx context.Context, p anthropic.MessageNewParams, streamed bool) (*anthropic.Message, error) {
	if !streamed {
		return s.c.Messages.New(ctx, p)
	}
	return s.gather(ctx, p)
}

func (s messages2Speaker) models(ctx context.Context) ([]string, error) {
	var ids []string
	pages := s.c.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	for pages.Next() {
		ids = append(ids, pages.Current().ID)
	}
	return ids, pages.Err()
}

func (s messages2Speaker) told(err error) (int, string) {
	var api *anthropic.Error
	if errors.As(err, &api) {
		return api.StatusCode, api.RawJSON()
	}
	return 0, ""
}

package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

func (s responsesSpeaker) put(ctx context.Context, q question) (heard, error) {
	p := responsesParams(q.said)
	p.Model = q.model
	p.Store = openai.Bool(false)
	said := responses.ResponseInputMessageContentListParam{responses.ResponseInputContentParamOfInputText(q.said)}
	if q.picture {
		said = append(said, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: openai.String(pictureURL),
		}})
	}
	p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage(said, responses.EasyInputMessageRoleUser),
	}}
	if q.schema {
		p.Text.Format = responses.ResponseFormatTextConfigUnionParam{OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: "answer", Schema: answerSchema, Strict: openai.Bool(true),
		}}
	}
	if q.thinks {
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffortHigh, Summary: shared.ReasoningSummaryAuto}
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	if q.tool {
		p.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", toolSchema, true)}
	}
	return s.hear(ctx, p, q.streamed)
}

func (s responsesSpeaker) hear(ctx context.Context, p responses.ResponseNewParams, streamed bool) (heard, error) {
	r, err := s.turn(ctx, p, streamed)
	if err != nil {
		return heard{}, err
	}
	one, err := s.take(r, nil)
	h := heard{reply: one, cached: r.Usage.InputTokensDetails.CachedTokens}
	for _, it := range r.Output {
		for _, part := range it.Summary {
			h.thought += part.Text
		}
		if it.Type != "function_call" {
			continue
		}
		if it.Name != "weather" {
			return h, errors.New("calls " + it.Name)
		}
		h.call = it.Arguments.OfString
		h.again = func(ctx context.Context, result string) (heard, error) {
			for _, back := range r.Output {
				p.Input.OfInputItemList = append(p.Input.OfInputItemList, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(back.RawJSON())))
			}
			p.Input.OfInputItemList = append(p.Input.OfInputItemList, functionOutput(it.CallID, result))
			return s.hear(ctx, p, streamed)
		}
	}
	if err == nil && r.Usage.TotalTokens != r.Usage.InputTokens+r.Usage.OutputTokens {
		err = fmt.Errorf("usage %s", r.Usage.RawJSON())
	}
	return h, err
}

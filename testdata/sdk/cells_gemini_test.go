package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/genai"
)

func (s genaiSpeaker) put(ctx context.Context, q question) (heard, error) {
	config := genaiConfig()
	turns := genai.Text(q.said)
	if q.picture {
		turns[0].Parts = append(turns[0].Parts, genai.NewPartFromBytes(picture, "image/png"))
	}
	if q.schema {
		config.ResponseMIMEType, config.ResponseJsonSchema = "application/json", answerSchema
	}
	if q.thinks {
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true}
		if budget := int32(4096); strings.Contains(q.model, "gemini-2.5") {
			config.ThinkingConfig.ThinkingBudget = &budget
		} else {
			config.ThinkingConfig.ThinkingLevel = genai.ThinkingLevelHigh
		}
	}
	if q.tool {
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", Description: "Tells the weather of a place.", ParametersJsonSchema: toolSchema}}}}
	}
	return s.hear(ctx, q.model, turns, config, q.streamed)
}

func (s genaiSpeaker) hear(ctx context.Context, model string, turns []*genai.Content, config *genai.GenerateContentConfig, streamed bool) (heard, error) {
	var r *genai.GenerateContentResponse
	var err error
	if streamed {
		r, err = genaiGather(s.c.Models.GenerateContentStream(ctx, model, turns, config))
	} else {
		r, err = s.c.Models.GenerateContent(ctx, model, turns, config)
	}
	if err != nil {
		return heard{}, err
	}
	one, err := genaiTake(r, nil)
	if err != nil {
		return heard{}, err
	}
	h := heard{reply: one}
	if u := r.UsageMetadata; u != nil {
		h.cached = int64(u.CachedContentTokenCount)
		h.out += int64(u.ThoughtsTokenCount)
	}
	for _, p := range r.Candidates[0].Content.Parts {
		if p.Thought {
			h.thought += p.Text
		}
	}
	for _, call := range r.FunctionCalls() {
		if call.Name != "weather" {
			return h, errors.New("calls " + call.Name)
		}
		args, err := json.Marshal(call.Args)
		if err != nil {
			return h, err
		}
		h.call = string(args)
		h.again = func(ctx context.Context, result string) (heard, error) {
			back := genai.NewPartFromFunctionResponse("weather", map[string]any{"output": result})
			back.FunctionResponse.ID = call.ID
			more := append(turns[:len(turns):len(turns)], r.Candidates[0].Content, genai.NewContentFromParts([]*genai.Part{back}, genai.RoleUser))
			return s.hear(ctx, model, more, config, streamed)
		}
	}
	return h, nil
}

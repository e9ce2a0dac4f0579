package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// genaiSpeaker is Google's SDK on the Gemini API.
type genaiSpeaker struct{ c *genai.Client }

func openGenAI(version string) func(base, key string) speaker {
	return func(base, key string) speaker {
		once := int32(1)
		c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			Backend: genai.BackendGeminiAPI, APIKey: key,
			HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: version, RetryOptions: &genai.HTTPRetryOptions{Attempts: &once}},
		})
		if err != nil {
			panic(err) // the config above is always good
		}
		return genaiSpeaker{c}
	}
}

const geminiModel = "gemini-3.8-flash"

func (s genaiSpeaker) whole(ctx context.Context, said string) (reply, error) {
	return genaiTake(s.c.Models.GenerateContent(ctx, geminiModel, genai.Text(said), genaiConfig()))
}

func genaiConfig() *genai.GenerateContentConfig {
	return &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser)}
}

func genaiTake(r *genai.GenerateContentResponse, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	if len(r.Candidates) != 1 {
		return reply{}, errors.New("the reply has no candidate")
	}
	out := reply{text: r.Text(), done: r.Candidates[0].FinishReason == genai.FinishReasonStop}
	if u := r.UsageMetadata; u != nil {
		out.in, out.out = int64(u.PromptTokenCount), int64(u.CandidatesTokenCount)
	}
	return out, nil
}

func (s genaiSpeaker) stream(ctx context.Context, said string) (reply, error) {
	r, err := genaiGather(s.c.Models.GenerateContentStream(ctx, geminiModel, genai.Text(said), genaiConfig()))
	out, none := genaiTake(r, nil)
	if err == nil {
		err = none
	}
	return out, err
}

// genaiGather joins the pieces of a streamed reply.
func genaiGather(pieces iter.Seq2[*genai.GenerateContentResponse, error]) (*genai.GenerateContentResponse, error) {
	all := &genai.GenerateContentResponse{}
	for piece, err := range pieces {
		if err != nil {
			return all, err
		}
		if piece.UsageMetadata != nil {
			all.UsageMetadata = piece.UsageMetadata
		}
		for _, c := range piece.Candidates {
			if len(all.Candidates) == 0 {
				all.Candidates = []*genai.Candidate{{Content: &genai.Content{Role: genai.RoleModel}}}
			}
			one := all.Candidates[0]
			if c.FinishReason != "" {
				one.FinishReason = c.FinishReason
			}
			if c.Content != nil {
				one.Content.Parts = append(one.Content.Parts, said(c.Content.Parts)...)
			}
		}
	}
	return all, nil
}

// said leaves out parts that say nothing: a stream's last piece has an empty text, which the
// SDK would send back as a part without anything in it.
func said(parts []*genai.Part) []*genai.Part {
	return slices.DeleteFunc(parts, func(p *genai.Part) bool {
		return p.Text == "" && p.FunctionCall == nil && len(p.ThoughtSignature) == 0
	})
}

func (s genaiSpeaker) loop(ctx context.Context, streamed bool) (string, reply, error) {
	config := genaiConfig()
	config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather", Description: "Tells the weather of a place.", ParametersJsonSchema: toolSchema}}}}
	config.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
	turns := genai.Text("How is the weather in Bern?")
	r, err := s.turn(ctx, turns, config, streamed)
	if err != nil {
		return "", reply{}, err
	}
	calls := r.FunctionCalls()
	if len(calls) != 1 || calls[0].Name != "weather" {
		return "", reply{}, errors.New("the tool was not called")
	}
	args, err := json.Marshal(calls[0].Args)
	if err != nil {
		return "", reply{}, err
	}
	result := genai.NewPartFromFunctionResponse("weather", map[string]any{"output": "Sunny."})
	result.FunctionResponse.ID = calls[0].ID
	turns = append(turns, r.Candidates[0].Content, genai.NewContentFromParts([]*genai.Part{result}, genai.RoleUser))
	config.ToolConfig = nil
	last, err := genaiTake(s.turn(ctx, turns, config, streamed))
	return string(args), last, err
}

func (s genaiSpeaker) turn(ctx context.Context, said []*genai.Content, config *genai.GenerateContentConfig, streamed bool) (*genai.GenerateContentResponse, error) {
	if !streamed {
		return s.c.Models.GenerateContent(ctx, geminiModel, said, config)
	}
	return genaiGather(s.c.Models.GenerateContentStream(ctx, geminiModel, said, config))
}

func (s genaiSpeaker) models(ctx context.Context) ([]string, error) {
	var ids []string
	for m, err := range s.c.Models.All(ctx) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, strings.TrimPrefix(m.Name, "models/"))
	}
	return ids, nil
}

func (s genaiSpeaker) told(err error) (int, string) {
	var api genai.APIError
	if errors.As(err, &api) {
		return api.Code, api.Message
	}
	return 0, ""
}

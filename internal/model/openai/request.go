package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/ycbot/ycbot/internal/model"
)

// body is the request as it is sent, the same bytes for the same conversation.
func (m *Model) body(req *model.Request) ([]byte, error) {
	p := sdk.ChatCompletionNewParams{
		Model:         m.o.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if req.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(req.System))
	}
	for _, msg := range req.Messages {
		one, err := message(msg)
		if err != nil {
			return nil, err
		}
		p.Messages = append(p.Messages, one)
	}
	tools := slices.SortedFunc(slices.Values(req.Tools), func(a, b model.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range tools {
		fn := shared.FunctionDefinitionParam{Name: t.Name, Description: sdk.String(t.Description)}
		if len(t.Schema) > 0 {
			if err := json.Unmarshal(t.Schema, &fn.Parameters); err != nil {
				return nil, fmt.Errorf("schema of tool %s: %w", t.Name, err)
			}
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(fn))
	}
	if req.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	}
	if req.MaxOut > 0 {
		p.MaxCompletionTokens = sdk.Int(int64(req.MaxOut))
	}
	if m.o.CacheKey != "" {
		p.PromptCacheKey = sdk.String(m.o.CacheKey)
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return raw, nil
}

func message(msg model.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	switch msg.Role {
	case model.User:
		return sdk.UserMessage(msg.Text), nil
	case model.Tool:
		return sdk.ToolMessage(msg.Text, msg.CallID), nil
	case model.Assistant:
		a := sdk.ChatCompletionAssistantMessageParam{}
		if msg.Text != "" {
			a.Content.OfString = sdk.String(msg.Text)
		}
		for _, c := range msg.Calls {
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID:       c.ID,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Args},
				},
			})
		}
		return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}, nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("request: role %q", msg.Role)
}

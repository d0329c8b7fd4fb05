package openai

import (
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// chatBody is the request as it is sent, the same bytes for the same conversation.
func (m *Model) chatBody(req *model.Request) ([]byte, error) {
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
	for _, t := range wire.Sorted(req.Tools) {
		params, err := parameters(t)
		if err != nil {
			return nil, err
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: params,
		}))
	}
	if req.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	}
	if req.MaxOut > 0 && m.o.OldMaxTokens {
		p.MaxTokens = sdk.Int(int64(req.MaxOut))
	} else if req.MaxOut > 0 {
		p.MaxCompletionTokens = sdk.Int(int64(req.MaxOut))
	}
	if m.o.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(m.o.Effort)
	}
	if m.o.CacheKey != "" {
		p.PromptCacheKey = sdk.String(m.o.CacheKey)
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, "tools", "messages", "tool_choice", "max_tokens", "max_completion_tokens")
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

package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/packages/param"
	"github.com/openai/openai-go/shared"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// chatBody is the request as it is sent, the same bytes for the same conversation.
func (m *Model) chatBody(req *model.Request) ([]byte, error) {
	p := sdk.ChatCompletionNewParams{
		Model:         m.o.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	messages := apart(blind(m.o.Model, req.Messages))
	if req.System != "" {
		messages = slices.Concat([]model.Message{{Role: system, Text: req.System}}, messages)
	}
	tools, items, err := wire.Writer{Tools: chatTools, Message: chatMessage}.Write(req.Tools, messages)
	if err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"messages": wire.List(items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{tools}
	}
	if req.NoCalls && len(req.Tools) > 0 {
		p.ToolChoice = sdk.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	}
	if req.MaxOut > 0 && m.o.OldMaxTokens {
		p.MaxTokens = sdk.Int(int64(req.MaxOut))
	} else if req.MaxOut > 0 {
		p.MaxCompletionTokens = sdk.Int(int64(req.MaxOut))
	}
	if req.Effort != "" && !m.o.NoEffort && Reasons(m.o.Model) {
		p.ReasoningEffort = shared.ReasoningEffort(req.Effort)
	}
	if m.o.CacheKey != "" {
		p.PromptCacheKey = sdk.String(m.o.CacheKey)
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, parts, "tools", "messages", "tool_choice", "max_tokens", "max_completion_tokens")
}

// system is the role of the system text, which is the first of the messages.
const system model.Role = "system"

func chatTools(tools []model.ToolSpec) ([]byte, error) {
	var out []sdk.ChatCompletionToolParam
	for _, t := range tools {
		params, err := parameters(t)
		if err != nil {
			return nil, err
		}
		out = append(out, sdk.ChatCompletionToolParam{Function: shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: params,
		}})
	}
	return marshal(out)
}

func chatMessage(msg model.Message) ([]byte, error) {
	one, err := message(msg)
	if err != nil {
		return nil, err
	}
	return marshal(one)
}

func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return raw, nil
}

func message(msg model.Message) (sdk.ChatCompletionMessageParamUnion, error) {
	switch msg.Role {
	case system:
		return sdk.SystemMessage(msg.Text), nil
	case model.User:
		if !pictured(msg) {
			return sdk.UserMessage(msg.Text), nil
		}
		content := []sdk.ChatCompletionContentPartUnionParam{sdk.TextContentPart(msg.Text)}
		for _, i := range msg.Images {
			content = append(content, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(i)}))
		}
		return sdk.UserMessage(content), nil
	case model.Tool:
		return sdk.ToolMessage(msg.Text, msg.CallID), nil
	case model.Assistant:
		a := sdk.ChatCompletionAssistantMessageParam{}
		if msg.Text != "" {
			a.Content.OfString = sdk.String(msg.Text)
		}
		for _, c := range msg.Calls {
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallParam{
				ID: c.ID, Function: sdk.ChatCompletionMessageToolCallFunctionParam{Name: c.Name, Arguments: c.Args},
			})
		}
		return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}, nil
	}
	return sdk.ChatCompletionMessageParamUnion{}, fmt.Errorf("request: role %q", msg.Role)
}

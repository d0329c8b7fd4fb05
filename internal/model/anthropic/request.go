package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// body is the request as it is sent, the same bytes for the same conversation.
func (m *Model) body(req *model.Request) ([]byte, error) {
	p := sdk.MessageNewParams{Model: m.o.Model, MaxTokens: int64(req.MaxOut)}
	if p.MaxTokens <= 0 {
		p.MaxTokens = defaultMaxOut
	}
	switch {
	case m.o.Thinking == Adaptive:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	case m.o.Thinking > 0:
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(m.o.Thinking))
		p.MaxTokens += int64(m.o.Thinking) // the API counts thinking as output
	}
	for i, t := range wire.Sorted(req.Tools) {
		one, err := tool(t)
		if err != nil {
			return nil, err
		}
		if i == len(req.Tools)-1 {
			one.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: one})
	}
	if req.System != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	var err error
	if p.Messages, err = messages(req.Messages); err != nil {
		return nil, err
	}
	mark(p.Messages)
	if req.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, nil, "tools", "system", "messages", "tool_choice", "max_tokens")
}

func tool(t model.ToolSpec) (*sdk.ToolParam, error) {
	one := &sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description)}
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var object map[string]any
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", t.Name, err)
	}
	one.InputSchema = param.Override[sdk.ToolInputSchemaParam](object)
	return one, nil
}

// messages is the conversation as the API has it: the answers to the calls of one
// message, and what the user says then, are one turn of the user.
func messages(history []model.Message) ([]sdk.MessageParam, error) {
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, blocks...)
			return
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	for i, msg := range history {
		switch msg.Role {
		case model.User:
			add(sdk.MessageParamRoleUser, sdk.NewTextBlock(msg.Text))
		case model.Tool:
			add(sdk.MessageParamRoleUser, sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{
				ToolUseID: msg.CallID,
				Content:   []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: msg.Text}}},
			}})
		case model.Assistant:
			blocks, err := said(msg)
			if err != nil {
				return nil, fmt.Errorf("request: message %d: %w", i, err)
			}
			add(sdk.MessageParamRoleAssistant, blocks...)
		default:
			return nil, fmt.Errorf("request: role %q", msg.Role)
		}
	}
	return out, nil
}

// said is a turn of the model.
func said(msg model.Message) (blocks []sdk.ContentBlockParamUnion, err error) {
	wire.Interleave(msg, Messages, func(raw json.RawMessage) {
		blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](raw))
	}, func(text string) {
		blocks = append(blocks, sdk.NewTextBlock(text))
	}, func(c model.Call) {
		var args map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Args), &args) != nil || args == nil {
			err = fmt.Errorf("call %s: arguments are not a JSON object", c.ID)
			return
		}
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, json.RawMessage(c.Args), c.Name))
	})
	return blocks, err
}

// mark sets a cache breakpoint behind the last two turns of the user: the earlier
// one is where the request before this one had its last.
func mark(messages []sdk.MessageParam) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if messages[i].Role != sdk.MessageParamRoleUser {
			continue
		}
		left--
		last := &messages[i].Content[len(messages[i].Content)-1]
		if c := last.GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
		}
	}
}

package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"

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
	if req.System != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	toolList, items, err := m.memo.Write(req, req.Messages, wire.Writer{Tools: tools, Message: said})
	if err != nil {
		return nil, err
	}
	if items, err = marked(req.Messages, items); err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"messages": turns(req.Messages, items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{toolList}
	}
	if req.NoCalls && len(req.Tools) > 0 {
		p.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, parts, "tools", "system", "messages", "tool_choice", "max_tokens")
}

// tools are all of them, with a cache breakpoint behind the last.
func tools(specs []model.ToolSpec) ([]byte, error) {
	out := make([]*sdk.ToolParam, len(specs))
	for i, t := range specs {
		var err error
		if out[i], err = tool(t); err != nil {
			return nil, err
		}
	}
	if len(out) > 0 {
		out[len(out)-1].CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	return marshal(out)
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

// side is whose turn a message belongs to: what tools answer, and what the user says
// then, are one turn of the user.
func side(msg model.Message) sdk.MessageParamRole {
	if msg.Role == model.Assistant {
		return sdk.MessageParamRoleAssistant
	}
	return sdk.MessageParamRoleUser
}

// turns puts what messages were written as together to the list of the API: those of
// one side that follow each other are one turn.
func turns(messages []model.Message, items [][]byte) [][]byte {
	list := append(make([][]byte, 0, 2*len(items)+2), []byte("["))
	end := "" // of the turn that is open
	for i, msg := range messages {
		if len(items[i]) == 0 {
			continue
		}
		between := `{"content":[`
		switch closing := `],"role":"` + string(side(msg)) + `"}`; {
		case closing == end:
			between = ","
		case end != "":
			between = end + "," + between
			fallthrough
		default:
			end = closing
		}
		list = append(list, []byte(between), items[i])
	}
	return append(list, []byte(end+"]"))
}

// marked sets a cache breakpoint behind the last two turns of the user: the earlier
// one is where the request before this one had its last. items stays as it is.
func marked(messages []model.Message, items [][]byte) ([][]byte, error) {
	out := slices.Clone(items)
	var after sdk.MessageParamRole // whose turn comes next
	for i, left := len(messages)-1, 2; i >= 0 && left > 0; i-- {
		if len(items[i]) == 0 {
			continue
		}
		now := side(messages[i])
		if now == sdk.MessageParamRoleUser && now != after {
			block, err := told(messages[i])
			if err != nil {
				return nil, err
			}
			*block.GetCacheControl() = sdk.NewCacheControlEphemeralParam()
			if out[i], err = marshal(block); err != nil {
				return nil, err
			}
			left--
		}
		after = now
	}
	return out, nil
}

// said is a message as blocks of the API, with commas between them.
func said(msg model.Message) ([]byte, error) {
	if msg.Role != model.Assistant {
		block, err := told(msg)
		if err != nil {
			return nil, err
		}
		return marshal(block)
	}
	blocks, err := answered(msg)
	if err != nil || len(blocks) == 0 {
		return nil, err
	}
	raw, err := marshal(blocks)
	if err != nil {
		return nil, err
	}
	return raw[1 : len(raw)-1], nil
}

// told is what the user or a tool says.
func told(msg model.Message) (sdk.ContentBlockParamUnion, error) {
	switch msg.Role {
	case model.User:
		return sdk.NewTextBlock(msg.Text), nil
	case model.Tool:
		return sdk.ContentBlockParamUnion{OfToolResult: &sdk.ToolResultBlockParam{
			ToolUseID: msg.CallID,
			Content:   []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: msg.Text}}},
		}}, nil
	}
	return sdk.ContentBlockParamUnion{}, fmt.Errorf("request: role %q", msg.Role)
}

func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return raw, nil
}

// answered is what the model said.
func answered(msg model.Message) (blocks []sdk.ContentBlockParamUnion, err error) {
	wire.Interleave(msg, Messages, func(raw json.RawMessage) {
		blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](raw))
	}, func(text string) {
		blocks = append(blocks, sdk.NewTextBlock(text))
	}, func(c model.Call) {
		var args map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Args), &args) != nil || args == nil {
			err = fmt.Errorf("request: call %s: arguments are not a JSON object", c.ID)
			return
		}
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, json.RawMessage(c.Args), c.Name))
	})
	return blocks, err
}

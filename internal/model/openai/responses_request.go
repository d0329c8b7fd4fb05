package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/packages/param"
	"github.com/openai/openai-go/responses"
	"github.com/openai/openai-go/shared"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// responsesBody is the request as it is sent, the same bytes for the same conversation.
func (m *Model) responsesBody(req *model.Request) ([]byte, error) {
	p := responses.ResponseNewParams{Model: m.o.Model, Store: sdk.Bool(false)}
	if Reasons(m.o.Model) {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
		if req.Effort != "" {
			p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(req.Effort)}
		}
	}
	if req.System != "" {
		p.Instructions = sdk.String(req.System)
	}
	tools, items, err := wire.Writer{Tools: responsesTools, Message: responsesItems}.Write(req.Tools, blind(m.o.Model, req.Messages))
	if err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"input": wire.List(items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{tools}
	}
	if req.NoCalls && len(req.Tools) > 0 {
		p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfToolChoiceMode: param.NewOpt(responses.ToolChoiceOptionsNone)}
	}
	if req.MaxOut > 0 {
		p.MaxOutputTokens = sdk.Int(int64(req.MaxOut))
	}
	if m.o.CacheKey != "" {
		p.PromptCacheKey = sdk.String(m.o.CacheKey)
	}
	p.SetExtraFields(map[string]any{"stream": true})
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, parts, "tools", "instructions", "input", "tool_choice", "max_output_tokens")
}

// Reasons says whether a model may be asked with an effort, and for its encrypted
// reasoning: OpenAI refuses both for those of its models that do not reason.
func Reasons(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, plain := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, plain) {
			return false
		}
	}
	return !strings.Contains(name, "-chat")
}

func responsesTools(tools []model.ToolSpec) ([]byte, error) {
	var out []responses.ToolUnionParam
	for _, t := range tools {
		params, err := parameters(t)
		if err != nil {
			return nil, err
		}
		out = append(out, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: params, Strict: sdk.Bool(false),
		}})
	}
	return marshal(out)
}

// responsesItems is a message as items of the list that the API calls input.
func responsesItems(msg model.Message) ([]byte, error) {
	items, err := input(msg)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	raw, err := marshal(items)
	if err != nil {
		return nil, err
	}
	return raw[1 : len(raw)-1], nil
}

// pictures are those of a tool's answer, as a message of their own: the answer is text.
func pictures(msg model.Message) responses.ResponseInputItemUnionParam {
	content := responses.ResponseInputMessageContentListParam{{OfInputText: &responses.ResponseInputTextParam{Text: heading(msg)}}}
	for _, i := range msg.Images {
		content = append(content, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: sdk.String(dataURL(i)),
		}})
	}
	return responses.ResponseInputItemParamOfInputMessage(content, "user")
}

func input(msg model.Message) (items responses.ResponseInputParam, err error) {
	switch msg.Role {
	case model.User:
		items = append(items, responses.ResponseInputItemParamOfMessage(msg.Text, responses.EasyInputMessageRoleUser))
	case model.Tool:
		items = append(items, responses.ResponseInputItemParamOfFunctionCallOutput(msg.CallID, msg.Text))
		if len(msg.Images) > 0 {
			items = append(items, pictures(msg))
		}
	case model.Assistant:
		wire.Interleave(msg, Responses, func(raw json.RawMessage) {
			items = append(items, param.Override[responses.ResponseInputItemUnionParam](raw))
		}, func(text string) {
			items = append(items, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRoleAssistant))
		}, func(c model.Call) {
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(c.Args, c.ID, c.Name))
		})
	default:
		return nil, fmt.Errorf("request: role %q", msg.Role)
	}
	return items, nil
}

package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// A responsesRequest is what is sent, without its tools and input; the order of fields is that of
// the bytes: https://platform.openai.com/docs/api-reference/responses/create. The library's types
// for all that the API can be asked make the program larger (docs/decisions.md, 38).
type responsesRequest struct {
	Store           bool       `json:"store"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitempty"`
	Include         []string   `json:"include,omitempty"`
	Model           string     `json:"model"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	Stream          bool       `json:"stream"`
	Instructions    string     `json:"instructions,omitempty"`
	ToolChoice      string     `json:"tool_choice,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
}

type reasoning struct {
	Effort string `json:"effort"`
}

// A functionTool is a tool that the model may call.
type functionTool struct {
	Strict      bool           `json:"strict"`
	Parameters  map[string]any `json:"parameters"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Type        string         `json:"type"`
}

// An inputMessage is what a role says. Content is a text or a list of [inputPart].
type inputMessage struct {
	Content any    `json:"content"`
	Role    string `json:"role"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// A functionCall is a call that the model made.
type functionCall struct {
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
}

// A functionOutput answers a call.
type functionOutput struct {
	CallID string `json:"call_id"`
	Output string `json:"output"`
	Type   string `json:"type"`
}

// responsesBody is the request as it is sent, the same bytes for the same conversation.
func (m *Model) responsesBody(req *model.Request) ([]byte, error) {
	p := responsesRequest{
		Model: m.o.Model, Stream: true, Instructions: req.System, MaxOutputTokens: max(req.MaxOut, 0), PromptCacheKey: m.o.CacheKey,
	}
	if Reasons(m.o.Model) {
		p.Include = []string{"reasoning.encrypted_content"}
		if req.Effort != "" {
			p.Reasoning = &reasoning{string(req.Effort)}
		}
	}
	tools, items, err := wire.Writer{Tools: responsesTools, Message: responsesItems}.Write(req.Tools, blind(m.o.Model, req.Messages))
	if err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"input": wire.List(items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{tools}
		if req.NoCalls {
			p.ToolChoice = "none"
		}
	}
	raw, err := marshal(p)
	if err != nil {
		return nil, err
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
	var out []functionTool
	for _, t := range tools {
		params, err := parameters(t)
		if err != nil {
			return nil, err
		}
		out = append(out, functionTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: params})
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
func pictures(msg model.Message) inputMessage {
	content := []inputPart{{Type: "input_text", Text: heading(msg)}}
	for _, i := range msg.Images {
		content = append(content, inputPart{Type: "input_image", ImageURL: dataURL(i), Detail: "auto"})
	}
	return inputMessage{content, "user"}
}

// input is a message as items, each a [json.RawMessage] or one of the types above.
func input(msg model.Message) (items []any, err error) {
	switch msg.Role {
	case model.User:
		items = append(items, inputMessage{msg.Text, "user"})
	case model.Tool:
		items = append(items, functionOutput{msg.CallID, msg.Text, "function_call_output"})
		if len(msg.Images) > 0 {
			items = append(items, pictures(msg))
		}
	case model.Assistant:
		wire.Interleave(msg, Responses, func(raw json.RawMessage) {
			items = append(items, raw)
		}, func(text string) {
			items = append(items, inputMessage{text, "assistant"})
		}, func(c model.Call) {
			items = append(items, functionCall{c.Args, c.ID, c.Name, "function_call"})
		})
	default:
		return nil, fmt.Errorf("request: role %q", msg.Role)
	}
	return items, nil
}

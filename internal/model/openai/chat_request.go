package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// A chatRequest is what is sent, without its tools and messages; the order of fields is that of the
// bytes: https://platform.openai.com/docs/api-reference/chat/create.
type chatRequest struct {
	Model               string        `json:"model"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
	StreamOptions       streamOptions `json:"stream_options"`
	Stream              bool          `json:"stream"`
	ToolChoice          string        `json:"tool_choice,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// A chatTool is a tool that the model may call.
type chatTool struct {
	Function chatFunction `json:"function"`
	Type     string       `json:"type"`
}

type chatFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
}

// A chatMessage is what a role says. Content is a text, a list of [chatPart], or left out.
type chatMessage struct {
	Content    any        `json:"content,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	Role       model.Role `json:"role"`
}

type chatPart struct {
	Text     string     `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
	Type     string     `json:"type"`
}

type chatImage struct {
	URL string `json:"url"`
}

// A chatCall is a call that the model made.
type chatCall struct {
	ID       string       `json:"id"`
	Function calledByChat `json:"function"`
	Type     string       `json:"type"`
}

type calledByChat struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

// chatBody is the request as it is sent, the same bytes for the same conversation.
func (m *Model) chatBody(req *model.Request) ([]byte, error) {
	p := chatRequest{Model: m.o.Model, PromptCacheKey: m.o.CacheKey, StreamOptions: streamOptions{IncludeUsage: true}, Stream: true}
	messages := apart(blind(m.o.Model, req.Messages))
	if req.System != "" {
		messages = slices.Concat([]model.Message{{Role: system, Text: req.System}}, messages)
	}
	tools, items, err := wire.Writer{Tools: chatTools, Message: chatItem}.Write(req.Tools, messages)
	if err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"messages": wire.List(items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{tools}
		if req.NoCalls {
			p.ToolChoice = "none"
		}
	}
	if m.o.OldMaxTokens {
		p.MaxTokens = max(req.MaxOut, 0)
	} else {
		p.MaxCompletionTokens = max(req.MaxOut, 0)
	}
	if !m.o.NoEffort && Reasons(m.o.Model) {
		p.ReasoningEffort = string(req.Effort)
	}
	raw, err := marshal(p)
	if err != nil {
		return nil, err
	}
	return wire.Order(raw, parts, "tools", "messages", "tool_choice", "max_tokens", "max_completion_tokens")
}

// system is the role of the system text, which is the first of the messages.
const system model.Role = "system"

func chatTools(tools []model.ToolSpec) ([]byte, error) {
	var out []chatTool
	for _, t := range tools {
		params, err := parameters(t)
		if err != nil {
			return nil, err
		}
		out = append(out, chatTool{chatFunction{t.Name, t.Description, params}, "function"})
	}
	return marshal(out)
}

func chatItem(msg model.Message) ([]byte, error) {
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

func message(msg model.Message) (chatMessage, error) {
	out := chatMessage{Role: msg.Role, Content: msg.Text}
	switch msg.Role {
	case system:
	case model.User:
		if !pictured(msg) {
			break
		}
		content := []chatPart{{Text: msg.Text, Type: "text"}}
		for _, i := range msg.Images {
			content = append(content, chatPart{ImageURL: &chatImage{dataURL(i)}, Type: "image_url"})
		}
		out.Content = content
	case model.Tool:
		out.ToolCallID = msg.CallID
	case model.Assistant:
		if msg.Text == "" {
			out.Content = nil
		}
		for _, c := range msg.Calls {
			out.ToolCalls = append(out.ToolCalls, chatCall{c.ID, calledByChat{c.Args, c.Name}, "function"})
		}
	default:
		return out, fmt.Errorf("request: role %q", msg.Role)
	}
	return out, nil
}

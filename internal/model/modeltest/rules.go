package modeltest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/ycbot/ycbot/internal/pattern"
)

// cut is OpenAI's own description of its API, cut to chat completions.
//
//go:embed testdata/openai-openapi-cut.json
var cut []byte

var described = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(cut)
	if err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: "/v1"}}
	return gorillamux.NewRouter(doc)
})

// Described reports what OpenAI's own description of chat completions refuses of a
// request with body; r's own is not read.
func Described(r *http.Request, body []byte) error {
	router, err := described()
	if err != nil {
		return err
	}
	req := r.Clone(r.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := router.FindRoute(req)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	})
}

// checkChat holds the description, and what it does not say: the answers to the
// calls of a message come right after it, one for each, and to nothing else.
func checkChat(r *http.Request, body []byte) error {
	if err := Described(r, body); err != nil {
		return err
	}
	var req struct {
		Messages []struct {
			Role, Content string
			ToolCallID    string `json:"tool_call_id"`
			ToolCalls     []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, msg := range req.Messages {
		switch {
		case msg.Role == "tool" && (!open[msg.ToolCallID] || msg.Content == ""):
			return fmt.Errorf("message %d answers call %q with %q", i, msg.ToolCallID, msg.Content)
		case msg.Role == "tool":
			delete(open, msg.ToolCallID)
			continue
		case len(open) > 0:
			return fmt.Errorf("message %d comes before the answers to %v", i, open)
		case msg.Content == "" && len(msg.ToolCalls) == 0:
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range msg.ToolCalls {
			if c.ID == "" || open[c.ID] || !toolName.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("message %d: call %+v", i, c)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no answers to %v", open)
	}
	return nil
}

// toolName is what a provider takes as the name of a tool.
var toolName = pattern.New(`^[a-zA-Z0-9_-]{1,64}$`)

// checkResponses holds what OpenAI refuses: calls without an answer, answers
// without a call, reasoning that nothing follows or that is not stored anywhere.
func checkResponses(_ *http.Request, body []byte) error {
	var req struct {
		Model, Instructions string
		Stream              bool
		Store               *bool
		Include             []string
		Input               []struct {
			Type, Role            string
			Content, Output, Name string
			CallID                string `json:"call_id"`
			Arguments             *string
			EncryptedContent      string `json:"encrypted_content"`
			ID                    string
		}
		Tools []struct {
			Type, Name, Description string
			Parameters              map[string]any
			Strict                  *bool
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if req.Model == "" || !req.Stream || req.Store == nil || *req.Store || len(req.Input) == 0 {
		return errors.New("want a model, stream, store: false and input")
	}
	for _, t := range req.Tools {
		if t.Type != "function" || t.Name == "" || t.Parameters["type"] != "object" || t.Strict == nil {
			return fmt.Errorf("tool %+v", t)
		}
	}
	open := map[string]bool{}
	for i, item := range req.Input {
		switch {
		case item.Type == "reasoning":
			if item.EncryptedContent == "" || item.ID == "" || i+1 == len(req.Input) || req.Input[i+1].Type == "function_call_output" || req.Input[i+1].Role == "user" {
				return fmt.Errorf("item %d: reasoning that cannot be read or that nothing follows", i)
			}
		case item.Type == "function_call":
			if item.CallID == "" || open[item.CallID] || !toolName.MatchString(item.Name) || item.Arguments == nil || !json.Valid([]byte(*item.Arguments)) {
				return fmt.Errorf("item %d: %+v", i, item)
			}
			open[item.CallID] = true
		case item.Type == "function_call_output":
			if !open[item.CallID] || item.Output == "" {
				return fmt.Errorf("item %d answers call %q", i, item.CallID)
			}
			delete(open, item.CallID)
		case item.Role == "user" || item.Role == "assistant":
			if item.Content == "" {
				return fmt.Errorf("item %d is empty", i)
			}
			if len(open) > 0 {
				return fmt.Errorf("item %d comes before the answers to %v", i, open)
			}
		default:
			return fmt.Errorf("item %d: %+v", i, item)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no answers to %v", open)
	}
	return nil
}

// checkMessages holds what Anthropic refuses.
func checkMessages(r *http.Request, body []byte) error {
	type block struct {
		Type, Text, ID, Name, Thinking, Signature, Data string
		Input                                           map[string]any
		ToolUseID                                       string `json:"tool_use_id"`
		Content                                         []struct{ Type, Text string }
	}
	var req struct {
		Model     string
		Stream    bool
		MaxTokens int `json:"max_tokens"`
		Messages  []struct {
			Role    string
			Content []block
		}
		Tools []struct {
			Name        string
			InputSchema map[string]any `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if r.Header.Get("Anthropic-Version") == "" || req.Model == "" || !req.Stream || req.MaxTokens <= 0 || len(req.Messages) == 0 {
		return errors.New("want a version, a model, stream, max_tokens and messages")
	}
	if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
		return fmt.Errorf("%d cache breakpoints, 4 are taken", n)
	}
	for _, t := range req.Tools {
		if t.Name == "" || t.InputSchema["type"] != "object" {
			return fmt.Errorf("tool %+v", t)
		}
	}
	var open []string
	ids := map[string]bool{}
	for i, msg := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; msg.Role != want || len(msg.Content) == 0 {
			return fmt.Errorf("message %d is of %s with %d blocks, want %s", i, msg.Role, len(msg.Content), want)
		}
		answered := 0
		var now []string
		for j, b := range msg.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) != "":
			case b.Type == "thinking" && b.Signature != "" && j+1 < len(msg.Content):
			case b.Type == "redacted_thinking" && b.Data != "" && j+1 < len(msg.Content):
			case b.Type == "tool_use" && b.ID != "" && !ids[b.ID] && toolName.MatchString(b.Name) && b.Input != nil && msg.Role == "assistant":
				ids[b.ID] = true
				now = append(now, b.ID)
			case b.Type == "tool_result" && j == answered && answered < len(open) && b.ToolUseID == open[answered]:
				answered++
			default:
				return fmt.Errorf("message %d: block %d: %+v", i, j, b)
			}
		}
		if answered != len(open) {
			return fmt.Errorf("message %d answers %d of %d calls", i, answered, len(open))
		}
		open = now
	}
	if len(open) > 0 {
		return fmt.Errorf("no answers to %v", open)
	}
	return nil
}
